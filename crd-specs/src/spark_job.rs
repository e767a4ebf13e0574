//! Kind `SparkJob`: a Spark application, one driver and its executors.

use crate::common::{Condition, UserInfo};
use crate::job::{Affinity, AssignmentInfo, SchedulingInfo, SchedulingSpec, TerminationSpec};
use crate::pod::PodSpec;
use ingester_core::wire::Opaque;
use ingester_core::{Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Desired state of a `SparkJob`: the application, its pods and when it ends.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "SparkJob",
    plural = "sparkjobs",
    namespaced,
    status = "SparkJobStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A Spark application: one driver pod and its executor pods."
)]
#[ingest(protobuf = "michelangelo.api.v2.SparkJob", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct SparkJobSpec {
    /// The user for whom the job runs; Spark impersonates the user's proxy, if there is one.
    pub user: Option<UserInfo>,
    /// Wishes about the place where the job runs.
    pub affinity: Option<Affinity>,
    /// The pod that coordinates the application.
    pub driver: Option<DriverSpec>,
    /// The pods that do the work.
    pub executor: Option<ExecutorSpec>,
    /// Spark properties, such as `spark.sql.shuffle.partitions`.
    pub spark_conf: BTreeMap<String, String>,
    /// Full name of the class with the `main` method; empty for a Python application.
    pub main_class: String,
    /// Path or URL of the JAR or Python file to run.
    pub main_application_file: String,
    /// Arguments of the application, in order.
    pub main_args: Vec<String>,
    /// Further files that the application needs.
    pub deps: Option<Dependencies>,
    /// Request to end the job; absent while it should run.
    pub termination: Option<TerminationSpec>,
    /// What the scheduler may do with the job.
    pub scheduling: Option<SchedulingSpec>,
    /// Release of Spark, such as `3.3.0`.
    pub spark_version: String,
}

/// Observed state of a `SparkJob`: where it runs and how far it is.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SparkJobStatus {
    /// Conditions in the form of Kubernetes. Superseded by `statusConditions`.
    pub conditions: Vec<Opaque>,
    /// Where the scheduler put the job.
    pub assignment: Option<AssignmentInfo>,
    /// What the scheduler has done so far.
    pub scheduling_info: Option<SchedulingInfo>,
    /// Findings of the controller about the job, one a check.
    pub status_conditions: Vec<Condition>,
    /// URL of the application's page in the Spark UI.
    pub job_url: String,
    /// Identifier that Spark gave the application.
    pub application_id: String,
}

/// The pod that coordinates a Spark application.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DriverSpec {
    /// Image, environment and size of the pod.
    pub pod: Option<PodSpec>,
}

/// The pods that do the work of a Spark application.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecutorSpec {
    /// Image, environment and size of each pod.
    pub pod: Option<PodSpec>,
    /// Number of pods.
    pub instances: i32,
}

/// Files that a Spark application needs on every node: paths or URLs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Dependencies {
    /// JARs put on the class path.
    pub jars: Vec<String>,
    /// Files put in the working directory.
    pub files: Vec<String>,
    /// Python files put on the module path.
    pub py_files: Vec<String>,
}
