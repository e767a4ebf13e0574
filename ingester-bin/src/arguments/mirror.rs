//! Commands that work with a cluster.

use super::{Cluster, ConfigFile, DatabaseArguments, Output, QueriesFolder};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const RUN: &str = "\
Examples:
  ingester run --config ingester.yaml
  ingester run --config ingester.yaml --context staging     another cluster of the kubeconfig
  ingester run --database-url sqlite://ingester.db          all defaults, for trying out
  MYSQL_HOST=db MYSQL_DB_NAME=jobs ingester run             all defaults, the database of the environment";

/// Mirror a cluster into SQL, until it is stopped.
///
/// Keeps SQL equal to the cluster: creations, updates, deletions, also those that happened while it was not running. Ctrl-C and SIGTERM
/// stop it within seconds. It serves /metrics, /healthz and /readyz. If the storage is not enabled, or no database is named, it stays idle
/// and logs why.
#[derive(Debug, Args)]
#[command(after_help = RUN)]
pub(crate) struct Run {
    /// The configuration, a YAML file; docs/configuration.md lists all keys. Without it and --database-url, all keys have their defaults,
    /// and the database is that of DATABASE_URL of the environment; without that, of MYSQL_HOST, MYSQL_PORT, MYSQL_USER, MYSQL_PASSWORD or
    /// MYSQL_PASSWORD_FILE, and MYSQL_DB_NAME; without these, of libpq's variables (PGHOST, PGDATABASE).
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// mysql://user:password@host:3306/database, postgres://user:password@host:5432/database or sqlite://file.db, instead of a
    /// configuration: all keys have their defaults.
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    pub(crate) database_url: Option<String>,
    /// A file with the password that the URL leaves out; a newline at its end is cut off.
    #[arg(long, value_name = "FILE", requires = "database_url")]
    pub(crate) password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

const SERVE: &str = "\
Examples:
  ingester serve --config ingester.yaml
  ingester serve --database-url sqlite://ingester.db --insecure-loopback 8001     for trying out";

/// Serve the objects in SQL by the Kubernetes API, until it is stopped.
///
/// kubectl and other Kubernetes clients list and read the objects in SQL: those in the cluster, and those that left it. The cluster's API
/// server authenticates callers and decides what they may do. It serves /metrics, /healthz and /readyz on `server.address` of the
/// configuration. Ctrl-C and SIGTERM stop it within seconds.
#[derive(Debug, Args)]
#[command(after_help = SERVE)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// For trials: plain HTTP on this port of 127.0.0.1 instead of `serve.address`. Every program on this machine may then read and change
    /// everything; other machines cannot connect. A cluster is only used if one is named here.
    #[arg(long, value_name = "PORT")]
    pub(crate) insecure_loopback: Option<u16>,
    #[command(flatten)]
    pub(crate) queries: QueriesFolder,
}

const MEMBERS: &str = "\
Examples:
  ingester members --namespace ingester
  ingester members --config ingester.yaml -o json";

/// List the members that share the work, and the units of each.
///
/// Each member has a Lease. With `ingester.replicas.enabled`, `ingester run` is a member.
#[derive(Debug, Args)]
#[command(after_help = MEMBERS)]
pub(crate) struct Members {
    /// The namespace of the Leases. By default that of the configuration, else that of the kubeconfig.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// The configuration of `ingester run`, which may name the group.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    #[command(flatten)]
    pub(crate) output: Output,
}

const AUDIT: &str = "\
Examples:
  ingester audit --config ingester.yaml                     all kinds
  ingester audit --config ingester.yaml models -o json
  ingester audit --config ingester.yaml --repair";

