//! The command line.
//!
//! May use: ingester-core, ingester-store.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use ingester_core::dialect::Dialect;
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
    /// Print objects out of SQL, as kubectl prints them out of a cluster.
    Get(Box<Get>),
    /// List the saved queries that `ingester get --query` takes.
    Queries(Queries),
    /// Print a kubeconfig with which kubectl asks an `ingester serve`.
    Kubeconfig(Kubeconfig),
    /// Mirror a cluster into SQL, until it is stopped.
    Run(Run),
    /// Serve the objects in SQL as a Kubernetes API server does, until it is stopped.
    Serve(Serve),
    /// Compare cluster and SQL, object by object.
    Audit(Audit),
    /// Bring an object that was evicted or deleted back into the cluster.
    Restore(Restore),
    /// The finalizer that the ingester adds to objects.
    #[command(subcommand)]
    Finalizers(Finalizers),
    /// The SQL schema: print it, migrate it, keep the generated files current.
    #[command(subcommand)]
    Schema(Schema),
    /// Fill columns that were added to a table with rows, from the stored objects.
    Backfill(Backfill),
    /// The protobuf messages in the column `proto`.
    #[command(subcommand)]
    Proto(Proto),
    /// Print the CustomResourceDefinitions of the kinds.
    Crds(Crds),
    /// List the kinds with their tables and columns.
    Kinds(Kinds),
}

/// Reads YAML (many documents), JSON (one document, many, or one per line) and `List` objects, and stores them as rows. Creates
/// the tables of an empty database. Exits with 1 if any object was rejected; the others are stored anyway.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Files, folders (all .yaml, .yml, .json, .jsonl and .ndjson files in them), or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Print the first rows in the database of each kind that was imported (5 unless a number is given). In JSON and YAML they
    /// are in `rows`.
    #[arg(long, value_name = "ROWS", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    pub(crate) show: Option<usize>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The database is asked, not the cluster: what was evicted is there as well, and what was deleted if --state says so. A kind is
