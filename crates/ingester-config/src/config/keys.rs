//! The keys of the file, one row each; `row.rs` defines the syntax of a row. A key without a row is unknown.

use super::retention::kept;
#[cfg(test)]
use super::row::Row;
use super::row::{Effect, Settings, settings};
use super::section::Section;
use super::values::{
    DURATION, GRACE, PAUSE, SETTLE, TIME, address, argument, audience, bytes, choice, duration, host, kind, lease_name,
    listen, namespace, or_never, or_none, path, prefix, read_text, setting_name, setting_value, truth, variable, whole,
};
use super::{
    ConfigChanges, EvictionRule, Finalizer, FormerObjects, FrontProxy, LogFormat, LogLevel, RestoreAs, RetentionRule,
    RetentionTime, Secret, SweepLimit,
};
use crate::selection::Selector;
use ingester_core::KindNames;
use ingester_core::kind::HISTORY;
use ingester_store::spool::SpoolPlace;
use ingester_store::{PasswordCommand, Tls, TlsMode};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::time::Duration;

/// The most workers of one kind.
const MOST_WORKERS: usize = 256;

/// The largest temporary file. The last object may exceed it, so it is less than `ingester_store::spool::MOST`.
const MOST_SPOOLED: u64 = 2 << 30;

/// The most shards of one kind. More than a thousand members would be little faster than a single one.
const MOST_SHARDS: u32 = 1024;

const FINALIZERS: &[(&str, Finalizer)] =
    &[("ensure", Finalizer::Ensure), ("existing", Finalizer::Existing), ("never", Finalizer::Never)];

const EVICTIONS: &[(&str, bool)] = &[("on", true), ("off", false)];

const FORMER_OBJECTS: &[(&str, FormerObjects)] =
    &[("granted", FormerObjects::Granted), ("olderHidden", FormerObjects::OlderHidden), ("none", FormerObjects::None)];
const FRONT_PROXY: &[(&str, FrontProxy)] =
    &[("auto", FrontProxy::Auto), ("required", FrontProxy::Required), ("never", FrontProxy::Never)];

const RESTORE_AS: &[(&str, RestoreAs)] =
    &[("user", RestoreAs::User), ("server", RestoreAs::Server), ("off", RestoreAs::Off)];

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

settings! {
    /// The configuration of `ingester run` and `ingester serve`. [`Default`] is the configuration of an empty file.
    pub struct Config("", kinds) {
        section
        /// The switch for storing objects, and the database for them.
        metadataStorage => metadata_storage: MetadataStorage;
        section
        /// The MySQL server.
        mysql => mysql: Mysql;
        section
        /// Options for mirroring objects.
        ingester => ingester: Ingester;
        section
        /// The time for which rows of deleted objects are kept.
        retention => retention: Retention;
        section
        /// The rules by which objects leave etcd.
        policies => policies: Policies;
        section
        /// The log of changes, which watching clients need.
        changes => changes: Changes;
        section
        /// The API of `ingester serve`.
        serve => serve: Serve;
        section
        /// The database that `ingester serve` reads, and its limits.
        query => query: Query;
        section
        /// Metrics and probes.
        server => server: Monitoring;
        section
        /// The format and the level of the log.
        log => log: Log;
    }
}

settings! {
    /// Section `metadataStorage`.
    pub struct MetadataStorage("metadataStorage", kinds) {
        /// If `false`, the ingester stays idle.
        enableMetadataStorage => enable_metadata_storage: bool = "false", "bool", Restart, read(truth);
        /// How long the row of a deleted object stays live before it is marked as deleted. `0s`: not at all.
        deletionDelay => deletion_delay: Duration = "10s", "duration", Now, read(duration(DURATION));
        /// Accepted without effect: the ingester always remembers the versions that it wrote.
        enableResourceVersionCache => enable_resource_version_cache: bool = "false", "bool", None, read(truth);
        /// `mysql://user:password@host:3306/database`, `mariadb://...`, `postgres://user:password@host:5432/database` or `sqlite://FILE`.
        /// Percent-encode special characters in the password. Several hosts, as in `mysql.host`:
        /// `mysql://user:password@db-1:3306,db-2:3306/database`.
        databaseURL => database_url: Option<Secret> = "", "text", Restart, secret(),
            variable DATABASE_URL;
        /// Like `mysql.passwordFile`, for a `databaseURL` without a password.
        passwordFile => password_file: Option<PathBuf> = "", "path", Restart, read(path), variable DATABASE_PASSWORD_FILE;
        section
        /// A command that prints the password that `databaseURL` leaves out.
        passwordCommand => password_command: UrlPasswordCommand;
    }
}

