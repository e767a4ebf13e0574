//! The first key has another order and one column more, the second another order under the same name.

use ingester_core::{ColumnValue, Ingestable, Kind};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
#[ingest(key(phase, queue, owner))]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index]
    pub queue: String,
    #[index]
    pub phase: String,
    #[index]
    pub owner: String,
    #[index]
    pub source: Option<Reference>,
}

#[derive(ColumnValue, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Reference {
    pub name: String,
    pub namespace: String,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
