//! Kind `RayJob`: a program that runs on a Ray cluster.

use crate::common::{Condition, ResourceIdentifier, UserInfo};
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a `RayJob`: what runs, for whom and on which cluster.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "RayJob",
    plural = "rayjobs",
    namespaced,
    status = "RayJobStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A program submitted to a Ray cluster."
)]
#[ingest(protobuf = "michelangelo.api.v2.RayJob", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct RayJobSpec {
    /// The user for whom the job runs.
    pub user: Option<UserInfo>,
    /// Command that starts the job, such as `python train.py`.
    #[index(type = "VARCHAR(768)")]
    pub entrypoint: String,
    /// Share of a worker's memory given to Ray's object store, between 0 and 1.
    pub object_store_memory_ratio: f64,
    /// Identifier that the job is to have in Ray.
    pub job_id: String,
    /// The `RayCluster` that runs the job.
    pub cluster: Option<ResourceIdentifier>,
}

/// Observed state of a `RayJob`: how far it is, and where to look.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RayJobStatus {
    /// Where the job is in its life.
    pub state: RayJobState,
    /// Identifier of the job in Ray.
    pub job_id: String,
    /// Status in Ray's own words, such as `RUNNING` or `STOPPED`.
    pub job_status: String,
    /// Explanation of the current state, for people.
    pub message: String,
    /// URL of Ray's dashboard for the job.
    pub dashboard_url: String,
    /// Status of the submission in the Ray operator's own words, such as `Initializing`.
    pub job_deployment_status: String,
    /// Name of the Ray cluster that really runs the job.
    pub ray_cluster_name: String,
    /// Findings of the controller about the job, one a check.
    pub status_conditions: Vec<Condition>,
}

wire_enum! {
    /// Where a Ray job is in its life.
    pub enum RayJobState {
        /// Not set.
        Invalid = 0 => "RAY_JOB_STATE_INVALID",
        /// Accepted, not running yet.
        Initializing = 1 => "RAY_JOB_STATE_INITIALIZING",
        /// Running.
        Running = 2 => "RAY_JOB_STATE_RUNNING",
        /// Ended well; final.
        Succeeded = 3 => "RAY_JOB_STATE_SUCCEEDED",
        /// Ended with an error; final.
        Failed = 4 => "RAY_JOB_STATE_FAILED",
        /// Stopped from outside before its end; final.
        Killed = 5 => "RAY_JOB_STATE_KILLED",
    }
}
