//! `ingester validate`: test objects go through their lives beside a mirror, and are removed.

use anyhow::{Result, ensure};
use ingester_tests::Edition;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value as Json, json};

use crate::objects::model;
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

on_servers! { OwnServers::NOTHING => test_objects_live_their_lives_and_are_taken_away
    [mariadb MARIADB] [modern MODERN]
}

on_servers! { OwnServers::NOTHING => test_objects_live_in_sqlite_too [classic MARIADB] }

async fn test_objects_live_their_lives_and_are_taken_away(world: &mut World) -> Result<()> {
    let settings = world.settings();
    live(world, &settings).await?;
    assert_eq!(world.database.count("model WHERE delete_time IS NULL").await?, 1, "that of the object that was there");
    assert_eq!(world.database.count("model").await?, 1, "those of evicted ones are purged, too");
    world.audit_is_clean()
}

async fn test_objects_live_in_sqlite_too(world: &mut World) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}", folder.path().join("validate.db").display());
    let settings = Settings { mysql: None, database_url: Some(url), ..world.settings() };
    live(world, &settings).await
}

async fn live(world: &mut World, settings: &Settings) -> Result<()> {
    world.objects.create(model("kept", "x")).await?;
    world.start_with(settings)?;
    let namespace = world.objects.namespace.clone();
    let admin = world.cluster.kubeconfig();
    let validate = |arguments: &[&str]| {
        let common = ["validate", "-n", &namespace, "--kubeconfig", admin.to_str().unwrap_or_default()];
        world.ingester().run(&[&common[..], arguments].concat())
    };
    let ran = validate(&["models"])?;
    ensure!(ran.code == Some(2) && ran.err.contains("--yes") && ran.err.contains(&namespace), "{ran:?}");
    if world.cluster.edition() == Edition::Classic {
        let ran = validate(&["models", "--yes"])?;
        let remedy = format!("kubectl label namespace {namespace} michelangelo/Validate=true");
        ensure!(ran.code == Some(2) && ran.err.contains(&remedy), "{ran:?}");
        let label = Patch::Merge(json!({"metadata": {"labels": {"michelangelo/Validate": "true"}}}));
        let namespaces: Api<Namespace> = Api::all(world.objects.client.clone());
        namespaces.patch(&namespace, &PatchParams::default(), &label).await?;
    }
    assert_eq!(world.objects.list("Model").await?.len(), 1, "nothing was created");

    let ran = validate(&["models", "projects", "--yes", "-o", "json"])?;
    let steps: Vec<Json> = serde_json::from_str(&ran.out)?;
    ensure!(ran.code == Some(0), "{ran:?}");
    for kind in ["models.michelangelo.api", "projects.michelangelo.api"] {
        let of = steps.iter().filter(|step| step["kind"] == kind);
        let done: Vec<&str> =
            of.filter(|step| step["result"] == "ok").filter_map(|step| step["step"].as_str()).collect();
        assert_eq!(done, ["create", "update", "label", "delete", "clean up", "evict", "clean up"], "{kind}");
    }
    for (kind, left) in [("Model", 1), ("Project", 0)] {
        assert_eq!(world.objects.list(kind).await?.len(), left, "{kind}");
    }
    let ran = validate(&["models", "--yes"])?;
    ensure!(ran.code == Some(0) && ran.out.starts_with("KIND") && ran.err.contains("0 of 7 steps failed"), "{ran:?}");
    Ok(())
}
