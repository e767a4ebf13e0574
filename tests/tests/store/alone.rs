//! A kind without tables of labels and annotations (`companions = false`).

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use crate::world::{Stores as _, World};
use anyhow::{Context as _, Result, ensure};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Expected, Row};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_core::{Ingestable, Kind};
use ingester_sql::query::{Filter, Query, Test};
use ingester_store::compare::differences;
use ingester_store::migrate::drift;
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{ChangeResult, ConnectOptions, Effect, RowChange, StoredRow};
use ingester_tests::on_every_database;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::convert::Infallible;
use std::time::Duration;

on_every_database! {
    a_kind_without_tables_of_labels_lives_in_one_table
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Event", namespaced, companions = false, retention = "36h")]
pub struct Event {
    #[index]
    pub reason: String,
}

const KIND: Kind = Kind::of::<Event>();

fn event(uid: &str, version: u64) -> Json {
    json!({
        "apiVersion": "v1", "kind": "Event", "reason": "Started",
        "metadata": {
            "name": uid, "namespace": "ml", "uid": uid, "resourceVersion": version.to_string(),
            "labels": { "version": version.to_string() }, "annotations": { "a": "b" },
        },
    })
}

fn row(uid: &str, version: u64) -> Row {
    let object = Object::parse(event(uid, version).to_string(), ManagedFields::Prune).unwrap();
    KIND.row(&object).unwrap().unwrap()
}

async fn a_kind_without_tables_of_labels_lives_in_one_table(world: World) -> Result<()> {
    ensure!(KIND.retention() == Some(Duration::from_secs(36 * 3600)));
    let store = world.connect(ConnectOptions::default()).await?;
    ensure!(store.create_missing(&[KIND]).await? == ["event"]);
    let found = drift(&ingester_sql::ddl::Schema::from_registry(&[KIND]), &store.catalog().await?, store.dialect());
    ensure!(found.is_empty(), "{found:?}");

    // A batch, then single objects: new, and with other labels than before.
    let table = KIND.table();
    let changes = ["a", "b"].map(|uid| RowChange::Row(row(uid, 1)));
    ensure!(store.write(table, changes.to_vec()).await?.written == 2);
    let new = Row { expected: Some(Expected::Absent), ..row("c", 1) };
    let expected = Some(Expected::Stored { res_version: 1, companions: row("c", 1).companions_hash() });
    for row in [new, Row { expected, ..row("c", 2) }] {
        ensure!(store.write(table, vec![RowChange::Row(row)]).await?.written == 1);
    }
    let stored = async |uid: &str| store.read_stored(table, &[uid]).await?.pop().context("a row");
    ensure!(differences(table, &row("c", 2), &stored("c").await?) == []);
    let of_version_1 = differences(table, &row("c", 1), &stored("c").await?);
    ensure!(of_version_1.iter().any(|found| found.what == "json metadata.labels.version"), "{of_version_1:?}");

    // Labels are printed from the object, but do not select anything.
    let wanted = RequestedParts { places: vec![base::NAME], labels: true };
    let page = store.ask_about(&KIND, &Query::default(), Limits::default())?.page(&wanted, 9, None).await?;
    let labels: Vec<_> = page.rows.iter().filter_map(|row| row.labels()).map(|labels| labels[0].1.as_ref()).collect();
    ensure!(labels == ["1", "1", "2"], "{labels:?}");
    let by_label = Filter::Label { key: "version".to_owned(), test: Test::Equal(Value::text("1")) };
    let query = Query { filters: vec![by_label], ..Query::default() };
    let Err(error) = store.ask_about(&KIND, &query, Limits::default()) else { anyhow::bail!("it has no such table") };
    let error = error.to_string();
    ensure!(error.starts_with("Event has no table `event_labels` (with `companions = false` there is none"), "{error}");

    // An evicted row is changed, another is deleted and purged.
    let evicted = RowChange::Row(Row { evict_time: Some(Micros(1)), evict_confirmed: true, ..row("a", 3) });
    let deleted = RowChange::Row(Row { delete_time: Some(Micros(1)), ..row("b", 3) });
    ensure!(store.write(table, vec![evicted, deleted]).await?.written == 2);
    let edit = |_: &StoredRow| Ok::<_, Infallible>(Some(row("a", 4)));
    let changed = store.change_evicted(&KIND, "a", Effect::Written, edit).await?;
    ensure!(matches!(changed, ChangeResult::Done(_)), "{changed:?}");
    ensure!(store.purge(&KIND, Micros::now()).await?.rows == 1);
    ensure!(world.count("event").await? == 2);
    Ok(())
}
