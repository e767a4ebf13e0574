//! Kind `Project`: the home of one machine-learning use case, which owns everything in its namespace.

use crate::common::CommitInfo;
use ingester_core::wire::Timestamp;
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Desired state of a `Project`: who owns it, where its code lives, how long its objects are kept.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "Project",
    plural = "projects",
    namespaced,
    status = "ProjectStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "One machine-learning use case: its owners, its code and the namespace of its objects."
)]
#[ingest(protobuf = "michelangelo.api.v2.Project", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct ProjectSpec {
    /// What the project is about, for people.
    pub description: String,
    /// Team and people who may change the project.
    pub owner: Option<OwnerInfo>,
    /// Importance class of the project, 1 to 5; 0 when not set.
    #[index]
    pub tier: i32,
    /// Git repository that holds the project's code, such as `https://github.com/example/ml-code`.
    pub git_repo: String,
    /// Folder of the project inside that repository.
    pub root_dir: String,
    /// Commit that the project was last set up from.
    pub commit: Option<CommitInfo>,
    /// Web addresses of documents and dashboards, by title.
    pub supporting_links: BTreeMap<String, String>,
    /// How long the project's objects are kept.
    pub retention_config: Option<RetentionConfig>,
    /// What sort of machine learning the project does.
    pub type_info: Option<ProjectTypeInfo>,
}

/// Observed state of a `Project`: how far it is set up and where it stands in its life.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ProjectStatus {
    /// Progress of setting the project up.
    pub state: ProjectState,
    /// Stage of the project's life, as its users declare it.
    pub phase: ProjectPhase,
    /// What went wrong; only set when `state` is `PROJECT_STATE_ERROR`.
    pub error_message: String,
    /// When this status was last written.
    pub last_update_time: Option<Timestamp>,
}

/// Team and people who may change a project.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerInfo {
    /// Identifier of the owning team, a UUID in the company's ownership register.
    pub owning_team: String,
    /// Login names of people who may change the project.
    pub owners: Vec<String>,
    /// Directory groups (LDAP) whose members may change the project.
    pub owner_groups: Vec<String>,
}

/// How long each sort of object in a project is kept, and who hears of removals.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RetentionConfig {
    /// For deployments that answer requests.
    pub online_deployment_retention: Option<Retention>,
    /// For deployments that score in batches.
    pub offline_deployment_retention: Option<Retention>,
    /// For serving endpoints.
    pub endpoint_retention: Option<Retention>,
    /// For models.
    pub model_retention: Option<Retention>,
    /// Who is told about retention.
    pub notification_control: NotificationControl,
}

/// A time to keep things.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Retention {
    /// Length in days; 0 when not set.
    pub retention_in_days: i32,
}

/// The sort of machine learning that a project does; both may be true.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ProjectTypeInfo {
    /// The project trains classical or deep models of its own.
    pub is_core_ml: bool,
    /// The project works with generative models, such as large language models.
    pub is_generative_ai: bool,
}

wire_enum! {
    /// The recipients of notices about the retention of a project's objects.
    pub enum NotificationControl {
        /// Not set: the platform's usual rule.
        Invalid = 0 => "NOTIFICATION_CONTROL_INVALID",
        /// The project's owners and the team of the user concerned.
        ProjectOwnerAndUserTeam = 1 => "NOTIFICATION_CONTROL_PROJECT_OWNER_AND_USER_TEAM",
        /// The project's owners alone.
        ProjectOwnerOnly = 2 => "NOTIFICATION_CONTROL_PROJECT_OWNER_ONLY",
        /// No recipient.
        NotificationOff = 3 => "NOTIFICATION_CONTROL_NOTIFICATION_OFF",
    }
}

wire_enum! {
    /// Progress of setting a project up.
    pub enum ProjectState {
        /// New, and not yet fit for use.
        Invalid = 0 => "PROJECT_STATE_INVALID",
        /// Its resources are being created.
        Provisioning = 1 => "PROJECT_STATE_PROVISIONING",
        /// Its resources were asked for and are waited for.
        ProvisionPending = 2 => "PROJECT_STATE_PROVISION_PENDING",
        /// Fit for use.
        Ready = 3 => "PROJECT_STATE_READY",
        /// Setting it up failed; `errorMessage` says why.
        Error = 4 => "PROJECT_STATE_ERROR",
    }
}

wire_enum! {
    /// Stage of a project's life, as its users declare it.
    pub enum ProjectPhase {
        /// Not set.
        Invalid = 0 => "PROJECT_PHASE_INVALID",
        /// Under development: where every project starts once it is ready.
        Development = 1 => "PROJECT_PHASE_DEVELOPMENT",
        /// Being tried out before production.
        Staging = 2 => "PROJECT_PHASE_STAGING",
        /// In production.
        Production = 3 => "PROJECT_PHASE_PRODUCTION",
        /// Retired: no new pipelines or runs may be created in it.
        Decommission = 4 => "PROJECT_PHASE_DECOMMISSION",
    }
}
