//! The keys of the file. This is the only list of them: a key that is not read here is unknown.

use super::section::{Findings, Section, section};
use super::tree;
use super::values::{
    DURATION, TIME, choice, duration, host, kind, listen, namespace, or_never, path, setting_name, setting_value, text,
    truth, whole,
};
use super::{
    Config, ConfigError, Environment, Finalizer, FormerObjects, FrontProxy, Ingester, LogFormat, LogLevel,
    MetadataStorage, Mysql, Replicas, Serve, SweepLimit,
};
use ingester_core::KindNames;
use ingester_core::duration::Bounds;
use ingester_core::kind::RETENTION;
use ingester_store::{Tls, TlsMode};

/// The most workers of one kind.
const MOST_WORKERS: usize = 256;

const FINALIZERS: &[(&str, Finalizer)] =
    &[("ensure", Finalizer::Ensure), ("existing", Finalizer::Existing), ("never", Finalizer::Never)];

const FORMER_OBJECTS: &[(&str, FormerObjects)] =
    &[("granted", FormerObjects::Granted), ("olderHidden", FormerObjects::OlderHidden), ("none", FormerObjects::None)];
const FRONT_PROXY: &[(&str, FrontProxy)] =
    &[("auto", FrontProxy::Auto), ("required", FrontProxy::Required), ("never", FrontProxy::Never)];

const FORMATS: &[(&str, LogFormat)] = &[("text", LogFormat::Text), ("json", LogFormat::Json)];

const LEVELS: &[(&str, LogLevel)] = &[
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Trace),
];

/// The names of MySQL's `--ssl-mode`.
const TLS_MODES: &[(&str, TlsMode)] = &[
    ("disabled", TlsMode::Disabled),
    ("preferred", TlsMode::Preferred),
    ("required", TlsMode::Required),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-identity", TlsMode::VerifyIdentity),
];

impl Config {
    /// Reads the text of a configuration file. `environment` overrides it. `kinds` are the names of the registered kinds. An
    /// empty text and empty sections have all defaults.
    ///
    /// The database is the first of these that is set: `DATABASE_URL`; `MYSQL_HOST` or `MYSQL_DB_NAME`, with the section `mysql`
    /// for what no variable sets; `metadataStorage.databaseURL`; the section `mysql`, in which `MYSQL_PORT`, `MYSQL_USER` and
    /// `MYSQL_PASSWORD` (or `MYSQL_PASSWORD_FILE`) replace the keys.
    ///
    /// # Errors
    /// If the text is not valid YAML, or has unknown keys, duplicate keys, or wrong values such as kinds that are not
    /// registered: all mistakes at once, with their lines. Otherwise, if [`Config::gate`] fails.
    pub fn parse(text: &str, environment: &Environment, kinds: &KindNames) -> Result<Self, ConfigError> {
        let root = tree::read(text).map_err(|problem| ConfigError::new(vec![problem]))?;
        let (mut config, mut findings) = (Config::default(), Findings::default());
        section(String::new(), root, &mut findings, |root| read(root, &mut config, kinds));
        environment.apply(&mut config, &mut findings.problems);
        let problems = findings.into_problems();
        if !problems.is_empty() {
            return Err(ConfigError::new(problems));
        }
        // Contradictions are only looked for if every single value is correct.
        match config.mysql.tls.check() {
            Err(mistake) => Err(ConfigError::of(mistake.to_string())),
            Ok(()) => config
                .gate()
                .and_then(|_| config.check_serve())
                .and_then(|()| config.ingester.replicas.check())
                .map(|()| config),
        }
    }
}

/// Reads every section of the file.
pub(super) fn read(root: &mut Section<'_>, config: &mut Config, kinds: &KindNames) {
    root.section("metadataStorage", |section| metadata_storage(section, &mut config.metadata_storage));
    root.section("mysql", |section| mysql(section, &mut config.mysql));
    root.section("ingester", |section| ingester(section, &mut config.ingester, kinds));
    root.section("retention", |section| {
        section.read("deleted", &mut config.retention.deleted, or_never(RETENTION));
        section.map("deletedMap", &mut config.retention.deleted_map, kind(kinds), or_never(RETENTION));
    });
    root.section("serve", |section| serve(section, &mut config.serve));
    root.section("query", |section| {
        section.secret("databaseURL", &mut config.query.database_url);
        section.read("timeout", &mut config.query.timeout, duration(TIME));
    });
    root.section("server", |section| section.read("address", &mut config.server.address, listen));
    root.section("log", |section| {
        section.read("format", &mut config.log.format, choice(FORMATS));
        section.read("level", &mut config.log.level, choice(LEVELS));
    });
}

fn metadata_storage(section: &mut Section<'_>, into: &mut MetadataStorage) {
    section.read("enableMetadataStorage", &mut into.enable_metadata_storage, truth);
    section.read("deletionDelay", &mut into.deletion_delay, duration(DURATION));
    section.read("enableResourceVersionCache", &mut into.enable_resource_version_cache, truth);
    section.secret("databaseURL", &mut into.database_url);
}

