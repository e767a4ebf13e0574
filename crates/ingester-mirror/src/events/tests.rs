//! Tests with a client whose server is a function.

use super::recorder::names_an_event;
use super::{NOTE_BYTES, Options, Publisher, Subject, Trouble, Warnings, cut, note};
use crate::fixture::MODEL as KIND;
use crate::metrics::Metrics;
use http::{Request, Response};
use ingester_core::Kind;
use ingester_core::kind::Definition;
use ingester_core::marks::Mark;
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const SUBJECT: Subject<'_> =
    Subject { api_version: "michelangelo.api/v2", namespace: "ml", name: "fraud", uid: "0af1", resource_version: "42" };

/// A request that the API server received.
#[derive(Debug)]
struct ReceivedRequest {
    method: String,
    path: String,
    body: Value,
}

/// Returns a client whose server answers each request with `code`, and the requests.
fn server(code: u16) -> (Client, mpsc::UnboundedReceiver<ReceivedRequest>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let service = tower::service_fn(move |request: Request<Body>| {
        let sender = sender.clone();
        async move {
            let method = request.method().to_string();
            let path = request.uri().path().to_owned();
            let body = request.into_body().collect_bytes().await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let answer = if code < 400 {
                body.clone()
            } else {
                json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "code": code })
            };
            let _ = sender.send(ReceivedRequest { method, path, body });
            let answer = Body::from(answer.to_string().into_bytes());
            Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap())
        }
    });
    (Client::new(service, "default"), receiver)
}

fn options() -> Options {
    Options { per_second: 1000, burst: 1000, waiting: 16, instance: Some("ingester-0".into()) }
}

/// Publishes, and returns the requests after everything was sent, and the counters: published, failed, dropped.
async fn published(code: u16, options: Options, publish: impl FnOnce(&Publisher)) -> (Vec<ReceivedRequest>, [u64; 3]) {
    let (client, mut receiver) = server(code);
    let metrics = Metrics::new().unwrap();
    let (publisher, publishing) = Publisher::with_options(client, &metrics, options);
    publish(&publisher);
    drop(publisher);
    tokio::time::timeout(Duration::from_secs(30), publishing).await.expect("ends with the last publisher");
    let mut got = Vec::new();
    while let Ok(request) = receiver.try_recv() {
        got.push(request);
    }
    let events = metrics.events();
    (got, [events.published.get(), events.failed.get(), events.dropped.get()])
}

#[tokio::test]
async fn a_rejected_object_gets_a_warning_with_its_reason() {
    let (got, counts) = published(201, options(), |p| p.rejected(&KIND, SUBJECT, "spec.size: too long.")).await;
    assert_eq!(counts, [1, 0, 0]);
    let [ReceivedRequest { method, path, body }] = &got[..] else { panic!("{got:?}") };
    assert_eq!((method.as_str(), path.as_str()), ("POST", "/apis/events.k8s.io/v1/namespaces/ml/events"));
    let expected = json!({
        "type": "Warning", "reason": "Rejected", "action": "Mirror",
        "reportingController": "ingester", "reportingInstance": "ingester-0",
        "note": "Not mirrored into SQL: spec.size: too long. SQL keeps the last version that it took; correct the object \
                 and it is tried again.",
        "regarding": {
            "apiVersion": "michelangelo.api/v2", "kind": "Model", "namespace": "ml", "name": "fraud", "uid": "0af1",
            "resourceVersion": "42"
        },
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&body[key], value, "{key}");
    }
    assert!(body["metadata"]["name"].as_str().unwrap().starts_with("fraud."), "{body}");
}

#[tokio::test]
async fn a_held_deletion_is_a_warning_and_a_fixed_object_is_normal() {
    let (got, _) = published(201, options(), |p| {
        p.held(&KIND, SUBJECT, "disk full");
        p.mirrored(&KIND, SUBJECT);
        p.finalizer_given_up(&KIND, SUBJECT, "denied by a webhook");
        p.annotation_ignored(&KIND, SUBJECT, KIND.marks().name(Mark::Deleting));
    })
    .await;
    let summary: Vec<[&str; 3]> =
        got.iter().map(|got| ["type", "reason", "action"].map(|key| got.body[key].as_str().unwrap())).collect();
    assert_eq!(
        summary,
        [
            ["Warning", "DeletionHeld", "Delete"],
            ["Normal", "Mirrored", "Mirror"],
            ["Warning", "FinalizerGivenUp", "Mirror"],
            ["Warning", "AnnotationIgnored", "Mirror"]
        ]
    );
    assert!(got[0].body["note"].as_str().unwrap().contains("disk full"));
    let names = |got: &ReceivedRequest, parts: [&str; 2]| {
        parts.iter().all(|part| got.body["note"].as_str().unwrap().contains(part))
    };
    assert!(names(&got[2], ["michelangelo/Ingester", "denied by a webhook"]));
    assert!(names(&got[3], ["michelangelo/Deleting", "evictable: false"]));
}

