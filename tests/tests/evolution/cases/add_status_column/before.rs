//! Of the status the `phase` is known.

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
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index]
    pub queue: String,
}

#[derive(Indexed, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    #[index]
    pub phase: Phase,
}

#[derive(ColumnValue, Serialize, Deserialize, Clone, Debug, Default)]
pub enum Phase {
    #[default]
    Pending,
    Running,
    Succeeded,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
