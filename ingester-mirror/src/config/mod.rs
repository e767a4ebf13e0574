//! The configuration of `ingester run`: a YAML file, and above it the environment.
//!
//! The stanzas `metadataStorage`, `mysql` and `ingester` have the reference system's names and defaults; what is ours
//! stands beside them. `docs/configuration.md` lists every key. Everything here takes text and returns values; only
//! [`Config::load`] reads a file.
//!
//! May use: ingester-core, ingester-store.
//!
//! | file | what it does |
//! |---|---|
//! | `tree.rs` | the text as a tree that knows its lines |
//! | `stanza.rs` | taking keys out of the tree; what is left over is unknown |
//! | `values.rs` | what a single value may be |
//! | `read.rs` | the keys, one by one |
//! | `environment.rs` | the variables that name a database |

mod environment;
mod error;
mod read;
mod secret;
mod stanza;
mod tree;
mod values;

#[cfg(test)]
mod tests;

pub use environment::Environment;
pub use error::{ConfigError, Problem};
pub use secret::Secret;

use ingester_store::{Address, ConnectOptions, Tls};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The configuration of `ingester run`. [`Default`] is that of an empty file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `metadataStorage`: whether anything is stored, and where.
    pub metadata_storage: MetadataStorage,
    /// `mysql`: the MySQL server.
    pub mysql: Mysql,
    /// `ingester`: how objects are mirrored.
    pub ingester: Ingester,
    /// `server`: metrics and probes.
    pub server: Server,
    /// `log`: what is logged and how.
    pub log: Log,
}

/// Stanza `metadataStorage`.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataStorage {
    /// `enableMetadataStorage`: the first gate. Without it the ingester stays idle.
    pub enable_metadata_storage: bool,
    /// `deletionDelay`: how long the last state of a deleted object stays live in SQL before it is marked deleted.
    pub deletion_delay: Duration,
    /// `enableResourceVersionCache`: accepted for the reference system's files. This engine always remembers the
    /// versions that it has written, so it changes nothing.
    pub enable_resource_version_cache: bool,
    /// `databaseURL`: `mysql://user:password@host:3306/database` or `sqlite://FILE`. Stands above the stanza `mysql`.
    pub database_url: Option<Secret>,
}

/// Stanza `mysql`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mysql {
    /// `host`: name or address of the server.
    pub host: Option<String>,
    /// `port`.
    pub port: u16,
    /// `user`; `root` where nobody names one.
    pub user: Option<String>,
    /// `password`.
    pub password: Option<Secret>,
    /// `database`: the schema on the server.
    pub database: Option<String>,
    /// `maxOpenConns`: connections at most.
    pub max_open_conns: u32,
    /// `maxIdleConns`: how many connections stay open while there is nothing to do, see [`ConnectOptions::max_idle`].
    pub max_idle_conns: u32,
    /// `connMaxLifetime`: after how long a connection is replaced; `None` (written `0s`) for never.
    pub conn_max_lifetime: Option<Duration>,
    /// `tls`.
    pub tls: Tls,
}

/// Stanza `ingester`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ingester {
    /// `concurrentReconciles`: workers of each kind.
    pub concurrent_reconciles: usize,
    /// `requeuePeriod`: after how long an object that could not be brought to its end is looked at again.
    pub requeue_period: Duration,
    /// `concurrentReconcilesMap`: workers of single kinds.
    pub concurrent_reconciles_map: BTreeMap<String, usize>,
    /// `requeuePeriodMap`: the requeue period of single kinds.
    pub requeue_period_map: BTreeMap<String, Duration>,
    /// `finalizer`: which objects carry ours.
    pub finalizer: Finalizer,
    /// `finalizerRate`: finalizers that are added each second, of each kind, to objects that are older than the
    /// ingester.
    pub finalizer_rate: u32,
    /// `namespaces`: the only ones that are watched; empty for all.
    pub namespaces: Vec<String>,
    /// `kinds`: the only ones that are mirrored; empty for all of the manifest.
    pub kinds: Vec<String>,
    /// `pruneManagedFields`: whether `metadata.managedFields` is cut out of the stored objects.
    pub prune_managed_fields: bool,
    /// `resyncPeriod`: how often the rows are compared with a list of the metadata; `None` (written `0s`) for never.
    pub resync_period: Option<Duration>,
    /// `createTables`: whether the tables are brought to the released schema at the start.
    pub create_tables: bool,
    /// `backfillRate`: rows a second, at most, in which new columns are filled; 0 for no limit.
    pub backfill_rate: u32,
}

/// Which objects carry the finalizer `michelangelo/Ingester`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finalizer {
    /// Every live object gets it: no object leaves the cluster before its last state is stored.
    #[default]
    Ensure,
    /// None gets it; where an object carries it, it is respected and removed.
    Existing,
    /// None gets it, and none is removed.
    Never,
}

/// Stanza `server`.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// `address`: where metrics and probes are served, a host (none for every address) and a port; `None` (written
    /// `""`) for nowhere.
    pub address: Option<String>,
}

/// Stanza `log`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// `format`.
    pub format: LogFormat,
    /// `level`.
    pub level: LogLevel,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The least important lines that are still logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// What failed.
    Error,
    /// And what looks wrong.
    Warn,
    /// And what happens, in batches.
    #[default]
    Info,
    /// And each object.
    Debug,
    /// And everything else.
    Trace,
}

