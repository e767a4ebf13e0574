//! Mistakes in configurations, and their messages.

use super::mistakes;

#[track_caller]
fn only(text: &str, mistake: &str) {
    assert_eq!(mistakes(text), [mistake], "{text}");
}

#[test]
fn an_unknown_key_names_its_path_and_the_nearest_known_one() {
    let expected =
        "line 2: ingester.concurentReconciles: unknown key `concurentReconciles`; did you mean `concurrentReconciles`?";
    only("ingester:\n  concurentReconciles: 2\n", expected);
    only("mysq: {}", "line 1: mysq: unknown key `mysq`; did you mean `mysql`?");
    only(
        "mysql: {max_open_conns: 3}",
        "line 1: mysql.max_open_conns: unknown key `max_open_conns`; did you mean `maxOpenConns`?",
    );
    only("mysql: {tls: {moed: x}}", "line 1: mysql.tls.moed: unknown key `moed`; did you mean `mode`?");
    // The key exists in another section.
    only("metadataStorage: {host: db}", "line 1: metadataStorage.host: unknown key `host`; did you mean `mysql.host`?");
    only(
        "deletionDelay: 3s",
        "line 1: deletionDelay: unknown key `deletionDelay`; did you mean `metadataStorage.deletionDelay`?",
    );
    // Without a similar key, the message names all known keys.
    only("log: {colour: red}", "line 1: log.colour: unknown key `colour`; known: format, level");
    let sections = "known: metadataStorage, mysql, ingester, retention, policies, changes, serve, query, server, log";
    only("colours: [red]", &format!("line 1: colours: unknown key `colours`; {sections}"));
    only(
        "server: {address:8080}",
        "line 1: server.address***: unknown key `address***`; write a space after the colon",
    );
}

#[test]
fn every_mistake_of_a_file_is_reported_with_its_line() {
    let text = "
metadataStorage:
  enableMetadataStorage: maybe
  deletionDelay: 10
mysql:
  port: 99999
  prot: 1
  maxOpenConns: 0
  tls: {mode: always}
ingester:
  requeuePeriod: -5s
  concurrentReconcilesMap:
    Modle: 3
    Pipeline: many
  requeuePeriodMap: [Model]
  namespaces: [Team_A, a, a]
  kinds: model
  suspend: [Modle]
  resyncPeriod: 9000h
  finalizer: no
server:
  address: localhost
log: verbose
";
    assert_eq!(
        mistakes(text),
        [
            "line 3: metadataStorage.enableMetadataStorage: found `maybe`; use true or false",
            "line 4: metadataStorage.deletionDelay: found `10`; use a duration such as `10s`, `1h30m` or `90d`, from `0s` to `365d`",
            "line 6: mysql.port: found `99999`; use a number from 1 to 65535",
            "line 7: mysql.prot: unknown key `prot`; did you mean `port`?",
            "line 8: mysql.maxOpenConns: found `0`; use a number from 1 to 10000",
            "line 9: mysql.tls.mode: found `always`; use one of disabled, preferred, required, verify-ca, verify-identity",
            "line 11: ingester.requeuePeriod: found `-5s`; use a duration such as `10s`, `1h30m` or `90d`, from `0s` to `365d`",
            "line 13: ingester.concurrentReconcilesMap.Modle: there is no such kind; did you mean `Model`?",
            "line 14: ingester.concurrentReconcilesMap.Pipeline: found `many`; use a number from 1 to 256",
            "line 15: ingester.requeuePeriodMap: expected a map from names to values, found a list",
            "line 16: ingester.namespaces[0]: found `Team_A`; use the name of a namespace: at most 63 lower-case letters, \
             digits and `-`",
            "line 16: ingester.namespaces[2]: `a` is in this list already; remove one of them",
            "line 17: ingester.kinds: expected a list, found `model`",
            "line 18: ingester.suspend[0]: found `Modle`; there is no such kind; did you mean `Model`?",
            "line 19: ingester.resyncPeriod: found `9000h`; use a duration such as `10s`, `1h30m` or `90d`, from `0s` (never) to `365d`",
            "line 20: ingester.finalizer: found `no`; use one of ensure, existing, never",
            "line 22: server.address: found `localhost`; use an address and a port such as `0.0.0.0:8080`, or \"\" \
             for none",
            "line 23: log: expected a map, found a single value",
        ]
    );
}

