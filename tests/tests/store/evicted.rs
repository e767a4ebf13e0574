//! Evicted rows are changed in SQL, whatever the mirror still receives about their objects.

use crate::world::{MODEL_AND_PROJECT, Stores as _, World, change, kind, model, row};
use anyhow::{Context as _, Result};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_store::compare::differences;
use ingester_store::{ChangeResult, ConnectOptions, DeletionResult, Effect, RowChange, Store, StoredRow};
use ingester_tests::{on_every_database, on_galera};
use serde_json::{Value as Json, json};
use std::convert::Infallible;
use std::sync::Arc;

on_every_database! {
    an_evicted_row_is_changed_in_all_its_tables
    a_dry_run_of_a_change_writes_nothing
    only_evicted_rows_of_the_kind_are_changed
    a_deleted_row_keeps_its_version_and_when_it_was_evicted
    of_two_writers_who_saw_the_same_version_one_wins
    late_events_of_the_mirror_do_not_overwrite_a_changed_row
    many_rows_are_deleted_but_those_that_changed_meanwhile
    an_evicted_row_agrees_with_itself_after_every_writer
    a_decision_for_the_object_replaces_the_row_that_was_seen_and_no_other
}

on_galera! {
    of_two_writers_who_saw_the_same_version_one_wins
    an_evicted_row_agrees_with_itself_after_every_writer
}

/// Evicts a model of this version.
fn evicted(uid: &str, version: u64) -> RowChange {
    RowChange::Row(Row {
        evict_time: Some(Micros(1_700_000_000_000_000)),
        evict_confirmed: true,
        ..row(&model(uid, version))
    })
}

/// Marks it as deleted at this version, as the mirror does when it learns that the object is gone.
fn gone(uid: &str, version: u64) -> RowChange {
    RowChange::Row(Row { delete_time: Some(Micros::now()), ..row(&model(uid, version)) })
}

fn json_of(stored: &StoredRow) -> Json {
    let Value::Text(text) = &stored.values[base::JSON] else { panic!("an object") };
    serde_json::from_str(text).unwrap()
}

/// The next version of a stored row, with this label.
fn labelled(stored: &StoredRow, key: &str, value: &str) -> Row {
    let mut object = json_of(stored);
    object["metadata"]["labels"][key] = json!(value);
    object["metadata"]["resourceVersion"] = json!((stored.res_version + 1).to_string());
    row(&object)
}

type EditResult = ChangeResult<Row, Infallible>;

async fn label(store: &Store, uid: &str, key: &str, value: &str) -> Result<EditResult> {
    let edit = |stored: &StoredRow| Ok(Some(labelled(stored, key, value)));
    Ok(store.change_evicted(kind("Model"), uid, Effect::Written, edit).await?)
}

async fn delete(store: &Store, uid: &str) -> Result<ChangeResult<Box<StoredRow>, Infallible>> {
    Ok(store.delete_evicted(kind("Model"), uid, Effect::Written, |_| Ok(())).await?)
}

async fn read_stored(store: &Store, uid: &str) -> Result<StoredRow> {
    store.read_stored(kind("Model").table(), &[uid]).await?.pop().context("a row")
}

/// Fails if the columns, labels or annotations of a row are not those of its own object.
fn agrees_with_itself(stored: &StoredRow) {
    let object = Object::parse(json_of(stored).to_string(), ManagedFields::Prune).unwrap();
    let mut wanted = kind("Model").row(&object).unwrap().unwrap();
    (wanted.delete_time, wanted.evict_time) = (stored.delete_time, stored.evict_time);
    let differences = differences(kind("Model").table(), &wanted, stored);
    assert!(differences.is_empty(), "{differences:?}");
}

