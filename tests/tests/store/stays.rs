//! Values that stay stored although the object does not have them any more (`keep`, `first`), however the row is written.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use crate::world::{Stores as _, World};
use anyhow::{Context as _, Result, ensure};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Expected, Row};
use ingester_core::schema::{Stays, base};
use ingester_core::value::{Micros, Value};
use ingester_core::wire::Time;
use ingester_core::{Ingestable, Kind};
use ingester_store::compare::differences;
use ingester_store::guard::{Eviction, Version};
use ingester_store::migrate::Backfill;
use ingester_store::{ChangeResult, ConnectOptions, Effect, RowChange, Store, StoredRow};
use ingester_tests::on_every_database;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::convert::Infallible;
use tokio_util::sync::CancellationToken;

on_every_database! {
    a_kept_value_stays_where_the_object_has_none
    a_backfill_changes_nothing_that_stays
    an_audit_finds_only_what_does_not_stay
}

/// One column of each type, kept, and the first of each.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Run", plural = "runs", namespaced)]
pub struct Run {
    #[index(path = "phase", column = "phase")]
    #[index(path = "phase", column = "kept_phase", keep)]
    #[index(path = "phase", column = "first_phase", first)]
    #[index(path = "count", column = "kept_count", keep)]
    #[index(path = "count", column = "first_count", first)]
    #[index(path = "size", column = "kept_size", keep)]
    #[index(path = "size", column = "first_size", first)]
    #[index(path = "ratio", column = "kept_ratio", keep)]
    #[index(path = "ratio", column = "first_ratio", first)]
    #[index(path = "ready", column = "kept_ready", keep)]
    #[index(path = "ready", column = "first_ready", first)]
    #[index(path = "since", column = "kept_since", keep)]
    #[index(path = "since", column = "first_since", first)]
    pub status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Status {
    pub phase: Option<String>,
    pub count: Option<i64>,
    pub size: Option<u64>,
    pub ratio: Option<f64>,
    pub ready: Option<bool>,
    pub since: Option<Time>,
}

const KIND: Kind = Kind::of::<Run>();

/// The object of this uid; "b" and "d" have one name.
fn run(uid: &str, version: u64, which: Option<bool>) -> Json {
    let name = if uid == "d" { "b" } else { uid };
    json!({
        "apiVersion": "example.com/v1", "kind": "Run", "status": status(which),
        "metadata": { "name": name, "namespace": "ml", "uid": uid, "resourceVersion": version.to_string() },
    })
}

#[test]
fn a_query_by_path_does_not_ask_a_column_whose_values_stay() {
    let table = KIND.table();
    assert_eq!(table.place("status.phase"), table.by_name("phase"));
    assert_eq!(table.place("status.count"), None);
}

/// The status has nothing, or one of two values.
fn status(which: Option<bool>) -> Json {
    match which {
        None => json!({}),
        Some(false) => json!({
            "phase": "Grüße", "count": i64::MIN, "size": i64::MAX as u64, "ratio": -0.1, "ready": false,
            "since": "2026-03-09T20:36:46.123456Z",
        }),
        Some(true) => json!({
            "phase": "", "count": 0, "size": 0, "ratio": 1e300, "ready": true, "since": "1999-12-31T23:59:59.000001Z",
        }),
    }
}

fn row(object: &Json) -> Row {
    let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    KIND.row(&object).unwrap().unwrap()
}

async fn store(world: &World) -> Result<Store> {
    let store = world.connect(ConnectOptions::default()).await?;
    store.create_missing(&[KIND]).await?;
    Ok(store)
}

async fn read_stored(store: &Store, uid: &str) -> Result<StoredRow> {
    store.read_stored(KIND.table(), &[uid]).await?.pop().context("a row")
}

/// Fails unless the columns have the values of these states of the object: the present one, the last one and the first one with values.
async fn has(store: &Store, uid: &str, now: Option<bool>, kept: Option<bool>, first: Option<bool>) -> Result<()> {
    let stored = read_stored(store, uid).await?;
    let delete_time = stored.delete_time;
    let evict_time = stored.evict_time;
    let audited = Row { delete_time, evict_time, ..row(&run(uid, stored.res_version, now)) };
    let found = differences(KIND.table(), &audited, &stored);
    ensure!(found.is_empty(), "an audit finds {found:?}");
    let [now, kept, first] = [now, kept, first].map(|which| row(&run(uid, 1, which)));
    for (place, column) in KIND.table().columns.iter().enumerate().skip(base::JSON + 1) {
        let wanted = match column.stays {
            Stays::None => &now,
            Stays::Keep => &kept,
            Stays::First => &first,
        };
        let found = &stored.values[place];
        let wanted = &wanted.values[place];
        let same = match (wanted, found) {
            (Value::UInt(wanted), Value::Int(found)) => i128::from(*wanted) == i128::from(*found),
            _ => wanted == found,
        };
        ensure!(same, "{}: {found:?}, not {wanted:?}", column.name);
    }
    Ok(())
}

async fn a_kept_value_stays_where_the_object_has_none(world: World) -> Result<()> {
    let store = store(&world).await?;
    let states = [
        (None, None, None),
        (Some(false), Some(false), Some(false)),
        (None, Some(false), Some(false)),
        (Some(true), Some(true), Some(false)),
        (None, Some(true), Some(false)),
        (Some(false), Some(false), Some(false)),
    ];
    for (version, (now, kept, first)) in (1..).zip(states) {
        let changes = ["a", "b"].map(|uid| RowChange::Row(row(&run(uid, version, now))));
        ensure!(store.write(KIND.table(), changes.to_vec()).await?.written == 2);
        let alone = row(&run("c", version, now));
        let expected = match version {
            1 => Expected::Absent,
            _ => Expected::Stored { res_version: version - 1, companions: alone.companions_hash() },
        };
        let alone = RowChange::Row(Row { expected: Some(expected), ..alone });
        ensure!(store.write(KIND.table(), vec![alone]).await?.written == 1);
        for uid in ["a", "b", "c"] {
            has(&store, uid, now, kept, first).await.with_context(|| format!("version {version} of {uid}"))?;
        }
    }
    // A state that replaces a later one, a tombstone with its last state, and an evicted row that is changed.
    let seen = Version { res_version: 6, ingest_version: 0, deleted: false, eviction: Eviction::None };
    let replacement = RowChange::Replacement { row: row(&run("a", 3, None)), seen };
    let deleted = RowChange::Row(Row { delete_time: Some(Micros(1)), ..row(&run("b", 9, None)) });
    let evicted = RowChange::Row(Row { evict_time: Some(Micros(1)), evict_confirmed: true, ..row(&run("c", 9, None)) });
    ensure!(store.write(KIND.table(), vec![replacement, deleted, evicted]).await?.written == 3);
    let edit = |_: &StoredRow| Ok::<_, Infallible>(Some(row(&run("c", 10, None))));
    let changed = store.change_evicted(&KIND, "c", Effect::Written, edit).await?;
    ensure!(matches!(changed, ChangeResult::Done(_)), "{changed:?}");
    for uid in ["a", "b", "c"] {
        has(&store, uid, None, Some(false), Some(false)).await.with_context(|| format!("the end of {uid}"))?;
    }
    // A new object under the same name inherits nothing from the old one.
    store.write(KIND.table(), vec![RowChange::Row(row(&run("d", 11, None)))]).await?;
    has(&store, "d", None, None, None).await
}

async fn a_backfill_changes_nothing_that_stays(world: World) -> Result<()> {
    let store = store(&world).await?;
    for (version, which) in [(1, Some(false)), (2, Some(true)), (3, None)] {
        store.write(KIND.table(), vec![RowChange::Row(row(&run("a", version, which)))]).await?;
    }
    store.write(KIND.table(), vec![RowChange::Row(row(&run("b", 1, Some(true))))]).await?;
    let all = async || {
        let backfill = Backfill::for_columns(&KIND, &[])?;
        anyhow::Ok(store.backfill(&backfill, None, &CancellationToken::new(), |_| {}).await?)
    };
    let done = all().await?;
    ensure!((done.read, done.filled, done.failed) == (2, 0, 0), "{done:?}");
    has(&store, "a", None, Some(true), Some(false)).await?;
    // Missing values are filled from the stored object.
    world.sql("UPDATE run SET phase = 'x', kept_phase = NULL, first_phase = NULL, first_since = NULL").await?;
    let done = all().await?;
    ensure!((done.read, done.filled, done.failed) == (2, 2, 0), "{done:?}");
    has(&store, "b", Some(true), Some(true), Some(true)).await?;
    let row = read_stored(&store, "a").await?;
    let of = |column: &str| KIND.table().by_name(column).map(|place| row.values[place].clone()).context("a column");
    ensure!((of("kept_phase")?, of("first_phase")?, of("phase")?) == (Value::Null, Value::Null, Value::Null));
    ensure!(of("kept_count")? == Value::Int(0) && of("first_count")? == Value::Int(i64::MIN));
    Ok(())
}

async fn an_audit_finds_only_what_does_not_stay(world: World) -> Result<()> {
    let store = store(&world).await?;
    for (version, which) in [(1, Some(false)), (2, Some(true)), (3, None)] {
        store.write(KIND.table(), vec![RowChange::Row(row(&run("a", version, which)))]).await?;
    }
    let object = row(&run("a", 3, None));
    ensure!(differences(KIND.table(), &object, &read_stored(&store, "a").await?) == []);
    store.write(KIND.table(), vec![RowChange::Row(row(&run("a", 4, Some(true))))]).await?;
    let object = row(&run("a", 4, Some(true)));
    ensure!(differences(KIND.table(), &object, &read_stored(&store, "a").await?) == []);
    let wrong = async |set: &str| {
        world.sql(&format!("UPDATE run SET {set}")).await?;
        let found = differences(KIND.table(), &object, &read_stored(&store, "a").await?);
        anyhow::Ok(found.into_iter().map(|difference| difference.what).collect::<Vec<_>>())
    };
    ensure!(wrong("first_phase = 'by hand'").await?.is_empty(), "nobody knows what the first one was");
    ensure!(wrong("kept_count = 7, first_count = NULL").await? == ["kept_count", "first_count"]);
    ensure!(wrong("kept_count = NULL").await? == ["kept_count", "first_count"]);
    Ok(())
}
