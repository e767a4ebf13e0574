//! `ingester validate`.

use super::shared::namespace;
use super::{Cluster, ConfigFile, Output};
use clap::Args;

const VALIDATE: &str = "\
Examples:
  kubectl label namespace ingester-test PREFIX/Validate=true
  ingester validate --config ingester.yaml -n ingester-test --yes models projects
  ingester validate --config ingester.yaml -n ingester-test --yes models -o json";

/// Create, change, delete and evict test objects, and compare each step with SQL.
///
/// Run this while `ingester run` runs with the same configuration. One object of each kind is created, updated, labelled and deleted;
/// another one is evicted, unless the kind is not evictable. After each step the row is compared with the object. In the end objects and
/// rows are removed. Controllers act on these objects as on any others: a PipelineRun runs. So the command needs --yes, and a namespace
/// that has the label PREFIX/Validate=true, where PREFIX is michelangelo unless the program has another one. Exits with 1 if a step failed.
#[derive(Debug, Args)]
#[command(after_help = VALIDATE)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// The namespace of the test objects.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = namespace)]
    pub(crate) namespace: String,
    /// Confirms that objects may be created and deleted there.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// The kinds.
    #[arg(value_name = "KIND", required = true)]
    pub(crate) kinds: Vec<String>,
}
