//! Writes to evicted objects in a database in memory.

use super::{Options, WriteResponse, WriteTarget, delete, delete_collection, patch, put};
use crate::body::MOST;
use crate::status::Status;
use crate::volume::WriteVolumes;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_sql::query::{Query, States, parse_label_selector};
use ingester_store::{ConnectOptions, RowChange, Store};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;

const MERGE: Option<&str> = Some("application/merge-patch+json");
const JSON_PATCH: Option<&str> = Some("application/json-patch+json; charset=utf-8");
const JSON: Option<&str> = Some("application/json");

fn model() -> &'static Kind {
    crd_specs::KINDS.iter().find(|kind| kind.kind() == "Model").unwrap()
}

fn target(name: &str) -> WriteTarget<'_> {
    WriteTarget { kind: model(), namespace: "ml", name }
}

fn object(name: &str, uid: &str) -> Json {
    json!({
        "apiVersion": "michelangelo.api/v2",
        "kind": "Model",
        "metadata": {
            "namespace": "ml", "name": name, "uid": uid, "resourceVersion": "5", "generation": 2,
            "creationTimestamp": "2026-03-09T20:36:46Z",
            "labels": { "team": "pricing" },
            "annotations": { "note": "old", "michelangelo/UpdateTimestamp": "17" },
        },
        "spec": { "algorithm": "xgboost", "owner": { "name": "me" } },
        "status": { "state": "READY" },
    })
}

#[derive(Clone, Copy)]
enum State {
    Live,
    Evicted,
    Leaving,
    Deleted,
}

fn row(object: &Json, state: State) -> RowChange {
    let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    let row = model().row(&object).unwrap().unwrap();
    let now = Micros::now();
    RowChange::Row(match state {
        State::Live => row,
        State::Evicted => Row { evict_time: Some(now), evict_confirmed: true, ..row },
        State::Leaving => Row { evict_time: Some(now), ..row },
        State::Deleted => Row { delete_time: Some(now), ..row },
    })
}

async fn store(rows: Vec<RowChange>) -> Store {
    let store = Store::in_memory(crd_specs::KINDS).await.unwrap();
    assert_eq!(store.write(model().table(), rows.clone()).await.unwrap().written, rows.len());
    store
}

async fn one() -> Store {
    store(vec![row(&object("a", "1"), State::Evicted)]).await
}

async fn merge(store: &Store, body: &Json) -> Result<WriteResponse, Status> {
    patch(store, target("a"), &Options::default(), MERGE, body.to_string().as_bytes()).await
}

async fn json_patch(store: &Store, body: &Json) -> Result<WriteResponse, Status> {
    patch(store, target("a"), &Options::default(), JSON_PATCH, body.to_string().as_bytes()).await
}

async fn replace(store: &Store, body: &Json) -> Result<WriteResponse, Status> {
    put(store, target("a"), &Options::default(), JSON, body.to_string().as_bytes()).await
}

async fn remove(store: &Store, name: &str, body: &str) -> Result<WriteResponse, Status> {
    delete(store, target(name), &Options::default(), JSON, body.as_bytes()).await
}

/// Returns the object of an answer without its state.
fn json(answer: &WriteResponse) -> Json {
    let mut object: Json = serde_json::from_str(&answer.body).unwrap();
    if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
        assert_eq!(annotations.remove("mirror.michelangelo.api/state"), Some("evicted".into()));
        assert!(annotations.remove("mirror.michelangelo.api/evicted-at").is_some());
    }
    object
}

fn told(result: Result<WriteResponse, Status>) -> (u16, Json) {
    let status: Json = serde_json::from_str(&result.unwrap_err().json()).unwrap();
    (status["code"].as_u64().unwrap().try_into().unwrap(), status)
}