#[test]
fn an_unregistered_kind_is_a_mistake() {
    only(
        "ingester: {kinds: [Modle]}",
        "line 1: ingester.kinds[0]: found `Modle`; there is no such kind; did you mean `Model`?",
    );
    only(
        "ingester: {kinds: [model]}",
        "line 1: ingester.kinds[0]: found `model`; there is no such kind; did you mean `Model`?",
    );
    let there_are = "there is no such kind; there are Model, Pipeline, PipelineRun";
    only("ingester: {kinds: [Widget]}", &format!("line 1: ingester.kinds[0]: found `Widget`; {there_are}"));
    only(
        "ingester: {requeuePeriodMap: {Widget: 1s}}",
        &format!("line 1: ingester.requeuePeriodMap.Widget: {there_are}"),
    );
}

#[test]
fn a_duplicate_key_is_a_mistake() {
    only(
        "mysql:\n  host: a\n  port: 1\n  host: b\n",
        "line 4: mysql.host: the key `host` is there twice, first on line 2; remove one of them",
    );
    only("log: {}\nlog: {}\n", "line 2: log: the key `log` is there twice, first on line 1; remove one of them");
    only(
        "ingester:\n  concurrentReconcilesMap: {Model: 1, Model: 1}\n",
        "line 2: ingester.concurrentReconcilesMap.Model: the key `Model` is there twice, first on line 2; remove one of them",
    );
}

#[test]
fn a_host_with_a_port_or_a_scheme_is_a_mistake() {
    only(
        "mysql: {host: 'db:3306'}",
        "line 1: mysql.host: found `db:3306`; use the name alone; the port is a key of its own",
    );
    let error = &mistakes("mysql: {host: 'mysql://db'}")[0];
    assert!(error.contains("a URL belongs into `metadataStorage.databaseURL`"), "{error}");
    assert!(super::parse("mysql: {host: '::1'}").is_ok());
}

#[test]
fn invalid_yaml_is_reported_with_its_position() {
    for (text, line, part) in [
        ("mysql:\n\thost: a", 2, "tab"),
        ("mysql: {host: a", 1, "unclosed bracket"),
        ("mysql:\n  host: a\n ports: 3\n", 3, "expected key"),
        ("a: 1\n---\nb: 2\n", 2, "a second document"),
        ("? [a]\n: 1", 1, "a key must be a single value"),
        ("- mysql", 1, "expected a map, found a list"),
        ("mysql", 1, "expected a map, found a single value"),
        ("log: &a {}\nserver: *a", 1, "anchor"),
        ("log: !x {}", 1, "tag"),
        ("log: @x", 1, "put it in quotes"),
    ] {
        let mistakes = mistakes(text);
        assert_eq!(mistakes.len(), 1, "{text}: {mistakes:?}");
        assert!(mistakes[0].contains(part), "{text}: {mistakes:?}");
        assert!(mistakes[0].starts_with(&format!("line {line}: ")), "{text}: {mistakes:?}");
    }
}

#[test]
fn too_deep_nesting_is_a_mistake() {
    let error = mistakes(&"[".repeat(10_000));
    assert!(error[0].contains("nested deeper than"), "{error:?}");
}

#[test]
fn what_serves_has_both_files_of_its_certificate_and_times_that_suffice() {
    only("serve: {certificate: a.pem}", "line 1: `serve.certificate` is set and `serve.key` is not: set both");
    only("serve: {key: a.pem}", "line 1: `serve.key` is set and `serve.certificate` is not: set both");
    let second = "use a duration such as `10s`, `1h30m` or `90d`, from `1s` to `365d`";
    only("serve: {timeout: 10ms}", &format!("line 1: serve.timeout: found `10ms`; {second}"));
    only("query: {timeout: 0s}", &format!("line 1: query.timeout: found `0s`; {second}"));
    only("serve: {address: ''}", "line 1: serve.address: found ``; use an address and a port such as `0.0.0.0:8443`");
    only(
        "serve: {formerObjects: hidden}",
        "line 1: serve.formerObjects: found `hidden`; use one of granted, olderHidden, none",
    );
    only("serve: {restore: always}", "line 1: serve.restore: found `always`; use one of user, server, off");
    only("serve: {frontProxy: yes}", "line 1: serve.frontProxy: found `yes`; use one of auto, required, never");
    let wrong = super::mistakes("query: {databaseURL: 'mysql://user:hunter2@'}").join("\n");
    assert!(wrong.starts_with("line 1: `query.databaseURL`: ") && !wrong.contains("hunter2"), "{wrong}");
}

