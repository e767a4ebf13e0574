//! Text in, values out.

mod database;
mod live;
mod mistakes;
mod page;
mod secrets;

use super::*;
use ingester_core::KindNames;
use ingester_core::kind::Definition;
use ingester_core::schema::{History, Table};
use ingester_store::Tls;
use std::sync::LazyLock;

/// The page that lists every key.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");

const REFUSED: Kind = Kind::refused();

/// A namespaced kind without columns.
const MODEL: Kind = Kind::new(
    Definition {
        group: "michelangelo.api",
        version: "v2",
        kind: "Model",
        namespaced: true,
        finalizer: Finalizer::Ensure,
        ..*REFUSED.definition()
    },
    *REFUSED.functions(),
);

static KINDS: LazyLock<KindNames> = LazyLock::new(|| {
    let kind = |kind| Kind::new(Definition { kind, ..*MODEL.definition() }, *MODEL.functions());
    KindNames::of(&["Model", "Pipeline", "PipelineRun"].map(kind))
});

/// Parses `text` without an environment.
fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, &Environment::default(), &KINDS)
}

/// Parses `text` with these variables.
fn parse_with(text: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::parse(text, &environment(variables), &KINDS)
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::read(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
}

/// Returns `docs/configuration.md`.
fn page() -> String {
    std::fs::read_to_string(PAGE).unwrap()
}

/// Returns the mistakes of `text`.
fn mistakes(text: &str) -> Vec<String> {
    let error = parse(text).expect_err(text);
    error.problems().iter().map(ToString::to_string).collect()
}

#[test]
fn an_empty_file_and_empty_sections_have_every_default() {
    for text in
        ["", "\n", "# nothing\n", "---\n", "{}", "mysql:\ningester: {}\nserver: ~\nlog: null\n", "mysql:\n  tls:\n"]
    {
        assert_eq!(parse(text).unwrap(), Config::default(), "{text}");
    }
}

#[test]
fn the_sample_of_the_documentation_is_a_configuration() {
    let page = page();
    let sample = page.split("```yaml\n").nth(2).unwrap().split("```").next().unwrap();
    assert_ne!(parse(sample).unwrap(), Config::default());
}

#[test]
fn every_key_is_read() {
    let text = r#"
metadataStorage:
  enableMetadataStorage: yes
  deletionDelay: 1h30m
  enableResourceVersionCache: true
  passwordCommand: { command: "", args: [], env: {} }
mysql:
  host: 10.0.0.1
  port: "3307"
  user: 007
  password: 0123
  database: 2024
  maxOpenConns: 7
  maxIdleConns: 0
  connMaxLifetime: 0
  passwordCommand: { command: "", args: [], env: {} }
  tls: { mode: VERIFY_CA, ca: /ca.pem, cert: /cert.pem, key: /key.pem }
ingester:
  concurrentReconciles: 3
  requeuePeriod: 500ms
  concurrentReconcilesMap: { PipelineRun: 8 }
  requeuePeriodMap:
    Model: 0s
  finalizer: Existing
  finalizerMap: { Model: never }
  evictions: off
  finalizerRate: 9
  formerPrefixes: [michelangelo]
  namespaces: [team-a]
  kindsFile: [kinds.yaml, more]
  viewSettings: { deploy_region: eu-1, gone: "" }
  kinds:
  - Model
  - PipelineRun
  labelSelectorMap: {Model: "team in (a, b),!draft"}
  fieldSelectorMap: {Model: "metadata.name!=x"}
  settle: 2s
  settleMap: {Model: 30s}
  suspend: [PipelineRun]
  pruneManagedFields: false
  resyncPeriod: 0s
  sweepLimit: 50
  auditPeriod: 24h
  createTables: false
  backfillRate: 250
  spool: {path: /spool, limit: 512Mi}
  replicas: {enabled: true, name: mirror, namespace: platform, leaseDuration: 30s, renewDeadline: 20s, retryPeriod: 500ms, shards: 2, shardsMap: {Model: 8}}
retention:
  deleted: 90d
  deletedMap: { Model: 36h, Pipeline: 0s }
  rules:
  - { name: old, kinds: [Model, Pipeline], state: evicted, when: { labelSelector: tier!=gold }, after: 365d, keepLast: { count: 2, by: [owner] }, namespaces: [ml], immutable: true, export: { path: /archive }, enforce: yes }
  grace: 2h
  history: 30d
  historyMap: { Model: none }
policies:
  restoreGrace: 48h
  evict: { Model: [{ name: old, when: { fieldSelector: owner=ada }, after: 7d, keepLast: { count: 3, by: [owner] }, namespaces: [ml], namespaceSelector: tier=batch, enforce: yes }] }
  evictLimit: 50
  period: 30s
changes: { enabled: yes, retention: 6h }
serve:
  address: ":9443"
  probes: ":9444"
  certificate: /tls.crt
  key: /tls.key
  clientCA: /client.crt
  frontProxy: required
  formerObjects: olderHidden
  restore: server
  audiences: [ingester, "1"]
  maxConnections: 10
  maxInFlight: 5
  maxWatches: 7
  rate: 0
  burst: 9
  writeMiB: 3
  timeout: 2m
query: { databaseURL: "mysql://reader:secret@replica/db", timeout: 5s }
server: { address: ":9090" }
log: { format: json, level: WARN }
"#;
    let tls = Tls {
        mode: ingester_store::TlsMode::VerifyCa,
        ca: Some("/ca.pem".into()),
        cert: Some("/cert.pem".into()),
        key: Some("/key.pem".into()),
    };
    let expected = Config {
        metadata_storage: MetadataStorage {
            enable_metadata_storage: true,
            deletion_delay: Duration::from_secs(5400),
            enable_resource_version_cache: true,
            database_url: None,
            password_file: None,
            // It needs a URL, which the tests in `database.rs` have.
            password_command: UrlPasswordCommand::default(),
        },
        mysql: Mysql {
            host: Some("10.0.0.1".into()),
            port: 3307,
            // Texts stay as written.
            user: Some("007".into()),
            password: Some("0123".into()),
            password_file: None,
            database: Some("2024".into()),
            max_open_conns: 7,
            max_idle_conns: 0,
            conn_max_lifetime: None,
            // There is a password here already. The tests in `database.rs` have a command.
            password_command: PasswordCommand::default(),
            tls,
        },
        ingester: Ingester {
            concurrent_reconciles: 3,
            requeue_period: Duration::from_millis(500),
            concurrent_reconciles_map: [("PipelineRun".to_owned(), 8)].into(),
            requeue_period_map: [("Model".to_owned(), Duration::ZERO)].into(),
            finalizer: Some(Finalizer::Existing),
            finalizer_map: [("Model".to_owned(), Finalizer::Never)].into(),
            evictions: false,
            finalizer_rate: 9,
            former_prefixes: vec!["michelangelo".into()],
            namespaces: vec!["team-a".into()],
            kinds: vec!["Model".into(), "PipelineRun".into()],
            kinds_file: vec!["kinds.yaml".into(), "more".into()],
            label_selector_map: [("Model".to_owned(), Selector::labels("team in (a, b),!draft").unwrap())].into(),
            field_selector_map: [("Model".to_owned(), Selector::fields("metadata.name!=x").unwrap())].into(),
            view_settings: [("deploy_region".to_owned(), "eu-1".to_owned()), ("gone".to_owned(), String::new())].into(),
            settle: Duration::from_secs(2),
            settle_map: [("Model".to_owned(), Duration::from_secs(30))].into(),
            suspend: vec!["PipelineRun".into()],
            prune_managed_fields: false,
            resync_period: None,
            sweep_limit: SweepLimit::from_rows(50),
            audit_period: Some(Duration::from_secs(86_400)),
            create_tables: false,
            backfill_rate: 250,
            spool: Spool { path: Some("/spool".into()), limit: 512 << 20 },
            replicas: Replicas {
                enabled: true,
                name: "mirror".into(),
                namespace: Some("platform".into()),
                lease_duration: Duration::from_secs(30),
                renew_deadline: Duration::from_secs(20),
                retry_period: Duration::from_millis(500),
                shards: 2,
                shards_map: [("Model".to_owned(), 8)].into(),
            },
        },
        retention: Retention {
            deleted: Some(RetentionTime::For(Duration::from_secs(90 * 24 * 3600))),
            deleted_map: [
                ("Model".to_owned(), RetentionTime::For(Duration::from_secs(36 * 3600))),
                ("Pipeline".to_owned(), RetentionTime::Forever),
            ]
            .into(),
            rules: vec![RetentionRule {
                name: "old".into(),
                kinds: vec!["Model".into(), "Pipeline".into()],
                state: RetainedState::Evicted,
                immutable: true,
                export: Some("/archive".into()),
                condition: Condition {
                    when: ingester_sql::query::parse_label_selector("tier!=gold").unwrap(),
                    after: Some(Duration::from_secs(365 * 24 * 3600)),
                    since: Some("evict_time".into()),
                    keep_last: Some(KeepLast { count: 2, by: vec!["owner".into()] }),
                    namespaces: vec!["ml".into()],
                    namespace_selector: None,
                    line: super::RuleLine::default(),
                },
                enforce: true,
            }],
            grace: Duration::from_secs(7200),
            history: Some(Duration::from_secs(30 * 24 * 3600)),
            history_map: [("Model".to_owned(), Some(Duration::ZERO))].into(),
        },
        policies: Policies {
            restore_grace: Duration::from_secs(48 * 3600),
            evict: [(
                "Model".to_owned(),
                vec![EvictionRule {
                    name: "old".into(),
                    condition: Condition {
                        when: ingester_sql::query::parse_field_selector("owner=ada").unwrap(),
                        after: Some(Duration::from_secs(7 * 24 * 3600)),
                        since: None,
                        keep_last: Some(KeepLast { count: 3, by: vec!["owner".into()] }),
                        namespaces: vec!["ml".into()],
                        namespace_selector: Some("tier=batch".into()),
                        line: super::RuleLine::default(),
                    },
                    enforce: true,
                }],
            )]
            .into(),
            evict_limit: 50,
            period: Duration::from_secs(30),
        },
        changes: Changes { enabled: true, retention: Duration::from_secs(6 * 3600) },
        serve: Serve {
            probes: Some(":9444".into()),
            address: ":9443".into(),
            certificate: Some("/tls.crt".into()),
            key: Some("/tls.key".into()),
            client_ca: Some("/client.crt".into()),
            front_proxy: FrontProxy::Required,
            former_objects: FormerObjects::OlderHidden,
            restore: RestoreAs::Server,
            audiences: vec!["ingester".into(), "1".into()],
            max_connections: 10,
            max_in_flight: 5,
            max_watches: 7,
            rate: 0,
            burst: 9,
            write_mib: 3,
            timeout: Duration::from_secs(120),
        },
        query: Query { database_url: Some("mysql://reader:secret@replica/db".into()), timeout: Duration::from_secs(5) },
        server: Monitoring { address: Some(":9090".into()) },
        log: Log { format: LogFormat::Json, level: LogLevel::Warn },
    };
    let config = parse(text).unwrap();
    assert_eq!(config, expected);
    assert_eq!(config.ingester.concurrent_reconciles_of("PipelineRun"), 8);
    assert_eq!(config.ingester.concurrent_reconciles_of("Model"), 3);
    assert_eq!(config.ingester.requeue_period_of("Model"), Duration::ZERO);
    assert_eq!(config.ingester.requeue_period_of("PipelineRun"), Duration::from_millis(500));
    assert!(config.ingester.has_kind("Model") && !config.ingester.has_kind("Pipeline"));
    assert!(Config::default().ingester.has_kind("Pipeline"));
    assert!(config.ingester.is_suspended("PipelineRun") && !config.ingester.is_suspended("Model"));
    assert_eq!(config.reading().unwrap().unwrap().to_string(), "mysql://reader:***@replica/db");
    assert!(Config::default().reading().unwrap().is_none());
    let options = config.mysql.connect_options();
    assert_eq!((options.connections, options.max_idle, options.max_lifetime), (7, 0, None));
    assert_eq!(options.retry, Retry::SHORT);
}

#[test]
fn retention_is_off_or_for_all_kinds_or_by_kind() {
    let of = |text: &str| {
        let retention = parse(text).unwrap().retention;
        let kind =
            |kind, retention| Kind::new(Definition { kind, retention, ..*MODEL.definition() }, *MODEL.functions());
        let week = Some(Duration::from_secs(604_800));
        [kind("Model", None), kind("Pipeline", None), kind("Event", week)].map(|kind| match retention.for_kind(&kind) {
            Some(RetentionTime::For(age)) => Some(age.as_secs()),
            Some(RetentionTime::Forever) => Some(0),
            None => None,
        })
    };
    assert_eq!(of(""), [None, None, Some(604_800)]);
    assert_eq!(of("retention: {deleted: 1d}"), [Some(86_400), Some(86_400), Some(604_800)]);
    assert_eq!(
        of("retention: {deleted: 7d, deletedMap: {Model: 90m, Pipeline: 0}}"),
        [Some(5400), Some(0), Some(604_800)]
    );
    assert_eq!(
        of("retention: {deleted: 0d, deletedMap: {Model: 36500d}}"),
        [Some(3_153_600_000), Some(0), Some(604_800)]
    );
    assert_eq!(
        of("retention: {deleted: 1d12h, deletedMap: {Model: 1.5d}}"),
        [Some(129_600), Some(129_600), Some(604_800)]
    );
    for wrong in ["7", "-1d", "d", "36501d", "99999999999d", "-5h"] {
        let mistakes = mistakes(&format!("retention:\n  deleted: {wrong}"));
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert!(
            mistakes[0].contains("line 2") && mistakes[0].ends_with("`90d`, from `0s` (never) to `36500d`"),
            "{mistakes:?}"
        );
    }
}

#[test]
fn a_history_is_shortened_and_never_made() {
    let of = |text: &str, keep: Option<Option<Duration>>| {
        let history = keep.map(|keep| History { keep, versions: None, table: MODEL.table() });
        let table = Box::leak(Box::new(Table { history, ..*MODEL.table() }));
        let kind = Kind::new(Definition { table, ..*MODEL.definition() }, *MODEL.functions());
        parse(text).unwrap().retention.of_history(&kind).map(|age| age.as_secs())
    };
    let days = |days: u64| Some(Some(Duration::from_secs(days * 86_400)));
    assert_eq!(of("", None), None);
    assert_eq!(of("retention: {history: 1d}", None), None);
    assert_eq!((of("", days(2)), of("", Some(None))), (Some(172_800), None));
    assert_eq!(of("retention: {history: 1d}", days(2)), Some(86_400));
    assert_eq!(of("retention: {history: 3d}", days(2)), Some(172_800));
    assert_eq!(of("retention: {history: 3d}", Some(None)), Some(259_200));
    assert_eq!(of("retention: {history: 1d, historyMap: {Model: none}}", days(2)), Some(0));
    assert_eq!(of("retention: {history: none, historyMap: {Model: 1d}}", days(2)), Some(86_400));
    let mistakes = mistakes("retention:\n  history: 0s");
    assert!(mistakes[0].contains("use `none`, or a duration"), "{mistakes:?}");
}

#[test]
fn a_finalizer_is_the_kinds_unless_the_file_says_otherwise() {
    const PROJECTION: Kind = {
        let definition = Definition { finalizer: Finalizer::Never, ..*MODEL.definition() };
        Kind::new(definition, *MODEL.functions())
    };
    let finalizers = |text: &str| {
        let ingester = parse(text).unwrap().ingester;
        [&MODEL, &PROJECTION].map(|kind| ingester.finalizer_of(kind))
    };
    assert_eq!(finalizers(""), [Finalizer::Ensure, Finalizer::Never]);
    assert_eq!(finalizers("ingester: {finalizer: existing}"), [Finalizer::Existing; 2]);
    assert_eq!(finalizers("ingester: {finalizer: existing, finalizerMap: {Model: ensure}}"), [Finalizer::Ensure; 2]);
    assert_eq!(finalizers("ingester: {finalizerMap: {Pipeline: never}}"), [Finalizer::Ensure, Finalizer::Never]);
}

#[test]
fn bytes_are_written_as_kubernetes_writes_them() {
    let limit = |text: &str| {
        parse(&format!("ingester: {{spool: {{limit: {text}}}}}")).map(|config| config.ingester.spool.limit)
    };
    for (text, bytes) in
        [("0", 0), ("7", 7), ("100k", 100_000), ("512Mi", 512 << 20), ("1Gi", 1 << 30), ("2G", 2_000_000_000)]
    {
        assert_eq!(limit(text).unwrap(), bytes, "{text}");
    }
    for text in ["-1", "3Gi", "1.5Gi", "Gi", "1 Gi", "1gi", "18446744073709551615Gi"] {
        let error = limit(text).unwrap_err().to_string();
        assert!(error.contains("use a number of bytes up to 2048Mi, such as `512Mi` or `1Gi`"), "{text}: {error}");
    }
}

#[test]
fn a_sweep_limit_of_zero_is_none() {
    let rows = |text: &str| parse(text).unwrap().ingester.fuse(&MODEL).map(|fuse| (fuse.limit, fuse.namespaces));
    assert_eq!(rows(""), Some((1000, Vec::new())));
    assert_eq!(rows("ingester: {sweepLimit: 0}"), None);
    let namespaces = rows("ingester: {sweepLimit: 7, namespaces: [a, b]}");
    assert_eq!(namespaces, Some((7, vec!["a".to_owned(), "b".to_owned()])));
}

#[test]
fn an_empty_text_counts_as_no_value() {
    let config = parse("mysql: {host: '', user: \"\", password: '', tls: {ca: ''}}\nserver: {address: ''}").unwrap();
    assert_eq!(config.mysql, Mysql::default());
    assert_eq!(config.server.address, None);
}

#[test]
fn a_missing_file_is_named() {
    let error = Config::load(Path::new("no/such.yaml"), &Environment::default(), &KINDS).unwrap_err().to_string();
    assert!(error.starts_with("the configuration no/such.yaml: it cannot be read: No such file"), "{error}");
}

#[test]
fn mistakes_in_a_file_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ingester.yaml");
    std::fs::write(&path, "log: {level: debug}").unwrap();
    assert_eq!(Config::load(&path, &Environment::default(), &KINDS).unwrap().log.level, LogLevel::Debug);
    std::fs::write(&path, "log: {level: loud}\nserverr:\n").unwrap();
    let error = Config::load(&path, &Environment::default(), &KINDS).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], format!("the configuration {}: 2 mistakes", path.display()));
    assert_eq!(lines[1], "  line 1: log.level: found `loud`; use one of error, warn, info, debug, trace");
    assert_eq!(lines[2], "  line 2: serverr: unknown key `serverr`; did you mean `server`?");
}

