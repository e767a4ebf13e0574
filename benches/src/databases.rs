//! The databases that are measured, each with its own defaults and commits that are on disk, except for the size of its buffer pool.

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use ingester_tests::{Durability, MariaDb, MySql, Postgres, SqlServer};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DatabaseChoice {
    Mariadb,
    Mysql,
    Postgres,
    Sqlite,
}

impl DatabaseChoice {
    pub(crate) fn title(self) -> &'static str {
        match self {
            DatabaseChoice::Mariadb => "MariaDB",
            DatabaseChoice::Mysql => "MySQL",
            DatabaseChoice::Postgres => "PostgreSQL",
            DatabaseChoice::Sqlite => "SQLite",
        }
    }

    /// Makes empty databases of these names, and does `work` with their URLs. A server runs until the work is done; one that is not
    /// installed is skipped.
    fn with<const N: usize>(
        self,
        pool: Option<&str>,
        names: [&str; N],
        runtime: &tokio::runtime::Runtime,
        mut work: impl FnMut([String; N]) -> Result<()>,
    ) -> Result<()> {
        let mut work_on = |server: &SqlServer| {
            let mut urls = names.map(str::to_owned);
            for name in &mut urls {
                *name = runtime.block_on(url(server, name))?;
            }
            work(urls)
        };
        let options: Vec<String> = pool.map(|pool| self.buffer_pool(pool)).into_iter().collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        match self {
            DatabaseChoice::Mariadb => work_on(&*MariaDb::start_with(Durability::Durable, &options)?),
            DatabaseChoice::Mysql => match MySql::start_with(Durability::Durable, &options)? {
                Some(server) => work_on(&server),
                None => skipped("MySQL (bash tests/install.sh mysql)"),
            },
            DatabaseChoice::Postgres => match Postgres::start_with(Durability::Durable, &options)? {
                Some(server) => work_on(&server),
                None => skipped("PostgreSQL (bash tests/install.sh postgresql)"),
            },
            DatabaseChoice::Sqlite => {
                let folder = tempfile::tempdir()?;
                work(names.map(|name| format!("sqlite://{}?mode=rwc", folder.path().join(name).display())))
            }
        }
    }

    /// Starts a server, and does `work` with it. SQLite has none.
    pub(crate) fn with_server(
        self,
        pool: Option<&str>,
        work: impl AsyncFnOnce(&SqlServer) -> Result<()>,
    ) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let option = pool.map(|pool| self.buffer_pool(pool));
        let options: Vec<&str> = option.as_deref().into_iter().collect();
        match self {
            DatabaseChoice::Mariadb => {
                let server = MariaDb::start_with(Durability::Durable, &options)?;
                runtime.block_on(work(&server))
            }
            DatabaseChoice::Mysql => {
                let server = MySql::start_with(Durability::Durable, &options)?;
                runtime.block_on(work(&*server.context("there is no MySQL (bash tests/install.sh mysql)")?))
            }
            DatabaseChoice::Postgres => {
                let server = Postgres::start_with(Durability::Durable, &options)?;
                runtime.block_on(work(&*server.context("there is no PostgreSQL (bash tests/install.sh postgresql)")?))
            }
            DatabaseChoice::Sqlite => {
                bail!("SQLite is not a server: measure with --database mariadb, mysql or postgres")
            }
        }
    }

    /// The option for a buffer pool of this size, such as `2G`.
    fn buffer_pool(self, size: &str) -> String {
        match self {
            // Its units are kB, MB, GB.
            DatabaseChoice::Postgres => format!("--shared_buffers={size}B"),
            DatabaseChoice::Mariadb | DatabaseChoice::Mysql | DatabaseChoice::Sqlite => {
                format!("--innodb-buffer-pool-size={size}")
            }
        }
    }
}

fn skipped(missing: &str) -> Result<()> {
    println!("skipped: no {missing}");
    Ok(())
}

/// Does `work` with new databases of these names on each of `wanted`, or on all of them if there is none.
pub(crate) fn on_each<const N: usize>(
    wanted: &[DatabaseChoice],
    pool: Option<&str>,
    names: [&str; N],
    runtime: &tokio::runtime::Runtime,
    mut work: impl FnMut(DatabaseChoice, [String; N]) -> Result<()>,
) -> Result<()> {
    let wanted = if wanted.is_empty() { DatabaseChoice::value_variants() } else { wanted };
    wanted.iter().try_for_each(|which| which.with(pool, names, runtime, |urls| work(*which, urls)))
}

/// A new database, through the server's socket if the server is ours. The reference's statements are closed after each
/// use, and with sqlx's TCP settings that waits up to 40 ms for an acknowledgement. The reference's own driver does not
/// wait.
pub(crate) async fn url(server: &SqlServer, database: &str) -> Result<String> {
    let url = server.create_database(database).await?;
    let Some(socket) = server.socket() else { return Ok(url) };
    Ok(match socket.parent() {
        // Its folder and the port identify it.
        Some(folder) if url.starts_with("postgres") => format!("{url}?host={}&sslmode=disable", folder.display()),
        _ => format!("{url}?socket={}&ssl-mode=disabled", socket.display()),
    })
}