#[test]
fn times_of_replicas_that_do_not_fit_together_are_refused() {
    let of = |text: &str| mistakes(&format!("ingester: {{replicas: {{{text}}}}}"));
    let expected = "line 1: `ingester.replicas.renewDeadline` (10s) must be shorter than `ingester.replicas.leaseDuration` (10s): a member \
                    has to stop before others take over";
    assert_eq!(of("leaseDuration: 10s, renewDeadline: 10s"), [expected]);
    let expected = "line 1: `ingester.replicas.retryPeriod` (6s) must be at most half of `ingester.replicas.renewDeadline` (10s), so that \
                    one renewal may fail";
    assert_eq!(of("retryPeriod: 6s"), [expected]);
    assert_eq!(of("leaseDuration: 12500ms").len(), 1);
    assert_eq!(of("shards: 0, shardsMap: {Modle: 2}").len(), 2);
    assert_eq!(
        of("name: A_b"),
        ["line 1: ingester.replicas.name: found `A_b`; use up to 40 lower-case letters, digits and hyphens"]
    );
}

#[test]
fn contradictions_have_the_line_of_a_key_that_the_file_has() {
    const ENABLED: &str = "metadataStorage:\n  enableMetadataStorage: true\n";
    for (text, line) in [
        (
            format!("{ENABLED}mysql:\n  host: h\n  database: d\n  password: p\n  passwordFile: /f\n"),
            "line 6: `mysql.password` and",
        ),
        (format!("{ENABLED}mysql:\n  host: h\n"), "line 4: `mysql.host` is `h`"),
        (format!("{ENABLED}  databaseURL: oracle://h/d\n"), "line 3: "),
        ("serve:\n  certificate: /c\n".to_owned(), "line 2: `serve.certificate` is set"),
        ("mysql:\n  tls:\n    cert: /c\n".to_owned(), "line 3: `mysql.tls.cert` is set"),
    ] {
        let found = mistakes(&text);
        assert!(found.len() == 1 && found[0].starts_with(line), "{text}: {found:?}");
    }
}

#[test]
fn settings_of_views_have_names_that_are_not_the_ingesters() {
    for (settings, part) in [
        ("{cluster: a}", "ingester.viewSettings.cluster: the ingester itself keeps a value of this name"),
        ("{'view:jobs': a}", "the ingester itself keeps a value of this name"),
        ("{stays/model: a}", "the ingester itself keeps a value of this name"),
        ("{'a\\b': a}", "use the name of a setting: 1 to 64 bytes"),
        ("{region: [eu]}", "ingester.viewSettings.region: expected a single value, found a list"),
        ("[region]", "expected a map from names to values, found a list"),
    ] {
        let found = mistakes(&format!("ingester:\n  viewSettings: {settings}"));
        assert!(found.len() == 1 && found[0].starts_with("line 2: ") && found[0].contains(part), "{found:?}");
    }
    let long = mistakes(&format!("ingester: {{viewSettings: {{region: {}}}}}", "x".repeat(257)));
    assert!(long[0].ends_with("use a text of at most 256 characters"), "{long:?}");
    super::parse(&format!("ingester: {{viewSettings: {{clusters: {}, view: ''}}}}", "ü".repeat(256))).unwrap();
}