async fn an_evicted_row_is_changed_in_all_its_tables(world: World) -> Result<()> {
    let store = world.store().await?;
    store.write(kind("Model").table(), vec![evicted("a", 5)]).await?;
    let before = read_stored(&store, "a").await?;
    assert!(matches!(label(&store, "a", "team", "pricing").await?, ChangeResult::Done(row) if row.res_version == 6));
    let after = read_stored(&store, "a").await?;
    agrees_with_itself(&after);
    assert_eq!((after.res_version, after.evict_time, after.delete_time), (6, before.evict_time, None));
    assert_eq!(after.labels.iter().find(|(key, _)| &**key == "team").map(|(_, value)| &**value), Some("pricing"));
    assert_eq!(json_of(&after)["metadata"]["labels"]["team"], "pricing");
    assert_ne!(after.values[base::PROTO], before.values[base::PROTO]);
    assert_ne!(after.values[base::UPDATE_TIME], before.values[base::UPDATE_TIME]);
    // A label that does not exist any more.
    let without = |stored: &StoredRow| {
        let mut object = json_of(stored);
        object["metadata"]["labels"] = json!({});
        object["metadata"]["resourceVersion"] = json!("7");
        Ok::<_, Infallible>(Some(row(&object)))
    };
    store.change_evicted(kind("Model"), "a", Effect::Written, without).await?;
    assert_eq!(world.count("model_labels").await?, 0);
    agrees_with_itself(&read_stored(&store, "a").await?);
    Ok(())
}

async fn a_dry_run_of_a_change_writes_nothing(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![evicted("a", 5)]).await?;
    let before = read_stored(&store, "a").await?;
    let edit = |stored: &StoredRow| Ok::<_, Infallible>(Some(labelled(stored, "team", "pricing")));
    let tried = store.change_evicted(kind("Model"), "a", Effect::Tried, edit).await?;
    assert!(matches!(tried, ChangeResult::Done(row) if row.res_version == 6));
    let kept = store.change_evicted(kind("Model"), "a", Effect::Written, |_| Ok::<_, Infallible>(None)).await?;
    assert_eq!(kept, ChangeResult::Unchanged(Box::new(before.clone())));
    let refused = store.change_evicted(kind("Model"), "a", Effect::Written, |_| Err("no")).await?;
    assert_eq!(refused, ChangeResult::Refused("no"));
    let refused = store.delete_evicted(kind("Model"), "a", Effect::Written, |_| Err("no")).await?;
    assert_eq!(refused, ChangeResult::Refused("no"));
    let tried = store.delete_evicted(kind("Model"), "a", Effect::Tried, |_| Ok::<_, Infallible>(())).await?;
    assert_eq!(tried, ChangeResult::Done(Box::new(before.clone())));
    assert_eq!(store.delete_evicted_of(table, &[("a", 5)], Effect::Tried).await?.rows, 1);
    assert_eq!(read_stored(&store, "a").await?, before);
    // A row must neither go back nor become another one.
    let earlier = |_: &StoredRow| Ok::<_, Infallible>(Some(row(&model("a", 5))));
    assert!(store.change_evicted(kind("Model"), "a", Effect::Written, earlier).await.is_err());
    let other = |_: &StoredRow| Ok::<_, Infallible>(Some(row(&model("b", 6))));
    assert!(store.change_evicted(kind("Model"), "a", Effect::Written, other).await.is_err());
    assert_eq!(read_stored(&store, "a").await?, before);
    Ok(())
}

async fn only_evicted_rows_of_the_kind_are_changed(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let changes = vec![change(&model("live", 5)), gone("gone", 5), evicted("foreign", 5)];
    store.write(table, changes).await?;
    world.sql("UPDATE model SET group_ver = 'example.com/v2' WHERE uid = 'foreign'").await?;
    for (uid, expected) in [
        ("live", ChangeResult::NotEvicted),
        ("gone", ChangeResult::Deleted),
        ("foreign", ChangeResult::NotFound),
        ("none", ChangeResult::NotFound),
    ] {
        let before = store.read_stored(table, &[uid]).await?;
        assert_eq!(label(&store, uid, "team", "pricing").await?, expected, "{uid}");
        assert_eq!(format!("{:?}", delete(&store, uid).await?), format!("{expected:?}"), "{uid}");
        assert_eq!(store.read_stored(table, &[uid]).await?, before, "{uid}");
    }
    Ok(())
}

