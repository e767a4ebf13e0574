//! There are keys over `queue` and `phase`, and over the parts of the `source`.

use ingester_core::{ColumnValue, Ingestable, Kind};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
#[ingest(key(queue, phase))]
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
    pub namespace: String,
    pub name: String,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
