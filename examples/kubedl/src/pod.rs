//! Pods of the five kinds of jobs whose pods KubeDL stores.

use ingester_core::Ingestable;
use ingester_core::wire::Time;
use ingester_core::wire::resources::Requirements;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The kinds of jobs whose pods are stored, and the name of the main container of their pods.
const MAIN_CONTAINERS: [(&str, &str); 5] = [
    ("TFJob", "tensorflow"),
    ("PyTorchJob", "pytorch"),
    ("XGBoostJob", "xgboostjob"),
    ("XDLJob", "xdl"),
    ("ElasticBatchJob", "elasticbatch"),
];

/// A pod of a job. Its fields are about its main container, or about the first one if none has that name.
#[derive(Ingestable, Deserialize, Debug, Default)]
#[ingest(group = "", version = "v1", kind = "Pod", plural = "pods", namespaced)]
#[ingest(table = "kubedl_pod", finalizer = "never", filter = is_replica)]
#[ingest(key(job_id, replica_type), key(namespace, phase))]
#[index(column = "image", with = image, type = "VARCHAR(512)", key = false)]
#[index(column = "started", with = started, key = false, first)]
#[index(column = "finished", with = finished, key = false, first)]
#[index(column = "exit_code", with = exit_code, key = false)]
#[index(column = "reason", with = reason, type = "VARCHAR(256)", key = false)]
#[index(column = "message", with = message, type = "TEXT", key = false)]
#[serde(default)]
pub struct Pod {
    /// The part of `metadata`: creation, labels and owners.
    #[index(column = "job_id", with = job_id, type = "VARCHAR(64)")]
    #[index(column = "job_kind", with = job_kind, type = "VARCHAR(63)", key = false)]
    #[index(column = "job_name", with = job_name, type = "VARCHAR(256)")]
    #[index(column = "replica_type", with = replica_type, type = "VARCHAR(63)")]
    #[index(column = "replica_index", with = replica_index, type = "VARCHAR(63)", key = false)]
    pub metadata: PodMetadata,
    /// The desired state.
    #[index(column = "node", path = "node_name", type = "VARCHAR(256)")]
    #[index(column = "resources", with = resources, type = "TEXT", key = false)]
    pub spec: PodSpec,
    /// The observed state.
    #[index(column = "phase", path = "phase", type = "VARCHAR(16)")]
    #[index(column = "container_count", with = container_count, key = false)]
    #[index(column = "host_ip", path = "host_ip", json = "hostIP", type = "VARCHAR(64)", key = false)]
    #[index(column = "pod_ip", path = "pod_ip", json = "podIP", type = "VARCHAR(64)")]
    #[index(column = "start_time", path = "start_time", key = false)]
    pub status: PodStatus,
}

/// The part of `metadata`.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PodMetadata {
    /// When it was made.
    pub creation_timestamp: Option<Time>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Objects that it belongs to.
    pub owner_references: Vec<OwnerReference>,
}

/// An object that the pod belongs to.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// Its group and version.
    pub api_version: Option<String>,
    /// Its kind.
    pub kind: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its uid.
    pub uid: Option<String>,
    /// This owner manages the pod.
    pub controller: bool,
}

/// The part of `spec`.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node; absent until one is found.
    pub node_name: Option<String>,
    /// The containers that run in it.
    pub containers: Vec<Container>,
    /// The containers that run before them.
    pub init_containers: Vec<Container>,
}

/// One container.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its image.
    pub image: Option<String>,
    /// The resources that it requests.
    pub resources: Requirements,
}

/// The part of `status`.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: Option<String>,
    /// The reason, if it concerns the pod and none of its containers.
    pub reason: Option<String>,
    /// The reason, for people.
    pub message: Option<String>,
    /// Address of the node.
    #[serde(rename = "hostIP")]
    pub host_ip: Option<String>,
    /// Address of the pod.
    #[serde(rename = "podIP")]
    pub pod_ip: Option<String>,
    /// When the kubelet took it up.
    pub start_time: Option<Time>,
    /// The state of each container.
    pub container_statuses: Vec<ContainerStatus>,
}

/// The observed state of a container.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct ContainerStatus {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: ContainerState,
}

