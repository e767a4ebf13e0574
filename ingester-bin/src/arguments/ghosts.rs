//! `ingester ghosts`.

use super::{Cluster, ConfigFile, Output};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// List and resolve ghosts: evicted objects that are in the cluster again.
///
/// A restore of etcd from a backup brings evicted objects back, often in an earlier state than that of their rows. The ingester changes
/// neither side until you decide which one stays; an object with the same content as its row is evicted again by itself. Without a command,
/// lists ghosts. Exits with 1 if there are any.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(crate) struct Ghosts {
    #[command(subcommand)]
    pub(crate) command: Option<GhostsCommand>,
    #[command(flatten)]
    pub(crate) list: GhostsList,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GhostsCommand {
    #[command(after_help = LIST)]
    List(GhostsList),
    #[command(after_help = RESOLVE)]
    Resolve(GhostsResolve),
}

const EXAMPLES: &str = "\
Examples:
  ingester ghosts --config ingester.yaml
  ingester ghosts models -o json --config ingester.yaml
  ingester ghosts resolve --all --keep row --config ingester.yaml";

const LIST: &str = "\
Examples:
  ingester ghosts list --config ingester.yaml
  ingester ghosts list models,pipelines -o yaml --config ingester.yaml";

const RESOLVE: &str = "\
Examples:
  ingester ghosts resolve models churn-1 -n ml --keep row --config ingester.yaml
  ingester ghosts resolve models --all --keep object --export lost.jsonl --config ingester.yaml";

/// List them, with both versions and what differs.
#[derive(Debug, Args)]
pub(crate) struct GhostsList {
    /// Only of these kinds.
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// The configuration of `ingester run`.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Keep one side. First the content of the other side is appended to a file.
#[derive(Debug, Args)]
pub(crate) struct GhostsResolve {
    /// The kind; with --all, several kinds separated by commas, or none for all kinds.
    #[arg(value_name = "KIND", required_unless_present = "all")]
    pub(crate) kind: Option<String>,
    /// The objects' names.
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) names: Vec<String>,
    /// Only in this namespace.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// The side that stays.
    #[arg(long, value_enum, value_name = "SIDE")]
    pub(crate) keep: Side,
    /// All ghosts.
    #[arg(long)]
    pub(crate) all: bool,
    /// The file to which the content of the other side is appended, one object per line, before anything is changed.
    #[arg(long, value_name = "FILE", default_value = "ghosts.jsonl")]
    pub(crate) export: PathBuf,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// One side of a ghost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// SQL's: the object is deleted from the cluster again.
    Row,
    /// The cluster's: it replaces the row, and is mirrored from then on.
    Object,
}
