//! The CRDs on a real API server: it takes them, and it keeps what clients send.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::shared_apiserver;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, ObjectMeta};
use kube::{Client, ResourceExt as _};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// Installs the CRDs and waits until each is served.
async fn install(client: &Client) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    for kind in crd_specs::KINDS {
        let crd = kind.crd().context("a CRD of our own")?;
        let name = crd.name_any();
        match crds.create(&PostParams::default(), &crd).await {
            Ok(_) => {}
            Err(kube::Error::Api(error)) if error.code == 409 => {}
            Err(error) => return Err(error).with_context(|| format!("creating {name}")),
        }
    }
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    for kind in crd_specs::KINDS {
        let name = format!("{}.{}", kind.plural(), kind.group());
        loop {
            let crd = crds.get(&name).await?;
            let conditions = crd.status.and_then(|status| status.conditions).unwrap_or_default();
            let is = |what: &str, value: &str| conditions.iter().any(|c| c.type_ == what && c.status == value);
            // A schema that is not structural would be served all the same, and prune nothing.
            ensure!(!is("NonStructuralSchema", "True"), "{name}: {conditions:?}");
            if is("Established", "True") && is("NamesAccepted", "True") {
                break;
            }
            ensure!(tokio::time::Instant::now() < deadline, "{name} is not served: {conditions:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

/// What the server alone may set is left to it.
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

/// Creates the object with its status and reads it back; spec, status, labels and annotations must be what was sent.
async fn is_kept(client: &Client, object: Json, name: &str) -> Result<()> {
    let kind = crd_specs::KINDS.iter().find(|kind| kind.kind() == object["kind"]).context("a kind of ours")?;
    let gvk = GroupVersionKind::gvk(kind.group(), kind.version(), kind.kind());
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), "crds", &ApiResource::from_gvk_with_plural(&gvk, &kind.plural()));
    let sent = sendable(object, name);
    let create = || async {
        api.create(&PostParams::default(), &serde_json::from_value(sent.clone())?).await.map_err(anyhow::Error::from)
    };
    // A CRD that is established may take a moment until every handler has its schema.
    let mut created = create().await;
    for _ in 0..50 {
        match &created {
            Err(error) if error.to_string().contains("404") => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                created = create().await;
            }
            _ => break,
        }
    }
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
        let (sent, kept) = (sent.pointer(pointer), kept.pointer(pointer));
        ensure!(sent == kept || (empty(sent) && empty(kept)), "{name} {pointer}: sent {sent:?}, kept {kept:?}");
    }
    Ok(())
}

#[tokio::test]
async fn the_api_server_takes_the_crds_and_keeps_every_field_of_the_samples_and_golden_objects() -> Result<()> {
    let server = shared_apiserver()?;
    let client = server.client().await?;
    let namespace = Namespace {
        metadata: ObjectMeta { name: Some("crds".into()), ..ObjectMeta::default() },
        ..Namespace::default()
    };
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await?;
    install(&client).await?;

    let golden: Vec<Json> = serde_json::from_str(include_str!("../../crd-specs/tests/data/golden.json"))?;
    assert_eq!(golden.len(), 29);
    for (place, vector) in golden.iter().enumerate() {
        is_kept(&client, vector["input"].clone(), &format!("golden-{place}")).await?;
    }
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crd-specs/samples");
    let mut seen = 0;
    for entry in std::fs::read_dir(samples)? {
        let file = std::io::BufReader::new(std::fs::File::open(entry?.path())?);
        for document in ingester_core::documents::documents(file) {
            let object: Json = serde_json::from_str(&document?.content?)?;
            let name = format!("sample-{seen}");
            is_kept(&client, object, &name).await?;
            seen += 1;
        }
    }
    assert_eq!(seen, 13);
    Ok(())
}
