//! What a database is for: the cluster that it belongs to.

use crate::world::{Stores as _, World};
use anyhow::Result;
use ingester_store::ConnectOptions;
use ingester_tests::{on_every_database, on_galera};

on_every_database! {
    a_database_belongs_to_the_first_cluster_that_claims_it
    of_two_clusters_at_once_one_wins
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

async fn of_two_clusters_at_once_one_wins(world: World) -> Result<()> {
    let (one, other) = (world.store().await?, world.connect(ConnectOptions::default()).await?);
    for _ in 0..20 {
        world.sql("DELETE FROM ingester_settings").await?;
        let (first, second) = tokio::try_join!(one.claim_for_cluster("one"), other.claim_for_cluster("other"))?;
        assert_eq!(first, second);
    }
    Ok(())
}