/// The rows of a command that prints a password.
macro_rules! password_command {
    ($name:ident($path:literal)) => {
        settings! {
            struct $name($path, kinds) {
                /// The program: a path, or a name to look up in `PATH`. It runs without a shell.
                command => command: String = "", "text", Restart, read(argument);
                /// Its arguments.
                args => args: Vec<String> = "[]", "list of texts", Restart, texts(argument);
                /// Additional environment variables for it.
                env => env: BTreeMap<String, String> = "{}", "map from names to texts", Restart, hidden_map(variable, argument);
            }
        }
    };
}

/// `metadataStorage.passwordCommand`; `mysql.passwordCommand` has the same keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlPasswordCommand(pub PasswordCommand);

impl Deref for UrlPasswordCommand {
    type Target = PasswordCommand;

    fn deref(&self) -> &PasswordCommand {
        &self.0
    }
}

impl DerefMut for UrlPasswordCommand {
    fn deref_mut(&mut self) -> &mut PasswordCommand {
        &mut self.0
    }
}

password_command! { UrlPasswordCommand("metadataStorage.passwordCommand") }
password_command! { PasswordCommand("mysql.passwordCommand") }

settings! {
    /// Section `mysql`.
    pub struct Mysql("mysql", kinds) {
        /// The server's name or address, without port or scheme. Or [several servers](databases.md#several-hosts), separated by commas, each with its
        /// port if that differs from `port` (`db-1,db-2:3307`): all connections go to the first one that takes writes, as long as it does.
        host => host: Option<String> = "", "text", Restart, read(host), variable MYSQL_HOST;
        /// The port of each server in `host` that names none.
        port => port: u16 = "3306", "1 to 65535", Restart, read(whole(1..=u16::MAX)), variable MYSQL_PORT;
        /// The user. Without it: `root`.
        user => user: Option<String> = "", "text", Restart, read(read_text), variable MYSQL_USER;
        /// The password. Better: set `MYSQL_PASSWORD` from a Secret, or use a file.
        password => password: Option<Secret> = "", "text", Restart, secret(), variable MYSQL_PASSWORD;
        /// A file with the password, such as a mounted Secret. A trailing newline is removed. It is read again when the database refuses the
        /// password.
        passwordFile => password_file: Option<PathBuf> = "", "path", Restart, read(path), variable MYSQL_PASSWORD_FILE;
        /// The database (schema) on the server. It must exist.
        database => database: Option<String> = "", "text", Restart, read(read_text), variable MYSQL_DB_NAME;
        /// The maximum number of connections.
        maxOpenConns => max_open_conns: u32 = "25", "1 to 10000", Restart, read(whole(1..=10_000));
        /// How many idle connections stay open. Others are closed after ten idle minutes, or when they reach `connMaxLifetime`. Connections are
        /// opened when needed.
        maxIdleConns => max_idle_conns: u32 = "5", "0 to 10000", Restart, read(whole(0..=10_000));
        /// The age at which a connection is replaced. `0s`: never.
        connMaxLifetime => conn_max_lifetime: Option<Duration> = "5m", "duration", Restart, read(or_never(DURATION));
        section
        /// A command that prints the password.
        passwordCommand => password_command: PasswordCommand;
        section
        /// The encryption of connections.
        tls => tls: Tls;
    }
}

settings! {
    struct Tls("mysql.tls", kinds) {
        /// MySQL's `--ssl-mode`, in upper or lower case, with `-` or `_`. `preferred` encrypts if the server offers it. Only the last two verify the
        /// server's certificate: its signature, and for `verify-identity` also the host name.
        mode => mode: TlsMode = "preferred", "one of `disabled`, `preferred`, `required`, `verify-ca`, `verify-identity`", Restart, read(choice(TLS_MODES));
        /// CA certificates for the server's certificate, in addition to those that the system trusts. Only for a mode that verifies.
        ca => ca: Option<PathBuf> = "", "path of a PEM file", Restart, read(path);
        /// The client's certificate, for users with `REQUIRE X509`. Set it together with `key`.
        cert => cert: Option<PathBuf> = "", "path of a PEM file", Restart, read(path);
        /// The key of `cert`.
        key => key: Option<PathBuf> = "", "path of a PEM file", Restart, read(path);
    }
}

