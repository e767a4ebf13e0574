//! The endpoints for Prometheus and the kubelet.

use anyhow::{Context as _, Result};
use ingester_tests::install;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::DeleteParams;
use serde_json::json;

use crate::eventually::eventually;
use crate::objects::{model, object};
use crate::world::World;
use crate::{on_every_database, on_own_api_servers};

on_every_database! { OwnServers::DATABASE =>
    every_metric_moves_when_its_work_is_done
}

on_own_api_servers! { OwnServers::CLUSTER =>
    the_ingester_is_alive_at_once_and_ready_after_its_first_list
    a_kind_that_is_not_installed_blocks_nothing_and_is_mirrored_later
}

const MODEL: &str = "kind=\"Model\"";
const CONTROLLER: &str = "controller=\"ingester_Model\"";
const QUEUE: &str = "name=\"ingester_Model\"";

async fn every_metric_moves_when_its_work_is_done(world: &mut World) -> Result<()> {
    // An orphan: a row whose object was deleted while the ingester was down.
    world.start()?;
    world.objects.create(model("orphan", "x")).await?;
    world.settled().await?;
    world.stop()?;
    world.objects.delete_by_force("Model", "orphan").await?;
    world.objects.create_all((0..20).map(|number| model(&format!("old-{number}"), "x"))).await?;
    world.restart()?;
    world.row_that("deleted", "Model", "orphan", |row| row.deleted).await?;

    // An object that does not fit its column, a deletion, an eviction, and a short outage of the database.
    world.objects.create(model("rejected", &"x".repeat(300))).await?;
    for name in ["deleted", "evicted"] {
        world.objects.create(model(name, "x")).await?;
    }
    world.settled_but("rejected").await?;
    world.objects.delete("Model", "deleted").await?;
    world.objects.annotate("Model", "evicted", "michelangelo/Immutable").await?;
    for name in ["deleted", "evicted"] {
        world.gone("Model", name).await?;
    }
    world.database.stop()?;
    world.objects.create(model("late", "x")).await?;
    let noticed = async || Ok(world.metrics()?.sum("ingester_database_errors_total", &[MODEL, "class=\"transient\""]));
    eventually("the outage to be noticed", noticed, |errors| *errors > 0.5).await?;
    world.objects.delete("Model", "old-0").await?;
    let held = async || Ok(world.metrics()?.sum("ingester_held_objects", &[MODEL]));
    eventually("the deleted object to be held", held, |held| *held > 0.5).await?;
    let waits = async || Ok(world.metrics()?.sum("ingester_oldest_waiting_seconds", &[MODEL]));
    eventually("an object to have waited", waits, |seconds| *seconds > 1.0).await?;
    world.database.restart()?;
    world.settled_but("rejected").await?;
    eventually("nothing to be held", held, |held| *held < 0.5).await?;
    eventually("nothing to wait", waits, |seconds| *seconds < 0.1).await?;

    let metrics = world.metrics()?;
    for (name, labels) in [
        ("workqueue_adds_total", &[QUEUE][..]),
        ("workqueue_queue_duration_seconds_count", &[QUEUE]),
        ("workqueue_work_duration_seconds_count", &[QUEUE]),
        ("controller_runtime_reconcile_total", &[CONTROLLER, "result=\"success\""]),
        ("controller_runtime_reconcile_time_seconds_count", &[CONTROLLER]),
        ("controller_runtime_max_concurrent_reconciles", &[CONTROLLER]),
        ("ingester_objects", &[MODEL]),
        ("ingester_objects_mirrored_total", &[MODEL]),
        ("ingester_rows_written_total", &[MODEL]),
        ("ingester_rows_deleted_total", &[MODEL]),
        ("ingester_objects_evicted_total", &[MODEL]),
        ("ingester_batch_size_count", &[MODEL]),
        ("ingester_batch_duration_seconds_count", &[MODEL]),
        ("ingester_sync_lag_seconds_count", &[MODEL]),
        ("ingester_rejects_total", &[MODEL]),
        ("ingester_rejected_objects", &[MODEL]),
        ("ingester_orphans_swept_total", &[MODEL]),
        ("ingester_database_errors_total", &[MODEL, "class=\"transient\""]),
        ("ingester_finalizers_added_total", &[MODEL]),
        ("ingester_finalizers_removed_total", &[MODEL]),
        ("ingester_lists_total", &[MODEL]),
        ("ingester_synced", &[MODEL]),
        ("ingester_installed", &[MODEL]),
        ("ingester_events_total", &["result=\"published\""]),
        ("ingester_build_info", &[]),
        ("ingester_last_list_timestamp_seconds", &[MODEL]),
        ("ingester_last_event_timestamp_seconds", &[MODEL]),
        ("ingester_database_connections", &[]),
        ("ingester_database_connections_limit", &[]),
        ("ingester_database_connection_waits_total", &[]),
        ("ingester_database_connection_wait_seconds_total", &[]),
    ] {
        assert!(metrics.sum(name, labels) > 0.0, "{name} {labels:?}");
    }
    // These series exist whether or not anything was skipped or queued.
    for (name, labels) in [
        ("workqueue_depth", &[QUEUE][..]),
        ("workqueue_retries_total", &[QUEUE]),
        ("controller_runtime_reconcile_total", &[CONTROLLER, "result=\"error\""]),
        ("controller_runtime_reconcile_errors_total", &[CONTROLLER]),
        ("workqueue_unfinished_work_seconds", &[QUEUE]),
        ("workqueue_longest_running_processor_seconds", &[QUEUE]),
        ("controller_runtime_active_workers", &[CONTROLLER]),
        ("ingester_rows_skipped_total", &[MODEL, "reason=\"unchanged\""]),
        ("ingester_rows_skipped_total", &[MODEL, "reason=\"stale\""]),
        ("ingester_watch_restarts_total", &[MODEL, "reason=\"expired\""]),
        ("ingester_suspended", &[MODEL]),
        ("ingester_evictions_failed_total", &[MODEL]),
        ("ingester_audit_findings", &[MODEL, "finding=\"missing\""]),
        ("ingester_config_reloads_total", &["result=\"failed\""]),
    ] {
        assert!(metrics.has(name, labels), "{name} {labels:?}");
    }
    Ok(())
}

