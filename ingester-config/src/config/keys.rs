//! The keys of the file, one row each; `row.rs` defines the syntax of a row. A key without a row is unknown.

use super::retention::kept;
#[cfg(test)]
use super::row::Row;
use super::row::{Effect, Settings, settings};
use super::section::Section;
use super::values::{
    DURATION, GRACE, PAUSE, SETTLE, TIME, address, argument, audience, choice, duration, host, kind, lease_name,
    listen, namespace, or_never, or_none, path, prefix, setting_name, setting_value, text, truth, variable, whole,
};
use super::{
    ConfigChanges, EvictRule, Finalizer, FormerObjects, FrontProxy, Kept, LogFormat, LogLevel, RestoreAs,
    RetentionRule, Secret, SweepLimit,
};
use crate::selection::Selector;
use ingester_core::KindNames;
use ingester_core::kind::HISTORY;
use ingester_store::{PasswordCommand, Tls, TlsMode};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::time::Duration;

/// The most workers of one kind.
const MOST_WORKERS: usize = 256;

/// More than a thousand members would hardly be quicker than one.
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
        /// Whether objects are stored, and where.
        metadataStorage => metadata_storage: MetadataStorage;
        section
        /// The MySQL server.
        mysql => mysql: Mysql;
        section
        /// How objects are mirrored.
        ingester => ingester: Ingester;
        section
        /// For how long rows of deleted objects are kept.
        retention => retention: Retention;
        section
        /// Which objects leave etcd by rules.
        policies => policies: Policies;
        section
        /// The log of changes, by which clients watch.
        changes => changes: Changes;
        section
        /// The API of `ingester serve`.
        serve => serve: Serve;
        section
        /// How `ingester serve` asks the database.
        query => query: Query;
        section
        /// Metrics and probes.
        server => server: Monitoring;
        section
        /// What is logged and how.
        log => log: Log;
    }
}

settings! {
    /// Section `metadataStorage`.
    pub struct MetadataStorage("metadataStorage", kinds) {
        /// The first gate: if it is false, the ingester stays idle.
        enableMetadataStorage => enable_metadata_storage: bool = "false", "bool", Restart, read(truth);
        /// How long the last state of a deleted object stays live in SQL before it is marked as deleted. `0s`: not at all.
        deletionDelay => deletion_delay: Duration = "10s", "duration", Now, read(duration(DURATION));
        /// Accepted, but has no effect: this engine always remembers the versions that it wrote.
        enableResourceVersionCache => enable_resource_version_cache: bool = "false", "bool", None, read(truth);
        /// `mysql://user:password@host:3306/database`, `mariadb://...`, `postgres://user:password@host:5432/database` or `sqlite://FILE`.
        /// Percent-encode special characters in the password. There may be several hosts, as in `mysql.host`:
        /// `mysql://user:password@db-1:3306,db-2:3306/database`.
        databaseURL => database_url: Option<Secret> = "", "text", Restart, secret(),
            variable DATABASE_URL;
        /// A file with the password that `databaseURL` leaves out, like `mysql.passwordFile`.
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
                /// The program: a path, or a name that is looked up in `PATH`. It is started without a shell. It prints the password, or JSON with
                /// its expiration.
                command => command: String = "", "text", Restart, read(argument);
                /// Its arguments.
                args => args: Vec<String> = "[]", "list of texts", Restart, texts(argument);
                /// Environment variables for it, in addition to those of the ingester.
                env => env: BTreeMap<String, String> = "{}", "map from names to texts", Restart, map(variable, argument);
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
        /// Name or address of the server, without port or scheme. Or several servers, separated by commas, each with its port if this differs from
        /// `port` (`db-1,db-2:3307`): they are tried in this order, and all connections lead to the first that takes writes, as long as it does
        /// ([After a fail-over](operations.md#after-a-fail-over)).
        host => host: Option<String> = "", "text", Restart, read(host), variable MYSQL_HOST;
        /// The port of each server in `host` without a port of its own.
        port => port: u16 = "3306", "1 to 65535", Restart, read(whole(1..=u16::MAX)), variable MYSQL_PORT;
        /// The user; without it `root`.
        user => user: Option<String> = "", "text", Restart, read(text), variable MYSQL_USER;
        /// The user's password. Better: set `MYSQL_PASSWORD` from a Secret, or use a file.
        password => password: Option<Secret> = "", "text", Restart, secret(), variable MYSQL_PASSWORD;
        /// A file with the password, for example from a mounted Secret. A newline at its end is cut off. It is read again when the database refuses
        /// the password.
        passwordFile => password_file: Option<PathBuf> = "", "path", Restart, read(path), variable MYSQL_PASSWORD_FILE;
        /// The database (schema) on the server. It must exist.
        database => database: Option<String> = "", "text", Restart, read(text), variable MYSQL_DB_NAME;
        /// The maximum number of connections.
        maxOpenConns => max_open_conns: u32 = "25", "1 to 10000", Restart, read(whole(1..=10_000));
        /// Connections that stay open while idle. Connections are opened when they are needed. Further idle ones are closed when they reach
        /// `connMaxLifetime`, or after ten idle minutes.
        maxIdleConns => max_idle_conns: u32 = "5", "0 to 10000", Restart, read(whole(0..=10_000));
        /// The age at which a connection is replaced. `0s`: never.
        connMaxLifetime => conn_max_lifetime: Option<Duration> = "5m", "duration", Restart, read(or_never(DURATION));
        section
        /// A command that prints the password.
        passwordCommand => password_command: PasswordCommand;
        section
        /// How connections are encrypted.
        tls => tls: Tls;
    }
}

