//! The answers to callers about the past, and the rules that hide it.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use super::former::{NoStatus, ask, cluster, created};
use crate::caller::{Attributes, Verb};
use crate::former::FormerAccess;
use crate::identity::{Identity, Rate};
use crate::metrics::Metrics;
use crate::places::RequestSlots;
use crate::restore::rights::RestoreRights;
use crate::service::{Service, Sources};
use crate::volume::WriteVolumes;
use ingester_config::FormerObjects;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::{Ingestable, Kind};
use ingester_declare::saved::SavedQueries;
use ingester_store::query::Limits;
use ingester_store::{RowChange, Store};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::sync::Arc;

#[derive(Ingestable, Deserialize, Serialize, Clone, Debug)]
#[ingest(group = "example.com", version = "v1", kind = "Run", plural = "runs", namespaced, history = "forever")]
pub struct Run {
    #[index(path = "phase", column = "phase")]
    pub status: Status,
}

#[derive(Deserialize, Serialize, Clone, Debug, Default)]
#[serde(default)]
pub struct Status {
    pub phase: Option<String>,
}

static KINDS: [Kind; 1] = [Kind::of::<Run>()];

const RUNS: &str = "/apis/example.com/v1/namespaces/ml/runs";

/// Returns the access by this rule, without a cluster.
fn access(rule: FormerObjects) -> FormerAccess {
    FormerAccess::new(rule, None)
}

/// A service with runs: `nightly` in the versions 1 to 3 and, after it was created again, in 4 and 5, and `weekly`.
async fn service(former: FormerAccess) -> Service {
    service_in(Store::in_memory(&KINDS).await.unwrap(), former, Arc::default()).await
}

/// Does the same in this store, with an API server that records the questions about rights.
async fn service_in(store: Store, former: FormerAccess, asked: Arc<Mutex<Vec<Attributes>>>) -> Service {
    let kind = &KINDS[0];
    for (name, uid, version, phase) in [
        ("nightly", "u1", 1, "Pending"),
        ("nightly", "u1", 2, "Running"),
        ("nightly", "u1", 3, "Failed"),
        ("nightly", "u2", 4, "Pending"),
        ("nightly", "u2", 5, "Running"),
        ("weekly", "u3", 6, "Pending"),
    ] {
        let object = json!({
            "apiVersion": "example.com/v1", "kind": "Run",
            "metadata": {"namespace": "ml", "name": name, "uid": uid, "resourceVersion": version.to_string(),
                "creationTimestamp": format!("{}-03-01T00:00:00Z", if uid == "u1" { 2025 } else { 2026 })},
            "status": {"phase": phase},
        });
        let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
        let row = kind.row(&object).unwrap().unwrap();
        assert_eq!(store.write(kind.table(), vec![RowChange::Row(row)]).await.unwrap().written, 1);
    }
    let store = Arc::new(store);
    let metrics = Metrics::new().unwrap();
    Service::new(Sources {
        kinds: &KINDS,
        reads: store.clone(),
        writes: Some(store),
        cluster: Some(cluster((404, Json::Null))),
        restores: RestoreRights::Server,
        identity: Identity::new(NoStatus(asked), Vec::new(), Rate::default(), metrics),
        former,
        saved: SavedQueries::parse(Vec::<(String, String)>::new(), &KINDS).unwrap(),
        limits: Limits::default(),
        places: RequestSlots::new(200),
        volumes: WriteVolumes::new(0),
        watches: None,
        watchable: false,
    })
}

async fn get(service: &Service, path: &str) -> (u16, Json) {
    let (code, body, _) = ask(service, "GET", path, "").await;
    (code, body)
}

/// Returns `resourceVersion change changed` of each item.
fn told(list: &Json) -> Vec<String> {
    let told = |item: &Json| {
        let metadata = &item["metadata"];
        let of =
            |name: &str| metadata["annotations"][format!("mirror.michelangelo.api/{name}")].as_str().unwrap_or("-");
        format!("{} {} {}", metadata["resourceVersion"].as_str().unwrap(), of("change"), of("changed"))
    };
    list["items"].as_array().unwrap().iter().map(told).collect()
}

