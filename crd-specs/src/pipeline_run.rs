//! Kind `PipelineRun`: one execution of a pipeline, step by step.

use crate::common::{Condition, Notification, ResourceIdentifier, TypeMeta, UserInfo};
use crate::pipeline::{EmbeddedPipeline, PipelineSpec};
use ingester_core::wire::{Opaque, Timestamp};
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a `PipelineRun`: what to run, for whom, with which input.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "PipelineRun",
    plural = "pipelineruns",
    namespaced,
    status = "PipelineRunStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "One execution of a pipeline, step by step."
)]
#[ingest(protobuf = "michelangelo.api.v2.PipelineRun", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineRunSpec {
    /// `Pipeline` to run.
    #[index]
    pub pipeline: Option<ResourceIdentifier>,
    /// User or service that started the run.
    #[index(path = "name")]
    pub actor: Option<UserInfo>,
    /// Set to true to ask that the run be stopped.
    pub kill: bool,
    /// Input of the workflow, as free JSON.
    pub input: Option<Opaque>,
    /// `Revision` of the pipeline to run.
    #[index]
    pub revision: Option<ResourceIdentifier>,
    /// `Draft` of the pipeline to run, for trying out a change before it becomes a revision.
    pub draft: Option<ResourceIdentifier>,
    /// Earlier run to take up again; absent for a fresh start.
    #[index(path = "pipeline_run", column = "resume_pipeline_run")]
    pub resume: Option<Resume>,
    /// Uncommitted changes to lay over the pipeline for this run alone, encoded as a diff.
    pub local_diff: String,
    /// Absolute folder that artifacts and outputs go to, such as `/user/ml/runs`.
    pub workspace_root_dir: String,
    /// What the run is for, for people.
    pub description: String,
    /// Who is told when the run changes state.
    pub notifications: Vec<Notification>,
    /// A pipeline given in full, for a development run of one that is not registered.
    pub pipeline_spec: Option<PipelineSpec>,
    /// A task to try once more by hand.
    pub retry_info: Option<RetryInfo>,
}

/// Observed state of a `PipelineRun`: how far it came and how it ended.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineRunStatus {
    /// Where the run stands.
    #[index]
    pub state: PipelineRunState,
    /// Page of the run in the workflow engine.
    pub log_url: String,
    /// Why the run failed; empty otherwise.
    pub error_message: String,
    /// Further facts about the failure, each as `@type` and base64 `value`.
    pub details: Vec<Opaque>,
    /// Outcome as a gRPC status code: 0 is OK, 1 is cancelled, and so on.
    pub code: i32,
    /// When the run ended, well or not; absent while it runs.
    #[index]
    pub end_time: Option<Timestamp>,
    /// Progress of the controller's own tasks. Can be big: the Michelangelo API may keep it in blob
    /// storage instead of in the object.
    pub conditions: Vec<Condition>,
    /// The steps of the workflow, each with its state and output.
    pub steps: Vec<PipelineRunStepInfo>,
    /// The pipeline as it was when the run began. Can be big: the Michelangelo API may keep it in
    /// blob storage instead of in the object.
    pub source_pipeline: Option<SourcePipeline>,
    /// Whose fault a failure is.
    #[index]
    pub exception_type: PipelineRunExceptionType,
    /// Identifier of the workflow in the workflow engine; it stays the same over retries.
    pub workflow_id: String,
    /// Identifier of the one execution of that workflow; each retry has its own.
    pub workflow_run_id: String,
}

/// Which earlier run to take up again, and which part of it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Resume {
    /// The earlier `PipelineRun`, whose results are used again.
    pub pipeline_run: Option<ResourceIdentifier>,
    /// Steps to begin with; what comes after them is run as well.
    pub resume_from: Vec<String>,
    /// Steps to end with, themselves included; empty to run to the end.
    pub resume_up_to: Vec<String>,
    /// Whether to pass over steps that the earlier run lacks or did not finish, instead of
    /// running them first. Only for pipelines that run other pipelines.
    pub force_resume: bool,
}

/// A task to try once more by hand. It is acted on only while `workflowRunId` differs from the
/// one in the run's status, so that one request is served once.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryInfo {
    /// Activity of the workflow to go back to, as in the `activityId` of a step.
    pub activity_id: String,
    /// Workflow to retry, as in `status.workflowId`.
    pub workflow_id: String,
    /// Why somebody asked for it, for people.
    pub reason: String,
    /// Execution of the workflow to retry from.
    pub workflow_run_id: String,
}

/// The pipeline of a run, as it was when the run began.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SourcePipeline {
    /// The pipeline from a draft, when the run was started from one.
    pub draft_pipeline: Option<EmbeddedPipeline>,
    /// The registered pipeline.
    pub pipeline: Option<EmbeddedPipeline>,
}

