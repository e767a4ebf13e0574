//! Kind `Dataset`: a table of the data lake.

use ingester_core::wire::Timestamp;
use ingester_core::{Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a [`Dataset`].
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "data.example.com",
    version = "v1",
    kind = "Dataset",
    plural = "datasets",
    namespaced,
    status = "DatasetStatus",
    doc = "A table of the data lake.",
    selectable = ".spec.owner",
    selectable = ".spec.format",
    selectable = ".status.phase",
    printcolumn = r#"{"name": "Rows", "type": "integer", "jsonPath": ".status.rowCount"}"#,
    printcolumn = r#"{"name": "Refreshed", "type": "date", "jsonPath": ".status.refreshed"}"#
)]
#[ingest(absent = "null")]
#[serde(rename_all = "camelCase", default)]
pub struct DatasetSpec {
    /// Who answers for it.
    #[index]
    #[schemars(length(max = 255))]
    pub owner: Option<String>,
    /// How its files are written, such as `parquet`.
    #[index]
    #[schemars(length(max = 255))]
    pub format: Option<String>,
    /// Where its files are.
    pub uri: Option<String>,
}

/// Observed state of a [`Dataset`].
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DatasetStatus {
    /// `Ready` or `Failed`.
    #[index]
    #[schemars(length(max = 255))]
    pub phase: Option<String>,
    /// How many rows the last refresh found.
    #[index(key = false)]
    pub row_count: Option<i64>,
    /// When it was read last.
    #[index]
    pub refreshed: Option<Timestamp>,
}
