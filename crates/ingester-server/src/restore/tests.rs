//! Restoring into a cluster that is a map from paths to objects.

mod open;

use super::{Asker, RestoreRequest, post, restore};
use crate::former::Reach;
use crate::status::{Reason, Status};
use crate::write::{Options, WriteTarget};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use ingester_core::Kind;
use ingester_core::kind::Definition;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::{Effect, RowChange, Store};
use kube::client::Body;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const MODELS: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";

fn model() -> &'static Kind {
    crd_specs::KINDS.iter().find(|kind| kind.kind() == "Model").unwrap()
}

/// An API server, with or without a mirror that follows it.
#[derive(Clone)]
struct Fake {
    objects: Arc<Mutex<BTreeMap<String, Value>>>,
    store: Arc<Store>,
    mirrored: bool,
    /// The fault of the next request that writes a status.
    fault: Arc<Mutex<Option<Fault>>>,
    /// The fault of the next request that creates an object.
    refusal: Arc<Mutex<Option<Fault>>>,
    /// The field managers of the writes, in their order.
    managers: Arc<Mutex<Vec<String>>>,
    /// The texts of the objects in requests to create them.
    bodies: Arc<Mutex<Vec<String>>>,
}

/// The fate of a request that is not carried out.
#[derive(Clone, Copy)]
enum Fault {
    /// It is answered with this code.
    Refused(u16),
    /// It is never answered: the caller is killed while it waits.
    Unanswered,
}

/// The value of a parameter of the URL.
fn parameter(uri: &http::Uri, name: &str) -> Option<String> {
    let query = uri.query().unwrap_or_default().split('&');
    query.filter_map(|part| part.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
}

/// A user who may write the status, too.
const ADA: Asker<'static> = Asker { user: "ada", status: Ok(()) };

impl Fake {
    async fn new(mirrored: bool) -> Self {
        let store = Arc::new(Store::in_memory(crd_specs::KINDS).await.unwrap());
        let core = json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
            {"name": "configmaps", "singularName": "", "namespaced": true, "kind": "ConfigMap", "verbs": ["get"]},
        ]});
        let objects = Arc::new(Mutex::new(BTreeMap::from([("/api/v1".to_owned(), core)])));
        Fake {
            objects,
            store,
            mirrored,
            fault: Arc::default(),
            refusal: Arc::default(),
            managers: Arc::default(),
            bodies: Arc::default(),
        }
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
        self.objects.lock().get(path).cloned()
    }

    fn put(&self, path: &str, object: Value) {
        self.objects.lock().insert(path.to_owned(), object);
    }

    async fn answer(&self, method: &Method, uri: &http::Uri, body: &[u8]) -> (StatusCode, Value) {
        let path = uri.path();
        let found = self.has(path.trim_end_matches("/status"));
        let dry_run = uri.query().is_some_and(|query| query.contains("dryRun=All"));
        if let Some(manager) = parameter(uri, "fieldManager") {
            self.managers.lock().push(manager);
        }
        match *method {
            Method::GET => match found {
                Some(object) => (StatusCode::OK, object),
                None => failure(404, "NotFound"),
            },
            Method::POST => {
                self.bodies.lock().push(String::from_utf8(body.to_vec()).unwrap());
                let refusal = self.refusal.lock().take();
                match refusal {
                    Some(Fault::Refused(code)) => return failure(code, "Forbidden"),
                    Some(Fault::Unanswered) => std::future::pending().await,
                    None => {}
                }
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
                // The status has its own subresource.
                object.as_object_mut().unwrap().remove("status");
                if !dry_run {
                    self.put(&path, object.clone());
                    self.mirror(&object).await;
                }
                (StatusCode::CREATED, object)
            }
            Method::PATCH => {
                let fault = self.fault.lock().take();
                match fault {
                    Some(Fault::Refused(code)) => return failure(code, "InternalError"),
                    Some(Fault::Unanswered) => std::future::pending().await,
                    None => {}
                }
                let Some(mut object) = found else { return failure(404, "NotFound") };
                let manager = json!({"manager": parameter(uri, "fieldManager"), "subresource": "status"});
                object["metadata"]["managedFields"].as_array_mut().unwrap().push(manager);
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
        self.write(object, |row| Row { evict_time: Some(Micros(0)), evict_confirmed: true, ..row }).await;
    }

    /// Returns true if the row is marked as deleted.
    async fn deleted(&self, uid: &str) -> bool {
        self.store.versions(model().table(), &[uid]).await.unwrap()[uid].deleted
    }

    async fn post(&self, options: &Options) -> Result<Value, Status> {
        let answer = post(&self.store, Ok(self.client()), target(model()), (options, ADA), None).await?;
        assert_eq!(answer.warnings, Vec::<String>::new());
        Ok(serde_json::from_str(&answer.body).unwrap())
    }
}

fn target(kind: &Kind) -> WriteTarget<'_> {
    WriteTarget { kind, namespace: "ml", name: "a" }
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

/// The command asks for the row `old` like this.
fn of_old() -> RestoreRequest<'static> {
    RestoreRequest {
        namespace: "",
        name: "",
        uid: Some("old"),
        effect: Effect::Written,
        patience: Duration::from_secs(10),
        by: None,
        status: Ok(()),
        former: Reach::All,
        version: None,
    }
}

