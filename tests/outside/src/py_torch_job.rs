//! `PyTorchJob` of Kubeflow's training operator, as a projection: a custom resource that another project defines.

use ingester_core::Ingestable;
use ingester_core::wire::Time;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The parts of a training job that matter.
#[derive(Ingestable, Deserialize, Debug, Default)]
#[ingest(group = "kubeflow.org", version = "v1", kind = "PyTorchJob", plural = "pytorchjobs", namespaced)]
#[serde(default)]
pub struct PyTorchJob {
    /// The desired state.
    #[index(column = "replicas", with = replicas)]
    pub spec: PyTorchJobSpec,
    /// The observed state.
    #[index(column = "state", with = state)]
    #[index(column = "start_time", path = "start_time")]
    #[index(column = "completion_time", path = "completion_time")]
    pub status: JobStatus,
}

/// The part of `spec`.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PyTorchJobSpec {
    /// How many pods of each role, `Master` and `Worker`.
    pub pytorch_replica_specs: BTreeMap<String, ReplicaSpec>,
}

/// The pods of one role.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct ReplicaSpec {
    /// How many; to the operator, an absent number means one.
    pub replicas: Option<i32>,
}

/// The part of `status`.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    /// Its conditions, the latest last.
    pub conditions: Vec<JobCondition>,
    /// When the operator began to handle it.
    pub start_time: Option<Time>,
    /// When it ended.
    pub completion_time: Option<Time>,
}

/// One thing that has happened.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct JobCondition {
    /// `Created`, `Running`, `Restarting`, `Succeeded` or `Failed`.
    pub r#type: String,
}

/// The type of the last condition; `None` until the operator has seen the job.
fn state(status: &JobStatus) -> Option<&str> {
    status.conditions.last().map(|condition| condition.r#type.as_str())
}

fn replicas(spec: &PyTorchJobSpec) -> i32 {
    spec.pytorch_replica_specs.values().map(|role| role.replicas.unwrap_or(1)).fold(0, i32::saturating_add)
}