settings! {
    /// Section `ingester`.
    pub struct Ingester("ingester", kinds) {
        /// Workers per kind; if namespaces or shards split the kind, for each of them.
        concurrentReconciles => concurrent_reconciles: usize = "2", "1 to 256", Restart, read(whole(1..=MOST_WORKERS));
        /// How long an object waits to be reconciled again after its work could not be completed. Less than `100ms` counts as `100ms`.
        requeuePeriod => requeue_period: Duration = "30s", "duration", Now, read(duration(DURATION));
        /// Workers of individual kinds: `{PipelineRun: 8}`.
        concurrentReconcilesMap => concurrent_reconciles_map: BTreeMap<String, usize> = "{}", "map from kinds to 1 to 256", Restart,
            map(kind(kinds), whole(1..=MOST_WORKERS));
        /// The requeue period of individual kinds.
        requeuePeriodMap => requeue_period_map: BTreeMap<String, Duration> = "{}", "map from kinds to durations",
            Now, map(kind(kinds), duration(DURATION));
        /// Which objects get our finalizer, `PREFIX/Ingester`, for all kinds. `ensure`: every live object, so that none leaves the cluster before its
        /// last state is stored. `existing`: none; an object that has it loses it once its deletion or eviction is stored. `never`: none; a
        /// terminating object that has it loses it once its last state is stored. A live object keeps it, because it may belong to another ingester;
        /// `ingester finalizers remove` removes it. Without this key, each kind has its own value: in its struct (`#[ingest(finalizer = "...")]`) by
        /// default `ensure`, but `never` for projections, whose objects belong to another project; in its file (`finalizer`) by default `never`.
        finalizer => finalizer: Option<Finalizer> = "", "one of `ensure`, `existing`, `never`", Restart,
            read(|text| choice(FINALIZERS)(text).map(Some));
        /// The same for individual kinds; overrides `finalizer`: `{Pod: ensure}`.
        finalizerMap => finalizer_map: BTreeMap<String, Finalizer> = "{}", "map from kinds to one of `ensure`, `existing`, `never`",
            Restart, map(kind(kinds), choice(FINALIZERS));
        /// `on`: immutable objects leave etcd once they are stored. `off`: another ingester evicts them, such as the reference system's while
        /// [both run](moving.md#both-side-by-side). They stay live here until they have left the cluster, and then get an `evict_time`.
        evictions => evictions: bool = "on", "one of `on`, `off`", Restart, read(choice(EVICTIONS));
        /// Finalizers added per second to objects that are older than the ingester; per kind, namespace or shard, like `concurrentReconciles`.
        finalizerRate => finalizer_rate: u32 = "50", "1 to 10000", Now, read(whole(1..=10_000));
        /// Former [prefixes](operations.md#a-prefix-of-ones-own) of our finalizer and annotations: `[michelangelo]`. Such finalizers are removed
        /// whenever ours would be; such annotations are obeyed.
        formerPrefixes => former_prefixes: Vec<String> = "[]", "list of DNS subdomains", Restart, list(prefix);
        /// The namespaces to mirror; empty: all. Before you remove some, see [operations.md](operations.md#mirror-less).
        namespaces => namespaces: Vec<String> = "[]", "list of namespaces", Restart, list(namespace);
        /// The kinds to mirror, by the names that `ingester kinds` prints; empty: all. If two groups share a name, add the group:
        /// `PyTorchJob.kubeflow.org`, or `Event.core` in the core group. Every kind may be written with its group, here and in all other keys.
        kinds => kinds: Vec<String> = "[]", "list of kinds", Restart, list(kind(kinds));
        /// A YAML file that [declares kinds](kinds.md), a folder with such files, or a list of these, read only at the start. A relative path
        /// begins in the working directory. `--kinds FILE` overrides it.
        kindsFile => kinds_file: Vec<PathBuf> = "[]", "path, or list of paths", Restart, paths(path);
        /// Mirrors only the objects of a kind that match a label selector: `{Pod: "app=trainer,tier notin (test)"}`. Not for kinds with the finalizer
        /// `ensure`. See [scaling.md](scaling.md#read-less).
        labelSelectorMap => label_selector_map: BTreeMap<String, Selector> = "{}", "map from kinds to label selectors", Restart,
            map(kind(kinds), Selector::labels);
        /// The same with a field selector: `{Pod: "status.phase!=Pending"}`. It has the API server's grammar: no lists, no ranges, and quotes belong
        /// to the value. With both, an object must match both.
        fieldSelectorMap => field_selector_map: BTreeMap<String, Selector> = "{}", "map from kinds to field selectors", Restart,
            map(kind(kinds), Selector::fields);
        /// Values that [views](kinds.md#views) read as `{setting: NAME}`: `{deploy_region: eu-1}`. They are written to `ingester_settings` at the
        /// start. `""` deletes a value there; a name that is removed from the file keeps its value. If a view reads `deploy_region` and the file does
        /// not name it, the environment variable `REGION` is written. The log warns of names that no view reads. At most 64 bytes for a name, 256
        /// characters for a value. Reserved: `cluster`, `members`, and names that begin with `view:`, `definition/`, `recipes/`, `stays/`, `types/`,
        /// `sweep/`, `filter/`, `evict/`, `marks/`, `unit/` or `policy/`.
        viewSettings => view_settings: BTreeMap<String, String> = "{}", "map from names to texts", Restart,
            map(setting_name, setting_value);
        /// How long the ingester collects further changes of an object after a write, to write them together, see
        /// [scaling.md](scaling.md#write-less). `0s`: it writes each change at once.
        settle => settle: Duration = "0s", "duration up to `1h`", Now, read(duration(SETTLE));
        /// The same for individual kinds: `{PipelineRun: 30s}`.
        settleMap => settle_map: BTreeMap<String, Duration> = "{}", "map from kinds to durations up to `1h`", Now,
            map(kind(kinds), duration(SETTLE));
        /// Kinds for which the ingester writes nothing, neither to the database nor to the cluster; see
        /// [operations.md](operations.md#suspend-a-kind).
        suspend => suspend: Vec<String> = "[]", "list of kinds", Now, list(kind(kinds));
        /// Removes `metadata.managedFields` from the stored objects. Kinds without a history ask the API server to leave them out of its
        /// answers (`drop=metadata.managedFields`, alpha in Kubernetes 1.37; older servers ignore it).
        pruneManagedFields => prune_managed_fields: bool = "true", "bool", Restart, read(truth);
        /// The pause between two comparisons of the rows with a list of the objects' metadata, which find missed deletions. `0s`: never.
        resyncPeriod => resync_period: Option<Duration> = "10m", "duration", Now, read(or_never(DURATION));
        /// If lists lack the objects of more live rows of a kind than this, and of more than a fifth of its live rows, the ingester marks none of
        /// these rows as deleted: the cluster may be wrong. All namespaces, shards and processes count together, with the rows marked within the last
        /// hour; while rows are refused, with all rows marked since an hour before the first refusal. The log, `ingester_sweeps_refused_total` and an
        /// Event report it. If the objects are really gone, `ingester audit --repair` marks the rows. `0`: no limit. The limit also holds for rows
        /// that a changed [filter](kinds.md#a-filter-that-changes) leaves out.
        sweepLimit => sweep_limit: SweepLimit = "1000", "0 to 1000000000", Now,
            read(|text| whole(0..=1_000_000_000)(text).map(SweepLimit::from_rows));
        /// The pause between two rounds of audits, which compare cluster and rows like `ingester audit`, one kind after the other. `0s`: never. Less
        /// than `1s` counts as `1s`. The first audit is at a random time within the period. Kinds that are suspended, or not yet in SQL, are left
        /// out; each replica compares its own units. `ingester_audit_findings` and the log report differences; nothing is repaired.
        auditPeriod => audit_period: Option<Duration> = "0s", "duration", Now, read(or_never(DURATION));
        /// Runs pending migrations at the start. Also changes the tables of [declared kinds](kinds.md#changes), and of a program without migrations,
        /// if the change only adds something; their views are always updated. If the database user may not do this, set it to `false` and run
        /// `ingester schema apply` first: until then the ingester waits.
        createTables => create_tables: bool = "true", "bool", Restart, read(truth);
        /// The maximum number of rows that are backfilled per second. `0`: no limit.
        backfillRate => backfill_rate: u32 = "5000", "0 to 1000000", Now, read(whole(0..=1_000_000));
        section
        /// The temporary file of large fills.
        spool => spool: Spool;
        section
        /// Options for sharing the work among several ingesters.
        replicas => replicas: Replicas;
    }
}

