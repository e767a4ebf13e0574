//! `ingester changes`.

use super::Target;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Print what has changed, in the order of commits.
///
/// A line a change, out of the log of changes in the database. Without --since or --since-file it begins where the log begins, which keeps
/// entries for `changes.retention` of the mirror's configuration. A change is printed at least once: after an interruption, begin again with
/// the position of the last line that was taken, or let --since-file keep it. An object that has changed again since is printed at its last
/// change alone, as it is then; --metadata prints every entry. Exits with 1 if the log does not have the position any more.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Changes {
    /// Only of these kinds; by default of all.
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Only in these namespaces.
    #[arg(short, long, value_name = "NAMESPACE", value_delimiter = ',')]
    pub(crate) namespace: Vec<String>,
    /// Only of objects with these labels, as they are when the change is read. Objects that are purged have none.
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "metadata")]
    pub(crate) selector: Option<String>,
    /// Begin behind this: a position, which is one of a KIND, or a time: 2026-01-31T10:00:00Z, 2026-01-31, `1h` or `now`.
    #[arg(long, value_name = "POSITION|TIME")]
    pub(crate) since: Option<String>,
    /// Begin behind the positions in this file, and keep the position of each line there once it is written. Without the file, --since says
    /// where to begin.
    #[arg(long, value_name = "FILE")]
    pub(crate) since_file: Option<PathBuf>,
    /// Go on, and print what is committed from now on.
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// The entries alone, without objects.
    #[arg(long)]
    pub(crate) metadata: bool,
    /// One line of JSON for each change, or KIND/NAME.
    #[arg(short, long, value_enum, default_value_t = ChangesFormat::Json, value_name = "FORMAT")]
    pub(crate) output: ChangesFormat,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// How a change is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangesFormat {
    /// Position, kind, change and object.
    Json,
    /// KIND/NAME, as kubectl prints it.
    Name,
}

const EXAMPLES: &str = "\
Examples:
  ingester changes models --config ingester.yaml --follow
  ingester changes models,pipelines -n ml --since 1h -o name
  ingester changes --follow --metadata --since now
  ingester changes models --follow --since-file models.position >> models.ndjson";
