//! An empty database of each kind for a test, and the test's own SQL on it.

use crate::sql::{self, Rows};
use crate::{
    Galera, MariaDb, MySql, Postgres, Replication, SqlServer, shared_galera, shared_mariadb, shared_mysql,
    shared_postgres, skipped_without_galera, skipped_without_mysql, skipped_without_postgres,
};
use anyhow::{Context as _, Result};
use serde_json::Value as Json;
use std::ops::Deref;
use std::path::PathBuf;

/// The kind of database that a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// SQLite, in a file.
    Sqlite,
    /// MariaDB.
    MariaDb,
    /// MySQL.
    MySql,
    /// PostgreSQL.
    Postgres,
}

/// A test's own database server.
pub type Server = Box<dyn Deref<Target = SqlServer> + Send + Sync>;

impl On {
    /// The server that all tests of a test program share; `None`, after a message, if it is not installed. SQLite has no server.
    ///
    /// # Errors
    /// When it does not start.
    pub fn shared(self) -> Result<Option<&'static SqlServer>> {
        let server: Option<&'static SqlServer> = match self {
            On::Sqlite => None,
            On::MariaDb => Some(shared_mariadb()?),
            On::MySql => shared_mysql()?.map(|server| &**server),
            On::Postgres => shared_postgres()?.map(|server| &**server),
        };
        Ok(self.or_skipped(server))
    }

    /// A server that the test may stop; `None`, after a message, if it is not installed, or if the environment names one, which is
    /// not ours to stop.
    ///
    /// # Errors
    /// When it does not start.
    pub fn own(self) -> Result<Option<Server>> {
        let server: Option<Server> = match self {
            On::Sqlite => None,
            On::MariaDb => Some(Box::new(MariaDb::start()?)),
            On::MySql => MySql::start()?.map(|server| Box::new(server) as Server),
            On::Postgres => Postgres::start()?.map(|server| Box::new(server) as Server),
        };
        Ok(self.or_skipped(server).filter(|server| self.is_ours(server)))
    }

    /// A server and one that replicates it; `None` as [`On::own`].
    ///
    /// # Errors
    /// When they do not start.
    pub async fn replicated(self) -> Result<Option<Replication>> {
        Ok(self.or_skipped(match self {
            On::Sqlite => None,
            On::MariaDb => Replication::of_mariadb().await?,
            On::MySql => Replication::of_mysql().await?,
            On::Postgres => Replication::of_postgres().await?,
        }))
    }

    fn is_ours(self, server: &SqlServer) -> bool {
        let ours = server.process().is_some();
        if !ours {
            crate::skipped(&format!("the environment names the server of {self:?}, which is not ours to stop"));
        }
        ours
    }

    fn or_skipped<T>(self, server: Option<T>) -> Option<T> {
        match (&server, self) {
            (None, On::MySql) => skipped_without_mysql(),
            (None, On::Postgres) => skipped_without_postgres(),
            _ => {}
        }
        server
    }

    /// The largest resourceVersion that it stores.
    #[must_use]
    pub fn largest_version(self) -> u64 {
        match self {
            On::Sqlite | On::Postgres => i64::MAX.cast_unsigned(),
            On::MariaDb | On::MySql => u64::MAX,
        }
    }

    /// The name of a key of a table: unique in the whole database, if keys belong to that.
    #[must_use]
    pub fn key(self, table: &str, key: &str) -> String {
        match self {
            On::Sqlite | On::Postgres => format!("{table}__{key}"),
            On::MariaDb | On::MySql => key.to_owned(),
        }
    }

    /// Bytes in SQL, from hexadecimal digits.
    #[must_use]
    pub fn bytes(self, digits: &str) -> String {
        match self {
            On::Postgres => format!("CAST('\\x{digits}' AS BYTEA)"),
            _ => format!("x'{digits}'"),
        }
    }

    /// A column of bytes as hexadecimal digits.
    #[must_use]
    pub fn hex(self, column: &str) -> String {
        match self {
            On::Postgres => format!("UPPER(ENCODE({column}, 'hex'))"),
            _ => format!("HEX({column})"),
        }
    }

    /// SQL that reads statistics of tables.
    #[must_use]
    pub fn analyze(self, tables: &[&str]) -> String {
        let tables = tables.join(", ");
        match self {
            On::Sqlite => "ANALYZE".to_owned(),
            On::MariaDb | On::MySql => format!("ANALYZE TABLE {tables}"),
            On::Postgres => format!("ANALYZE {tables}"),
        }
    }

    /// SQL that lists the tables of the database, by name.
    #[must_use]
    pub fn tables(self) -> &'static str {
        match self {
            On::Sqlite => "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1",
            On::MariaDb | On::MySql => {
                "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY 1"
            }
            On::Postgres => "SELECT tablename FROM pg_tables WHERE schemaname = CURRENT_SCHEMA() ORDER BY 1",
        }
    }

    /// The present time in SQL, with microseconds, as in the time columns of a kind.
    #[must_use]
    pub fn now(self) -> &'static str {
        match self {
            On::Sqlite => "STRFTIME('%Y-%m-%d %H:%M:%f000', 'now')",
            On::MariaDb | On::MySql => "UTC_TIMESTAMP(6)",
            On::Postgres => "CLOCK_TIMESTAMP()",
        }
    }

    /// The text at a path of names in a JSON column, such as `spec.tier`.
    #[must_use]
    pub fn json_text(self, column: &str, path: &str) -> String {
        match self {
            On::Sqlite => format!("JSON_EXTRACT({column}, '$.{path}')"),
            On::MariaDb | On::MySql => format!("JSON_UNQUOTE(JSON_EXTRACT({column}, '$.{path}'))"),
            On::Postgres => format!("({column} #>> '{{{}}}')", path.replace('.', ",")),
        }
    }

    /// A JSON column with another value at a path of names and indexes.
    #[must_use]
    pub fn json_set(self, column: &str, path: &[&str], value: &Json) -> String {
        if self == On::Postgres {
            let path = path.join(",");
            return format!("CAST(JSONB_SET(CAST({column} AS JSONB), '{{{path}}}', '{value}') AS JSON)");
        }
        let step = |step: &&str| match step.parse::<usize>() {
            Ok(place) => format!("[{place}]"),
            Err(_) => format!(".\"{step}\""),
        };
        let value = value.as_str().map_or_else(|| value.to_string(), |text| format!("'{text}'"));
        format!("JSON_SET({column}, '${}', {value})", path.iter().map(step).collect::<String>())
    }
}