#[tokio::test]
async fn a_repeated_event_is_a_series_and_a_new_version_a_new_event() {
    let (got, _) = published(201, options(), |p| {
        p.rejected(&KIND, SUBJECT, "no");
        p.rejected(&KIND, SUBJECT, "no");
        p.rejected(&KIND, Subject { resource_version: "43", ..SUBJECT }, "no");
    })
    .await;
    let methods: Vec<&str> = got.iter().map(|got| got.method.as_str()).collect();
    assert_eq!(methods, ["POST", "PATCH", "POST"]);
    assert_eq!(got[1].body["series"]["count"], 2);
}

#[tokio::test]
async fn an_event_on_a_cluster_scoped_object_is_in_the_default_namespace() {
    for name in ["fraud", "system:node"] {
        let subject = Subject { namespace: "", name, ..SUBJECT };
        let (got, _) = published(201, options(), |p| p.mirrored(&KIND, subject)).await;
        assert_eq!(got[0].path, "/apis/events.k8s.io/v1/namespaces/default/events");
        assert_eq!(got[0].body["regarding"].get("namespace"), None);
    }
}

#[tokio::test]
async fn an_object_whose_name_does_not_fit_an_event_name_gets_its_event() {
    for name in ["system:node".to_owned(), "a".repeat(240)] {
        let (got, counts) =
            published(201, options(), |p| p.rejected(&KIND, Subject { name: &name, ..SUBJECT }, "no")).await;
        assert_eq!(counts, [1, 0, 0]);
        let body = &got[0].body;
        assert_eq!(body["metadata"], json!({ "generateName": "ingester-" }));
        assert_eq!((&body["regarding"]["name"], &body["reportingInstance"]), (&json!(name), &json!("ingester-0")));
        assert_eq!((&body["type"], &body["reason"]), (&json!("Warning"), &json!("Rejected")));
    }
}

#[test]
fn names_of_events_are_dns_subdomains_with_room_for_a_time() {
    for name in ["fraud", "a.b-c.9", &"a".repeat(236)] {
        assert!(names_an_event(name), "{name}");
    }
    for name in ["", "a:b", "A", "a..b", "-a", "a-", "a-.b", "a_b", "a.", &"a".repeat(237)] {
        assert!(!names_an_event(name), "{name}");
    }
}

/// The fixture's kind under another name.
fn named(group: &'static str, version: &'static str, kind: &'static str) -> Kind {
    Kind::new(Definition { group, version, kind, ..*KIND.definition() }, *KIND.functions())
}

#[tokio::test]
async fn nothing_is_published_about_events() {
    let (got, counts) = published(201, options(), |p| {
        for event in [named("", "v1", "Event"), named("events.k8s.io", "v1", "Event")] {
            p.rejected(&event, SUBJECT, "no");
            p.held(&event, SUBJECT, "no");
            p.mirrored(&event, SUBJECT);
            p.sweep_refused(&event, 2, 2);
        }
        p.rejected(
            &named("example.com", "v1", "Event"),
            SUBJECT,
            "an event of another program is an object like others",
        );
    })
    .await;
    assert_eq!((got.len(), counts), (1, [1, 0, 0]));
}

