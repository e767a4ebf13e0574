//! `ingester policies`.

use super::{Cluster, ConfigFile, Output};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Say what leaves etcd and SQL by rules, and why.
///
/// Judges each rule of the kinds, of `policies.evict` and of `retention.rules` as `ingester run` does, whether it is enforced or not, and changes
/// nothing. FROM is where the rule is written: with a kind, in the configuration, or with a kind and narrowed by the configuration. STATE is that of
/// the rows that the rule is about: `live` ones leave etcd, `deleted` and `evicted` ones leave SQL. LEAVES are the objects that leave now, etcd within
/// the limit of an hour; BYTES are their texts'. STAYS are those that meet `when` and are too young or among the last ones. HINDERED are those that
/// leave once what keeps them in the cluster is gone, or once another rule no longer keeps their rows. PENDING are those that no rule may judge now,
/// because their columns are not proved to be those of their objects: `--explain` gives the reason and the remedy.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(crate) struct Policies {
    #[command(subcommand)]
    pub(crate) command: Option<PoliciesCommand>,
    /// Only the rules of these kinds.
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Say of the objects of this name what each rule says of them, and why; of evicted ones when and by what they left etcd.
    #[arg(long, value_name = "NAME")]
    pub(crate) explain: Option<String>,
    /// The configuration, a YAML file; docs/configuration.md lists all keys.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The commands that act on rules. Without one, `ingester policies` reports the effect of the rules.
#[derive(Debug, Subcommand)]
pub(crate) enum PoliciesCommand {
    /// Take back what a rule is about to purge.
    ///
    /// A rule about rows of evicted objects marks a row, and purges it after `retention.grace`. This command takes its marks back: the rows count as
    /// live again, and the rule leaves them alone until their objects change. If a live row has the same name by now, the row stays deleted and is
    /// listed.
    #[command(after_help = REVERT)]
    Revert(RevertPolicies),
}

/// `ingester policies revert`
#[derive(Debug, Args)]
pub(crate) struct RevertPolicies {
    /// The rule.
    #[arg(value_name = "RULE", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) rule: Option<String>,
    /// Only rows of these kinds.
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Take the marks of all rules back, also of rules that are gone.
    #[arg(long, conflicts_with = "kinds")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
}

const EXAMPLES: &str = "\
Examples:
  ingester policies --config ingester.yaml
  ingester policies pipelineruns --explain churn-1 --config ingester.yaml
  ingester policies -o json --config ingester.yaml
  ingester policies revert archive --config ingester.yaml";

const REVERT: &str = "\
Examples:
  ingester policies revert archive --config ingester.yaml
  ingester policies revert archive pipelineruns --config ingester.yaml
  ingester policies revert --all --config ingester.yaml";