/// named as for kubectl: `model`, `models`, `Model` and `models.michelangelo.api` are the same one. Exits with 1 if a NAME is not
/// found.
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES, override_usage = GET_USAGE)]
pub(crate) struct Get {
    /// Kinds, separated by commas, then names of objects; or KIND/NAME for each object.
    #[arg(required_unless_present = "query", value_name = "KIND")]
    pub(crate) resources: Vec<String>,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Ask this saved query, instead of for a KIND and what `Which` and --sort-by say (`ingester queries` lists them). With --limit,
    /// the query's own limit does not count.
    #[arg(long, value_name = "NAME", conflicts_with_all = SAVED_SAYS, help_heading = "Saved queries")]
    pub(crate) query: Option<String>,
    /// A value for a parameter of the query; may be given several times. A list has commas between its values.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter, help_heading = "Saved queries")]
    pub(crate) parameters: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) queries: QueriesFolder,
    /// Only these namespaces. Without it, all of them: there is no context that has one.
    #[arg(short, long, value_name = "NAMESPACE", value_delimiter = ',', help_heading = "Which")]
    pub(crate) namespace: Vec<String>,
    /// In all namespaces, which is the default.
    #[arg(short = 'A', long, conflicts_with = "namespace", help_heading = "Which")]
    pub(crate) all_namespaces: bool,
    /// Only objects whose labels pass: `team=pricing,stage in (dev,test),!old`.
    #[arg(short = 'l', long, value_name = "SELECTOR", help_heading = "Which")]
    pub(crate) selector: Vec<String>,
    /// Only objects whose fields pass: `spec.actor.name=ada,status.state!=PIPELINE_RUN_STATE_SUCCEEDED`. A field needs a column
    /// (`ingester kinds -o wide` lists them), or --scan.
    #[arg(long, value_name = "SELECTOR", help_heading = "Which")]
    pub(crate) field_selector: Vec<String>,
    /// Only objects with these uids, in any state unless --state says otherwise.
    #[arg(long, value_name = "UID", value_delimiter = ',', help_heading = "Which")]
    pub(crate) uid: Vec<String>,
    /// Only objects in these states [default: live,evicted].
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_enum, help_heading = "Which")]
    pub(crate) state: Vec<State>,
    /// Only objects that were created then or later: RFC 3339, a date, or how long ago, such as 2h or 7d.
    #[arg(long, value_name = "TIME", help_heading = "Which")]
    pub(crate) created_after: Option<String>,
    /// Only objects that were created before.
    #[arg(long, value_name = "TIME", help_heading = "Which")]
    pub(crate) created_before: Option<String>,
    /// Only objects that were deleted then or later; means --state deleted.
    #[arg(long, value_name = "TIME", help_heading = "Which")]
    pub(crate) deleted_after: Option<String>,
    /// Only objects that were deleted before; means --state deleted.
    #[arg(long, value_name = "TIME", help_heading = "Which")]
    pub(crate) deleted_before: Option<String>,
    /// Allow fields without a column, in selectors: every stored object is read then.
    #[arg(long, help_heading = "Which")]
    pub(crate) scan: bool,
    /// The order: columns or paths of fields, `-` for the greatest first: `-create_time,.metadata.name` [default: namespace and name].
    #[arg(long, value_name = "FIELD,...", allow_hyphen_values = true, help_heading = "How many")]
    pub(crate) sort_by: Option<String>,
    /// At most so many objects. If there are more, the token for --continue goes to standard error; on a terminal, the Enter key
    /// goes on.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "How many")]
    pub(crate) limit: Option<u32>,
    /// Go on where the same command ended.
    #[arg(long = "continue", value_name = "TOKEN", help_heading = "How many")]
    pub(crate) token: Option<String>,
    /// Read so many objects with one statement, instead of what fits into a few megabytes.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "How many")]
    pub(crate) chunk_size: u32,
    /// Print how many there are, and nothing else.
    #[arg(long, conflicts_with_all = ["group_by", "watch", "explain", "limit", "token"], help_heading = "How many")]
    pub(crate) count: bool,
    /// Print how many there are of each value of a column, the most frequent first.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["watch", "explain", "token"], help_heading = "How many")]
    pub(crate) group_by: Option<String>,
    /// wide, json, yaml, name, csv, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE or custom-columns=HEADER:PATH,... By default columns
    /// for people.
    #[arg(short, long, value_parser = get_format, value_name = "FORMAT", help_heading = "How")]
    pub(crate) output: Option<GetFormat>,
    /// No headers above columns.
    #[arg(long, help_heading = "How")]
    pub(crate) no_headers: bool,
    /// All labels as the last column.
    #[arg(long, help_heading = "How")]
    pub(crate) show_labels: bool,
    /// A column for each of these labels.
    #[arg(short = 'L', long, value_name = "KEY", value_delimiter = ',', help_heading = "How")]
    pub(crate) label_columns: Vec<String>,
    /// Ask again every second, and print what has changed, until it is stopped.
    #[arg(short, long, conflicts_with_all = ["explain", "limit", "token"], help_heading = "How")]
    pub(crate) watch: bool,
    /// Print the SQL, its parameters, and how the database would run it, instead of objects.
    #[arg(long, help_heading = "How")]
    pub(crate) explain: bool,
}

/// What a saved query says itself.
const SAVED_SAYS: [&str; 13] = [
    "resources",
    "namespace",
    "all_namespaces",
    "selector",
    "field_selector",
    "uid",
    "state",
    "created_after",
    "created_before",
    "deleted_after",
    "deleted_before",
    "scan",
    "sort_by",
];

/// Reads a parameter of a saved query.
fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give NAME=VALUE".to_owned()),
    }
}

const GET_USAGE: &str = "\
ingester get [OPTIONS] KIND[,KIND...] [NAME...]
       ingester get [OPTIONS] KIND/NAME...
       ingester get [OPTIONS] --query NAME [--param NAME=VALUE]...";

const GET_EXAMPLES: &str = "\
Examples:
  ingester get models                                     all models, with their indexed columns
  ingester get model churn -n ml -o yaml                  one object, as kubectl prints it
  ingester get pipelineruns -l team=pricing --sort-by -create_time --limit 10
                                                          the newest ten of a team
  ingester get pipelineruns --field-selector spec.actor.name=ada --created-after 7d -o csv
  ingester get models --state deleted --deleted-after 1d  what was deleted since yesterday
  ingester get pipelineruns --group-by state              how many in each state
  ingester get models,pipelines -o name
  ingester get models -o custom-columns=NAME:.metadata.name,USES:.spec.algorithm
  ingester get models -o jsonpath='{.items[*].metadata.name}'
  ingester get --query deployed-models-by-target-type --param type=TARGET_TYPE_MOBILE";

