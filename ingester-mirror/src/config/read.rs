//! The keys of the file, one by one. This is the only list of them: what is not asked for here is unknown.

use super::stanza::{Findings, Stanza, stanza};
use super::tree;
use super::values::{choice, duration, duration_or_never, host, kind, listen, namespace, path, text, truth, whole};
use super::{Config, ConfigError, Environment, Finalizer, Ingester, LogFormat, LogLevel, MetadataStorage, Mysql};
use ingester_store::{Tls, TlsMode};

/// Workers of one kind, at most.
const MOST_WORKERS: usize = 256;

const FINALIZERS: &[(&str, Finalizer)] =
    &[("ensure", Finalizer::Ensure), ("existing", Finalizer::Existing), ("never", Finalizer::Never)];

const FORMATS: &[(&str, LogFormat)] = &[("text", LogFormat::Text), ("json", LogFormat::Json)];

const LEVELS: &[(&str, LogLevel)] = &[
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Trace),
];

/// MySQL's names of `--ssl-mode`.
const TLS_MODES: &[(&str, TlsMode)] = &[
    ("disabled", TlsMode::Disabled),
    ("preferred", TlsMode::Preferred),
    ("required", TlsMode::Required),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-identity", TlsMode::VerifyIdentity),
];

impl Config {
    /// Reads the text of a configuration file; `environment` stands above it. `kinds` are the names of the kinds that
    /// the manifest has. An empty text, and an empty stanza, have every default.
    ///
    /// Which database it is, the first that is there: `DATABASE_URL`; `MYSQL_HOST` or `MYSQL_DB_NAME`, with the stanza
    /// `mysql` for the parts that no variable names; `metadataStorage.databaseURL`; the stanza `mysql`, with
    /// `MYSQL_PORT`, `MYSQL_USER` and `MYSQL_PASSWORD` in the place of its keys.
    ///
    /// # Errors
    /// When the text is no YAML, or has unknown keys, keys that stand twice, or wrong values, kinds that the manifest
    /// does not have among them: all of them at once, with their lines. And where [`Config::gate`] has one.
    pub fn parse(text: &str, environment: &Environment, kinds: &[&str]) -> Result<Self, ConfigError> {
        let root = tree::read(text).map_err(|problem| ConfigError::new(vec![problem]))?;
        let (mut config, mut findings) = (Config::default(), Findings::default());
        stanza(String::new(), root, &mut findings, |root| read(root, &mut config, kinds));
        environment.apply(&mut config, &mut findings.problems);
        let problems = findings.into_problems();
        if !problems.is_empty() {
            return Err(ConfigError::new(problems));
        }
        // What contradicts itself is only looked for where every value is what it was meant to be.
        match config.mysql.tls.mistake() {
            Some(mistake) => Err(ConfigError::of(mistake)),
            None => config.gate().map(|_| config),
        }
    }
}

/// Reads every stanza of the file.
pub(super) fn read(root: &mut Stanza<'_>, config: &mut Config, kinds: &[&str]) {
    root.stanza("metadataStorage", |stanza| metadata_storage(stanza, &mut config.metadata_storage));
    root.stanza("mysql", |stanza| mysql(stanza, &mut config.mysql));
    root.stanza("ingester", |stanza| ingester(stanza, &mut config.ingester, kinds));
    root.stanza("server", |stanza| stanza.read("address", &mut config.server.address, listen));
    root.stanza("log", |stanza| {
        stanza.read("format", &mut config.log.format, choice(FORMATS));
        stanza.read("level", &mut config.log.level, choice(LEVELS));
    });
}

fn metadata_storage(stanza: &mut Stanza<'_>, into: &mut MetadataStorage) {
    stanza.read("enableMetadataStorage", &mut into.enable_metadata_storage, truth);
    stanza.read("deletionDelay", &mut into.deletion_delay, duration);
    stanza.read("enableResourceVersionCache", &mut into.enable_resource_version_cache, truth);
    stanza.secret("databaseURL", &mut into.database_url);
}

fn mysql(stanza: &mut Stanza<'_>, into: &mut Mysql) {
    stanza.read("host", &mut into.host, host);
    stanza.read("port", &mut into.port, whole(1..=u16::MAX));
    stanza.read("user", &mut into.user, text);
    stanza.secret("password", &mut into.password);
    stanza.read("database", &mut into.database, text);
    stanza.read("maxOpenConns", &mut into.max_open_conns, whole(1..=10_000));
    stanza.read("maxIdleConns", &mut into.max_idle_conns, whole(0..=10_000));
    stanza.read("connMaxLifetime", &mut into.conn_max_lifetime, duration_or_never);
    stanza.stanza("tls", |stanza| tls(stanza, &mut into.tls));
}

fn tls(stanza: &mut Stanza<'_>, into: &mut Tls) {
    stanza.read("mode", &mut into.mode, choice(TLS_MODES));
    stanza.read("ca", &mut into.ca, path);
    stanza.read("cert", &mut into.cert, path);
    stanza.read("key", &mut into.key, path);
}

fn ingester(stanza: &mut Stanza<'_>, into: &mut Ingester, kinds: &[&str]) {
    stanza.read("concurrentReconciles", &mut into.concurrent_reconciles, whole(1..=MOST_WORKERS));
    stanza.read("requeuePeriod", &mut into.requeue_period, duration);
    let workers = whole(1..=MOST_WORKERS);
    stanza.map("concurrentReconcilesMap", &mut into.concurrent_reconciles_map, kind(kinds), workers);
    stanza.map("requeuePeriodMap", &mut into.requeue_period_map, kind(kinds), duration);
    stanza.read("finalizer", &mut into.finalizer, choice(FINALIZERS));
    stanza.read("finalizerRate", &mut into.finalizer_rate, whole(1..=10_000));
    stanza.list("namespaces", &mut into.namespaces, namespace);
    stanza.list("kinds", &mut into.kinds, kind(kinds));
    stanza.read("pruneManagedFields", &mut into.prune_managed_fields, truth);
    stanza.read("resyncPeriod", &mut into.resync_period, duration_or_never);
    stanza.read("createTables", &mut into.create_tables, truth);
    stanza.read("backfillRate", &mut into.backfill_rate, whole(0..=1_000_000));
}
