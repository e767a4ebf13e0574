//! The answers to callers, over a database in memory.

mod counts;
mod former;
mod history;
mod own;
mod restores;
mod units;
mod watching;

use super::{Service, Sources};
use crate::access::AccessLogs;
use crate::caller::{Attributes, Caller, Verb};
use crate::former::FormerAccess;
use crate::identity::{Access, Identity, Peer, Rate, ReviewError, Reviewer};
use crate::metrics::Metrics;
use crate::places::RequestSlots;
use crate::read::Log;
use crate::restore::rights::RestoreRights;
use crate::volume::WriteVolumes;
use crate::watch::{Hub, WatchLimits};
use axum::body::Body;
use crd_specs::KINDS;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use ingester_config::FormerObjects;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_declare::saved::SavedQueries;
use ingester_store::query::Limits;
use ingester_store::{RowChange, Store};
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReviewSpec;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// An API server that knows the tokens `ada`, `eve`, `bob` and `zoe`. Ada may do everything with models in the namespace `ml`, Eve may get the model
/// `a` there, Bob may create models there, and Zoe may list models, units and policies
/// everywhere.
struct Cluster;

impl Reviewer for Cluster {
    fn token<'a>(&'a self, token: &'a str, _: &'a [String]) -> BoxFuture<'a, Result<Option<Caller>, ReviewError>> {
        let known = matches!(token, "ada" | "eve" | "bob" | "zoe");
        let caller = known.then(|| Caller { user: token.to_owned(), ..Caller::default() });
        Box::pin(async move { Ok(caller) })
    }

    fn access<'a>(&'a self, caller: &'a Caller, what: &'a Attributes) -> BoxFuture<'a, Result<Access, ReviewError>> {
        let of_models = what.group == "michelangelo.api" && what.resource == "models" && what.namespace == "ml";
        let reads = matches!(what.verb, Verb::Get | Verb::List);
        let allowed = match caller.user.as_str() {
            "ada" => of_models,
            "bob" => of_models && what.verb == Verb::Create,
            "zoe" => matches!(what.resource.as_str(), "models" | "units" | "policies") && what.verb == Verb::List,
            _ => of_models && reads && what.name == "a",
        };
        Box::pin(async move { Ok(Access { allowed, reason: String::new() }) })
    }

    fn own_access<'a>(
        &'a self,
        caller: &'a Caller,
        question: &'a SelfSubjectAccessReviewSpec,
    ) -> BoxFuture<'a, Result<Access, ReviewError>> {
        let resource = question.resource_attributes.clone().unwrap_or_default();
        let of_models = resource.resource.as_deref() == Some("models") && resource.namespace.as_deref() == Some("ml");
        let allowed = caller.user == "ada" && of_models;
        let reason = "RBAC".to_owned();
        Box::pin(async move { Ok(Access { allowed, reason }) })
    }
}

/// Queries for the first two models, for the newest one, for deleted ones, and for the models of a namespace.
fn saved() -> SavedQueries {
    let files = [
        ("first-two", "name: first-two\nkind: Model\nlimit: 2"),
        ("newest", "name: newest\nkind: Model\norderBy: -create_time\nlimit: 1"),
        ("gone", "name: gone\nkind: Model\nstates: deleted"),
        ("of-lab", "name: of-lab\nkind: Model\nnamespaces: [lab]"),
        (
            "named",
            "name: named\nkind: Model\ndescription: Models of some names.\nparameters:\n\
             - {name: names, type: list, description: Their names.}\n- {name: after, type: time, default: 7d}\n\
             filter: {any: [{field: metadata.name, in: \"${names}\"}, {field: create_time, greater: \"${after}\"}]}",
        ),
    ];
    SavedQueries::parse(files.map(|(name, text)| (name.to_owned(), text.to_owned())), KINDS).unwrap()
}

/// Models `a` to `c` in the namespaces `ml` and `lab`.
async fn service() -> Service {
    service_with(false).await
}

/// Does the same, with or without watches.
async fn service_with(watches: bool) -> Service {
    service_of(Store::in_memory(KINDS).await.unwrap(), FormerObjects::Granted, watches).await
}

