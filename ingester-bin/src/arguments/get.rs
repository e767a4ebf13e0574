//! `ingester get` and `ingester queries`.

use super::{DatabaseArguments, SelectionOptions};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Print objects from SQL, as kubectl prints those of a cluster.
///
/// Reads the database, not the cluster: it also finds evicted objects, and with --state deleted ones. Kinds are named as for kubectl:
/// `model`, `models`, `Model` and `models.michelangelo.api` are the same. Exits with 1 if a NAME is not found.
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES, override_usage = GET_USAGE)]
pub(crate) struct Get {
    /// Kinds, separated by commas, then names of objects; or KIND/NAME for each object.
    #[arg(required_unless_present = "query", value_name = "KIND")]
    pub(crate) resources: Vec<String>,
    #[command(flatten)]
    pub(crate) target: DatabaseArguments,
    /// Run this saved query instead of naming a KIND (`ingester queries` lists them). The options of `Which` narrow it, --sort-by replaces
    /// its order, and --limit its limit.
    #[arg(long, value_name = "NAME", conflicts_with = "resources", help_heading = "Saved queries")]
    pub(crate) query: Option<String>,
    /// A value for a parameter of the query; may be given several times. The values of a list are separated by commas.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter, help_heading = "Saved queries")]
    pub(crate) parameters: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) queries: QueriesFolder,
    #[command(flatten)]
    pub(crate) which: SelectionOptions,
    /// In all namespaces, which is the default.
    #[arg(short = 'A', long, conflicts_with = "namespace", help_heading = "Which")]
    pub(crate) all_namespaces: bool,
    /// At most this many objects. If there are more, the token for --continue goes to standard error; on a terminal, the Enter key shows
    /// the next page.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "How many")]
    pub(crate) limit: Option<u32>,
    /// Continue where the same command ended.
    #[arg(long = "continue", value_name = "TOKEN", help_heading = "How many")]
    pub(crate) token: Option<String>,
    /// Read this many objects with one statement, instead of a few megabytes.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "How many")]
    pub(crate) chunk_size: u32,
    /// Print only the number of objects.
    #[arg(long, conflicts_with_all = ["group_by", "watch", "explain", "limit", "token"], help_heading = "How many")]
    pub(crate) count: bool,
    /// Print the number of objects for each value of a column, the most frequent first.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["watch", "explain", "token"], help_heading = "How many")]
    pub(crate) group_by: Option<String>,
    /// wide, json, yaml, name, csv, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE or custom-columns=HEADER:PATH,... By default a table; wide
    /// has all indexed columns, the uid and the version.
    #[arg(short, long, value_parser = get_format, value_name = "FORMAT", help_heading = "How")]
    pub(crate) output: Option<GetFormat>,
    /// These columns instead of the default ones, in this order: names as they are printed, or paths of fields that have a column. For the
    /// table and -o csv.
    #[arg(
        long,
        value_name = "COLUMN,...",
        value_delimiter = ',',
        conflicts_with_all = ["count", "group_by"],
        help_heading = "How"
    )]
    pub(crate) columns: Vec<String>,
    /// No headers above columns.
    #[arg(long, help_heading = "How")]
    pub(crate) no_headers: bool,
    /// All labels as the last column.
    #[arg(long, help_heading = "How")]
    pub(crate) show_labels: bool,
    /// A column for each of these labels.
    #[arg(short = 'L', long, value_name = "KEY", value_delimiter = ',', help_heading = "How")]
    pub(crate) label_columns: Vec<String>,
    /// Print changes from the log of changes until it is stopped. Without a log, ask again every second.
    #[arg(short, long, conflicts_with_all = ["explain", "limit", "token"], help_heading = "How")]
    pub(crate) watch: bool,
    /// Print the SQL, its parameters, and how the database would run it, instead of objects.
    #[arg(long, help_heading = "How")]
    pub(crate) explain: bool,
}

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
  ingester get models --columns name,state,spec.owner.name,age
                                                          these columns
  ingester get models -o custom-columns=NAME:.metadata.name,USES:.spec.algorithm
                                                          fields without a column, too
  ingester get models -o jsonpath='{.items[*].metadata.name}'
  ingester get --query deployed-models-by-target-type --param type=TARGET_TYPE_MOBILE";

/// The folder of saved queries.
#[derive(Debug, Args)]
pub(crate) struct QueriesFolder {
    /// The folder of saved queries, each a .yaml, .yml or .json file. By default `queries` next to the file of --config, else `queries`
    /// in the current folder.
    #[arg(long, value_name = "DIR", help_heading = "Saved queries")]
    pub(crate) queries: Option<PathBuf>,
}

/// List the saved queries that `ingester get --query` takes.
///
/// Checks the files against the tables of the kinds, without a database, and prints the kind and the parameters of each query, optional
/// ones in brackets. docs/queries.md describes the files.
#[derive(Debug, Args)]
#[command(after_help = QUERIES_EXAMPLES)]
pub(crate) struct Queries {
    #[command(flatten)]
    pub(crate) folder: QueriesFolder,
    /// The configuration, next to which the folder is.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The output format.
    #[arg(short, long, value_enum, default_value_t = QueriesFormat::Table)]
    pub(crate) output: QueriesFormat,
    /// Only these queries.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

const QUERIES_EXAMPLES: &str = "\
Examples:
  ingester queries                              each with its parameters
  ingester queries active-models -o yaml
  ingester queries --queries team/queries -o name";

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

/// The output format of `ingester get`.
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

/// Reads the name of a format, with its argument.
fn get_format(text: &str) -> Result<GetFormat, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    match (name, value) {
        // As kubectl does: an empty template is rather a variable of the shell that is not set.
        ("jsonpath" | "jsonpath-as-json", Some(template)) if template.is_empty() => {
            Err(format!("the template is empty: `{name}={{.metadata.name}}`"))
        }
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