/// One empty database.
pub struct Database {
    /// Its kind.
    pub on: On,
    /// Its URL.
    pub url: String,
    /// The URL of the same database on another node of a cluster.
    other: Option<String>,
    _folder: Option<tempfile::TempDir>,
}

/// The databases that tests run on: one line each, the servers first. Calls `macro! { (arguments) [name Variant]... }`, with a test's name
/// and the variant of [`On`] of each.
#[macro_export]
macro_rules! of_databases {
    (every server: $callback:path, $arguments:tt) => {
        $crate::of_databases! { @ $callback, $arguments }
    };
    (every database: $callback:path, $arguments:tt) => {
        $crate::of_databases! { @ $callback, $arguments [sqlite Sqlite] }
    };
    (@ $callback:path, $arguments:tt $($sqlite:tt)?) => {
        $callback! {
            $arguments
            $($sqlite)?
            [mariadb MariaDb]
            [mysql MySql]
            [postgres Postgres]
        }
    };
}

/// Runs an async function `fn name(database: Database) -> Result<()>` on each database, with one test each.
#[macro_export]
macro_rules! on_every_database {
    ($($name:ident)*) => { $( $crate::of_databases! { every database: $crate::on_databases, ($name) } )* };
}

/// [`on_every_database!`], without SQLite.
#[macro_export]
macro_rules! on_every_server {
    ($($name:ident)*) => { $( $crate::of_databases! { every server: $crate::on_databases, ($name) } )* };
}

