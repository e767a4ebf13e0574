//! The same requests to a real API server and to ours, over the same objects: the same status, the same objects in the same order, the
//! same reasons of errors. Where they differ, docs/serving.md says so.

use crate::server::{Fate, Server};
use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::{Request, header};
use http_body_util::BodyExt as _;
use ingester_tests::{ApiServer, Edition, install, skipped_without_modern_apiserver};
use kube::Client;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The objects.
const MODELS: u64 = 500;

/// A request: a path with parameters, and the accepted types.
const REQUESTS: &[(&str, &str)] = &[
    // Discovery.
    ("/apis/michelangelo.api", ""),
    ("/apis/michelangelo.api/v2", ""),
    ("/apis/none.example", ""),
    ("/apis/michelangelo.api/v9", ""),
    ("/apis/michelangelo.api/v2", "text/html"),
    // Lists.
    ("/apis/michelangelo.api/v2/models", ""),
    ("/apis/michelangelo.api/v2/models/", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models", ""),
    ("/apis/michelangelo.api/v2/namespaces/lab/models", ""),
    ("/apis/michelangelo.api/v2/namespaces/none/models", ""),
    ("/apis/michelangelo.api/v2/projects", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models?limit=7", ""),
    ("/apis/michelangelo.api/v2/models?limit=499", ""),
    ("/apis/michelangelo.api/v2/models?limit=500", ""),
    ("/apis/michelangelo.api/v2/models?limit=0", ""),
    ("/apis/michelangelo.api/v2/models?limit=7&labelSelector=team%3Dpricing", ""),
    ("/apis/michelangelo.api/v2/models?limit=many", ""),
    ("/apis/michelangelo.api/v2/models?continue=none", ""),
    ("/apis/michelangelo.api/v2/models?resourceVersion=0", ""),
    ("/apis/michelangelo.api/v2/models?resourceVersion=1", ""),
    ("/apis/michelangelo.api/v2/models?resourceVersion=0&resourceVersionMatch=NotOlderThan", ""),
    ("/apis/michelangelo.api/v2/models?resourceVersion=0&resourceVersionMatch=Exact", ""),
    ("/apis/michelangelo.api/v2/models?resourceVersionMatch=NotOlderThan", ""),
    ("/apis/michelangelo.api/v2/models?resourceVersion=1&resourceVersionMatch=Newest", ""),
    ("/apis/michelangelo.api/v2/models?resourceVersion=x", ""),
    ("/apis/michelangelo.api/v2/models?pretty=true", ""),
    ("/apis/michelangelo.api/v2/models?timeoutSeconds=10", ""),
    // Selectors.
    ("/apis/michelangelo.api/v2/models?labelSelector=team", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=!team", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team%3Dpricing", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team%3D%3Dpricing", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team!%3Dpricing", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team%3D", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team+in+(pricing,web)", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team+notin+(pricing,web)", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=n%3E5", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=n%3C5,team", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team%3Dnobody", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team%3Dpricing,", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team%3Da+b", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=-team", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=team+in+pricing", ""),
    ("/apis/michelangelo.api/v2/models?labelSelector=n%3Efive", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=metadata.name%3Dm-0007", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=metadata.name!%3Dm-0007", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=metadata.namespace%3Dlab", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=metadata.namespace!%3Dlab,metadata.name!%3Dm-0008", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models?fieldSelector=metadata.name%3Dm-0001", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models?fieldSelector=metadata.namespace%3Dlab", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=spec.none%3Dx", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=metadata.labels%3Dx", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=x", ""),
    ("/apis/michelangelo.api/v2/models?fieldSelector=metadata.name%3D%3Dm-0007&labelSelector=team", ""),
    // Single objects.
    ("/apis/michelangelo.api/v2/namespaces/ml/models/m-0001", ""),
    ("/apis/michelangelo.api/v2/namespaces/lab/models/m-0001", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/none", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/none", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/m-0001?resourceVersion=0", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/m-0001?pretty=true", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/m-0001/none", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/m-0001/status/none", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/M%20x", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/cats", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml/cats/tom", ""),
    ("/apis/michelangelo.api/v2/cats", ""),
    ("/apis/michelangelo.api/v1/models", ""),
    ("/apis/none.example/v1/models", ""),
    ("/none", ""),
    // Forms.
    ("/apis/michelangelo.api/v2/models", "application/json"),
    ("/apis/michelangelo.api/v2/models", "*/*"),
    ("/apis/michelangelo.api/v2/models", "application/*"),
    ("/apis/michelangelo.api/v2/models", "text/html"),
    ("/apis/michelangelo.api/v2/models", "application/vnd.kubernetes.protobuf, application/json"),
    ("/apis/michelangelo.api/v2/models", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ("/apis/michelangelo.api/v2/models?limit=3", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ("/apis/michelangelo.api/v2/models?includeObject=None", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ("/apis/michelangelo.api/v2/models?includeObject=Object", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ("/apis/michelangelo.api/v2/models?includeObject=Some", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ("/apis/michelangelo.api/v2/models", "application/json;as=Table;g=meta.k8s.io;v=v9"),
    ("/apis/michelangelo.api/v2/models", "application/json;as=Table;g=meta.k8s.io;v=v9,application/json"),
    ("/apis/michelangelo.api/v2/models", "application/json;as=Chair;g=meta.k8s.io;v=v1"),
    ("/apis/michelangelo.api/v2/models", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
    (
        "/apis/michelangelo.api/v2/models?labelSelector=team%3Dpricing",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    ),
    (
        "/apis/michelangelo.api/v2/namespaces/ml/models/m-0001",
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/m-0001", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ("/apis/michelangelo.api/v2/namespaces/ml/models/m-0001", "text/html"),
    // Paths.
    ("/apis/michelangelo.api/v2/namespaces/ml/models/m-0001/", ""),
    ("/apis/michelangelo.api/v2/models/m-0001", ""),
    ("/apis/michelangelo.api/v2/namespaces/ml", ""),
    ("/apis/michelangelo.api/v2/namespaces", ""),
    ("/version", ""),
    ("/healthz", ""),
    ("/livez", ""),
    ("/readyz", ""),
    ("/openapi/v3", ""),
    ("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
    ("/api", ""),
    ("/apis", ""),
];

/// Where the two differ on purpose; docs/serving.md has the reasons.
const DIFFERENCES: &[&str] = &[
    // An unknown path is 404 in both, but ours answers with a `Status`, and not with text.
    "/apis/none.example",
    "/apis/michelangelo.api/v9",
    "/apis/michelangelo.api/v1/models",
    "/apis/none.example/v1/models",
    "/apis/michelangelo.api/v2/cats",
    "/apis/michelangelo.api/v2/namespaces/ml/cats",
    "/apis/michelangelo.api/v2/namespaces/ml/cats/tom",
    "/apis/michelangelo.api/v2/models/m-0001",
    "/apis/michelangelo.api/v2/namespaces/ml",
    "/apis/michelangelo.api/v2/namespaces",
    "/none",
    // It ignores what comes after a subresource.
    "/apis/michelangelo.api/v2/namespaces/ml/models/m-0001/status/none",
    // It has no core API, which every complete API server has.
    "/api",
];

/// The compared parts of an answer.
#[derive(Debug, PartialEq)]
struct ComparedAnswer {
    code: u16,
    reason: Json,
    kind: Json,
    /// `namespace/name` of each object, in order.
    objects: Vec<String>,
    more: bool,
    content: String,
}

async fn ask(client: &Client, path: &str, accept: &str) -> Result<ComparedAnswer> {
    let mut request = Request::get(path);
    if !accept.is_empty() {
        request = request.header(header::ACCEPT, accept);
    }
    let response = client.send(request.body(kube::client::Body::empty())?).await?;
    let code = response.status().as_u16();
    let content = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content = content.unwrap_or_default().split(';').next().unwrap_or_default().to_owned();
    let body = response.into_body().collect().await?.to_bytes();
    let json: Json = serde_json::from_slice(&body).unwrap_or_default();
    let is_discovery = json["kind"].as_str().is_some_and(|kind| kind.starts_with("API"));
    let items = if is_discovery { None } else { json["items"].as_array().or(json["rows"].as_array()) };
    let name = |item: &Json| {
        let metadata = if item["object"].is_object() { &item["object"]["metadata"] } else { &item["metadata"] };
        match metadata["name"].as_str() {
            Some(name) => format!("{}/{name}", metadata["namespace"].as_str().unwrap_or_default()),
            None => item["cells"][0].as_str().unwrap_or_default().to_owned(),
        }
    };
    Ok(ComparedAnswer {
        code,
        reason: json["reason"].clone(),
        kind: json["kind"].clone(),
        objects: items.map_or_else(|| vec![name(&json)], |items| items.iter().map(name).collect()),
        more: json["metadata"]["continue"].as_str().is_some_and(|token| !token.is_empty()),
        content,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_requests_are_answered_as_by_an_api_server() -> Result<()> {
    ensure!(REQUESTS.len() >= 100, "{}", REQUESTS.len());
    let Some(real) = ApiServer::start_edition(Edition::Modern)? else {
        skipped_without_modern_apiserver();
        return Ok(());
    };
    let client = real.client().await?;
    let crds: Vec<_> = crd_specs::KINDS.iter().filter_map(ingester_core::Kind::crd).collect();
    install(&client, &crds).await?;
    let objects = fill(&client).await?;
    let server = Server::start(&objects).await?;
    let ours = server.client()?;
    let mut different = BTreeMap::new();
    for (path, accept) in REQUESTS {
        let expected = ask(&client, path, accept).await.context(*path)?;
        let answered = ask(&ours, path, accept).await.context(*path)?;
        if expected != answered {
            let short = |answer: &ComparedAnswer| {
                let ComparedAnswer { code, reason, kind, objects, more, content } = answer;
                format!(
                    "{code} {reason} {kind} {} objects from {:?} more {more} {content}",
                    objects.len(),
                    objects.first()
                )
            };
            different.insert(format!("{path} {accept}"), format!("{} but {}", short(&expected), short(&answered)));
        }
    }
    let unexpected: Vec<_> = different.iter().filter(|(request, _)| !DIFFERENCES.contains(&request.trim())).collect();
    ensure!(unexpected.is_empty(), "{unexpected:#?}");
    let alike: Vec<_> =
        DIFFERENCES.iter().filter(|request| !different.keys().any(|key| key.trim() == **request)).collect();
    ensure!(alike.is_empty(), "no difference any more: {alike:#?}");
    Ok(())
}

/// Creates the models, and returns all of them as the API server has them.
async fn fill(client: &Client) -> Result<Vec<(Json, Fate)>> {
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("michelangelo.api", "v2", "Model"), "models");
    let teams = [None, Some("pricing"), Some("web"), Some(""), Some("Pricing")];
    let made = stream::iter(0..MODELS).map(|n| {
        let namespace = if n % 3 == 0 { "lab" } else { "ml" };
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &kind);
        let mut object = DynamicObject::new(&format!("m-{n:04}"), &kind).data(json!({"spec": {"algorithm": "x"}}));
        let labels = object.metadata.labels.get_or_insert_default();
        labels.insert("n".into(), (n % 11).to_string());
        if let Some(team) = teams[usize::try_from(n).unwrap() % teams.len()] {
            labels.insert("team".into(), team.into());
        }
        async move { api.create(&PostParams::default(), &object).await }
    });
    made.buffer_unordered(16).try_collect::<Vec<_>>().await?;
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
    let listed = all.list(&Default::default()).await?;
    listed.items.into_iter().map(|object| Ok((serde_json::to_value(object)?, Fate::Live))).collect()
}
