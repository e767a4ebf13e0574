//! Objects that come back into the cluster from their rows, by `ingester restore`.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::ingester::CommandResult;
use kube::ResourceExt as _;
use kube::api::{Patch, PatchParams};
use serde_json::{Value as Json, json};

use crate::eventually::eventually;
use crate::mirror::Row;
use crate::objects::{OURS, has_finalizer, model, object, uid};
use crate::on_both_api_servers;
use crate::world::World;

on_both_api_servers! { OwnServers::NOTHING =>
    an_evicted_object_comes_back_and_is_mirrored_again
    a_restore_that_was_killed_before_the_status_is_completed
    a_deleted_object_comes_back_but_never_over_a_live_one
}

/// Runs `ingester restore` as an administrator.
fn restore(world: &World, arguments: &[&str]) -> Result<CommandResult> {
    let kubeconfig = world.cluster.kubeconfig();
    let kubeconfig = kubeconfig.to_str().context("a path")?;
    world.ingester().run(&[&["restore", "--kubeconfig", kubeconfig], arguments].concat())
}

/// Whether the row with a uid is deleted, and whether it is evicted.
async fn state(world: &World, uid: &str) -> Result<Option<(bool, bool)>> {
    state_of(world, "Model", uid).await
}

async fn state_of(world: &World, kind: &str, uid: &str) -> Result<Option<(bool, bool)>> {
    let rows = world.database.list_rows(kind, &world.objects.namespace).await?;
    Ok(rows.iter().find(|row| row.uid == uid).map(|row| (row.deleted, row.evicted)))
}

async fn an_evicted_object_comes_back_and_is_mirrored_again(world: &mut World) -> Result<()> {
    world.start()?;
    let mut object = model("a", "final");
    object["metadata"]["labels"] = json!({"kept": "yes"});
    object["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "michelangelo.api/v2", "kind": "Model", "name": "gone", "uid": "0af1"}]);
    let old = uid(&world.objects.create(object).await?);
    let status = json!({"status": {"state": "MODEL_STATE_READY"}});
    world.objects.api("Model").patch_status("a", &PatchParams::default(), &Patch::Merge(&status)).await?;
    world.settled().await?;
    world.objects.annotate("Model", "a", "michelangelo/Immutable").await?;
    world.gone("Model", "a").await?;
    world.row_that("evicted", "Model", "a", |row: &Row| row.evicted).await?;
    let stored_status = format!("SELECT {} FROM model", world.database.on.json_text("json", "status"));
    let stored_status = world.database.cell(&stored_status).await?;

    let namespace = world.objects.namespace.clone();
    let dry = restore(world, &["model", "a", "-n", &namespace, "--dry-run", "-o", "json"])?;
    ensure!(dry.code == Some(0), "{dry:?}");
    let shown: Json = serde_json::from_str(&dry.out)?;
    assert_eq!(shown["metadata"]["annotations"], json!({"michelangelo/RestoredFrom": old}));
    assert!(shown["metadata"].get("ownerReferences").is_none(), "{shown}");
    let dry = restore(world, &["model", "a", "--dry-run"])?;
    ensure!(dry.code == Some(0) && dry.out.starts_with("apiVersion: michelangelo.api/v2\nkind: Model\n"), "{dry:?}");
    assert!(world.objects.get("Model", "a").await?.is_none());
    assert_eq!(state(world, &old).await?, Some((false, true)));

    let ran = restore(world, &["models.michelangelo.api/a"])?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "model.michelangelo.api/a restored\n"), "{ran:?}");
    ensure!(ran.err.contains("the reference to its owner Model gone is left out: it does not exist"), "{ran:?}");
    assert_eq!(state(world, &old).await?, Some((true, true)));
    let look = async || world.objects.get("Model", "a").await?.context("it is there again");
    let back = eventually("the finalizer", look, |object| has_finalizer(object, OURS)).await?;
    assert_ne!(uid(&back), old);
    assert_eq!(back.labels()["kept"], "yes");
    assert_eq!(back.annotations()["michelangelo/RestoredFrom"], old);
    assert!(back.annotations().contains_key("michelangelo/RestoreNonce") && back.annotations().len() == 2, "{back:?}");
    ensure!(ran.err.contains("`policies.restoreGrace`"), "{ran:?}");
    assert_eq!(back.data["spec"]["algorithm"], "final");
    let status: Json = serde_json::from_str(&stored_status.context("a status")?)?;
    assert_eq!(back.data["status"], status);

    // Once more, in each way: it already exists.
    for arguments in [["model", "a", "-n", &namespace].as_slice(), &["model", "--uid", &old]] {
        let ran = restore(world, arguments)?;
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "model.michelangelo.api/a unchanged\n"), "{ran:?}");
    }
    assert_eq!(world.objects.list("Model").await?.len(), 1);
    world.settled().await?;
    assert_eq!(state(world, &uid(&back)).await?, Some((false, false)));
    world.audit_is_clean()
}