settings! {
    /// Section `ingester.spool`.
    pub struct Spool("ingester.spool", kinds) {
        /// The folder for the temporary file of a [large fill](scaling.md#first-fills-that-exceed-the-buffer-pool). The file has no name there,
        /// so nothing is left after a crash. Without this key: `TMPDIR`, or `/tmp`.
        path => path: Option<PathBuf> = "", "path of a folder", Now, read(path);
        /// The size of the file, compressed. Once it is full, its objects are written, and the next file begins. `0`: no file, so objects are written
        /// in the order in which they arrive.
        limit => limit: u64 = "1Gi", "bytes up to `2Gi`, as in `512Mi`", Now, read(bytes(MOST_SPOOLED));
    }
}

impl Spool {
    /// Returns where the file is created.
    pub fn place(&self) -> SpoolPlace {
        SpoolPlace { folder: self.path.clone().unwrap_or_else(std::env::temp_dir), limit: self.limit }
    }
}

settings! {
    /// Section `ingester.replicas`.
    pub struct Replicas("ingester.replicas", kinds) {
        /// Shares the work with the other ingesters of the same database. If `false`, this process does all of it.
        enabled => enabled: bool = "false", "bool", Restart, read(truth);
        /// The prefix of the Leases' names. An identifier of the group's database is added.
        name => name: String = "ingester", "up to 40 letters, digits and hyphens", Restart, read(lease_name);
        /// The namespace of the Leases, the same for all members. Without it: the namespace of the pod or the kubeconfig.
        namespace => namespace: Option<String> = "", "namespace", Restart, read(|text| namespace(text).map(Some));
        /// How long other members wait for a member that does not renew its Lease before they take over its units.
        leaseDuration => lease_duration: Duration = "15s", "duration from `1s`, in whole seconds", Restart, read(duration(TIME));
        /// How long a member tries to renew its Lease before it stops its units. Shorter than `leaseDuration`.
        renewDeadline => renew_deadline: Duration = "10s", "duration from `1s`", Restart, read(duration(TIME));
        /// The pause between two renewals; at most half of `renewDeadline`.
        retryPeriod => retry_period: Duration = "2s", "duration from `100ms`", Restart, read(duration(PAUSE));
        /// The number of units into which each kind is split, by a hash of the objects' uids.
        shards => shards: u32 = "1", "1 to 1024", Restart, read(whole(1..=MOST_SHARDS));
        /// The same for individual kinds: `{PipelineRun: 4}`.
        shardsMap => shards_map: BTreeMap<String, u32> = "{}", "map from kinds to 1 to 1024", Restart,
            map(kind(kinds), whole(1..=MOST_SHARDS));
    }
}

