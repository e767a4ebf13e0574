//! Kind `ModelFamily`: models that solve the same problem, gathered under one name.

use ingester_core::{Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a `ModelFamily`: its name and purpose.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "ModelFamily",
    plural = "modelfamilys",
    namespaced,
    status = "ModelFamilyStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "Models that solve the same problem, gathered under one name."
)]
#[ingest(protobuf = "michelangelo.api.v2.ModelFamily", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct ModelFamilySpec {
    /// Name of the family as people know it: letters, digits, `_` and `-`, 40 characters at most.
    /// It may differ from `metadata.name`.
    #[index(column = "model_family_name")]
    pub name: String,
    /// What the models of the family have in common, for people.
    pub description: String,
}

/// Observed state of a `ModelFamily`: the Michelangelo API reports nothing here.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelFamilyStatus {}