settings! {
    struct Tls("mysql.tls", kinds) {
        /// MySQL's `--ssl-mode`, ignoring case; `_` is the same as `-`. `preferred` encrypts if the server offers it. Only the last two verify the
        /// server's certificate: its signature, and for `verify-identity` also the host name.
        mode => mode: TlsMode = "preferred", "one of `disabled`, `preferred`, `required`, `verify-ca`, `verify-identity`", Restart, read(choice(TLS_MODES));
        /// CA certificates for the server's certificate, in addition to those that the system trusts. Not needed for a public certificate. Only for a
        /// mode that verifies.
        ca => ca: Option<PathBuf> = "", "path of a PEM file", Restart, read(path);
        /// The client's certificate, for users with `REQUIRE X509`. Set it together with `key`.
        cert => cert: Option<PathBuf> = "", "path of a PEM file", Restart, read(path);
        /// Its key.
        key => key: Option<PathBuf> = "", "path of a PEM file", Restart, read(path);
    }
}

settings! {
    /// Section `ingester`.
    pub struct Ingester("ingester", kinds) {
        /// Workers per kind.
        concurrentReconciles => concurrent_reconciles: usize = "2", "1 to 256", Restart, read(whole(1..=MOST_WORKERS));
        /// How long until an object whose work could not be completed is reconciled again. Less than `100ms` counts as `100ms`.
        requeuePeriod => requeue_period: Duration = "30s", "duration", Now, read(duration(DURATION));
        /// Workers of individual kinds: `{PipelineRun: 8}`.
        concurrentReconcilesMap => concurrent_reconciles_map: BTreeMap<String, usize> = "{}", "map from kinds to 1 to 256", Restart,
            map(kind(kinds), whole(1..=MOST_WORKERS));
        /// The requeue period of individual kinds.
        requeuePeriodMap => requeue_period_map: BTreeMap<String, Duration> = "{}", "map from kinds to durations",
            Now, map(kind(kinds), duration(DURATION));
        /// Which objects carry our finalizer, for all kinds. Without it, each kind has the value of its struct (`#[ingest(finalizer = "...")]`). The
        /// default of a struct is `ensure`, but `never` for projections, whose objects belong to another project, and for declared kinds. `ensure`:
        /// every live object gets the finalizer `PREFIX/Ingester`, so that none leaves the cluster before its last state is stored. `existing`: the
        /// finalizer is not added; an object that has it loses it once its deletion or eviction is stored. `never`: the finalizer is not added; a
        /// terminating object that has it loses it once its last state is stored. Live objects keep it, because it may be that of another ingester:
        /// `ingester finalizers remove` removes it from all objects.
        finalizer => finalizer: Option<Finalizer> = "", "one of `ensure`, `existing`, `never`", Restart,
            read(|text| choice(FINALIZERS)(text).map(Some));
        /// The same for individual kinds; overrides `finalizer`: `{Pod: ensure}`.
        finalizerMap => finalizer_map: BTreeMap<String, Finalizer> = "{}", "map from kinds to one of `ensure`, `existing`, `never`",
            Restart, map(kind(kinds), choice(FINALIZERS));
        /// Whether immutable objects leave etcd once they are stored. `off`: another ingester evicts them, for example the reference system's while
        /// both run, see [moving.md](moving.md#both-side-by-side). Immutable objects then stay live here, and get an `evict_time` once they have left
        /// the cluster.
        evictions => evictions: bool = "on", "one of `on`, `off`", Restart, read(choice(EVICTIONS));
        /// Finalizers added per second and kind to objects that are older than the ingester.
        finalizerRate => finalizer_rate: u32 = "50", "1 to 10000", Now, read(whole(1..=10_000));
        /// Former prefixes of our finalizer and annotations, see [operations.md](operations.md#a-prefix-of-ones-own): `[michelangelo]`. A finalizer
        /// with one of them is removed whenever ours would be, and annotations with one of them are obeyed.
        formerPrefixes => former_prefixes: Vec<String> = "[]", "list of DNS subdomains", Restart, list(prefix);
        /// The namespaces to watch; empty for all. Before you remove some, see [operations.md](operations.md#mirror-less).
        namespaces => namespaces: Vec<String> = "[]", "list of namespaces", Restart, list(namespace);
        /// The kinds to mirror, empty for all, by the names that `ingester kinds` prints: `PyTorchJob`, or `PyTorchJob.kubeflow.org` if kinds of two
        /// groups have the same name (`Event.core` in the core group). All other keys name kinds in the same way; every kind may be named with its
        /// group.
        kinds => kinds: Vec<String> = "[]", "list of kinds", Restart, list(kind(kinds));
        /// A file that declares kinds in YAML, see [kinds.md](kinds.md). A relative path begins in the folder in which the program is started.
        /// `--kinds FILE` overrides it. The file itself is read only at the start.
        kindsFile => kinds_file: Option<PathBuf> = "", "path", Restart, read(path);
        /// A label selector for the objects of individual kinds that are read: `{Pod: "app=trainer,tier notin (test)"}`. The API server sends no
        /// others. Not for kinds with the finalizer `ensure`. See [operations.md](operations.md#read-less).
        labelSelectorMap => label_selector_map: BTreeMap<String, Selector> = "{}", "map from kinds to label selectors", Restart,
            map(kind(kinds), Selector::labels);
        /// The same with a field selector: `{Pod: "status.phase!=Pending"}`. With both, an object must match both. The API server takes
        /// `metadata.name`, `metadata.namespace` and the `selectableFields` of a CustomResourceDefinition (Kubernetes 1.30).
        fieldSelectorMap => field_selector_map: BTreeMap<String, Selector> = "{}", "map from kinds to field selectors", Restart,
            map(kind(kinds), Selector::fields);
        /// Values that [views](kinds.md#views) read as `{setting: NAME}`: `{deploy_region: eu-1}`. Each is written to `ingester_settings` at the
        /// start; `""` deletes it there. A name that is removed from the file keeps its value in the database. If a view reads `deploy_region` and
        /// the file does not have it, the environment variable `REGION` is written. A warning lists names that no view reads. At most 64 bytes for a
        /// name and 256 characters for a value. Reserved names are `cluster`, `members`, and those that begin with `view:`, `definition/`,
        /// `recipes/`, `stays/`, `types/`, `sweep/`, `filter/`, `evict/`, `marks/`, `unit/` or `policy/`.
        viewSettings => view_settings: BTreeMap<String, String> = "{}", "map from names to texts", Restart,
            map(setting_name, setting_value);
        /// How long after a write further changes of the object are combined into one write. For controllers that change their objects every second.
        /// Deletions, evictions and changes that concern finalizers do not wait. `0s`: not at all. See [operations.md](operations.md#write-less).
        settle => settle: Duration = "0s", "duration up to `1h`", Now, read(duration(SETTLE));
        /// The same for individual kinds: `{PipelineRun: 30s}`.
        settleMap => settle_map: BTreeMap<String, Duration> = "{}", "map from kinds to durations up to `1h`", Now,
            map(kind(kinds), duration(SETTLE));
        /// Kinds for which the ingester writes nothing for now, neither to the database nor to the cluster; see
        /// [operations.md](operations.md#suspend-a-kind).
        suspend => suspend: Vec<String> = "[]", "list of kinds", Now, list(kind(kinds));
        /// Cuts `metadata.managedFields` out of the stored objects.
        pruneManagedFields => prune_managed_fields: bool = "true", "bool", Restart, read(truth);
        /// How often rows are compared with a list of the objects' metadata, to find missed deletions: the pause between two comparisons. `0s`:
        /// never.
        resyncPeriod => resync_period: Option<Duration> = "10m", "duration", Now, read(or_never(DURATION));
        /// A fuse for each kind: if lists lack the objects of more live rows than this, and of more than a fifth of the kind's live rows, none of
        /// them is marked as deleted. All namespaces and shards of the kind count together, in all processes, with the rows that were marked within
        /// the last hour; while one of them is refused, also with the rows that were marked before. A log line, `ingester_sweeps_refused_total` and
        /// an Event report it. If the objects are really gone, `ingester audit --repair` marks them. `0`: no limit. The same limit holds for rows
        /// that a changed [filter](kinds.md#a-filter-that-changes) leaves out.
        sweepLimit => sweep_limit: SweepLimit = "1000", "0 to 1000000000", Now,
            read(|text| whole(0..=1_000_000_000)(text).map(SweepLimit::of));
        /// How often cluster and rows are compared, object by object, like `ingester audit`, one kind after the other: the pause between two rounds;
        /// less than `1s` counts as `1s`. The first audit is at a random time within the period. Kinds that are suspended, or not yet in SQL, are
        /// left out; of several replicas each compares only its own units. The metric `ingester_audit_findings` and the log report differences;
        /// nothing is repaired. `0s`: never.
        auditPeriod => audit_period: Option<Duration> = "0s", "duration", Now, read(or_never(DURATION));
        /// Runs pending migrations at the start. The tables of [declared kinds](kinds.md#changes), and those of a program without migrations, are
        /// changed to match their file or structs if the change only adds; their views are always changed. If the database user may not do this, set
        /// it to `false` and run `ingester schema apply` first: until then the ingester waits.
        createTables => create_tables: bool = "true", "bool", Restart, read(truth);
        /// The maximum number of rows per second when new columns are backfilled from the stored objects; `0`: no limit.
        backfillRate => backfill_rate: u32 = "5000", "0 to 1000000", Now, read(whole(0..=1_000_000));
        section
        /// How several ingesters share the work.
        replicas => replicas: Replicas;
    }
}

