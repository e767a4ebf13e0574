//! Kinds of somebody else's: a custom resource of our own, a built-in of Kubernetes and a custom resource of another
//! project, beside the kinds of the Michelangelo API. Each is one annotated struct and one line in [`KINDS`].

use ingester_core::Kind;
use ingester_core::ddl::GeneratedSql;
use ingester_core::protobuf::DescriptorSet;

pub mod experiment;
pub mod pod;
pub mod py_torch_job;

/// The messages of these kinds: `proto/` compiled.
pub static DESCRIPTORS: DescriptorSet = DescriptorSet::new(include_bytes!("../proto/descriptors.bin"));

/// The migrations of these kinds, which the program carries along.
pub const SQL: GeneratedSql = ingester_core::generated_sql!("generated-sql");

/// The registry: every kind that this ingester mirrors. A constant cannot join two lists, so the kinds of other crates
/// are listed here, too.
pub const KINDS: &[Kind] = &[
    Kind::of::<crd_specs::project::Project>(),
    Kind::of::<crd_specs::model_family::ModelFamily>(),
    Kind::of::<crd_specs::model::Model>(),
    Kind::of::<crd_specs::pipeline::Pipeline>(),
    Kind::of::<crd_specs::pipeline_run::PipelineRun>(),
    Kind::of::<crd_specs::inference_server::InferenceServer>(),
    Kind::of::<crd_specs::revision::Revision>(),
    Kind::of::<crd_specs::cluster::Cluster>(),
    Kind::of::<crd_specs::ray_cluster::RayCluster>(),
    Kind::of::<crd_specs::ray_job::RayJob>(),
    Kind::of::<crd_specs::trigger_run::TriggerRun>(),
    Kind::of::<crd_specs::deployment::Deployment>(),
    Kind::of::<crd_specs::spark_job::SparkJob>(),
    Kind::of::<experiment::Experiment>(),
    Kind::of::<pod::Pod>(),
    Kind::of::<py_torch_job::PyTorchJob>(),
];
