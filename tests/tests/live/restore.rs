//! A cluster restored from a backup: its objects and its resourceVersions go back.

use anyhow::{Context as _, Result};
use serde_json::json;
use std::time::Duration;

use crate::eventually::eventually;
use crate::objects::{model, version};
use crate::on_own_api_servers;
use crate::settings::Settings;
use crate::world::World;

on_own_api_servers! { OwnServers::CLUSTER =>
    rows_follow_a_cluster_that_was_restored_while_the_ingester_ran
    rows_follow_a_cluster_that_was_restored_while_the_ingester_was_down
}

/// Changes that the restore loses: more than the API server's own writes after the restart add again.
const CHANGES: u32 = 150;

async fn rows_follow_a_cluster_that_was_restored_while_the_ingester_ran(world: &mut World) -> Result<()> {
    rows_follow_a_restored_cluster(world, true).await
}

async fn rows_follow_a_cluster_that_was_restored_while_the_ingester_was_down(world: &mut World) -> Result<()> {
    rows_follow_a_restored_cluster(world, false).await
}

/// The algorithm in a model's live row; `None` without a value.
async fn algorithm(world: &World, name: &str) -> Result<Option<String>> {
    let sql = format!("SELECT algorithm FROM model WHERE name = '{name}' AND delete_time IS NULL");
    Ok(world.database.sql(&sql).await?.into_iter().flatten().next().flatten())
}

async fn rows_follow_a_restored_cluster(world: &mut World, running: bool) -> Result<()> {
    // A watch from a version that the cluster has not reached yet is silent. Only a resync notices.
    let settings = Settings { ingester: vec!["resyncPeriod: 2s"], deletion_delay: "200ms", ..world.settings() };
    world.start_with(&settings)?;
    for name in ["changed", "deleted", "kept"] {
        world.objects.create(model(name, "before")).await?;
    }
    world.settled().await?;
    let snapshot = world.cluster.snapshot()?;
    world.settled().await?;

    for number in 0..CHANGES {
        let patch = json!({"spec": {"algorithm": format!("after-{number}")}, "metadata": {"labels": {"after": "yes"}}});
        world.objects.patch("Model", "changed", &patch).await?;
    }
    world.objects.delete("Model", "deleted").await?;
    world.gone("Model", "deleted").await?;
    world.objects.create(model("created", "after")).await?;
    world.settled().await?;
    let highest = version(&world.objects.get("Model", "changed").await?.context("it is there")?);
    assert_eq!(algorithm(world, "changed").await?.as_deref(), Some(&*format!("after-{}", CHANGES - 1)));

    if !running {
        world.stop()?;
    }
    world.cluster.restore(&snapshot)?;
    if !running {
        world.restart()?;
    }
    world.settled_within(Duration::from_secs(120)).await?;
    for name in ["changed", "deleted", "kept"] {
        assert_eq!(algorithm(world, name).await?.as_deref(), Some("before"), "{name}");
    }
    assert_eq!(world.database.count("model_labels WHERE `key` = 'after'").await?, 0);
    let row = world.row("Model", "changed").await?.context("its row")?;
    let (now, highest): (u64, u64) = (row.version.parse()?, highest.parse()?);
    assert!(now < highest, "the cluster has gone back: {now}, {highest}");
    assert!(world.row("Model", "created").await?.context("its row")?.deleted, "it is not in the cluster any more");

    // Later changes are stored, although their versions are still lower than those once stored.
    for name in ["changed", "deleted", "kept"] {
        world.objects.patch("Model", name, &json!({"spec": {"algorithm": "later"}})).await?;
        let later = async || algorithm(world, name).await;
        eventually(&format!("the update of {name}"), later, |seen| seen.as_deref() == Some("later")).await?;
    }
    let row = world.row("Model", "changed").await?.context("its row")?;
    assert!(row.version.parse::<u64>()? < highest, "the test was meant to update below the old version");
    world.objects.create(model("created", "again")).await?;
    world.objects.delete("Model", "kept").await?;
    world.gone("Model", "kept").await?;
    world.settled().await?;
    world.audit_is_clean()
}