/// The folder of saved queries.
#[derive(Debug, Args)]
pub(crate) struct QueriesFolder {
    /// The folder of saved queries, each a .yaml, .yml or .json file. By default `queries` beside the file of --config, else `queries`
    /// in the current folder.
    #[arg(long, value_name = "DIR", help_heading = "Saved queries")]
    pub(crate) queries: Option<PathBuf>,
}

/// Checks the files against the tables of the kinds, without a database, and prints what each query asks for and which parameters it
/// has: in brackets those that need not be given. docs/queries.md describes the files.
#[derive(Debug, Args)]
pub(crate) struct Queries {
    #[command(flatten)]
    pub(crate) folder: QueriesFolder,
    /// The configuration, beside which the folder is.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The output format.
    #[arg(short, long, value_enum, default_value_t = QueriesFormat::Table)]
    pub(crate) output: QueriesFormat,
    /// Only these queries.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueriesFormat {
    /// A line for each query.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// The names alone.
    Name,
}

/// How `ingester get` prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GetFormat {
    Wide,
    Json,
    Yaml,
    Name,
    Csv,
    JsonPath(String),
    JsonPathAsJson(String),
    CustomColumns(String),
}

/// Reads the name of a format, with what it takes.
fn get_format(text: &str) -> Result<GetFormat, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    match (name, value) {
        ("wide", None) => Ok(GetFormat::Wide),
        ("json", None) => Ok(GetFormat::Json),
        ("yaml", None) => Ok(GetFormat::Yaml),
        ("name", None) => Ok(GetFormat::Name),
        ("csv", None) => Ok(GetFormat::Csv),
        ("jsonpath", Some(template)) => Ok(GetFormat::JsonPath(template)),
        ("jsonpath-as-json", Some(template)) => Ok(GetFormat::JsonPathAsJson(template)),
        ("custom-columns", Some(columns)) => Ok(GetFormat::CustomColumns(columns)),
        ("jsonpath" | "jsonpath-as-json", None) => Err(format!("give a template: `{name}={{.metadata.name}}`")),
        ("custom-columns", None) => Err("give columns: `custom-columns=NAME:.metadata.name`".to_owned()),
        _ => Err("there are wide, json, yaml, name, csv, jsonpath=..., jsonpath-as-json=... and custom-columns=..."
            .to_owned()),
    }
}

/// The state of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// In the cluster.
    Live,
    /// Moved from etcd to SQL.
    Evicted,
    /// Deleted.
    Deleted,
    /// All of these.
    All,
}

/// The kubeconfig goes to standard output: `ingester kubeconfig ... > mirror.yaml`, then `kubectl --kubeconfig mirror.yaml get models`,
/// or `KUBECONFIG=~/.kube/config:mirror.yaml` and `kubectl --context ingester`. No credentials are copied unless --embed-credentials
/// says so.
#[derive(Debug, Args)]
#[command(after_help = KUBECONFIG_EXAMPLES)]
pub(crate) struct Kubeconfig {
    /// Where the server is: https://HOST:PORT; http://127.0.0.1:PORT for `ingester serve --insecure-loopback PORT`.
    #[arg(long, value_name = "URL")]
    pub(crate) server: String,
    /// The certificate of the authority that signed the server's, a PEM file, which is copied. Without it, the authorities of the
    /// machine count.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// The name that the server's certificate has, if it is not the HOST.
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,
    /// What the cluster, the context and the user are called.
    #[arg(long, value_name = "NAME", default_value = "ingester", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) name: String,
    /// The namespace of the context. By default that of the context of --from.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// A user of another kubeconfig that is read beside this one.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["token_file", "from"], help_heading = "Who asks")]
    pub(crate) user: Option<String>,
    /// A file with a token, read by kubectl each time, such as that of a service account.
    #[arg(long, value_name = "FILE", conflicts_with = "from", help_heading = "Who asks")]
    pub(crate) token_file: Option<PathBuf>,
    /// The user of another kubeconfig; without FILE of the one that kubectl uses. The command that gets a token, and the names of
    /// files, are copied.
    #[arg(long, value_name = "FILE", num_args = 0..=1, help_heading = "Who asks")]
    pub(crate) from: Option<Option<PathBuf>>,
    /// The context in that kubeconfig [default: the current one].
    #[arg(long, value_name = "NAME", requires = "from", help_heading = "Who asks")]
    pub(crate) context: Option<String>,
    /// Also copy the token or the key that stands in that kubeconfig. Who can read the copy can then do what the user can.
    #[arg(long, requires = "from", help_heading = "Who asks")]
    pub(crate) embed_credentials: bool,
}

