//! Kinds that are read only as far as a label selector and a field selector match.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::count::CountingProxy;
use serde_json::{Value as Json, json};
use std::time::Duration;

use crate::eventually::eventually;
use crate::objects::model;
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

// What a selector does depends on the API server.
on_servers! { OwnServers::CLUSTER => what_leaves_the_selection_is_left_out_and_not_gone [mariadb MARIADB #[ignore = "before a release"]] [modern MODERN] }

on_servers! { OwnServers::CLUSTER => what_is_not_selected_does_not_travel [mariadb MARIADB #[ignore = "before a release"]] [modern MODERN] }

/// `INGESTER_TEST_SELECTED=2000` is the number of objects.
const OBJECTS: &str = "INGESTER_TEST_SELECTED";

/// One object in this many is selected.
const PART: u32 = 20;

/// How much the API server sends to an ingester with these settings: for the first list, and for a change of each object.
async fn travels(
    world: &World,
    count: u32,
    selecting: Vec<&'static str>,
    selected: u32,
    value: &str,
) -> Result<[u64; 2]> {
    let port = world.cluster.url().rsplit_once(':').context("a port")?.1.parse()?;
    let counted = CountingProxy::to(port).await?;
    let kubeconfig = world.cluster.service_account_kubeconfig_at(counted.port())?;
    let settings = Settings { ingester: selecting, ..world.settings() };
    let ingester = world.another_by(&settings, &kubeconfig)?;
    ingester.wait_ready(Duration::from_secs(120))?;
    let list = counted.bytes();
    for number in 0..count {
        world.objects.patch("Model", &format!("m-{number:05}"), &json!({"spec": {"algorithm": value}})).await?;
    }
    let changed = format!("model WHERE algorithm = '{value}' AND delete_time IS NULL");
    let stored = async || world.database.count(&changed).await;
    let seen = eventually("all changes in SQL", stored, |rows| *rows == u64::from(selected)).await;
    seen.with_context(|| ingester.logs().unwrap_or_default())?;
    let changes = counted.bytes() - list;
    ensure!(ingester.stop()?.status.success());
    Ok([list, changes])
}

async fn what_is_not_selected_does_not_travel(world: &mut World) -> Result<()> {
    let count: u32 = std::env::var(OBJECTS).map_or(Ok(200), |text| text.parse())?;
    let object = |number: u32| -> Json {
        let mut object = model(&format!("m-{number:05}"), "first");
        let team = if number.is_multiple_of(PART) { "pricing" } else { "web" };
        object["metadata"]["labels"] = json!({"team": team});
        // Not compressible, like most texts of objects.
        let text: String = (0..256_u32).map(|at| format!("{:x}", (number * 7919 + at * 104_729) % 65_521)).collect();
        object["spec"]["positiveLabel"] = json!(text);
        object
    };
    world.objects.create_all((0..count).map(object)).await?;
    let selected = count.div_ceil(PART);
    let narrow =
        travels(world, count, vec!["finalizer: never", "labelSelectorMap: {Model: team=pricing}"], selected, "second");
    let narrow = narrow.await?;
    let wide = travels(world, count, vec!["finalizer: never"], count, "third").await?;
    eprintln!(
        "{selected} of {count} objects are selected: {narrow:?} bytes for the list and the changes, {wide:?} without a selector"
    );
    // A part of it is for requests that an ingester always sends.
    ensure!(narrow[1] * 5 < wide[1], "{narrow:?} bytes with a selector, {wide:?} without");
    ensure!(narrow[0] < wide[0], "{narrow:?} bytes with a selector, {wide:?} without");
    Ok(())
}

/// A row's state and its text.
async fn read_stored(world: &World, name: &str) -> Result<(String, String)> {
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
    assert!(read_stored(world, "leaves").await?.1.contains("again"));
    // An object that enters the selection.
    world.objects.patch("Model", "other", &json!({"metadata": {"labels": {"team": "search"}}})).await?;
    world.row_that("live", "Model", "other", |row| row.is_live()).await?;
    // An object that is really gone leaves its last state.
    world.objects.patch("Model", "stays", &json!({"spec": {"algorithm": "last"}})).await?;
    world.objects.delete("Model", "stays").await?;
    world.row_that("deleted", "Model", "stays", |row| row.deleted).await?;
    assert!(read_stored(world, "stays").await?.1.contains("last"));

    // Its list finds changes from a time when no ingester ran.
    world.stop()?;
    world.objects.patch("Model", "other", &json!({"metadata": {"labels": {"team": "web"}}})).await?;
    world.start_with(&settings)?;
    world.row_that("deleted", "Model", "other", |row| row.deleted).await?;
    assert!(world.objects.get("Model", "other").await?.is_some(), "the object is there");
    let rows = world.database.sql("SELECT name FROM model WHERE delete_time IS NULL ORDER BY name").await?;
    assert_eq!(rows, [[Some("leaves".to_owned())]]);
    world.audit_is_clean()
}
