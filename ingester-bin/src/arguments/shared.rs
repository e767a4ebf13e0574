//! Arguments that several commands share.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// A database: by URL, by the configuration of `ingester run`, or by the environment.
#[derive(Debug, Default, Args)]
pub(crate) struct DatabaseArguments {
    /// mysql://user:password@host:3306/database, postgres://user:password@host:5432/database or sqlite://file.db. Without it and
    /// --config, DATABASE_URL of the environment; without that, MYSQL_HOST, MYSQL_PORT, MYSQL_USER, MYSQL_PASSWORD or
    /// MYSQL_PASSWORD_FILE, and MYSQL_DB_NAME; without these, PGHOST, PGDATABASE and the other variables of libpq; without these,
    /// sqlite://ingester.db.
    // Do not let clap read the environment: it would take an empty variable for a URL.
    #[arg(long, value_name = "URL", help_heading = "Database")]
    pub(crate) database_url: Option<String>,
    /// A file with the password that the URL, the configuration or the environment leaves out; a newline at its end is cut off.
    #[arg(long, value_name = "FILE", help_heading = "Database")]
    pub(crate) password_file: Option<PathBuf>,
    /// The configuration of `ingester run` that names the database, instead of a URL.
    #[arg(long, value_name = "FILE", conflicts_with = "database_url", help_heading = "Database")]
    pub(crate) config: Option<PathBuf>,
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
pub(crate) struct Output {
    /// The output format.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// The migrations.
#[derive(Debug, Args)]
pub(crate) struct Migrations {
    /// The folder of the generated SQL, instead of the SQL that is built into this program.
    #[arg(long, value_name = "DIR")]
    pub(crate) sql: Option<PathBuf>,
}

/// Reads the name of a namespace.
pub(crate) fn namespace(text: &str) -> Result<String, String> {
    let is_label = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name =
        (1..=63).contains(&text.len()) && text.chars().all(is_label) && !text.starts_with('-') && !text.ends_with('-');
    match is_name {
        true => Ok(text.to_owned()),
        false => {
            Err("a namespace is called by at most 63 lower-case letters, digits and `-`, not at its ends".to_owned())
        }
    }
}
