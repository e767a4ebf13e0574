//! An empty database of each kind for a test, and SQL of the test's own on it.

use crate::{Galera, shared_galera, shared_mariadb, shared_mysql, skipped_without_galera, skipped_without_mysql};
use anyhow::{Context as _, Result};
use sqlx::{AssertSqlSafe, Row as _};
use std::path::PathBuf;

/// Which database a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// SQLite, in a file.
    Sqlite,
    /// MariaDB.
    MariaDb,
    /// MySQL.
    MySql,
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

/// Runs an async function `fn name(database: Database) -> Result<()>` on each database, as three tests.
#[macro_export]
macro_rules! on_every_database {
    ($($name:ident)*) => { $(
        mod $name {
            use $crate::databases::{On, run};
            #[test]
            fn sqlite() -> anyhow::Result<()> {
                run(concat!(module_path!(), "_sqlite"), On::Sqlite, super::$name)
            }
            #[test]
            fn mariadb() -> anyhow::Result<()> {
                run(concat!(module_path!(), "_mariadb"), On::MariaDb, super::$name)
            }
            #[test]
            fn mysql() -> anyhow::Result<()> {
                run(concat!(module_path!(), "_mysql"), On::MySql, super::$name)
            }
        }
    )* };
}

/// Runs an async function `fn name(database: Database) -> Result<()>` on a Galera cluster, beside [`on_every_database!`].
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

/// Runs a test on an empty database; on MySQL only if it is installed. `name` is the test's path.
///
/// # Errors
/// The test's.
pub fn run<F: Future<Output = Result<()>>>(name: &str, on: On, test: impl FnOnce(Database) -> F) -> Result<()> {
    runtime()?.block_on(async {
        match Database::new(name, on).await? {
            Some(database) => test(database).await,
            None => {
                skipped_without_mysql();
                Ok(())
            }
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
    runtime()?.block_on(test(Database::of(cluster, &short(name))?))
}

/// The cluster that takes MariaDB's place, if `INGESTER_TEST_GALERA` is set.
fn instead_of_mariadb() -> Result<Option<&'static Galera>> {
    match std::env::var_os("INGESTER_TEST_GALERA") {
        Some(value) if !value.is_empty() => shared_galera()?.context("Galera is not installed").map(Some),
        _ => Ok(None),
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// The end of a test's path, short enough for the name of a database.
fn short(path: &str) -> String {
    let name: String = path.split("::").skip(1).collect::<Vec<_>>().join("_");
    name.get(name.len().saturating_sub(60)..).unwrap_or(&name).to_owned()
}

impl Database {
    /// An empty database named after `name`, a path such as `store::rows::a_test_mysql`. The part after the first
    /// colons must be unique within the test program. `None` if MySQL is not installed.
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
            On::MariaDb => match instead_of_mariadb()? {
                Some(cluster) => Database::of(cluster, &name)?,
                None => {
                    Database { on, url: shared_mariadb()?.create_database(&name).await?, other: None, _folder: None }
                }
            },
            On::MySql => match shared_mysql()? {
                Some(server) => Database { on, url: server.create_database(&name).await?, other: None, _folder: None },
                None => return Ok(None),
            },
        }))
    }

    /// An empty database of a cluster: its URL names one node, and the test's own SQL runs on another one.
    fn of(cluster: &Galera, name: &str) -> Result<Self> {
        cluster.create_database(name)?;
        let [url, other] = [0, 1].map(|node| cluster.url(node, name));
        Ok(Database { on: On::MariaDb, url, other: Some(other), _folder: None })
    }

    /// The URL of the same database for a user whose clock is a hundred days behind: so the node's is ahead by that. An embedded database has
    /// the node's own clock.
    ///
    /// # Errors
    /// The server's.
    pub async fn behind(&self) -> Result<String> {
        if self.on == On::Sqlite {
            return Ok(self.url.clone());
        }
        let database = self.url.rsplit('/').next().unwrap_or_default().split('?').next().unwrap_or_default();
        for sql in [
            "CREATE USER IF NOT EXISTS 'behind'@'%'",
            &format!("GRANT ALL ON `{database}`.* TO 'behind'@'%'"),
            // For users who are not the server's administrator, and for this one alone.
            "SET GLOBAL init_connect = 'SET timestamp = IF(CURRENT_USER() LIKE \"behind@%\", UNIX_TIMESTAMP() - 8640000, 0)'",
        ] {
            self.sql(sql).await?;
        }
        Ok(self.url.replacen("root@", "behind@", 1))
    }

    /// Runs SQL on a connection of its own. Returns every cell as text; bytes that are not text, as hexadecimal digits.
    ///
    /// # Errors
    /// The database's.
    pub async fn sql(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        async fn all<D: sqlx::Database>(url: &str, prepare: &'static str, sql: &str) -> Result<Vec<Vec<Option<String>>>>
        where
            for<'c> &'c mut D::Connection: sqlx::Executor<'c, Database = D>,
            for<'r> Option<String>: sqlx::Decode<'r, D>,
            for<'r> Option<Vec<u8>>: sqlx::Decode<'r, D>,
            usize: sqlx::ColumnIndex<D::Row>,
        {
            use sqlx::{Connection as _, Executor as _};
            let mut connection = D::Connection::connect(url).await?;
            connection.execute(sqlx::raw_sql(prepare)).await?;
            let rows = connection
                .fetch_all(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())))
                .await
                .with_context(|| sql.to_owned())?;
            let cell = |row: &D::Row, place| match row.try_get_unchecked::<Option<String>, _>(place) {
                Ok(text) => Ok(text),
                // Not text: hexadecimal digits.
                Err(_) => row
                    .try_get_unchecked::<Option<Vec<u8>>, _>(place)
                    .map(|bytes| bytes.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())),
            };
            let texts = rows
                .iter()
                .map(|row| (0..row.len()).map(|place| cell(row, place)).collect::<Result<_, _>>())
                .collect::<Result<_, _>>()?;
            connection.close().await?;
            Ok(texts)
        }
        match self.on {
            On::Sqlite => all::<sqlx::Sqlite>(&self.url, "SELECT 1", sql).await,
            On::MariaDb | On::MySql => match &self.other {
                None => all::<sqlx::MySql>(&self.url, "SELECT 1", sql).await,
                // Whatever was committed on the other node is seen.
                Some(other) => all::<sqlx::MySql>(other, "SET SESSION wsrep_sync_wait = 15", sql).await,
            },
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

    /// The number of rows.
    ///
    /// # Errors
    /// The database's.
    pub async fn count(&self, from: &str) -> Result<u64> {
        Ok(self.cell(&format!("SELECT COUNT(*) FROM {from}")).await?.context("a count")?.parse()?)
    }
}
