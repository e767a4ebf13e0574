//! `ingester rejects`.

use super::{DatabaseArguments, Output};
use clap::{Args, Subcommand};

/// List and clear the objects that could not be stored.
///
/// Objects that could not be decoded or stored are in the table `ingester_rejects`, each with the reason, until a good version of it is
/// stored. Without a command, lists them.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Rejects {
    #[command(subcommand)]
    pub(crate) command: Option<RejectsCommand>,
    #[command(flatten)]
    pub(crate) list: RejectsList,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RejectsCommand {
    #[command(after_help = LIST)]
    List(RejectsList),
    #[command(after_help = CLEAR)]
    Clear(RejectsClear),
}

const EXAMPLES: &str = "\
Examples:
  ingester rejects --config ingester.yaml
  ingester rejects models -n ml -o yaml
  ingester rejects clear models --config ingester.yaml";

const LIST: &str = "\
Examples:
  ingester rejects list
  ingester rejects list models,pipelines -n ml -o json";

const CLEAR: &str = "\
Examples:
  ingester rejects clear models -n ml
  ingester rejects clear --uid 8e9b6a52-0d3c-4f5e-9a58-3f0c5b1de7aa
  ingester rejects clear --all --config ingester.yaml";

/// List them, with the reason and the time of each.
#[derive(Debug, Args)]
pub(crate) struct RejectsList {
    /// Only of these kinds.
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Only in these namespaces.
    #[arg(short, long, value_name = "NAMESPACE", value_delimiter = ',')]
    pub(crate) namespace: Vec<String>,
    /// Print at most this many.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
}

/// Delete their records. An object that is still wrong is recorded again at the next attempt.
#[derive(Debug, Args)]
pub(crate) struct RejectsClear {
    /// Those of these kinds.
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Only in these namespaces.
    #[arg(short, long, value_name = "NAMESPACE", value_delimiter = ',')]
    pub(crate) namespace: Vec<String>,
    /// Those of the objects with these uids.
    #[arg(long, value_name = "UID", value_delimiter = ',', conflicts_with = "all")]
    pub(crate) uid: Vec<String>,
    /// All of them.
    #[arg(long, conflicts_with = "kinds")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
}