/// Does the same with this store and a rule for former objects.
async fn service_of(store: Store, former: FormerObjects, watches: bool) -> Service {
    let kind = find(KINDS, "michelangelo.api/v2", "Model").unwrap();
    for (namespace, name) in
        ["ml", "lab"].into_iter().flat_map(|namespace| ["a", "b", "c"].map(|name| (namespace, name)))
    {
        let object = json!({
            "apiVersion": "michelangelo.api/v2", "kind": "Model",
            "metadata": {"namespace": namespace, "name": name, "uid": format!("{namespace}-{name}"), "resourceVersion": "7"},
            "spec": {"algorithm": "secret"},
        });
        let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
        let row = kind.row(&object).unwrap().unwrap();
        store.write(kind.table(), vec![RowChange::Row(row)]).await.unwrap();
    }
    over(store, former, watches)
}

/// A service of all kinds over this database, with a rule for former objects.
fn over(store: Store, former: FormerObjects, watches: bool) -> Service {
    Service::new(sources(store, former, watches))
}

fn sources(store: Store, former: FormerObjects, watches: bool) -> Sources {
    let store = Arc::new(store);
    let metrics = Metrics::new().unwrap();
    let log = Log::new(store.clone(), store.clone());
    Sources {
        kinds: KINDS,
        reads: store.clone(),
        writes: Some(store),
        cluster: None,
        restores: RestoreRights::Server,
        identity: Identity::new(Cluster, Vec::new(), Rate::default(), metrics.clone()),
        former: FormerAccess::new(former, None),
        saved: saved(),
        limits: Limits::default(),
        places: RequestSlots::new(200),
        volumes: WriteVolumes::new(0),
        watches: watches.then(|| Hub::new(log, WatchLimits::default(), metrics)),
        watchable: watches,
    }
}

async fn answer(service: &Service, request: Request<Body>) -> Response<Body> {
    let peer = Peer::new(([127, 0, 0, 1], 1).into());
    let logs = AccessLogs::new(Metrics::new().unwrap());
    let log = logs.begin(request.method(), request.uri().path(), peer.address);
    service.clone().answer(request, peer, log).await
}

/// The status and the body.
async fn ask(service: &Service, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, Json) {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = answer(service, request.body(Body::empty()).unwrap()).await;
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

const MODELS: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";

#[tokio::test]
async fn unauthenticated_callers_read_nothing() {
    let service = service().await;
    let forged = [
        &[][..],
        &[("authorization", "Bearer none")],
        &[("authorization", "Bearer ")],
        &[("authorization", "Basic YWRhOmFkYQ==")],
        &[("x-remote-user", "ada")],
        &[("x-remote-user", "ada"), ("x-remote-group", "system:masters")],
    ];
    for path in [
        MODELS,
        "/apis/michelangelo.api/v2/namespaces/ml/models/a",
        "/",
        "/apis",
        "/api",
        "/openapi/v2",
        "/openapi/v3",
        "/none",
        "/apis/mirror.michelangelo.api/v1/queries",
        "/apis/mirror.michelangelo.api/v1/parameters",
        "/apis/mirror.michelangelo.api/v1/counts",
        "/apis/mirror.michelangelo.api/v1/counts/models.michelangelo.api",
        "/apis/mirror.michelangelo.api/v1/rejects",
        "/apis/mirror.michelangelo.api/v1/units",
        "/apis/mirror.michelangelo.api/v1/policies",
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "/api/v1/namespaces",
        "/api/v1/namespaces/ml",
        "/api/v1/namespaces/ml/events",
        "//",
        "/apis/michelangelo.api/v2/namespaces/ml/%2e%2e/models",
    ] {
        for headers in forged {
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"] {
                let (code, body) = ask(&service, method, path, headers).await;
                assert_eq!(code, 401, "{method} {path} {headers:?}");
                assert!(!body.to_string().contains("secret"), "{body}");
            }
        }
    }
    for open in ["/healthz", "/livez", "/readyz", "/version"] {
        assert_eq!(ask(&service, "GET", open, &[]).await.0, 200, "{open}");
    }
}

