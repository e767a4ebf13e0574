//! Two kinds, of which everything changes.

use ingester_core::{ColumnValue, Indexed, Ingestable, Kind};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Job",
    plural = "jobs",
    namespaced,
    status = "JobStatus",
    schema = "disabled"
)]
#[ingest(key(queue, priority))]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index]
    pub queue: String,
    #[index]
    pub priority: i32,
    #[index(type = "VARCHAR(40)")]
    pub owner: String,
    #[index]
    pub image: String,
    #[index]
    pub source: Option<Reference>,
    #[index(key = false)]
    pub note: String,
}

#[derive(Indexed, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    #[index]
    pub phase: Phase,
}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Worker", plural = "workers", namespaced, schema = "disabled")]
#[serde(rename_all = "camelCase", default)]
pub struct WorkerSpec {
    #[index]
    pub node: String,
    #[index]
    pub pool: String,
    #[index]
    pub cpus: String,
}

#[derive(ColumnValue, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Reference {
    pub namespace: String,
    pub name: String,
}

#[derive(ColumnValue, Serialize, Deserialize, Clone, Debug, Default)]
pub enum Phase {
    #[default]
    Pending,
    Running,
    Succeeded,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>(), Kind::of::<Worker>()];
