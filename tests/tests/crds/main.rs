//! The CRDs on real API servers: they accept them, and keep everything that clients send. CRDs of `crd = "strict"` refuse objects that the
//! structs cannot read.

mod strict;

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{install, shared_apiserver, shared_modern_apiserver, skipped_without_modern_apiserver};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, ObjectMeta};
use serde_json::{Value as Json, json};

/// Leaves out the fields that only the server may set.
fn sendable(mut object: Json, name: &str) -> Json {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in [
            "uid",
            "resourceVersion",
            "generation",
            "creationTimestamp",
            "deletionTimestamp",
            "managedFields",
            "selfLink",
        ] {
            metadata.remove(field);
        }
        metadata.insert("name".into(), json!(name));
        metadata.insert("namespace".into(), json!("crds"));
    }
    object
}

/// Creates the object with its status and reads it back. Spec, status, labels and annotations must be unchanged.
async fn is_kept(client: &Client, object: Json, name: &str) -> Result<()> {
    let kind = crd_specs::KINDS.iter().find(|kind| kind.kind() == object["kind"]).context("a kind of ours")?;
    let gvk = GroupVersionKind::gvk(kind.group(), kind.version(), kind.kind());
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), "crds", &ApiResource::from_gvk_with_plural(&gvk, &kind.plural()));
    let sent = sendable(object, name);
    let created = api.create(&PostParams::default(), &serde_json::from_value(sent.clone())?).await;
    created.with_context(|| format!("creating {name}"))?;
    if let Some(status) = sent.get("status").filter(|status| !status.is_null()) {
        let patch = json!({ "status": status });
        api.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch))
            .await
            .with_context(|| format!("status of {name}"))?;
    }
    let kept = serde_json::to_value(api.get(name).await?)?;
    for pointer in ["/spec", "/status", "/metadata/labels", "/metadata/annotations"] {
        let empty = |value: Option<&Json>| value.is_none_or(|value| *value == json!({}) || value.is_null());
        let sent = sent.pointer(pointer);
        let kept = kept.pointer(pointer);
        ensure!(sent == kept || (empty(sent) && empty(kept)), "{name} {pointer}: sent {sent:?}, kept {kept:?}");
    }
    Ok(())
}

#[tokio::test]
async fn the_api_server_accepts_the_crds_and_keeps_every_field() -> Result<()> {
    let client = shared_apiserver()?.client().await?;
    let namespace = Namespace {
        metadata: ObjectMeta { name: Some("crds".into()), ..ObjectMeta::default() },
        ..Namespace::default()
    };
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await?;
    accepts_the_crds_and_keeps_every_field(&client).await
}

#[tokio::test]
async fn the_modern_api_server_accepts_the_crds_and_keeps_every_field() -> Result<()> {
    let Some(server) = shared_modern_apiserver()? else {
        skipped_without_modern_apiserver();
        return Ok(());
    };
    accepts_the_crds_and_keeps_every_field(&server.client().await?).await
}

/// What the mirror asks of every API server: answers without `managedFields`. Servers before 1.37 ignore it.
async fn ignores_that_fields_are_to_be_dropped(client: &Client) -> Result<()> {
    let list = async |accept: &str| -> Result<String> {
        let request =
            http::Request::get("/apis/michelangelo.api/v2/namespaces/crds/models").header(http::header::ACCEPT, accept);
        Ok(client.request_text(request.body(Vec::new())?).await?)
    };
    for accept in ["application/json", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"] {
        let full: Json = serde_json::from_str(&list(accept).await?)?;
        let asked: Json = serde_json::from_str(&list(&format!("{accept};drop=metadata.managedFields")).await?)?;
        ensure!(full["kind"] == asked["kind"], "{accept}: {} became {}", full["kind"], asked["kind"]);
        let names = |list: &Json| -> Vec<Json> {
            let items = list["items"].as_array().into_iter().flatten();
            items.map(|item| item["metadata"]["name"].clone()).collect()
        };
        ensure!(!names(&full).is_empty() && names(&full) == names(&asked), "{accept}: {full} became {asked}");
    }
    Ok(())
}

async fn accepts_the_crds_and_keeps_every_field(client: &Client) -> Result<()> {
    let crds: Vec<_> = crd_specs::KINDS.iter().filter_map(|kind| kind.crd()).collect();
    assert_eq!(crds.len(), 13);
    install(client, &crds).await?;

    let golden: Vec<Json> = serde_json::from_str(include_str!("../../../crd-specs/tests/data/golden.json"))?;
    assert_eq!(golden.len(), 29);
    for (place, vector) in golden.iter().enumerate() {
        is_kept(client, vector["input"].clone(), &format!("golden-{place}")).await?;
    }
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crd-specs/samples");
    let mut seen = 0;
    for entry in std::fs::read_dir(samples)? {
        let file = std::io::BufReader::new(std::fs::File::open(entry?.path())?);
        for document in ingester_declare::documents::documents(file) {
            let object: Json = serde_json::from_str(&document?.content?)?;
            let name = format!("sample-{seen}");
            is_kept(client, object, &name).await?;
            seen += 1;
        }
    }
    assert_eq!(seen, 13);
    ignores_that_fields_are_to_be_dropped(client).await
}