#[tokio::test]
async fn a_restore_that_was_killed_before_the_status_is_completed_by_the_next_one() {
    for fault in [Fault::Unanswered, Fault::Refused(500), Fault::Refused(403)] {
        let fake = Fake::new(true).await;
        fake.evicted(&object("old")).await;
        *fake.fault.lock() = Some(fault);
        let first = restore(&fake.store, fake.client(), model(), of_old());
        let taken = async {
            while fake.fault.lock().is_some() {
                tokio::task::yield_now().await;
            }
            if !matches!(fault, Fault::Unanswered) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            failed = first => {
                let Fault::Refused(code) = fault else { panic!("it is not answered: {failed:?}") };
                let status = failed.unwrap_err();
                assert_eq!(status.code.as_u16(), code);
                assert!(status.message.contains("its status was not restored"), "{status}");
            }
            // The caller is killed here.
            () = taken => {}
        }
        assert!(fake.has(&path()).unwrap().get("status").is_none());
        assert!(fake.deleted("old").await, "its object is stored");

        let restored = restore(&fake.store, fake.client(), model(), of_old()).await.unwrap();
        assert!(!restored.before && restored.finished && restored.warnings.is_empty(), "{restored:?}");
        assert_eq!(fake.has(&path()).unwrap()["status"]["state"], "READY");
        assert!(fake.deleted("old").await);
        let again = restore(&fake.store, fake.client(), model(), of_old()).await.unwrap();
        assert!(again.before && again.finished && again.warnings.is_empty(), "{again:?}");
    }
}

#[tokio::test]
async fn a_status_that_was_changed_after_the_restore_is_kept() {
    // By repeating a complete restore, or because a controller was faster than the repetition.
    for (complete, warnings) in [(true, 0), (false, 1)] {
        let fake = Fake::new(true).await;
        fake.evicted(&object("old")).await;
        if !complete {
            *fake.fault.lock() = Some(Fault::Refused(500));
        }
        assert_eq!(restore(&fake.store, fake.client(), model(), of_old()).await.is_ok(), complete);
        let mut changed = fake.has(&path()).unwrap();
        changed["status"] = json!({"state": "LATER"});
        fake.put(&path(), changed);
        let restored = restore(&fake.store, fake.client(), model(), of_old()).await.unwrap();
        assert_eq!((restored.before, restored.finished, restored.warnings.len()), (true, true, warnings));
        assert_eq!(fake.has(&path()).unwrap()["status"]["state"], "LATER");
    }
}

