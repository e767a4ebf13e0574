//! The table is called `batch_job` and has a `submitter`.

use ingester_core::{Ingestable, Kind};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
#[ingest(table = "batch_job", was = "job")]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index]
    pub queue: String,
    #[index(column = "submitter", was = "owner")]
    pub owner: String,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
