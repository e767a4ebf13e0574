//! Tests which objects callers see that were deleted or evicted before their namespace was created again, and the status of a restored
//! object.

use crate::access::AccessLogs;
use crate::caller::{Attributes, Caller, Verb};
use crate::former::FormerAccess;
use crate::identity::{Access, Identity, Peer, Rate, ReviewError, Reviewer};
use crate::metrics::Metrics;
use crate::places::RequestSlots;
use crate::restore::rights::RestoreRights;
use crate::service::{Service, Sources};
use crate::volume::WriteVolumes;
use axum::body::Body;
use crd_specs::KINDS;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use ingester_config::FormerObjects;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_declare::saved::SavedQueries;
use ingester_store::query::Limits;
use ingester_store::{RowChange, Store};
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// Lets all callers do everything except write a status.
pub(super) struct NoStatus(pub(super) Arc<Mutex<Vec<Attributes>>>);

impl Reviewer for NoStatus {
    fn token<'a>(&'a self, token: &'a str, _: &'a [String]) -> BoxFuture<'a, Result<Option<Caller>, ReviewError>> {
        Box::pin(async move { Ok(Some(Caller { user: token.to_owned(), ..Caller::default() })) })
    }

    fn access<'a>(&'a self, _: &'a Caller, what: &'a Attributes) -> BoxFuture<'a, Result<Access, ReviewError>> {
        self.0.lock().push(what.clone());
        let allowed = what.subresource != "status";
        Box::pin(async move { Ok(Access { allowed, reason: String::new() }) })
    }
}

/// A cluster that answers each request with this code and body, and accepts every new object.
pub(super) fn cluster(namespace: (u16, Json)) -> kube::Client {
    let service = tower::service_fn(move |request: Request<kube::client::Body>| {
        let (code, answer) = namespace.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let (code, answer) = match (&parts.method, parts.uri.path().starts_with("/api/v1/namespaces/")) {
                (_, true) => (code, answer),
                (&http::Method::POST, _) => {
                    let mut object: Json = serde_json::from_slice(&body).unwrap();
                    object["metadata"]["uid"] = json!("new");
                    (201, object)
                }
                _ => (404, json!({"kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound"})),
            };
            let response = Response::builder().status(code);
            Ok::<_, std::convert::Infallible>(
                response.body(kube::client::Body::from(answer.to_string().into_bytes())).unwrap(),
            )
        }
    });
    kube::Client::new(service, "default")
}

/// The namespace `ml`, created at this time.
pub(super) fn created(time: &str) -> (u16, Json) {
    let metadata = json!({"name": "ml", "creationTimestamp": time});
    (200, json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata}))
}

fn absent() -> (u16, Json) {
    (404, json!({"kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound", "message": "none"}))
}

/// A service with models from 2025, `live-old`, `evicted-old` and `deleted-old`, and from 2026, `live-new` and so on.
async fn service(former: FormerObjects, cluster: kube::Client) -> (Service, Arc<Mutex<Vec<Attributes>>>) {
    let store = Store::in_memory(KINDS).await.unwrap();
    let kind = find(KINDS, "michelangelo.api/v2", "Model").unwrap();
    for (age, year) in [("old", 2025), ("new", 2026)] {
        for state in ["live", "evicted", "deleted"] {
            let object = json!({
                "apiVersion": "michelangelo.api/v2", "kind": "Model",
                "metadata": {"namespace": "ml", "name": format!("{state}-{age}"), "uid": format!("{state}-{age}"),
                    "resourceVersion": "7", "creationTimestamp": format!("{year}-03-01T00:00:00Z")},
                "spec": {}, "status": {"state": "MODEL_STATE_READY"},
            });
            let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
            let row = kind.row(&object).unwrap().unwrap();
            let row = match state {
                "evicted" => Row { evict_time: Some(Micros(0)), evict_confirmed: true, ..row },
                "deleted" => Row { delete_time: Some(Micros(0)), ..row },
                _ => row,
            };
            store.write(kind.table(), vec![RowChange::Row(row)]).await.unwrap();
        }
    }
    let store = Arc::new(store);
    let metrics = Metrics::new().unwrap();
    let asked = Arc::default();
    let service = Service::new(Sources {
        kinds: KINDS,
        reads: store.clone(),
        writes: Some(store),
        cluster: Some(cluster.clone()),
        restores: RestoreRights::Server,
        identity: Identity::new(NoStatus(Arc::clone(&asked)), Vec::new(), Rate::default(), metrics),
        former: FormerAccess::new(former, Some(cluster)),
        saved: SavedQueries::parse(Vec::<(String, String)>::new(), KINDS).unwrap(),
        limits: Limits::default(),
        places: RequestSlots::new(200),
        volumes: WriteVolumes::new(0),
        watches: None,
        watchable: false,
    });
    (service, asked)
}