settings! {
    /// Section `ingester.replicas`.
    pub struct Replicas("ingester.replicas", kinds) {
        /// Shares the work with the other ingesters of the same database. If not, this process does all of it.
        enabled => enabled: bool = "false", "bool", Restart, read(truth);
        /// The prefix of the Leases' names. A part that identifies the group's database is added.
        name => name: String = "ingester", "up to 40 letters, digits and hyphens", Restart, read(lease_name);
        /// The namespace of the Leases; without it, the namespace of the pod, or that of the kubeconfig. All members must use the same one.
        namespace => namespace: Option<String> = "", "namespace", Restart, read(|text| namespace(text).map(Some));
        /// How long the other members wait for a member that does not renew its Lease, before they take its units over.
        leaseDuration => lease_duration: Duration = "15s", "duration from `1s`, in whole seconds", Restart, read(duration(TIME));
        /// How long a member tries to renew its Lease before it stops all of its units. Shorter than `leaseDuration`.
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
        /// How long after its deletion (`delete_time`) an object's row is purged, with its labels and annotations: `90d`, or `36h`. Without it, and
        /// with `0s`: never. The time is measured by the database's clock, which also wrote `delete_time`; with SQLite this is the node's clock.
        /// `#[ingest(retention = "90d")]` on a kind's struct, or `retention: 90d` in its file, overrides it. It does not purge rows of evicted
        /// objects, even if they were deleted since: only a rule of `rules` does. `0s` keeps rows whatever rules say; without this key, only rules
        /// decide.
        deleted => deleted: Option<Kept> = "", "duration up to `36500d`", Now, read(|text| kept(text).map(Some));
        /// The same for individual kinds; overrides `deleted`, structs and files: `{PipelineRun: 30d}`.
        deletedMap => deleted_map: BTreeMap<String, Kept> = "{}", "map from kinds to durations up to `36500d`", Now,
            map(kind(kinds), kept);
        /// Rules that purge rows of deleted objects, and rows of evicted objects, see [policies.md](policies.md#what-leaves-sql). A rule has a
        /// `name`, `kinds` and a `state`. It selects rows with `when`, `namespaces`, `after` with `since`, and `keepLast`, and may have an
        /// `export`. It purges rows only with `enforce: true`. `ingester policies` shows what each rule would purge.
        rules => rules: Vec<RetentionRule> = "[]", "list of rules", Now, retention_rules(kind(kinds));
        /// How long the row of an evicted object, which is its only copy, stays after a rule has marked it. A marked row counts as deleted; the
        /// rule purges it after this time if it still lets the row go. `ingester policies revert` takes marks back.
        grace => grace: Duration = "24h", "duration from `1m` up to `36500d`", Now, read(duration(GRACE));
        /// The most that a former version is kept after its end, of kinds that keep a [history](history.md): `30d`. `none`: not at all. It shortens
        /// what their structs or files say, and makes no history where they say nothing.
        history => history: Option<Duration> = "", "duration from `1s` up to `36500d`, or `none`", Now, read(or_none(HISTORY));
        /// The same for individual kinds, instead of `history`: `{PipelineRun: 7d}`.
        historyMap => history_map: BTreeMap<String, Option<Duration>> = "{}", "map from kinds to durations from `1s` up to `36500d`, or `none`", Now,
            map(kind(kinds), or_none(HISTORY));
    }
}