#[test]
fn mistakes_of_rules_name_the_rule_and_the_remedy() {
    let of = |rules: &str| mistakes(&format!("policies: {{evict: {{Model: {rules}}}}}"));
    let at = |mistake: &str| vec![format!("line 1: policies.evict.Model[0]{mistake}")];
    // The kind may have a rule of this name, which then selects the objects.
    super::parse("policies: {evict: {Model: [{name: finished, enforce: true}]}}").unwrap();
    assert_eq!(of("[{after: 1d}]"), at(": `name` is missing: messages name the rule by it"));
    assert_eq!(
        of("[{name: a, when: phase=done}]"),
        at(".when: expected a map with `fieldSelector`, `labelSelector` or both, found `phase=done`")
    );
    assert_eq!(
        of("[{name: a, after: 5 days}]"),
        at(
            ".after: expected how long ago the time of `since` must be: a duration such as `10s`, `1h30m` or `90d`, from `0s` to `365d`, found `5 days`"
        )
    );
    assert_eq!(
        of("[{name: a, keepLast: {count: -1}}]"),
        at(
            ".keepLast.count: found `-1`: `count` is how many objects of each group stay: use a number from 1 to 100000"
        )
    );
    assert_eq!(of("[{name: a, when: {}}]"), at(".when: nothing is selected: add `fieldSelector` or `labelSelector`"));
    assert_eq!(
        of("[{name: a, keepLast: {by: [owner]}}]"),
        at(".keepLast: `count` is missing: how many objects of each group stay")
    );
    assert_eq!(
        of("[{name: a, keepLast: {count: 1}, since: end_time}]"),
        at(".since: `since` says what `after` counts from: add `after`, or leave out `since`")
    );
    let twice = of("[{name: a, after: 1d}, {name: a, after: 2d}]");
    assert_eq!(
        twice,
        ["line 1: policies.evict.Model[1]: another rule of this kind is named `a`: give this one another name"]
    );
    assert!(of("[{name: a, when: {fieldSelector: '=='}}]")[0].contains("policies.evict.Model[0].when.fieldSelector"));
    assert!(mistakes("policies: {evict: {Modle: []}}")[0].contains("Model"));
}

#[test]
fn a_rule_of_retention_says_what_is_wrong_and_what_to_do() {
    let of = |rule: &str| mistakes(&format!("retention: {{rules: [{rule}]}}"));
    let at = |mistake: &str| vec![format!("line 1: retention.rules[0]{mistake}")];
    let with = |keys: &str| of(&format!("{{name: a, kinds: [Model], {keys}}}"));
    assert_eq!(
        with("state: deleted"),
        at(": every row of this state would be purged: say which with `when`, `after` or `keepLast`")
    );
    assert_eq!(
        with("after: 1d"),
        at(": `state` is missing: `deleted` or `evicted`, the state of the rows that are purged")
    );
    assert_eq!(with("state: live, after: 1d"), at(".state: found `live`; use one of deleted, evicted"));
    assert_eq!(
        of("{name: a, state: evicted, after: 1d}"),
        at(": `kinds` is missing: the kinds whose rows are purged, such as `[PipelineRun]`")
    );
    assert_eq!(
        of("{kinds: [Model], state: evicted, after: 1d}"),
        at(": `name` is missing: messages name the rule by it")
    );
    assert_eq!(
        with("state: deleted, after: 1d, immutable: true"),
        at(".immutable: `immutable` is for rows of evicted objects: leave it out, or write `state: evicted`")
    );
    assert_eq!(
        with("state: deleted, after: 1d, export: {path: /archive}"),
        at(".export: `export` is for rows of evicted objects: leave it out, or write `state: evicted`")
    );
    assert_eq!(
        with("state: evicted, after: 1d, export: {}"),
        at(".export: `path` is missing: the folder into which rows are written before they are purged")
    );
    assert_eq!(
        with("state: evicted, keepLast: {count: 1}, since: end_time"),
        at(".since: `since` says what `after` counts from: add `after`, or leave out `since`")
    );
    assert_eq!(
        with("state: evicted, after: 1d, namespaceSelector: tier=batch"),
        at(
            ".namespaceSelector: a rule about rows cannot select namespaces by their labels, because a row may outlive its namespace: name them \
             with `namespaces`"
        )
    );
    assert!(with("state: evicted, after: 1d, forever: true")[0].contains("unknown key `forever`"));
    assert!(of("{name: a, kinds: [Modle], state: evicted, after: 1d}")[0].contains("Model"));
    let one = "{name: a, kinds: [Model], state: evicted, after: 1d}";
    assert_eq!(
        of(&format!("{one}, {one}")),
        ["line 1: retention.rules[1]: another rule is named `a`: give this one another name"]
    );
}
