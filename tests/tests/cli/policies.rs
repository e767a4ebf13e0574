//! The rows that retention rules would purge, for people.

use crate::moving::with_states;
use crate::program::Folder;
use serde_json::{Value, json};

const CONFIG: &str = "
metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}
retention:
  deletedMap: {Model: 36500d}
  rules:
  - {name: archive, kinds: [Model, Pipeline], state: evicted, after: 1d, enforce: true}
  - {name: failed, kinds: [Model], state: deleted, when: {fieldSelector: algorithm=xgboost}, keepLast: {count: 1}}
  - {name: short, kinds: [Model], state: deleted, after: 1d}
";

#[test]
fn rules_of_retention_are_shown_and_explained() {
    let folder = Folder::new();
    with_states(&folder);
    folder.write("ingester.yaml", CONFIG);
    let policies = |arguments: &[&str]| folder.run(&[&["policies", "--config", "ingester.yaml"], arguments].concat());
    let lines: Vec<Value> = serde_json::from_str(&policies(&["models", "-o", "json"]).exits(0).out).unwrap();
    let numbers = |line: &Value| ["leaves", "stays", "hindered", "pending"].map(|key| line[key].as_u64().unwrap());
    let said: Vec<_> =
        lines.iter().map(|line| (&line["rule"], &line["state"], &line["enforce"], numbers(line))).collect();
    let expected = [
        (&json!("archive"), &json!("evicted"), &json!(true), [1, 0, 0, 0]),
        (&json!("failed"), &json!("deleted"), &json!(false), [0, 1, 0, 0]),
        (&json!("short"), &json!("deleted"), &json!(false), [0, 0, 1, 0]),
    ];
    assert_eq!(said, expected);
    assert!(lines.iter().all(|line| line["from"] == "configuration"), "{lines:?}");
    assert!(lines[0]["bytes"].as_u64().is_some_and(|bytes| bytes > 100), "{lines:?}");
    assert!(policies(&[]).exits(0).out.starts_with("KIND"));
    let explained = policies(&["--explain", "deleted"]).exits(0).out;
    assert!(explained.contains("it is among the last 1 of its group"), "{explained}");
    // If two rules keep it, one is named.
    assert!(explained.contains("keeps it:"), "{explained}");
    let explained = policies(&["--explain", "evicted"]).exits(0).out;
    let left = "it left etcd at 2026-05-01T10:00:00.123456Z, and no rule that is enforced now selects it";
    assert!(explained.contains(left), "{explained}");
    assert!(explained.contains("the rule says so: it leaves SQL with the next round"), "{explained}");
    policies(&["--explain", "live"]).exits(1).says(&["no object named `live` is in the state of a rule"]);
}

#[test]
fn an_evicted_object_is_explained_by_what_took_it_out_of_etcd() {
    let folder = Folder::new();
    with_states(&folder);
    let rules = "policies: {evict: {Model: [\
                 {name: linear, when: {fieldSelector: algorithm=linear}}, \
                 {name: boosted, when: {fieldSelector: 'algorithm in (xgboost)'}, after: 1h, since: update_time, enforce: true}, \
                 {name: later, when: {fieldSelector: algorithm=xgboost}, after: 365d}]}}\n";
    folder.write("ingester.yaml", CONFIG.to_owned() + rules);
    folder.query("UPDATE model SET update_time = '2026-05-01 08:00:00', create_time = '2026-05-01 08:00:00'");
    let run = |name: &str| folder.run(&["policies", "--config", "ingester.yaml", "models", "--explain", name]).exits(0);
    let explain = || run("evicted").out.lines().find(|line| line.contains("it left etcd")).unwrap().to_owned();
    let said = explain();
    assert!(said.contains("by `boosted`, which selects it and whose `after` had passed"), "{said}");
    // Not known to have left.
    let said = run("evicting").out;
    assert!(said.contains("its eviction began at 2026-05-01T10:00:00Z, by `boosted`"), "{said}");
    assert!(!said.contains("it left etcd"), "{said}");
    // Not by a rule that evicts nothing.
    let enforced = CONFIG.to_owned() + rules;
    folder.write("ingester.yaml", enforced.replace("since: update_time, enforce: true", "since: update_time"));
    assert!(explain().contains("no rule that is enforced now selects it"));
    folder.write("ingester.yaml", enforced);
    folder.query("UPDATE model SET update_time = '2026-05-01 09:30:00'");
    assert!(explain().contains("no rule that is enforced now selects it"));
    folder.query("INSERT INTO model_annotations VALUES ('evicted', 'michelangelo/Immutable', 'true')");
    assert!(explain().contains("because it has the annotation `michelangelo/Immutable`"));
}

