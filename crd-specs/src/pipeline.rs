//! Kind `Pipeline`: a workflow that trains, evaluates or applies models, described once and run many times.

use crate::common::{CommitInfo, Notification, PipelineExecutionParameters, ResourceIdentifier, TypeMeta, UserInfo};
use crate::trigger_run::Trigger;
use ingester_core::wire::Opaque;
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Desired state of a `Pipeline`: its workflow, where that comes from and who is told of its runs.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "Pipeline",
    plural = "pipelines",
    namespaced,
    status = "PipelineStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A workflow that trains, evaluates or applies models, described once and run many times."
)]
#[ingest(protobuf = "michelangelo.api.v2.Pipeline", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineSpec {
    /// The workflow itself, or where to find it.
    pub manifest: Option<PipelineManifest>,
    /// User who last created or changed the pipeline.
    #[index(path = "name")]
    pub owner: Option<UserInfo>,
    /// What the pipeline is for.
    #[index(column = "pipeline_type")]
    pub r#type: PipelineType,
    /// Commit that the pipeline was registered from.
    pub commit: Option<CommitInfo>,
    /// What the pipeline does, for people.
    pub description: String,
    /// Who is told when the pipeline or its runs change state.
    pub notifications: Vec<Notification>,
}

/// Observed state of a `Pipeline`: whether it is built and can run.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineStatus {
    /// Progress of the build.
    pub state: PipelineState,
    /// Container image with the code and libraries that the steps need.
    pub container_image: String,
    /// Identifier of the build in the build system.
    pub build_id: String,
    /// The workflow as the workflow engine knows it, as `@type` and base64 `value`. Can be big: the
    /// Michelangelo API may keep it in blob storage instead of in the object.
    pub registered_workflow: Option<Opaque>,
    /// Newest `Revision` of the pipeline from the main branch.
    pub latest_revision: Option<ResourceIdentifier>,
    /// Why the build failed; empty otherwise.
    pub error_message: String,
}

/// A whole pipeline kept inside another object, so that the object still tells what it ran after
/// the pipeline has changed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct EmbeddedPipeline {
    /// Kind and version; a pipeline on its own has them at the top level instead.
    pub type_meta: Option<TypeMeta>,
    /// Name, namespace, labels and so on of the pipeline at that moment.
    pub metadata: Option<Opaque>,
    /// The pipeline's desired state at that moment.
    pub spec: Option<PipelineSpec>,
    /// The pipeline's observed state at that moment.
    pub status: Option<PipelineStatus>,
}

/// The workflow of a pipeline, or where to find it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PipelineManifest {
    /// Format of the manifest; it decides which of the other fields count.
    pub r#type: PipelineManifestType,
    /// Path of the manifest file in the project's repository.
    pub file_path: String,
    /// The manifest's content, as `@type` and base64 `value`. Can be big: the Michelangelo API may
    /// keep it in blob storage instead of in the object.
    pub content: Option<Opaque>,
    /// Named sets of parameters; each can start a run of its own.
    pub params_map: BTreeMap<String, PipelineExecutionParameters>,
    /// Triggers that start runs, by name.
    pub trigger_map: BTreeMap<String, Trigger>,
    /// Address of the `tar.gz` with the Uniflow code, such as `s3://default/train.tar`.
    pub uniflow_tar: String,
    /// Function in that code where the workflow begins.
    pub uniflow_function: String,
    /// Address of a file that lists what a run may override.
    pub overridable_fields_url: String,
    /// Container images of the single tasks.
    pub task_specs: Vec<TaskSpec>,
}

/// Container image of one task of a pipeline.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskSpec {
    /// Name of the task within its pipeline.
    pub name: String,
    /// Path of the build target that makes the image.
    pub image_manifest_path: String,
    /// Hash of that build target; when it changes, the image is built anew.
    pub image_target_hash: String,
}

wire_enum! {
    /// Format of a pipeline's manifest.
    pub enum PipelineManifestType {
        /// Not set.
        Invalid = 0 => "PIPELINE_MANIFEST_TYPE_INVALID",
        /// A YAML configuration.
        Yaml = 1 => "PIPELINE_MANIFEST_TYPE_YAML",
        /// Python code written with Uniflow.
        Uniflow = 3 => "PIPELINE_MANIFEST_TYPE_UNIFLOW",
    }
}

wire_enum! {
    /// The purpose of a pipeline.
    pub enum PipelineType {
        /// Not set.
        Invalid = 0 => "PIPELINE_TYPE_INVALID",
        /// Training a model.
        Train = 1 => "PIPELINE_TYPE_TRAIN",
        /// Evaluating a model.
        Eval = 2 => "PIPELINE_TYPE_EVAL",
        /// Evaluating how well a model performs.
        PerfEval = 3 => "PIPELINE_TYPE_PERF_EVAL",
        /// Trying something out.
        Experiment = 4 => "PIPELINE_TYPE_EXPERIMENT",
        /// Training an existing model again, on newer data.
        Retrain = 5 => "PIPELINE_TYPE_RETRAIN",
        /// Predicting in batches.
        Prediction = 6 => "PIPELINE_TYPE_PREDICTION",
        /// Watching how well a model in use performs.
        PerformanceMonitoring = 7 => "PIPELINE_TYPE_PERFORMANCE_MONITORING",
        /// Computing basis features.
        BasisFeature = 8 => "PIPELINE_TYPE_BASIS_FEATURE",
        /// Preparing data.
        DataPrep = 9 => "PIPELINE_TYPE_DATA_PREP",
        /// Comparing features as served with features as trained on.
        OnlineOfflineFeatureConsistency = 10 => "PIPELINE_TYPE_ONLINE_OFFLINE_FEATURE_CONSISTENCY",
        /// Computing a group of features.
        FeatureGroupCompute = 11 => "PIPELINE_TYPE_FEATURE_GROUP_COMPUTE",
        /// Running several such comparisons of features together.
        OnlineOfflineFeatureConsistencyOrchestration = 12 => "PIPELINE_TYPE_ONLINE_OFFLINE_FEATURE_CONSISTENCY_ORCHESTRATION",
        /// Working on a model's results afterwards.
        PostProcessing = 13 => "PIPELINE_TYPE_POST_PROCESSING",
        /// Searching for the best of many settings.
        Optimization = 14 => "PIPELINE_TYPE_OPTIMIZATION",
        /// Scoring items.
        Scorer = 15 => "PIPELINE_TYPE_SCORER",
    }
}

wire_enum! {
    /// Progress of a pipeline's build.
    pub enum PipelineState {
        /// Not set.
        Invalid = 0 => "PIPELINE_STATE_INVALID",
        /// Registered, but not built and so not yet runnable.
        Created = 1 => "PIPELINE_STATE_CREATED",
        /// Its image and its task graph are being made.
        Building = 2 => "PIPELINE_STATE_BUILDING",
        /// Built, and can be run.
        Ready = 3 => "PIPELINE_STATE_READY",
        /// The build failed; `errorMessage` says why.
        Error = 4 => "PIPELINE_STATE_ERROR",
    }
}
