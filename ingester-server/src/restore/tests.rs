//! Restoring into a cluster that is a map of objects by their paths.

use super::{Wanted, post, restore};
use crate::status::{Reason, Status};
use crate::write::Options;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::{Effect, RowChange, Store};
use kube::client::Body;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MODELS: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";

fn model() -> &'static Kind {
    crd_specs::KINDS.iter().find(|kind| kind.kind() == "Model").unwrap()
}

/// The API server, and whether a mirror follows it.
#[derive(Clone)]
struct Fake {
    objects: Arc<Mutex<BTreeMap<String, Value>>>,
    store: Arc<Store>,
    mirrored: bool,
}

impl Fake {
    async fn new(mirrored: bool) -> Self {
        let store = Arc::new(Store::in_memory(crd_specs::KINDS).await.unwrap());
        let core = json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
            {"name": "configmaps", "singularName": "", "namespaced": true, "kind": "ConfigMap", "verbs": ["get"]},
        ]});
        let objects = Arc::new(Mutex::new(BTreeMap::from([("/api/v1".to_owned(), core)])));
        Fake { objects, store, mirrored }
    }

    fn client(&self) -> kube::Client {
        let fake = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let fake = fake.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let (code, answer) = fake.answer(&parts.method, &parts.uri, &body).await;
                let response = Response::builder().status(code).body(Body::from(answer.to_string().into_bytes()));
                Ok::<_, std::convert::Infallible>(response.unwrap())
            }
        });
        kube::Client::new(service, "default")
    }

    fn has(&self, path: &str) -> Option<Value> {
        self.objects.lock().unwrap().get(path).cloned()
    }

    fn put(&self, path: &str, object: Value) {
        self.objects.lock().unwrap().insert(path.to_owned(), object);
    }

    async fn answer(&self, method: &Method, uri: &http::Uri, body: &[u8]) -> (StatusCode, Value) {
        let path = uri.path();
        let found = self.has(path.trim_end_matches("/status"));
        let dry_run = uri.query().is_some_and(|query| query.contains("dryRun=All"));
        match *method {
            Method::GET => match found {
                Some(object) => (StatusCode::OK, object),
                None => failure(404, "NotFound"),
            },
            Method::POST => {
                let mut object: Value = serde_json::from_slice(body).unwrap();
                let path = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap());
                if self.has(&path).is_some() {
                    return failure(409, "AlreadyExists");
                }
                let metadata = object["metadata"].as_object_mut().unwrap();
                assert!(!metadata.contains_key("uid") && !metadata.contains_key("resourceVersion"));
                metadata.extend([
                    ("uid".to_owned(), json!("new")),
                    ("resourceVersion".to_owned(), json!("100")),
                    ("managedFields".to_owned(), json!([])),
                ]);
                // It has a subresource of its own.
                object.as_object_mut().unwrap().remove("status");
                if !dry_run {
                    self.put(&path, object.clone());
                    self.mirror(&object).await;
                }
                (StatusCode::CREATED, object)
            }
            Method::PATCH => {
                let Some(mut object) = found else { return failure(404, "NotFound") };
                let patch: Value = serde_json::from_slice(body).unwrap();
                object["status"] = patch["status"].clone();
                self.put(path.trim_end_matches("/status"), object.clone());
                (StatusCode::OK, object)
            }
            _ => failure(405, "MethodNotAllowed"),
        }
    }

    async fn mirror(&self, object: &Value) {
        if self.mirrored {
            self.write(object, |row| row).await;
        }
    }

    async fn write(&self, object: &Value, state: impl Fn(Row) -> Row) {
        let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
        let row = state(model().row(&object).unwrap().unwrap());
        assert_eq!(self.store.write(model().table(), vec![RowChange::Row(row)]).await.unwrap().written, 1);
    }

    async fn evicted(&self, object: &Value) {
        self.write(object, |row| Row { evict_time: Some(Micros(0)), ..row }).await;
    }

    /// Whether the row is marked as deleted.
    async fn deleted(&self, uid: &str) -> bool {
        self.store.versions(model().table(), &[uid]).await.unwrap()[uid].deleted
    }

    async fn post(&self, options: &Options) -> Result<Value, Status> {
        let answer = post(&self.store, self.client(), model(), "ml", "a", options).await?;
        assert_eq!(answer.warnings, Vec::<String>::new());
        Ok(serde_json::from_str(&answer.body).unwrap())
    }
}

fn failure(code: u16, reason: &str) -> (StatusCode, Value) {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": reason, "reason": reason, "code": code});
    (StatusCode::from_u16(code).unwrap(), status)
}

fn object(uid: &str) -> Value {
    json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {"namespace": "ml", "name": "a", "uid": uid, "resourceVersion": "5",
            "annotations": {"michelangelo/Immutable": "true"}},
        "spec": {"algorithm": "xgboost"}, "status": {"state": "READY"},
    })
}

fn path() -> String {
    format!("{MODELS}/a")
}

#[tokio::test]
async fn an_evicted_object_comes_back_and_its_row_is_marked_as_deleted() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let restored = fake.post(&Options::default()).await.unwrap();
    let expected = json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {"namespace": "ml", "name": "a", "uid": "new", "resourceVersion": "100",
            "annotations": {"michelangelo/RestoredFrom": "old"}},
        "spec": {"algorithm": "xgboost"}, "status": {"state": "READY"},
    });
    assert_eq!(restored, expected);
    assert_eq!(fake.has(&path()).unwrap()["status"]["state"], "READY");
    assert!(fake.deleted("old").await && !fake.deleted("new").await);
    // Once more: nothing is created, and the answer is the same.
    assert_eq!(fake.post(&Options::default()).await.unwrap(), expected);
    let named = Options { uid: Some("old".into()), ..Options::default() };
    assert_eq!(fake.post(&named).await.unwrap(), expected);
}