settings! {
    /// Section `policies`.
    pub struct Policies("policies", kinds) {
        /// By which rules live objects of a kind leave etcd for SQL, see [policies.md](policies.md). A rule has a `name`, says which objects it means with
        /// `when` (a `fieldSelector`, a `labelSelector`, or both), `namespaces`, `namespaceSelector`, `after` with `since`, and `keepLast`, and moves none
        /// before it has `enforce: true`. One that has the name of a rule of the kind switches that, and may loosen it. `ingester policies` says what
        /// each would do.
        evict => evict: BTreeMap<String, Vec<EvictRule>> = "{}", "map from kinds to lists of rules", Now, evict_rules(kind(kinds));
        /// How many objects of a kind leave etcd by its rules within an hour. Of the kind's live objects no more than a fifth do, or 10 if that is more. Where
        /// a kind has several units (namespaces, shards), each has its equal share of the limit, and the fifth of its own objects.
        evictLimit => evict_limit: u64 = "1000", "1 to 1000000000", Now, read(whole(1..=1_000_000_000));
        /// For how long after its creation an object that `ingester restore` has brought back is exempt from eviction rules. `0s`: not at all.
        restoreGrace => restore_grace: Duration = "24h", "duration", Now, read(duration(DURATION));
        /// How often the rules are judged: the pause between two rounds.
        period => period: Duration = "1m", "duration from `1s`", Now, read(duration(TIME));
    }
}