#[tokio::test]
async fn users_read_what_they_may_read_in_the_cluster() {
    let service = service().await;
    let ada = [("authorization", "Bearer ada")];
    let eve = [("authorization", "Bearer eve")];
    let names = |list: &Json| {
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let (code, list) = ask(&service, "GET", MODELS, &ada).await;
    assert_eq!((code, names(&list)), (200, vec!["a".into(), "b".into(), "c".into()]));
    let everywhere = "/apis/michelangelo.api/v2/models";
    let (code, status) = ask(&service, "GET", everywhere, &ada).await;
    assert_eq!(code, 403, "that is all namespaces");
    let expected = "models.michelangelo.api is forbidden: User \"ada\" cannot list resource \"models\" in API group \"michelangelo.api\" at the cluster scope";
    assert_eq!((&status["message"], &status["reason"]), (&json!(expected), &json!("Forbidden")));
    for path in [
        "/apis/michelangelo.api/v2/namespaces/lab/models",
        "/apis/michelangelo.api/v2/namespaces/lab/models/a",
        "/apis/michelangelo.api/v2/namespaces/ml/projects",
    ] {
        assert_eq!(ask(&service, "GET", path, &ada).await.0, 403, "{path}");
    }
    // A caller who may read certain names may list just these.
    assert_eq!(ask(&service, "GET", &format!("{MODELS}/a"), &eve).await.0, 200);
    assert_eq!(ask(&service, "GET", &format!("{MODELS}/b"), &eve).await.0, 403);
    assert_eq!(ask(&service, "GET", MODELS, &eve).await.0, 403);
    let (code, list) = ask(&service, "GET", &format!("{MODELS}?fieldSelector=metadata.name%3Da"), &eve).await;
    assert_eq!((code, names(&list)), (200, vec!["a".into()]));
    for selector in ["metadata.name!%3Da", "metadata.name%3Db", "metadata.name+in+(a)", "metadata.uid%3Da", ""] {
        assert_eq!(
            ask(&service, "GET", &format!("{MODELS}?fieldSelector={selector}"), &eve).await.0,
            403,
            "{selector}"
        );
    }
    let (code, list) = ask(&service, "GET", &format!("{MODELS}?fieldSelector=metadata.name+in+(a,x)"), &ada).await;
    assert_eq!((code, names(&list)), (200, vec!["a".into()]));
    // Two different names do not count as one.
    let both = format!("{MODELS}?fieldSelector=metadata.name%3Db&fieldSelector=metadata.name%3Da");
    let (code, list) = ask(&service, "GET", &both, &eve).await;
    assert!(code == 403 || names(&list).is_empty(), "{code} {list}");
    for method in ["PUT", "PATCH", "DELETE"] {
        assert_eq!(ask(&service, method, &format!("{MODELS}/a"), &eve).await.0, 403, "{method}");
    }
    assert_eq!(ask(&service, "DELETE", MODELS, &eve).await.0, 403);
    assert_eq!(ask(&service, "POST", &format!("{MODELS}/a/restore"), &eve).await.0, 403);
    // Restoring shows the object and marks its row as deleted, so it needs more than the right to create.
    let bob = [("authorization", "Bearer bob")];
    for path in [format!("{MODELS}/a/restore"), format!("{MODELS}/a/restore?dryRun=All")] {
        assert_eq!(ask(&service, "POST", &path, &bob).await.0, 403, "{path}");
        assert_eq!(ask(&service, "POST", &path, &ada).await.0, 503, "{path}: there is no cluster");
    }
    assert_eq!(ask(&service, "GET", "/apis", &eve).await.0, 200, "discovery is for all who are known");
}

#[tokio::test]
async fn mistakes_in_parameters_are_told_only_to_callers_with_the_right() {
    let service = service().await;
    for (method, path) in [
        ("GET", format!("{MODELS}?limit=many")),
        ("GET", format!("{MODELS}?query=none")),
        ("GET", format!("{MODELS}?resourceVersion=x&watch=true")),
        ("GET", format!("{MODELS}?version=1")),
        ("GET", format!("{MODELS}/b?at=tuesday")),
        ("GET", format!("{MODELS}/b/history?version=x")),
        ("DELETE", format!("{MODELS}?limit=1")),
        ("POST", format!("{MODELS}/b/restore?version=x")),
    ] {
        let code = async |user: &str| ask(&service, method, &path, &[("authorization", user)]).await.0;
        assert_eq!(code("Bearer eve").await, 403, "{method} {path}");
        assert_eq!(code("Bearer ada").await, 400, "{method} {path}");
    }
}

#[tokio::test]
async fn without_a_place_no_right_is_checked() {
    let store = Store::in_memory(KINDS).await.unwrap();
    let places = RequestSlots::new(0);
    let service = Service::new(Sources { places, ..sources(store, FormerObjects::Granted, false) });
    let eve = [("authorization", "Bearer eve")];
    for (path, code) in [
        (MODELS.to_owned(), 429),
        (format!("{MODELS}?limit=many"), 429),
        (format!("{MODELS}/b/history"), 429),
        ("/api/v1/namespaces".to_owned(), 429),
        ("/apis/mirror.michelangelo.api/v1/units".to_owned(), 429),
        (format!("{MODELS}/a/logs"), 404),
        ("/apis/mirror.michelangelo.api/v1/queries".to_owned(), 200),
    ] {
        assert_eq!(ask(&service, "GET", &path, &eve).await.0, code, "{path}");
    }
}

#[tokio::test]
async fn requests_that_mean_nothing_are_refused() {
    let service = service().await;
    let ada = [("authorization", "Bearer ada")];
    for (method, path, code) in [
        ("GET", "/none", 404),
        ("POST", "/api/v1/namespaces", 405),
        ("GET", "/api/v2/namespaces/ml", 404),
        ("GET", "/apis/authentication.k8s.io/v1/selfsubjectreviews", 405),
        ("PUT", "/apis/michelangelo.api/v2/namespaces/ml/models/a/status", 405),
        ("GET", "/apis/michelangelo.api/v2/namespaces/ml/cats", 404),
        ("GET", "/apis/michelangelo.api/v2/models/a", 404),
        ("GET", "/apis/michelangelo.api/v2/namespaces/ml/models/a/logs", 404),
        ("GET", "/apis/michelangelo.api/v2/namespaces/ml/models/a/restore", 405),
        ("POST", MODELS, 405),
        ("POST", "/apis", 405),
        ("OPTIONS", MODELS, 405),
        ("GET", "/apis/michelangelo.api/v2/namespaces/ml%2Flab/models", 404),
        ("GET", "/apis/michelangelo.api/v2/namespaces/lab/../ml/models", 404),
    ] {
        let (given, status) = ask(&service, method, path, &ada).await;
        assert_eq!((given, &status["kind"]), (code, &json!("Status")), "{method} {path}");
    }
    assert_eq!(ask(&service, "GET", MODELS, &[ada[0], ("accept", "text/html")]).await.0, 406);
    assert_eq!(ask(&service, "GET", &format!("{MODELS}?query=none"), &ada).await.0, 400);
}

#[tokio::test]
async fn fields_that_are_skipped_are_in_no_form_of_an_answer() {
    const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let service = service().await;
    // `{"returnedFieldSkipList": ["metadata.uid", "spec.algorithm"]}`
    let skip = "listOptionsExt=%7B%22returnedFieldSkipList%22:%5B%22metadata.uid%22,%22spec.algorithm%22%5D%7D";
    for (accept, include, objects) in [
        ("application/json", "", "/items/0"),
        ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "", "/items/0"),
        (TABLE, "&includeObject=Metadata", "/rows/0/object"),
        (TABLE, "&includeObject=Object", "/rows/0/object"),
    ] {
        let headers = [("authorization", "Bearer ada"), ("accept", accept)];
        let shown = async |query: &str| {
            let (code, list) = ask(&service, "GET", &format!("{MODELS}?{query}{include}"), &headers).await;
            let object = list.pointer(objects).cloned().unwrap_or_default();
            assert!(code == 200 && object["metadata"]["name"] == "a", "{accept} {include}: {code} {list}");
            (object["metadata"]["uid"].is_string(), object["spec"]["algorithm"].is_string())
        };
        let has_spec = !accept.contains("Partial") && !include.contains("Metadata");
        assert_eq!(shown("").await, (true, has_spec), "{accept} {include}");
        assert_eq!(shown(skip).await, (false, false), "{accept} {include}");
    }
}

