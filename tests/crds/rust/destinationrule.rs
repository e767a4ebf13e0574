//! The kind DestinationRule of networking.istio.io/v1, as far as its columns need it.
//!
//! Written from the CustomResourceDefinition destinationrules.networking.istio.io: change it as you like.

use ingester_core::Ingestable;
use serde::Deserialize;

/// A DestinationRule.
#[derive(Ingestable, Deserialize, Clone, Debug, Default)]
#[ingest(
    group = "networking.istio.io",
    version = "v1",
    kind = "DestinationRule",
    plural = "destinationrules",
    namespaced
)]
#[ingest(absent = "null")]
// No object waits for the ingester when it is deleted. The ingester deletes none, whatever its annotations say, and needs no right to
// do so.
#[ingest(finalizer = "never", evictable = false)]
#[serde(rename_all = "camelCase", default)]
pub struct DestinationRule {
    #[index(column = "host", path = "host", type = "TEXT", key = false, header = "Host")]
    pub spec: DestinationRuleSpec,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct DestinationRuleSpec {
    pub host: Option<String>,
}
