//! `ingester policies`.

use super::{ConfigFile, Output};
use clap::Args;

/// Say what leaves etcd and SQL by the rules of the configuration, and why.
///
/// Judges each rule of `policies.evict` and `retention.rules` as `ingester run` does, whether it is enforced or not, and changes nothing. STATE is
/// that of the rows that a rule is about: `live` ones leave etcd, `deleted` and `evicted` ones leave SQL. LEAVES are the objects that leave now,
/// etcd within the limit of an hour; BYTES are their texts'. STAYS are those that meet `when` and are too young or among the last ones. HINDERED
/// are those that leave once what keeps them in the cluster is gone, or another rule that keeps their rows lets them go.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Policies {
    /// Only the rules of these kinds.
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Say of the objects of this name what each rule says of them, and why.
    #[arg(long, value_name = "NAME")]
    pub(crate) explain: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) output: Output,
}

const EXAMPLES: &str = "\
Examples:
  ingester policies --config ingester.yaml
  ingester policies pipelineruns --explain churn-1 --config ingester.yaml
  ingester policies -o json --config ingester.yaml";