settings! {
    /// Section `changes`.
    pub struct Changes("changes", kinds) {
        /// Whether each change of a row is recorded in the [log of changes](databases.md#the-log-of-changes). Watches and feeds need the log, and it
        /// makes writes slower. `ingester run` writes this setting into the database, and every program that writes there follows it within seconds.
        /// A change from `false` to `true` takes some seconds at the start, and watching clients read all objects again.
        enabled => enabled: bool = "false", "bool", Restart, read(truth);
        /// How long entries are kept, by the database's clock: a reader that pauses for longer reads all rows again. The last entry of a kind is
        /// never purged.
        retention => retention: Duration = "24h", "duration from `1s`", Now, read(duration(TIME));
    }
}

settings! {
    /// Section `serve`.
    pub struct Serve("serve", kinds) {
        /// The address of the API. `:8443` means every address of the machine.
        address => address: String = "0.0.0.0:8443", "address and port", Serve, read(address);
        /// The address of `/metrics`, `/healthz` and `/readyz` of `ingester serve`. Set it if `ingester run` and `ingester serve` share one file on
        /// one machine: `server.address` is then that of `run`. Without it, `server.address` is used.
        probes => probes: Option<String> = "", "address and port", Serve, read(listen);
        /// The server's certificate, followed by its intermediate certificates. `certificate` and `key` are required, except with
        /// `--insecure-loopback` alone. They are read again when they change; if the new ones cannot be used, this is logged and the former ones are
        /// kept.
        certificate => certificate: Option<PathBuf> = "", "path of a PEM file", Serve, read(path);
        /// Its key.
        key => key: Option<PathBuf> = "", "path of a PEM file", Serve, read(path);
        /// Authorities of client certificates. As in Kubernetes, the common name of a certificate is the user, the organizations are the groups. Read
        /// again every minute.
        clientCA => client_ca: Option<PathBuf> = "", "path of a PEM file", Serve, read(path);
        /// Whether to trust the API server when it names callers in headers, as it does for an APIService. The API server authenticates with a
        /// certificate of the authority in the ConfigMap `kube-system/extension-apiserver-authentication`, which is read again every minute. `auto`:
        /// if the ConfigMap can be read; if not, the server warns, and reads it again after a second, then after twice as long. `required`: if it
        /// cannot be read, the server does not start.
        frontProxy => front_proxy: FrontProxy = "auto", "one of `auto`, `required`, `never`", Serve, read(choice(FRONT_PROXY));
        /// Who may see deleted and evicted objects. `granted`: callers who may read the objects of their namespace today. `olderHidden`: the same
        /// callers, but objects that are older than the namespace are hidden. `none`: no caller. See [serving.md](serving.md#former-objects).
        formerObjects => former_objects: FormerObjects = "granted", "one of `granted`, `olderHidden`, `none`", Serve, read(choice(FORMER_OBJECTS));
        /// As whom objects are restored into the cluster. `user`: as the caller, by the caller's bearer token if the API server accepts it, otherwise by
        /// impersonation, if the server's account has the role that `ingester rbac --restore` prints. `server`: as the server's account; admission
        /// then sees that account. `off`: not at all. See [serving.md](serving.md#who-restores).
        restore => restore: RestoreAs = "user", "one of `user`, `server`, `off`", Serve, read(choice(RESTORE_AS));
        /// A bearer token must be for one of these; if empty, for the API server.
        audiences => audiences: Vec<String> = "[]", "list of names", Serve, list(audience);
        /// The most connections. When all are taken, an idle one is closed for a new one; if none is idle, the new one is refused.
        maxConnections => max_connections: usize = "1000", "1 to 100000", Serve, read(whole(1..=100_000));
        /// The most concurrent requests for objects; more get 429. One user has at most half of them ([serving.md](serving.md#security)).
        maxInFlight => max_in_flight: usize = "200", "1 to 100000", Serve, read(whole(1..=100_000));
        /// The most concurrent watches; more get 429. One user has at most half of them. Each has a connection of its own.
        maxWatches => max_watches: usize = "500", "1 to 100000", Serve, read(whole(1..=100_000));
        /// The most requests of one user per second; more get 429. `0`: no limit.
        rate => rate: u32 = "100", "0 to 1000000", Serve, read(whole(0..=1_000_000));
        /// The most of these requests at once.
        burst => burst: u32 = "400", "1 to 1000000", Serve, read(whole(1..=1_000_000));
        /// How many MiB of evicted objects one user may change in a minute; more get 429. Each change counts with the size of the whole object,
        /// which the history keeps. `0`: no limit.
        writeMiB => write_mib: u32 = "16", "0 to 1000000", Serve, read(whole(0..=1_000_000));
        /// How long an answer may take to begin; then 504.
        timeout => timeout: Duration = "1m", "duration from `1s`", Serve, read(duration(TIME));
    }
}

settings! {
    /// Section `query`.
    pub struct Query("query", kinds) {
        /// The database from which objects are read, for example a replica. Without it, the one to which they are written.
        databaseURL => database_url: Option<Secret> = "", "text", Serve, secret();
        /// How long one statement may take; then the database ends it.
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
