//! Connections that only read.

use crate::world::{Stores as _, World};
use anyhow::Result;
use ingester_store::{ConnectOptions, Retry};
use ingester_tests::on_every_database;

on_every_database! {
    a_reading_connection_writes_nothing_and_sees_what_others_write
}

async fn a_reading_connection_writes_nothing_and_sees_what_others_write(world: World) -> Result<()> {
    let writer = world.store().await?;
    let retry = Retry { attempts: Some(1), ..Retry::SHORT };
    let reader =
        world.connect(ConnectOptions { read_only: true, create: false, retry, ..ConnectOptions::default() }).await?;
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