#[tokio::test]
async fn a_refused_sweep_is_a_warning_about_the_kind() {
    let (got, _) = published(201, options(), |p| {
        p.sweep_refused(&KIND, 1200, 3400);
        p.sweep_refused(&named("apps", "v1", "Deployment"), 7, 8);
    })
    .await;
    let [crd, service] = &got[..] else { panic!("{got:?}") };
    assert_eq!(crd.path, "/apis/events.k8s.io/v1/namespaces/default/events");
    assert_eq!((&crd.body["type"], &crd.body["reason"]), (&json!("Warning"), &json!("SweepRefused")));
    assert_eq!(
        crd.body["note"],
        "Of 3400 live rows of Model in SQL, 1200 have no object in the cluster. These are more than `ingester.sweepLimit`, so none is marked as deleted. If the objects are really gone, run `ingester audit --repair`."
    );
    let about = |got: &ReceivedRequest| {
        ["apiVersion", "kind", "name"].map(|key| got.body["regarding"][key].as_str().unwrap().to_owned())
    };
    assert_eq!(about(crd), ["apiextensions.k8s.io/v1", "CustomResourceDefinition", "models.michelangelo.api"]);
    assert_eq!(about(service), ["apiregistration.k8s.io/v1", "APIService", "v1.apps"]);
}

#[tokio::test]
async fn an_event_that_does_not_fit_the_queue_is_dropped_and_counted() {
    // Nothing is sent before the task runs, so the queue fills.
    let (got, counts) = published(201, Options { waiting: 3, ..options() }, |p| {
        (0..10).for_each(|_| p.rejected(&KIND, SUBJECT, "no"));
    })
    .await;
    assert_eq!((got.len(), counts), (3, [3, 0, 7]));
}

#[tokio::test]
async fn events_are_sent_no_faster_than_the_limit() {
    let begin = Instant::now();
    let (got, _) = published(201, Options { per_second: 20, burst: 1, ..options() }, |p| {
        (0..4).for_each(|_| p.rejected(&KIND, SUBJECT, "no"));
    })
    .await;
    assert_eq!(got.len(), 4);
    assert!(begin.elapsed() >= Duration::from_millis(150), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn a_refused_event_is_counted_and_the_next_one_is_sent() {
    for code in [403, 404, 500] {
        let (got, counts) = published(code, options(), |p| {
            p.rejected(&KIND, SUBJECT, "no");
            p.mirrored(&KIND, SUBJECT);
        })
        .await;
        assert_eq!((got.len(), counts), (2, [0, 2, 0]), "{code}");
    }
}

#[test]
fn a_publisher_that_is_off_sends_nothing() {
    Publisher::off().rejected(&KIND, SUBJECT, "no");
}

#[test]
fn a_long_reason_is_cut_between_characters_and_keeps_the_advice() {
    for reason in ["x".repeat(5000), "\u{1f980}".repeat(2000), "\u{e9}".repeat(600)] {
        let note = note("before: ", &reason, ". After.");
        assert!(note.len() <= NOTE_BYTES && note.len() > NOTE_BYTES - 4, "{}", note.len());
        assert!(note.starts_with("before: ") && note.ends_with("... After."), "{note}");
    }
    assert_eq!(note("a ", "short.", ". b"), "a short. b");
    assert_eq!((cut("abcdef", 6), cut("abcdef", 5), cut("abcdef", 2)), ("abcdef".into(), "ab...".into(), "...".into()));
}

#[test]
fn a_missing_right_is_told_apart_from_a_terminating_namespace() {
    let refused = |causes: Value| {
        let status: Status = serde_json::from_value(json!({
            "status": "Failure", "code": 403, "message": "no", "reason": "Forbidden", "details": { "causes": causes }
        }))
        .unwrap();
        Trouble::from_kube(&kube::Error::Api(status.boxed()))
    };
    assert_eq!(refused(json!([])), Trouble::Forbidden("no".into()));
    assert_eq!(refused(json!([{ "reason": "NamespaceTerminating" }])), Trouble::Gone("no".into()));
}

#[test]
fn the_same_trouble_is_logged_once_a_minute() {
    let (forbidden, other, gone) =
        (Trouble::Forbidden("a".into()), Trouble::Other("b".into()), Trouble::Gone("c".into()));
    let mut warnings = Warnings::default();
    let start = Instant::now();
    let mut due = |trouble, seconds| warnings.due(trouble, start + Duration::from_secs(seconds));
    assert_eq!((due(&forbidden, 0), due(&forbidden, 59), due(&forbidden, 60)), (true, false, true));
    assert_eq!((due(&other, 60), due(&other, 61)), (true, false));
    assert_eq!((due(&gone, 0), due(&gone, 600)), (false, false));
}