#[tokio::test]
async fn a_saved_query_with_a_limit_has_no_more_pages() {
    let service = service().await;
    let ada = [("authorization", "Bearer ada")];
    let asked = async |query: &str| {
        let (code, list) = ask(&service, "GET", &format!("{MODELS}?{query}"), &ada).await;
        assert_eq!(code, 200, "{query}: {list}");
        (list["items"].as_array().unwrap().len(), list["metadata"]["continue"].as_str().map(str::to_owned))
    };
    assert_eq!(asked("query=first-two").await, (2, None));
    // As kubectl asks.
    assert_eq!(asked("labelSelector=mirror.michelangelo.api/query%3Dfirst-two&limit=500").await, (2, None));
    assert_eq!(asked("query=first-two&count=true").await, (2, None));
    let (items, next) = asked("query=first-two&limit=1").await;
    let next = next.unwrap();
    assert_eq!(
        (items, asked(&format!("query=first-two&limit=1&continue={next}")).await),
        (1, (1, None)),
        "of two pages"
    );
    // As kubectl does with its own pages.
    let two = "labelSelector=mirror.michelangelo.api/limit%3D2";
    assert_eq!(asked(&format!("{two}&limit=500")).await, (2, None));
    let (items, next) = asked(&format!("{two}&limit=1")).await;
    assert_eq!((items, asked(&format!("{two}&limit=1&continue={}", next.unwrap())).await), (1, (1, None)));
    assert_eq!(asked(&format!("{two}&continue=2.x")).await, (0, None), "nothing comes after the end");
    assert_eq!(asked("query=newest").await, (1, None));
    assert!(asked("limit=2").await.1.is_some());
}