#[tokio::test]
async fn a_status_that_the_caller_may_not_write_is_left_out() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let bob = Asker { user: "bob", status: Err("bob cannot patch models/status") };
    for _ in 0..2 {
        let answer =
            post(&fake.store, Ok(fake.client()), target(model()), (&Options::default(), bob), None).await.unwrap();
        assert_eq!(answer.warnings, ["its status is left out: bob cannot patch models/status"]);
        assert!(!answer.body.contains("READY"), "{}", answer.body);
    }
    let there = fake.has(&path()).unwrap();
    assert!(there.get("status").is_none(), "{there}");
    assert_eq!(there["metadata"]["annotations"]["michelangelo/RestoredBy"], "bob");
    assert!(fake.deleted("old").await);
}

#[tokio::test]
async fn an_evicted_object_comes_back_and_its_row_is_marked_as_deleted() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let restored = fake.post(&Options::default()).await.unwrap();
    let nonce = &restored["metadata"]["annotations"]["michelangelo/RestoreNonce"];
    assert_eq!(nonce.as_str().map(str::len), Some(32));
    let expected = json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {"namespace": "ml", "name": "a", "uid": "new", "resourceVersion": "100",
            "annotations": {"michelangelo/RestoredFrom": "old", "michelangelo/RestoredBy": "ada", "michelangelo/RestoreNonce": nonce}},
        "spec": {"algorithm": "xgboost"}, "status": {"state": "READY"},
    });
    assert_eq!(restored, expected);
    assert_eq!(*fake.managers.lock(), ["ingester-restore", "ingester-restore-status"]);
    assert_eq!(fake.has(&path()).unwrap()["status"]["state"], "READY");
    assert!(fake.deleted("old").await && !fake.deleted("new").await);
    // Repeat it: nothing is created, and the answer is the same.
    assert_eq!(fake.post(&Options::default()).await.unwrap(), expected);
    let named = Options { uid: Some("old".into()), ..Options::default() };
    assert_eq!(fake.post(&named).await.unwrap(), expected);
}

#[tokio::test]
async fn a_deleted_object_comes_back_too() {
    let fake = Fake::new(false).await;
    fake.write(&object("old"), |row| Row { delete_time: Some(Micros(0)), ..row }).await;
    // It does not wait for a mirror: the old row is already marked as deleted.
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
    let options = Options { dry_run: vec!["All".into()], ..Options::default() };
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
    // An object that was restored from another row than the requested one is refused, too.
    let mut from_another = other.clone();
    from_another["metadata"]["annotations"] = json!({"michelangelo/RestoredFrom": "another"});
    fake.put(&path(), from_another.clone());
    assert_eq!(fake.post(&Options::default()).await.unwrap_err().reason, Reason::AlreadyExists);
    assert_eq!(fake.has(&path()), Some(from_another));
    assert!(!fake.deleted("old").await);
    // The same object is still there.
    fake.put(&path(), object("old"));
    assert_eq!(fake.post(&Options::default()).await.unwrap_err().reason, Reason::Conflict);

    let live = Fake::new(true).await;
    live.write(&object("live"), |row| row).await;
    assert_eq!(live.post(&Options::default()).await.unwrap_err().reason, Reason::AlreadyExists);
    assert_eq!(Fake::new(true).await.post(&Options::default()).await.unwrap_err().reason, Reason::NotFound);
}

#[tokio::test]
async fn what_would_be_evicted_at_once_or_is_incomplete_is_not_restored() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let kind = Kind::new(Definition { immutable: true, ..*model().definition() }, *model().functions());
    let status =
        post(&fake.store, Ok(fake.client()), target(&kind), (&Options::default(), ADA), None).await.unwrap_err();
    assert_eq!((status.code.as_u16(), status.reason), (422, Reason::Invalid));
    assert!(status.message.contains("leaves the cluster as soon as it is stored"), "{status}");
    // An object that would come back incomplete is refused, too.
    let kind = model().pruning(&[".spec.token"]);
    let status =
        post(&fake.store, Ok(fake.client()), target(&kind), (&Options::default(), ADA), None).await.unwrap_err();
    assert_eq!((status.code.as_u16(), status.reason), (422, Reason::Invalid));
    assert!(status.message.contains("its row lacks .spec.token"), "{status}");
    assert_eq!(fake.has(&path()), None);
}