const KUBECONFIG_EXAMPLES: &str = "\
Examples:
  ingester kubeconfig --server http://127.0.0.1:8001      for `ingester serve --insecure-loopback 8001`
  ingester kubeconfig --server https://mirror.example.com --certificate-authority ca.crt --from
  ingester kubeconfig --server https://mirror.example.com --user oidc
  ingester kubeconfig --server https://ingester-server.ingester.svc --certificate-authority ca.crt \\
    --token-file /var/run/secrets/kubernetes.io/serviceaccount/token";

/// Keeps SQL equal to the cluster: creations, updates, deletions, and what happened while it was not running. Ctrl-C and SIGTERM
/// stop it within seconds. It serves /metrics, /healthz and /readyz. If the storage is not enabled, or no database is named, it
/// stays idle and logs why.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

/// kubectl and other clients of Kubernetes list and read what SQL has: objects in the cluster, and those that left it. Who calls, and what
/// they may, the cluster's API server says. It serves /metrics, /healthz and /readyz on `server.address` of the configuration. Ctrl-C
/// and SIGTERM stop it within seconds.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// For trying out: plain HTTP on this port of 127.0.0.1 instead of `serve.address`. Every program of this machine may then read
    /// and change everything, and nobody else may do anything. A cluster is only used if one is named here.
    #[arg(long, value_name = "PORT")]
    pub(crate) insecure_loopback: Option<u16>,
    #[command(flatten)]
    pub(crate) queries: QueriesFolder,
}

/// Reads every object and every row and prints what differs: objects without a row, rows of an earlier or later version, rows
/// with other content, live rows without an object. Every difference is read again before it is reported, so the ingester may
/// be running. Exits with 1 if anything differs.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// Repair what differs, as the ingester itself would. Exits with 1 only if a difference is left.
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

/// Creates the object in the cluster from its row: with another uid, without what the API server gives it, without our finalizer and the
/// annotations michelangelo/Immutable and michelangelo/Deleting, without references to owners that are gone, and with the annotation
/// michelangelo/RestoredFrom. Once the mirror has stored it, the old row is marked as deleted; until then the command can be repeated.
/// Exits with 1 if a live object has the name, or if the old row is not yet marked.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The kind; or KIND/NAME.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
    /// The object. Of several rows of this name, one that was evicted comes before one that was deleted, then the newest.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// The object's namespace. It can be left out if only one has the name.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// The row of this uid.
    #[arg(long, value_name = "UID")]
    pub(crate) uid: Option<String>,
    /// Print what would be created, as YAML unless --output says otherwise, if the API server would take it.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the object, or its name.
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub(crate) output: Option<RestoreFormat>,
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

#[derive(Debug, Subcommand)]
pub(crate) enum Finalizers {
    /// Remove our finalizer from every object, for uninstalling. Stop the ingester first, or it adds the finalizer again.
    Remove(FinalizersRemove),
}