impl LogLevel {
    /// The level as the file and `RUST_LOG` write it.
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

impl Default for MetadataStorage {
    fn default() -> Self {
        MetadataStorage {
            enable_metadata_storage: false,
            deletion_delay: Duration::from_secs(10),
            enable_resource_version_cache: false,
            database_url: None,
        }
    }
}

impl Default for Mysql {
    fn default() -> Self {
        Mysql {
            host: None,
            port: 3306,
            user: None,
            password: None,
            database: None,
            max_open_conns: 25,
            max_idle_conns: 5,
            conn_max_lifetime: Some(Duration::from_secs(300)),
            tls: Tls::default(),
        }
    }
}

impl Default for Ingester {
    fn default() -> Self {
        Ingester {
            concurrent_reconciles: 2,
            requeue_period: Duration::from_secs(30),
            concurrent_reconciles_map: BTreeMap::new(),
            requeue_period_map: BTreeMap::new(),
            finalizer: Finalizer::default(),
            finalizer_rate: 50,
            namespaces: Vec::new(),
            kinds: Vec::new(),
            prune_managed_fields: true,
            resync_period: Some(Duration::from_secs(600)),
            create_tables: true,
            backfill_rate: ingester_store::migrate::RATE,
        }
    }
}

impl Default for Server {
    fn default() -> Self {
        Server { address: Some("0.0.0.0:8080".into()) }
    }
}

/// Whether there is anything to do.
#[derive(Clone, Debug)]
pub enum Gate {
    /// `metadataStorage.enableMetadataStorage` is false: stay idle.
    Disabled,
    /// The storage is enabled, but no database is named: stay idle.
    NoDatabase,
    /// Mirror into this database.
    Open(Address),
}

impl Config {
    /// Reads the file at `path`, then as [`Config::parse`].
    ///
    /// # Errors
    /// When the file cannot be read, and as [`Config::parse`]; the error names the file.
    pub fn load(path: &Path, environment: &Environment, kinds: &[&str]) -> Result<Self, ConfigError> {
        std::fs::read_to_string(path)
            .map_err(|error| ConfigError::of(format!("it cannot be read: {error}")))
            .and_then(|text| Config::parse(&text, environment, kinds))
            .map_err(|error| error.in_file(path.display().to_string()))
    }

    /// The two gates: the storage enabled, and a database named.
    ///
    /// `databaseURL` stands above the stanza `mysql`; [`Config::parse`] has put what the environment says in the place
    /// of what the file says. `mysql.tls` is for either, unless a URL has `ssl-` parameters of its own.
    ///
    /// # Errors
    /// When the storage is enabled and the database is named by half (a host without a database, or the reverse), the
    /// URL is none, or `mysql.tls` contradicts itself. [`Config::parse`] has found these already.
    pub fn gate(&self) -> Result<Gate, ConfigError> {
        if !self.metadata_storage.enable_metadata_storage {
            return Ok(Gate::Disabled);
        }
        let address = match &self.metadata_storage.database_url {
            Some(url) => {
                let address: Address = url.reveal().parse().map_err(|error| ConfigError::of(format!("{error}")))?;
                Some(address.tls(&self.mysql.tls).map_err(|error| ConfigError::of(format!("{error}")))?)
            }
            None => self.mysql.address()?,
        };
        Ok(address.map_or(Gate::NoDatabase, Gate::Open))
    }
}

impl Mysql {
    /// The server's address; `None` where neither host nor database is named.
    ///
    /// # Errors
    /// When only one of them is, or `tls` contradicts itself.
    pub fn address(&self) -> Result<Option<Address>, ConfigError> {
        let (host, database) = match (&self.host, &self.database) {
            (None, None) => return Ok(None),
            (Some(host), Some(database)) => (host, database),
            (Some(host), None) => {
                let message = format!("`mysql.host` is `{host}`, but no database is named; ");
                return Err(ConfigError::of(message + "set `mysql.database` or MYSQL_DB_NAME"));
            }
            (None, Some(database)) => {
                let message = format!("`mysql.database` is `{database}`, but no server is named; ");
                return Err(ConfigError::of(message + "set `mysql.host` or MYSQL_HOST"));
            }
        };
        let password = self.password.as_ref().map(Secret::reveal);
        let address = Address::mysql(host, self.port, self.user.as_deref().unwrap_or("root"), password, database);
        address.tls(&self.tls).map(Some).map_err(|error| ConfigError::of(format!("{error}")))
    }

    /// How to connect, with the defaults of [`ConnectOptions`] for what the stanza does not say.
    pub fn connect_options(&self) -> ConnectOptions {
        ConnectOptions {
            connections: self.max_open_conns,
            max_idle: self.max_idle_conns,
            max_lifetime: self.conn_max_lifetime,
            ..ConnectOptions::default()
        }
    }
}

impl Ingester {
    /// The workers of `kind`.
    pub fn concurrent_reconciles_of(&self, kind: &str) -> usize {
        self.concurrent_reconciles_map.get(kind).copied().unwrap_or(self.concurrent_reconciles)
    }

    /// The requeue period of `kind`.
    pub fn requeue_period_of(&self, kind: &str) -> Duration {
        self.requeue_period_map.get(kind).copied().unwrap_or(self.requeue_period)
    }

    /// Whether `kind` is mirrored.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind)
    }
}
