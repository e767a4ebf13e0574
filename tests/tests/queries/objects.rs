//! The objects that the questions are about: for each question some that match, and some that differ from those in one respect.

use anyhow::{Result, ensure};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Micros;
use ingester_store::{RowChange, Store};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// An object and its fate.
struct FatedObject {
    json: Json,
    evicted: Option<Micros>,
    deleted: Option<Micros>,
}

/// An object whose uid is its name. Without a namespace in its name (`lab/name`) it is in `ml`.
fn make(kind: &str, name: &str, created: Micros, spec: Json, status: Json) -> FatedObject {
    let (namespace, name) = name.split_once('/').unwrap_or(("ml", name));
    let mut json = json!({
        "apiVersion": "michelangelo.api/v2",
        "kind": kind,
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": name,
            "resourceVersion": "1",
            "creationTimestamp": created.rfc3339(),
        },
        "spec": spec,
    });
    if !status.is_null() {
        json["status"] = status;
    }
    FatedObject { json, evicted: None, deleted: None }
}

impl FatedObject {
    fn label(mut self, key: &str, value: &str) -> Self {
        self.json["metadata"]["labels"][key] = json!(value);
        self
    }

    fn metadata(mut self, key: &str, value: &str) -> Self {
        self.json["metadata"][key] = json!(value);
        self
    }

    fn evicted(mut self) -> Self {
        self.evicted = Some(day("2026-02-01 00:00:00"));
        self
    }

    fn deleted(mut self, time: &str) -> Self {
        self.deleted = Some(day(time));
        self
    }
}

fn day(text: &str) -> Micros {
    Micros::from_sql(text).unwrap()
}

fn hours_ago(hours: u64) -> Micros {
    Micros::ago(Duration::from_hours(hours))
}

/// A reference to another object.
fn make_object(namespace: &str, name: &str) -> Json {
    json!({ "namespace": namespace, "name": name })
}

fn run(name: &str, hours: u64, state: &str, actor: &str, pipeline: &str) -> FatedObject {
    let mut spec = json!({ "pipeline": make_object("ml", pipeline) });
    if !actor.is_empty() {
        spec["actor"] = json!({ "name": actor });
    }
    make("PipelineRun", name, hours_ago(hours), spec, json!({ "state": format!("PIPELINE_RUN_STATE_{state}") }))
}

fn trigger(name: &str, state: &str, actor: &str) -> FatedObject {
    let status = json!({ "state": format!("TRIGGER_RUN_STATE_{state}") });
    make("TriggerRun", name, hours_ago(1), json!({ "actor": { "name": actor } }), status)
}

fn model(name: &str, owner: Json, family: &str, revision: u32) -> FatedObject {
    let mut spec = json!({ "modelFamily": make_object("ml", family), "revisionId": revision });
    if !owner.is_null() {
        spec["owner"] = owner;
    }
    make("Model", name, day("2026-01-15 12:00:00"), spec, Json::Null)
}

fn trained_by(mut model: FatedObject, namespace: &str, run: &str) -> FatedObject {
    model.json["spec"]["sourcePipelineRun"] = make_object(namespace, run);
    model
}

fn demand(uid: &str, created: &str) -> FatedObject {
    make("Model", "demand", day(created), json!({ "owner": { "name": "ada" } }), Json::Null).metadata("uid", uid)
}

fn deployment(name: &str, namespace: &str, revision: &str) -> FatedObject {
    let status = json!({ "currentRevision": make_object(namespace, revision), "state": "DEPLOYMENT_STATE_HEALTHY" });
    make("Deployment", name, hours_ago(1), json!({}), status)
}

fn deployed(name: &str, target: &str, state: &str, revision: &str) -> FatedObject {
    let mut status = json!({ "state": format!("DEPLOYMENT_STATE_{state}") });
    if !revision.is_empty() {
        status["currentRevision"] = make_object("ml", revision);
    }
    let spec = json!({ "definition": { "type": format!("TARGET_TYPE_{target}") } });
    make("Deployment", name, hours_ago(1), spec, status)
}

fn card(name: &str, card: &str, created: &str) -> FatedObject {
    let spec = json!({ "baseType": { "kind": "ModelCard" }, "baseResource": make_object("ml", card) });
    make("Revision", name, day(created), spec, Json::Null)
}

fn pipeline(name: &str, ty: &str) -> FatedObject {
    make("Pipeline", name, hours_ago(1), json!({ "type": format!("PIPELINE_TYPE_{ty}") }), Json::Null)
}

fn revision(name: &str, created: &str, kind: &str) -> FatedObject {
    let spec = json!({ "baseType": { "kind": kind }, "baseResource": make_object("ml", "train") });
    make("Revision", name, day(created), spec, Json::Null)
}

