//! The eight kinds of jobs. They differ in their names, and in the name of the map of their replicas.

use ingester_core::Ingestable;
use ingester_core::wire::Time;
use ingester_core::wire::resources::{ReplicaSpec, replicas};
use serde::Deserialize;
use std::collections::BTreeMap;

macro_rules! job {
    ($job:ident, $spec:ident, $group:literal, $kind:literal, $plural:literal, $table:literal, $replicas:literal) => {
        #[doc = concat!("A `", $kind, "`.")]
        #[derive(Ingestable, Deserialize, Debug, Default)]
        #[ingest(group = $group, version = "v1alpha1", kind = $kind, plural = $plural, namespaced)]
        #[ingest(table = $table, finalizer = "never")]
        #[ingest(key(namespace, status), key(status, create_time), key(owner, create_time))]
        #[serde(default)]
        pub struct $job {
            /// The observed state.
            #[index(column = "status", with = last_condition, type = "VARCHAR(32)")]
            #[index(column = "running", with = running_since, keep)]
            #[index(column = "finished", path = "completion_time")]
            #[index(column = "changed", with = changed_at, key = false)]
            pub status: JobStatus,
            /// Its metadata.
            #[index(column = "tenant", with = tenant)]
            #[index(column = "owner", with = owner)]
            #[index(column = "idc", with = idc, type = "VARCHAR(64)")]
            #[index(column = "region", with = region, type = "VARCHAR(64)")]
            #[index(column = "tensorboard", with = has_tensorboard, key = false)]
            pub metadata: JobMetadata,
            /// The desired state.
            #[index(column = "resources", path = "replicas", json = $replicas, with = replicas, type = "TEXT", key = false)]
            pub spec: $spec,
        }

        #[doc = concat!("The part of a `", $kind, "`'s `spec`.")]
        #[derive(Deserialize, Debug, Default)]
        #[serde(default)]
        pub struct $spec {
            /// The pods of each role.
            #[serde(rename = $replicas)]
            pub replicas: BTreeMap<String, ReplicaSpec>,
        }
    };
}

job!(TFJob, TFJobSpec, "training.kubedl.io", "TFJob", "tfjobs", "kubedl_tfjob", "tfReplicaSpecs");
job!(
    PyTorchJob,
    PyTorchJobSpec,
    "training.kubedl.io",
    "PyTorchJob",
    "pytorchjobs",
    "kubedl_pytorchjob",
    "pytorchReplicaSpecs"
);
job!(
    XGBoostJob,
    XGBoostJobSpec,
    "training.kubedl.io",
    "XGBoostJob",
    "xgboostjobs",
    "kubedl_xgboostjob",
    "xgbReplicaSpecs"
);
job!(XDLJob, XDLJobSpec, "training.kubedl.io", "XDLJob", "xdljobs", "kubedl_xdljob", "xdlReplicaSpecs");
job!(MarsJob, MarsJobSpec, "training.kubedl.io", "MarsJob", "marsjobs", "kubedl_marsjob", "marsReplicaSpecs");
job!(
    ElasticBatchJob,
    ElasticBatchJobSpec,
    "inference.kubedl.io",
    "ElasticBatchJob",
    "elasticbatchjobs",
    "kubedl_elasticbatchjob",
    "elasticBatchReplicaSpecs"
);
job!(
    ElasticDLJob,
    ElasticDLJobSpec,
    "training.kubedl.io",
    "ElasticDLJob",
    "elasticdljobs",
    "kubedl_elasticdljob",
    "elasticdlReplicaSpecs"
);
job!(MPIJob, MPIJobSpec, "training.kubedl.io", "MPIJob", "mpijobs", "kubedl_mpijob", "mpiReplicaSpecs");

/// The part of a job's `metadata`.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct JobMetadata {
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

/// The part of a job's `status`.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    /// The job's states so far, the latest last.
    pub conditions: Vec<JobCondition>,
    /// When it ended.
    pub completion_time: Option<Time>,
}

/// One state of a job.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct JobCondition {
    /// `Created`, `Queuing`, `Running`, `Restarting`, `Succeeded` or `Failed`.
    pub r#type: Option<String>,
    /// Since when.
    pub last_transition_time: Option<Time>,
}

/// The last condition is the state; there is none before the operator has seen the job.
fn last_condition(status: &JobStatus) -> &str {
    status.conditions.last().and_then(|last| last.r#type.as_deref()).unwrap_or("Created")
}

/// In any status of the condition: a past one keeps the time of the last start. The operator removes it while the job starts
/// again, so what is stored stays.
fn running_since(status: &JobStatus) -> Option<Time> {
    status.conditions.iter().find(|one| one.r#type.as_deref() == Some("Running"))?.last_transition_time
}

fn changed_at(status: &JobStatus) -> Option<Time> {
    status.conditions.last()?.last_transition_time
}

fn tenant(metadata: &JobMetadata) -> String {
    of_tenancy(metadata, "tenant").unwrap_or_default()
}

fn owner(metadata: &JobMetadata) -> String {
    of_tenancy(metadata, "user").unwrap_or_default()
}

fn idc(metadata: &JobMetadata) -> Option<String> {
    of_tenancy(metadata, "idc")
}

fn region(metadata: &JobMetadata) -> Option<String> {
    of_tenancy(metadata, "region")
}

/// A text from the annotation with a job's owner. An annotation that is not JSON has none.
fn of_tenancy(metadata: &JobMetadata, name: &str) -> Option<String> {
    let tenancy = metadata.annotations.get("kubedl.io/tenancy")?;
    let mut tenancy: BTreeMap<String, serde_json::Value> = ingester_core::json::from_str(tenancy).ok()?;
    match tenancy.remove(name)? {
        serde_json::Value::String(text) => Some(text),
        _ => None,
    }
}

fn has_tensorboard(metadata: &JobMetadata) -> bool {
    metadata.annotations.contains_key("kubedl.io/tensorboard-config")
}
