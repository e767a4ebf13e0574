//! Purged rows of deleted objects, and no other rows.

use crate::world::{Stores as _, World, kind, model, row};
use anyhow::Result;
use ingester_core::row::Row;
use ingester_core::schema::Companion;
use ingester_core::value::Micros;
use ingester_store::{PurgePlace, PurgeResult, RowChange, Store};
use ingester_tests::{on_every_database, on_galera};
use std::time::Duration;

on_every_database! {
    only_old_tombstones_are_purged
    purging_goes_on_batch_by_batch
    an_object_that_came_back_is_not_purged
    writers_and_purging_leave_each_other_whole
}

on_galera! {
    writers_and_purging_leave_each_other_whole
}

const LONG_AGO: Micros = Micros(1_700_000_000_000_000);
const BEFORE: Micros = Micros(1_750_000_000_000_000);

/// Marks it as deleted at this time.
fn gone(uid: &str, time: Micros) -> RowChange {
    RowChange::Row(Row { delete_time: Some(time), ..row(&model(uid, 1)) })
}

fn live(uid: &str, version: u64) -> RowChange {
    RowChange::Row(row(&model(uid, version)))
}

/// The uids of the remaining rows of these, and whether nothing of the others is left in any table.
async fn left(store: &Store, world: &World, uids: &[&str]) -> Result<Vec<String>> {
    let left: Vec<String> =
        store.read_stored(kind("Model").table(), uids).await?.iter().map(|row| row.uid.to_string()).collect();
    for companion in Companion::OF_METADATA {
        let table = kind("Model").table().companion(companion);
        let rows = world.count(&format!("{table} WHERE obj_uid NOT IN (SELECT uid FROM model)")).await?;
        assert_eq!(rows, 0, "{table}");
    }
    Ok(left)
}

async fn only_old_tombstones_are_purged(world: World) -> Result<()> {
    let store = world.store().await?;
    let evicted =
        |uid: &str, delete_time| RowChange::Row(Row { delete_time, evict_time: Some(LONG_AGO), ..row(&model(uid, 1)) });
    let changes = vec![
        gone("old", LONG_AGO),
        gone("at-the-limit", BEFORE),
        gone("young", Micros::now()),
        live("live", 1),
        evicted("evicted", None),
        evicted("evicted-and-deleted", Some(LONG_AGO)),
    ];
    store.write(kind("Model").table(), changes).await?;
    assert_eq!(store.purge(kind("Model"), BEFORE).await?, PurgeResult { rows: 1, more: false });
    assert_eq!(store.purge(kind("Model"), BEFORE).await?, PurgeResult { rows: 0, more: false });
    let all = ["at-the-limit", "evicted", "evicted-and-deleted", "live", "old", "young"];
    assert_eq!(left(&store, &world, &all).await?, ["at-the-limit", "evicted", "evicted-and-deleted", "live", "young"]);
    // Rows of another group, which a program with other kinds has left behind, do not belong to this kind.
    world.sql("UPDATE model SET group_ver = 'example.com/v1', delete_time = '2020-01-01 00:00:00.000000'").await?;
    assert_eq!(store.purge(kind("Model"), BEFORE).await?.rows, 0);
    Ok(())
}

async fn purging_goes_on_batch_by_batch(world: World) -> Result<()> {
    let store = world.store().await?;
    let change = |number: u32| match gone(&format!("uid-{number}"), LONG_AGO) {
        // Rows that stay are among them.
        RowChange::Row(row) if number.is_multiple_of(2) => RowChange::Row(Row { evict_time: Some(LONG_AGO), ..row }),
        change => change,
    };
    store.write(kind("Model").table(), (0..600).map(change).collect()).await?;
    let mut batches = Vec::new();
    let mut place = PurgePlace::default();
    loop {
        let PurgeResult { rows, more } =
            store.purge_older(kind("Model"), Duration::from_secs(3600), &mut place).await?;
        batches.push(rows);
        if !more {
            break;
        }
    }
    assert_eq!(batches, [128, 128, 44]);
    left(&store, &world, &[]).await?;
    assert_eq!(world.count("model").await?, 300);
    Ok(())
}

async fn an_object_that_came_back_is_not_purged(world: World) -> Result<()> {
    let store = world.store().await?;
    store.write(kind("Model").table(), vec![gone("a", LONG_AGO), gone("b", LONG_AGO)]).await?;
    // It comes back between the look without locks and the one with them.
    store.write(kind("Model").table(), vec![live("a", 2)]).await?;
    assert_eq!(store.purge_rows(kind("Model"), &["a", "b", "c"], BEFORE).await?, 1);
    assert_eq!(left(&store, &world, &["a", "b"]).await?, ["a"]);
    Ok(())
}

async fn writers_and_purging_leave_each_other_whole(world: World) -> Result<()> {
    let store = world.store().await?;
    let uids: Vec<String> = (0..200).map(|number| format!("uid-{number}")).collect();
    store.write(kind("Model").table(), uids.iter().map(|uid| gone(uid, LONG_AGO)).collect()).await?;
    let writing = async {
        for uids in uids.chunks(10) {
            store.write(kind("Model").table(), uids.iter().map(|uid| live(uid, 2)).collect()).await?;
        }
        anyhow::Ok(())
    };
    let purging = async {
        while store.purge(kind("Model"), BEFORE).await?.rows > 0 {}
        anyhow::Ok(())
    };
    tokio::try_join!(writing, purging)?;
    let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
    assert_eq!(left(&store, &world, &uids).await?.len(), 200);
    for companion in Companion::OF_METADATA {
        let table = kind("Model").table().companion(companion);
        let rows = world.count(table.as_str()).await?;
        assert_eq!(rows, if companion == Companion::Labels { 600 } else { 200 }, "{table}");
    }
    Ok(())
}