/// One step of a run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineRunStepInfo {
    /// Name of the step, unique among its siblings.
    pub name: String,
    /// Where the step stands.
    pub state: PipelineRunStepState,
    /// When the step began to run; absent before.
    pub start_time: Option<Timestamp>,
    /// When the step ended, well or not; absent before.
    pub end_time: Option<Timestamp>,
    /// Page with the step's logs.
    pub log_url: String,
    /// What the step produced, as free JSON.
    pub output: Option<Opaque>,
    /// Steps that this one is made of.
    // A step holds steps: the JSON schema has to stop somewhere, and does so here.
    #[schemars(schema_with = "ingester_core::wire::schema::open_list")]
    pub sub_steps: Vec<PipelineRunStepInfo>,
    /// Why the step failed, or a remark on its progress.
    pub message: String,
    /// Name to show to people; empty to show `name`.
    pub display_name: String,
    /// What the step was given, after all overrides, as free JSON.
    pub input: Option<Opaque>,
    /// Results that a later run can take up instead of computing them again.
    pub step_cached_outputs: Option<PipelineRunStepCachedOutputs>,
    /// Objects and web pages that belong to the step.
    pub resources: Vec<PipelineRunResource>,
    /// Identifiers of all attempts, oldest first; a step retried twice has three.
    pub attempt_ids: Vec<String>,
    /// First activity of the step in the workflow engine: where a retry by hand goes back to.
    pub activity_id: String,
    /// What happened in each attempt.
    pub attempt_details: Vec<AttemptDetails>,
}

/// One attempt at a step.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct AttemptDetails {
    /// Identifier of the attempt, one of the step's `attemptIds`.
    pub attempt_id: String,
    /// The step as it was in this attempt.
    // Recursive by way of the step's own attempts: the JSON schema stops here.
    #[schemars(schema_with = "ingester_core::wire::schema::open_object")]
    pub step_info: Option<Box<PipelineRunStepInfo>>,
}

/// Results of a step that are kept in blob storage; every reference is to a `CachedOutput`.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineRunStepCachedOutputs {
    /// Values handed from step to step, such as a prepared data set.
    pub intermediate_vars: Vec<ResourceIdentifier>,
    /// Saved states that incremental training takes up, of the transformation and of the training.
    pub checkpoints: Vec<ResourceIdentifier>,
    /// Models as trained, before packing.
    pub raw_models: Vec<ResourceIdentifier>,
}

/// Something that belongs to a step and is worth a look. At most one of the two fields is set.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineRunResource {
    /// An object of the Michelangelo API; excludes `externalResource`.
    pub internal_resource: Option<InternalResource>,
    /// A web page; excludes `internalResource`.
    pub external_resource: Option<ExternalResource>,
}

/// An object of the Michelangelo API, of any kind.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct InternalResource {
    /// Kind and version of the object.
    pub entity_type: Option<TypeMeta>,
    /// Namespace and name of the object.
    pub entity: Option<ResourceIdentifier>,
}

/// A web page outside the Michelangelo API.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ExternalResource {
    /// What the page shows, such as `Training dashboard`.
    pub name: String,
    /// Address of the page.
    pub url: String,
}

wire_enum! {
    /// Where a run stands.
    pub enum PipelineRunState {
        /// Not set: the run was not looked at yet.
        Invalid = 0 => "PIPELINE_RUN_STATE_INVALID",
        /// Accepted, and waits for its turn.
        Pending = 1 => "PIPELINE_RUN_STATE_PENDING",
        /// Its steps are being run.
        Running = 2 => "PIPELINE_RUN_STATE_RUNNING",
        /// Ended well.
        Succeeded = 3 => "PIPELINE_RUN_STATE_SUCCEEDED",
        /// Ended because a user stopped it.
        Killed = 4 => "PIPELINE_RUN_STATE_KILLED",
        /// Ended with an error.
        Failed = 5 => "PIPELINE_RUN_STATE_FAILED",
        /// Ended without having run, on purpose.
        Skipped = 6 => "PIPELINE_RUN_STATE_SKIPPED",
    }
}

wire_enum! {
    /// Whose fault the failure of a run is.
    pub enum PipelineRunExceptionType {
        /// Not set: no failure, or an unknown cause.
        Invalid = 0 => "PIPELINE_RUN_EXCEPTION_TYPE_INVALID",
        /// The platform's: network, capacity, a broken service.
        System = 1 => "PIPELINE_RUN_EXCEPTION_TYPE_SYSTEM",
        /// The user's: code, input or configuration.
        User = 2 => "PIPELINE_RUN_EXCEPTION_TYPE_USER",
    }
}

wire_enum! {
    /// Where a step stands.
    pub enum PipelineRunStepState {
        /// Not set.
        Invalid = 0 => "PIPELINE_RUN_STEP_STATE_INVALID",
        /// Waits for its turn.
        Pending = 1 => "PIPELINE_RUN_STEP_STATE_PENDING",
        /// Is being run.
        Running = 2 => "PIPELINE_RUN_STEP_STATE_RUNNING",
        /// Ended well.
        Succeeded = 3 => "PIPELINE_RUN_STEP_STATE_SUCCEEDED",
        /// Ended because it was stopped from outside.
        Killed = 4 => "PIPELINE_RUN_STEP_STATE_KILLED",
        /// Ended with an error.
        Failed = 5 => "PIPELINE_RUN_STEP_STATE_FAILED",
        /// Not run, because of its condition or because a step before it did not succeed.
        Skipped = 6 => "PIPELINE_RUN_STEP_STATE_SKIPPED",
    }
}