/// Like [`on_every_database!`], for some of them. Say why it is not all.
#[macro_export]
macro_rules! on_databases {
    (($name:ident) $([$test:ident $on:ident])*) => {
        mod $name {
            $(
                #[test]
                fn $test() -> anyhow::Result<()> {
                    let name = concat!(module_path!(), "_", stringify!($test));
                    $crate::databases::run(name, $crate::databases::On::$on, super::$name)
                }
            )*
        }
    };
}

/// Runs an async function `fn name(on: On) -> Result<()>`, which starts its own servers, for each kind of them, with one test each.
#[macro_export]
macro_rules! with_every_server {
    ($($name:ident)*) => { $( $crate::of_databases! { every server: $crate::with_servers, ($name) } )* };
}

/// The tests of [`with_every_server!`].
#[macro_export]
macro_rules! with_servers {
    (($name:ident) $([$test:ident $on:ident])*) => {
        mod $name {
            $(
                #[test]
                fn $test() -> anyhow::Result<()> {
                    $crate::databases::runtime()?.block_on(super::$name($crate::databases::On::$on))
                }
            )*
        }
    };
}

/// Runs an async function `fn name(database: Database) -> Result<()>` on a Galera cluster, in addition to [`on_every_database!`].
#[macro_export]
macro_rules! on_galera {
    ($($name:ident)*) => {
        mod on_galera { $(
            #[test]
            fn $name() -> anyhow::Result<()> {
                $crate::databases::run_on_galera(concat!(module_path!(), "_", stringify!($name)), super::$name)
            }
        )* }
    };
}

/// Runs a test on an empty database; on MySQL and PostgreSQL only if they are installed. `name` is the test's path.
///
/// # Errors
/// The test's.
pub fn run<F: Future<Output = Result<()>>>(name: &str, on: On, test: impl FnOnce(Database) -> F) -> Result<()> {
    runtime()?.block_on(async {
        match Database::new(name, on).await? {
            Some(database) => test(database).await,
            None => Ok(()),
        }
    })
}

/// Runs a test on an empty database of a Galera cluster, if Galera is installed.
///
/// # Errors
/// The test's.
pub fn run_on_galera<F: Future<Output = Result<()>>>(name: &str, test: impl FnOnce(Database) -> F) -> Result<()> {
    let Some(cluster) = shared_galera()? else {
        skipped_without_galera();
        return Ok(());
    };
    runtime()?.block_on(test(Database::for_cluster(cluster, &short(name))?))
}

/// Returns the cluster that replaces MariaDB, if `INGESTER_TEST_GALERA` is set.
fn instead_of_mariadb() -> Result<Option<&'static Galera>> {
    match std::env::var_os("INGESTER_TEST_GALERA") {
        Some(value) if !value.is_empty() => shared_galera()?.context("Galera is not installed").map(Some),
        _ => Ok(None),
    }
}

/// A runtime for a test.
///
/// # Errors
/// The system's.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// The end of a test's path, short enough for the name of a database.
fn short(path: &str) -> String {
    let name: String = path.split("::").skip(1).collect::<Vec<_>>().join("_");
    name.get(name.len().saturating_sub(60)..).unwrap_or(&name).to_owned()
}

impl Database {
    /// An empty database named after `name`, a path such as `store::rows::a_test_mysql`. The part after the first
    /// colons must be unique within the test program. `None`, after a message, if its server is not installed.
    ///
    /// # Errors
    /// When it cannot be created.
    pub async fn new(name: &str, on: On) -> Result<Option<Self>> {
        let name = short(name);
        Ok(Some(match on {
            On::Sqlite => {
                let folder = tempfile::tempdir()?;
                let path: PathBuf = folder.path().join("test.db");
                Database {
                    on,
                    url: format!("sqlite://{}?mode=rwc", path.display()),
                    other: None,
                    _folder: Some(folder),
                }
            }
            On::MariaDb | On::MySql | On::Postgres => match instead_of_mariadb()?.filter(|_| on == On::MariaDb) {
                Some(cluster) => Database::for_cluster(cluster, &name)?,
                None => match on.shared()? {
                    Some(server) => {
                        Database { on, url: server.create_database(&name).await?, other: None, _folder: None }
                    }
                    None => return Ok(None),
                },
            },
        }))
    }