#[tokio::test]
async fn a_deleted_object_comes_back_too() {
    let fake = Fake::new(false).await;
    fake.write(&object("old"), |row| Row { delete_time: Some(Micros(0)), ..row }).await;
    // Nobody waits for a mirror: the old row is marked as deleted already.
    assert_eq!(fake.post(&Options::default()).await.unwrap()["metadata"]["uid"], "new");
}

#[tokio::test]
async fn of_several_rows_the_evicted_one_or_that_of_the_uid_is_restored() {
    for (uid, from) in [(None, "evicted"), (Some("deleted"), "deleted")] {
        let fake = Fake::new(true).await;
        fake.evicted(&object("evicted")).await;
        let mut later = object("deleted");
        later["metadata"]["creationTimestamp"] = json!("2026-03-09T20:36:46Z");
        fake.write(&later, |row| Row { delete_time: Some(Micros(0)), ..row }).await;
        let options = Options { uid: uid.map(str::to_owned), ..Options::default() };
        let restored = fake.post(&options).await.unwrap();
        assert_eq!(restored["metadata"]["annotations"]["michelangelo/RestoredFrom"], from);
        assert_eq!(fake.deleted("evicted").await, from == "evicted");
    }
}

#[tokio::test]
async fn a_dry_run_creates_nothing() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let options = Options { dry_run: vec!["All".into()], uid: None };
    let object = fake.post(&options).await.unwrap();
    assert_eq!((&object["status"]["state"], &object["spec"]["algorithm"]), (&json!("READY"), &json!("xgboost")));
    assert_eq!(fake.has(&path()), None);
    assert!(!fake.deleted("old").await);
}

#[tokio::test]
async fn a_live_object_of_the_name_is_never_replaced() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let other = object("other");
    fake.put(&path(), other.clone());
    let status = fake.post(&Options::default()).await.unwrap_err();
    assert_eq!((status.code.as_u16(), status.reason), (409, Reason::AlreadyExists));
    assert!(status.message.contains("nothing is restored over a live object"), "{status}");
    // Nor one that was restored from another row than the one that is asked for.
    let mut from_another = other.clone();
    from_another["metadata"]["annotations"] = json!({"michelangelo/RestoredFrom": "another"});
    fake.put(&path(), from_another.clone());
    assert_eq!(fake.post(&Options::default()).await.unwrap_err().reason, Reason::AlreadyExists);
    assert_eq!(fake.has(&path()), Some(from_another));
    assert!(!fake.deleted("old").await);
    // The very object is still there.
    fake.put(&path(), object("old"));
    assert_eq!(fake.post(&Options::default()).await.unwrap_err().reason, Reason::Conflict);

    let live = Fake::new(true).await;
    live.write(&object("live"), |row| row).await;
    assert_eq!(live.post(&Options::default()).await.unwrap_err().reason, Reason::AlreadyExists);
    assert_eq!(Fake::new(true).await.post(&Options::default()).await.unwrap_err().reason, Reason::NotFound);
}

#[tokio::test]
async fn without_a_mirror_the_old_row_stays_until_the_next_request() {
    let mut fake = Fake::new(false).await;
    fake.evicted(&object("old")).await;
    let wanted =
        Wanted { namespace: "", name: "", uid: Some("old"), effect: Effect::Written, patience: Duration::ZERO };
    let restored = restore(&fake.store, fake.client(), model(), wanted).await.unwrap();
    assert!(
        !restored.before && !restored.finished && restored.warnings[0].contains("is `ingester run` running?"),
        "{restored:?}"
    );
    assert!(!fake.deleted("old").await);
    fake.mirrored = true;
    fake.mirror(&fake.has(&path()).unwrap()).await;
    let restored = restore(&fake.store, fake.client(), model(), wanted).await.unwrap();
    assert!(restored.before && restored.finished && restored.warnings.is_empty(), "{restored:?}");
    assert!(fake.deleted("old").await);
}

#[tokio::test]
async fn owners_that_are_gone_are_left_out() {
    let fake = Fake::new(true).await;
    let owner = |kind: &str, name: &str, uid: &str| json!({"apiVersion": "v1", "kind": kind, "name": name, "uid": uid});
    let mut owned = object("old");
    owned["metadata"]["ownerReferences"] = json!([
        owner("ConfigMap", "there", "1"),
        owner("ConfigMap", "another", "1"),
        owner("ConfigMap", "gone", "1"),
        owner("Widget", "unknown", "1"),
        {"name": "broken"},
    ]);
    for name in ["there", "another"] {
        let uid = if name == "there" { "1" } else { "2" };
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "uid": uid}});
        fake.put(&format!("/api/v1/namespaces/ml/configmaps/{name}"), owner);
    }
    fake.evicted(&owned).await;
    let answer = post(&fake.store, fake.client(), model(), "ml", "a", &Options::default()).await.unwrap();
    assert_eq!(answer.warnings.len(), 4, "{:?}", answer.warnings);
    assert_eq!(
        answer.warnings[0],
        "the reference to its owner ConfigMap another is left out: another object has its name"
    );
    let owners = fake.has(&path()).unwrap()["metadata"]["ownerReferences"].take();
    assert_eq!(owners, json!([owner("ConfigMap", "there", "1")]));
}