/// The state of a container: one of these, or neither while it waits.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct ContainerState {
    /// It runs.
    pub running: Option<Running>,
    /// It has ended.
    pub terminated: Option<Terminated>,
}

/// A container that runs.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Running {
    /// Since when.
    pub started_at: Option<Time>,
}

/// A container that has ended.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Terminated {
    /// When it began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub finished_at: Option<Time>,
    /// With which code.
    pub exit_code: Option<i32>,
    /// The reason.
    pub reason: Option<String>,
    /// The reason, for people.
    pub message: Option<String>,
}

fn is_replica(pod: &Pod) -> bool {
    let of_kubedl = |owner: &OwnerReference| {
        matches!(owner.api_version.as_deref(), Some("training.kubedl.io/v1alpha1" | "inference.kubedl.io/v1alpha1"))
    };
    let controller = pod.metadata.controller();
    pod.metadata.labels.contains_key("group-name")
        && controller.is_some_and(of_kubedl)
        && pod.main_container().is_some()
}

impl PodMetadata {
    fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller)
    }
}

impl Pod {
    /// The name of its main container.
    fn main_container(&self) -> Option<&'static str> {
        let kind = self.metadata.controller()?.kind.as_deref()?;
        MAIN_CONTAINERS.iter().find(|(of, _)| *of == kind).map(|(_, name)| *name)
    }

    /// The state of its main container.
    fn state(&self) -> Option<&ContainerState> {
        let all = &self.status.container_statuses;
        let name = self.main_container()?;
        all.iter().find(|one| one.name == name).or(all.first()).map(|one| &one.state)
    }

    fn terminated(&self) -> Option<&Terminated> {
        self.state()?.terminated.as_ref()
    }

    fn is_running(&self) -> bool {
        self.status.phase.as_deref() == Some("Running")
    }

    fn has_ended(&self) -> bool {
        matches!(self.status.phase.as_deref(), Some("Succeeded" | "Failed"))
    }
}

fn job_id(metadata: &PodMetadata) -> Option<&str> {
    metadata.controller()?.uid.as_deref()
}

fn job_kind(metadata: &PodMetadata) -> Option<&str> {
    metadata.controller()?.kind.as_deref()
}

fn job_name(metadata: &PodMetadata) -> Option<&str> {
    metadata.controller()?.name.as_deref()
}

fn replica_type(metadata: &PodMetadata) -> Option<&str> {
    metadata.labels.get("replica-type").map(String::as_str)
}

fn replica_index(metadata: &PodMetadata) -> Option<&str> {
    metadata.labels.get("replica-index").map(String::as_str)
}

fn resources(spec: &PodSpec) -> Requirements {
    Requirements::of_pod(
        spec.containers.iter().map(|one| &one.resources),
        spec.init_containers.iter().map(|one| &one.resources),
    )
}

fn container_count(status: &PodStatus) -> i32 {
    i32::try_from(status.container_statuses.len()).unwrap_or(i32::MAX)
}

fn image(pod: &Pod) -> Option<&str> {
    let all = &pod.spec.containers;
    let name = pod.main_container()?;
    all.iter().find(|one| one.name == name).or(all.first())?.image.as_deref()
}

/// When its main container started, or when the pod was created, if it is known to have started.
fn started(pod: &Pod) -> Option<Time> {
    let made = pod.metadata.creation_timestamp;
    if pod.is_running() {
        return pod.state()?.running.as_ref().and_then(|running| running.started_at).or(made);
    }
    if !pod.has_ended() {
        return None;
    }
    pod.terminated().and_then(|terminated| terminated.started_at).or(made)
}

fn finished(pod: &Pod) -> Option<Time> {
    if pod.has_ended() { pod.terminated()?.finished_at } else { None }
}

fn exit_code(pod: &Pod) -> Option<i32> {
    pod.terminated()?.exit_code
}

/// A pod that never ran, because its node evicted it, has the reason itself.
fn reason(pod: &Pod) -> Option<&str> {
    let of_container = pod.terminated().and_then(|terminated| terminated.reason.as_deref());
    of_container.or(pod.status.reason.as_deref())
}

fn message(pod: &Pod) -> Option<&str> {
    let of_container = pod.terminated().and_then(|terminated| terminated.message.as_deref());
    of_container.or(pod.status.message.as_deref())
}
