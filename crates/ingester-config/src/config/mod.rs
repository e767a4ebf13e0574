//! The configuration of `ingester run` and `ingester serve`: a YAML file, overridden by the environment.
//!
//! The sections `metadataStorage`, `mysql` and `ingester` have the names and defaults of the reference system, and some keys of
//! our own. `docs/configuration.md` lists every key. This room turns text into values; only [`Config::load`] and the readers of
//! password files open a file.
//!
//! May use: ingester-core, ingester-declare, ingester-sql, ingester-store, selection.
//!
//! | file | what it does |
//! |---|---|
//! | `tree.rs` | parses the text into a tree with line numbers, with `ingester_declare::text` |
//! | `section.rs` | reads the known keys of a section; the remaining keys are unknown |
//! | `values.rs` | parses and checks single values |
//! | `keys.rs` | every key of the file, one row each |
//! | `row.rs` | generates the structs, defaults and readers of sections from these rows, and finds what a changed file changes |
//! | `serve.rs` | the sections of `ingester serve` |
//! | `replicas.rs` | how several ingesters share the work |
//! | `condition.rs` | which objects, or rows, a rule is about |
//! | `retention.rs` | how long rows are kept, and the rules that purge them |
//! | `policies.rs` | the rules by which objects leave etcd |
//! | `live.rs` | the current configuration, which takes up changes of the file while the program runs |
//! | `environment.rs` | the variables that name a database |
//! | `error.rs`, `secret.rs` | all mistakes of a file at once; text that is never printed |

mod condition;
mod environment;
mod error;
mod keys;
mod live;
mod policies;
mod replicas;
mod retention;
mod row;
mod secret;
mod section;
mod serve;
mod tree;
mod values;

#[cfg(test)]
mod tests;

pub use condition::{Condition, KeepLast, RuleLine};
pub use environment::Environment;
pub use error::ConfigError;
pub use ingester_core::kind::Finalizer;
pub use keys::{
    Changes, Config, Ingester, Log, MetadataStorage, Monitoring, Mysql, Policies, Query, Replicas, Retention, Serve,
    Spool, UrlPasswordCommand,
};
pub use live::Live;
pub use policies::EvictionRule;
pub use retention::{RetainedState, RetentionRule, RetentionTime};
pub use row::ConfigChanges;
pub use secret::Secret;
pub use serve::{FormerObjects, FrontProxy, RestoreAs};

