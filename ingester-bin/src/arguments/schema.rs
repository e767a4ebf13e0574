//! Commands about tables, columns and kinds.

use super::{DatabaseArguments, Migrations, Output};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use ingester_sql::dialect::Dialect;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  ingester schema generate --name add_owner                 after a change of a struct
  ingester schema diff --config ingester.yaml               what that comes to in a database
  ingester schema apply --config ingester.yaml --dry-run
  ingester schema apply --config ingester.yaml";

pub(super) const PROTO: &str = "\
Example:
  ingester proto decode model 8e9b6a52-0d3c-4f5e-9a58-3f0c5b1de7aa";

#[derive(Debug, Subcommand)]
pub(crate) enum Schema {
    Print(SchemaPrint),
    Generate(SchemaGenerate),
    Diff(SchemaDiff),
    Apply(SchemaApply),
    Adopt(SchemaAdopt),
    Info(SchemaInfo),
    Revert(SchemaRevert),
    Verify(SchemaVerify),
}

const PRINT: &str = "\
Examples:
  ingester schema print                                     for MySQL and MariaDB
  ingester schema print --dialect sqlite models | sqlite3 models.db";

/// Print the statements that create the tables; running them again changes nothing.
#[derive(Debug, Args)]
#[command(after_help = PRINT)]
pub(crate) struct SchemaPrint {
    /// The SQL dialect; mysql also covers MariaDB, TiDB and Vitess.
    #[arg(long, value_parser = dialect(), default_value_t)]
    pub(crate) dialect: Dialect,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}

const DIFF: &str = "\
Examples:
  ingester schema diff --config ingester.yaml
  ingester schema diff --database-url sqlite://ingester.db -o json";

/// Print how a database's tables differ from the structs; exit with 1 if they do.
///
/// Shows each change with its cost on this server.
#[derive(Debug, Args)]
#[command(after_help = DIFF)]
pub(crate) struct SchemaDiff {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    #[command(flatten)]
    pub(crate) output: Output,
}

const APPLY: &str = "\
Examples:
  ingester schema apply --config ingester.yaml
  ingester schema apply --config ingester.yaml --dry-run    the SQL, and what it costs
  ingester schema apply --database-url mysql://owner@db/ma --password-file owner.txt";

/// Run the pending migrations of a database; running it again changes nothing.
///
/// Concurrent runs wait for each other, and the next run continues an interrupted one. If a database has tables but no record of
/// migrations, the migrations whose result it already has are recorded. `ingester run` or `ingester backfill` fills new columns afterwards.
#[derive(Debug, Args)]
#[command(after_help = APPLY)]
pub(crate) struct SchemaApply {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
    /// Print what would run, with its SQL and its cost on this server, and run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For kinds of a file (--kinds): also make changes that drop data. Migrations of a folder have been reviewed.
    #[arg(long)]
    pub(crate) allow_destructive: bool,
    /// Drop this view, which the ingester made and which is not declared any more; `schema diff --kinds FILE` names such views. Repeatable.
    #[arg(long, value_name = "VIEW")]
    pub(crate) drop_view: Vec<String>,
    /// On MariaDB, also compress the texts of former versions in tables that an earlier release created. This copies each table, and
    /// writers of its kind wait meanwhile.
    #[arg(long)]
    pub(crate) compress_history: bool,
}

const ADOPT: &str = "\
Examples:
  ingester schema adopt --config ingester.yaml              every kind that a file has declared
  ingester schema adopt crontabs --database-url sqlite://ingester.db";

/// Take over the tables of kinds that a file declared before and that are now built into this program; values stay.
///
/// The tables must match the structs: `ingester kinds KIND -o yaml` prints a struct or a declared kind, to compare them. Stop the program
/// with the file first. This command records the migrations of such tables as done, and the lock file counts the definitions from then on.
/// `ingester run` or `ingester backfill` reads the rows once afterwards. Exits with 1 if a table differs, and then changes nothing.
#[derive(Debug, Args)]
#[command(after_help = ADOPT)]
pub(crate) struct SchemaAdopt {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}

const INFO: &str = "\
Examples:
  ingester schema info --config ingester.yaml
  ingester schema info --database-url sqlite://ingester.db -o json";

/// List the migrations: which the database has run, which are pending, changed or missing.
///
/// States: applied; pending, it was not run; interrupted, it began and the next `schema apply` continues it; changed, the database has run
/// another text under its number; missing, this program does not have it. Exits with 1 if one is changed or missing, because `schema apply`
/// refuses such a database.
#[derive(Debug, Args)]
#[command(after_help = INFO)]
pub(crate) struct SchemaInfo {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
    #[command(flatten)]
    pub(crate) output: Output,
}

const REVERT: &str = "\
Examples:
  ingester schema revert --to 3 --config ingester.yaml      the migrations after 0003
  ingester schema revert --to 0 --allow-destructive --database-url sqlite://ingester.db";

