//! A store on each database, and objects to store.

use anyhow::{Result, ensure};
use crd_specs::model::Model;
use crd_specs::project::Project;
use ingester_core::Kind;
use ingester_core::kind::IngestVersion;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_sql::dialect::Dialect;
use ingester_store::{ConnectOptions, RowChange, Store};
use serde_json::{Value as Json, json};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub(crate) use ingester_tests::databases::{Database as World, On};

/// The kinds of most tests: 6 tables instead of the 39 of all 13 kinds.
pub(crate) const MODEL_AND_PROJECT: &[Kind] = &[Kind::of::<Model>(), Kind::of::<Project>()];

/// A database on which stores can be opened.
pub(crate) trait Stores {
    /// A store on this database, with the tables of [`MODEL_AND_PROJECT`].
    async fn store(&self) -> Result<Store>;

    /// A store on this database, with the tables of these kinds.
    async fn store_of(&self, kinds: &[Kind]) -> Result<Store>;

    /// A store on this database as it is.
    async fn connect(&self, options: ConnectOptions) -> Result<Store>;
}

impl Stores for World {
    async fn store(&self) -> Result<Store> {
        self.store_of(MODEL_AND_PROJECT).await
    }

    async fn store_of(&self, kinds: &[Kind]) -> Result<Store> {
        let store = self.connect(ConnectOptions::default()).await?;
        store.create_missing(kinds).await?;
        Ok(store)
    }

    async fn connect(&self, options: ConnectOptions) -> Result<Store> {
        Ok(Store::connect(&self.url.parse()?, options).await?)
    }
}

/// The 13 kinds, in a program with a lock file.
pub(crate) fn kinds() -> &'static [Kind] {
    static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
        let first = IngestVersion { number: 1, of_unmarked: 0 };
        crd_specs::KINDS.iter().map(|kind| kind.versioned(first)).collect()
    });
    &KINDS
}

/// Returns one of these kinds by name.
pub(crate) fn kind(name: &str) -> &'static Kind {
    kinds().iter().find(|kind| kind.kind() == name).unwrap()
}

/// The JSON of a Model with this uid and resourceVersion, and labels that depend on the version.
pub(crate) fn model(uid: &str, version: u64) -> Json {
    json!({
        "apiVersion": "michelangelo.api/v2",
        "kind": "Model",
        "metadata": {
            "namespace": "ml",
            "name": format!("model-{}", uid.trim_end()),
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
pub(crate) fn change(object: &Json) -> RowChange {
    RowChange::Row(row(object))
}

/// The dialect of the database.
pub(crate) fn dialect(on: On) -> Dialect {
    match on {
        On::Sqlite => Dialect::Sqlite,
        On::MariaDb | On::MySql => Dialect::MySql,
        On::Postgres => Dialect::Postgres,
    }
}

/// An object that the ingester accepts and this database refuses.
fn poison(on: On, uid: &str) -> Json {
    let mut object = model(uid, 1);
    match on {
        // Beyond their signed integers.
        On::Sqlite | On::Postgres => object["metadata"]["resourceVersion"] = json!((1_u64 << 63).to_string()),
        // Nested deeper than MariaDB's JSON functions allow (32 levels).
        On::MariaDb => {
            let mut deep = json!(1);
            for _ in 0..60 {
                deep = json!({ "a": deep });
            }
            object["spec"]["unknown"] = deep;
        }
        // Longer than a key of MySQL's JSON type.
        On::MySql => object["spec"]["unknown"] = json!({ "k".repeat(70_000): 1 }),
    }
    object
}

/// The change that writes it.
pub(crate) fn poisoned(on: On, uid: &str) -> RowChange {
    change(&poison(on, uid))
}

/// Waits until a writer of this PostgreSQL database waits for another transaction.
pub(crate) async fn wait_for_a_blocked_writer(world: &World) -> Result<()> {
    // Only of this database: a lock on a transaction does not name its database, and other tests use the server.
    let waits = "SELECT COUNT(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND locktype = 'transactionid' AND datname = CURRENT_DATABASE()";
    let end = Instant::now() + Duration::from_secs(60);
    while world.cell(waits).await?.as_deref() == Some("0") {
        ensure!(Instant::now() < end, "no writer waits");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
