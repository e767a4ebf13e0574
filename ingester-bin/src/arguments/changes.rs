//! `ingester changes`.

use super::DatabaseArguments;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Print changes of rows, in the order of commits.
///
/// Prints one line for each change in the database's log of changes. Without --since or --since-file it starts at the beginning of the log,
/// which keeps entries for `changes.retention` of the mirror's configuration. A change is printed at least once: after an interruption,
/// start again with the position of the last line that you have processed, or let --since-file save it. If an object has changed again,
/// only its last change is printed, with its present state; --metadata prints every entry. Exits with 1 if the position is no longer in the
/// log.
///
/// The change `reset` is about no object: earlier changes of the kind are not in the log, for example those of the first import. Read all
/// objects of the kind again (`ingester get`); treat several resets in a row as one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Changes {
    /// Only these kinds; by default all.
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Only in these namespaces.
    #[arg(short, long, value_name = "NAMESPACE", value_delimiter = ',')]
    pub(crate) namespace: Vec<String>,
    /// Only objects with these labels at the time when the change is read. Purged objects have none.
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "metadata")]
    pub(crate) selector: Option<String>,
    /// Start after this: a position, which is only valid for its KIND, or a time: 2026-01-31T10:00:00Z, 2026-01-31, `1h` or `now`. By default
    /// the beginning of the log.
    #[arg(long, value_name = "POSITION|TIME")]
    pub(crate) since: Option<String>,
    /// Start after the positions in this file, and save the position of each line there once it is written. If the file does not exist,
    /// --since says where to start.
    #[arg(long, value_name = "FILE")]
    pub(crate) since_file: Option<PathBuf>,
    /// Continue, and print new changes as they are committed.
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only the entries, without objects.
    #[arg(long)]
    pub(crate) metadata: bool,
    /// One line of JSON for each change, or KIND/NAME.
    #[arg(short, long, value_enum, default_value_t = ChangesFormat::Json, value_name = "FORMAT")]
    pub(crate) output: ChangesFormat,
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
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