fn mysql(section: &mut Section<'_>, into: &mut Mysql) {
    section.read("host", &mut into.host, host);
    section.read("port", &mut into.port, whole(1..=u16::MAX));
    section.read("user", &mut into.user, text);
    section.secret("password", &mut into.password);
    section.read("passwordFile", &mut into.password_file, path);
    section.read("database", &mut into.database, text);
    section.read("maxOpenConns", &mut into.max_open_conns, whole(1..=10_000));
    section.read("maxIdleConns", &mut into.max_idle_conns, whole(0..=10_000));
    section.read("connMaxLifetime", &mut into.conn_max_lifetime, or_never(DURATION));
    section.section("tls", |section| tls(section, &mut into.tls));
}

fn tls(section: &mut Section<'_>, into: &mut Tls) {
    section.read("mode", &mut into.mode, choice(TLS_MODES));
    section.read("ca", &mut into.ca, path);
    section.read("cert", &mut into.cert, path);
    section.read("key", &mut into.key, path);
}

fn ingester(section: &mut Section<'_>, into: &mut Ingester, kinds: &KindNames) {
    section.read("concurrentReconciles", &mut into.concurrent_reconciles, whole(1..=MOST_WORKERS));
    section.read("requeuePeriod", &mut into.requeue_period, duration(DURATION));
    let workers = whole(1..=MOST_WORKERS);
    section.map("concurrentReconcilesMap", &mut into.concurrent_reconciles_map, kind(kinds), workers);
    section.map("requeuePeriodMap", &mut into.requeue_period_map, kind(kinds), duration(DURATION));
    section.read("finalizer", &mut into.finalizer, |text| choice(FINALIZERS)(text).map(Some));
    section.map("finalizerMap", &mut into.finalizer_map, kind(kinds), choice(FINALIZERS));
    section.read("finalizerRate", &mut into.finalizer_rate, whole(1..=10_000));
    section.list("namespaces", &mut into.namespaces, namespace);
    section.list("kinds", &mut into.kinds, kind(kinds));
    section.read("kindsFile", &mut into.kinds_file, path);
    section.map("viewSettings", &mut into.view_settings, setting_name, setting_value);
    section.list("suspend", &mut into.suspend, kind(kinds));
    section.read("pruneManagedFields", &mut into.prune_managed_fields, truth);
    section.read("resyncPeriod", &mut into.resync_period, or_never(DURATION));
    section.read("sweepLimit", &mut into.sweep_limit, |text| whole(0..=1_000_000_000)(text).map(SweepLimit::of));
    section.read("auditPeriod", &mut into.audit_period, or_never(DURATION));
    section.read("createTables", &mut into.create_tables, truth);
    section.read("backfillRate", &mut into.backfill_rate, whole(0..=1_000_000));
    section.section("replicas", |section| replicas(section, &mut into.replicas, kinds));
}

fn replicas(section: &mut Section<'_>, into: &mut Replicas, kinds: &KindNames) {
    /// More than a thousand members would hardly be quicker than one.
    const MOST_SHARDS: u32 = 1024;
    section.read("enabled", &mut into.enabled, truth);
    section.read("name", &mut into.name, |text| match namespace(text) {
        Ok(name) if name.len() <= 40 => Ok(name),
        _ => Err("use up to 40 lower-case letters, digits and hyphens".to_owned()),
    });
    section.read("namespace", &mut into.namespace, |text| namespace(text).map(Some));
    section.read("leaseDuration", &mut into.lease_duration, duration(TIME));
    section.read("renewDeadline", &mut into.renew_deadline, duration(TIME));
    section.read("retryPeriod", &mut into.retry_period, duration(Bounds::new("100ms", "365d")));
    section.read("shards", &mut into.shards, whole(1..=MOST_SHARDS));
    section.map("shardsMap", &mut into.shards_map, kind(kinds), whole(1..=MOST_SHARDS));
}

fn serve(section: &mut Section<'_>, into: &mut Serve) {
    section.read("address", &mut into.address, |text| {
        listen(text)?.ok_or_else(|| "use an address and a port such as `0.0.0.0:8443`".to_owned())
    });
    section.read("probes", &mut into.probes, listen);
    section.read("certificate", &mut into.certificate, path);
    section.read("key", &mut into.key, path);
    section.read("clientCA", &mut into.client_ca, path);
    section.read("frontProxy", &mut into.front_proxy, choice(FRONT_PROXY));
    section.read("formerObjects", &mut into.former_objects, choice(FORMER_OBJECTS));
    section.list("audiences", &mut into.audiences, |text| {
        text_of(text).ok_or_else(|| "use the name of an audience".to_owned())
    });
    section.read("maxConnections", &mut into.max_connections, whole(1..=100_000));
    section.read("maxInFlight", &mut into.max_in_flight, whole(1..=100_000));
    section.read("rate", &mut into.rate, whole(0..=1_000_000));
    section.read("burst", &mut into.burst, whole(1..=1_000_000));
    section.read("timeout", &mut into.timeout, duration(TIME));
}

/// A text that is not empty.
fn text_of(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