async fn a_restore_that_was_killed_before_the_status_is_completed(world: &mut World) -> Result<()> {
    world.start()?;
    let old = uid(&world.objects.create(object("Pipeline", "a", &json!({}))).await?);
    let status = json!({"status": {"state": "PIPELINE_STATE_BUILDING"}});
    world.objects.api("Pipeline").patch_status("a", &PatchParams::default(), &Patch::Merge(&status)).await?;
    world.settled().await?;
    world.objects.annotate("Pipeline", "a", "michelangelo/Immutable").await?;
    world.gone("Pipeline", "a").await?;
    world.row_that("evicted", "Pipeline", "a", |row: &Row| row.evicted).await?;

    // The state when it is killed: the object is created, its status is not written.
    let mut created = object("Pipeline", "a", &json!({}));
    created["metadata"]["annotations"] = json!({"michelangelo/RestoredFrom": old});
    world.objects.create(created).await?;
    world.settled().await?;
    assert_eq!(state_of(world, "Pipeline", &old).await?, Some((false, true)));
    let ran = restore(world, &["pipeline", "a"])?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "pipeline.michelangelo.api/a restored\n"), "{ran:?}");
    let back = world.objects.get("Pipeline", "a").await?.context("it is there")?;
    assert_eq!(back.data["status"]["state"], "PIPELINE_STATE_BUILDING");
    assert_eq!(state_of(world, "Pipeline", &old).await?, Some((true, true)));

    // Its controller continues, and a repeat does not change that.
    let later = json!({"status": {"state": "PIPELINE_STATE_READY"}});
    world.objects.api("Pipeline").patch_status("a", &PatchParams::default(), &Patch::Merge(&later)).await?;
    let ran = restore(world, &["pipeline", "a"])?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "pipeline.michelangelo.api/a unchanged\n"), "{ran:?}");
    let back = world.objects.get("Pipeline", "a").await?.context("it is there")?;
    assert_eq!(back.data["status"]["state"], "PIPELINE_STATE_READY");
    world.settled().await?;
    world.audit_is_clean()
}

async fn a_deleted_object_comes_back_but_never_over_a_live_one(world: &mut World) -> Result<()> {
    world.start()?;
    let old = uid(&world.objects.create(model("a", "deleted")).await?);
    world.settled().await?;
    world.objects.delete("Model", "a").await?;
    world.gone("Model", "a").await?;
    world.row_that("deleted", "Model", "a", |row| row.deleted).await?;
    // Another object has the name.
    let other = uid(&world.objects.create(model("a", "other")).await?);
    world.settled().await?;
    for arguments in [["model", "a"].as_slice(), &["model", "a", "--dry-run"], &["model", "--uid", &old]] {
        let ran = restore(world, arguments)?;
        ensure!(ran.code == Some(1) && ran.out.is_empty() && ran.err.contains("over a live object"), "{ran:?}");
    }
    assert_eq!(world.objects.get("Model", "a").await?.map(|object| uid(&object)), Some(other.clone()));
    let live = restore(world, &["model", "--uid", &other])?;
    ensure!(live.code == Some(1) && live.err.contains("already exists in the cluster"), "{live:?}");

    world.objects.delete("Model", "a").await?;
    world.gone("Model", "a").await?;
    let deleted = async || state(world, &other).await;
    eventually("the other row to be deleted", deleted, |state| *state == Some((true, false))).await?;
    let ran = restore(world, &["model", "--uid", &old, "-o", "name"])?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "model.michelangelo.api/a\n"), "{ran:?}");
    let back = world.objects.get("Model", "a").await?.context("it is there again")?;
    assert_eq!(back.data["spec"]["algorithm"], "deleted");
    assert_eq!(back.annotations()["michelangelo/RestoredFrom"], old);
    world.settled().await?;

    // Another namespace has the name, too: the intended one is unknown.
    let columns = "group_ver, name, res_version, json, delete_time, update_time";
    let copy = format!(
        "INSERT INTO model (uid, namespace, {columns}) SELECT 'copy', 'other', {columns} FROM model WHERE uid = '{old}'"
    );
    world.database.sql(&copy).await?;
    let ran = restore(world, &["model", "a"])?;
    ensure!(ran.code == Some(2) && ran.err.contains("in several namespaces: name one with -n ("), "{ran:?}");

    for (arguments, code) in [(["model", "none"].as_slice(), 1), (&["model"], 2), (&["model", "a/b", "--uid"], 2)] {
        let ran = restore(world, arguments)?;
        ensure!(ran.code == Some(code) && ran.out.is_empty(), "{arguments:?}: {ran:?}");
    }
    world.audit_is_clean()
}
