//! `ingester history` and `ingester diff`.

use super::DatabaseArguments;
use clap::{Args, ValueEnum};

/// One object, or what had its name one after the other.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The kind; or KIND/NAME.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
    /// The object.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The object's namespace. It can be left out if the name is in only one.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// Only the object of this uid.
    #[arg(long, value_name = "UID")]
    pub(crate) uid: Option<String>,
}

/// Print the versions of an object, the latest first.
///
/// A line for each version: its resourceVersion, from when to when it was there by the database's clock, for how long, by what it began, and the
/// paths of what differs from the version before. If several objects have had the name, all of them are printed; -o wide has their uids. The
/// kind must keep a history, see docs/history.md. Exits with 1 if nothing has had the name.
#[derive(Debug, Args)]
#[command(after_help = HISTORY)]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) object: Named,
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    /// At most this many versions, the latest.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// With uids and with all paths; or the objects of the versions. By default a table without the paths of what changes with every write.
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub(crate) output: Option<HistoryFormat>,
    /// No headers above columns.
    #[arg(long)]
    pub(crate) no_headers: bool,
}

const HISTORY: &str = "\
Examples:
  ingester history pipelinerun nightly -n ml --kinds kinds.yaml      what became of it, and when
  ingester history pipelinerun/nightly --limit 10 -o wide
  ingester history pipelinerun nightly -n ml -o json                 each version as an object";

/// How `ingester history` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    /// A table with uids and all paths.
    Wide,
    /// Objects in JSON.
    Json,
    /// Objects in YAML.
    Yaml,
}

/// Print what differs between two versions of an object.
///
/// A unified diff of their YAML, in colours on a terminal unless NO_COLOR is set; with -o json, the JSON patch (RFC 6902) that makes one of the
/// other. A version is named by its resourceVersion or by a time at which it was there: RFC 3339, a date, or how long ago (`7d`). Without
/// --from it is the version before --to, without --to the last one. The kind must keep a history, see docs/history.md.
#[derive(Debug, Args)]
#[command(after_help = DIFF)]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) object: Named,
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    /// The first version: its resourceVersion, or a time.
    #[arg(long, value_name = "VERSION|TIME")]
    pub(crate) from: Option<String>,
    /// The second one.
    #[arg(long, value_name = "VERSION|TIME")]
    pub(crate) to: Option<String>,
    /// A JSON patch instead of a unified diff.
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub(crate) output: Option<DiffFormat>,
}

const DIFF: &str = "\
Examples:
  ingester diff pipelinerun nightly -n ml                    what changed last
  ingester diff pipelinerun/nightly --from 2h                since two hours ago
  ingester diff pipelinerun nightly --from 4711 --to 4720 -o json";

/// How `ingester diff` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// A JSON patch.
    Json,
}
