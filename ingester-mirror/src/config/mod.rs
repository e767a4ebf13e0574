//! The configuration of `ingester run` and `ingester serve`: a YAML file, overridden by the environment.
//!
//! The sections `metadataStorage`, `mysql` and `ingester` have the names and defaults of the reference system, and some keys of
//! our own. `docs/configuration.md` lists every key. Everything here takes text and returns values; only [`Config::load`]
//! and what is about the password's file read one.
//!
//! May use: ingester-core, ingester-declare, ingester-store.
//!
//! | file | what it does |
//! |---|---|
//! | `tree.rs` | the text as a tree with line numbers, by the reader of `ingester_declare::text` |
//! | `section.rs` | takes known keys out of the tree; those that are left are unknown |
//! | `values.rs` | parses and checks single values |
//! | `read.rs` | lists the keys and reads them |
//! | `serve.rs` | the sections of `ingester serve` |
//! | `replicas.rs` | how several ingesters share the work |
//! | `retention.rs` | for how long rows of deleted objects are kept |
//! | `live.rs` | the keys that may change while the program runs |
//! | `environment.rs` | the variables that name a database |
//! | `error.rs`, `secret.rs` | all mistakes of a file at once; text that is never printed |

mod environment;
mod error;
mod live;
mod read;
mod replicas;
mod retention;
mod secret;
mod section;
mod serve;
mod tree;
mod values;

#[cfg(test)]
mod tests;

pub use environment::Environment;
pub use error::ConfigError;
pub use ingester_core::kind::Finalizer;
pub use live::{ConfigChanges, Live};
pub use replicas::Replicas;
pub use retention::Retention;
pub use secret::Secret;
pub use serve::{FormerObjects, FrontProxy, Query, Serve};

use ingester_core::{Kind, KindNames};
use ingester_store::fuse::Fuse;
use ingester_store::{Address, ConnectOptions, Tls};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The configuration of `ingester run` and `ingester serve`. [`Default`] is the configuration of an empty file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `metadataStorage`: whether objects are stored, and where.
    pub metadata_storage: MetadataStorage,
    /// `mysql`: the MySQL server.
    pub mysql: Mysql,
    /// `ingester`: how objects are mirrored.
    pub ingester: Ingester,
    /// `retention`: for how long rows of deleted objects are kept.
    pub retention: Retention,
    /// `serve`: the API of `ingester serve`.
    pub serve: Serve,
    /// `query`: how `ingester serve` asks the database.
    pub query: Query,
    /// `server`: metrics and probes.
    pub server: Monitoring,
    /// `log`: what is logged and how.
    pub log: Log,
}

/// Section `metadataStorage`.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataStorage {
    /// `enableMetadataStorage`: if false, the ingester stays idle.
    pub enable_metadata_storage: bool,
    /// `deletionDelay`: how long the row of a deleted object stays live before it is marked as deleted.
    pub deletion_delay: Duration,
    /// `enableResourceVersionCache`: accepted for the files of the reference system. It has no effect, because the mirror always
    /// remembers the versions that it wrote.
    pub enable_resource_version_cache: bool,
    /// `databaseURL`: `mysql://user:password@host:3306/database`, with several hosts too, or `sqlite://FILE`. It overrides the section `mysql`.
    pub database_url: Option<Secret>,
}

/// Section `mysql`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mysql {
    /// `host`: the server's name or address, or those of several servers, one of which takes the writes.
    pub host: Option<String>,
    /// `port`.
    pub port: u16,
    /// `user`; `root` if it is not set.
    pub user: Option<String>,
    /// `password`.
    pub password: Option<Secret>,
    /// `passwordFile`: a file with the password, read when the address is made.
    pub password_file: Option<PathBuf>,
    /// `database`: the database on the server.
    pub database: Option<String>,
    /// `maxOpenConns`: the most connections.
    pub max_open_conns: u32,
    /// `maxIdleConns`: how many connections stay open while idle, see [`ConnectOptions::max_idle`].
    pub max_idle_conns: u32,
    /// `connMaxLifetime`: the age at which a connection is replaced; `None` (in the file `0s`) for never.
    pub conn_max_lifetime: Option<Duration>,
    /// `tls`.
    pub tls: Tls,
}

