//! The database's clock writes the times that decide something, and judges them: a node's clock may be wrong.

use crate::world::{On, Stores as _, World, kind, model, row};
use anyhow::{Context as _, Result};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::{Changed, ConnectOptions, Effect, RowChange, Store};
use ingester_tests::on_every_database;
use std::convert::Infallible;
use std::time::Duration;

on_every_database! {
    a_node_that_is_a_hundred_days_ahead_purges_nothing_too_early
}

const DAY: i64 = 24 * 3600 * 1_000_000;
const DAYS_90: Duration = Duration::from_secs(90 * 24 * 3600);

/// A store on a database whose clock is a hundred days behind this node's: so the node's is ahead by that. With SQLite it is this node's.
async fn behind(world: &World) -> Result<Store> {
    if world.on == On::Sqlite {
        return world.connect(ConnectOptions::default()).await;
    }
    let database = world.url.rsplit('/').next().unwrap_or_default().split('?').next().unwrap_or_default();
    for sql in [
        "CREATE USER IF NOT EXISTS 'behind'@'%'",
        &format!("GRANT ALL ON `{database}`.* TO 'behind'@'%'"),
        // For users who are not the server's administrator, and for this one alone.
        "SET GLOBAL init_connect = 'SET timestamp = IF(CURRENT_USER() LIKE \"behind@%\", UNIX_TIMESTAMP() - 8640000, 0)'",
    ] {
        world.sql(sql).await?;
    }
    let url = world.url.replacen("root@", "behind@", 1);
    Ok(Store::connect(&url.parse()?, ConnectOptions::default()).await?)
}

async fn a_node_that_is_a_hundred_days_ahead_purges_nothing_too_early(world: World) -> Result<()> {
    let (store, table) = (world.store().await?, kind("Model").table());
    let near = |time: Micros, other: Micros| (time.0 - other.0).abs() < DAY / 24;
    assert!(near(store.now(), Micros::now()) && store.clock_offset().abs() < 60.0, "{}", store.clock_offset());
    let store = behind(&world).await?;
    let ahead = if world.on == On::Sqlite { 0 } else { 100 * DAY };
    assert!(near(store.now(), Micros(Micros::now().0 - ahead)), "{:?}", store.now());
    assert!(near(store.read_clock().await?, store.now()));
    assert!((store.clock_offset() + (ahead / 1_000_000) as f64).abs() < 60.0, "{}", store.clock_offset());

    let gone = |uid: &str, time: Micros| RowChange::Row(Row { delete_time: Some(time), ..row(&model(uid, 1)) });
    let evicted =
        RowChange::Row(Row { evict_time: Some(store.now()), evict_confirmed: true, ..row(&model("evicted", 1)) });
    let old = Micros(store.now().0 - 91 * DAY);
    store.write(table, vec![gone("just-now", store.now()), gone("old", old), evicted]).await?;
    assert_eq!(store.purge_older(kind("Model"), DAYS_90).await?.rows, 1);
    let left = store.stored(table, &["just-now", "old"]).await?;
    assert_eq!(left.iter().map(|row| &*row.uid).collect::<Vec<_>>(), ["just-now"]);
    // What the store itself writes is the database's time, too.
    let deleted = store.delete_evicted(kind("Model"), "evicted", Effect::Written, |_| Ok::<_, Infallible>(())).await?;
    assert!(matches!(deleted, Changed::Done(_)), "{deleted:?}");
    let time = store.stored(table, &["evicted"]).await?.pop().and_then(|row| row.delete_time).context("a time")?;
    assert!(near(time, store.now()), "{time:?}");
    // By the node's clock, a tombstone of seconds would be gone.
    let by_the_node = store.purge(kind("Model"), Micros::ago(DAYS_90)).await?.rows;
    assert_eq!(by_the_node, u64::from(ahead > 0));
    Ok(())
}