const MODELS: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";

/// Returns the code, the body and the warnings.
pub(super) async fn ask(service: &Service, method: &str, path: &str, body: &str) -> (u16, Json, Vec<String>) {
    let request = Request::builder().method(method).uri(path).header("authorization", "Bearer ada");
    let request = request
        .header("content-type", if method == "PATCH" { "application/merge-patch+json" } else { "application/json" });
    let peer = Peer::new(([127, 0, 0, 1], 1).into());
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let log = AccessLogs::new(Metrics::new().unwrap()).begin(request.method(), request.uri().path(), peer.address);
    let response = service.clone().answer(request, peer, log).await;
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter().map(|text| text.to_str().unwrap().to_owned()).collect();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap_or_default(), warnings)
}

async fn names(service: &Service, query: &str) -> (Vec<String>, Vec<String>) {
    let (code, list, warnings) = ask(service, "GET", &format!("{MODELS}?{query}"), "").await;
    assert_eq!(code, 200, "{list}");
    let name = |item: &Json| item["metadata"]["name"].as_str().unwrap().to_owned();
    let mut names: Vec<String> = list["items"].as_array().unwrap().iter().map(name).collect();
    names.sort();
    (names, warnings)
}

#[tokio::test]
async fn objects_older_than_their_namespace_are_hidden_from_every_request() {
    let client = cluster(created("2026-01-01T00:00:00Z"));
    let (service, _) = service(FormerObjects::OlderHidden, client).await;
    let (seen, warnings) = names(&service, "state=all").await;
    assert_eq!(seen, ["deleted-new", "evicted-new", "live-new", "live-old"]);
    assert!(
        warnings.len() == 1 && warnings[0].contains("before the namespace ml was created (2026-01-01T00:00:00Z)"),
        "{warnings:?}"
    );
    assert_eq!(names(&service, "state=deleted").await.0, ["deleted-new"]);
    assert_eq!(names(&service, "").await.0, ["evicted-new", "live-new", "live-old"]);
    assert_eq!(names(&service, "state=live").await, (vec!["live-new".into(), "live-old".into()], vec![]));
    let (_, list, _) = ask(&service, "GET", &format!("{MODELS}?state=all&limit=1&count=true"), "").await;
    assert_eq!(list["metadata"]["remainingItemCount"], 3);
    for old in ["evicted-old", "deleted-old"] {
        for (method, path, body) in [
            ("GET", format!("{MODELS}/{old}?state=all"), ""),
            ("GET", format!("{MODELS}/{old}?state=all&uid={old}"), ""),
            ("PATCH", format!("{MODELS}/{old}?uid={old}"), r#"{"metadata":{"labels":{"a":"b"}}}"#),
            ("DELETE", format!("{MODELS}/{old}"), ""),
            ("DELETE", format!("{MODELS}/{old}?uid={old}"), ""),
            ("POST", format!("{MODELS}/{old}/restore"), ""),
            ("POST", format!("{MODELS}/{old}/restore?uid={old}&dryRun=All"), ""),
        ] {
            let (code, status, _) = ask(&service, method, &path, body).await;
            assert_eq!((code, &status["reason"]), (404, &json!("NotFound")), "{method} {path}: {status}");
        }
    }
    assert_eq!(ask(&service, "DELETE", MODELS, "").await.0, 200);
    assert_eq!(
        names(&service, "state=deleted").await.0,
        ["deleted-new", "evicted-new"],
        "the old evicted one was not deleted"
    );
    // A caller who may read all namespaces is not a tenant.
    let (_, list, _) = ask(&service, "GET", "/apis/michelangelo.api/v2/models?state=all", "").await;
    assert_eq!(list["items"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn former_objects_of_a_namespace_that_is_not_there_are_hidden() {
    let client = cluster(absent());
    let (service, _) = service(FormerObjects::OlderHidden, client).await;
    let (seen, warnings) = names(&service, "state=all").await;
    assert_eq!(seen, ["live-new", "live-old"]);
    assert!(warnings.len() == 1 && warnings[0].contains("the namespace ml is not in the cluster"), "{warnings:?}");
    assert_eq!(ask(&service, "GET", &format!("{MODELS}/evicted-new"), "").await.0, 404);
}

#[tokio::test]
async fn without_the_age_of_the_namespace_nothing_is_shown() {
    for (code, expected) in [(500, 503), (403, 500)] {
        let status = json!({"kind": "Status", "status": "Failure", "code": code, "reason": "", "message": "no"});
        let client = cluster((code, status));
        let (service, _) = service(FormerObjects::OlderHidden, client).await;
        let (given, status, _) = ask(&service, "GET", MODELS, "").await;
        assert_eq!(given, expected, "{status}");
    }
}

#[tokio::test]
async fn where_former_objects_are_hidden_live_ones_alone_are_shown() {
    let (service, _) = service(FormerObjects::None, cluster(absent())).await;
    assert_eq!(names(&service, "").await, (vec!["live-new".into(), "live-old".into()], vec![]));
    let (seen, warnings) = names(&service, "state=deleted").await;
    assert!(seen.is_empty() && warnings[0].contains("live objects only"), "{seen:?} {warnings:?}");
    for (method, path) in [
        ("GET", "evicted-new"),
        ("DELETE", "evicted-new"),
        ("POST", "evicted-new/restore"),
        ("POST", "deleted-new/restore"),
    ] {
        assert_eq!(ask(&service, method, &format!("{MODELS}/{path}"), "").await.0, 404, "{method} {path}");
    }
    assert_eq!(ask(&service, "DELETE", MODELS, "").await.0, 400);
    let (_, list, _) = ask(&service, "GET", "/apis/michelangelo.api/v2/models?state=all", "").await;
    assert_eq!(list["items"].as_array().unwrap().len(), 2, "in all namespaces, too");
}

#[tokio::test]
async fn former_objects_are_shown_to_those_who_have_the_right_today() {
    let (service, _) = service(FormerObjects::Granted, cluster(absent())).await;
    assert_eq!(names(&service, "state=all").await.0.len(), 6);
}

#[tokio::test]
async fn a_name_that_is_not_found_leads_to_an_object_in_another_state() {
    let (granted, _) = service(FormerObjects::Granted, cluster(absent())).await;
    let not_found = async |service: &Service, path: &str| {
        let (code, status, _) = ask(service, "GET", &format!("{MODELS}/{path}"), "").await;
        assert_eq!(code, 404, "{path}: {status}");
        status["message"].as_str().unwrap().to_owned()
    };
    let said = not_found(&granted, "deleted-new").await;
    let expected = "models.michelangelo.api \"deleted-new\" not found; a deleted object of this name is in SQL: list it with the field \
                    selector metadata.name=deleted-new and the label selector mirror.michelangelo.api/state=deleted";
    assert_eq!(said, expected);
    assert!(not_found(&granted, "evicted-new?state=live").await.contains("an evicted object of this name"));
    for path in
        ["none", "deleted-new?state=evicted,live&uid=x", "deleted-new?labelSelector=a", "live-new?state=deleted&uid=x"]
    {
        assert!(!not_found(&granted, path).await.contains("is in SQL"), "{path}");
    }
    // Hints do not mention objects that may not be seen.
    let hidden = service(FormerObjects::None, cluster(absent())).await.0;
    let client = cluster(created("2026-01-01T00:00:00Z"));
    let older = service(FormerObjects::OlderHidden, client).await.0;
    for (service, path) in [(&hidden, "deleted-new"), (&hidden, "evicted-new"), (&older, "deleted-old")] {
        assert!(!not_found(service, path).await.contains("is in SQL"), "{path}");
    }
    assert!(not_found(&older, "deleted-new").await.contains("a deleted object"));
}

#[tokio::test]
async fn a_parameter_without_its_prefix_is_warned_about_where_nothing_is_found() {
    let (service, _) = service(FormerObjects::Granted, cluster(absent())).await;
    let (seen, warnings) = names(&service, "labelSelector=state%3Ddeleted").await;
    assert!(seen.is_empty() && warnings.len() == 1, "{warnings:?}");
    assert!(warnings[0].contains("the parameter of this name is mirror.michelangelo.api/state"), "{warnings:?}");
    let label = r#"{"metadata":{"labels":{"state":"deleted"}}}"#;
    assert_eq!(ask(&service, "PATCH", &format!("{MODELS}/evicted-new"), label).await.0, 200);
    assert_eq!(names(&service, "labelSelector=state%3Ddeleted").await, (vec!["evicted-new".into()], vec![]));
    assert!(names(&service, "labelSelector=team%3Da").await.1.is_empty());
}

#[tokio::test]
async fn a_restore_asks_whether_the_caller_may_write_the_status() {
    let (service, asked) = service(FormerObjects::Granted, cluster(absent())).await;
    let (code, object, warnings) = ask(&service, "POST", &format!("{MODELS}/evicted-new/restore?dryRun=All"), "").await;
    assert_eq!((code, &object["metadata"]["annotations"]["michelangelo/RestoredBy"]), (200, &json!("ada")), "{object}");
    assert!(object.get("status").is_none(), "{object}");
    let why = "its status is left out: models.michelangelo.api \\\"evicted-new\\\" is forbidden: User \\\"ada\\\" cannot patch resource \\\"models/status\\\"";
    assert!(warnings.len() == 1 && warnings[0].contains(why), "{warnings:?}");
    let asked = asked.lock();
    let last = asked.last().unwrap();
    assert_eq!((last.verb, last.subresource.as_str(), last.name.as_str()), (Verb::Patch, "status", "evicted-new"));
}
