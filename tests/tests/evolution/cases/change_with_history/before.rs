//! Former versions have the columns of the kind.

use ingester_core::{Ingestable, Kind};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
#[ingest(history = "90d")]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index(column = "line")]
    pub queue: String,
    #[index(type = "VARCHAR(100)")]
    pub owner: String,
    #[index]
    pub note: String,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
