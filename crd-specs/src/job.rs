//! Types that the job kinds share: where a job may run, where it was put, and how it is ended.

use ingester_core::wire::{Opaque, Time};
use ingester_core::wire_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wishes about the place where a job runs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    /// Properties that the resources must have.
    pub resource_affinity: Option<ResourceAffinity>,
}

/// Properties that the resources of a job must have.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceAffinity {
    /// Kubernetes label selector over resource pools and clusters, for instance by region or GPU.
    pub selector: Option<Opaque>,
}

/// Where the scheduler put a job.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct AssignmentInfo {
    /// Full name of the resource pool whose quota the job uses.
    pub resource_pool: String,
    /// Name of the `Cluster` that runs the job.
    pub cluster: String,
}

/// The options of the scheduler for a job.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulingSpec {
    /// True if the job may borrow capacity of other pools and be stopped when they want it back.
    pub preemptible: bool,
}

/// The scheduler's work on a job so far.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulingInfo {
    /// When a place was last looked for.
    pub last_attempt_time: Option<Time>,
    /// How often a place has been looked for, failures included.
    pub num_attempts: i32,
}

/// Request to end a job, with the verdict on it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct TerminationSpec {
    /// The verdict; a job is left to run while it is not set.
    pub r#type: TerminationType,
    /// Why the job ended, for people; usually empty for a success.
    pub reason: String,
}

wire_enum! {
    /// Verdict with which a job is ended.
    pub enum TerminationType {
        /// Not set: no end has been asked for.
        Invalid = 0 => "TERMINATION_TYPE_INVALID",
        /// The work was done.
        Succeeded = 1 => "TERMINATION_TYPE_SUCCEEDED",
        /// The work was not done.
        Failed = 2 => "TERMINATION_TYPE_FAILED",
    }
}
