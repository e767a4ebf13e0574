//! A pod as the Michelangelo API describes it: image, command, environment and size.
//!
//! These are the API's own messages. They resemble Kubernetes' messages but are shorter and nest differently.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One pod of a distributed job.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// Name of the pod; empty lets the system choose one.
    pub name: String,
    /// Processors, memory, disk and GPUs.
    pub resource: Option<ResourceSpec>,
    /// Container image with its tag or digest, such as `registry.example/train:1.2`.
    pub image: String,
    /// Environment variables given one by one.
    pub env: Vec<Environment>,
    /// Token with which the pod reads and writes a secured HDFS.
    pub hdfs_delegation_token: String,
    /// Module that runs in the container before the command does.
    pub on_init: String,
    /// Program and arguments, in place of the image's own.
    pub command: Vec<String>,
    /// When the image is fetched: `Always`, `IfNotPresent` or `Never`.
    pub image_pulling_policy: String,
    /// Config maps and secrets whose entries become environment variables.
    pub env_from: Vec<EnvFromSource>,
}

/// Size of a pod: the most that it may use.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSpec {
    /// Number of processor cores.
    pub cpu: i32,
    /// Memory with its unit, such as `32G` or `2Gi`.
    pub memory: String,
    /// Disk with its unit, such as `100G`.
    pub disk_size: String,
    /// Number of GPUs.
    pub gpu: i32,
    /// Number of files and sockets that may be open at once.
    pub file_descriptors: i32,
    /// GPU model, such as `nvidia-tesla-v100`; needed for GPUs in a cloud.
    pub gpu_sku: String,
}

/// An environment variable.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Environment {
    /// Name of the variable, such as `LD_LIBRARY_PATH`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A config map or secret whose entries become environment variables.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvFromSource {
    /// Text put before the name of each entry.
    pub prefix: String,
    /// The config map, if it is one.
    pub config_map_ref: Option<ConfigMapEnvSource>,
    /// The secret, if it is one.
    pub secret_ref: Option<SecretEnvSource>,
}

/// A config map as a source of environment variables.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigMapEnvSource {
    /// The config map.
    pub local_object_reference: Option<LocalObjectReference>,
    /// True if the pod also starts without it.
    pub optional: bool,
}

/// A secret as a source of environment variables.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretEnvSource {
    /// The secret.
    pub local_object_reference: Option<LocalObjectReference>,
    /// True if the pod also starts without it.
    pub optional: bool,
}

/// An object in the pod's own namespace.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalObjectReference {
    /// Name of the object.
    pub name: String,
}