settings! {
    /// Section `retention`.
    pub struct Retention("retention", kinds) {
        /// How long after its `delete_time` an object's row is purged, with its labels and annotations: `90d`, `36h`. `0s`: never, whatever rules
        /// say. Without this key, only `rules` purge rows. The time is measured by the database's clock (with SQLite, the node's). A kind's struct
        /// (`#[ingest(retention = "90d")]`) or file (`retention: 90d`) overrides it. Rows of evicted objects are purged only by `rules`, even if the
        /// objects were deleted since.
        deleted => deleted: Option<RetentionTime> = "", "duration up to `36500d`", Now, read(|text| kept(text).map(Some));
        /// The same for individual kinds; overrides `deleted`, structs and files: `{PipelineRun: 30d}`.
        deletedMap => deleted_map: BTreeMap<String, RetentionTime> = "{}", "map from kinds to durations up to `36500d`", Now,
            map(kind(kinds), kept);
        /// Rules that purge rows of deleted or evicted objects, see [policies.md](policies.md#what-leaves-sql). A rule purges rows only with
        /// `enforce: true`. `ingester policies` shows what each rule would purge.
        rules => rules: Vec<RetentionRule> = "[]", "list of rules", Now, retention_rules(kind(kinds));
        /// How long the row of an evicted object, its only copy, stays after a rule has [marked it](policies.md#an-only-copy-leaves-in-two-steps). A
        /// marked row counts as deleted.
        grace => grace: Duration = "24h", "duration from `1m` up to `36500d`", Now, read(duration(GRACE));
        /// The longest time that a former version is kept after its end, for kinds that keep a [history](history.md): `30d`. `none`: not at all. It
        /// shortens what structs or files say, and does not start a history.
        history => history: Option<Duration> = "", "duration from `1s` up to `36500d`, or `none`", Now, read(or_none(HISTORY));
        /// The same for individual kinds, instead of `history`: `{PipelineRun: 7d}`.
        historyMap => history_map: BTreeMap<String, Option<Duration>> = "{}", "map from kinds to durations from `1s` up to `36500d`, or `none`", Now,
            map(kind(kinds), or_none(HISTORY));
    }
}