    /// An empty database of a cluster: its URL names one node, and the test's own SQL runs on another one.
    fn for_cluster(cluster: &Galera, name: &str) -> Result<Self> {
        cluster.create_database(name)?;
        let [url, other] = [0, 1].map(|node| cluster.url(node, name));
        Ok(Database { on: On::MariaDb, url, other: Some(other), _folder: None })
    }

    /// Returns the URL of the same database for a user whose clock is a hundred days behind, so the node's clock is ahead by that. An
    /// embedded database has the node's own clock.
    ///
    /// # Errors
    /// The server's.
    pub async fn behind(&self) -> Result<String> {
        let name = self.name();
        match self.on {
            On::Sqlite => return Ok(self.url.clone()),
            On::MariaDb | On::MySql => {
                for sql in [
                    "CREATE USER IF NOT EXISTS 'behind'@'%'",
                    &format!("GRANT ALL ON `{name}`.* TO 'behind'@'%'"),
                    // For a user other than the server's administrator, and only for this one.
                    "SET GLOBAL init_connect = 'SET timestamp = IF(CURRENT_USER() LIKE \"behind@%\", UNIX_TIMESTAMP() - 8640000, 0)'",
                ] {
                    self.sql(sql).await?;
                }
            }
            // The server's own functions take precedence, unless the path says otherwise. A user belongs to all databases.
            On::Postgres => {
                self.sql(&format!(
                    "DO $$ BEGIN CREATE ROLE behind SUPERUSER LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
                     CREATE SCHEMA behind;
                     CREATE FUNCTION behind.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
                       AS $$ SELECT pg_catalog.clock_timestamp() - INTERVAL '100 days' $$;
                     ALTER ROLE behind IN DATABASE \"{name}\" SET search_path = public, behind, pg_catalog"
                ))
                .await?;
            }
        }
        Ok(self.url_of("behind"))
    }

    /// Runs SQL on its own connection. Returns every cell as text, as [`sql::on`] does.
    ///
    /// # Errors
    /// The database's.
    pub async fn sql(&self, sql: &str) -> Result<Rows> {
        match &self.other {
            None => sql::on(&self.url, &[], sql).await,
            // All commits on the other node are visible.
            Some(other) => sql::on(other, &["SET SESSION wsrep_sync_wait = 15"], sql).await,
        }
    }

    /// The only cell of the only row.
    ///
    /// # Errors
    /// The database's, or when there are more or fewer cells.
    pub async fn cell(&self, sql: &str) -> Result<Option<String>> {
        let rows = self.sql(sql).await?;
        anyhow::ensure!(rows.len() == 1 && rows[0].len() == 1, "{sql} gave {rows:?}");
        Ok(rows[0][0].clone())
    }

    /// Its tables, by name.
    ///
    /// # Errors
    /// The database's.
    pub async fn tables(&self) -> Result<Vec<String>> {
        Ok(self.sql(self.on.tables()).await?.into_iter().flatten().flatten().collect())
    }

    /// Its name on its server.
    #[must_use]
    pub fn name(&self) -> &str {
        self.url.rsplit('/').next().unwrap_or_default().split('?').next().unwrap_or_default()
    }

    /// Its URL for another user, who has no password.
    #[must_use]
    pub fn url_of(&self, user: &str) -> String {
        match self.url.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split_once('@')?.1))) {
            Some((scheme, rest)) => format!("{scheme}://{user}@{rest}"),
            None => self.url.clone(),
        }
    }

    /// The number of rows.
    ///
    /// # Errors
    /// The database's.
    pub async fn count(&self, from: &str) -> Result<u64> {
        Ok(self.cell(&format!("SELECT COUNT(*) FROM {from}")).await?.context("a count")?.parse()?)
    }
}
