//! Kind `RayCluster`: a Ray cluster, a head node and groups of workers.

use crate::common::{Condition, UserInfo};
use crate::job::{AssignmentInfo, SchedulingInfo, SchedulingSpec, TerminationSpec};
use ingester_core::wire::{Opaque, Time};
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Desired state of a `RayCluster`: its nodes, its Ray release and when it ends.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "RayCluster",
    plural = "rayclusters",
    namespaced,
    status = "RayClusterStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A Ray cluster: one head node and groups of worker nodes."
)]
#[ingest(protobuf = "michelangelo.api.v2.RayCluster", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct RayClusterSpec {
    /// The user for whom the cluster runs.
    pub user: Option<UserInfo>,
    /// Release of Ray on all nodes, such as `2.9.0`.
    #[index]
    pub ray_version: String,
    /// The node that coordinates the others.
    pub head: Option<RayHeadSpec>,
    /// Groups of equal worker nodes.
    pub workers: Vec<RayWorkerSpec>,
    /// Settings of Ray for the whole cluster, such as `temp_dir`.
    pub ray_conf: BTreeMap<String, String>,
    /// Request to end the cluster; absent while it should run.
    pub termination: Option<TerminationSpec>,
    /// What the scheduler may do with the cluster.
    pub scheduling: Option<SchedulingSpec>,
}

/// Observed state of a `RayCluster`: whether it is up, where it runs and what failed.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RayClusterStatus {
    /// Where the cluster is in its life.
    pub state: RayClusterState,
    /// When this status last changed.
    pub last_update_time: Option<Time>,
    /// How to reach the head node.
    pub head_node: Option<RayHeadNodeInfo>,
    /// Where the scheduler put the cluster.
    pub assignment: Option<AssignmentInfo>,
    /// What the scheduler has done so far.
    pub scheduling_info: Option<SchedulingInfo>,
    /// Findings of the controller about the cluster, one a check.
    pub status_conditions: Vec<Condition>,
    /// URL of a page about the running cluster.
    pub job_url: String,
    /// Containers that failed.
    pub pod_errors: Vec<PodErrors>,
}

/// The head node: scheduler, cluster state and dashboard of Ray.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RayHeadSpec {
    /// Type of the Kubernetes service in front of it: `ClusterIP`, `NodePort` or `LoadBalancer`.
    pub service_type: String,
    /// Kubernetes pod template of the node.
    pub pod: Option<Opaque>,
    /// Options of `ray start` on the node, without their dashes, such as `dashboard-host`.
    pub ray_start_params: BTreeMap<String, String>,
}

/// A group of equal worker nodes, which grows and shrinks on its own.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RayWorkerSpec {
    /// Kubernetes pod template of each node.
    pub pod: Option<Opaque>,
    /// Number of nodes that are kept even when idle.
    pub min_instances: i32,
    /// Number of nodes that the group may grow to.
    pub max_instances: i32,
    /// Name of the group by which jobs ask for it, such as `gpu`.
    pub node_type: String,
    /// Options of `ray start` on each node, without their dashes, such as `num-cpus`.
    pub ray_start_params: BTreeMap<String, String>,
}

/// How to reach a running head node.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RayHeadNodeInfo {
    /// Name of the pod.
    pub name: String,
    /// Namespace of the pod, in the cluster that runs it.
    pub namespace: String,
    /// IP address of the pod, valid inside the cluster that runs it.
    pub ip: String,
    /// TCP port for Ray clients.
    pub client_port: i32,
    /// TCP port of a Jupyter notebook server on the node; 0 if there is none.
    pub jupyter_notebook_port: i32,
}

/// A container that failed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PodErrors {
    /// Name of the pod.
    pub name: String,
    /// Name of the container in the pod.
    pub container_name: String,
    /// Exit code of the container's process.
    pub exit_code: i32,
    /// Cause in one word, such as `OOMKilled`.
    pub reason: String,
    /// Explanation, for people.
    pub message: String,
}

wire_enum! {
    /// Where a Ray cluster is in its life.
    pub enum RayClusterState {
        /// Not set.
        Invalid = 0 => "RAY_CLUSTER_STATE_INVALID",
        /// Its nodes are being started.
        Provisioning = 1 => "RAY_CLUSTER_STATE_PROVISIONING",
        /// Up; takes jobs.
        Ready = 2 => "RAY_CLUSTER_STATE_READY",
        /// Its nodes are being stopped; takes no more jobs.
        Terminating = 3 => "RAY_CLUSTER_STATE_TERMINATING",
        /// Gone as requested.
        Terminated = 4 => "RAY_CLUSTER_STATE_TERMINATED",
        /// Could not be started or broke down.
        Failed = 5 => "RAY_CLUSTER_STATE_FAILED",
        /// The controller cannot tell, for instance because the nodes do not answer.
        UnknownState = 6 => "RAY_CLUSTER_STATE_UNKNOWN",
        /// Up, but some of it does not work as it should.
        Unhealthy = 7 => "RAY_CLUSTER_STATE_UNHEALTHY",
    }
}
