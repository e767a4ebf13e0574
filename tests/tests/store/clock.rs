//! Times that matter are written and judged by the database's clock, because a node's clock may be wrong.

use crate::world::{On, Stores as _, World, kind, model, row};
use anyhow::{Context as _, Result, ensure};
use ingester_config::{Config, Live, RetentionTime};
use ingester_core::row::Row;
use ingester_core::value::{Micros, Value};
use ingester_mirror::metrics::Metrics;
use ingester_mirror::replicas::Assignment;
use ingester_mirror::retention::RetentionTask;
use ingester_mirror::suspend::Suspension;
use ingester_sql::query::{Filter, Query, States, Test};
use ingester_store::query::RequestedParts;
use ingester_store::{ChangeResult, ConnectOptions, Effect, PurgePlace, RowChange, Store};
use ingester_tests::on_every_database;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

on_every_database! {
    a_node_that_is_a_hundred_days_ahead_purges_nothing_too_early
}

const DAY: i64 = 24 * 3600 * 1_000_000;
const DAYS_90: Duration = Duration::from_secs(90 * 24 * 3600);

async fn a_node_that_is_a_hundred_days_ahead_purges_nothing_too_early(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let near = |time: Micros, other: Micros| (time.0 - other.0).abs() < DAY / 24;
    assert!(near(store.now(), Micros::now()) && store.clock_offset().abs() < 60.0, "{}", store.clock_offset());
    let store = Store::connect(&world.behind().await?.parse()?, ConnectOptions::default()).await?;
    let ahead = if world.on == On::Sqlite { 0 } else { 100 * DAY };
    assert!(near(store.now(), Micros(Micros::now().0 - ahead)), "{:?}", store.now());
    assert!(near(store.read_clock().await?, store.now()));
    assert!((store.clock_offset() + (ahead / 1_000_000) as f64).abs() < 60.0, "{}", store.clock_offset());

    let gone = |uid: &str, time: Micros| RowChange::Row(Row { delete_time: Some(time), ..row(&model(uid, 1)) });
    let evicted =
        RowChange::Row(Row { evict_time: Some(store.now()), evict_confirmed: true, ..row(&model("evicted", 1)) });
    let old = Micros(store.now().0 - 91 * DAY);
    store.write(table, vec![gone("just-now", store.now()), gone("old", old), evicted]).await?;
    assert_eq!(store.purge_older(kind("Model"), DAYS_90, &mut PurgePlace::default()).await?.rows, 1);
    let left = store.read_stored(table, &["just-now", "old"]).await?;
    assert_eq!(left.iter().map(|row| &*row.uid).collect::<Vec<_>>(), ["just-now"]);
    // So are times of questions that say how long ago.
    let since = Filter::field("delete_time", Test::Greater(Value::text("1d")));
    let query = Query { states: States::DELETED, filters: vec![since], ..Query::default() };
    let page =
        store.ask_about(kind("Model"), &query, store.limits())?.page(&RequestedParts::default(), 10, None).await?;
    assert_eq!(page.rows.iter().map(|row| row.uid()).collect::<Vec<_>>(), ["just-now"]);
    // The store's own times are the database's, too.
    let deleted = store.delete_evicted(kind("Model"), "evicted", Effect::Written, |_| Ok::<_, Infallible>(())).await?;
    assert!(matches!(deleted, ChangeResult::Done(_)), "{deleted:?}");
    let time = store.read_stored(table, &["evicted"]).await?.pop().and_then(|row| row.delete_time).context("a time")?;
    assert!(near(time, store.now()), "{time:?}");
    // The program's own rounds of retention use the database's clock, too.
    store.write(table, vec![gone("old", old)]).await?;
    let store = Arc::new(store);
    purged(&store, "old").await?;
    // An alert fires if the two clocks differ by minutes.
    let metrics = Metrics::new()?;
    metrics.database(&store);
    let offset = metrics.render();
    let offset = offset
        .lines()
        .find_map(|line| line.strip_prefix("ingester_database_clock_offset_seconds "))
        .context("a gauge")?;
    assert!((offset.parse::<f64>()? + (ahead / 1_000_000) as f64).abs() < 60.0, "{offset}");
    assert_eq!(store.read_stored(table, &["just-now"]).await?.len(), 1);
    // By the node's clock, a tombstone that is seconds old would be gone.
    let by_the_node = store.purge(kind("Model"), Micros::ago(DAYS_90)).await?.rows;
    assert_eq!(by_the_node, u64::from(ahead > 0));
    Ok(())
}

/// Runs the program's retention of 90 days until a row is gone.
async fn purged(store: &Arc<Store>, uid: &str) -> Result<()> {
    let metrics = Metrics::new()?;
    let kinds = vec![*kind("Model")];
    let mut config = Config::default();
    config.retention.deleted = Some(RetentionTime::For(DAYS_90));
    let retention = RetentionTask {
        store: store.clone(),
        suspension: Suspension::new(&kinds, &config, &metrics),
        live: Live::fixed(config),
        kinds,
        assignment: Assignment::alone(),
        metrics,
    };
    let stop = CancellationToken::new();
    let running = tokio::spawn(retention.run(stop.clone()));
    let deadline = Instant::now() + Duration::from_secs(60);
    while !store.read_stored(kind("Model").table(), &[uid]).await?.is_empty() {
        ensure!(Instant::now() < deadline, "`{uid}` is not purged");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stop.cancel();
    Ok(running.await?)
}
