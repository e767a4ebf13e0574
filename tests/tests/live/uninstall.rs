//! `ingester finalizers remove`, for uninstalling, and `ingester audit`.

use anyhow::{Context as _, Result, ensure};
use kube::ResourceExt as _;
use serde_json::json;

use crate::objects::{KEEP, OURS, has_finalizer, kinds, model, object};
use crate::settings::Settings;
use crate::world::World;
use crate::{on_both_api_servers, on_servers};

on_both_api_servers! { OwnServers::NOTHING =>
    finalizers_remove_takes_only_our_finalizer_off_every_object
    the_audit_names_every_difference_and_repairs_it_when_asked
}

// Finalizers do not depend on the database.
on_servers! { OwnServers::CLUSTER => objects_outside_of_a_narrowed_configuration_are_named_and_let_go [mysql MYSQL] }

async fn finalizers_remove_takes_only_our_finalizer_off_every_object(world: &mut World) -> Result<()> {
    for kind in kinds() {
        let mut kept = object(kind, "kept", &json!({}));
        kept["metadata"]["finalizers"] = json!([KEEP]);
        for object in [kept, object(kind, "plain", &json!({}))] {
            world.objects.create(object).await?;
        }
    }
    let mut elsewhere = model("elsewhere", "x");
    elsewhere["metadata"]["finalizers"] = json!([OURS]);
    world.elsewhere.create(elsewhere).await?;
    world.start()?;
    let finalized = async || {
        let mut finalized = 0;
        for kind in kinds() {
            finalized += world.objects.list(kind).await?.iter().filter(|object| has_finalizer(object, OURS)).count();
        }
        Ok(finalized)
    };
    crate::eventually::eventually("all to have the finalizer", finalized, |finalized| *finalized == 26).await?;
    world.settled().await?;
    world.stop()?;
    // Delete one while the ingester is down, so that its finalizer stays.
    world.objects.delete("Model", "plain").await?;

    let ran = world.ingester().run(&["finalizers", "remove"])?;
    ensure!(ran.code == Some(0), "{ran:?}");
    for kind in kinds() {
        let kept = world.objects.get(kind, "kept").await?.context("it is there")?;
        assert_eq!(kept.finalizers(), [KEEP], "{kind}");
        let plain = world.objects.get(kind, "plain").await?;
        if kind == "Model" {
            assert!(plain.is_none(), "nothing holds it any more");
        } else {
            assert!(plain.context("it is there")?.finalizers().is_empty(), "{kind}");
        }
    }
    let elsewhere = world.elsewhere.get("Model", "elsewhere").await?.context("it is there")?;
    assert_eq!(elsewhere.finalizers(), [OURS], "a namespace that is not mirrored is left alone");

    let again = world.ingester().run(&["finalizers", "remove"])?;
    ensure!(again.code == Some(0), "doing it again changes nothing: {again:?}");
    Ok(())
}

async fn objects_outside_of_a_narrowed_configuration_are_named_and_let_go(world: &mut World) -> Result<()> {
    let both = vec![world.objects.namespace.clone(), world.elsewhere.namespace.clone()];
    world.start_with(&Settings { namespaces: both, ..world.settings() })?;
    for object in [model("outside", "x"), object("Project", "outside", &json!({}))] {
        world.elsewhere.create(object).await?;
    }
    world.objects.create(object("Project", "outside", &json!({}))).await?;
    let ours = async || {
        let mut ours = 0;
        for (objects, kind) in [(&world.elsewhere, "Model"), (&world.elsewhere, "Project"), (&world.objects, "Project")]
        {
            ours += objects.list(kind).await?.iter().filter(|object| has_finalizer(object, OURS)).count();
        }
        Ok(ours)
    };
    crate::eventually::eventually("all to have the finalizer", ours, |ours| *ours == 3).await?;
    world.settled().await?;
    world.stop()?;

    // One namespace less, and one kind.
    world.start_with(&Settings { ingester: vec!["kinds: [Model]"], ..world.settings() })?;
    let log = async || world.ingester().logs();
    let named = |log: &String| {
        let line = |kind: &str| log.lines().any(|line| line.contains("are outside of") && line.contains(kind));
        line("kind=\"Model\" rows=1") && line("kind=\"Project\" rows=2")
    };
    crate::eventually::eventually("what is outside to be named", log, named).await?;
    world.stop()?;
    world.elsewhere.delete("Model", "outside").await?;
    let ran = world.ingester().run(&["finalizers", "remove", "Model"])?;
    ensure!(ran.code == Some(0), "{ran:?}");
    assert!(world.elsewhere.get("Model", "outside").await?.is_some(), "the configuration leaves it out");

    let ran = world.ingester().run(&["finalizers", "remove", "--all-namespaces"])?;
    ensure!(ran.code == Some(0), "{ran:?}");
    assert!(world.elsewhere.get("Model", "outside").await?.is_none(), "nothing holds it any more");
    for objects in [&world.elsewhere, &world.objects] {
        let project = objects.get("Project", "outside").await?.context("it is there")?;
        assert!(project.finalizers().is_empty(), "a kind that is not configured");
    }
    Ok(())
}

async fn the_audit_names_every_difference_and_repairs_it_when_asked(world: &mut World) -> Result<()> {
    world.start()?;
    for name in ["untouched", "m-missing", "m-stale", "m-label", "m-column"] {
        let mut model = model(name, "x");
        model["metadata"]["labels"] = json!({"a": "b"});
        world.objects.create(model).await?;
    }
    world.settled().await?;
    world.audit_is_clean()?;
    world.stop()?;

    // Changes that the engine never makes. The last row has no object.
    for sql in [
        "DELETE FROM model_labels WHERE obj_uid = (SELECT uid FROM model WHERE name = 'm-missing')",
        "DELETE FROM model WHERE name = 'm-missing'",
        "UPDATE model SET res_version = 1 WHERE name = 'm-stale'",
        "UPDATE model_labels SET value = 'c' WHERE obj_uid = (SELECT uid FROM model WHERE name = 'm-label')",
        "UPDATE model SET algorithm = 'y' WHERE name = 'm-column'",
        "INSERT INTO model (uid, group_ver, namespace, name, res_version, update_time, json) \
         SELECT 'of-no-object', group_ver, namespace, 'm-orphan', 1, update_time, json FROM model WHERE name = 'untouched'",
    ] {
        world.database.sql(sql).await?;
    }
    let wrong = ["m-missing", "m-stale", "m-label", "m-column", "m-orphan"];
    let ran = world.audit(&[])?;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for name in wrong {
        ensure!(ran.out.contains(name), "{name}: {ran:?}");
    }
    ensure!(!ran.out.contains("untouched"), "{ran:?}");
    let json = world.audit(&["-o", "json"])?;
    assert_eq!(json.code, Some(1), "{json:?}");
    serde_json::from_str::<serde_json::Value>(&json.out).with_context(|| json.out.clone())?;
    assert_eq!(world.audit(&["Project"])?.code, Some(0), "only the kinds that are named are looked at");
    assert_eq!(world.audit(&["Modell"])?.code, Some(2), "a kind that is none is wrong use");

    let repaired = world.audit(&["--repair"])?;
    for name in wrong {
        ensure!(format!("{}{}", repaired.out, repaired.err).contains(name), "{name}: {repaired:?}");
    }
    world.audit_is_clean()?;
    world.settled().await?;
    assert_eq!(world.database.count("model WHERE name = 'm-column' AND algorithm = 'x'").await?, 1);
    assert!(world.row("Model", "m-orphan").await?.context("it is marked, not removed")?.deleted);
    Ok(())
}