/// Revert migrations, the last one first.
///
/// Restored columns are empty until they are filled again. Dropping columns loses their values, so it needs --allow-destructive.
#[derive(Debug, Args)]
#[command(after_help = REVERT)]
pub(crate) struct SchemaRevert {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
    /// The number of the last migration to keep; 0 reverts all of them.
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: u32,
    /// Allow changes that lose data.
    #[arg(long)]
    pub(crate) allow_destructive: bool,
}

const VERIFY: &str = "\
Examples:
  ingester schema verify --config ingester.yaml
  ingester schema verify --database-url sqlite://ingester.db -o json";

/// Compare a database with the released schema; exit with 1 if anything differs or a migration is pending.
///
/// A server's own spelling of a type is not a difference, nor are other tables in the database.
#[derive(Debug, Args)]
#[command(after_help = VERIFY)]
pub(crate) struct SchemaVerify {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
    #[command(flatten)]
    pub(crate) output: Output,
}

const BACKFILL: &str = "\
Examples:
  ingester backfill models --config ingester.yaml           all indexed columns
  ingester backfill models --column proto --rate 0          one, as fast as it goes";

/// Fill columns that were added to a table with rows, from the stored objects.
///
/// Reads every stored object of a kind, live, deleted or evicted, and writes the values that its columns should have. The
/// ingester may be running. After an interruption, the next run continues. The table `ingester_backfills` has the progress of
/// each column. Exits with 1 if an object cannot be decoded.
#[derive(Debug, Args)]
#[command(after_help = BACKFILL)]
pub(crate) struct Backfill {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    /// Only this column; may be given several times. By default all indexed columns.
    #[arg(long = "column", value_name = "COLUMN")]
    pub(crate) columns: Vec<String>,
    /// The most rows per second; 0 for no limit.
    #[arg(long, value_name = "ROWS", default_value_t = ingester_store::migrate::RATE)]
    pub(crate) rate: u32,
    /// The kind.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Proto {
    Decode(ProtoDecode),
}

const DECODE: &str = "\
Example:
  ingester proto decode model 8e9b6a52-0d3c-4f5e-9a58-3f0c5b1de7aa";

/// Print the object in a `proto` column as JSON.
#[derive(Debug, Args)]
#[command(after_help = DECODE)]
pub(crate) struct ProtoDecode {
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    /// The kind.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
    /// The object's uid.
    #[arg(value_name = "UID")]
    pub(crate) uid: String,
}

/// Reads the name of a dialect.
fn dialect() -> impl TypedValueParser<Value = Dialect> {
    let named = |name: String| Dialect::ALL.into_iter().find(|dialect| dialect.name() == name);
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)).try_map(move |name| named(name).ok_or("unknown dialect"))
}

const GENERATE: &str = "\
Examples:
  ingester schema generate --name add_owner
  ingester schema generate --amend                          after another change, before anybody has run the last one
  ingester schema generate --check                          in CI
  ingester schema generate --dialects postgres              no files for MySQL and SQLite, which are not used
  ingester schema generate --kinds kinds.yaml --out sql     the kinds of a file, which have a folder of their own";

/// Write the generated SQL files, and a new migration if the structs have changed.
#[derive(Debug, Args)]
#[command(after_help = GENERATE)]
pub(crate) struct SchemaGenerate {
    /// The name of the new migration, such as add_owner. By default it is named after the changes.
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    pub(crate) name: Option<String>,
    /// Write a migration that loses data.
    #[arg(long, conflicts_with = "check")]
    pub(crate) allow_destructive: bool,
    /// Write the last migration again instead of adding one. If a database has run it, first revert it there with `ingester schema revert`.
    #[arg(long, conflicts_with = "check")]
    pub(crate) amend: bool,
    /// Write files for these dialects only, from now on: the lock file remembers them, and files of others are deleted. By default all
    /// dialects have files.
    #[arg(long, value_name = "DIALECT", value_parser = dialect(), value_delimiter = ',', conflicts_with = "check")]
    pub(crate) dialects: Vec<Dialect>,
    /// Only check whether the files are current; exit with 1 if they are not.
    #[arg(long)]
    pub(crate) check: bool,
    /// The folder of the files; by default generated-sql. With --kinds it is required: the kinds of a file have a separate folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

const CRDS: &str = "\
Examples:
  ingester crds | kubectl apply -f -
  ingester crds models --out crds                           a file for each kind";

/// Print the CustomResourceDefinitions of the kinds.
#[derive(Debug, Args)]
#[command(after_help = CRDS)]
pub(crate) struct Crds {
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// Write one file per kind into this folder instead of printing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

const KINDS: &str = "\
Examples:
  ingester kinds
  ingester kinds models -o wide                             its columns, with their paths";

/// List the kinds with their tables and columns.
#[derive(Debug, Args)]
#[command(after_help = KINDS)]
pub(crate) struct Kinds {
    /// The output format.
    #[arg(short, long, value_enum, default_value_t = KindsFormat::Table)]
    pub(crate) output: KindsFormat,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindsFormat {
    /// A line for each kind.
    Table,
    /// A line for each column, with its type, the unit of quantities, what is stored for an absent value, and the path of the value in an
    /// object.
    Wide,
    /// JSON.
    Json,
    /// A file of kinds that declares the same, as far as a file can express it.
    Yaml,
}