/// Section `ingester`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ingester {
    /// `concurrentReconciles`: workers per kind.
    pub concurrent_reconciles: usize,
    /// `requeuePeriod`: how long until an object whose work could not be completed is reconciled again. The mirror waits at
    /// least 100 ms.
    pub requeue_period: Duration,
    /// `concurrentReconcilesMap`: workers of individual kinds.
    pub concurrent_reconciles_map: BTreeMap<String, usize>,
    /// `requeuePeriodMap`: the requeue period of individual kinds.
    pub requeue_period_map: BTreeMap<String, Duration>,
    /// `finalizer`: which objects carry our finalizer; `None` for what each kind says of itself.
    pub finalizer: Option<Finalizer>,
    /// `finalizerMap`: the same for individual kinds.
    pub finalizer_map: BTreeMap<String, Finalizer>,
    /// `finalizerRate`: finalizers that are added per second and kind to objects that are older than the process.
    pub finalizer_rate: u32,
    /// `namespaces`: the namespaces to mirror; empty for all.
    pub namespaces: Vec<String>,
    /// `kinds`: the kinds to mirror; empty for all registered kinds.
    pub kinds: Vec<String>,
    /// `kindsFile`: a file that declares kinds, see [`ingester_declare::declare`]; `--kinds` overrides it.
    pub kinds_file: Option<PathBuf>,
    /// `viewSettings`: values that views read by their names; an empty one takes the setting away.
    pub view_settings: BTreeMap<String, String>,
    /// `suspend`: the kinds for which nothing is written, neither to the database nor to the cluster.
    pub suspend: Vec<String>,
    /// `pruneManagedFields`: whether `metadata.managedFields` is removed from the stored objects.
    pub prune_managed_fields: bool,
    /// `resyncPeriod`: how often rows are compared with a list of the objects' metadata; `None` (in the file `0s`) for never.
    pub resync_period: Option<Duration>,
    /// `sweepLimit`: how many rows may be marked as deleted at once because a list lacks their objects.
    pub sweep_limit: SweepLimit,
    /// `auditPeriod`: how often cluster and rows are compared as `ingester audit` does; `None` (in the file `0s`) for never.
    pub audit_period: Option<Duration>,
    /// `createTables`: whether the process migrates the tables when it starts.
    pub create_tables: bool,
    /// `backfillRate`: the most rows per second whose new columns are backfilled; 0 for no limit.
    pub backfill_rate: u32,
    /// `replicas`.
    pub replicas: Replicas,
}

/// When sweeps of a kind stop, see [`Fuse`]: how many rows they may mark as deleted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepLimit(Option<u64>);

impl SweepLimit {
    /// Of so many rows; 0 for no limit.
    pub const fn of(rows: u64) -> Self {
        SweepLimit(if rows == 0 { None } else { Some(rows) })
    }

    /// How many rows sweeps of a kind may mark in any case; `None` for no limit.
    pub const fn rows(self) -> Option<u64> {
        self.0
    }
}

/// Section `server`.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitoring {
    /// `address`: the address of metrics and probes, a host (empty for all addresses) and a port; `None` (in the file `""`) for
    /// no server.
    pub address: Option<String>,
}

/// Section `log`.
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

/// The lowest level that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// Failures.
    Error,
    /// Also what looks wrong.
    Warn,
    /// Also what happens, in batches.
    #[default]
    Info,
    /// Also each object.
    Debug,
    /// Also everything else.
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
            password_file: None,
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
            finalizer: None,
            finalizer_map: BTreeMap::new(),
            finalizer_rate: 50,
            namespaces: Vec::new(),
            kinds: Vec::new(),
            kinds_file: None,
            view_settings: BTreeMap::new(),
            suspend: Vec::new(),
            prune_managed_fields: true,
            resync_period: Some(Duration::from_secs(600)),
            sweep_limit: SweepLimit::of(1000),
            audit_period: None,
            create_tables: true,
            backfill_rate: ingester_store::migrate::RATE,
            replicas: Replicas::default(),
        }
    }
}

impl Default for Monitoring {
    fn default() -> Self {
        Monitoring { address: Some("0.0.0.0:8080".into()) }
    }
}

/// The same database, with the password that is in a file.
///
/// # Errors
/// If the file cannot be read, or the database has a password already, or can have none.
pub fn with_password(address: Address, file: &Path) -> Result<Address, ConfigError> {
    address.password(Secret::read(file)?.reveal()).map_err(|error| ConfigError::of(error.to_string()))
}

