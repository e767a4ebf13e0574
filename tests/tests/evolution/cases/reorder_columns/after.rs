//! The same columns stand in another order.

use ingester_core::{Indexed, Ingestable, Kind};
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
    pub priority: i32,
    #[index]
    pub queue: String,
    #[index]
    pub owner: String,
}

#[derive(Indexed, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    #[index]
    pub attempts: i32,
    #[index]
    pub phase: String,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
