//! Kind `InferenceServer`: a service that loads models and answers prediction requests.

use crate::common::{Condition, UserInfo};
use crate::pod::ResourceSpec;
use crate::project::OwnerInfo;
use ingester_core::wire::Int64;
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of an `InferenceServer`: who it serves, what runs it and how large it starts.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "InferenceServer",
    plural = "inferenceservers",
    namespaced,
    status = "InferenceServerStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A managed service that loads models and answers online prediction requests."
)]
#[ingest(protobuf = "michelangelo.api.v2.InferenceServer", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct InferenceServerSpec {
    /// Whether one project has the server to itself or several share it.
    pub tenancy_type: TenancyType,
    /// Who pays for the capacity, and how important the server is.
    /// A dedicated server without it takes both from the project of its namespace.
    pub owner_spec: Option<OwnerSpec>,
    /// Size and software to start with; read when the server is first provisioned, not afterwards.
    pub init_spec: Option<InitSpec>,
    /// Request to take the server out of service.
    pub decom_spec: Option<DecomSpec>,
    /// The user who changed the server last, which need not be the team that owns it.
    pub owner: Option<UserInfo>,
    /// Serving software that loads the models.
    pub backend_type: BackendType,
}

/// Observed state of an `InferenceServer`: whether it serves, and where.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct InferenceServerStatus {
    /// UUID of the running service, given by the provider.
    pub inference_server_id: String,
    /// The `metadata.generation` that this status describes; lower than the object's own while the
    /// controller lags behind.
    pub observed_generation: Int64,
    /// Where the server is in its life.
    #[index]
    pub state: InferenceServerState,
    /// Bookkeeping of the provider, in a form that only the provider reads.
    pub provider_metadata: String,
    /// When the server was created: RFC 3339 text in UTC, such as `2026-04-30T12:00:00Z`.
    pub create_time: String,
    /// When the server last changed: RFC 3339 text in UTC.
    pub update_time: String,
    /// Findings of the controller, one a check, such as `HealthCheck` or `BackendProvision`.
    pub conditions: Vec<Condition>,
    /// Environments of the server that deployments can be sent to, such as `production`.
    pub available_environments: Vec<String>,
}

/// Size and software that a new server is provisioned with.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct InitSpec {
    /// Processors, memory, disk and GPUs of each instance.
    pub resource_spec: Option<ResourceSpec>,
    /// Release and container build of the serving software.
    pub serving_spec: Option<ServingSpec>,
    /// Number of instances.
    pub num_instances: i32,
}

/// Release and container build of the serving software.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ServingSpec {
    /// Release to run: a semantic version, a git hash or a tag such as `latest`. Empty leaves the
    /// choice to the platform.
    pub version: String,
    /// Template that the container image is built from. Empty means the default template.
    pub container_build_template: String,
}

/// Ownership and importance of a server, for the attribution of its capacity.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerSpec {
    /// Team that the capacity is charged to.
    pub owner_info: Option<OwnerInfo>,
    /// Importance from 1 (highest) to 4 (lowest); 0 when it is left to the project.
    pub tier: i32,
}

/// Request to take a server out of service while its object stays.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DecomSpec {
    /// True once the server is to be shut down.
    pub decommission: bool,
}

wire_enum! {
    /// How many projects an inference server is there for.
    pub enum TenancyType {
        /// Not set.
        Invalid = 0 => "TENANCY_TYPE_INVALID",
        /// One project, that of the server's namespace.
        Dedicated = 1 => "TENANCY_TYPE_DEDICATED",
        /// Several use cases; the owner must be named in `ownerSpec`.
        MultiTenant = 2 => "TENANCY_TYPE_MULTI_TENANT",
    }
}

wire_enum! {
    /// Serving software behind an inference server.
    pub enum BackendType {
        /// Not set.
        Invalid = 0 => "BACKEND_TYPE_INVALID",
        /// NVIDIA Triton.
        Triton = 1 => "BACKEND_TYPE_TRITON",
        /// llm-d, for large language models.
        LlmD = 2 => "BACKEND_TYPE_LLM_D",
        /// NVIDIA Dynamo, for large language models.
        Dynamo = 3 => "BACKEND_TYPE_DYNAMO",
        /// TorchServe, for PyTorch models.
        Torchserve = 4 => "BACKEND_TYPE_TORCHSERVE",
    }
}

wire_enum! {
    /// Where an inference server is in its life.
    pub enum InferenceServerState {
        /// Not set.
        Invalid = 0 => "INFERENCE_SERVER_STATE_INVALID",
        /// Accepted; nothing has been asked of the provider yet.
        Initialized = 1 => "INFERENCE_SERVER_STATE_INITIALIZED",
        /// Creation has been requested and waits to begin.
        CreatePending = 2 => "INFERENCE_SERVER_STATE_CREATE_PENDING",
        /// Up and ready to load models.
        Serving = 3 => "INFERENCE_SERVER_STATE_SERVING",
        /// Could not be provisioned or kept running; the conditions say why.
        Failed = 4 => "INFERENCE_SERVER_STATE_FAILED",
        /// Removal has been requested and waits to begin.
        DeletePending = 5 => "INFERENCE_SERVER_STATE_DELETE_PENDING",
        /// The provider is bringing it up.
        Creating = 6 => "INFERENCE_SERVER_STATE_CREATING",
        /// The provider is taking it down.
        Deleting = 7 => "INFERENCE_SERVER_STATE_DELETING",
        /// The service is gone.
        Deleted = 8 => "INFERENCE_SERVER_STATE_DELETED",
    }
}