#[test]
fn kinds_of_one_name_have_settings_of_their_own() {
    let kind = |group| Kind::new(Definition { group, ..*MODEL.definition() }, *MODEL.functions());
    let kinds = KindNames::distinct(&[MODEL, kind("apps")]).unwrap();
    let text = "ingester: {kinds: [Model.apps], finalizerMap: {Model.apps: never}, suspend: [Model.michelangelo.api]}\n\
                retention: {deletedMap: {Model.apps: 7d}}";
    let config = Config::parse(text, &Environment::default(), &KindNames::of(&kinds)).unwrap();
    let of = |kind: &Kind| {
        let ingester = &config.ingester;
        (ingester.has_kind(kind.name()), ingester.is_suspended(kind.name()), ingester.finalizer_of(kind))
    };
    assert_eq!(of(&kinds[0]), (false, true, Finalizer::Ensure));
    assert_eq!(of(&kinds[1]), (true, false, Finalizer::Never));
    let kept = |kind: &Kind| config.retention.for_kind(kind);
    assert_eq!([kept(&kinds[0]), kept(&kinds[1])], [None, Some(RetentionTime::For(Duration::from_secs(7 * 86_400)))]);
    let mistaken = Config::parse("ingester: {kinds: [Model]}", &Environment::default(), &KindNames::of(&kinds));
    let error = mistaken.unwrap_err().to_string();
    assert!(error.contains("several kinds have this name: use `Model.michelangelo.api` or `Model.apps`"), "{error}");
    // A kind with a unique name may be written with its group, too. Its name is then used.
    let config = parse("ingester: {suspend: [Pipeline.michelangelo.api]}").unwrap();
    assert_eq!(config.ingester.suspend, ["Pipeline"]);
}

#[test]
fn a_kind_with_our_finalizer_has_no_selection() {
    let check = |text: &str| parse(text).unwrap().ingester.check(&[MODEL]).map_err(|error| error.to_string());
    let selected = "ingester: {labelSelectorMap: {Model: a=b}, finalizerMap: {Model: FINALIZER}}";
    for finalizer in ["existing", "never"] {
        assert_eq!(check(&selected.replace("FINALIZER", finalizer)), Ok(()));
    }
    let refused = check(&selected.replace("FINALIZER", "ensure")).unwrap_err();
    assert!(refused.contains("set `ingester.finalizerMap: {Model: never}`, or `existing`"), "{refused}");
    assert_eq!(check("ingester: {labelSelectorMap: {Model: ''}}"), Ok(()));
    // Nothing is read of a kind that is not mirrored.
    assert_eq!(check("ingester: {labelSelectorMap: {Model: a=b}, kinds: [Pipeline]}"), Ok(()));
}
