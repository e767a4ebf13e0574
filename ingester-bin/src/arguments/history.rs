//! `ingester history`.

use super::Target;
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
    pub(crate) target: Target,
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
