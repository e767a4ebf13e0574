//! Kind `Cluster`: a compute cluster that jobs can be sent to.

use crate::common::Condition;
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a `Cluster`: where it is, what it promises and how to reach it.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "Cluster",
    plural = "clusters",
    namespaced,
    status = "ClusterStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A registered compute cluster on which jobs are launched."
)]
#[ingest(protobuf = "michelangelo.api.v2.Cluster", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterSpec {
    /// Whether the cluster is there for good.
    pub sla: SlaType,
    /// Geographic region, such as `us-east-1`.
    pub region: String,
    /// Availability zone within the region, such as `us-east-1a`; may be empty.
    pub zone: String,
    /// Connection to a Kubernetes cluster, the only kind of cluster there is so far.
    pub kubernetes: Option<KubernetesSpec>,
    /// Who runs the data centre.
    pub dc: DcType,
}

/// Observed state of a `Cluster`: whether it can take work.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterStatus {
    /// Findings of the controller about the cluster, one a check.
    pub status_conditions: Vec<Condition>,
}

/// How to reach a Kubernetes cluster, and which machines it offers.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct KubernetesSpec {
    /// Address and credentials of the API server.
    pub rest: Option<ConnectionSpec>,
    /// Machine shapes on offer; needed for clusters in a cloud.
    pub skus: Vec<SkuConfig>,
}

/// Address and credentials of a Kubernetes API server in a cloud.
///
/// Secrets are named here, never contained.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ConnectionSpec {
    /// Host name or address.
    pub host: String,
    /// TCP port as text, such as `6443`.
    pub port: String,
    /// Key under which the secrets provider keeps the bearer token.
    pub token_tag: String,
    /// Key under which the secrets provider keeps the certificate authority.
    pub ca_data_tag: String,
}

/// Limits of one machine shape in a cloud.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SkuConfig {
    /// Number of processor cores.
    pub cpu: i32,
    /// Memory with its unit, such as `32G`, in spite of the name.
    pub memory_gb: String,
    /// Disk with its unit, such as `100G`, in spite of the name.
    pub disk_size_gb: String,
    /// Number of GPUs.
    pub gpu: i32,
    /// GPU model as the cloud calls it, such as `nvidia-tesla-v100`.
    pub gpu_sku: String,
}

wire_enum! {
    /// A cluster's promise of how long it stays.
    pub enum SlaType {
        /// Not set.
        Invalid = 0 => "SLA_TYPE_INVALID",
        /// Kept running; fit for production work.
        Production = 1 => "SLA_TYPE_PRODUCTION",
        /// May go away at any time.
        Ephemeral = 2 => "SLA_TYPE_EPHEMERAL",
    }
}

wire_enum! {
    /// Who runs the data centre of a cluster.
    pub enum DcType {
        /// Not set.
        Invalid = 0 => "DC_TYPE_INVALID",
        /// The organisation itself.
        OnPrem = 1 => "DC_TYPE_ON_PREM",
        /// Google Cloud.
        CloudGcp = 2 => "DC_TYPE_CLOUD_GCP",
        /// Oracle Cloud.
        CloudOci = 3 => "DC_TYPE_CLOUD_OCI",
    }
}