/// Compare cluster and SQL, object by object.
///
/// Reads every object and every row and prints what differs: objects without a row, rows of an earlier or later version, rows
/// with other content, live rows without an object. Every difference is read again before it is reported, so the ingester may
/// be running. Exits with 1 if anything differs.
#[derive(Debug, Args)]
#[command(after_help = AUDIT)]
pub(crate) struct Audit {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// Repair the differences, as the ingester itself would. Exits with 1 only if a difference is left.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print at most this many findings; all are counted.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}

const RESTORE: &str = "\
Examples:
  ingester restore model churn -n ml --config ingester.yaml
  ingester restore model/churn --dry-run                    what would be created
  ingester restore model --uid 8e9b6a52-0d3c-4f5e-9a58-3f0c5b1de7aa -o name
  ingester restore models -n ml -l team=pricing --field-selector owner=ada
  ingester restore models --all --dry-run                   every evicted one
  ingester restore pipelinerun nightly -n ml --at 2h        as it was two hours ago
  ingester restore model churn -n ml --abandon              gives up an interrupted one";

/// Bring objects that were evicted or deleted back into the cluster.
///
/// Creates the object in the cluster from its row: with another uid, without the fields that the API server sets, without our finalizer and
/// the annotations PREFIX/Immutable and PREFIX/Deleting, without references to owners that do not exist, and with the annotations
/// PREFIX/RestoredFrom and PREFIX/RestoreNonce, where PREFIX is michelangelo unless the program has another one. When the mirror stores it,
/// the old row is marked as deleted; until then the row cannot be changed, and the command can be repeated: it continues where it was
/// interrupted. Exits with 1 if a live object has the name, or if the old row is not yet marked.
///
/// With --at or --version, it restores a former version of the object, of a kind that keeps a history: into the cluster, also if the row was
/// purged; that of an evicted object goes back into its row.
///
/// With --selector, --field-selector or --all, it restores all evicted objects of the kind that the selectors match, and continues after one that
/// cannot be restored.
#[derive(Debug, Args)]
#[command(after_help = RESTORE)]
pub(crate) struct Restore {
    /// The kind; or KIND/NAME.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
    /// The object. If several rows have this name, an evicted one is preferred to a deleted one, then the newest.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// The object's namespace. It can be left out if only one has the name.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// The row of this uid.
    #[arg(long, value_name = "UID")]
    pub(crate) uid: Option<String>,
    /// All evicted objects that this label selector matches.
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with_all = ["name", "uid"])]
    pub(crate) selector: Option<String>,
    /// All evicted objects that this field selector matches, of columns or their paths.
    #[arg(long, value_name = "SELECTOR", conflicts_with_all = ["name", "uid"])]
    pub(crate) field_selector: Option<String>,
    /// All evicted objects of the kind.
    #[arg(long, conflicts_with_all = ["name", "uid"])]
    pub(crate) all: bool,
    /// The object as it was at this time: RFC 3339, a date, or how long ago (`7d`).
    #[arg(long, value_name = "TIME", conflicts_with_all = ["selector", "field_selector", "all", "version"])]
    pub(crate) at: Option<String>,
    /// The version of the object with this resourceVersion.
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["selector", "field_selector", "all"])]
    pub(crate) version: Option<u64>,
    /// Print what would be created, as YAML unless --output says otherwise, if the API server would accept it.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Give up a restore that was interrupted, so that the row can be changed again. If its object is in the cluster, the restore is completed
    /// instead. Refused for 90 seconds after the last attempt, whose request may still arrive.
    #[arg(long, conflicts_with_all = ["selector", "field_selector", "all", "at", "version"])]
    pub(crate) abandon: bool,
    /// Print the object, or its name.
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub(crate) output: Option<RestoreFormat>,
}

impl Restore {
    /// Returns true if objects are selected instead of one being named.
    pub(crate) fn selects(&self) -> bool {
        self.all || self.selector.is_some() || self.field_selector.is_some()
    }
}

/// How `ingester restore` prints an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RestoreFormat {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// KIND/NAME.
    Name,
}

pub(super) const FINALIZERS: &str = "\
Example:
  ingester finalizers remove --config ingester.yaml";

#[derive(Debug, Subcommand)]
pub(crate) enum Finalizers {
    Remove(FinalizersRemove),
}

const REMOVE: &str = "\
Examples:
  ingester finalizers remove --config ingester.yaml         of the configured namespaces and kinds
  ingester finalizers remove --config ingester.yaml -A      of all
  ingester finalizers remove --config ingester.yaml models";

/// Remove our finalizer from every object, before you uninstall. Stop the ingester first, or it adds the finalizer again.
///
/// If this was done for all kinds and namespaces, and the database of the configuration answers, the recorded prefix is deleted from the
/// database: a program with another prefix may then mirror into it.
#[derive(Debug, Args)]
#[command(after_help = REMOVE)]
pub(crate) struct FinalizersRemove {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// In every namespace, and of every kind of the program, whatever `ingester.namespaces` and `ingester.kinds` of the
    /// configuration say: for objects that the ingester followed before these were narrowed.
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}
