//! Columns and keys are added, dropped, renamed and of other types; a table has another name.

use ingester_core::wire::Timestamp;
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
#[ingest(key(queue, phase), key(namespace, submitter))]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index]
    pub priority: i64,
    #[index]
    pub queue: String,
    #[index(column = "submitter", was = "owner", type = "VARCHAR(120)")]
    pub owner: String,
    #[index(column = "origin", was = "source")]
    pub source: Option<Reference>,
    #[index]
    pub note: String,
    #[index]
    pub deadline: Option<Timestamp>,
}

#[derive(Indexed, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    #[index(key = false)]
    pub phase: Phase,
    #[index]
    pub attempts: i32,
}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Worker", plural = "workers", namespaced, schema = "disabled")]
#[ingest(table = "machine", was = "worker")]
#[serde(rename_all = "camelCase", default)]
pub struct WorkerSpec {
    #[index(column = "host", was = "node")]
    pub node: String,
    #[index]
    pub cpus: i64,
    #[index(type = "TEXT", key = false)]
    pub remark: Option<String>,
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
