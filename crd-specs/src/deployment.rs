//! Kind `Deployment`: a model revision put to work on a target, and how it is rolled out there.

use crate::common::{Condition, ResourceIdentifier, UserInfo};
use ingester_core::wire::{Duration, Opaque};
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Desired state of a `Deployment`: which revision runs where, and how to get there.
///
/// The target is either `inferenceServer` or `mobileSpec`, never both.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "Deployment",
    plural = "deployments",
    namespaced,
    status = "DeploymentStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A model revision deployed to a target, with the state of its rollout."
)]
#[ingest(protobuf = "michelangelo.api.v2.Deployment", absent = "type")]
#[index(path = "metadata.deletion_timestamp", column = "deletion_requested_timestamp")]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentSpec {
    /// The `Revision` that should run. Taking it away from a deployment that runs one cleans the
    /// target up.
    pub desired_revision: Option<ResourceIdentifier>,
    /// The `InferenceServer` that serves the model. Excludes `mobileSpec`.
    pub inference_server: Option<ResourceIdentifier>,
    /// Kubernetes label selector that limits the deployment to some instances of the target, such
    /// as one environment or partition.
    pub selector: Option<Opaque>,
    /// Request to take the deployment out of service.
    pub deletion_spec: Option<DeletionSpec>,
    /// How instances go over from the old revision to the new one.
    pub strategy: Option<DeploymentStrategy>,
    /// What kind of place the model is deployed to.
    #[index(path = "r#type", column = "target_definition_type")]
    pub definition: Option<TargetDefinition>,
    /// The `ModelFamily` whose models this deployment is for.
    pub model_family: Option<ResourceIdentifier>,
    /// The user who changed the deployment last, which need not be the team that owns it.
    pub owner: Option<UserInfo>,
    /// Delivery to mobile devices. Excludes `inferenceServer`.
    pub mobile_spec: Option<MobileSpec>,
    /// Copy of the live traffic sent to the new revision for comparison.
    pub shadow_spec: Option<ShadowSpec>,
    /// Pages about the deployment: what the link is called to its URL.
    pub resource_links: BTreeMap<String, String>,
}

/// Observed state of a `Deployment`: which revision runs, and how far the next one is.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStatus {
    /// Health of the deployment as a whole.
    #[index]
    pub state: DeploymentState,
    /// Explanation of the current state, for people.
    pub message: String,
    /// Step that the latest rollout has reached.
    pub stage: DeploymentStage,
    /// The `Revision` that is being rolled out.
    pub candidate_revision: Option<ResourceIdentifier>,
    /// The `Revision` that was rolled out successfully last.
    #[index]
    pub current_revision: Option<ResourceIdentifier>,
    /// Bookkeeping of the target's provider, by provider key; not meant for users, and the
    /// provider must manage without it.
    pub provider_status: BTreeMap<String, Opaque>,
    /// Findings of the controller about the current rollout, one a check.
    pub conditions: Vec<Condition>,
    /// The conditions as they were when a rollout failed, kept for the post-mortem.
    pub conditions_snapshot: Vec<Condition>,
}

/// Request to take a deployment out of service while its object stays.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DeletionSpec {
    /// True once the deployment is to be removed from its target.
    pub deleted: bool,
}

/// The kind of place to which a model is deployed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetDefinition {
    /// Online, offline, mobile or somewhere outside the platform.
    pub r#type: TargetType,
    /// Finer distinction within the type, free text agreed with the provider.
    pub sub_type: String,
}

/// Delivery of a model to mobile devices.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct MobileSpec {
    /// How far a device must be trusted to receive the model.
    pub level: DeviceIntegrityLevel,
}

/// How a new revision reaches the instances of the target.
///
/// Exactly one of the members is set.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStrategy {
    /// Zone after zone. Excludes the other members.
    pub zonal: Option<ZonalUpdate>,
    /// All instances at once. Excludes the other members.
    pub blast: Option<BlastUpdate>,
    /// A second set of instances takes over from the first. Excludes the other members.
    pub red_black: Option<RedBlackUpdate>,
    /// A share of the instances at a time. Excludes the other members.
    pub rolling: Option<RollingUpdate>,
    /// Environment after environment, each in its own way. Excludes the other members.
    pub disaggregated: Option<DisaggregatedUpdate>,
}