#[derive(Debug, Args)]
pub(crate) struct FinalizersRemove {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// In every namespace, and of every kind of the program, whatever `ingester.namespaces` and `ingester.kinds` of the
    /// configuration say: for objects that the ingester followed before these were narrowed.
    #[arg(long)]
    pub(crate) all_namespaces: bool,
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// The configuration, a YAML file; docs/configuration.md lists all keys.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Cluster {
    /// The kubeconfig file. By default KUBECONFIG of the environment, ~/.kube/config, or the pod's service account.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig.
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Database {
    /// mysql://user:password@host:3306/database or sqlite://file.db. Without it, DATABASE_URL of the environment; without
    /// that, MYSQL_HOST, MYSQL_PORT, MYSQL_USER, MYSQL_PASSWORD and MYSQL_DB_NAME; without these, sqlite://ingester.db.
    // Not read from the environment by clap, which would take an empty variable for a URL.
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Output {
    /// The output format.
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
    /// Print the statements that create the tables; running them again changes nothing.
    Print(SchemaPrint),
    /// Write the generated SQL files, and new migrations if the structs have changed.
    Generate(SchemaGenerate),
    /// Print how a database's tables differ from the structs; exit with 1 if they do.
    Diff(SchemaDiff),
    /// Run the pending migrations of a database; running it again changes nothing.
    Apply(SchemaApply),
    /// Revert migrations, the last one first.
    Revert(SchemaRevert),
    /// Compare a database with the released schema; exit with 1 if anything differs or a migration is pending.
    Verify(SchemaVerify),
}

#[derive(Debug, Args)]
pub(crate) struct SchemaPrint {
    /// The SQL dialect; mysql also covers MariaDB, TiDB and Vitess.
    #[arg(long, value_parser = dialect(), default_value_t = Dialect::MySql)]
    pub(crate) dialect: Dialect,
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
    /// The folder of the generated SQL, instead of the SQL that is built into this program.
    #[arg(long, value_name = "DIR")]
    pub(crate) sql: Option<PathBuf>,
}

/// Shows each change with its cost on this server.
#[derive(Debug, Args)]
pub(crate) struct SchemaDiff {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Concurrent runs wait for each other, and an interrupted run is continued by the next. If a database has tables but no record
/// of migrations, those that it already contains are recorded. `ingester run` or `ingester backfill` fills new columns
/// afterwards.
#[derive(Debug, Args)]
pub(crate) struct SchemaApply {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
}

/// Columns that come back are empty until they are filled again. Dropping columns loses their values, so that needs
/// --allow-destructive.
#[derive(Debug, Args)]
pub(crate) struct SchemaRevert {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) migrations: Migrations,
    /// The number of the last migration to keep; 0 reverts all of them.
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: u32,
    /// Allow changes that lose data.
    #[arg(long)]
    pub(crate) allow_destructive: bool,
}

/// A server's own spelling of a type is not a difference, nor are other tables in the database.
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
/// ingester may be running. After an interruption, the next run continues. The table `ingester_backfills` has the progress of
/// each column. Exits with 1 if an object cannot be decoded.
#[derive(Debug, Args)]
pub(crate) struct Backfill {
    #[command(flatten)]
    pub(crate) target: Target,
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
    /// Print the object in a `proto` column as JSON.
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

/// Reads the name of a dialect.
fn dialect() -> impl TypedValueParser<Value = Dialect> {
    let named = |name: String| Dialect::ALL.into_iter().find(|dialect| dialect.name() == name);
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)).try_map(move |name| named(name).ok_or("unknown dialect"))
}

#[derive(Debug, Args)]
pub(crate) struct SchemaGenerate {
    /// The name of the new migrations, such as add_owner. By default they are named after the changes.
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    pub(crate) name: Option<String>,
    /// Write migrations that lose data.
    #[arg(long, conflicts_with = "check")]
    pub(crate) allow_destructive: bool,
    /// Only check whether the files are current; exit with 1 if they are not.
    #[arg(long)]
    pub(crate) check: bool,
    /// The folder of the files.
    #[arg(long, value_name = "DIR", default_value = SchemaGenerate::OUT)]
    pub(crate) out: PathBuf,
}

impl SchemaGenerate {
    /// The default folder.
    pub(crate) const OUT: &'static str = "generated-sql";
}

#[derive(Debug, Args)]
pub(crate) struct Crds {
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// Write one file per kind into this folder instead of printing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Kinds {
    /// The output format.
    #[arg(short, long, value_enum, default_value_t = KindsFormat::Table)]
    pub(crate) output: KindsFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindsFormat {
    /// A line for each kind.
    Table,
    /// A line for each column, with its type and where its value is in an object.
    Wide,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}