async fn a_deleted_row_keeps_its_version_and_when_it_was_evicted(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![evicted("a", 5)]).await?;
    let before = read_stored(&store, "a").await?;
    assert_eq!(delete(&store, "a").await?, ChangeResult::Done(Box::new(before.clone())));
    let after = read_stored(&store, "a").await?;
    agrees_with_itself(&after);
    assert_eq!((after.res_version, after.evict_time), (5, before.evict_time));
    assert!(after.delete_time.is_some());
    assert_eq!(delete(&store, "a").await?, ChangeResult::Deleted);
    assert_eq!(read_stored(&store, "a").await?, after);
    Ok(())
}

async fn of_two_writers_who_saw_the_same_version_one_wins(world: World) -> Result<()> {
    let store = Arc::new(world.store().await?);
    store.write(kind("Model").table(), vec![evicted("a", 5)]).await?;
    for round in 0..20 {
        let seen = read_stored(&store, "a").await?.res_version;
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..4 {
            let store = store.clone();
            writers.spawn(async move {
                let edit = |stored: &StoredRow| {
                    if stored.res_version != seen {
                        return Err(());
                    }
                    Ok(Some(labelled(stored, "winner", &format!("{round}-{writer}"))))
                };
                let changed = store.change_evicted(kind("Model"), "a", Effect::Written, edit).await;
                changed.map(|changed| matches!(changed, ChangeResult::Done(_)).then_some(writer))
            });
        }
        let mut winners = Vec::new();
        while let Some(writer) = writers.join_next().await {
            winners.extend(writer??);
        }
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        let after = read_stored(&store, "a").await?;
        assert_eq!(after.res_version, seen + 1);
        assert_eq!(json_of(&after)["metadata"]["labels"]["winner"], format!("{round}-{}", winners[0]));
        agrees_with_itself(&after);
    }
    Ok(())
}

/// What the mirror may still receive about an object that was evicted at version 5, in any order and more than once.
fn echoes(uid: &str) -> Vec<RowChange> {
    vec![
        change(&model(uid, 3)),
        change(&model(uid, 5)),
        evicted(uid, 4),
        evicted(uid, 5),
        gone(uid, 5),
        gone(uid, 9),
        RowChange::Tombstone { uid: uid.into(), res_version: 9, delete_time: Micros::now() },
    ]
}

async fn late_events_of_the_mirror_do_not_overwrite_a_changed_row(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![evicted("changed", 5), evicted("deleted", 5), evicted("both", 5)]).await?;
    label(&store, "changed", "team", "pricing").await?;
    label(&store, "both", "team", "pricing").await?;
    delete(&store, "deleted").await?;
    delete(&store, "both").await?;
    for uid in ["changed", "deleted", "both"] {
        let before = read_stored(&store, uid).await?;
        for echo in echoes(uid) {
            let report = store.write(table, vec![echo.clone()]).await?;
            assert_eq!(report.written, 0, "{uid}: {echo:?}");
            assert_eq!(read_stored(&store, uid).await?, before, "{uid}: {echo:?}");
        }
        agrees_with_itself(&before);
    }
    Ok(())
}

async fn many_rows_are_deleted_but_those_that_changed_meanwhile(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let uid = |i: u32| format!("u{i:03}");
    store.write(table, (0..300).map(|i| evicted(&uid(i), 5)).collect()).await?;
    store.write(table, vec![change(&model("live", 5)), gone("gone", 5)]).await?;
    label(&store, &uid(7), "team", "pricing").await?;
    let mut uids: Vec<String> = (0..300).map(uid).collect();
    uids.extend(["live", "gone", "none"].map(str::to_owned));
    let read: Vec<(&str, u64)> = uids.iter().map(|uid| (uid.as_str(), 5)).collect();
    let deleted = store.delete_evicted_of(table, &read, Effect::Written).await?;
    assert_eq!(deleted, DeletionResult { rows: 299, changed: vec![uid(7).into()], ..DeletionResult::default() });
    assert_eq!(world.count("model WHERE delete_time IS NOT NULL AND evict_time IS NOT NULL").await?, 299);
    assert_eq!(world.count("model WHERE delete_time IS NULL").await?, 2);
    Ok(())
}

