//! Messages that several kinds share: references, users, commits, conditions, notifications and parameters.
//!
//! Types that only one kind uses are in that kind's file.

use ingester_core::wire::{Int64, Opaque};
use ingester_core::{ColumnValue, wire_enum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A reference to another object of the Michelangelo API; which kind it points to is said by the
/// field that holds it.
// In SQL it is two columns, `<prefix>_namespace` and `<prefix>_name`, under one key.
#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceIdentifier {
    /// Namespace of the object, which is the name of its project.
    pub namespace: String,
    /// The object's `metadata.name`.
    pub name: String,
}

/// The kind and version of an object, as its first two lines of YAML give them.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct TypeMeta {
    /// Kind in upper camel case, such as `Pipeline`.
    pub kind: String,
    /// Group and version, such as `michelangelo.api/v2`.
    pub api_version: String,
}

/// A person or service account that owns an object or started a piece of work.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct UserInfo {
    /// Login name in the company directory (LDAP), such as `jsmith`.
    pub name: String,
    /// Account that the work runs as on behalf of `name`; empty when `name` runs it directly.
    pub proxy_user: String,
}

/// The place in a git history that an object was made from.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct CommitInfo {
    /// Anything git resolves to a commit: a long or short SHA-1, a branch, `HEAD`.
    pub git_ref: String,
    /// Branch that the commit was taken from, such as `main`.
    pub branch: String,
}

wire_enum! {
    /// The status of a condition: it holds, it does not, or this is unknown.
    pub enum ConditionStatus {
        /// It could not be judged, or was not looked at yet.
        UnknownStatus = 0 => "CONDITION_STATUS_UNKNOWN",
        /// It holds: the object is healthy in this respect.
        True = 1 => "CONDITION_STATUS_TRUE",
        /// It does not hold.
        False = 2 => "CONDITION_STATUS_FALSE",
    }
}

/// One aspect of an object's health or progress, as its controller last judged it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// What is judged, in camel case and worded so that true is the good case.
    pub r#type: String,
    /// The verdict.
    pub status: ConditionStatus,
    /// Why the verdict is what it is, written for those who maintain the controller.
    pub reason: String,
    /// Explanation for the user of the platform.
    pub message: String,
    /// When the condition last changed, in milliseconds since 1970-01-01 UTC.
    pub last_updated_timestamp: Int64,
    /// Working notes of the controller between two evaluations, as `@type` and base64 `value`.
    pub metadata: Option<Opaque>,
    /// The object's `metadata.generation` at the time of the verdict; a lower number than the
    /// present one means that the verdict is about an earlier spec.
    pub observed_generation: Int64,
}

wire_enum! {
    /// The channel of a notification.
    pub enum NotificationType {
        /// Not set.
        Invalid = 0 => "NOTIFICATION_TYPE_INVALID",
        /// By mail, to the addresses under `emails`.
        Email = 1 => "NOTIFICATION_TYPE_EMAIL",
        /// By Slack, to the places under `slackDestinations`.
        Slack = 2 => "NOTIFICATION_TYPE_SLACK",
    }
}

wire_enum! {
    /// A change of state that users can ask to hear about.
    pub enum NotificationEventType {
        /// Not set.
        Invalid = 0 => "EVENT_TYPE_INVALID",
        /// A pipeline run finished well.
        PipelineRunStateSucceeded = 1 => "EVENT_TYPE_PIPELINE_RUN_STATE_SUCCEEDED",
        /// A pipeline run was stopped on request.
        PipelineRunStateKilled = 2 => "EVENT_TYPE_PIPELINE_RUN_STATE_KILLED",
        /// A pipeline run ended with an error.
        PipelineRunStateFailed = 3 => "EVENT_TYPE_PIPELINE_RUN_STATE_FAILED",
        /// A pipeline run was passed over without running.
        PipelineRunStateSkipped = 4 => "EVENT_TYPE_PIPELINE_RUN_STATE_SKIPPED",
        /// A trigger run was stopped on request.
        TriggerRunStateKilled = 5 => "EVENT_TYPE_TRIGGER_RUN_STATE_KILLED",
        /// A trigger run ended with an error.
        TriggerRunStateFailed = 6 => "EVENT_TYPE_TRIGGER_RUN_STATE_FAILED",
        /// A trigger run finished well.
        TriggerRunStateSucceeded = 7 => "EVENT_TYPE_TRIGGER_RUN_STATE_SUCCEEDED",
        /// A pipeline was built and can be run.
        PipelineStateReady = 8 => "EVENT_TYPE_PIPELINE_STATE_READY",
        /// A pipeline could not be built.
        PipelineStateError = 9 => "EVENT_TYPE_PIPELINE_STATE_ERROR",
    }
}

wire_enum! {
    /// The kind of object that a notification speaks of.
    pub enum NotificationResourceType {
        /// Not set.
        Invalid = 0 => "RESOURCE_TYPE_INVALID",
        /// A pipeline run.
        PipelineRun = 1 => "RESOURCE_TYPE_PIPELINE_RUN",
        /// A trigger run.
        TriggerRun = 2 => "RESOURCE_TYPE_TRIGGER_RUN",
        /// A pipeline.
        Pipeline = 3 => "RESOURCE_TYPE_PIPELINE",
    }
}

/// Who is told, over which channel, when which events happen.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Notification {
    /// The channel; it decides which of the two lists of recipients counts.
    pub notification_type: NotificationType,
    /// The events that send a message.
    pub event_types: Vec<NotificationEventType>,
    /// The kind of object whose events are meant.
    pub resource_type: NotificationResourceType,
    /// Mail addresses to write to.
    pub emails: Vec<String>,
    /// Slack channels or users to write to.
    pub slack_destinations: Vec<String>,
}

/// What one run of a pipeline is started with. Which fields count depends on the pipeline's
/// manifest: `parameterMap`, `workflowConfig` and `taskConfigs` for a configured workflow,
/// `environ`, `args` and `kwArgs` for Uniflow code.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineExecutionParameters {
    /// Parameters by name, all as text.
    pub parameter_map: BTreeMap<String, String>,
    /// Settings of the whole workflow, as free JSON.
    pub workflow_config: Option<Opaque>,
    /// Settings of single tasks by task name, each as free JSON.
    pub task_configs: BTreeMap<String, Opaque>,
    /// Environment variables of the workflow's processes.
    pub environ: BTreeMap<String, String>,
    /// Positional arguments of the workflow's function, each as a free JSON object.
    pub args: Vec<Opaque>,
    /// Arguments of the workflow's function by name, as free JSON.
    pub kw_args: Option<Opaque>,
}