fn all() -> Vec<FatedObject> {
    let ada = json!({ "name": "ada" });
    let bob = json!({ "name": "bob" });
    let server = |name, status| make("InferenceServer", name, hours_ago(1), json!({}), status);
    vec![
        run("run-1", 2, "FAILED", "ada", "train").label("team", "pricing"),
        run("run-2", 30, "FAILED", "bob", "train").label("team", "pricing"),
        run("run-3", 100, "FAILED", "ada", "score").label("team", "search"),
        run("run-4", 200, "FAILED", "ada", "train").label("team", "pricing"),
        run("run-5", 5, "FAILED", "bob", "train").label("team", "pricing").deleted("2026-03-09 23:59:59.999999"),
        run("run-6", 3, "RUNNING", "ada", "train"),
        run("run-7", 50, "RUNNING", "bob", "score"),
        run("run-8", 60, "SUCCEEDED", "ada", "score").label("team", "pricing"),
        run("run-9", 400, "SUCCEEDED", "bob", "score").evicted(),
        run("run-10", 7, "SUCCEEDED", "bob", "score"),
        run("run-11", 0, "PENDING", "bob", "score"),
        run("lab/run-lab-1", 20, "FAILED", "", "train"),
        trigger("trigger-1", "RUNNING", "ada"),
        trigger("trigger-2", "RUNNING", "bob"),
        trigger("lab/trigger-3", "RUNNING", "ada"),
        trigger("lab/trigger-4", "KILLED", "bob"),
        trigger("lab/trigger-5", "RUNNING", "ada").deleted("2026-03-01 00:00:00"),
        trigger("lab/trigger-6", "RUNNING", "bob").deleted("2026-03-01 00:00:00"),
        trained_by(model("churn-1", ada.clone(), "churn", 0), "ml", "train-8")
            .label("team", "pricing")
            .label("legacy", "")
            .evicted(),
        trained_by(model("churn-2", ada.clone(), "churn", 1), "ml", "train-8").label("team", "pricing"),
        trained_by(model("churn-3", bob.clone(), "churn", 2), "lab", "train-8").label("team", "pricing"),
        trained_by(model("churn-4", Json::Null, "churn", 3), "ml", "train-8")
            .label("team", "pricing")
            .evicted()
            .deleted("2026-03-09 15:00:00"),
        model("fraud-1", Json::Null, "fraud", 7).label("team", "risk"),
        model("fraud-2", json!({}), "fraud", 8).evicted(),
        model("midnight", ada.clone(), "fraud", 1).deleted("2026-03-09 00:00:00"),
        model("day-before", ada.clone(), "fraud", 2).deleted("2026-03-08 23:59:59.999999"),
        model("day-after", ada.clone(), "fraud", 3).deleted("2026-03-10 00:00:00"),
        model("lab/elsewhere", ada, "fraud", 4).deleted("2026-03-09 12:00:00"),
        demand("demand-c", "2026-01-03 00:00:00"),
        demand("demand-b", "2026-01-02 00:00:00").evicted().deleted("2026-01-03 00:00:00"),
        demand("5f0c6c1e-2a4d-4b0e-9a53-7d1f3c9be001", "2026-01-01 00:00:00").deleted("2026-01-02 00:00:00"),
        make("Model", "lab/not-demand", day("2026-01-01 00:00:00"), json!({ "owner": bob }), Json::Null)
            .metadata("name", "demand"),
        deployment("deployment-1", "ml", "churn-r7"),
        deployment("lab/deployment-2", "ml", "churn-r7").metadata("deletionTimestamp", "2026-03-09T10:00:00Z"),
        deployment("deployment-3", "lab", "churn-r7"),
        deployment("deployment-4", "ml", "churn-r7")
            .metadata("deletionTimestamp", "2026-03-09T10:00:00Z")
            .deleted("2026-03-09 10:00:30"),
        server("server-1", json!({ "state": "INFERENCE_SERVER_STATE_SERVING" })),
        server("server-2", json!({ "state": "INFERENCE_SERVER_STATE_FAILED" })),
        server("server-3", Json::Null),
        server("server-4", json!({ "state": "INFERENCE_SERVER_STATE_FAILED" })).deleted("2026-03-01 00:00:00"),
        revision("revision-1", "2026-01-01 00:00:00", "Pipeline"),
        revision("revision-2", "2026-01-02 00:00:00", "Pipeline"),
        revision("revision-3", "2026-01-03 00:00:00", "Model"),
        deployed("phone-1", "MOBILE", "UNHEALTHY", "churn-r2"),
        deployed("phone-2", "MOBILE", "EMPTY", "churn-r1"),
        deployed("phone-3", "MOBILE", "INITIALIZING", ""),
        deployed("phone-4", "MOBILE", "HEALTHY", "churn-r1").deleted("2026-03-01 00:00:00"),
        deployed("lab/phone-5", "MOBILE", "HEALTHY", "churn-r1").evicted(),
        deployed("batch-1", "OFFLINE", "HEALTHY", "churn-r3"),
        card("card-1", "churn", "2026-01-01 00:00:00"),
        card("card-2", "churn", "2026-01-02 00:00:00"),
        card("card-3", "churn", "2026-01-03 00:00:00").deleted("2026-02-01 00:00:00"),
        card("card-4", "fraud", "2026-01-04 00:00:00"),
        card("card-5", "churn", "2026-02-01 00:00:00"),
        pipeline("basis", "BASIS_FEATURE"),
        pipeline("lab/group", "FEATURE_GROUP_COMPUTE"),
        pipeline("train", "TRAIN"),
    ]
}

/// Writes all objects.
pub(crate) async fn fill(store: &Store) -> Result<()> {
    for made in all() {
        let kind = kind(made.json["kind"].as_str().unwrap());
        let object = Object::parse(made.json.to_string(), ManagedFields::Prune)?;
        let mut row = kind.row(&object)?.expect("no filter leaves it out");
        row.evict_time = made.evicted;
        row.delete_time = made.deleted;
        let report = store.write(kind.table(), vec![RowChange::Row(row)]).await?;
        ensure!(report.written == 1, "{}: {report:?}", made.json);
    }
    Ok(())
}

fn kind(name: &str) -> &'static Kind {
    crd_specs::KINDS.iter().find(|kind| kind.kind() == name).unwrap()
}
