//! The kinds of another program: a custom resource of our own, a built-in of Kubernetes and a custom resource of another
//! project. Each is one annotated struct and one line in [`KINDS`].

use ingester_core::protobuf::DescriptorSet;
use ingester_core::{GeneratedSql, Kind, registry};

pub mod experiment;
pub mod pod;
pub mod py_torch_job;

/// The messages of these kinds: `proto/` compiled.
pub static DESCRIPTORS: DescriptorSet = DescriptorSet::new(include_bytes!("../proto/descriptors.bin"));

/// The migrations of these kinds, which the program carries along.
pub const SQL: GeneratedSql = ingester_core::generated_sql!("generated-sql");

/// Every kind that this ingester mirrors.
pub const KINDS: &[Kind] =
    registry![&[Kind::of::<experiment::Experiment>(), Kind::of::<pod::Pod>(), Kind::of::<py_torch_job::PyTorchJob>()]];