#[tokio::test]
async fn without_a_mirror_the_old_row_stays_until_the_next_request() {
    let mut fake = Fake::new(false).await;
    fake.evicted(&object("old")).await;
    let wanted = RestoreRequest { patience: Duration::ZERO, ..of_old() };
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
    let answer = post(&fake.store, Ok(fake.client()), target(model()), (&Options::default(), ADA), None).await.unwrap();
    assert_eq!(answer.warnings.len(), 4, "{:?}", answer.warnings);
    assert_eq!(
        answer.warnings[0],
        "the reference to its owner ConfigMap another is left out: another object has its name"
    );
    let owners = fake.has(&path()).unwrap()["metadata"]["ownerReferences"].take();
    assert_eq!(owners, json!([owner("ConfigMap", "there", "1")]));
}

#[tokio::test]
async fn a_version_of_a_purged_or_deleted_object_is_created_and_that_of_an_evicted_one_goes_into_its_row() {
    let mut version = object("old");
    version["spec"]["algorithm"] = "lstm".into();
    version["metadata"]["labels"] = json!({"team": "ads"});
    version["metadata"]["annotations"] = json!({"note": "then"});
    let text = version.to_string();
    let of_version = RestoreRequest { name: "a", namespace: "ml", version: Some(&text), ..of_old() };

    // The row is gone.
    let fake = Fake::new(true).await;
    let restored = restore(&fake.store, fake.client(), model(), of_version).await.unwrap();
    assert!(restored.finished && !restored.in_sql, "{restored:?}");
    assert_eq!(fake.has(&path()).unwrap()["spec"]["algorithm"], "lstm");

    let fake = Fake::new(true).await;
    fake.write(&object("old"), |row| Row { delete_time: Some(Micros(0)), ..row }).await;
    restore(&fake.store, fake.client(), model(), of_version).await.unwrap();
    assert_eq!(fake.has(&path()).unwrap()["metadata"]["annotations"]["note"], "then");
    // Repeat it: the object exists, and the answer names its possible version.
    let again = restore(&fake.store, fake.client(), model(), of_version).await.unwrap();
    assert!(again.before && again.warnings.iter().any(|warning| warning.contains("another version")), "{again:?}");

    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let tried = RestoreRequest { effect: Effect::Tried, ..of_version };
    let tried = restore(&fake.store, fake.client(), model(), tried).await.unwrap();
    assert!(tried.object.contains(r#""algorithm":"lstm""#), "{tried:?}");
    for is_first in [true, false] {
        let restored = restore(&fake.store, fake.client(), model(), of_version).await.unwrap();
        assert!(restored.in_sql && restored.before != is_first, "{restored:?}");
        let stored = fake.store.read_stored(model().table(), &["old"]).await.unwrap().remove(0);
        let stored: Value = serde_json::from_str(crate::write::json_of(&stored)).unwrap();
        assert_eq!(stored["spec"]["algorithm"], "lstm");
        // The object stays evicted, and its row gets another version.
        let annotations = json!({"michelangelo/Immutable": "true", "note": "then"});
        assert_eq!(stored["metadata"]["annotations"], annotations);
        assert_eq!(
            (&stored["metadata"]["labels"], &stored["metadata"]["resourceVersion"]),
            (&json!({"team": "ads"}), &json!("6"))
        );
    }
    assert_eq!(fake.has(&path()), None);

    let fake = Fake::new(true).await;
    fake.write(&object("old"), |row| row).await;
    let error = restore(&fake.store, fake.client(), model(), of_version).await.unwrap_err();
    assert_eq!((error.code, error.reason), (StatusCode::CONFLICT, Reason::AlreadyExists));
}
