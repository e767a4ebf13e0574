//! The command line, as it is typed.
//!
//! May use: ingester-store.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Mirrors Kubernetes objects into SQL.
#[derive(Debug, Parser)]
#[command(name = "ingester", version, about, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Store objects from files or standard input, as kubectl prints them.
    Import(Import),
    /// Mirror a cluster into SQL, until it is stopped.
    Run(Run),
    /// Compare cluster and SQL, object by object.
    Audit(Audit),
    /// The finalizer that the ingester puts on objects.
    #[command(subcommand)]
    Finalizers(Finalizers),
    /// The SQL schema: print it, make it, keep the generated files current.
    #[command(subcommand)]
    Schema(Schema),
    /// Fill columns that were added to a table with rows in it, from the stored objects.
    Backfill(Backfill),
    /// The protobuf messages in the column `proto`.
    #[command(subcommand)]
    Proto(Proto),
    /// Print the CustomResourceDefinitions of the kinds.
    Crds(Crds),
    /// List the kinds with their tables and columns.
    Kinds(Kinds),
}

/// Reads YAML (many documents), JSON (one document, many, or one a line) and `List` objects, and stores them as rows. Where
/// the database lacks the tables it makes them. Exits with 1 when any object was rejected; the good ones are stored all
/// the same.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Files, folders (all .yaml, .yml, .json, .jsonl and .ndjson files in them), or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Print the first rows of each kind that was imported, as they now stand in the database (5 unless a number is
    /// given). With JSON or YAML they are in `rows`.
    #[arg(long, value_name = "ROWS", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    pub(crate) show: Option<usize>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Keeps SQL equal to the cluster: creates, updates, deletions, and what happened while it was not running. Ctrl-C and SIGTERM
/// stop it within seconds. It serves /metrics, /healthz and /readyz. While the storage is not enabled, or no database is named,
/// it does nothing at all and says so.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

/// Reads every object and every row and prints what differs: objects without a row, rows of an earlier or later version, rows
/// that say something else, live rows without an object. What differs at first sight is read again before it is reported, so
/// that the ingester may be running. Exits with 1 when anything differs.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// Mend what differs, as the ingester itself would. Exits with 1 only when something is left.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print at most so many findings; all are counted.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Finalizers {
    /// Take ours off every object, for uninstalling. Stop the ingester first, or it will put it on again.
    Remove(FinalizersRemove),
}

#[derive(Debug, Args)]
pub(crate) struct FinalizersRemove {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// The configuration, a YAML file; docs/configuration.md has all of its keys.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Cluster {
    /// The kubeconfig file. Without it, KUBECONFIG of the environment, ~/.kube/config, or the pod's service account.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context to use.
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Database {
    /// mysql://user:password@host:3306/database or sqlite://file.db. Without it, DATABASE_URL of the environment; without
    /// that, MYSQL_HOST, MYSQL_PORT, MYSQL_USER, MYSQL_PASSWORD and MYSQL_DB_NAME; without these, sqlite://ingester.db.
    // Not read from the environment by clap: to it, a variable that is set to nothing is a URL.
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Output {
    /// How to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns for people.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Schema {
    /// Print the statements that make the tables; running them again changes nothing.
    Print(SchemaPrint),
    /// Write the generated SQL files, and new migrations where the structs have changed.
    Generate(SchemaGenerate),
    /// Print what a database's tables lack to be those of the structs; exit with 1 if they lack anything.
    Diff(SchemaDiff),
    /// Run the migrations that a database has not seen yet; running it again changes nothing.
    Apply(SchemaApply),
    /// Take migrations back, the last one first.
    Revert(SchemaRevert),
    /// Compare a database with the released schema; exit with 1 if anything differs or a migration has not been run.
    Verify(SchemaVerify),
}

#[derive(Debug, Args)]
pub(crate) struct SchemaPrint {
    /// The database's family; mysql is for MariaDB, TiDB and Vitess too.
    #[arg(long, value_enum, default_value_t = DialectName::Mysql)]
    pub(crate) dialect: DialectName,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}

/// A database, by URL or by the configuration of `ingester run`.
#[derive(Debug, Args)]
pub(crate) struct Target {
    #[command(flatten)]
    pub(crate) database: Database,
    /// The configuration that names the database, instead of a URL.
    #[arg(long, value_name = "FILE", conflicts_with = "database_url")]
    pub(crate) config: Option<PathBuf>,
}

/// The migrations.
#[derive(Debug, Args)]
pub(crate) struct Migrations {
    /// The folder of the generated SQL, instead of the one that is built into this program.
    #[arg(long, value_name = "DIR")]
    pub(crate) sql: Option<PathBuf>,
}

/// Shows each change with what it costs on that very server.
#[derive(Debug, Args)]
pub(crate) struct SchemaDiff {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Two at once wait for each other, one that was interrupted is taken up again. A database whose tables are there but that
/// nobody has migrated so far is taken as it is. Values of new columns are filled afterwards by `ingester run`, or by
/// `ingester backfill`.
#[derive(Debug, Args)]
pub(crate) struct SchemaApply {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
}

/// Columns that come back are empty until they are filled again; columns that go take their values with them, so it asks for
/// --allow-destructive then.
#[derive(Debug, Args)]
pub(crate) struct SchemaRevert {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
    /// The number of the last migration that stays; 0 takes all of them back.
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: u32,
    /// Let data go.
    #[arg(long)]
    pub(crate) allow_destructive: bool,
}

/// A server's own spelling of a type is no difference; other tables in the database are none either.
#[derive(Debug, Args)]
pub(crate) struct SchemaVerify {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Reads every stored object of a kind, live, deleted or evicted, and writes the values that its columns should have. The
/// ingester may be running. Interrupted, it goes on where it was when it is run again. The table `ingester_backfills` says how
/// far each column is. Exits with 1 when an object could not be decoded.
#[derive(Debug, Args)]
pub(crate) struct Backfill {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Only this column; may be given several times. All indexed columns otherwise.
    #[arg(long = "column", value_name = "COLUMN")]
    pub(crate) columns: Vec<String>,
    /// Rows a second, at most; 0 for no limit.
    #[arg(long, value_name = "ROWS", default_value_t = ingester_store::migrate::RATE)]
    pub(crate) rate: u32,
    /// The kind.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Proto {
    /// Print an object as its `proto` column has it, as JSON.
    Decode(ProtoDecode),
}

#[derive(Debug, Args)]
pub(crate) struct ProtoDecode {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The kind.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
    /// The object's uid.
    #[arg(value_name = "UID")]
    pub(crate) uid: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectName {
    Mysql,
    Sqlite,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaGenerate {
    /// What the new migrations are called, such as add_owner; named after the changes otherwise.
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    pub(crate) name: Option<String>,
    /// Write migrations that drop data.
    #[arg(long, conflicts_with = "check")]
    pub(crate) allow_destructive: bool,
    /// Only look whether the files are current; exit with 1 if they are not.
    #[arg(long)]
    pub(crate) check: bool,
    /// The folder of the files.
    #[arg(long, value_name = "DIR", default_value = SchemaGenerate::OUT)]
    pub(crate) out: PathBuf,
}

impl SchemaGenerate {
    /// The folder when nobody names one.
    pub(crate) const OUT: &'static str = "generated-sql";
}

#[derive(Debug, Args)]
pub(crate) struct Crds {
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// Write one file a kind into this folder instead of printing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Kinds {
    #[command(flatten)]
    pub(crate) output: Output,
}
