//! A row does not change from the transaction that reads it for a restore until the transaction that stores the new object.

use crate::world::{Stores as _, World, kind, model, row};
use anyhow::{Context as _, Result, ensure};
use ingester_core::row::{Row, Standing};
use ingester_core::value::Micros;
use ingester_sql::query::Reads;
use ingester_store::{
    ChangeResult, DeletionResult, Effect, OpenRestore, PurgeTerms, RestoreBegin, RowChange, Store, StoredRow,
};
use ingester_tests::on_every_database;
use serde_json::{Value as Json, json};
use std::convert::Infallible;
use std::sync::Arc;

on_every_database! {
    a_row_that_is_being_restored_is_left_alone_by_everything_else
    the_transaction_that_stores_the_new_object_marks_the_old_row
    a_restore_is_continued_with_its_number_and_ends_for_no_other
    of_a_write_and_a_restore_the_later_one_sees_the_other
}

fn evicted(uid: &str) -> RowChange {
    RowChange::Row(Row { evict_time: Some(Micros(1_000_000)), evict_confirmed: true, ..row(&model(uid, 5)) })
}

/// The object that a restore of this row creates.
fn restored(uid: &str, from: &str, nonce: &str) -> Json {
    let mut object = model(uid, 9);
    object["metadata"]["annotations"] = json!({"michelangelo/RestoredFrom": from, "michelangelo/RestoreNonce": nonce});
    object
}

async fn begin(store: &Store, uid: &str) -> Result<(StoredRow, OpenRestore, bool)> {
    match store.begin_restore(kind("Model"), uid).await? {
        RestoreBegin::Open { row, restore, is_continued } => Ok((*row, restore, is_continued)),
        other => anyhow::bail!("{uid}: {other:?}"),
    }
}

async fn read_stored(store: &Store, uid: &str) -> Result<StoredRow> {
    store.read_stored(kind("Model").table(), &[uid]).await?.pop().context("a row")
}

/// Labels a row. Returns whether it was changed; `None` if it is being restored.
async fn label(store: &Store, uid: &str) -> Result<Option<bool>> {
    let edit = |stored: &StoredRow| Ok::<_, Infallible>(Some(row(&model(uid, stored.res_version + 1))));
    Ok(match store.change_evicted(kind("Model"), uid, Effect::Written, edit).await? {
        ChangeResult::Done(_) => Some(true),
        ChangeResult::Restoring(_) => None,
        _ => Some(false),
    })
}

async fn a_row_that_is_being_restored_is_left_alone_by_everything_else(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let gone = RowChange::Row(Row { delete_time: Some(Micros(1)), ..row(&model("gone", 5)) });
    let leaving = RowChange::Row(Row { evict_time: Some(Micros(1)), ..row(&model("leaving", 5)) });
    let live = RowChange::Row(row(&model("live", 5)));
    store.write(table, vec![evicted("a"), evicted("b"), gone, leaving, live]).await?;
    for (uid, expected) in
        [("none", RestoreBegin::NotFound), ("live", RestoreBegin::NotEvicted), ("leaving", RestoreBegin::Leaving)]
    {
        assert_eq!(store.begin_restore(kind("Model"), uid).await?, expected, "{uid}");
        assert_eq!(store.open_restore(kind("Model"), uid).await?, None, "{uid}");
    }
    let (before, restore, _) = begin(&store, "a").await?;
    begin(&store, "gone").await?;

    assert_eq!(label(&store, "a").await?, None);
    let refuse = |_: &StoredRow| Ok::<_, Infallible>(());
    for effect in [Effect::Tried, Effect::Written] {
        let deleted = store.delete_evicted(kind("Model"), "a", effect, refuse).await?;
        ensure!(deleted == ChangeResult::Restoring(restore.clone()), "{deleted:?}");
    }
    let deleted = store.delete_evicted_of(table, &[("a", 5), ("b", 5)], Effect::Tried).await?;
    assert_eq!(deleted, DeletionResult { rows: 1, restoring: 1, ..DeletionResult::default() });
    let seen = before.version();
    ensure!(!store.replace_evicted(kind("Model"), &row(&model("a", 7)), seen).await?, "a decision about a ghost");
    let standing =
        |row: &StoredRow| Standing { version: row.version(), delete_time: row.delete_time, evict_time: row.evict_time };
    let rows = [("a", standing(&before)), ("b", standing(&read_stored(&store, "b").await?))];
    let premise = store.premise(kind("Model"), Reads::default()).await?;
    let terms = PurgeTerms { premise: &premise, marked: None };
    assert_eq!(store.purge_judged(kind("Model"), &rows, terms).await?, 1, "b alone");
    assert_eq!(store.purge_rows(kind("Model"), &["gone"], Micros::now()).await?, 0);
    assert_eq!(read_stored(&store, "a").await?, before);

    // Once it is given up, all is as before.
    ensure!(store.give_up_restore(kind("Model"), "a", &restore).await?);
    assert_eq!(label(&store, "a").await?, Some(true));
    Ok(())
}

