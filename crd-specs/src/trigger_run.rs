//! Kind `TriggerRun`: a trigger at work, which starts runs of a pipeline.

use crate::common::{Notification, PipelineExecutionParameters, ResourceIdentifier, UserInfo};
use ingester_core::wire::{Duration, Timestamp};
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Desired state of a `TriggerRun`: which pipeline is started, when and how often.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "TriggerRun",
    plural = "triggerruns",
    namespaced,
    status = "TriggerRunStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A trigger at work: it starts runs of a pipeline on a schedule or in batches."
)]
#[ingest(protobuf = "michelangelo.api.v2.TriggerRun", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct TriggerRunSpec {
    /// The `Pipeline` that is started.
    #[index]
    pub pipeline: Option<ResourceIdentifier>,
    /// The `Revision` of the pipeline that is started.
    #[index]
    pub revision: Option<ResourceIdentifier>,
    /// Schedule, parameters and limits.
    pub trigger: Option<Trigger>,
    /// The user who started the trigger.
    pub actor: Option<UserInfo>,
    /// True if the trigger and its pipeline runs are to be stopped. Superseded by `action`.
    pub kill: bool,
    /// Start of the period to catch up on; absent for a trigger that only looks ahead.
    pub start_timestamp: Option<Timestamp>,
    /// End of the period to catch up on.
    pub end_timestamp: Option<Timestamp>,
    /// Name of the trigger in the pipeline's manifest that this object carries out.
    pub source_trigger_name: String,
    /// True if the trigger moves on to each new revision of the pipeline.
    #[index]
    pub auto_flip: bool,
    /// Who hears of the pipeline runs, and on what occasion.
    pub notifications: Vec<Notification>,
    /// What is asked of the running trigger.
    pub action: TriggerRunAction,
}

/// Observed state of a `TriggerRun`: whether it is at work, and where to look.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct TriggerRunStatus {
    /// Where the trigger is in its life.
    #[index]
    pub state: TriggerRunState,
    /// Identifier of the workflow that carries the trigger out, in the workflow engine.
    pub execution_workflow_id: String,
    /// What went wrong; empty if nothing did.
    pub error_message: String,
    /// URL of the trigger's log.
    pub log_url: String,
}

/// When pipeline runs are started, with which parameters, and how many at a time.
///
/// At most one of `cronSchedule`, `batchRerun` and `intervalSchedule` is set.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Trigger {
    /// Starts runs at points of the calendar. Excludes `batchRerun` and `intervalSchedule`.
    pub cron_schedule: Option<CronSchedule>,
    /// Parameter sets by name; each time, one run is started for each of them.
    pub parameters_map: BTreeMap<String, PipelineExecutionParameters>,
    /// How the runs of one time are spread out.
    pub batch_policy: Option<BatchPolicy>,
    /// Repeats earlier runs. Excludes `cronSchedule` and `intervalSchedule`.
    pub batch_rerun: Option<BatchRerun>,
    /// Most pipeline runs that may be under way at once.
    pub max_concurrency: i32,
    /// Starts runs at even intervals. Excludes `cronSchedule` and `batchRerun`.
    pub interval_schedule: Option<IntervalSchedule>,
}

/// Points of the calendar.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct CronSchedule {
    /// Cron expression of five fields, such as `0 2 * * *` for two o'clock every night.
    pub cron: String,
}

/// Even intervals.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct IntervalSchedule {
    /// Time from one start to the next, such as `3600s`.
    pub interval: Option<Duration>,
}

/// Runs started in portions, so that they do not all ask for resources at once.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct BatchPolicy {
    /// Number of runs in a portion.
    pub batch_size: i32,
    /// Time from one portion to the next, such as `300s`.
    pub wait: Option<Duration>,
}

/// Earlier runs to repeat, as a whole or in part.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct BatchRerun {
    /// The `PipelineRun`s to repeat.
    pub pipeline_runs: Vec<ResourceIdentifier>,
    /// Steps of the pipeline at which each run starts again; empty means from its beginning.
    pub resume_from: Vec<String>,
    /// Steps of the pipeline after which each run stops, themselves included; empty means at its
    /// end.
    pub resume_up_to: Vec<String>,
}

wire_enum! {
    /// A request to a running trigger.
    pub enum TriggerRunAction {
        /// Nothing; it goes on as it is.
        NoAction = 0 => "TRIGGER_RUN_ACTION_NO_ACTION",
        /// Stop, together with the pipeline runs it started.
        Kill = 1 => "TRIGGER_RUN_ACTION_KILL",
        /// Start no more runs for now. Cron and interval schedules only.
        Pause = 2 => "TRIGGER_RUN_ACTION_PAUSE",
        /// Take up starting runs again. Cron and interval schedules only.
        Resume = 3 => "TRIGGER_RUN_ACTION_RESUME",
    }
}

wire_enum! {
    /// Where a trigger is in its life.
    pub enum TriggerRunState {
        /// Not set.
        Invalid = 0 => "TRIGGER_RUN_STATE_INVALID",
        /// At work.
        Running = 1 => "TRIGGER_RUN_STATE_RUNNING",
        /// Stopped by a user.
        Killed = 2 => "TRIGGER_RUN_STATE_KILLED",
        /// Stopped by an error.
        Failed = 3 => "TRIGGER_RUN_STATE_FAILED",
        /// Has started all its runs.
        Succeeded = 4 => "TRIGGER_RUN_STATE_SUCCEEDED",
        /// A user has asked for its end, which has not come yet.
        PendingKill = 5 => "TRIGGER_RUN_STATE_PENDING_KILL",
        /// On hold; starts no runs.
        Paused = 6 => "TRIGGER_RUN_STATE_PAUSED",
    }
}