/// Rollout to one zone after the other, with a pause after each.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ZonalUpdate {
    /// Seconds that a finished zone is watched before the next one starts; after the last zone,
    /// before the rollout counts as complete.
    pub rollout_period_in_seconds: f64,
}

/// Rollout to a part of a zone at a time.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SubZonalUpdate {
    /// Percentage of a zone that one step covers, 10 to 40.
    pub increment: i32,
    /// Seconds that a finished step is watched before the next one starts.
    pub rollout_period_in_seconds: f64,
}

/// Rollout to all instances in all zones at once.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct BlastUpdate {
    /// True if alerts during the rollout roll it back.
    pub with_rollback_trigger: bool,
    /// URL of the ticket that justifies an emergency rollout.
    pub issue_link: String,
}

/// Rollout in which a second set of instances takes over from the first.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RedBlackUpdate {
    /// True if the zones change over side by side instead of one by one.
    pub zonal_parallel: bool,
}

/// Rollout that takes a share of the instances out of service, loads the model there and puts them
/// back, until all have it. For instances that cannot hold two models at once.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    /// Percentage of the instances that one step covers.
    pub increment_percentage: i32,
}

/// Rollout that treats the environments of a target differently.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DisaggregatedUpdate {
    /// The steps in the order in which they are taken.
    pub steps: Vec<DisaggregatedUpdateStep>,
}

/// Rollout to one environment.
///
/// At most one of `zonal`, `subZonal` and `blast` is set.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DisaggregatedUpdateStep {
    /// Name of the environment, one of the target's available environments.
    pub environment: String,
    /// Zone after zone. Excludes `subZonal` and `blast`.
    pub zonal: Option<ZonalUpdate>,
    /// A part of a zone after the other. Excludes `zonal` and `blast`.
    pub sub_zonal: Option<SubZonalUpdate>,
    /// The whole environment at once. Excludes `zonal` and `subZonal`.
    pub blast: Option<BlastUpdate>,
}

/// Copy of the live traffic sent to the new revision, whose answers are compared and thrown away.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ShadowSpec {
    /// Share of the traffic that is copied, 0 to 100 percent.
    pub traffic_percentage: f64,
    /// How long the comparison runs, such as `3600s`.
    pub duration: Option<Duration>,
    /// What is compared, and when the new revision counts as good.
    pub metrics: Vec<ShadowComparisonMetric>,
    /// True if traffic is to be copied at all.
    pub enabled: bool,
    /// True if the comparison is only reported and decides nothing.
    pub dryrun: bool,
}

/// A comparison between the answers of the live and the shadow revision.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ShadowComparisonMetric {
    /// What is measured.
    pub metric_type: ShadowMetricType,
    /// Limits that the measurement is held against.
    pub decisions: Vec<ShadowMetricDecisionThreshold>,
}

/// A limit for one column of a comparison.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ShadowMetricDecisionThreshold {
    /// Column of the measurement that is looked at.
    pub column_name: String,
    /// The limit, in the unit of the column.
    pub threshold_value: f64,
    /// On which side of the limit the column must be.
    pub threshold_condition: ShadowMetricThresholdCondition,
}

wire_enum! {
    /// Health of a deployment as a whole.
    pub enum DeploymentState {
        /// Not set.
        Invalid = 0 => "DEPLOYMENT_STATE_INVALID",
        /// Has never finished a rollout yet.
        Initializing = 1 => "DEPLOYMENT_STATE_INITIALIZING",
        /// Every instance of the target runs a revision.
        Healthy = 2 => "DEPLOYMENT_STATE_HEALTHY",
        /// Some instances of the target run no valid revision.
        Unhealthy = 3 => "DEPLOYMENT_STATE_UNHEALTHY",
        /// Cleaned up: no revision runs.
        Empty = 4 => "DEPLOYMENT_STATE_EMPTY",
    }
}

