//! An empty database of each kind for a test, and SQL of the test's own on it.

use crate::{shared_mariadb, shared_mysql, skipped_without_mysql};
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

/// Runs a test on an empty database; on MySQL only if it is installed. `name` is the test's path.
///
/// # Errors
/// The test's.
pub fn run<F: Future<Output = Result<()>>>(name: &str, on: On, test: impl FnOnce(Database) -> F) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        match Database::new(name, on).await? {
            Some(database) => test(database).await,
            None => {
                skipped_without_mysql();
                Ok(())
            }
        }
    })
}

impl Database {
    /// An empty database named after `name`, a path such as `store::rows::a_test_mysql`. The part after the first
    /// colons must be unique within the test program. `None` if MySQL is not installed.
    ///
    /// # Errors
    /// When it cannot be created.
    pub async fn new(name: &str, on: On) -> Result<Option<Self>> {
        // The end of the path, short enough for the name of a database.
        let name: String = name.split("::").skip(1).collect::<Vec<_>>().join("_");
        let name = name.get(name.len().saturating_sub(60)..).unwrap_or(&name).to_owned();
        Ok(Some(match on {
            On::Sqlite => {
                let folder = tempfile::tempdir()?;
                let path: PathBuf = folder.path().join("test.db");
                Database { on, url: format!("sqlite://{}?mode=rwc", path.display()), _folder: Some(folder) }
            }
            On::MariaDb => Database { on, url: shared_mariadb()?.create_database(&name).await?, _folder: None },
            On::MySql => match shared_mysql()? {
                Some(server) => Database { on, url: server.create_database(&name).await?, _folder: None },
                None => return Ok(None),
            },
        }))
    }

    /// Runs SQL on a connection of its own. Returns every cell as text; bytes that are not text, as hexadecimal digits.
    ///
    /// # Errors
    /// The database's.
    pub async fn sql(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        async fn all<D: sqlx::Database>(url: &str, sql: &str) -> Result<Vec<Vec<Option<String>>>>
        where
            for<'c> &'c mut D::Connection: sqlx::Executor<'c, Database = D>,
            for<'r> Option<String>: sqlx::Decode<'r, D>,
            for<'r> Option<Vec<u8>>: sqlx::Decode<'r, D>,
            usize: sqlx::ColumnIndex<D::Row>,
        {
            use sqlx::{Connection as _, Executor as _};
            let mut connection = D::Connection::connect(url).await?;
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
            On::Sqlite => all::<sqlx::Sqlite>(&self.url, sql).await,
            On::MariaDb | On::MySql => all::<sqlx::MySql>(&self.url, sql).await,
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
