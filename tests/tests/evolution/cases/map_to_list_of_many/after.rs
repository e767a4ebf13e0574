//! Their keys are a list.

use ingester_core::{Ingestable, Kind};
use kube::CustomResource;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[index]
    pub queue: String,
    #[index(many, with = keys)]
    pub limits: BTreeMap<String, String>,
}

fn keys(limits: &BTreeMap<String, String>) -> Vec<&str> {
    limits.keys().map(String::as_str).collect()
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
