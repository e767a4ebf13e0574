//! The kind Application of argoproj.io/v1alpha1, as far as its columns need it.
//!
//! Written from the CustomResourceDefinition applications.argoproj.io: change it as you like.

use ingester_core::Ingestable;
use serde::Deserialize;

/// Objects in a repository that are to be in a cluster.
#[derive(Ingestable, Deserialize, Clone, Debug, Default)]
#[ingest(group = "argoproj.io", version = "v1alpha1", kind = "Application", plural = "applications", namespaced)]
#[ingest(absent = "null")]
// No object waits for the ingester when it is deleted. The ingester deletes none, whatever its annotations say, and needs no right to
// do so.
#[ingest(finalizer = "never", evictable = false)]
#[serde(rename_all = "camelCase", default)]
pub struct Application {
    #[index(column = "sync_status", path = "sync.status", type = "TEXT", key = false, header = "Sync Status")]
    #[index(column = "health_status", path = "health.status", type = "TEXT", key = false, header = "Health Status")]
    #[index(
        column = "sync_revision",
        path = "sync.revision",
        type = "TEXT",
        key = false,
        header = "Revision",
        wide = true
    )]
    pub status: ApplicationStatus,
    #[index(column = "project", path = "project", type = "TEXT", key = false, header = "Project", wide = true)]
    pub spec: ApplicationSpec,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplicationStatus {
    pub sync: ApplicationStatusSync,
    pub health: ApplicationStatusHealth,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplicationStatusSync {
    pub status: Option<String>,
    pub revision: Option<String>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplicationStatusHealth {
    pub status: Option<String>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplicationSpec {
    pub project: Option<String>,
}