fn fields(status: &Json) -> Vec<&str> {
    let causes = status["details"]["causes"].as_array().unwrap();
    causes.iter().map(|cause| cause["field"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_merge_patch_changes_labels_and_annotations() {
    let store = one().await;
    let body = json!({"metadata": {"labels": {"team": null, "stage": "dev"}, "annotations": {"note": "new"}}});
    let answer = json(&merge(&store, &body).await.unwrap());
    let mut expected = object("a", "1");
    expected["metadata"]["resourceVersion"] = json!("6");
    expected["metadata"]["labels"] = json!({"stage": "dev"});
    expected["metadata"]["annotations"]["note"] = json!("new");
    assert_eq!(answer, expected);
    let stored = store.read_stored(model().table(), &["1"]).await.unwrap().remove(0);
    assert_eq!((stored.res_version, &stored.labels[..]), (6, &[("stage".into(), "dev".into())][..]));
    assert!(stored.evict_time.is_some());
}

#[tokio::test]
async fn a_write_that_changes_nothing_makes_no_new_version() {
    let store = one().await;
    for body in [json!({}), json!({"metadata": {"labels": {"team": "pricing", "none": null}}})] {
        assert_eq!(json(&merge(&store, &body).await.unwrap()), object("a", "1"));
    }
    assert_eq!(json(&replace(&store, &object("a", "1")).await.unwrap()), object("a", "1"));
    assert_eq!(json(&json_patch(&store, &json!([])).await.unwrap()), object("a", "1"));
}

#[tokio::test]
async fn the_state_in_an_object_is_not_taken_back() {
    let store = one().await;
    let shown: Json = serde_json::from_str(&merge(&store, &json!({})).await.unwrap().body).unwrap();
    let mut other = shown.clone();
    other["metadata"]["annotations"]["mirror.michelangelo.api/state"] = json!("live");
    other["metadata"]["annotations"]["mirror.michelangelo.api/deleted-at"] = json!("tomorrow");
    let annotation = |key: &str| format!("/metadata/annotations/mirror.michelangelo.api~1{key}");
    let own =
        json!({"metadata": {"uid": null, "creationTimestamp": null, "generation": null, "resourceVersion": null}});
    for answer in [
        replace(&store, &shown).await,
        merge(&store, &own).await,
        replace(&store, &other).await,
        merge(&store, &json!({"metadata": {"annotations": {"mirror.michelangelo.api/state": "live"}}})).await,
        merge(&store, &json!({"metadata": {"annotations": {"mirror.michelangelo.api/state": null}}})).await,
        json_patch(
            &store,
            &json!([
                {"op": "test", "path": annotation("state"), "value": "evicted"},
                {"op": "remove", "path": annotation("evicted-at")},
                {"op": "add", "path": annotation("deleted-at"), "value": "x"},
            ]),
        )
        .await,
    ] {
        // It has the same version and the same state.
        assert_eq!(serde_json::from_str::<Json>(&answer.unwrap().body).unwrap(), shown);
    }
    // It is not stored together with another change, either.
    other["metadata"]["labels"]["a"] = json!("b");
    replace(&store, &other).await.unwrap();
    let stored = store.read_stored(model().table(), &["1"]).await.unwrap().remove(0);
    assert!(stored.res_version == 6 && !stored.json().contains("mirror.michelangelo.api"), "{}", stored.json());
    assert!(stored.annotations.iter().all(|(key, _)| !key.starts_with("mirror.")), "{:?}", stored.annotations);
}

#[tokio::test]
async fn a_dry_run_answers_as_if_it_had_written() {
    let store = one().await;
    let options = Options { dry_run: vec!["All".into()], ..Options::default() };
    let body = br#"{"metadata":{"labels":{"a":"b"}}}"#;
    let answer = patch(&store, target("a"), &options, MERGE, body).await.unwrap();
    assert_eq!(json(&answer)["metadata"]["resourceVersion"], "6");
    delete(&store, target("a"), &options, None, b"").await.unwrap();
    remove(&store, "a", r#"{"dryRun":["All"]}"#).await.unwrap();
    delete_collection(&store, model(), &Query::default(), &options, None, b"").await.unwrap();
    assert_eq!(json(&merge(&store, &json!({})).await.unwrap()), object("a", "1"));

    let wrong = Options { dry_run: vec!["Some".into()], ..Options::default() };
    let (code, status) = told(patch(&store, target("a"), &wrong, MERGE, body).await);
    assert_eq!((code, fields(&status)), (422, vec!["dryRun"]));
    let message = status["message"].as_str().unwrap();
    assert!(message.starts_with(r#"PatchOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]"#));
}

#[tokio::test]
async fn what_the_server_keeps_stays_as_it_is() {
    let store = one().await;
    let body = json!({"metadata": {"annotations": {
        "michelangelo/UpdateTimestamp": null, "michelangelo/SpecUpdateTimestamp": "9", "note": "new",
    }}});
    let annotations = json(&merge(&store, &body).await.unwrap())["metadata"]["annotations"].take();
    assert_eq!(annotations, json!({"note": "new", "michelangelo/UpdateTimestamp": "17"}));
}

#[tokio::test]
async fn all_else_of_an_evicted_object_is_immutable() {
    let store = one().await;
    for (body, expected) in [
        (json!({"spec": {"algorithm": "other"}}), vec!["spec.algorithm"]),
        (json!({"status": null}), vec!["status"]),
        (json!({"metadata": {"finalizers": ["a/b"]}}), vec!["metadata.finalizers"]),
        (json!({"metadata": {"generation": 3}}), vec!["metadata.generation"]),
        (json!({"spec": {"owner": null, "x": 1}, "other": {}, "more": 1}), vec!["spec.owner", "spec.x", "more"]),
        (json!({"kind": "Project"}), vec!["kind"]),
    ] {
        let (code, status) = told(merge(&store, &body).await);
        let mut found = fields(&status);
        found.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!((code, found), (422, expected), "{status}");
        assert_eq!(status["details"]["kind"], "Model");
    }
    let (_, status) = told(merge(&store, &json!({"spec": {"algorithm": "other"}})).await);
    let expected = concat!(
        r#"Model.michelangelo.api "a" is invalid: spec.algorithm: Forbidden: "#,
        "the object was evicted from the cluster: only its labels and annotations can be changed"
    );
    assert_eq!(status["message"], expected);
}

#[tokio::test]
async fn labels_and_annotations_keep_kubernetes_rules() {
    let store = one().await;
    let long = "x".repeat(256 << 10);
    for (body, field, reason) in [
        (json!({"labels": {"-a": "b"}}), "metadata.labels", "FieldValueInvalid"),
        (json!({"labels": {"a": "b c"}}), "metadata.labels", "FieldValueInvalid"),
        (json!({"labels": {"a": 1}}), "metadata.labels.a", "FieldValueInvalid"),
        (json!({"labels": "a"}), "metadata.labels", "FieldValueInvalid"),
        (json!({"annotations": {"a/b/c": "d"}}), "metadata.annotations", "FieldValueInvalid"),
        (json!({"annotations": {"a": long}}), "metadata.annotations", "FieldValueTooLong"),
    ] {
        let (code, status) = told(merge(&store, &json!({ "metadata": body })).await);
        let cause = &status["details"]["causes"][0];
        assert_eq!((code, cause["field"].as_str(), cause["reason"].as_str()), (422, Some(field), Some(reason)));
    }
    let capital = json!({"metadata": {"annotations": {"Example.COM/Note": "any text, even ü\n"}}});
    merge(&store, &capital).await.unwrap();
}

#[tokio::test]
async fn a_writer_who_saw_another_version_is_told() {
    let store = one().await;
    let (code, status) = told(merge(&store, &json!({"metadata": {"resourceVersion": "4"}})).await);
    let message = concat!(
        r#"Operation cannot be fulfilled on models.michelangelo.api "a": "#,
        "the object has been modified; please apply your changes to the latest version and try again"
    );
    assert_eq!((code, status["reason"].as_str(), status["message"].as_str()), (409, Some("Conflict"), Some(message)));
    assert_eq!(told(merge(&store, &json!({"metadata": {"resourceVersion": "+5"}})).await).0, 400);
    assert_eq!(told(merge(&store, &json!({"metadata": {"name": "b"}})).await).0, 400);
    assert_eq!(told(merge(&store, &json!({"metadata": {"namespace": "b"}})).await).0, 400);
    assert_eq!(told(merge(&store, &json!({"metadata": {"uid": "2"}})).await).0, 409);
    // With the right version, or without one.
    for version in [json!("5"), json!(null), json!("")] {
        let body = json!({"metadata": {"resourceVersion": version, "labels": {"a": "b"}}});
        let options = Options { dry_run: vec!["All".into()], ..Options::default() };
        patch(&store, target("a"), &options, MERGE, body.to_string().as_bytes()).await.unwrap();
    }
}

#[tokio::test]
async fn a_put_replaces_labels_and_annotations() {
    let store = one().await;
    let mut body = object("a", "1");
    body["metadata"] = json!({"name": "a", "labels": {"new": ""}, "creationTimestamp": null});
    body["spec"]["zero"] = json!(0);
    body.as_object_mut().unwrap().remove("status");
    let answer = json(&replace(&store, &body).await.unwrap());
    let mut expected = object("a", "1");
    expected["metadata"]["resourceVersion"] = json!("6");
    expected["metadata"]["labels"] = json!({"new": ""});
    expected["metadata"]["annotations"] = json!({"michelangelo/UpdateTimestamp": "17"});
    assert_eq!(answer, expected);

    let (code, status) =
        told(replace(&store, &json!({"apiVersion": "michelangelo.api/v2", "kind": "Model", "metadata": {}})).await);
    assert_eq!((code, fields(&status)), (422, vec!["spec"]), "{status}");
    for body in [json!([]), json!({"metadata": {"name": "a"}}), json!({"apiVersion": "v1", "kind": "Pod"})] {
        assert_eq!(told(replace(&store, &body).await).0, 400, "{body}");
    }
    let yaml = put(&store, target("a"), &Options::default(), Some("application/yaml"), b"kind: Model").await;
    assert_eq!(told(yaml).0, 415);
}

#[tokio::test]
async fn a_json_patch_tests_anything_and_changes_labels_and_annotations() {
    let store = one().await;
    let body = json!([
        {"op": "test", "path": "/spec/algorithm", "value": "xgboost"},
        {"op": "add", "path": "/metadata/labels/example.com~1stage", "value": "dev"},
        {"op": "copy", "from": "/spec/owner/name", "path": "/metadata/labels/owner"},
        {"op": "move", "from": "/metadata/labels/team", "path": "/metadata/annotations/team"},
        {"op": "replace", "path": "/metadata/annotations/note", "value": "new"},
    ]);
    let answer = json(&json_patch(&store, &body).await.unwrap());
    assert_eq!(answer["metadata"]["labels"], json!({"example.com/stage": "dev", "owner": "me"}));
    assert_eq!(answer["metadata"]["annotations"]["team"], "pricing");
    assert_eq!(answer["metadata"]["annotations"]["note"], "new");
    for (body, code) in [
        (json!({}), 400),
        (json!([{"op": "grow", "path": "/a"}]), 400),
        (json!([{"op": "test", "path": "/spec/algorithm", "value": "other"}]), 422),
        (json!([{"op": "remove", "path": "/metadata/labels/none"}]), 422),
        (json!([{"op": "replace", "path": "", "value": {}}]), 422),
        (json!([{"op": "add", "path": "/spec/algorithm", "value": "other"}]), 422),
        (json!([{"op": "copy", "from": "/spec", "path": "/metadata/labels/a"}]), 422),
        (json!([{"op": "copy", "from": "/metadata/labels", "path": "/metadata/labels/a"}]), 422),
    ] {
        assert_eq!(told(json_patch(&store, &body).await).0, code, "{body}");
    }
}

#[tokio::test]
async fn a_patch_that_is_too_large_is_refused_before_it_is_applied() {
    let store = one().await;
    let many: Vec<Json> = vec![json!({"op": "test", "path": "/kind", "value": "Model"}); 10_001];
    let (code, status) = told(json_patch(&store, &json!(many)).await);
    let message = "The allowed maximum operations in a JSON patch is 10000, got 10001";
    assert_eq!((code, status["message"].as_str()), (413, Some(message)));
    // Copies are counted, however short the patch is.
    let mut copies = vec![json!({"op": "add", "path": "/metadata/annotations/0", "value": "x".repeat(100 << 10)})];
    copies.extend((1..60).map(
        |i| json!({"op": "copy", "from": "/metadata/annotations/0", "path": format!("/metadata/annotations/{i}")}),
    ));
    let (code, status) = told(json_patch(&store, &json!(copies)).await);
    assert_eq!(code, 422);
    assert!(status["message"].as_str().unwrap().contains("copies too much"), "{status}");
    // Moves count, too: the value is traversed each time.
    let pairs: serde_json::Map<String, Json> = (0..1000).map(|i| (format!("k{i}"), json!("x".repeat(1000)))).collect();
    let mut moves = vec![json!({"op": "add", "path": "/metadata/annotations", "value": pairs})];
    for _ in 0..20 {
        moves.push(json!({"op": "move", "from": "/metadata/annotations", "path": "/metadata/labels"}));
        moves.push(json!({"op": "move", "from": "/metadata/labels", "path": "/metadata/annotations"}));
    }
    let (code, status) = told(json_patch(&store, &json!(moves)).await);
    assert_eq!(code, 422);
    assert!(status["message"].as_str().unwrap().contains("copies too much"), "{status}");
    let body = vec![b' '; MOST + 1];
    let (code, status) = told(patch(&store, target("a"), &Options::default(), MERGE, &body).await);
    assert_eq!((code, status["reason"].as_str()), (413, Some("RequestEntityTooLarge")));
}

#[tokio::test]
async fn other_types_of_patches_are_refused_by_name() {
    let store = one().await;
    let apply = patch(&store, target("a"), &Options::default(), Some("application/apply-patch+yaml"), b"a: b").await;
    let (code, status) = told(apply);
    assert!(code == 415 && status["message"].as_str().unwrap().contains("kubectl without --server-side"), "{status}");
    for content_type in ["application/strategic-merge-patch+json", "application/json", ""] {
        let answer = patch(&store, target("a"), &Options::default(), Some(content_type), b"{}").await;
        let (code, status) = told(answer);
        let message = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json";
        assert_eq!((code, status["message"].as_str()), (415, Some(message)), "{content_type}");
    }
}

#[tokio::test]
async fn only_the_newest_evicted_object_of_a_name_is_written() {
    let mut older = object("a", "2");
    older["metadata"]["creationTimestamp"] = json!("2026-03-08T20:36:46Z");
    let mut newer = object("b", "4");
    newer["metadata"]["creationTimestamp"] = json!("2026-03-10T20:36:46Z");
    let store = store(vec![
        row(&object("a", "1"), State::Evicted),
        row(&older, State::Evicted),
        row(&object("b", "3"), State::Evicted),
        row(&newer, State::Live),
        row(&object("c", "5"), State::Deleted),
    ])
    .await;
    assert_eq!(json(&merge(&store, &json!({})).await.unwrap())["metadata"]["uid"], "1");
    let options = Options { uid: Some("2".into()), ..Options::default() };
    let answer = patch(&store, target("a"), &options, MERGE, b"{}").await.unwrap();
    assert_eq!(json(&answer)["metadata"]["uid"], "2");

    let (code, status) = told(remove(&store, "b", "").await);
    assert_eq!((code, status["reason"].as_str()), (405, Some("MethodNotAllowed")));
    assert!(status["message"].as_str().unwrap().contains("write to its API server"));
    for name in ["c", "d"] {
        let (code, status) = told(remove(&store, name, "").await);
        let message = format!("models.michelangelo.api {name:?} not found");
        assert_eq!((code, status["message"].as_str()), (404, Some(message.as_str())));
    }
    assert_eq!(
        told(delete(&store, WriteTarget { namespace: "other", ..target("a") }, &Options::default(), None, b"").await).0,
        404
    );
}

#[tokio::test]
async fn an_object_that_is_still_leaving_etcd_is_not_written() {
    let rows = vec![row(&object("a", "1"), State::Leaving), row(&object("gone", "2"), State::Evicted)];
    let store = store(rows).await;
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    let (code, status) = told(merge(&store, &labels).await);
    assert_eq!((code, status["reason"].as_str()), (409, Some("Conflict")));
    assert_eq!(told(replace(&store, &object("a", "1")).await).0, 409);
    assert_eq!(told(remove(&store, "a", "").await).0, 409);
    let answer = delete_collection(&store, model(), &Query::default(), &Options::default(), None, b"").await.unwrap();
    assert_eq!(answer.warnings, ["1 models were left: they are leaving the cluster: try again when they have left it"]);
    assert_eq!(told(remove(&store, "gone", "").await).0, 404, "the collection had it");
    // Now the mirror knows that the object has left.
    let gone = RowChange::Tombstone { uid: "1".into(), res_version: 5, delete_time: Micros::now() };
    assert_eq!(store.write(model().table(), vec![gone]).await.unwrap().written, 1);
    merge(&store, &labels).await.unwrap();
}

#[tokio::test]
async fn a_deletion_answers_as_the_api_server() {
    let store = one().await;
    for (body, code) in [
        (r#"{"preconditions":{"uid":"2"}}"#, 409),
        (r#"{"preconditions":{"resourceVersion":"4"}}"#, 409),
        (r#"{"preconditions":{"resourceVersion":"x"}}"#, 409),
        (r#"{"propagationPolicy":"Never"}"#, 422),
        (r#"{"kind":"Pod"}"#, 400),
        (r#"{"dryRun":"All"}"#, 400),
        ("[", 400),
    ] {
        assert_eq!(told(remove(&store, "a", body).await).0, code, "{body}");
    }
    let body = r#"{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground","gracePeriodSeconds":0,
        "preconditions":{"uid":"1","resourceVersion":"5"}}"#;
    let expected = concat!(
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","#,
        r#""details":{"name":"a","group":"michelangelo.api","kind":"models","uid":"1"}}"#
    );
    assert_eq!(remove(&store, "a", body).await.unwrap().body, expected);
    assert_eq!(told(remove(&store, "a", "").await).0, 404);
    let stored = store.read_stored(model().table(), &["1"]).await.unwrap().remove(0);
    assert!(stored.delete_time.is_some() && stored.evict_time.is_some());
}

#[tokio::test]
async fn a_user_fills_no_disk_with_small_patches_of_a_large_object() {
    let store = one().await;
    let large = json!({"metadata": {"annotations": {"note": "x".repeat(200 << 10)}}});
    merge(&store, &large).await.unwrap();
    let volumes = WriteVolumes::new(1 << 20);
    let patch = async |user: &str, number: usize| {
        let options = Options { volume: Some(Arc::new(volumes.for_user(user))), ..Options::default() };
        let body = json!({"metadata": {"labels": {"number": number.to_string()}}}).to_string();
        super::patch(&store, target("a"), &options, MERGE, body.as_bytes()).await
    };
    let mut written = 0;
    let refused = loop {
        match patch("ada", written).await {
            Ok(_) => written += 1,
            Err(refused) => break refused,
        }
    };
    // On a slow machine, a part of the limit is refilled in the meantime.
    assert!((5..10).contains(&written) && refused.code.as_u16() == 429, "{written}: {refused}");
    let details = refused.details.unwrap();
    assert!(details.retry_after_seconds.is_some_and(|seconds| (1..=13).contains(&seconds)), "{details:?}");
    patch("bob", 100).await.unwrap();
    assert!(patch("ada", 100).await.is_ok(), "what changes nothing counts nothing");
    let dry = Options { volume: Some(Arc::new(volumes.for_user("ada"))), ..dry() };
    let body = json!({"metadata": {"labels": {"number": "dry"}}}).to_string();
    assert!(super::patch(&store, target("a"), &dry, MERGE, body.as_bytes()).await.is_ok(), "nor does a dry run");
}

#[tokio::test]
async fn an_object_does_not_grow_beyond_what_etcd_takes() {
    let mut large = object("a", "1");
    large["spec"]["filler"] = json!("x".repeat((3 << 19) - 2000));
    let store = store(vec![row(&large, State::Evicted)]).await;
    let pairs = |count: usize| -> Json {
        let labels = (0..count).map(|i| (format!("label-{i:04}"), json!("y".repeat(40))));
        json!({"metadata": {"labels": labels.collect::<serde_json::Map<_, _>>()}})
    };
    merge(&store, &pairs(10)).await.unwrap();
    let (code, status) = told(merge(&store, &pairs(100)).await);
    assert_eq!((code, status["reason"].as_str()), (413, Some("RequestEntityTooLarge")));
}

#[tokio::test]
async fn preconditions_of_a_collection_delete_nothing() {
    let store = one().await;
    for body in [json!({"preconditions": {"uid": "other"}}), json!({"preconditions": {"resourceVersion": "5"}})] {
        let body = body.to_string();
        let answer =
            delete_collection(&store, model(), &Query::default(), &Options::default(), JSON, body.as_bytes()).await;
        assert_eq!(told(answer).0, 400, "{body}");
    }
    merge(&store, &json!({"metadata": {"labels": {"still": "there"}}})).await.unwrap();
}

#[tokio::test]
async fn a_collection_is_deleted_but_for_what_is_live_or_not_selected() {
    let mut rows = Vec::new();
    for i in 0..150 {
        let name = format!("m{i:03}");
        let mut object = object(&name, &name);
        object["metadata"]["labels"]["third"] = json!((i % 3).to_string());
        rows.push(row(&object, if i < 10 { State::Live } else { State::Evicted }));
    }
    let store = store(rows).await;
    let query = |selector: &str| Query {
        namespaces: vec!["ml".into()],
        filters: parse_label_selector(selector).unwrap(),
        ..Query::default()
    };
    let count = async |query: Query| {
        let query = Query { filters: query.filters, ..Query::default() };
        let asked = store.ask_about(model(), &query, ingester_store::query::Limits::default()).unwrap();
        asked.count().await.unwrap()
    };
    let all = |query: Query| {
        let store = &store;
        async move { delete_collection(store, model(), &query, &Options::default(), None, b"").await.unwrap() }
    };
    // Objects that were not requested stay, whatever their state.
    for states in [States::LIVE, States::DELETED] {
        all(Query { states, ..query("third=1") }).await;
        assert_eq!(count(query("third=1")).await, 50);
    }
    let answer = all(query("third=1")).await;
    assert_eq!(answer.warnings, ["3 models were left: they are in the cluster, and are deleted at its API server"]);
    let status = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"group":"michelangelo.api","kind":"models"}}"#;
    assert_eq!(answer.body, status);
    assert_eq!((count(query("third=1")).await, count(query("third!=1")).await), (3, 100));
    assert_eq!(all(query("third in (0, 2)")).await.warnings.len(), 1);
    assert_eq!(count(Query::default()).await, 10);
}

#[tokio::test]
async fn an_object_that_cannot_be_decoded_keeps_its_columns() {
    let store = one().await;
    let mut broken = object("broken", "9");
    broken["spec"]["owner"] = json!(7);
    let parsed = Object::parse(broken.to_string(), ManagedFields::Prune).unwrap();
    let mut row = model().bare_row(&parsed).unwrap();
    (row.evict_time, row.evict_confirmed) = (Some(Micros(0)), true);
    store.write(model().table(), vec![RowChange::Row(row)]).await.unwrap();
    let before = store.read_stored(model().table(), &["9"]).await.unwrap().remove(0);
    let body = br#"{"metadata":{"labels":{"a":"b"}}}"#;
    patch(&store, target("broken"), &Options::default(), MERGE, body).await.unwrap();
    let after = store.read_stored(model().table(), &["9"]).await.unwrap().remove(0);
    assert_eq!(after.labels.len(), 2);
    let indexed = ingester_core::schema::base::JSON + 1;
    assert_eq!(after.values[indexed..], before.values[indexed..]);
}

#[tokio::test]
async fn an_annotation_without_effect_is_warned_of() {
    let store = one().await;
    let answer = merge(&store, &json!({"metadata": {"annotations": {"michelangelo/Deleting": "true"}}})).await.unwrap();
    let warning = "the annotation michelangelo/Deleting has no effect on an evicted object: delete the object";
    assert_eq!(answer.warnings, [warning]);
}

#[tokio::test]
async fn the_look_up_before_a_write_has_the_time_of_a_query() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("objects.db").display());
    let rows: Vec<RowChange> = (0..2000).map(|uid| row(&object("a", &uid.to_string()), State::Evicted)).collect();
    for (time, code) in [(Duration::from_secs(30), None), (Duration::ZERO, Some(504))] {
        let options = ConnectOptions::default().query_time(time);
        let store = Store::connect(&url.parse().unwrap(), options).await.unwrap();
        store.create_missing(crd_specs::KINDS).await.unwrap();
        store.write(model().table(), rows.clone()).await.unwrap();
        let said =
            |answer: Result<WriteResponse, Status>| answer.err().map(|status| (status.code.as_u16(), status.message));
        let patched = said(merge(&store, &json!({})).await);
        let query = Query { states: States { evicted: true, ..States::LIVE }, ..Query::default() };
        let all = said(delete_collection(&store, model(), &query, &dry(), None, b"").await);
        for said in [patched, all] {
            assert_eq!(said.as_ref().map(|said| said.0), code, "{said:?}");
            if let Some((_, message)) = said {
                assert!(message.contains("told to stop") && !message.contains("--"), "{message}");
            }
        }
        store.close().await;
    }
}

fn dry() -> Options {
    Options { dry_run: vec!["All".into()], ..Options::default() }
}