#[tokio::test]
async fn the_history_of_a_name_is_a_list_in_pages_and_one_version_of_it_an_object() {
    let service = service(access(FormerObjects::Granted)).await;
    let (code, list) = get(&service, &format!("{RUNS}/nightly/history")).await;
    assert_eq!((code, &list["kind"]), (200, &json!("RunList")), "{list}");
    let both = ".metadata.resourceVersion, .status.phase";
    // All versions of the present object; the previous object is on the next page.
    assert_eq!(told(&list), [format!("5 updated {both}"), "4 - -".to_owned()]);
    let mut all = Vec::new();
    let mut token = String::new();
    loop {
        let (code, page) = get(&service, &format!("{RUNS}/nightly/history?limit=1&continue={token}")).await;
        assert_eq!(code, 200, "{page}");
        all.extend(told(&page));
        match page["metadata"]["continue"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    let updated = |version: u32| format!("{version} updated {both}");
    assert_eq!(all, [updated(5), "4 - -".to_owned(), updated(3), updated(2), "1 - -".to_owned()]);

    let (code, one) = get(&service, &format!("{RUNS}/nightly/history?version=2")).await;
    let annotations = &one["metadata"]["annotations"];
    assert_eq!((code, &one["status"]["phase"]), (200, &json!("Running")), "{one}");
    for (name, value) in [("change", "updated"), ("changed", both)] {
        assert_eq!(annotations[format!("mirror.michelangelo.api/{name}")], value, "{one}");
    }
    assert!(annotations["mirror.michelangelo.api/valid-to"].is_string(), "{one}");
    for (path, code, part) in [
        ("/nightly/history?version=9", 404, "the object has no version with the resourceVersion 9"),
        ("/nightly/history?version=x", 400, "version: expected the resourceVersion"),
        ("/nightly/history?at=1h", 400, "`at` works for objects and lists"),
        ("/nightly/history?continue=x", 400, "continue"),
        ("/monthly/history", 404, "\"monthly\" not found"),
        ("/nightly?version=2", 400, "NAME/history"),
        ("?watch=true&at=1h", 400, "`at` works for objects and lists"),
        ("?at=in%201h", 400, "is in the future"),
        ("/nightly?at=2999-01-01", 400, "2999-01-01T00:00:00Z is in the future"),
    ] {
        let (found, body) = get(&service, &format!("{RUNS}{path}")).await;
        assert!(found == code && body["message"].as_str().unwrap_or_default().contains(part), "{path}: {found} {body}");
    }
    assert_eq!(ask(&service, "DELETE", &format!("{RUNS}?at=1h"), "").await.0, 400);
    let (_, discovery) = get(&service, "/apis/example.com/v1").await;
    let names: Vec<&Json> =
        discovery["resources"].as_array().unwrap().iter().map(|resource| &resource["name"]).collect();
    assert!(names.contains(&&json!("runs/history")), "{discovery}");
}

#[tokio::test]
async fn objects_and_lists_are_answered_as_they_were_at_a_moment() {
    let service = service(access(FormerObjects::Granted)).await;
    let (_, second) = get(&service, &format!("{RUNS}/nightly/history?version=2")).await;
    let at = second["metadata"]["annotations"]["mirror.michelangelo.api/valid-from"].as_str().unwrap().to_owned();
    let (code, object) = get(&service, &format!("{RUNS}/nightly?at={at}")).await;
    assert_eq!((code, &object["status"]["phase"]), (200, &json!("Running")), "{object}");
    for query in [format!("at={at}"), format!("labelSelector=mirror.michelangelo.api/at%3D{at}")] {
        let (code, list) = get(&service, &format!("{RUNS}?{query}")).await;
        assert_eq!((code, told(&list)), (200, vec!["2 - -".to_owned()]), "{list}");
    }
    // All pages show the same moment, whatever the clock says.
    let (_, first) = get(&service, &format!("{RUNS}?at=0s&limit=1&state=all")).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    assert!(token.starts_with('@'), "{token}");
    let (code, next) = get(&service, &format!("{RUNS}?at=0s&limit=1&state=all&continue={token}")).await;
    assert_eq!((code, told(&next).len()), (200, 1), "{next}");
    // According to its own timestamp, it existed.
    let (code, missing) = get(&service, &format!("{RUNS}/weekly?at=2026-04-01")).await;
    let message = missing["message"].as_str().unwrap_or_default();
    assert!(code == 404 && message.contains("is not known: its history begins at"), "{missing}");
    let (_, list, warnings) = ask(&service, "GET", &format!("{RUNS}?at=2026-04-01"), "").await;
    assert_eq!(list["items"], json!([]));
    assert!(warnings.iter().any(|warning| warning.contains("may lack objects such as ml/")), "{warnings:?}");
}

/// A run with a label for its phase.
fn labelled(name: &str, version: u64, phase: &str) -> Row {
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Run", "metadata": {
            "namespace": "ml", "name": name, "uid": name, "resourceVersion": version.to_string(), "labels": {"phase": phase},
        },
        "status": {"phase": phase},
    });
    KINDS[0].row(&Object::parse(object.to_string(), ManagedFields::Prune).unwrap()).unwrap().unwrap()
}