async fn the_transaction_that_stores_the_new_object_marks_the_old_row(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![evicted("a"), evicted("b"), evicted("c")]).await?;
    let (_, a, _) = begin(&store, "a").await?;
    let (_, b, _) = begin(&store, "b").await?;
    // One of them alone, which is written in one round trip otherwise, and one among others.
    let alone = Row { expected: Some(ingester_core::row::Expected::Absent), ..row(&restored("new-a", "a", &a.nonce)) };
    assert_eq!(store.write(table, vec![RowChange::Row(alone)]).await?.written, 1);
    let others = [restored("new-b", "b", &b.nonce), restored("new-c", "c", "unknown"), model("d", 1)];
    let others: Vec<RowChange> = others.iter().map(|object| RowChange::Row(row(object))).collect();
    assert_eq!(store.write(table, others).await?.written, 3);
    for (uid, is_deleted) in [("a", true), ("b", true), ("c", false), ("new-a", false), ("d", false)] {
        let row = read_stored(&store, uid).await?;
        assert_eq!(row.delete_time.is_some(), is_deleted, "{uid}");
        assert_eq!(row.res_version, if uid.starts_with("new") { 9 } else { row.res_version }, "{uid}");
    }
    ensure!(read_stored(&store, "a").await?.evict_time.is_some(), "it stays evicted");
    for uid in ["a", "b"] {
        assert_eq!(store.open_restore(kind("Model"), uid).await?, None);
    }
    // The command's own end changes nothing more.
    ensure!(store.end_restore(kind("Model"), "a", Some(&a.nonce)).await?);
    ensure!(!store.end_restore(kind("Model"), "c", Some("unknown")).await?, "it is not being restored");
    ensure!(store.end_restore(kind("Model"), "c", None).await?, "an object of a program without numbers");
    ensure!(read_stored(&store, "c").await?.delete_time.is_some());
    Ok(())
}

async fn a_restore_is_continued_with_its_number_and_ends_for_no_other(world: World) -> Result<()> {
    let store = world.store().await?;
    store.write(kind("Model").table(), vec![evicted("a")]).await?;
    let (_, first, is_continued) = begin(&store, "a").await?;
    ensure!(!is_continued);
    assert_eq!(store.open_restore(kind("Model"), "a").await?, Some(first.clone()));
    let (_, second, is_continued) = begin(&store, "a").await?;
    ensure!(is_continued && second.nonce == first.nonce && second.time > first.time, "{first:?} {second:?}");
    // The first attempt's record is out of date.
    ensure!(!store.give_up_restore(kind("Model"), "a", &first).await?);
    ensure!(!store.end_restore(kind("Model"), "a", Some("another")).await?);
    ensure!(store.give_up_restore(kind("Model"), "a", &second).await?);
    ensure!(!store.give_up_restore(kind("Model"), "a", &second).await?, "it is over");
    let (_, third, is_continued) = begin(&store, "a").await?;
    ensure!(!is_continued && third.nonce != first.nonce);
    // Another kind's row of the same uid is another row.
    assert_eq!(store.open_restore(kind("Project"), "a").await?, None);
    Ok(())
}

async fn of_a_write_and_a_restore_the_later_one_sees_the_other(world: World) -> Result<()> {
    let store = Arc::new(world.store().await?);
    let uids: Vec<String> = (0..20).map(|number| format!("u{number}")).collect();
    store.write(kind("Model").table(), uids.iter().map(|uid| evicted(uid)).collect()).await?;
    for uid in &uids {
        let write = {
            let store = store.clone();
            let uid = uid.clone();
            tokio::spawn(async move { label(&store, &uid).await })
        };
        let (read, ..) = begin(&store, uid).await?;
        let is_written = write.await??.is_some();
        assert_eq!(read.res_version, if is_written { 6 } else { 5 }, "{uid}: a write that succeeded is in the text");
        assert_eq!(read_stored(&store, uid).await?.res_version, read.res_version, "{uid}");
    }
    Ok(())
}