settings! {
    /// Section `policies`.
    pub struct Policies("policies", kinds) {
        /// The rules by which live objects of a kind leave etcd for SQL, see [policies.md](policies.md). A rule moves objects only with `enforce:
        /// true`. A rule with the name of one of the [kind's own rules](policies.md#rules-of-a-kind) enables that rule, and may narrow it. `ingester
        /// policies` shows what each would do.
        evict => evict: BTreeMap<String, Vec<EvictionRule>> = "{}", "map from kinds to lists of rules", Now, evict_rules(kind(kinds));
        /// The maximum number of objects of a kind that rules evict within an hour. At most a fifth of the kind's live objects leave in that time, or
        /// 10 if that is more. The units of a kind [share the limit](policies.md#how-fast).
        evictLimit => evict_limit: u64 = "1000", "1 to 1000000000", Now, read(whole(1..=1_000_000_000));
        /// How long after its creation an object that `ingester restore` created is exempt from eviction rules. `0s`: not at all.
        restoreGrace => restore_grace: Duration = "24h", "duration", Now, read(duration(DURATION));
        /// The pause between two rounds of the rules.
        period => period: Duration = "1m", "duration from `1s`", Now, read(duration(TIME));
    }
}

settings! {
    /// Section `changes`.
    pub struct Changes("changes", kinds) {
        /// Records each change of a row in the [log of changes](databases.md#the-log-of-changes), which watches and `ingester changes` need, and
        /// which makes writes slower. `ingester run` writes the setting into the database, and every program that writes there follows it within
        /// seconds. When it is switched on, the start takes some seconds longer, and watching clients read all objects again.
        enabled => enabled: bool = "false", "bool", Restart, read(truth);
        /// How long entries are kept, by the database's clock. A reader that pauses for longer reads all rows again. The last entry of a kind is
        /// never purged.
        retention => retention: Duration = "24h", "duration from `1s`", Now, read(duration(TIME));
    }
}