#[tokio::test]
async fn a_deletion_of_less_than_a_collection_is_refused() {
    let service = service().await;
    let ada = [("authorization", "Bearer ada")];
    for (less, why) in [
        ("limit=1", "a limit"),
        ("continue=x", "pages"),
        ("query=newest", "a limit"),
        ("listOptionsExt=%7B%22pagination%22:%7B%22offset%22:1%7D%7D", "pages"),
        ("state=deleted", "`state` leaves them out"),
        ("state=live", "`state` leaves them out"),
        ("deleted-after=1d", "`state` leaves them out"),
        ("query=gone", "`state` leaves them out"),
    ] {
        let (code, status) = ask(&service, "DELETE", &format!("{MODELS}?{less}"), &ada).await;
        let message = status["message"].as_str().unwrap();
        assert!(code == 400 && message.contains(why), "{less}: {code} {message}");
    }
    for all in ["", "labelSelector=a%3Db", "state=evicted", "state=all"] {
        assert_eq!(ask(&service, "DELETE", &format!("{MODELS}?{all}"), &ada).await.0, 200, "{all}");
    }
}

#[tokio::test]
async fn a_field_without_a_column_is_refused_in_words_of_the_request() {
    let service = service().await;
    let ada = [("authorization", "Bearer ada")];
    for (wrong, remedy) in [
        ("fieldSelector=spec.none%3Dx", "scan=true"),
        ("fieldSelector=metadata.annotations.note%3Dx", "scan=true"),
        ("order-by=none", "`none`"),
        ("fieldSelector=spec.a.nonsense%3Dx", "scan=true"),
        ("fieldSelector=metadata.name%3D'a'", "write it without them, `a`"),
        ("fieldSelector=metadata.name+in+(a", "expected `)`"),
    ] {
        for method in ["GET", "DELETE"] {
            let (code, status) = ask(&service, method, &format!("{MODELS}?{wrong}"), &ada).await;
            let message = status["message"].as_str().unwrap();
            assert!(code == 400 && message.contains(remedy), "{method} {wrong}: {code} {message}");
            for of_the_program in ["--", "#[", "ingester"] {
                assert!(!message.contains(of_the_program), "{method} {wrong}: {message}");
            }
        }
    }
}

