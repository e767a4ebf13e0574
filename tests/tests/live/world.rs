//! One test's world: a namespace, a database, and an ingester between them.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{
    Edition, Ingester, ingester::CommandResult, skipped_without_galera, skipped_without_modern_apiserver,
};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

use crate::cluster::Cluster;
use crate::database::{Database, On};
use crate::eventually::{DEADLINE, eventually, within};
use crate::metrics::Metrics;
use crate::mirror::{Row, differences};
use crate::objects::Objects;
use crate::settings::Settings;

/// Which servers a test has for itself, because it stops or kills them, or counts the requests that they receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnServers {
    cluster: bool,
    database: bool,
}

impl OwnServers {
    pub(crate) const NOTHING: Self = OwnServers { cluster: false, database: false };
    pub(crate) const CLUSTER: Self = OwnServers { cluster: true, database: false };
    pub(crate) const DATABASE: Self = OwnServers { cluster: false, database: true };
    pub(crate) const BOTH: Self = OwnServers { cluster: true, database: true };
}

/// The servers that a test runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Servers {
    database: On,
    api: Edition,
    /// Whether the database is on a Galera cluster.
    galera: bool,
}

impl Servers {
    pub(crate) const MARIADB: Self = Servers { database: On::MariaDb, api: Edition::Classic, galera: false };
    pub(crate) const MYSQL: Self = Servers { database: On::MySql, api: Edition::Classic, galera: false };
    pub(crate) const POSTGRES: Self = Servers { database: On::Postgres, api: Edition::Classic, galera: false };
    /// The modern API server.
    pub(crate) const MODERN: Self = Servers { database: On::MariaDb, api: Edition::Modern, galera: false };
    pub(crate) const MYSQL_MODERN: Self = Servers { database: On::MySql, api: Edition::Modern, galera: false };
    pub(crate) const POSTGRES_MODERN: Self = Servers { database: On::Postgres, api: Edition::Modern, galera: false };
    pub(crate) const GALERA: Self = Servers { database: On::MariaDb, api: Edition::Classic, galera: true };
}

