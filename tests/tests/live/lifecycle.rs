//! The life of one object: finalizer, deletion, and the annotations that delete or evict it.

use anyhow::{Context as _, Result, ensure};
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

use crate::eventually::eventually;
use crate::mirror::Row;
use crate::objects::{KEEP, OURS, has_finalizer, model, project};
use crate::on_both_api_servers;
use crate::settings::Settings;
use crate::world::World;

on_both_api_servers! { OwnServers::NOTHING =>
    an_existing_object_gets_a_row_and_the_finalizer_and_keeps_the_rest
    a_deleted_object_stays_until_its_tombstone_has_its_last_state
    the_deleting_annotation_deletes_in_kubernetes_and_in_sql
    an_immutable_object_is_evicted_and_its_row_stays_live
    finalizers_of_others_are_left_alone
    a_recreated_object_gets_a_row_of_its_own
    with_finalizer_never_the_delete_event_marks_the_row_deleted
    after_its_retention_a_deleted_object_leaves_sql_and_an_evicted_one_stays
}

/// Everything in an object that its owner wrote.
fn owned(object: &DynamicObject) -> Result<Json> {
    let mut object = serde_json::to_value(object)?;
    let metadata = object["metadata"].as_object_mut().context("an object has metadata")?;
    for field in ["resourceVersion", "managedFields", "finalizers"] {
        metadata.remove(field);
    }
    Ok(object)
}