use crate::selection::{Selection, Selector};
use ingester_core::{Kind, KindNames};
use ingester_store::fuse::Fuse;
use ingester_store::{Address, ConnectOptions, PasswordCommand, Retry, files};
use row::Settings as _;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of rows that the sweeps of a kind may mark as deleted in any case, see [`Fuse`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepLimit(Option<u64>);

impl SweepLimit {
    /// Returns a limit of this many rows; 0 for no limit.
    pub const fn from_rows(rows: u64) -> Self {
        SweepLimit(if rows == 0 { None } else { Some(rows) })
    }

    /// Returns how many rows the sweeps of a kind may mark in any case; `None` for no limit.
    pub const fn to_rows(self) -> Option<u64> {
        self.0
    }
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The lowest level that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// Failures.
    Error,
    /// Also things that look wrong.
    Warn,
    /// Also events, in batches.
    #[default]
    Info,
    /// Also each object.
    Debug,
    /// Also everything else.
    Trace,
}

impl LogLevel {
    /// Returns the level as the file and `RUST_LOG` write it.
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}

/// Returns the database of a URL whose password may be in a file.
fn of_url(url: &Secret, password_file: Option<&Path>) -> Result<Address, ConfigError> {
    let address = url.reveal().parse().map_err(|error| ConfigError::from_message(format!("{error}")))?;
    match password_file {
        Some(file) => with_password(address, file),
        None => Ok(address),
    }
}

/// Adds the password that the command of `section` prints, if the section names a command. `beside` is another key that has the password
/// already, which is a mistake.
///
/// # Errors
/// If two keys provide the password, the command has no name, or the database has a password already.
fn with_command(
    address: Address,
    command: &PasswordCommand,
    section: &str,
    beside: Option<&str>,
) -> Result<Address, ConfigError> {
    if *command == PasswordCommand::default() {
        return Ok(address);
    }
    let key = format!("`{section}.passwordCommand`");
    if command.command.is_empty() {
        return Err(ConfigError::from_message(format!(
            "{key} has `args` or `env`, but no `command`: name the program there"
        )));
    }
    if let Some(beside) = beside {
        return Err(ConfigError::from_message(format!("`{section}.{beside}` and {key} are both set: leave out one")));
    }
    address.password_command(command.clone()).map_err(|error| ConfigError::from_message(error.to_string()))
}

/// Adds the password from a file, which is read again when the database refuses the password.
///
/// # Errors
/// If the file cannot be read, or the database has a password already, or can have none.
pub fn with_password(address: Address, file: &Path) -> Result<Address, ConfigError> {
    let password = Secret::read(file)?;
    let file = file.to_owned();
    let read = move || match Secret::read(&file) {
        Ok(password) => Ok(password.reveal().to_owned()),
        Err(error) => Err(error.to_string()),
    };
    address.password(password.reveal(), read).map_err(|error| ConfigError::from_message(error.to_string()))
}

/// The decision whether the ingester mirrors, and into which database.
#[derive(Clone, Debug)]
pub enum Gate {
    /// `metadataStorage.enableMetadataStorage` is false. Stay idle.
    Disabled,
    /// The storage is enabled, but no database is named. Stay idle.
    NoDatabase,
    /// Mirror into this database.
    Open(Address),
}

impl Config {
    /// Reads the text of a configuration file. `environment` overrides it. `kinds` are the names of the registered kinds. An
    /// empty text and empty sections have all defaults.
    ///
    /// The database is the first of these that is set: `DATABASE_URL`; `MYSQL_HOST` or `MYSQL_DB_NAME`, with the section `mysql` for values
    /// that no variable sets; `metadataStorage.databaseURL`; the section `mysql`, in which `MYSQL_PORT`, `MYSQL_USER` and `MYSQL_PASSWORD`
    /// (or `MYSQL_PASSWORD_FILE`) replace the keys.
    ///
    /// # Errors
    /// If the text is not valid YAML, or has unknown keys, duplicate keys, or wrong values such as kinds that are not
    /// registered: all mistakes at once, with their lines. Otherwise, if [`Config::gate`] fails.
    pub fn parse(text: &str, environment: &Environment, kinds: &KindNames) -> Result<Self, ConfigError> {
        let mut config = Config::default();
        let mut findings = config.read_text(text, kinds).map_err(|problem| ConfigError::new(vec![problem]))?;
        environment.apply(&mut config, &mut findings.problems);
        let problems = findings.into_problems();
        if !problems.is_empty() {
            return Err(ConfigError::new(problems));
        }
        // Look for contradictions only if every single value is correct.
        let url = (!environment.has_url()).then_some("metadataStorage.databaseURL");
        config.check_agreement().map_err(|error| error.placed(text, url))?;
        Ok(config)
    }

    /// Looks for keys that contradict each other.
    fn check_agreement(&self) -> Result<(), ConfigError> {
        self.mysql.tls.check().map_err(|mistake| ConfigError::from_message(mistake.to_string()))?;
        self.gate()?;
        self.check_serve()?;
        self.ingester.replicas.check()
    }

    /// Returns true if the configuration has a password, or a URL that may contain one.
    pub fn has_secrets(&self) -> bool {
        row::Settings::has_secrets(self)
    }

    /// Reads the file at `path` as [`Config::parse`] does.
    ///
    /// # Errors
    /// If the file cannot be read, and as [`Config::parse`]. The error names the file.
    pub fn load(path: &Path, environment: &Environment, kinds: &KindNames) -> Result<Self, ConfigError> {
        files::read_text(path)
            .map_err(|error| {
                let remedy = match error.kind() {
                    ErrorKind::NotFound | ErrorKind::IsADirectory => "; name a file that exists",
                    _ => "",
                };
                ConfigError::from_message(format!("it cannot be read: {error}{remedy}"))
            })
            .and_then(|text| Config::parse(&text, environment, kinds))
            .map_err(|error| error.in_file(path.display().to_string()))
    }

    /// Checks that the keys about these kinds agree with each other. `path` is the file of this configuration.
    ///
    /// # Errors
    /// As [`Ingester::check`], with the file and the line.
    pub fn check_kinds(&self, kinds: &[Kind], path: Option<&Path>) -> Result<(), ConfigError> {
        self.ingester.check(kinds).map_err(|error| match path.map(|path| (path, files::read_text(path))) {
            Some((path, Ok(text))) => error.placed(&text, None).in_file(path.display().to_string()),
            Some((path, Err(_))) => error.in_file(path.display().to_string()),
            None => error,
        })
    }

    /// Returns the configuration of an empty file, for this database.
    ///
    /// # Errors
    /// If the URL, or the environment, names no database.
    pub fn of_database(url: &str, environment: &Environment) -> Result<Self, ConfigError> {
        let mut config = Config::parse("", environment, &KindNames::of(&[]))?;
        config.metadata_storage.enable_metadata_storage = true;
        config.metadata_storage.database_url = Some(url.into());
        config.gate().map(|_| config)
    }

    /// Returns the configuration of an empty file, for the database that the environment names.
    ///
    /// # Errors
    /// If the environment names no database, or only a part of one.
    pub fn of_environment(environment: &Environment) -> Result<Self, ConfigError> {
        let nothing = "no database is named: use --config, --database-url, or MYSQL_HOST and MYSQL_DB_NAME (or DATABASE_URL) in the \
                       environment";
        environment.address()?.ok_or_else(|| ConfigError::from_message(nothing))?;
        let mut config = Config::parse("", environment, &KindNames::of(&[]))?;
        config.metadata_storage.enable_metadata_storage = true;
        if let Some((_, url)) = environment.named_for_clients() {
            config.metadata_storage.database_url = Some(url.to_owned().into());
        }
        config.gate().map(|_| config)
    }

    /// Returns `ingester.kindsFile` of the file at `path`. It decides which kinds the configuration may name, so it is read separately,
    /// before [`Config::load`], which reports all mistakes in the file.
    pub fn kinds_files(path: &Path) -> Vec<PathBuf> {
        let read = || {
            let root = tree::read(&files::read_text(path).ok()?).ok()?;
            root.get("ingester")?.get("kindsFile").cloned()
        };
        let Some(tree) = read() else { return Vec::new() };
        let paths = match tree.content {
            tree::Content::List(list) => list,
            _ => vec![tree],
        };
        let path = |tree: tree::Tree| match tree.content {
            tree::Content::Text(path) if !path.is_empty() => Some(path.into()),
            _ => None,
        };
        paths.into_iter().filter_map(path).collect()
    }

    /// Returns `ingester.formerPrefixes` of the file at `path`, read separately like [`Config::kinds_files`]: kinds need the names of their
    /// finalizer and annotations before the configuration names kinds. [`Config::load`] reports mistakes among them.
    pub fn former_prefixes(path: &Path) -> Vec<String> {
        let read = || {
            let root = tree::read(&files::read_text(path).ok()?).ok()?;
            match &root.get("ingester")?.get("formerPrefixes")?.content {
                tree::Content::List(list) => Some(list.clone()),
                _ => None,
            }
        };
        let prefix = |tree: tree::Tree| match tree.content {
            tree::Content::Text(text) => values::prefix(&text).ok(),
            _ => None,
        };
        read().into_iter().flatten().filter_map(prefix).collect()
    }

    /// Decides whether the ingester mirrors, from the storage's switch and the named database.
    ///
    /// `databaseURL` overrides the section `mysql`. ([`Config::parse`] has already applied the environment.) `mysql.tls` applies
    /// to both, unless the URL has `ssl-` parameters of its own.
    ///
    /// # Errors
    /// If the storage is enabled and only one of host and database is named, the URL is not valid, or `mysql.tls` contradicts
    /// itself. [`Config::parse`] reports these, too.
    pub fn gate(&self) -> Result<Gate, ConfigError> {
        if !self.metadata_storage.enable_metadata_storage {
            return Ok(Gate::Disabled);
        }
        let MetadataStorage { database_url, password_file, password_command, .. } = &self.metadata_storage;
        let address = match (database_url, password_file) {
            (Some(url), file) => {
                let address = of_url(url, file.as_deref())?;
                let file = file.as_ref().map(|_| "passwordFile");
                let address = with_command(address, password_command, "metadataStorage", file)?;
                Some(address.tls(&self.mysql.tls).map_err(|error| ConfigError::from_message(format!("{error}")))?)
            }
            (None, Some(_)) => {
                let message = "`metadataStorage.passwordFile` or DATABASE_PASSWORD_FILE is set, but no URL: set `databaseURL` or DATABASE_URL, \
                               or `mysql.passwordFile` with `mysql.host`";
                return Err(ConfigError::from_message(message));
            }
            (None, None) if **password_command != PasswordCommand::default() => {
                let message = "`metadataStorage.passwordCommand` is set, but no URL: set `databaseURL` or DATABASE_URL, or \
                               `mysql.passwordCommand` with `mysql.host`";
                return Err(ConfigError::from_message(message));
            }
            (None, None) => self.mysql.address()?,
        };
        Ok(address.map_or(Gate::NoDatabase, Gate::Open))
    }
}

impl Mysql {
    /// Returns the server's address; `None` if neither host nor database is named.
    ///
    /// # Errors
    /// If only one of them is named, the password's file cannot be read, or two keys provide the password, or `tls` contradicts itself.
    pub fn address(&self) -> Result<Option<Address>, ConfigError> {
        let (host, database) = match (&self.host, &self.database) {
            (None, None) => return Ok(None),
            (Some(host), Some(database)) => (host, database),
            (Some(host), None) => {
                let message = format!("`mysql.host` is `{host}`, but no database is named; ");
                return Err(ConfigError::from_message(message + "set `mysql.database` or MYSQL_DB_NAME"));
            }
            (None, Some(database)) => {
                let message = format!("`mysql.database` is `{database}`, but no server is named; ");
                return Err(ConfigError::from_message(message + "set `mysql.host` or MYSQL_HOST"));
            }
        };
        let user = self.user.as_deref().unwrap_or("root");
        let with = |password| {
            Address::mysql(host, self.port, user, password, database)
                .map_err(|error| ConfigError::from_message(error.to_string()))
        };
        let address = match (&self.password, &self.password_file) {
            (Some(_), Some(_)) => {
                let message = "`mysql.password` and `mysql.passwordFile` are both set: leave out one";
                return Err(ConfigError::from_message(message));
            }
            (password, None) => with(password.as_ref().map(Secret::reveal))?,
            (None, Some(file)) => with_password(with(None)?, file)?,
        };
        let beside = self.password.as_ref().map(|_| "password").or(self.password_file.as_ref().map(|_| "passwordFile"));
        let address = with_command(address, &self.password_command, "mysql", beside)?;
        address.tls(&self.tls).map(Some).map_err(|error| ConfigError::from_message(format!("{error}")))
    }

    /// Returns the options with which a server connects. The retries are short, because a server repeats failed work itself. Everything
    /// else has the defaults of [`ConnectOptions`].
    pub fn connect_options(&self) -> ConnectOptions {
        ConnectOptions::default()
            .connections(self.max_open_conns)
            .max_idle(self.max_idle_conns)
            .max_lifetime(self.conn_max_lifetime)
            .retry(Retry::SHORT)
    }
}

impl Ingester {
    /// Returns the number of workers of `kind`.
    pub fn concurrent_reconciles_of(&self, kind: &str) -> usize {
        self.concurrent_reconciles_map.get(kind).copied().unwrap_or(self.concurrent_reconciles)
    }

    /// Returns the requeue period of `kind`.
    pub fn requeue_period_of(&self, kind: &str) -> Duration {
        self.requeue_period_map.get(kind).copied().unwrap_or(self.requeue_period)
    }

    /// Returns which objects of `kind` carry our finalizer: the value for this kind, otherwise the value for all kinds, otherwise the
    /// kind's own.
    pub fn finalizer_of(&self, kind: &Kind) -> Finalizer {
        self.finalizer_map.get(kind.name()).copied().or(self.finalizer).unwrap_or(kind.finalizer())
    }

    /// Returns the time for which changes of an object of `kind` are collected after a write; zero for not at all.
    pub fn settle_of(&self, kind: &str) -> Duration {
        self.settle_map.get(kind).copied().unwrap_or(self.settle)
    }

    /// Returns the selection of the objects of `kind` that are read.
    pub fn selection_of(&self, kind: &str) -> Selection {
        let of = |map: &BTreeMap<String, Selector>| map.get(kind).cloned().unwrap_or_default();
        Selection { labels: of(&self.label_selector_map), fields: of(&self.field_selector_map) }
    }

    /// Checks that the keys about these kinds agree with each other.
    ///
    /// # Errors
    /// If the objects of a kind carry our finalizer, but not all of them are read.
    pub fn check(&self, kinds: &[Kind]) -> Result<(), ConfigError> {
        for kind in kinds.iter().filter(|kind| self.has_kind(kind.name())) {
            let name = kind.name();
            if self.finalizer_of(kind) == Finalizer::Ensure && !self.selection_of(name).is_all() {
                let map = match self.label_selector_map.contains_key(name) {
                    true => "labelSelectorMap",
                    false => "fieldSelectorMap",
                };
                return Err(ConfigError::from_message(format!(
                    "`ingester.{map}` names {name}, whose objects get our finalizer: one that is not selected any more would keep it for \
                     ever; set `ingester.finalizerMap: {{{name}: never}}`, or `existing`"
                )));
            }
        }
        Ok(())
    }

    /// Returns the fuse of the sweeps and the filter of `kind`; `None` without a limit.
    pub fn fuse(&self, kind: &Kind) -> Option<Fuse> {
        let namespaces = if kind.namespaced() { self.namespaces.clone() } else { Vec::new() };
        Some(Fuse { limit: self.sweep_limit.to_rows()?, namespaces })
    }

    /// Returns true if nothing is written for `kind`.
    pub fn is_suspended(&self, kind: &str) -> bool {
        self.suspend.iter().any(|name| name == kind)
    }

    /// Returns true if `kind` is mirrored.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind)
    }
}