#[tokio::test]
async fn a_former_version_is_restored_by_its_number_or_a_moment() {
    let store = Store::in_memory(&KINDS).await.unwrap();
    let gone = Row { delete_time: Some(store.now()), ..labelled("gone", 22, "Running") };
    let kept = Row { evict_time: Some(store.now()), evict_confirmed: true, ..labelled("kept", 32, "Running") };
    for row in
        [labelled("gone", 21, "Pending"), labelled("gone", 22, "Running"), gone, labelled("kept", 31, "Pending"), kept]
    {
        assert!(store.write(KINDS[0].table(), vec![RowChange::Row(row)]).await.unwrap().rejected.is_empty());
    }
    let asked = Arc::default();
    let service = service_in(store, access(FormerObjects::Granted), Arc::clone(&asked)).await;
    let restore = async |of: &str| {
        let (code, body, _) = ask(&service, "POST", &format!("{RUNS}/{of}"), "").await;
        let phase = body["metadata"]["labels"]["phase"].as_str().or(body["message"].as_str()).unwrap_or_default();
        (code, phase.to_owned())
    };
    let (_, first) = get(&service, &format!("{RUNS}/gone/history?version=21")).await;
    let at = first["metadata"]["annotations"]["mirror.michelangelo.api/valid-from"].as_str().unwrap().to_owned();
    assert_eq!(restore("gone/restore?dryRun=All").await, (200, "Running".into()));
    assert!(!asked.lock().iter().any(|what: &Attributes| what.verb == Verb::Update));
    for which in ["version=21".to_owned(), format!("at={at}"), format!("at={at}&uid=gone")] {
        assert_eq!(restore(&format!("gone/restore?dryRun=All&{which}")).await, (200, "Pending".into()), "{which}");
    }
    // A version of an evicted object goes back into its row, which needs the right to update it.
    assert!(asked.lock().iter().any(|what| (what.verb, &*what.name) == (Verb::Update, "gone")));
    assert_eq!(restore("kept/restore?version=31").await, (200, "Pending".into()));
    let (_, kept) = get(&service, &format!("{RUNS}/kept")).await;
    assert_eq!(kept["metadata"]["labels"]["phase"], "Pending", "{kept}");
    for (path, code, part) in [
        ("nightly/restore?version=4", 409, "nightly"),
        ("gone/restore?version=99", 404, "the object has no version with the resourceVersion 99"),
        ("none/restore?version=1", 404, "not found"),
        ("gone/restore?version=21&at=1h", 400, "name one version"),
        ("gone/restore?at=tuesday", 400, "at: "),
    ] {
        let (found, message) = restore(path).await;
        assert!(found == code && message.contains(part), "{path}: {found} {message}");
    }
    let models = super::service().await;
    let header = [("authorization", "Bearer ada")];
    let (code, status) = super::ask(&models, "POST", &format!("{}/a/restore?version=7", super::MODELS), &header).await;
    assert!(code == 400 && status["message"].as_str().unwrap().contains("history"), "{status}");
    let hidden = service_in(Store::in_memory(&KINDS).await.unwrap(), access(FormerObjects::None), Arc::default()).await;
    assert_eq!(ask(&hidden, "POST", &format!("{RUNS}/nightly/restore?version=2"), "").await.0, 403);
}

#[tokio::test]
async fn the_past_is_hidden_where_deleted_objects_are() {
    let hidden = service(access(FormerObjects::None)).await;
    for path in ["/nightly/history", "/nightly?at=1s", "?at=1s"] {
        let (code, body) = get(&hidden, &format!("{RUNS}{path}")).await;
        assert!(code == 403 && body["message"].as_str().unwrap().contains("serve.formerObjects"), "{path}: {body}");
    }
    // In a namespace that was created again, callers see the objects since then.
    let since = cluster(created("2026-01-01T00:00:00Z"));
    let older = service(FormerAccess::new(FormerObjects::OlderHidden, Some(since))).await;
    let (_, list) = get(&older, &format!("{RUNS}/nightly/history")).await;
    assert_eq!((told(&list).len(), &list["metadata"]["continue"]), (2, &Json::Null), "{list}");
    assert_eq!(get(&older, &format!("{RUNS}/nightly/history?version=2")).await.0, 404);
    let (_, list) = get(&older, &format!("{RUNS}?at=0s&state=all")).await;
    assert_eq!(told(&list).len(), 2, "{list}");
}
