//! Connections that only read.

use crate::world::{Stores as _, World, change, kind, model};
use anyhow::{Result, ensure};
use futures::FutureExt as _;
use ingester_sql::query::{Filter, Query, Test};
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{ConnectOptions, Retry};
use ingester_tests::on_every_database;
use serde_json::json;
use std::time::Duration;

on_every_database! {
    a_reading_connection_writes_nothing_and_sees_what_others_write
    readers_do_not_wait_for_a_scan
}

async fn a_reading_connection_writes_nothing_and_sees_what_others_write(world: World) -> Result<()> {
    let writer = world.store().await?;
    let retry = Retry::SHORT.attempts(Some(1));
    let reader = world.connect(ConnectOptions::default().read_only(true).create(false).retry(retry)).await?;
    let refused = reader.claim_for_cluster("one").await.unwrap_err().to_string();
    assert!(
        refused.to_lowercase().contains("read-only") || refused.contains("readonly") || refused.contains("READ ONLY"),
        "{refused}"
    );
    assert_eq!(world.count("ingester_settings WHERE name = 'cluster'").await?, 0);
    assert_eq!(writer.claim_for_cluster("one").await?, "one");
    assert_eq!(reader.claim_for_cluster("other").await.ok().as_deref().unwrap_or("one"), "one");
    assert!(!reader.tables().await?.is_empty());
    Ok(())
}

/// A scan that takes minutes holds one connection; the others answer, and the next question finds each of them intact.
async fn readers_do_not_wait_for_a_scan(world: World) -> Result<()> {
    let writer = world.store().await?;
    let objects = (0..1000).map(|number| {
        let mut object = model(&format!("m{number:04}"), 1);
        object["spec"]["unknown"] = json!("x".repeat(10_000));
        change(&object)
    });
    writer.write(kind("Model").table(), objects.collect()).await?;
    let options = ConnectOptions::default().read_only(true).create(false).connections(2);
    let reader = world.connect(options).await?;
    // Each text is read once for each pattern.
    let any = (0..1000).map(|number| Filter::field("spec.unknown", Test::Like(format!("%y{number}%")))).collect();
    let query = Query { filters: vec![Filter::Or(any)], scan: true, ..Query::default() };
    let scan = reader.ask_about(kind("Model"), &query, Limits::default().with_time(Duration::from_secs(600)))?;
    let all = Query::default();
    let all = reader.ask_about(kind("Model"), &all, Limits::default())?;
    let wanted = RequestedParts::object();
    let mut scanning = Box::pin(scan.page(&wanted, 10, None)).fuse();
    let answered = async {
        for _ in 0..20 {
            assert_eq!(all.count().await?, 1000);
        }
        anyhow::Ok(())
    };
    futures::select_biased! {
        page = scanning => ensure!(false, "the scan has ended: {:?}", page.map(|page| page.rows.len())),
        answered = Box::pin(answered).fuse() => answered?,
    }
    drop(scanning);
    for _ in 0..4 {
        let (one, other) = futures::join!(all.count(), all.count());
        assert_eq!((one?, other?), (1000, 1000));
    }
    Ok(())
}
