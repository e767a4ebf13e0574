//! `ingester policies`.

use super::{Cluster, ConfigFile, Output};
use clap::Args;

/// Say what leaves etcd and SQL by rules, and why.
///
/// Judges each rule of the kinds, of `policies.evict` and of `retention.rules` as `ingester run` does, whether it is enforced or not, and changes
/// nothing. FROM is where the rule is written: with a kind, in the configuration, or with a kind and loosened by the configuration. STATE is that of
/// the rows that the rule is about: `live` ones leave etcd, `deleted` and `evicted` ones leave SQL. LEAVES are the objects that leave now, etcd within
/// the limit of an hour; BYTES are their texts'. STAYS are those that meet `when` and are too young or among the last ones. HINDERED are those that
/// leave once what keeps them in the cluster is gone, or once another rule no longer keeps their rows.
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
    pub(crate) cluster: Cluster,
    #[command(flatten)]
    pub(crate) output: Output,
}

const EXAMPLES: &str = "\
Examples:
  ingester policies --config ingester.yaml
  ingester policies pipelineruns --explain churn-1 --config ingester.yaml
  ingester policies -o json --config ingester.yaml";