async fn an_evicted_row_agrees_with_itself_after_every_writer(world: World) -> Result<()> {
    const OBJECTS: usize = 12;
    let uids: Vec<String> = (0..OBJECTS).map(|i| format!("u{i:02}")).collect();
    let table = kind("Model").table();
    let options = || ConnectOptions::default().connections(4);
    let programs = [Arc::new(world.connect(options()).await?), Arc::new(world.connect(options()).await?)];
    programs[0].create_missing(MODEL_AND_PROJECT).await?;
    // Rows of the first third are only changed, those of the second deleted in between, those of the last third are just being evicted.
    let third = |i: usize| i * 3 / OBJECTS;
    let settled = (0..OBJECTS).filter(|i| third(*i) < 2).map(|i| evicted(&uids[i], 5));
    programs[0].write(table, settled.collect()).await?;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..3_usize {
        let store = programs[writer % 2].clone();
        let uids = uids.clone();
        tasks.spawn(async move {
            let mut done = Vec::new();
            for round in 0..6 {
                for (i, uid) in uids.iter().enumerate() {
                    if writer == 0 && round == 3 && third(i) == 1 {
                        let deleted = delete(&store, uid).await?;
                        anyhow::ensure!(matches!(deleted, ChangeResult::Done(_)), "{deleted:?}");
                    }
                    let changed = label(&store, uid, &format!("writer-{writer}"), &format!("{round}")).await?;
                    if let ChangeResult::Done(row) = changed {
                        done.push((uid.clone(), row.res_version));
                    }
                }
            }
            Ok::<_, anyhow::Error>(done)
        });
    }
    let store = programs[1].clone();
    let of_mirror = uids.clone();
    tasks.spawn(async move {
        for echo in 0..echoes("any").len() {
            for (i, uid) in of_mirror.iter().enumerate() {
                if third(i) == 2 && echo == 0 {
                    store.write(table, vec![change(&model(uid, 4))]).await?;
                    store.write(table, vec![evicted(uid, 5)]).await?;
                }
                store.write(table, vec![echoes(uid).swap_remove(echo)]).await?;
            }
        }
        Ok(Vec::new())
    });
    let mut done = Vec::new();
    for task in tasks.join_all().await {
        done.extend(task?);
    }
    // Every change has its own version, and none was lost.
    let mut versions = done.clone();
    versions.sort();
    versions.dedup();
    assert_eq!(versions.len(), done.len());
    for (i, uid) in uids.iter().enumerate() {
        let row = read_stored(&programs[0], uid).await?;
        agrees_with_itself(&row);
        assert!(row.evict_time.is_some(), "{uid}");
        assert_eq!(row.delete_time.is_some(), third(i) == 1, "{uid}");
        let changes = done.iter().filter(|(of, _)| of == uid).count() as u64;
        assert_eq!(row.res_version, 5 + changes, "{uid}");
        if third(i) == 0 {
            assert_eq!(changes, 18, "{uid}");
        }
    }
    Ok(())
}

async fn a_decision_for_the_object_replaces_the_row_that_was_seen_and_no_other(world: World) -> Result<()> {
    let store = world.store().await?;
    store.write(kind("Model").table(), vec![evicted("a", 7)]).await?;
    let seen = read_stored(&store, "a").await?;
    let object = row(&model("a", 3));
    // A user has changed the row meanwhile.
    assert!(matches!(label(&store, "a", "team", "pricing").await?, ChangeResult::Done(_)));
    assert!(!store.replace_evicted(kind("Model"), &object, seen.version()).await?);
    let changed = read_stored(&store, "a").await?;
    assert_eq!((changed.res_version, json_of(&changed)["metadata"]["labels"]["team"].as_str()), (8, Some("pricing")));
    assert!(store.replace_evicted(kind("Model"), &object, changed.version()).await?);
    let replaced = read_stored(&store, "a").await?;
    assert_eq!((replaced.res_version, replaced.evict_time), (3, None));
    agrees_with_itself(&replaced);
    Ok(())
}
