//! The record of the cluster that a database belongs to.

use crate::world::{Stores as _, World};
use anyhow::Result;
use ingester_store::ConnectOptions;
use ingester_tests::{on_every_database, on_galera};

on_every_database! {
    a_database_belongs_to_the_first_cluster_that_claims_it
    of_two_clusters_at_once_one_wins
    a_prefix_is_recorded_in_the_place_of_the_one_that_was_read
}

on_galera! {
    of_two_clusters_at_once_one_wins
}

async fn a_database_belongs_to_the_first_cluster_that_claims_it(world: World) -> Result<()> {
    let store = world.store().await?;
    assert_eq!(store.claim_for_cluster("one").await?, "one");
    assert_eq!(store.claim_for_cluster("one").await?, "one");
    assert_eq!(store.claim_for_cluster("other").await?, "one");
    // The remedy for a cluster that has taken the other's place.
    world.sql("DELETE FROM ingester_settings WHERE name = 'cluster'").await?;
    assert_eq!(store.claim_for_cluster("other").await?, "other");
    assert_eq!(
        world.sql("SELECT name, value FROM ingester_settings").await?,
        [["cluster", "other"].map(|cell| Some(cell.to_owned()))]
    );
    Ok(())
}

async fn a_prefix_is_recorded_in_the_place_of_the_one_that_was_read(world: World) -> Result<()> {
    let store = world.store().await?;
    let recorded = async || store.recorded_prefix("earlier").await;
    assert_eq!(recorded().await?, None);
    assert!(store.record_prefix(None, "a.example.com").await?);
    assert!(!store.record_prefix(None, "b.example.com").await?, "another one was faster");
    assert!(!store.record_prefix(Some("earlier"), "b.example.com").await?);
    assert_eq!(recorded().await?.as_deref(), Some("a.example.com"));
    assert!(store.record_prefix(Some("a.example.com"), "").await?);
    assert_eq!(recorded().await?.as_deref(), Some(""), "it was taken back, also if the cluster is recorded");
    assert!(store.record_prefix(Some(""), "b.example.com").await?);
    // An earlier release has recorded only its cluster.
    world.sql("DELETE FROM ingester_settings").await?;
    store.claim_for_cluster("one").await?;
    assert_eq!(recorded().await?.as_deref(), Some("earlier"));
    assert!(store.record_prefix(Some("earlier"), "").await?);
    assert_eq!((recorded().await?.as_deref(), store.cluster().await?.as_deref()), (Some(""), Some("one")));
    Ok(())
}

async fn of_two_clusters_at_once_one_wins(world: World) -> Result<()> {
    let (one, other) = (world.store().await?, world.connect(ConnectOptions::default()).await?);
    for _ in 0..20 {
        world.sql("DELETE FROM ingester_settings").await?;
        let (first, second) = tokio::try_join!(one.claim_for_cluster("one"), other.claim_for_cluster("other"))?;
        assert_eq!(first, second);
    }
    Ok(())
}