/// Runs `async fn name(world: &mut World) -> Result<()>` on each database, a test each: on MySQL in the default set of `tests/run.sh`, on MariaDB and
/// PostgreSQL before a release. What the mirror does is the same on all of them, and the store's own tests run on each in the default set. A function
/// that has to run on all of them names them with [`on_servers`]. `tests/run.sh --all` runs the ignored tests that are named `postgres`, so one that runs
/// only before a release has another name.
#[macro_export]
macro_rules! on_every_database {
    ($own:expr => $($name:ident)*) => { $(
        $crate::on_servers! { $own => $name
            [mysql MYSQL]
            [on_postgres POSTGRES #[ignore = "before a release"]]
            [mariadb MARIADB #[ignore = "before a release"]]
        }
    )* };
}

/// [`on_every_database`], without PostgreSQL. Say why.
#[macro_export]
macro_rules! on_mariadb_and_mysql {
    ($own:expr => $($name:ident)*) => { $(
        $crate::on_servers! { $own => $name [mariadb MARIADB] [mysql MYSQL #[ignore = "before a release"]] }
    )* };
}

/// Runs each function on every database and on both API servers, but not on every pair of the two: differences between API servers do not depend on
/// the database. On MariaDB in the default set, on PostgreSQL and the modern API server in the set `--all`, on MySQL before a release. For functions
/// about lists, watches, finalizers, restores and anything else that differs between releases of the API server. They need no Events and no RBAC.
#[macro_export]
macro_rules! on_both_api_servers {
    ($own:expr => $($name:ident)*) => { $(
        $crate::on_servers! { $own => $name
            [mariadb MARIADB]
            [postgres_modern POSTGRES_MODERN #[ignore = "in the set --all"]]
            [mysql_modern MYSQL_MODERN #[ignore = "before a release"]]
        }
    )* };
}

/// [`on_both_api_servers`], for functions that stop, kill or restore the API server: on the modern one in the default set, because the classic one
/// takes four times as long to start; on the classic one before a release.
#[macro_export]
macro_rules! on_own_api_servers {
    ($own:expr => $($name:ident)*) => { $(
        $crate::on_servers! { $own => $name
            [modern MODERN]
            [on_postgres POSTGRES #[ignore = "before a release"]]
            [mysql_modern MYSQL_MODERN #[ignore = "before a release"]]
        }
    )* };
}

/// The tests of one function, each with its name and its servers, and with an attribute of the test.
#[macro_export]
macro_rules! on_servers {
    ($own:expr => $name:ident $([$test:ident $servers:ident $(#[$attribute:meta])?])*) => {
        mod $name {
            use $crate::world::{OwnServers, Servers, run};
            const OWN: OwnServers = $own;
            $(
                #[test]
                $(#[$attribute])?
                fn $test() -> anyhow::Result<()> {
                    run(module_path!(), Servers::$servers, OWN, super::$name)
                }
            )*
        }
    };
}

/// Concurrent worlds. Each has two to five busy processes.
static WORLDS: Semaphore = Semaphore::const_new(4);

pub(crate) fn run(
    name: &str,
    servers: Servers,
    own: OwnServers,
    test: impl AsyncFnOnce(&mut World) -> Result<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let _turn = WORLDS.acquire().await?;
        if let Some(mut world) = World::new(name, servers, own).await? {
            test(&mut world).await?;
            world.passed = true;
        }
        Ok(())
    })
}

pub(crate) struct World {
    // Fields drop in this order: the ingester before the servers.
    ingester: Option<Ingester>,
    /// The objects that are mirrored.
    pub(crate) objects: Objects,
    /// The objects of a namespace that is not mirrored.
    pub(crate) elsewhere: Objects,
    pub(crate) database: Database,
    pub(crate) cluster: Cluster,
    name: String,
    passed: bool,
}

impl World {
    /// `None`, after it has said so, if one of the servers is not installed.
    async fn new(name: &str, servers: Servers, own: OwnServers) -> Result<Option<Self>> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let database = match servers.galera {
            true => Database::on_galera(&format!("live_{number}"))?,
            false => Database::new(servers.database, own.database, &format!("live_{number}")).await?,
        };
        let Some(database) = database else {
            if servers.galera {
                skipped_without_galera();
            }
            return Ok(None);
        };
        let Some(cluster) = Cluster::new(servers.api, own.cluster).await? else {
            skipped_without_modern_apiserver();
            return Ok(None);
        };
        let client = cluster.client().await?;
        let [objects, elsewhere] = ["live", "elsewhere"]
            .map(|prefix| Objects { client: client.clone(), namespace: format!("{prefix}-{number}") });
        for Objects { client, namespace } in [&objects, &elsewhere] {
            cluster.create_namespace(client, namespace).await?;
        }
        let name = name.to_owned();
        Ok(Some(World { ingester: None, objects, elsewhere, database, cluster, name, passed: false }))
    }

    /// The settings that [`start`](Self::start) uses.
    pub(crate) fn settings(&self) -> Settings {
        let mysql = self.database.section();
        Settings {
            enabled: true,
            deletion_delay: "1s",
            database_url: mysql.is_none().then(|| self.database.url.clone()),
            mysql,
            namespaces: vec![self.objects.namespace.clone()],
            ingester: Vec::new(),
            retention: "",
            policies: "",
            log_format: "text",
            log_level: "info",
            environment: Vec::new(),
        }
    }

    /// Starts the ingester and waits until it is ready: then every object has its row.
    pub(crate) fn start(&mut self) -> Result<()> {
        self.start_with(&self.settings())
    }

    /// [`start`](Self::start) with other settings.
    pub(crate) fn start_with(&mut self, settings: &Settings) -> Result<()> {
        self.launch(settings)?.wait_ready(DEADLINE)
    }

    /// Starts the ingester without waiting. Ends an earlier one.
    pub(crate) fn launch(&mut self, settings: &Settings) -> Result<&Ingester> {
        drop(self.ingester.take());
        let ingester = self.another(settings)?;
        Ok(self.ingester.insert(ingester))
    }

    /// Changes the running ingester's configuration file, as kubelet does when a ConfigMap has changed.
    pub(crate) fn reconfigure(&self, settings: &Settings) -> Result<()> {
        self.ingester().reconfigure(&settings.yaml())
    }

    /// Starts one more ingester without waiting.
    pub(crate) fn another(&self, settings: &Settings) -> Result<Ingester> {
        self.another_by(settings, &self.cluster.service_account_kubeconfig())
    }

    /// [`another`](Self::another), which reaches the API server by this kubeconfig.
    pub(crate) fn another_by(&self, settings: &Settings, kubeconfig: &Path) -> Result<Ingester> {
        let environment: Vec<(&str, &str)> =
            settings.environment.iter().map(|(name, value)| (*name, &**value)).collect();
        let binary = Path::new(env!("CARGO_BIN_EXE_ingester"));
        Ingester::start(binary, &settings.yaml(), kubeconfig, &environment)
    }

    /// The running ingester.
    pub(crate) fn ingester(&self) -> &Ingester {
        self.ingester.as_ref().expect("a test starts the ingester before it looks at it")
    }

    /// Stops the ingester with SIGTERM.
    pub(crate) fn stop(&self) -> Result<()> {
        let stopped = self.ingester().stop()?;
        ensure!(stopped.status.success(), "{stopped:?}");
        Ok(())
    }

    /// Starts the ingester again and waits until it is ready.
    pub(crate) fn restart(&self) -> Result<()> {
        self.ingester().restart()?;
        self.ingester().wait_ready(DEADLINE)
    }

    pub(crate) fn metrics(&self) -> Result<Metrics> {
        Metrics::parse(&self.ingester().metrics()?)
    }

    /// The lines of the log that contain all these parts.
    pub(crate) fn log_lines(&self, parts: &[&str]) -> Result<Vec<String>> {
        let logs = self.ingester().logs()?;
        Ok(logs.lines().filter(|line| parts.iter().all(|part| line.contains(part))).map(str::to_owned).collect())
    }

    /// The row of an object of the mirrored namespace.
    pub(crate) async fn row(&self, kind: &str, name: &str) -> Result<Option<Row>> {
        self.database.row(kind, &self.objects.namespace, name).await
    }

    /// Waits until the object's row meets a condition, and returns it.
    pub(crate) async fn row_that(
        &self,
        what: &str,
        kind: &str,
        name: &str,
        holds: impl Fn(&Row) -> bool,
    ) -> Result<Row> {
        let what = format!("the row of {kind} {name} to be {what}");
        let row =
            eventually(&what, async || self.row(kind, name).await, |row| row.as_ref().is_some_and(&holds)).await?;
        row.context("it was there")
    }

    /// Waits until the object is gone from the cluster.
    pub(crate) async fn gone(&self, kind: &str, name: &str) -> Result<()> {
        let what = format!("{kind} {name} to leave the cluster");
        eventually(&what, async || self.objects.get(kind, name).await, Option::is_none).await.map(drop)
    }

    /// Waits until the rows match the cluster and nothing is left to do.
    pub(crate) async fn settled(&self) -> Result<()> {
        self.settled_within(DEADLINE).await
    }

    /// [`settled`](Self::settled) with another deadline.
    pub(crate) async fn settled_within(&self, deadline: Duration) -> Result<()> {
        self.settled_but_for(None, deadline).await
    }

    /// [`settled`](Self::settled), except for the object of this name, which cannot be stored.
    pub(crate) async fn settled_but(&self, name: &str) -> Result<()> {
        self.settled_but_for(Some(name), DEADLINE).await
    }

    async fn settled_but_for(&self, but: Option<&str>, deadline: Duration) -> Result<()> {
        let look = async || {
            let mut found = differences(&self.objects, &self.database, but).await?;
            let count = found.len();
            found.truncate(20);
            Ok((count, found))
        };
        within(deadline, "the rows to be what the cluster has", look, |(count, _)| *count == 0).await.map(drop)
    }

    /// `ingester audit` with the same configuration.
    pub(crate) fn audit(&self, arguments: &[&str]) -> Result<CommandResult> {
        self.ingester().run(&[&["audit"], arguments].concat())
    }

    /// Fails if `ingester audit` finds a difference.
    pub(crate) fn audit_is_clean(&self) -> Result<()> {
        let ran = self.audit(&[])?;
        ensure!(ran.code == Some(0), "{ran:?}");
        Ok(())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let (false, Some(ingester)) = (self.passed, &self.ingester) {
            let logs = ingester.logs().unwrap_or_default();
            let lines: Vec<&str> = logs.lines().collect();
            let tail = lines.get(lines.len().saturating_sub(100)..).unwrap_or_default().join("\n");
            eprintln!(
                "{} on {:?}, {:?} API server, namespace {}:\n{tail}",
                self.name,
                self.database.on,
                self.cluster.edition(),
                self.objects.namespace
            );
        }
    }
}