#[tokio::test]
async fn a_table_that_is_not_there_has_a_remedy() {
    let others: Vec<_> = KINDS.iter().filter(|kind| kind.kind() != "Model").copied().collect();
    let service = over(Store::in_memory(&others).await.unwrap(), FormerObjects::Granted, false);
    for path in [MODELS.to_owned(), format!("{MODELS}/a"), format!("{MODELS}?limit=2")] {
        let (code, status) = ask(&service, "GET", &path, &[("authorization", "Bearer ada")]).await;
        let message = status["message"].as_str().unwrap_or_default();
        assert!(code == 503 && message.contains("`ingester schema apply`"), "{path}: {code} {status}");
    }
}

#[tokio::test]
async fn events_are_none_and_are_asked_for_elsewhere() {
    let service = service().await;
    let ada = [("authorization", "Bearer ada")];
    let events = "/api/v1/namespaces/ml/events";
    let request = Request::get(events).header("authorization", "Bearer ada");
    let answered = answer(&service, request.body(Body::empty()).unwrap()).await;
    assert!(answered.headers()["warning"].to_str().unwrap().contains("ask the cluster's API server"));
    let (code, list) = ask(&service, "GET", &format!("{events}?fieldSelector=involvedObject.name%3Da"), &ada).await;
    assert_eq!((code, &list["kind"], &list["items"]), (200, &json!("EventList"), &json!([])));
    for (method, path, expected) in [
        ("GET", "/api/v1/events".to_owned(), 200),
        ("GET", format!("{events}/a"), 404),
        ("GET", format!("{events}?watch=true"), 405),
        ("POST", events.to_owned(), 405),
    ] {
        assert_eq!(ask(&service, method, &path, &ada).await.0, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn aggregated_discovery_is_not_sent_twice() {
    let service = service().await;
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let request = |etag: Option<String>| {
        let mut request = Request::get("/apis").header("accept", accept).header("authorization", "Bearer ada");
        if let Some(etag) = etag {
            request = request.header("if-none-match", etag);
        }
        answer(&service, request.body(Body::empty()).unwrap())
    };
    let first = request(None).await;
    assert_eq!((first.status(), first.headers()["content-type"].to_str().unwrap()), (StatusCode::OK, accept));
    let etag = first.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(request(Some(etag)).await.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(request(Some("\"other\"".into())).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn warnings_are_headers_and_large_answers_are_compressed() {
    let service = service().await;
    let listed = |path: &str| {
        let request = Request::get(path).header("authorization", "Bearer ada").header("accept-encoding", "gzip");
        answer(&service, request.body(Body::empty()).unwrap())
    };
    for path in [MODELS.to_owned(), format!("{MODELS}?limit=2")] {
        let response = listed(&path).await;
        assert_eq!(response.headers()["content-encoding"], "gzip");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        // A complete answer ends with its length before compression.
        let length = u32::from_le_bytes(*body.last_chunk().unwrap());
        assert!(length > 500, "{path}: {length}");
    }
    let request = Request::get(format!("{MODELS}?orderby=%22x%22%0A"))
        .header("authorization", "Bearer ada")
        .header("accept-encoding", "gzip");
    let response = answer(&service, request.body(Body::empty()).unwrap()).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let warning = response.headers()["warning"].to_str().unwrap();
    assert_eq!(warning, "299 - \"unknown parameter `orderby` is ignored, did you mean `order-by`?\"");
}

#[tokio::test]
async fn a_saved_query_and_a_request_find_what_both_ask_for() {
    let service = service().await;
    let ada = [("authorization", "Bearer ada")];
    let asked = async |query: &str| {
        let (code, answer) = ask(&service, "GET", &format!("{MODELS}?{query}"), &ada).await;
        let names = answer["items"].as_array().into_iter().flatten();
        let names: Vec<&str> = names.map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
        (code, if code == 200 { names.join(" ") } else { answer["message"].as_str().unwrap().to_owned() })
    };
    assert_eq!(asked("query=first-two&fieldSelector=metadata.name!%3Da").await, (200, "b c".into()));
    for (query, said) in [
        (
            "query=gone&state=live",
            "the query `gone`: state: no object passes both this and `states` of the saved query",
        ),
        (
            "query=of-lab",
            "the query `of-lab`: the namespace: no object passes both this and `namespaces` of the saved query",
        ),
    ] {
        assert_eq!(asked(query).await, (400, format!("{said}: leave one of them out")));
    }
}