/// Whether to mirror, and into which database.
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
    /// Reads the file at `path` as [`Config::parse`] does.
    ///
    /// # Errors
    /// If the file cannot be read, and those of [`Config::parse`]. The error names the file.
    pub fn load(path: &Path, environment: &Environment, kinds: &KindNames) -> Result<Self, ConfigError> {
        std::fs::read_to_string(path)
            .map_err(|error| ConfigError::of(format!("it cannot be read: {error}")))
            .and_then(|text| Config::parse(&text, environment, kinds))
            .map_err(|error| error.in_file(path.display().to_string()))
    }

    /// The configuration of an empty file, for this database.
    ///
    /// # Errors
    /// If the URL, or the environment, names no database.
    pub fn of_database(url: &str, environment: &Environment) -> Result<Self, ConfigError> {
        let mut config = Config::parse("", environment, &KindNames::of(&[]))?;
        config.metadata_storage.enable_metadata_storage = true;
        config.metadata_storage.database_url = Some(url.into());
        config.gate().map(|_| config)
    }

    /// The configuration of an empty file, for the database that the environment names.
    ///
    /// # Errors
    /// If the environment names no database, or only a part of one.
    pub fn of_environment(environment: &Environment) -> Result<Self, ConfigError> {
        let nothing = "no database is named: use --config, --database-url, or MYSQL_HOST and MYSQL_DB_NAME (or DATABASE_URL) in the \
                       environment";
        environment.address()?.ok_or_else(|| ConfigError::of(nothing))?;
        let mut config = Config::parse("", environment, &KindNames::of(&[]))?;
        config.metadata_storage.enable_metadata_storage = true;
        config.gate().map(|_| config)
    }

    /// `ingester.kindsFile` of the file at `path`. Which kinds a configuration may name is known only after it, so it is read apart,
    /// before [`Config::load`]; whatever is wrong with the file is left to that.
    pub fn kinds_file(path: &Path) -> Option<PathBuf> {
        let text = std::fs::read_to_string(path).ok()?;
        let root = tree::read(&text).ok()?;
        match &root.get("ingester")?.get("kindsFile")?.content {
            tree::Content::Text(file) if !file.is_empty() => Some(file.into()),
            _ => None,
        }
    }

    /// Whether the storage is enabled, and which database is named.
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
    /// The server's address; `None` if neither host nor database is named.
    ///
    /// # Errors
    /// If only one of them is named, the password's file cannot be read, or `tls` contradicts itself.
    pub(crate) fn address(&self) -> Result<Option<Address>, ConfigError> {
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
        let password = match (&self.password, &self.password_file) {
            (Some(_), Some(_)) => {
                let message = "`mysql.password` and `mysql.passwordFile` are both set: leave out one";
                return Err(ConfigError::of(message));
            }
            (password, None) => password.clone(),
            (None, Some(file)) => Some(Secret::read(file)?),
        };
        let (user, password) = (self.user.as_deref().unwrap_or("root"), password.as_ref().map(Secret::reveal));
        let address = Address::mysql(host, self.port, user, password, database);
        address.tls(&self.tls).map(Some).map_err(|error| ConfigError::of(format!("{error}")))
    }

    /// How to connect, with the defaults of [`ConnectOptions`] for everything else.
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
    pub(crate) fn concurrent_reconciles_of(&self, kind: &str) -> usize {
        self.concurrent_reconciles_map.get(kind).copied().unwrap_or(self.concurrent_reconciles)
    }

    /// The requeue period of `kind`.
    pub(crate) fn requeue_period_of(&self, kind: &str) -> Duration {
        self.requeue_period_map.get(kind).copied().unwrap_or(self.requeue_period)
    }

    /// Which objects of `kind` carry our finalizer: what is configured for it, else for all kinds, else what the kind says.
    pub fn finalizer_of(&self, kind: &Kind) -> Finalizer {
        self.finalizer_map.get(kind.name()).copied().or(self.finalizer).unwrap_or(kind.finalizer())
    }

    /// The fuse of the sweeps of `kind`; `None` without a limit.
    pub(crate) fn fuse(&self, kind: &Kind) -> Option<Fuse> {
        let namespaces = if kind.namespaced() { self.namespaces.clone() } else { Vec::new() };
        Some(Fuse { limit: self.sweep_limit.rows()?, namespaces })
    }

    /// Whether nothing is written for `kind`.
    pub fn is_suspended(&self, kind: &str) -> bool {
        self.suspend.iter().any(|name| name == kind)
    }

    /// Whether `kind` is mirrored.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind)
    }
}
