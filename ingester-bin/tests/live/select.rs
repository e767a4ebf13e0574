//! Kinds of which only the objects are read that a label selector and a field selector match.

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::objects::model;
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

// What a selector does depends on the API server.
on_servers! { Own::CLUSTER => what_leaves_the_selection_is_left_out_and_not_gone [mariadb MARIADB] [modern MODERN] }

/// A row's state and its text.
async fn stored(world: &World, name: &str) -> Result<(String, String)> {
    let sql = format!("SELECT delete_time IS NULL, json FROM model WHERE name = '{name}' ORDER BY create_time DESC");
    let rows = world.database.sql(&sql).await?;
    let [live, text] = &rows.first().context("a row")?[..] else { anyhow::bail!("{rows:?}") };
    Ok((live.clone().unwrap_or_default(), text.clone().unwrap_or_default()))
}

async fn what_leaves_the_selection_is_left_out_and_not_gone(world: &mut World) -> Result<()> {
    let selecting = vec![
        "finalizer: never",
        "resyncPeriod: 1s",
        "labelSelectorMap: {Model: 'team in (pricing, search),!draft'}",
        "fieldSelectorMap: {Model: metadata.name!=hidden}",
    ];
    let settings = Settings { ingester: selecting, ..world.settings() };
    let label = |name: &str, team: &str| {
        let mut object = model(name, "x");
        object["metadata"]["labels"] = json!({"team": team});
        object
    };
    for (name, team) in [("leaves", "pricing"), ("stays", "search"), ("other", "web"), ("hidden", "pricing")] {
        world.objects.create(label(name, team)).await?;
    }
    for number in 0..50 {
        world.objects.create(label(&format!("many-{number}"), "web")).await?;
    }
    world.start_with(&settings)?;
    for name in ["leaves", "stays"] {
        world.row_that("live", "Model", name, |row| row.is_live()).await?;
    }
    // Nothing else was sent.
    let read = world.metrics()?.sum("ingester_objects_listed_total", &["kind=\"Model\""]);
    assert!(read < 10.0, "{read} objects were read");

    // It leaves the selection: its row says so, and a later deletion changes nothing more.
    world.objects.patch("Model", "leaves", &json!({"metadata": {"labels": {"draft": "yes"}}})).await?;
    world.row_that("deleted", "Model", "leaves", |row| row.deleted).await?;
    assert!(world.objects.get("Model", "leaves").await?.is_some(), "the object is there");
    // It comes back, and so does its row.
    let team = json!({"metadata": {"labels": {"draft": null}}, "spec": {"algorithm": "again"}});
    world.objects.patch("Model", "leaves", &team).await?;
    world.row_that("live", "Model", "leaves", |row| row.is_live()).await?;
    assert!(stored(world, "leaves").await?.1.contains("again"));
    // One that comes into the selection.
    world.objects.patch("Model", "other", &json!({"metadata": {"labels": {"team": "search"}}})).await?;
    world.row_that("live", "Model", "other", |row| row.is_live()).await?;
    // One that is really gone leaves its last state.
    world.objects.patch("Model", "stays", &json!({"spec": {"algorithm": "last"}})).await?;
    world.objects.delete("Model", "stays").await?;
    world.row_that("deleted", "Model", "stays", |row| row.deleted).await?;
    assert!(stored(world, "stays").await?.1.contains("last"));

    // What changes while no ingester runs is found by its list.
    world.stop()?;
    world.objects.patch("Model", "other", &json!({"metadata": {"labels": {"team": "web"}}})).await?;
    world.start_with(&settings)?;
    world.row_that("deleted", "Model", "other", |row| row.deleted).await?;
    assert!(world.objects.get("Model", "other").await?.is_some(), "the object is there");
    let rows = world.database.sql("SELECT name FROM model WHERE delete_time IS NULL ORDER BY name").await?;
    assert_eq!(rows, [[Some("leaves".to_owned())]]);
    world.audit_is_clean()
}