#[test]
fn the_newest_of_many_evicted_objects_with_one_name_are_explained() {
    let folder = Folder::new();
    with_states(&folder);
    folder.write("ingester.yaml", CONFIG);
    let columns =
        folder.query("SELECT group_concat('\"' || name || '\"') FROM pragma_table_info('model') WHERE name <> 'uid'");
    let columns = columns[0].as_str();
    folder.query(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
         INSERT INTO model (uid, {columns}) SELECT 'more-' || i, {columns} FROM model, n WHERE uid = 'evicted'"
    ));
    folder.query("UPDATE model SET evict_time = '2026-05-03 10:00:00.000000' WHERE uid = 'evicted'");
    let ran = folder.run(&["policies", "--config", "ingester.yaml", "models", "--explain", "evicted"]).exits(0);
    let ran =
        ran.says(&["more than 1000 evicted objects of Model are named `evicted`: only the newest 1000 are explained"]);
    assert_eq!(ran.out.lines().filter(|line| line.contains("it left etcd at")).count(), 1000);
    let first = ran.out.lines().nth(1).unwrap();
    assert!(first.contains("it left etcd at 2026-05-03T10:00:00Z"), "{first}");
}

#[test]
fn a_rule_that_cannot_be_judged_is_refused_with_its_name() {
    let folder = Folder::new();
    with_states(&folder);
    folder.write("ingester.yaml", CONFIG.replace("fieldSelector: algorithm", "fieldSelector: algorythm"));
    let ran = folder.run(&["policies", "--config", "ingester.yaml"]).exits(2);
    ran.says(&["the configuration ingester.yaml: line 7: the rule `failed` of Model", "algorythm"]);
}

#[test]
fn a_rule_with_quotes_around_a_value_is_refused_and_a_doubtful_one_is_named() {
    let folder = Folder::new();
    with_states(&folder);
    let policies = |selector: &str| {
        folder.write(
            "ingester.yaml",
            CONFIG.replace("fieldSelector: algorithm=xgboost", &format!("fieldSelector: \"{selector}\"")),
        );
        folder.run(&["policies", "--config", "ingester.yaml"])
    };
    policies("algorithm='xgboost'").exits(2).says(&[
        "ingester.yaml: line 7: retention.rules[1].when.fieldSelector",
        "`'xgboost'` is in quotes",
        "`xgboost`",
    ]);
    policies("algorithm!=xgboost").exits(0).says(&["the rule `failed` of Model: `!=`", "add `algorithm!=`"]);
    let ran = policies("algorithm!=xgboost,algorithm!=").exits(0);
    assert!(!ran.err.contains("has no value"), "{}", ran.err);
}

#[test]
fn the_marks_of_a_rule_are_taken_back() {
    let folder = Folder::new();
    with_states(&folder);
    folder.write("ingester.yaml", CONFIG);
    let revert =
        |arguments: &[&str]| folder.run(&[&["policies", "revert"], arguments, &["--config", "ingester.yaml"]].concat());
    revert(&["archive"]).exits(0).says(&["no row has a mark of the rule `archive`", "ingester policies"]);
    revert(&["archive", "pipelines"]).exits(0);
    revert(&[]).exits(2).says(&["<RULE>"]);
    revert(&["archive", "--all"]).exits(2);
    let evicted = "SELECT COUNT(*) FROM model WHERE evict_time IS NOT NULL AND delete_time IS NULL";
    let before = folder.query(evicted);
    mark(&folder);
    assert_ne!(folder.query(evicted), before);
    let ran = revert(&["archive", "models"]).exits(0);
    assert!(ran.out.contains("2 marks are taken back, 2 rows live again"), "{ran:?}");
    assert_eq!(folder.query(evicted), before);
    mark(&folder);
    revert(&["--all"]).exits(0);
    assert_eq!(folder.query(evicted), before);
}

/// Marks the evicted models, as a round of the rule does.
fn mark(folder: &Folder) {
    let time = "2026-01-01 00:00:00.000000";
    folder.query(&format!(
        "INSERT OR REPLACE INTO ingester_marks SELECT 'model', uid, 'archive', 'f', 'h', '{time}', NULL FROM model WHERE evict_time IS NOT NULL \
         AND delete_time IS NULL"
    ));
    folder.query(&format!(
        "UPDATE model SET delete_time = '{time}' WHERE evict_time IS NOT NULL AND delete_time IS NULL"
    ));
}
