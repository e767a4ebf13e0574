//! The kind Prometheus of monitoring.coreos.com/v1, as far as its columns need it.
//!
//! Written from the CustomResourceDefinition prometheuses.monitoring.coreos.com: change it as you like.

use ingester_core::Ingestable;
use serde::Deserialize;

/// A Prometheus.
#[derive(Ingestable, Deserialize, Clone, Debug, Default)]
#[ingest(group = "monitoring.coreos.com", version = "v1", kind = "Prometheus", plural = "prometheuses", namespaced)]
#[ingest(absent = "null")]
// No object waits for the ingester when it is deleted. The ingester deletes none, whatever its annotations say, and needs no right to
// do so.
#[ingest(finalizer = "never", evictable = false)]
#[ingest(columns(version, replicas, available_replicas, reconciled, available))]
#[index(column = "reconciled", with = reconciled, key = false, header = "Reconciled")]
#[index(column = "available", with = available, key = false, header = "Available")]
#[serde(rename_all = "camelCase", default)]
pub struct Prometheus {
    #[index(column = "version", path = "version", type = "TEXT", key = false, header = "Version")]
    #[index(column = "replicas", path = "replicas", key = false, header = "Desired")]
    pub spec: PrometheusSpec,
    #[index(column = "available_replicas", path = "available_replicas", key = false, header = "Ready")]
    #[index(column = "paused", path = "paused", key = false, header = "Paused", wide = true)]
    pub status: PrometheusStatus,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PrometheusSpec {
    pub version: Option<String>,
    pub replicas: Option<i32>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PrometheusStatus {
    pub available_replicas: Option<i32>,
    pub conditions: Vec<PrometheusStatusConditions>,
    pub paused: Option<bool>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PrometheusStatusConditions {
    pub type_: Option<String>,
    pub status: Option<String>,
}

/// `.status.conditions[type="Reconciled"].status`
fn reconciled(object: &Prometheus) -> Option<String> {
    object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Reconciled"))?.status.clone()
}

/// `.status.conditions[type="Available"].status`
fn available(object: &Prometheus) -> Option<String> {
    object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Available"))?.status.clone()
}
