//! The manifests of `deploy/` and of the folders in it on a real API server: it accepts them, and they grant the intended access.

use anyhow::{Context as _, Result, bail, ensure};
use ingester_tests::{ApiServer, install};
use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{GroupVersionKind, Request};
use kube::{Client, Config, ResourceExt as _};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::{Duration, Instant};

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy");
const SERVER: &str = "system:serviceaccount:ingester:ingester-server";
const OUTER: &str = "/apis/mirror.michelangelo.api/v1";

/// The documents that a kustomization lists, in its order.
fn listed(folder: &str) -> Result<Vec<Json>> {
    let read = |file: &str| -> Result<Json> {
        let path = Path::new(DEPLOY).join(folder).join(file);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(serde_saphyr::from_str(&text)?)
    };
    let kustomization = read("kustomization.yaml")?;
    let files = kustomization["resources"].as_array().context("resources")?;
    files.iter().map(|file| read(file.as_str().context("a name")?)).collect()
}

/// The API of a manifest's kind, in the manifest's namespace.
async fn api_of(client: &Client, manifest: &Json) -> Result<Api<DynamicObject>> {
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    let api_version = text("/apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = GroupVersionKind::gvk(group, version, text("/kind"));
    let (resource, capabilities) = kube::discovery::pinned_kind(client, &kind).await?;
    Ok(match capabilities.scope {
        kube::discovery::Scope::Cluster => Api::all_with(client.clone(), &resource),
        kube::discovery::Scope::Namespaced => {
            Api::namespaced_with(client.clone(), text("/metadata/namespace"), &resource)
        }
    })
}

async fn create(client: &Client, manifest: &Json) -> Result<()> {
    let object: DynamicObject = serde_json::from_value(manifest.clone())?;
    let what = format!("creating the {} {}", manifest["kind"], object.name_any());
    let api = api_of(client, manifest).await?;
    api.create(&PostParams::default(), &object).await.context(what).map(drop)
}

/// The API server has kept everything that the manifest says: it drops fields that it does not know.
async fn kept(client: &Client, manifest: &Json) -> Result<()> {
    let name = manifest["metadata"]["name"].as_str().context("a name")?;
    let stored = api_of(client, manifest).await?.get(name).await?;
    let stored = serde_json::to_value(stored)?;
    match lacking(&manifest["spec"], &stored["spec"], "spec".to_owned()) {
        None => Ok(()),
        Some(path) => bail!("{path} of the {} {name} was not kept", manifest["kind"]),
    }
}

/// The first path of `wanted` that is not in `stored`, which may have more.
fn lacking(wanted: &Json, stored: &Json, path: String) -> Option<String> {
    match (wanted, stored) {
        (Json::Object(wanted), Json::Object(stored)) => wanted.iter().find_map(|(key, value)| {
            let path = format!("{path}.{key}");
            match stored.get(key) {
                Some(stored) => lacking(value, stored, path),
                // An empty list or map means the same as a missing one.
                None if matches!(value, Json::Object(map) if map.is_empty()) => None,
                None => Some(path),
            }
        }),
        (Json::Array(wanted), Json::Array(stored)) if wanted.len() == stored.len() => {
            let both = wanted.iter().zip(stored).enumerate();
            both.into_iter().find_map(|(at, (wanted, stored))| lacking(wanted, stored, format!("{path}[{at}]")))
        }
        (wanted, stored) => (wanted != stored).then_some(path),
    }
}

/// Whether a user may do something, by RBAC.
async fn may(client: &Client, user: &str, attributes: Json) -> Result<bool> {
    let review: SubjectAccessReview = serde_json::from_value(json!({
        "metadata": {},
        "spec": {"user": user, "groups": ["system:authenticated"], "resourceAttributes": attributes},
    }))?;
    let answer = Api::<SubjectAccessReview>::all(client.clone()).create(&PostParams::default(), &review).await?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}

async fn eventually_may(client: &Client, user: &str, attributes: &Json) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(30);
    while !may(client, user, attributes.clone()).await? {
        ensure!(Instant::now() < end, "{user} may not: {attributes}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// The codes that the API server gives to requests through the APIService, for each method and each sort of path.
async fn through_the_api_service(client: &Client) -> Result<Vec<u16>> {
    let at = |path: &str| Request::new(format!("{OUTER}/{path}"));
    let models = "resources/apis/michelangelo.api/v2/namespaces/ml/models";
    let list = ListParams::default();
    let delete = DeleteParams::default();
    let patch = Patch::Merge(json!({"metadata": {"labels": {"a": "b"}}}));
    let requests = [
        at("resources").list(&list)?,
        at("resources").get("version", &Default::default())?,
        at("resources/openapi/v3/apis/michelangelo.api").get("v2", &Default::default())?,
        at("resources/apis/michelangelo.api/v2/models").list(&list)?,
        at(models).list(&list)?,
        at(models).get("m", &Default::default())?,
        at(models).patch("m", &PatchParams::default(), &patch)?,
        at(models).replace("m", &PostParams::default(), b"{}".to_vec())?,
        at(models).delete("m", &delete)?,
        at(models).delete_collection(&delete, &list)?,
        at(models).create_subresource("restore", "m", &PostParams::default(), b"{}".to_vec())?,
        at("queries").list(&list)?,
        at("queries").get("active-models", &Default::default())?,
    ];
    let mut codes = Vec::new();
    for request in requests {
        let shown = format!("{} {}", request.method(), request.uri());
        match client.request_text(request).await {
            Err(kube::Error::Api(status)) => codes.push(status.code),
            Err(error) => return Err(error).context(shown),
            Ok(answer) => bail!("{shown}: {answer}"),
        }
    }
    Ok(codes)
}

/// A client that asks once, whatever the answer.
async fn without_retries(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

/// A definition of one of the Prometheus Operator's kinds, as far as the manifests use it: fields that it lacks are refused by name.
fn definition(kind: &str, plural: &str, spec: &Json) -> Result<CustomResourceDefinition> {
    let schema = json!({"type": "object", "required": ["spec"], "properties": {"spec": spec}});
    Ok(serde_json::from_value(json!({
        "metadata": {"name": format!("{plural}.monitoring.coreos.com")},
        "spec": {
            "group": "monitoring.coreos.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    }))?)
}

fn definitions() -> Result<[CustomResourceDefinition; 2]> {
    let text = json!({"type": "string"});
    let texts = json!({"type": "object", "additionalProperties": text});
    let list = |items: &Json| json!({"type": "array", "items": items});
    let object =
        |required: &[&str], properties: Json| json!({"type": "object", "required": required, "properties": properties});
    let endpoint = object(&["port"], json!({"port": text, "path": text, "interval": text}));
    let selector = object(&[], json!({"matchLabels": texts}));
    let monitor = object(
        &["endpoints", "selector"],
        json!({"selector": selector, "podTargetLabels": list(&text), "endpoints": list(&endpoint)}),
    );
    let alert =
        object(&["expr"], json!({"alert": text, "expr": text, "for": text, "labels": texts, "annotations": texts}));
    let group = object(&["name"], json!({"name": text, "rules": list(&alert)}));
    let rule = object(&[], json!({"groups": list(&group)}));
    Ok([
        definition("ServiceMonitor", "servicemonitors", &monitor)?,
        definition("PrometheusRule", "prometheusrules", &rule)?,
    ])
}

/// The folders that an operator may add.
async fn optional(client: &Client) -> Result<()> {
    install(client, &definitions()?).await?;
    for manifest in &listed("monitoring")? {
        create(client, manifest).await?;
        kept(client, manifest).await?;
    }
    for mut manifest in listed("policies")? {
        // This API server is 1.20, which has these in an older version, of the same fields. The manifests are for 1.21 and later.
        if manifest["apiVersion"] == "policy/v1" {
            manifest["apiVersion"] = json!("policy/v1beta1");
        }
        create(client, &manifest).await?;
        kept(client, &manifest).await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_api_server_takes_the_manifests_and_they_open_what_they_should() -> Result<()> {
    let server = ApiServer::start()?;
    tokio::time::timeout(Duration::from_mins(2), installed(&server)).await.context("in two minutes")?
}

async fn installed(server: &ApiServer) -> Result<()> {
    let client = server.client().await?;
    for manifest in listed("")?.iter().chain(&listed("server")?) {
        create(&client, manifest).await?;
    }

    optional(&client).await?;

    // The server's requests to the API server.
    for attributes in [
        json!({"group": "authentication.k8s.io", "resource": "tokenreviews", "verb": "create"}),
        json!({"group": "authorization.k8s.io", "resource": "subjectaccessreviews", "verb": "create"}),
        json!({
            "resource": "configmaps", "verb": "get", "namespace": "kube-system",
            "name": "extension-apiserver-authentication",
        }),
    ] {
        eventually_may(&client, SERVER, &attributes).await?;
    }
    // Restores act as their callers.
    for verb in ["get", "create", "list", "watch", "update", "patch", "delete", "deletecollection"] {
        let attributes = json!({"group": "michelangelo.api", "resource": "models", "verb": verb, "namespace": "ml"});
        ensure!(!may(&client, SERVER, attributes).await?, "{verb}");
    }

    // A user gets through the API server's authorization, and no further: no server answers behind it here.
    let mut manifests = listed("apiservice")?;
    let binding =
        manifests.iter().position(|manifest| manifest["kind"] == "ClusterRoleBinding").context("a binding")?;
    let binding = manifests.remove(binding);
    for manifest in &manifests {
        create(&client, manifest).await?;
    }
    let user = without_retries(&server.service_account_kubeconfig()).await?;
    let codes = through_the_api_service(&user).await?;
    ensure!(codes.iter().all(|code| *code == 403), "{codes:?}");
    create(&client, &binding).await?;
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let codes = through_the_api_service(&user).await?;
        if codes.iter().all(|code| *code == 503) {
            break;
        }
        ensure!(Instant::now() < end, "{codes:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // This access does not include a right to the objects.
    let models = json!({"group": "michelangelo.api", "resource": "models", "verb": "list", "namespace": "ml"});
    ensure!(!may(&client, "somebody", models).await?);
    Ok(())
}
