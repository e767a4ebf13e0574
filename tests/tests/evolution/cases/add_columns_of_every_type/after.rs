//! A column of every type is added.

use ingester_core::wire::Timestamp;
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
    pub suspended: bool,
    #[index]
    pub retries: i32,
    #[index]
    pub bytes_read: i64,
    #[index]
    pub revision: u64,
    #[index]
    pub progress: f64,
    #[index]
    pub owner: Option<String>,
    #[index]
    pub started_at: Option<Timestamp>,
    #[index]
    pub phase: Phase,
}

#[derive(ColumnValue, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    #[default]
    Pending,
    Running,
    TimedOut,
}

pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
