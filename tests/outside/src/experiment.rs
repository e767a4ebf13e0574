//! Kind `Experiment` of `ml.example.com/v1`: a custom resource that is ours to define.

use ingester_core::wire::Timestamp;
use ingester_core::{ColumnValue, Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of an [`Experiment`]: what is tried, on which data, for whom.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "ml.example.com",
    version = "v1",
    kind = "Experiment",
    plural = "experiments",
    namespaced,
    status = "ExperimentStatus",
    doc = "A search for the best parameters of a training."
)]
#[ingest(key(namespace, phase), protobuf = "ml.example.v1.Experiment")]
#[serde(rename_all = "camelCase", default)]
pub struct ExperimentSpec {
    /// Who answers for it.
    #[index(path = "name")]
    #[index(column = "team", path = "team")]
    pub owner: Option<Owner>,
    /// The dataset that it learns from.
    #[index]
    pub dataset: Option<DatasetReference>,
    /// Until when it must be done.
    #[index]
    pub deadline: Option<Timestamp>,
    /// How many trials it may run.
    pub max_trials: i32,
    /// Its topics, such as `nlp`; in SQL a table of their own.
    #[index(many)]
    pub tags: Vec<String>,
}

/// Observed state of an [`Experiment`].
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ExperimentStatus {
    /// How far it is.
    #[index]
    pub phase: Phase,
    /// The best value so far; absent before the first trial has ended.
    #[index]
    pub best_value: Option<f64>,
}

/// How far an experiment is.
#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No trial has started.
    #[default]
    Pending,
    /// Trials run.
    Running,
    /// The best parameters are known.
    Succeeded,
    /// It ended without a result.
    Failed,
}

/// A person in a team.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Owner {
    /// Login name.
    pub name: String,
    /// The team's name.
    pub team: String,
}

/// A dataset; in SQL two columns under one key.
#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DatasetReference {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}
