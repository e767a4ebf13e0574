//! A database belongs to one cluster.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use std::time::Duration;

use crate::eventually::eventually;
use crate::objects::model;
use crate::on_every_database;
use crate::world::World;

on_every_database! { OwnServers::NOTHING =>
    the_database_of_another_cluster_is_refused_and_left_alone
}

async fn the_database_of_another_cluster_is_refused_and_left_alone(world: &mut World) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(world.objects.client.clone());
    let uid = namespaces.get("kube-system").await?.metadata.uid.context("a uid")?;
    let recorded = "SELECT value FROM ingester_settings WHERE name = 'cluster'";

    world.objects.create(model("kept", "x")).await?;
    world.start()?;
    world.settled().await?;
    assert_eq!(world.database.cell(recorded).await?.as_deref(), Some(&*uid));
    ensure!(world.metrics()?.sum("ingester_cluster_checked", &[]) > 0.5);
    world.stop()?;

    // From now on the rows belong to another cluster. Here their object is gone.
    world.database.sql("UPDATE ingester_settings SET value = 'another'").await?;
    world.objects.delete_by_force("Model", "kept").await?;
    world.ingester().restart()?;
    let status = world.ingester().wait_end(Duration::from_secs(30))?;
    assert_eq!(status.code(), Some(2));
    let logs = world.ingester().logs()?;
    let remedy = "DELETE FROM ingester_settings WHERE name = 'cluster'";
    ensure!(logs.contains(&uid) && logs.contains("another") && logs.contains(remedy), "{logs}");
    let audit = world.audit(&["--repair"])?;
    ensure!(audit.code == Some(2) && audit.err.contains(remedy), "{audit:?}");
    assert_eq!(world.database.count("model WHERE delete_time IS NULL").await?, 1);

    let events: Api<Event> = Api::namespaced(world.objects.client.clone(), "kube-system");
    let published = async || {
        let events = events.list(&ListParams::default()).await?.items;
        Ok(events.into_iter().filter(|event| event.reason.as_deref() == Some("DatabaseOfOtherCluster")).count())
    };
    eventually("the Event", published, |count| *count > 0).await?;

    // This cluster replaces the other one.
    world.database.sql(remedy).await?;
    world.restart()?;
    world.row_that("deleted", "Model", "kept", |row| row.deleted).await?;
    assert_eq!(world.database.cell(recorded).await?.as_deref(), Some(&*uid));
    Ok(())
}