wire_enum! {
    /// Step that a rollout, rollback or clean-up has reached.
    pub enum DeploymentStage {
        /// Not set.
        Invalid = 0 => "DEPLOYMENT_STAGE_INVALID",
        /// The model is tried out, for instance by a prediction on one instance.
        Validation = 1 => "DEPLOYMENT_STAGE_VALIDATION",
        /// The model is being distributed to the target as the strategy says.
        Placement = 2 => "DEPLOYMENT_STAGE_PLACEMENT",
        /// The capacity that the model needs on the target is being claimed.
        ResourceAcquisition = 3 => "DEPLOYMENT_STAGE_RESOURCE_ACQUISITION",
        /// The candidate is now the current revision.
        RolloutComplete = 4 => "DEPLOYMENT_STAGE_ROLLOUT_COMPLETE",
        /// The candidate could not be rolled out.
        RolloutFailed = 5 => "DEPLOYMENT_STAGE_ROLLOUT_FAILED",
        /// The previous revision is being restored.
        RollbackInProgress = 6 => "DEPLOYMENT_STAGE_ROLLBACK_IN_PROGRESS",
        /// The previous revision is back.
        RollbackComplete = 7 => "DEPLOYMENT_STAGE_ROLLBACK_COMPLETE",
        /// The previous revision could not be restored.
        RollbackFailed = 8 => "DEPLOYMENT_STAGE_ROLLBACK_FAILED",
        /// The model is being removed from the target.
        CleanUpInProgress = 9 => "DEPLOYMENT_STAGE_CLEAN_UP_IN_PROGRESS",
        /// The model is off the target.
        CleanUpComplete = 10 => "DEPLOYMENT_STAGE_CLEAN_UP_COMPLETE",
        /// The model could not be removed from the target.
        CleanUpFailed = 11 => "DEPLOYMENT_STAGE_CLEAN_UP_FAILED",
    }
}

wire_enum! {
    /// Kind of place that a model is deployed to.
    pub enum TargetType {
        /// Not set.
        Invalid = 0 => "TARGET_TYPE_INVALID",
        /// An inference server that answers online.
        InferenceServer = 1 => "TARGET_TYPE_INFERENCE_SERVER",
        /// Batch work without an online part.
        Offline = 2 => "TARGET_TYPE_OFFLINE",
        /// Mobile devices.
        Mobile = 3 => "TARGET_TYPE_MOBILE",
        /// A service outside the platform that already runs the model; listed so that it is found.
        SelfHosted = 4 => "TARGET_TYPE_SELF_HOSTED",
    }
}

wire_enum! {
    /// How far a mobile device can be trusted.
    pub enum DeviceIntegrityLevel {
        /// Not set.
        Invalid = 0 => "DEVICE_INTEGRITY_LEVEL_INVALID",
        /// Only devices that are known to be intact.
        Strong = 1 => "DEVICE_INTEGRITY_LEVEL_STRONG",
        /// Devices that may have been tampered with, too.
        Standard = 2 => "DEVICE_INTEGRITY_LEVEL_STANDARD",
    }
}

wire_enum! {
    /// The quantity that a shadow comparison measures.
    pub enum ShadowMetricType {
        /// Not set.
        Invalid = 0 => "SHADOW_METRIC_TYPE_INVALID",
        /// How far the scores of the two revisions drift apart.
        PredictionScoreDriftMetric = 1 => "SHADOW_METRIC_TYPE_PREDICTION_SCORE_DRIFT_METRIC",
    }
}

wire_enum! {
    /// How a measured value relates to its limit.
    pub enum ShadowMetricThresholdCondition {
        /// Not set.
        Invalid = 0 => "SHADOW_METRIC_THRESHOLD_CONDITION_INVALID",
        /// Above the limit.
        GreaterThan = 1 => "SHADOW_METRIC_THRESHOLD_CONDITION_GREATER_THAN",
        /// Below the limit.
        LessThan = 2 => "SHADOW_METRIC_THRESHOLD_CONDITION_LESS_THAN",
        /// At the limit or above it.
        GreaterThanOrEqual = 3 => "SHADOW_METRIC_THRESHOLD_CONDITION_GREATER_THAN_OR_EQUAL",
        /// At the limit or below it.
        LessThanOrEqual = 4 => "SHADOW_METRIC_THRESHOLD_CONDITION_LESS_THAN_OR_EQUAL",
    }
}
