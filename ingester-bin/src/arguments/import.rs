//! `ingester import`.

use super::shared::namespace;
use super::{Output, Target};
use clap::Args;
use std::path::PathBuf;

/// Store objects from files or standard input, as kubectl prints them.
///
/// Reads YAML (many documents), JSON (one document, many, or one per line) and `List` objects, and stores them as rows. Makes the
/// tables of a database that has none of them (also the file of an SQLite database), and what is missing of declared kinds. Tables that
/// lack columns because migrations are pending are refused: `ingester schema apply` changes them. Exits with 1 if any object was
/// rejected; the others are stored anyway.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// Files, folders (all .yaml, .yml, .json, .jsonl and .ndjson files in them, at any depth), or - for standard input.
    #[arg(required_unless_present = "filename", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The same as kubectl takes it, separated by commas or given several times: of a folder, only the files directly in it are read,
    /// unless --recursive is given.
    #[arg(short, long, value_name = "PATH", value_delimiter = ',')]
    pub(crate) filename: Vec<PathBuf>,
    /// Read the folders of --filename at any depth. A PATH without --filename always is.
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,
    /// The namespace of objects that have none. An object that has another one is rejected, one of a cluster-wide kind has none.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = namespace)]
    pub(crate) namespace: Option<String>,
    /// Read, decode and check everything, compare it with what is stored, and print what would be written. Nothing is written, and no
    /// table is made.
    #[arg(long, conflicts_with = "show")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print the first rows in the database of each kind that was imported (5 unless a number is given). In JSON and YAML they
    /// are in `rows`.
    #[arg(long, value_name = "ROWS", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    pub(crate) show: Option<usize>,
    #[command(flatten)]
    pub(crate) output: Output,
}

const EXAMPLES: &str = "\
Examples:
  ingester import crd-specs/samples                         a folder, at any depth
  kubectl get models,pipelines -A -o json | ingester import --config ingester.yaml -
  ingester import -f model.yaml -n ml                       where the file names no namespace
  ingester import -R -f objects/ --dry-run                  what would be written
  ingester import --show=3 models.ndjson                    and the first three rows

SIGINT ends it behind the batch that is being written, with exit code 130; a second one ends it at once. The same import again goes on.";
