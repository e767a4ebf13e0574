//! `ingester import`.

use super::shared::namespace;
use super::{Cluster, DatabaseArguments, Output};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Store objects from files, from standard input, or from another database.
///
/// Reads YAML (many documents), JSON (one document, many, or one per line) and `List` objects, and stores them as rows. Creates the tables
/// of a database that has none of them (also the file of an SQLite database), and missing tables and columns of declared kinds. Refuses
/// tables that lack columns because migrations are pending: run `ingester schema apply`. Exits with 1 if any object was rejected; the
/// others are stored anyway.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// Files, folders (all .yaml, .yml, .json, .jsonl and .ndjson files in them, at any depth), or - for standard input. With --from: the
    /// kinds whose rows are copied; by default all.
    #[arg(required_unless_present_any = ["filename", "from"], value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The same as for kubectl, separated by commas or given several times: only the files directly in a folder are read, unless
    /// --recursive is given.
    #[arg(short, long, value_name = "PATH", value_delimiter = ',', conflicts_with = "from")]
    pub(crate) filename: Vec<PathBuf>,
    /// Read the folders of --filename at any depth, as for a PATH without --filename.
    #[arg(short = 'R', long, conflicts_with = "from")]
    pub(crate) recursive: bool,
    /// The namespace of objects without one. An object of another namespace is rejected. Objects of a cluster-wide kind have none.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = namespace, conflicts_with = "from")]
    pub(crate) namespace: Option<String>,
    /// Read, decode and check all objects, compare them with the stored rows, and print what would be written. Writes nothing, and creates
    /// no table.
    #[arg(long, conflicts_with_all = ["show", "verify"])]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    /// Print the first rows in the database of each kind that was imported (5 unless a number is given). In JSON and YAML they
    /// are in `rows`.
    #[arg(long, value_name = "ROWS", num_args = 0..=1, require_equals = true, default_missing_value = "5", conflicts_with = "from")]
    pub(crate) show: Option<usize>,
    /// Take the state and the times of an object from its annotations `mirror.michelangelo.api/...`, as `ingester get --state all -o json`
    /// prints them: an evicted object becomes an evicted row, a deleted one a deleted row. Without this option, all objects of files are
    /// live.
    #[arg(long, conflicts_with = "from")]
    pub(crate) states: bool,
    /// Import objects that have `generateName` and no name under names that are generated from their texts: the same import again finds their
    /// rows. Without this option, they are rejected.
    #[arg(long, conflicts_with = "from")]
    pub(crate) generate_names: bool,
    /// Pass over objects of kinds that this ingester does not mirror, instead of rejecting them.
    #[arg(long, conflicts_with = "from")]
    pub(crate) ignore_unknown: bool,
    /// Copy the rows of this database, with the states and times of their objects: one of the reference system, or of an ingester, on any
    /// engine. Nothing is written into it. Run this again as often as you like: only missing and later rows are copied. See docs/moving.md.
    #[arg(long, value_name = "URL", help_heading = "Another database")]
    pub(crate) from: Option<String>,
    /// A file with the password that the URL of --from leaves out.
    #[arg(long, value_name = "FILE", requires = "from", help_heading = "Another database")]
    pub(crate) from_password_file: Option<PathBuf>,
    /// The state of objects that do not say their state. For files: `evicted` stores rows that are the only copies of their objects, as after
    /// a database has lost evicted rows; the default is live. For --from: the state of the reference system's rows without
    /// `delete_time`, if no --kubeconfig or --context names the cluster: the reference system does not record which of its objects have left
    /// the cluster.
    #[arg(long, value_enum, value_name = "STATE", conflicts_with_all = ["kubeconfig", "context"])]
    pub(crate) assume: Option<AssumedState>,
    /// Compare both databases after that, row by row, and print the counts and a hash of each kind. Exits with 1 on any difference.
    #[arg(long, requires = "from", help_heading = "Another database")]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The state of objects that do not say their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AssumedState {
    /// They are in the cluster. The first list of `ingester run` writes their rows again.
    Live,
    /// They have left the cluster for good: the rows are the only copies.
    Evicted,
}

const EXAMPLES: &str = "\
Examples:
  ingester import crd-specs/samples                         a folder, at any depth
  kubectl get models,pipelines -A -o json | ingester import --config ingester.yaml -
  ingester import -f model.yaml -n ml                       where the file names no namespace
  ingester import -R -f objects/ --dry-run                  what would be written
  ingester import --ignore-unknown manifests/               only the objects of known kinds
  ingester import --show=3 models.ndjson                    and the first three rows
  ingester import --states objects.json                     what `get --state all -o json` printed
  ingester import --assume evicted lost.json                rows that the database has lost, out of a backup
  ingester import --from mysql://reader@old:3306/michelangelo --kubeconfig ~/.kube/config --verify
  ingester import --from mysql://reader@old:3306/michelangelo --assume evicted --dry-run models pipelines

SIGINT ends it after the batch that is being written, with exit code 130; a second one ends it at once. The same import again continues.";
