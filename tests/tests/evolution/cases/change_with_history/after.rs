//! Columns are renamed, made wider, dropped and added, also those of former versions.

use ingester_core::{Ingestable, Kind};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
#[ingest(history = "90d")]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index(was = "line")]
    pub queue: String,
    #[index(type = "VARCHAR(200)")]
    pub owner: String,
    #[index(key = false)]
    pub team: String,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
