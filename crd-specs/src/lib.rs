//! The kinds of the Michelangelo API, one file a kind, and the registry that lists them.
//!
//! A kind is one annotated struct; everything that the ingester does with it follows from the line in [`KINDS`].

use ingester_core::GeneratedSql;
use ingester_core::protobuf::DescriptorSet;
use ingester_core::{Kind, registry};

pub mod cluster;
pub mod common;
pub mod deployment;
pub mod inference_server;
pub mod job;
pub mod model;
pub mod model_family;
pub mod pipeline;
pub mod pipeline_run;
pub mod pod;
pub mod project;
pub mod ray_cluster;
pub mod ray_job;
pub mod revision;
pub mod schema;
pub mod spark_job;
pub mod trigger_run;

/// The messages of the `proto` column: `proto/` compiled.
pub static DESCRIPTORS: DescriptorSet = DescriptorSet::new(include_bytes!("../proto/descriptors.bin"));

/// The migrations of these kinds.
pub const SQL: GeneratedSql = ingester_core::generated_sql!("generated-sql");

/// The registry: every kind that is mirrored.
pub const KINDS: &[Kind] = registry![&[
    Kind::of::<project::Project>(),
    Kind::of::<model_family::ModelFamily>(),
    Kind::of::<model::Model>(),
    Kind::of::<pipeline::Pipeline>(),
    Kind::of::<pipeline_run::PipelineRun>(),
    Kind::of::<inference_server::InferenceServer>(),
    Kind::of::<revision::Revision>(),
    Kind::of::<cluster::Cluster>(),
    Kind::of::<ray_cluster::RayCluster>(),
    Kind::of::<ray_job::RayJob>(),
    Kind::of::<trigger_run::TriggerRun>(),
    Kind::of::<deployment::Deployment>(),
    Kind::of::<spark_job::SparkJob>(),
]];
