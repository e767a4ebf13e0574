//! Objects as they were at a moment, brought back by `ingester restore --at` and `--version`.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::ingester::CommandResult;

use crate::eventually::eventually;
use crate::mirror::Row;
use crate::objects::{model, version};
use crate::on_both_api_servers;
use crate::settings::Settings;
use crate::world::World;
use serde_json::json;

on_both_api_servers! { OwnServers::NOTHING =>
    a_former_version_comes_back_into_the_cluster_or_into_the_row_of_an_evicted_object
}

const KINDS: &str = "\
builtIn: false
kinds:
- group: michelangelo.api
  version: v2
  kind: Model
  namespaced: true
  finalizer: ensure
  history: forever
  columns:
  - {column: algorithm, path: .spec.algorithm, type: VARCHAR(32)}
";

/// Runs `ingester restore` as an administrator; returns its standard output.
fn restore(world: &World, arguments: &[&str]) -> Result<String> {
    let ran = tried(world, arguments)?;
    ensure!(ran.code == Some(0), "{arguments:?}: {ran:?}");
    Ok(ran.out)
}

fn tried(world: &World, arguments: &[&str]) -> Result<CommandResult> {
    let kubeconfig = world.cluster.kubeconfig();
    let kubeconfig = kubeconfig.to_str().context("a path")?;
    let namespace = &world.objects.namespace;
    world.ingester().run(&[&["restore", "--kubeconfig", kubeconfig, "model", "-n", namespace], arguments].concat())
}

/// The algorithm of the object in the cluster; `None` if it is not there.
async fn in_cluster(world: &World, name: &str) -> Result<Option<String>> {
    let object = world.objects.get("Model", name).await?;
    Ok(object.and_then(|object| object.data["spec"]["algorithm"].as_str().map(str::to_owned)))
}

/// The algorithm in the row that was written last, and when that version began, as options take it.
async fn in_sql(world: &World, name: &str) -> Result<Option<(String, String)>> {
    let sql =
        format!("SELECT algorithm, update_time FROM model WHERE name = '{name}' ORDER BY update_time DESC LIMIT 1");
    let Some(row) = world.database.sql(&sql).await?.into_iter().next() else { return Ok(None) };
    let [Some(algorithm), Some(time)] = &row[..] else { anyhow::bail!("{row:?}") };
    let time = time.split('+').next().unwrap_or_default().replace(' ', "T");
    Ok(Some((algorithm.clone(), format!("{time}Z"))))
}

/// Creates a model, which changes. Returns a moment of its first version, and the resourceVersion of the second.
async fn lives(world: &World, name: &str) -> Result<(String, String)> {
    world.objects.create(model(name, "first")).await?;
    let stored = async |algorithm: &str| {
        let row = async || in_sql(world, name).await;
        eventually(algorithm, row, |row| row.as_ref().is_some_and(|(found, _)| found == algorithm)).await
    };
    let (_, moment) = stored("first").await?.context("a row")?;
    let second = world.objects.patch("Model", name, &json!({"spec": {"algorithm": "second"}})).await?;
    stored("second").await?;
    Ok((moment, version(&second)))
}

/// Deletes the object, and waits until its row says so.
async fn deleted(world: &World, name: &str) -> Result<()> {
    world.objects.delete("Model", name).await?;
    world.gone("Model", name).await?;
    let live = async || world.database.count(&format!("model WHERE name = '{name}' AND delete_time IS NULL")).await;
    eventually("its row to be deleted", live, |rows| *rows == 0).await.map(drop)
}

async fn a_former_version_comes_back_into_the_cluster_or_into_the_row_of_an_evicted_object(
    world: &mut World,
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let kinds = folder.path().join("kinds.yaml");
    std::fs::write(&kinds, KINDS)?;
    let file = format!("kindsFile: {}", kinds.display());
    let settings = Settings { ingester: vec![file.leak()], deletion_delay: "200ms", ..world.settings() };
    world.start_with(&settings)?;

    // A deleted object, by a moment and by a version.
    let (moment, second) = lives(world, "deleted").await?;
    let over_live = tried(world, &["deleted", "--at", &moment])?;
    ensure!(over_live.code == Some(1) && over_live.err.contains("over a live object"), "{over_live:?}");
    deleted(world, "deleted").await?;
    let shown = restore(world, &["deleted", "--at", &moment, "--dry-run"])?;
    ensure!(shown.contains("algorithm: first") && in_cluster(world, "deleted").await?.is_none(), "{shown}");
    for (of, algorithm) in [(["--at", moment.as_str()], "first"), (["--version", &second], "second")] {
        let out = restore(world, &[&["deleted"], &of[..]].concat())?;
        assert_eq!(out, "model.michelangelo.api/deleted restored\n");
        assert_eq!(in_cluster(world, "deleted").await?.as_deref(), Some(algorithm));
        deleted(world, "deleted").await?;
    }

    // An evicted one stays in SQL.
    let (moment, second) = lives(world, "evicted").await?;
    world.objects.annotate("Model", "evicted", "michelangelo/Immutable").await?;
    world.gone("Model", "evicted").await?;
    let confirmed = "model WHERE name = 'evicted' AND evict_confirmed = TRUE";
    let is_confirmed = async || world.database.count(confirmed).await;
    eventually("the eviction to be confirmed", is_confirmed, |rows| *rows == 1).await?;
    for (of, algorithm) in [(["--at", moment.as_str()], "first"), (["--version", &second], "second")] {
        let out = restore(world, &[&["evicted"], &of[..]].concat())?;
        assert_eq!(out, "model.michelangelo.api/evicted restored in SQL\n");
        let (found, _) = in_sql(world, "evicted").await?.context("its row")?;
        assert_eq!((found.as_str(), in_cluster(world, "evicted").await?), (algorithm, None));
        world.row_that("evicted still", "Model", "evicted", |row: &Row| row.evicted && !row.deleted).await?;
    }
    world.audit_is_clean()
}
