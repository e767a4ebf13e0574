//! A fresh database of each kind, objects for it, and a look into it that does not go through the store.

use anyhow::{Context as _, Result};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::store::{Change, ConnectOptions, Store};
use ingester_core::value::Row;
use ingester_tests::{shared_mariadb, shared_mysql, skipped_without_mysql};
use serde_json::{Value as Json, json};
use sqlx::{AssertSqlSafe, Row as _};
use std::path::PathBuf;

/// Which database a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    Sqlite,
    MariaDb,
    MySql,
}

/// One empty database.
pub(crate) struct World {
    pub(crate) on: On,
    pub(crate) url: String,
    _folder: Option<tempfile::TempDir>,
}

/// Runs an async function `fn name(world: World) -> Result<()>` on each database, as three tests.
#[macro_export]
macro_rules! on_every_database {
    ($($name:ident)*) => { $(
        mod $name {
            use $crate::world::{On, run};
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

pub(crate) fn run<F: Future<Output = Result<()>>>(name: &str, on: On, test: impl FnOnce(World) -> F) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        match World::new(name, on).await? {
            Some(world) => test(world).await,
            None => {
                skipped_without_mysql();
                Ok(())
            }
        }
    })
}

impl World {
    async fn new(name: &str, on: On) -> Result<Option<Self>> {
        // The end of a path such as store::rows::a_test_mysql: unique within this program, short enough for a name.
        let name: String = name.split("::").skip(1).collect::<Vec<_>>().join("_");
        let name = name.get(name.len().saturating_sub(60)..).unwrap_or(&name).to_owned();
        Ok(Some(match on {
            On::Sqlite => {
                let folder = tempfile::tempdir()?;
                let path: PathBuf = folder.path().join("test.db");
                World { on, url: format!("sqlite://{}?mode=rwc", path.display()), _folder: Some(folder) }
            }
            On::MariaDb => World { on, url: shared_mariadb()?.create_database(&name).await?, _folder: None },
            On::MySql => match shared_mysql()? {
                Some(server) => World { on, url: server.create_database(&name).await?, _folder: None },
                None => return Ok(None),
            },
        }))
    }

    /// A store on this database, with the tables of the 13 kinds.
    pub(crate) async fn store(&self) -> Result<Store> {
        let store = self.connect(ConnectOptions::default()).await?;
        store.create_missing(crd_specs::KINDS).await?;
        Ok(store)
    }

    pub(crate) async fn connect(&self, options: ConnectOptions) -> Result<Store> {
        Ok(Store::connect(&self.url.parse()?, options).await?)
    }

    /// Runs SQL, of the test's own, on a connection of its own; every cell as text.
    pub(crate) async fn sql(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        async fn all<D: sqlx::Database>(url: &str, sql: &str) -> Result<Vec<Vec<Option<String>>>>
        where
            for<'c> &'c mut D::Connection: sqlx::Executor<'c, Database = D>,
            for<'r> Option<String>: sqlx::Decode<'r, D>,
            usize: sqlx::ColumnIndex<D::Row>,
        {
            use sqlx::{Connection as _, Executor as _};
            let mut connection = D::Connection::connect(url).await?;
            let rows = connection
                .fetch_all(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())))
                .await
                .with_context(|| sql.to_owned())?;
            let texts = rows
                .iter()
                .map(|row| {
                    (0..row.len()).map(|i| row.try_get_unchecked::<Option<String>, _>(i)).collect::<Result<_, _>>()
                })
                .collect::<Result<_, _>>()?;
            connection.close().await?;
            Ok(texts)
        }
        match self.on {
            On::Sqlite => all::<sqlx::Sqlite>(&self.url, sql).await,
            On::MariaDb | On::MySql => all::<sqlx::MySql>(&self.url, sql).await,
        }
    }

    /// The one cell of the one row.
    pub(crate) async fn cell(&self, sql: &str) -> Result<Option<String>> {
        let rows = self.sql(sql).await?;
        anyhow::ensure!(rows.len() == 1 && rows[0].len() == 1, "{sql} gave {rows:?}");
        Ok(rows[0][0].clone())
    }

    /// A number of rows.
    pub(crate) async fn count(&self, from: &str) -> Result<u64> {
        Ok(self.cell(&format!("SELECT COUNT(*) FROM {from}")).await?.context("a count")?.parse()?)
    }
}

/// The kind by its name.
pub(crate) fn kind(name: &str) -> &'static Kind {
    crd_specs::KINDS.iter().find(|kind| kind.kind() == name).unwrap()
}

/// A Model's JSON: uid, resourceVersion, and labels that follow from the version.
pub(crate) fn model(uid: &str, version: u64) -> Json {
    json!({
        "apiVersion": "michelangelo.api/v2",
        "kind": "Model",
        "metadata": {
            "namespace": "ml",
            "name": format!("model-{uid}"),
            "uid": uid,
            "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-03-09T20:36:46Z",
            "labels": { "version": version.to_string(), format!("only-{version}"): "yes", "same": "same" },
            "annotations": { "note": format!("written at {version}") },
        },
        "spec": { "algorithm": format!("algorithm-{version}"), "owner": { "name": "me" } },
    })
}

/// The row of a JSON object.
pub(crate) fn row(object: &Json) -> Row {
    let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    kind(object.kind()).row(&object).unwrap().unwrap()
}

/// The change that writes a JSON object.
pub(crate) fn change(object: &Json) -> Change {
    Change::Row(row(object))
}
