//! The built-in `Pod`, as a projection: where it runs, what it runs and for whom. Everything else of it stays in the
//! `json` column.

use ingester_core::Ingestable;
use serde::Deserialize;

/// The parts of a pod that matter. Only pods that belong to something are mirrored, because the others are of no interest later.
#[derive(Ingestable, Deserialize, Debug, Default)]
#[ingest(group = "", version = "v1", kind = "Pod", plural = "pods", namespaced)]
#[ingest(table = "pod_facts", filter = has_owner)]
#[serde(default)]
pub struct Pod {
    /// Its metadata, besides the columns of every kind.
    #[index(column = "owner_uid", with = owner_uid)]
    pub metadata: PodMetadata,
    /// The desired state.
    #[index(column = "node", path = "node_name")]
    #[index(column = "image", with = first_image)]
    pub spec: PodSpec,
    /// The observed state.
    #[index(column = "phase", path = "phase")]
    #[index(column = "host_ip", path = "host_ip", json = "hostIP", type = "VARCHAR(45)")]
    #[index(column = "pod_ip", path = "pod_ip", json = "podIP", type = "VARCHAR(45)")]
    pub status: PodStatus,
}

/// The part of `metadata`.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PodMetadata {
    /// Objects that this one belongs to.
    pub owner_references: Vec<OwnerReference>,
}

/// An object that another one belongs to.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct OwnerReference {
    /// Its uid.
    pub uid: String,
    /// True for the owner that manages the object.
    pub controller: bool,
}

/// The part of `spec`.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node; absent until one is found.
    pub node_name: Option<String>,
    /// Its containers.
    pub containers: Vec<Container>,
}

/// One container.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct Container {
    /// Its image with tag or digest.
    pub image: String,
}

/// The part of `status`.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: Option<String>,
    /// Address of the node.
    #[serde(rename = "hostIP")]
    pub host_ip: Option<String>,
    /// Address of the pod.
    #[serde(rename = "podIP")]
    pub pod_ip: Option<String>,
}

fn has_owner(pod: &Pod) -> bool {
    !pod.metadata.owner_references.is_empty()
}

/// The controller, if there is one, otherwise the first owner.
fn owner_uid(metadata: &PodMetadata) -> Option<&str> {
    let owners = &metadata.owner_references;
    owners.iter().find(|owner| owner.controller).or(owners.first()).map(|owner| owner.uid.as_str())
}

fn first_image(spec: &PodSpec) -> Option<&str> {
    spec.containers.first().map(|container| container.image.as_str())
}
