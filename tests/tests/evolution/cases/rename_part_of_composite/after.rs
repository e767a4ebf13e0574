//! The column of that part is called `space`.

use ingester_core::{ColumnValue, Ingestable, Kind};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index]
    pub queue: String,
    #[index]
    pub owner: Option<Reference>,
}

#[derive(ColumnValue, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Reference {
    #[index(column = "space", was = "namespace")]
    pub namespace: String,
    pub name: String,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