settings! {
    /// Section `serve`.
    pub struct Serve("serve", kinds) {
        /// The address of the API. `:8443` means every address of the machine.
        address => address: String = "0.0.0.0:8443", "address and port", Serve, read(address);
        /// The address of `/metrics`, `/healthz` and `/readyz` of `ingester serve`. Without it: `server.address`. Set it if `ingester run` uses the
        /// same file on the same machine.
        probes => probes: Option<String> = "", "address and port", Serve, read(listen);
        /// The server's certificate, followed by its intermediate certificates. `certificate` and `key` are required, except with
        /// `--insecure-loopback` alone. They are read again when they change; if the new ones cannot be used, the log says so and the former ones
        /// stay.
        certificate => certificate: Option<PathBuf> = "", "path of a PEM file", Serve, read(path);
        /// The key of `certificate`.
        key => key: Option<PathBuf> = "", "path of a PEM file", Serve, read(path);
        /// CA certificates of client certificates, read again every minute. As in Kubernetes, the common name of a certificate is the user, and its
        /// organizations are the groups.
        clientCA => client_ca: Option<PathBuf> = "", "path of a PEM file", Serve, read(path);
        /// Trust in the API server when it names callers in headers, as it does for an APIService. It authenticates with a certificate of the
        /// CA in the ConfigMap `kube-system/extension-apiserver-authentication`, which is read again every minute. `auto`: yes, if the ConfigMap can
        /// be read; otherwise the server warns, and tries again after a second, then after twice as long. `required`: yes; if the ConfigMap cannot be
        /// read, the server does not start. `never`: no.
        frontProxy => front_proxy: FrontProxy = "auto", "one of `auto`, `required`, `never`", Serve, read(choice(FRONT_PROXY));
        /// Who sees [deleted and evicted objects](serving.md#former-objects). `granted`: callers who may read objects of the namespace today.
        /// `olderHidden`: the same, but not objects that are older than the namespace. `none`: nobody.
        formerObjects => former_objects: FormerObjects = "granted", "one of `granted`, `olderHidden`, `none`", Serve, read(choice(FORMER_OBJECTS));
        /// [As whom](serving.md#who-restores) objects are restored into the cluster. `user`: as the caller. `server`: as the server's account;
        /// admission then sees only that account. `off`: not at all.
        restore => restore: RestoreAs = "user", "one of `user`, `server`, `off`", Serve, read(choice(RESTORE_AS));
        /// A bearer token must be for one of these audiences; empty: for the API server.
        audiences => audiences: Vec<String> = "[]", "list of names", Serve, list(audience);
        /// The maximum number of connections. At the limit, an idle one is closed for a new one; if none is idle, the new one is refused.
        maxConnections => max_connections: usize = "1000", "1 to 100000", Serve, read(whole(1..=100_000));
        /// The maximum number of concurrent requests for objects; more get 429. One user has at most half of them
        /// ([serving.md](serving.md#security)).
        maxInFlight => max_in_flight: usize = "200", "1 to 100000", Serve, read(whole(1..=100_000));
        /// The maximum number of concurrent watches; more get 429. One user has at most half of them. Each has its own connection.
        maxWatches => max_watches: usize = "500", "1 to 100000", Serve, read(whole(1..=100_000));
        /// The maximum number of requests per second and user; more get 429. `0`: no limit.
        rate => rate: u32 = "100", "0 to 1000000", Serve, read(whole(0..=1_000_000));
        /// How many of these requests may come at once.
        burst => burst: u32 = "400", "1 to 1000000", Serve, read(whole(1..=1_000_000));
        /// How many MiB of evicted objects one user may change in a minute; more get 429. A change counts with the size of the whole object, which
        /// the history keeps. `0`: no limit.
        writeMiB => write_mib: u32 = "16", "0 to 1000000", Serve, read(whole(0..=1_000_000));
        /// How long an answer may take to begin; then the client gets 504.
        timeout => timeout: Duration = "1m", "duration from `1s`", Serve, read(duration(TIME));
    }
}

settings! {
    /// Section `query`.
    pub struct Query("query", kinds) {
        /// The database from which objects are read, such as a replica. Without it: the one to which they are written.
        databaseURL => database_url: Option<Secret> = "", "text", Serve, secret();
        /// How long a statement may take; then the database ends it.
        timeout => timeout: Duration = "30s", "duration from `1s`", Serve, read(duration(TIME));
    }
}

settings! {
    /// Section `server`.
    pub struct Monitoring("server", kinds) {
        /// The address of `/metrics`, `/healthz` and `/readyz`. `:8080` means every address of the machine; `""` disables them. `ingester serve` also
        /// uses it, unless `serve.probes` is set: two programs on one machine need different addresses.
        address => address: Option<String> = "0.0.0.0:8080", "address and port", Restart, read(listen);
    }
}

settings! {
    /// Section `log`.
    pub struct Log("log", kinds) {
        /// Plain lines, or one JSON object per line.
        format => format: LogFormat = "text", "one of `text`, `json`", Restart, read(choice(FORMATS));
        /// The least severe level that is logged.
        level => level: LogLevel = "info", "one of `error`, `warn`, `info`, `debug`, `trace`", Now, read(choice(LEVELS));
    }
}
