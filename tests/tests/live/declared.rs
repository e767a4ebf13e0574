//! Kinds of a file beside a cluster: from a CRD in it to rows, without Rust.

use anyhow::{Context as _, Result, ensure};
use ingester_declare::declare::kinds;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams,
};
use serde_json::json;
use std::process::Command;

use crate::eventually::eventually;
use crate::on_servers;
use crate::world::World;

on_servers! { OwnServers::NOTHING =>
    built_in_types_are_scaffolded [classic MARIADB]
}

on_servers! { OwnServers::NOTHING =>
    a_foreign_crd_is_scaffolded_out_of_the_cluster_and_mirrored [modern MODERN]
}

const CRD: &str = include_str!("../../../tests/crds/certificates.cert-manager.io.yaml");
const OBJECTS: &str = include_str!("../../../tests/crds/objects/certificate.yaml");
const NAME: &str = "certificates.cert-manager.io";

/// Installs the CRD, and waits until its objects are served.
async fn install(world: &World) -> Result<Api<DynamicObject>> {
    let client = world.objects.client.clone();
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let crd: CustomResourceDefinition = serde_saphyr::from_str(CRD)?;
    crds.patch(NAME, &PatchParams::apply("test").force(), &Patch::Apply(&crd)).await?;
    let kind = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("cert-manager.io", "v1", "Certificate"),
        "certificates",
    );
    let certificates: Api<DynamicObject> = Api::namespaced_with(client, &world.objects.namespace, &kind);
    eventually("the CRD being served", async || Ok(certificates.list(&ListParams::default()).await?), |_| true).await?;
    Ok(certificates)
}

/// Built-in types have no CRD. Each is a file of kinds as it is, and with every field that it offers.
async fn built_in_types_are_scaffolded(world: &mut World) -> Result<()> {
    let kubeconfig = world.cluster.kubeconfig();
    for (name, field) in [
        ("deployments.apps", "path: '.spec.replicas', type: INT"),
        ("pods", "path: '.status.phase', type: VARCHAR(768)"),
        ("events.events.k8s.io", "path: '.eventTime', type: DATETIME(6)"),
    ] {
        let arguments = ["scaffold", "--from-cluster", name, "--kubeconfig"];
        let ran = Command::new(env!("CARGO_BIN_EXE_ingester")).args(arguments).arg(&kubeconfig).output()?;
        ensure!(ran.status.success(), "{name}: {ran:?}");
        let text = String::from_utf8(ran.stdout)?;
        ensure!(text.contains(field), "{name}: {text}");
        for text in [text.clone(), text.replace("  # - {", "  - {")] {
            kinds(name, &text, &|_| Err(std::io::ErrorKind::NotFound.into()))?;
        }
    }
    Ok(())
}

async fn a_foreign_crd_is_scaffolded_out_of_the_cluster_and_mirrored(world: &mut World) -> Result<()> {
    let certificates = install(world).await?;
    for document in ingester_declare::documents::documents(OBJECTS.as_bytes()) {
        let text = document?.content.map_err(anyhow::Error::from)?;
        let mut object: DynamicObject = serde_json::from_str(&text)?;
        let status = object.data.get("status").cloned();
        object.metadata.namespace = Some(world.objects.namespace.clone());
        object.metadata.resource_version = None;
        object.metadata.uid = None;
        object.metadata.managed_fields = None;
        object.metadata.owner_references = None;
        object.metadata.finalizers = None;
        let name = object.metadata.name.clone().context("it has a name")?;
        let created = certificates.create(&PostParams::default(), &object).await;
        created.with_context(|| name.clone())?;
        if let Some(status) = status {
            let patch = Patch::Merge(json!({ "status": status }));
            certificates.patch_status(&name, &PatchParams::default(), &patch).await?;
        }
    }

    // The first command.
    let kubeconfig = world.cluster.service_account_kubeconfig();
    let scaffolded = Command::new(env!("CARGO_BIN_EXE_ingester"))
        .args(["scaffold", "--from-cluster", NAME, "--kubeconfig"])
        .arg(&kubeconfig)
        .output()?;
    ensure!(scaffolded.status.success(), "{scaffolded:?}");
    // Its annotations have their own prefix here.
    let scaffolded = format!("prefix: data.example.com\n{}", String::from_utf8(scaffolded.stdout)?);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("kinds.yaml");
    std::fs::write(&file, &scaffolded)?;

    // The second command.
    let mut settings = world.settings();
    let kinds_file = format!("kindsFile: {}", file.display());
    settings.ingester = vec![kinds_file.leak()];
    world.start_with(&settings)?;
    let database = &world.database;
    ensure!(database.tables().await?.iter().filter(|table| !table.starts_with("ingester_")).count() == 3);
    let live = "certificate WHERE delete_time IS NULL";
    ensure!(database.count(live).await? == 5);
    let shop = "SELECT CONCAT(issuer_ref_kind, ' ', ready) FROM certificate WHERE name = 'shop'";
    ensure!(database.cell(shop).await?.as_deref() == Some("ClusterIssuer True"));
    // Objects of other projects are not touched.
    let finalizers: usize = certificates
        .list(&ListParams::default())
        .await?
        .items
        .iter()
        .map(|object| object.metadata.finalizers.iter().flatten().count())
        .sum();
    ensure!(finalizers == 0);

    // It is mirrored like every kind.
    certificates.delete("legacy", &DeleteParams::default()).await?;
    // It is not evictable, whatever is requested.
    let asked = json!({ "data.example.com/Immutable": "true", "data.example.com/Deleting": "true" });
    let patch = json!({ "metadata": { "annotations": asked }, "spec": { "secretName": "another" } });
    certificates.patch("new", &PatchParams::default(), &Patch::Merge(patch)).await?;
    let seen = async || {
        let changed = database.count("certificate WHERE name = 'new' AND secret_name = 'another'").await?;
        Ok((database.count(live).await?, changed))
    };
    eventually("the changes", seen, |seen| *seen == (4, 1)).await?;
    let ignored = async || Ok(world.metrics()?.sum("ingester_annotations_ignored_total", &["kind=\"Certificate\""]));
    eventually("the annotations to be reported", ignored, |ignored| *ignored > 0.5).await?;
    ensure!(!world.log_lines(&["Annotation ignored", "data.example.com/Deleting"])?.is_empty());

    // One more column and another path, while it is down: unchanged rows are filled.
    world.stop()?;
    let more = scaffolded
        .replace("  # - {column: common_name", "  - {column: common_name")
        .replace("path: '.spec.secretName'", "path: '.metadata.name'");
    ensure!(more != scaffolded, "{scaffolded}");
    std::fs::write(&file, more)?;
    world.start_with(&settings)?;
    let database = &world.database;
    let seen = async || {
        let filled =
            database.count("certificate WHERE delete_time IS NULL AND ingest_version = 2 AND secret_name = name");
        Ok((filled.await?, database.count("certificate WHERE common_name = 'shop.example.com'").await?))
    };
    eventually("the columns that are filled again", seen, |seen| *seen == (4, 1)).await?;
    ensure!(certificates.get("new").await?.metadata.deletion_timestamp.is_none());
    for object in certificates.list(&ListParams::default()).await? {
        certificates.delete(object.metadata.name.as_deref().unwrap_or_default(), &DeleteParams::default()).await?;
    }
    Ok(())
}