async fn an_existing_object_gets_a_row_and_the_finalizer_and_keeps_the_rest(world: &mut World) -> Result<()> {
    let mut full = model("full", "xgboost");
    full["metadata"]["finalizers"] = json!([KEEP, "example.com/another"]);
    full["metadata"]["labels"] = json!({"team": "a", "empty": ""});
    full["metadata"]["annotations"] = json!({"note": "zwei\nZeilen", "example.com/json": "{\"a\": [1]}"});
    full["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "0af1"}]);
    full["spec"] = json!({"algorithm": "", "owner": {"name": "me"}, "description": "ein Modell"});
    let before = [world.objects.create(full).await?, world.objects.create(model("bare", "lightgbm")).await?];

    world.start()?;
    for before in before {
        let name = before.name_any();
        let look = async || Ok(world.objects.get("Model", &name).await?.context("it is there")?);
        let after = eventually("our finalizer", look, |object| has_finalizer(object, OURS)).await?;
        let mut finalizers = before.finalizers().to_vec();
        finalizers.push(OURS.to_owned());
        assert_eq!(after.finalizers(), finalizers);
        assert_eq!(owned(&after)?, owned(&before)?);
        let row = world.row_that("at the version with the finalizer", "Model", &name, |row| {
            Some(&row.version) == after.resource_version().as_ref()
        });
        assert!(row.await?.is_live());
    }
    world.settled().await
}

/// The text at a path of an object's stored JSON.
async fn read_stored(world: &World, table: &str, name: &str, path: &str) -> Result<Option<String>> {
    let text = world.database.on.json_text("json", path);
    let sql = format!("SELECT {text} FROM `{table}` WHERE name = '{name}'");
    world.database.cell(&sql).await
}

/// Creates an object and waits until it has its row and its finalizer.
async fn mirrored(world: &World, object: Json) -> Result<()> {
    world.objects.create(object).await?;
    world.settled().await?;
    for kind in ["Model", "Project"] {
        for object in world.objects.list(kind).await? {
            ensure!(has_finalizer(&object, OURS), "{kind} {}", object.name_any());
        }
    }
    Ok(())
}

async fn a_deleted_object_stays_until_its_tombstone_has_its_last_state(world: &mut World) -> Result<()> {
    world.start_with(&Settings { deletion_delay: "3s", ..world.settings() })?;
    let mut object = model("a", "first");
    object["metadata"]["labels"] = json!({"kept": "yes"});
    object["metadata"]["annotations"] = json!({"kept": "too"});
    mirrored(world, object).await?;

    let last = json!({"spec": {"algorithm": "last words"}, "metadata": {"labels": {"last": "label"}}});
    world.objects.patch("Model", "a", &last).await?;
    let begin = Instant::now();
    world.objects.delete("Model", "a").await?;
    // Read the object first and the row second. If the finalizer were removed before the commit, neither would exist for
    // a moment.
    let mut seen_terminating = false;
    let look = async || {
        let object = world.objects.get("Model", "a").await?;
        let row = world.row("Model", "a").await?.context("its row")?;
        if let Some(object) = &object {
            assert!(object.metadata.deletion_timestamp.is_some());
            seen_terminating = true;
        } else {
            assert!(row.deleted, "gone, and its row is live: {row:?}");
        }
        Ok((object.is_none(), row))
    };
    eventually("the object to go", look, |(gone, _)| *gone).await?;
    assert!(seen_terminating);
    // The deletion timestamp has whole seconds, so the delay may begin up to a second early.
    assert!(begin.elapsed() > Duration::from_secs(2), "it went after {:?}, before the delay", begin.elapsed());

    let row = world.row("Model", "a").await?.context("its row")?;
    assert!(row.deleted && !row.evicted, "{row:?}");
    assert_eq!(world.database.cell("SELECT algorithm FROM model").await?.as_deref(), Some("last words"));
    assert_eq!(read_stored(world, "model", "a", "spec.algorithm").await?.as_deref(), Some("last words"));
    assert!(read_stored(world, "model", "a", "metadata.deletionTimestamp").await?.is_some());
    assert_eq!(world.database.count("model_labels WHERE `key` IN ('kept', 'last')").await?, 2);
    assert_eq!(world.database.count("model_annotations WHERE `key` = 'kept'").await?, 1);
    // The database's clock is carried on from its last answer, which may have been a second under way.
    let now = world.database.on.now();
    let of_now = format!("SELECT delete_time BETWEEN create_time AND {now} + INTERVAL '1' SECOND FROM model");
    let time = world.database.cell(&of_now).await?;
    assert_eq!(time.as_deref(), Some("1"), "delete_time is a time of now, in UTC");
    world.settled().await?;
    world.audit_is_clean()
}

async fn the_deleting_annotation_deletes_in_kubernetes_and_in_sql(world: &mut World) -> Result<()> {
    world.start()?;
    mirrored(world, project("a", 1)).await?;
    mirrored(world, project("stays", 1)).await?;
    // Only the exact text `true` counts.
    world
        .objects
        .patch("Project", "stays", &json!({"metadata": {"annotations": {"michelangelo/Deleting": "True"}}}))
        .await?;
    world.objects.annotate("Project", "a", "michelangelo/Deleting").await?;
    world.gone("Project", "a").await?;
    let row = world.row("Project", "a").await?.context("its row")?;
    assert!(row.deleted && !row.evicted, "{row:?}");
    assert_eq!(
        world.database.count("project_annotations WHERE `key` = 'michelangelo/Deleting' AND value = 'true'").await?,
        1
    );
    world.settled().await?;
    assert!(world.row("Project", "stays").await?.is_some_and(|row| row.is_live()));
    Ok(())
}

async fn an_immutable_object_is_evicted_and_its_row_stays_live(world: &mut World) -> Result<()> {
    world.start()?;
    let mut object = model("a", "final");
    object["metadata"]["labels"] = json!({"kept": "yes"});
    mirrored(world, object).await?;
    mirrored(world, model("swept", "x")).await?;
    world.objects.annotate("Model", "a", "michelangelo/Immutable").await?;
    world.gone("Model", "a").await?;
    let evicted = |row: &Row| !row.deleted && row.evicted;
    world.row_that("live and evicted", "Model", "a", evicted).await?;
    assert_eq!(read_stored(world, "model", "a", "spec.algorithm").await?.as_deref(), Some("final"));
    assert_eq!(world.database.count("model_labels WHERE `key` = 'kept'").await?, 1);

    world.stop()?;
    world.objects.delete_by_force("Model", "swept").await?;
    world.restart()?;
    // The sweep has run.
    world.row_that("deleted", "Model", "swept", |row| row.deleted).await?;
    let row = world.row("Model", "a").await?.context("its row")?;
    assert!(evicted(&row), "{row:?}");
    world.audit_is_clean()
}

async fn finalizers_of_others_are_left_alone(world: &mut World) -> Result<()> {
    world.start()?;
    let mut object = model("a", "x");
    object["metadata"]["finalizers"] = json!([KEEP]);
    mirrored(world, object).await?;
    world.objects.delete("Model", "a").await?;
    let look = async || Ok(world.objects.get("Model", "a").await?.context("it is there")?);
    let object = eventually("our finalizer to go", look, |object| !has_finalizer(object, OURS)).await?;
    assert_eq!(object.finalizers(), [KEEP]);
    let row = world.row("Model", "a").await?.context("its row")?;
    assert!(row.deleted, "{row:?}");

    // A change while it waits for the other finalizer must not add ours again.
    world.objects.patch("Model", "a", &json!({"metadata": {"labels": {"late": "yes"}}})).await?;
    mirrored_later(world).await?;
    let object = world.objects.get("Model", "a").await?.context("it is there")?;
    assert_eq!(object.finalizers(), [KEEP]);
    assert!(world.row("Model", "a").await?.is_some_and(|row| row.deleted));

    world.objects.patch("Model", "a", &json!({"metadata": {"finalizers": null}})).await?;
    world.gone("Model", "a").await?;
    mirrored_later(world).await?;
    assert!(world.row("Model", "a").await?.is_some_and(|row| row.deleted && !row.evicted));
    Ok(())
}

/// Creates a model and waits until it is mirrored, and with it all earlier events of the same watch.
async fn mirrored_later(world: &World) -> Result<()> {
    let mut fence = model("ignored", "fence");
    fence["metadata"] = json!({"generateName": "fence-"});
    world.objects.create(fence).await?;
    world.settled().await
}

async fn a_recreated_object_gets_a_row_of_its_own(world: &mut World) -> Result<()> {
    world.start()?;
    for algorithm in ["first", "second", "third"] {
        mirrored(world, model("a", algorithm)).await?;
        if algorithm != "third" {
            world.objects.delete("Model", "a").await?;
            world.gone("Model", "a").await?;
        }
    }
    let rows =
        world.database.sql("SELECT algorithm, delete_time IS NULL FROM model ORDER BY create_time, algorithm").await?;
    let expected =
        [["first", "0"], ["second", "0"], ["third", "1"]].map(|row| row.map(|cell| Some(cell.to_owned())).to_vec());
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(expected.iter().all(|row| rows.contains(row)), "{rows:?}");
    Ok(())
}

async fn with_finalizer_never_the_delete_event_marks_the_row_deleted(world: &mut World) -> Result<()> {
    world.start_with(&Settings { ingester: vec!["finalizer: never"], ..world.settings() })?;
    world.objects.create(model("a", "x")).await?;
    world.settled().await?;
    let object = world.objects.get("Model", "a").await?.context("it is there")?;
    assert!(object.finalizers().is_empty(), "{:?}", object.finalizers());
    world.objects.delete("Model", "a").await?;
    assert!(world.objects.get("Model", "a").await?.is_none(), "nothing holds it");
    world.row_that("deleted", "Model", "a", |row| row.deleted).await?;
    Ok(())
}

async fn after_its_retention_a_deleted_object_leaves_sql_and_an_evicted_one_stays(world: &mut World) -> Result<()> {
    let settings = Settings { retention: "{deleted: 3s, deletedMap: {Project: 90d}}", ..world.settings() };
    world.start_with(&settings)?;
    for object in [model("deleted", "a"), model("evicted", "a"), model("live", "a"), project("kept", 1)] {
        mirrored(world, object).await?;
    }
    world.objects.annotate("Model", "evicted", "michelangelo/Immutable").await?;
    world.gone("Model", "evicted").await?;
    world.objects.delete("Model", "deleted").await?;
    world.objects.delete("Project", "kept").await?;
    world.row_that("deleted", "Model", "deleted", |row| !row.is_live()).await?;
    let purged = async || world.row("Model", "deleted").await;
    eventually("the deleted object's row to be purged", purged, Option::is_none).await?;
    for name in ["evicted", "live"] {
        assert!(!world.row("Model", name).await?.context("it stays")?.deleted, "{name}");
    }
    world.row_that("deleted and kept for longer", "Project", "kept", |row| !row.is_live()).await?;
    let metrics = world.metrics()?;
    assert_eq!(metrics.sum("ingester_purged_rows_total", &["kind=\"Model\""]), 1.0);
    assert_eq!(metrics.sum("ingester_purged_rows_total", &["kind=\"Project\""]), 0.0);
    Ok(())
}
