//! What is about kinds that no struct describes, and about rights for any kinds.

use super::Cluster;
use clap::Args;
use std::path::PathBuf;

const SCAFFOLD: &str = "\
Examples:
  ingester scaffold certificates.crd.yaml > kinds.yaml
  ingester scaffold --from-cluster certificates.cert-manager.io > kinds.yaml
  kubectl get crd certificates.cert-manager.io -o yaml | ingester scaffold - > kinds.yaml
  ingester scaffold certificates.crd.yaml --rust > certificate.rs
  ingester import --kinds kinds.yaml objects/               the next step";

/// Print a first file of kinds for a CustomResourceDefinition.
///
/// The columns are the fields that the CRD selects and prints; the other fields are there as comments. The file works as it is, with
/// --kinds of every command.
#[derive(Debug, Args)]
#[command(after_help = SCAFFOLD)]
pub(crate) struct Scaffold {
    /// A file with the CRD, YAML or JSON; - for standard input.
    #[arg(value_name = "CRD", required_unless_present = "from_cluster", conflicts_with = "from_cluster")]
    pub(crate) file: Option<PathBuf>,
    /// The name of a CRD in the cluster, as `kubectl get crds` prints it.
    #[arg(long, value_name = "NAME")]
    pub(crate) from_cluster: Option<String>,
    /// A module with an annotated struct instead, for a program of your own.
    #[arg(long, conflicts_with = "yaml")]
    pub(crate) rust: bool,
    /// A file of kinds, as by default.
    #[arg(long)]
    pub(crate) yaml: bool,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

const RBAC: &str = "\
Examples:
  ingester rbac --config ingester.yaml | kubectl apply -f -
  ingester rbac --kinds kinds.yaml --name certificates      another name than `ingester`
  ingester rbac models projects";

/// Print the ClusterRole that `ingester run` needs for its kinds.
#[derive(Debug, Args)]
#[command(after_help = RBAC)]
pub(crate) struct Rbac {
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// The configuration of `ingester run`, which may choose kinds and finalizers.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The name of the ClusterRole.
    #[arg(long, value_name = "NAME", default_value = "ingester", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) name: String,
}