async fn the_ingester_is_alive_at_once_and_ready_after_its_first_list(world: &mut World) -> Result<()> {
    world.objects.create(model("a", "x")).await?;
    world.cluster.kill()?;
    world.launch(&world.settings())?;
    let probe = async |path: &str| world.ingester().probe(path);
    eventually("the ingester to be alive", async || probe("/healthz").await, |status| *status == 200).await?;
    assert_eq!(probe("/readyz").await?, 503, "nothing is listed yet");
    assert_eq!(probe("/nothing").await?, 404);
    world.cluster.restart()?;
    eventually("the ingester to be ready", async || probe("/readyz").await, |status| *status == 200).await?;
    // Ready means that the rows exist.
    assert!(world.row("Model", "a").await?.is_some_and(|row| row.is_live()));
    Ok(())
}

async fn a_kind_that_is_not_installed_blocks_nothing_and_is_mirrored_later(world: &mut World) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(world.objects.client.clone());
    let name = "triggerruns.michelangelo.api";
    let crd = crd_specs::KINDS.iter().find(|kind| kind.kind() == "TriggerRun").and_then(|kind| kind.crd());
    let crd = crd.context("a kind of ours")?;
    let uninstall = async || {
        crds.delete(name, &DeleteParams::default()).await?;
        eventually("the CRD to go", async || Ok(crds.get_opt(name).await?), Option::is_none).await
    };
    uninstall().await?;

    world.start()?;
    world.objects.create(model("a", "x")).await?;
    world.row_that("live", "Model", "a", |row| row.is_live()).await?;
    for round in ["first", "second"] {
        install(&world.objects.client, std::slice::from_ref(&crd)).await?;
        world.objects.create(object("TriggerRun", round, &json!({}))).await?;
        world.settled().await?;
        assert!(world.row("TriggerRun", round).await?.is_some_and(|row| row.is_live()), "{round}");
        assert_eq!(world.ingester().probe("/readyz")?, 200, "{round}");
        // Deleting the CRD deletes its objects. Our finalizer on them must not block that.
        uninstall().await?;
        world.row_that("deleted", "TriggerRun", round, |row| row.deleted).await?;
        assert_eq!(world.ingester().probe("/readyz")?, 200, "{round}");
    }
    world.objects.create(model("b", "x")).await?;
    world.row_that("live", "Model", "b", |row| row.is_live()).await.map(drop)
}
