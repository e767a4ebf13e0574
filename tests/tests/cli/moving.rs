//! Rows of another database, and files with the states of their objects.

use crate::program::{Folder, RunOutput, SAMPLES, model_json, query};
use serde_json::{Value, json};

const MODELS: &str = "SELECT name, res_version, delete_time, evict_time, evict_confirmed FROM model ORDER BY name";

/// A database with a live, an evicted, an evicting and a deleted model.
pub(crate) fn with_states(folder: &Folder) {
    let objects: String = ["live", "evicted", "evicting", "deleted"]
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let metadata = json!({"namespace": "ml", "name": name, "uid": name, "resourceVersion": (place + 5).to_string(),
                "annotations": {"note": "é"}});
            model_json(metadata, json!({"algorithm": "xgboost", "performance": 1.50}))
        })
        .collect();
    folder.write("in.ndjson", objects);
    folder.import(&["in.ndjson"]).exits(0);
    for sql in [
        "UPDATE model SET evict_time = '2026-05-01 10:00:00.123456', evict_confirmed = 1 WHERE name = 'evicted'",
        "UPDATE model SET evict_time = '2026-05-01 10:00:00.000000', evict_confirmed = 0 WHERE name = 'evicting'",
        "UPDATE model SET delete_time = '2026-05-02 11:00:00.500000' WHERE name = 'deleted'",
    ] {
        folder.query(sql);
    }
}

fn json_of(ran: &RunOutput, kind: &str) -> Value {
    let lines: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
    lines.into_iter().find(|line| line["kind"] == kind).unwrap()
}

fn copied(folder: &Folder, arguments: &[&str]) -> RunOutput {
    folder.run(&[&["import", "--database-url", "sqlite://copy.db"], arguments].concat())
}

#[test]
fn all_rows_of_another_database_are_copied_with_their_states_and_compared() {
    let folder = Folder::new();
    with_states(&folder);
    // Tried first, with one kind: everything is counted, and not even the file is created.
    let tried = copied(&folder, &["--from", "sqlite://test.db", "--dry-run", "-o", "json", "models"]).exits(0);
    let lines: Vec<Value> = serde_json::from_str(&tried.out).unwrap();
    assert_eq!((lines.len(), &lines[0]["kind"], &lines[0]["written"]), (1, &json!("Model"), &json!(4)), "{lines:?}");
    assert!(!folder.path().join("copy.db").exists());
    tried.says(&["dry run: nothing is written", "`written` is what would be"]);
    copied(&folder, &["--from", "sqlite://test.db", "modles"]).exits(2).says(&["did you mean `Model`"]);
    let from = ["--from", "sqlite://test.db", "--verify", "-o", "json"];
    let ran = copied(&folder, &from).exits(0);
    let line = json_of(&ran, "Model");
    assert_eq!([&line["read"], &line["written"], &line["evicted"], &line["deleted"]], [4, 4, 2, 1], "{line}");
    assert_eq!((&line["verified"]["equal"], &line["verified"]["different"]), (&json!(4), &json!(0)), "{line}");
    assert_eq!(line["verified"]["sourceHash"], line["verified"]["storedHash"]);
    assert_eq!(query(&folder.path().join("copy.db"), MODELS), folder.query(MODELS));
    let jsons = "SELECT json FROM model ORDER BY name";
    assert_eq!(query(&folder.path().join("copy.db"), jsons), folder.query(jsons));
    // A second run has nothing to do; a change by hand is found.
    let again = json_of(&copied(&folder, &from).exits(0), "Model");
    assert_eq!((&again["written"], &again["unchanged"]), (&json!(0), &json!(4)));
    query(&folder.path().join("copy.db"), "UPDATE model SET algorithm = 'other' WHERE name = 'evicted'");
    copied(&folder, &from).exits(1).says(&["different: Model ml/evicted", "algorithm: \"other\" is stored"]);
}

#[test]
fn what_get_prints_is_imported_with_its_states_if_that_is_asked_for() {
    let folder = Folder::new();
    with_states(&folder);
    let printed =
        folder.run(&["get", "models", "--state", "all", "-o", "json", "--database-url", "sqlite://test.db"]).exits(0);
    folder.write("printed.json", &printed.out);
    copied(&folder, &["--states", "printed.json"]).exits(0);
    assert_eq!(query(&folder.path().join("copy.db"), MODELS), folder.query(MODELS));
    let annotations = "SELECT COUNT(*) FROM model_annotations WHERE \"key\" LIKE 'mirror.%'";
    assert_eq!(query(&folder.path().join("copy.db"), annotations), ["0"]);
    let same: Value =
        serde_json::from_str(&query(&folder.path().join("copy.db"), "SELECT json FROM model ORDER BY name")[1])
            .unwrap();
    let wanted: Value = serde_json::from_str(&folder.query("SELECT json FROM model ORDER BY name")[1]).unwrap();
    assert_eq!(same, wanted);
    copied(&folder, &["--states", "printed.json"]).exits(0);
    assert_eq!(query(&folder.path().join("copy.db"), MODELS), folder.query(MODELS), "nothing is new");
    // Without the option a file holds live objects, whatever their annotations say.
    folder.run(&["import", "--database-url", "sqlite://plain.db", "printed.json"]).exits(0);
    let others = "SELECT COUNT(*) FROM model WHERE delete_time IS NOT NULL OR evict_time IS NOT NULL";
    assert_eq!(query(&folder.path().join("plain.db"), others), ["0"]);
}

#[test]
fn a_state_that_says_nothing_clear_is_rejected_alone() {
    let folder = Folder::new();
    let object = |name: &str, annotations: Value| {
        model_json(json!({"namespace": "ml", "name": name, "uid": name, "annotations": annotations}), json!({}))
    };
    let wrong = object("wrong", json!({"mirror.michelangelo.api/state": "evicted"}));
    folder.write("in.ndjson", format!("{wrong}{}", object("good", json!({}))));
    let says =
        "the annotation mirror.michelangelo.api/state is `evicted`, but there is no mirror.michelangelo.api/evicted-at";
    folder.import(&["--states", "in.ndjson"]).exits(1).says(&[says]);
    assert_eq!(folder.query("SELECT name FROM model"), ["good"]);
}

/// Two tables with the columns of the reference system.
const REFERENCE: [&str; 2] = [
    "CREATE TABLE model (uid VARCHAR(255) PRIMARY KEY, group_ver TEXT, namespace TEXT, name TEXT, res_version BIGINT, create_time TEXT, \
     update_time TEXT, delete_time TEXT, proto BLOB, json TEXT)",
    "CREATE TABLE model_labels (id INTEGER PRIMARY KEY, obj_uid TEXT, \"key\" TEXT, value TEXT)",
];

#[test]
fn a_person_or_the_cluster_says_what_has_left_it() {
    let folder = Folder::new();
    REFERENCE.iter().for_each(|sql| drop(folder.query(sql)));
    let object = model_json(json!({"namespace": "ml", "name": "a", "uid": "a", "resourceVersion": "5"}), json!({}));
    folder.query(&format!(
        "INSERT INTO model VALUES ('a', 'michelangelo.api/v2', 'ml', 'a', 5, '2026-01-01 00:00:00', '2026-01-02 00:00:00', NULL, NULL, '{}')",
        object.trim()
    ));
    let from = ["--from", "sqlite://test.db"];
    copied(&folder, &from).exits(2).says(&["--kubeconfig FILE", "--assume live or --assume evicted", "docs/moving.md"]);
    assert!(!folder.path().join("copy.db").exists(), "nothing was made");
    copied(&folder, &["--from", "sqlite://test.db", "--assume", "evicted", "--verify"])
        .exits(0)
        .says(&["has no table of"]);
    let rows = query(&folder.path().join("copy.db"), MODELS);
    assert_eq!(rows, ["a|5|NULL|2026-01-02 00:00:00.000000|1"]);
    // Commands that would change its tables name the remedy.
    folder
        .run(&["schema", "apply", "--database-url", "sqlite://test.db"])
        .exits(2)
        .says(&["reference system", "docs/moving.md"]);
}

#[test]
fn a_table_with_rows_and_no_kind_is_named_and_nothing_is_called_equal() {
    let folder = Folder::new();
    let object = |kind: &str| {
        format!(
            r#"{{"apiVersion":"michelangelo.api/v2","kind":"{kind}","metadata":{{"namespace":"ml","name":"a","uid":"a","resourceVersion":"5"}},"spec":{{}}}}"#
        )
    };
    for (table, kind) in [
        ("model", "Model"),
        ("cached_output", "CachedOutput"),
        ("metric", "Metric"),
        // Empty below.
        ("evaluation_report", "EvaluationReport"),
        // The kind is read from `pipelinerun`.
        ("pipelinerun", "PipelineRun"),
        ("pipeline_run", "PipelineRun"),
    ] {
        REFERENCE.iter().for_each(|sql| drop(folder.query(&sql.replace("model", table))));
        folder.query(&format!(
            "INSERT INTO {table} VALUES ('a', 'michelangelo.api/v2', 'ml', 'a', 5, '2026-01-01 00:00:00', '2026-01-02 00:00:00', NULL, NULL, '{}')",
            object(kind)
        ));
        folder.query(&format!("INSERT INTO {table}_labels (obj_uid, \"key\", value) VALUES ('a', 'k', 'v')"));
    }
    folder.query("DELETE FROM evaluation_report");
    folder.query("CREATE TABLE flyway (id INTEGER PRIMARY KEY)");
    folder.query("INSERT INTO flyway VALUES (1)");
    let from = ["--from", "sqlite://test.db", "--assume", "evicted"];
    let named = [
        "warning: the table `cached_output` of sqlite://test.db has 1 row that is not copied: there is no kind",
        "the table `metric`",
        "the table `pipeline_run`",
        "PipelineRun is read from its other table",
        "the table `flyway` of sqlite://test.db has 1 row that is not copied: it is not a table of objects",
    ];
    // Without --verify, and for those who name kinds, all is well.
    let ran = copied(&folder, &from).exits(0).says(&named);
    for (what, is_named) in [("evaluation_report` of", false), ("_labels", false), ("compared", false)] {
        assert_eq!(ran.err.contains(what), is_named, "{what}: {}", ran.err);
    }
    let chosen = copied(&folder, &[&from[..], &["--verify", "models"]].concat()).exits(0);
    assert!(!chosen.err.contains("metric"), "{}", chosen.err);
    copied(&folder, &[&from[..], &["--verify"]].concat())
        .exits(1)
        .says(&named)
        .says(&["3 tables with objects were neither copied nor compared"]);
    // With kinds for them, all is copied.
    for sql in ["DROP TABLE pipeline_run", "DROP TABLE metric"] {
        folder.query(sql);
    }
    let kinds = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/michelangelo/kinds.yaml");
    copied(&folder, &[&from[..], &["--verify", "--kinds", kinds]].concat()).exits(0).says(&["`flyway`"]);
    let stored = query(&folder.path().join("copy.db"), "SELECT name FROM cachedoutput WHERE evict_time IS NOT NULL");
    assert_eq!(stored, ["a"]);
}

#[test]
fn what_is_not_another_database_of_objects_is_refused() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    folder.import(&["--from", "sqlite://test.db"]).exits(2).says(&["is both the source and the destination"]);
    copied(&folder, &["--from", "sqlite://none.db"]).exits(2).says(&["none.db"]);
    copied(&folder, &["--from", "sqlite://test.db", "--assume", "live"])
        .exits(2)
        .says(&["say the states of their objects"]);
    copied(&folder, &["--kubeconfig", "k", SAMPLES]).exits(2).says(&["--kubeconfig and --context are for --from"]);
    query(&folder.path().join("empty.db"), "CREATE TABLE other (id INTEGER)");
    copied(&folder, &["--from", "sqlite://empty.db"]).exits(2).says(&["none of the tables of these kinds"]);
    assert!(!folder.path().join("none.db").exists());
}

#[test]
fn objects_of_a_backup_become_the_rows_of_evicted_objects_again() {
    let folder = Folder::new();
    let model = |name: &str, version: &str| {
        let metadata = json!({"namespace": "ml", "name": name, "uid": name, "resourceVersion": version});
        model_json(metadata, json!({"algorithm": "xgboost"}))
    };
    let told = "SELECT name || ' ' || res_version || ' ' || (delete_time IS NULL) || (evict_time IS NOT NULL) || evict_confirmed \
                FROM model ORDER BY name";
    // A fail-over has left one of them in an earlier state, without the eviction.
    folder.write("left.ndjson", model("left", "5"));
    folder.import(&["left.ndjson"]).exits(0);
    folder.write("backup.ndjson", model("left", "7") + &model("lost", "6"));
    folder.import(&["--assume", "evicted", "--dry-run", "backup.ndjson"]).exits(0).says(&["dry run"]);
    assert_eq!(folder.query("SELECT COUNT(*) FROM model"), ["1"]);
    for _ in 0..2 {
        folder.import(&["--assume", "evicted", "backup.ndjson"]).exits(0);
        assert_eq!(folder.query(told), ["left 7 111", "lost 6 111"]);
    }
    // Nothing but a person replaces them.
    folder.write("later.ndjson", model("lost", "9"));
    folder.import(&["later.ndjson"]).exits(0);
    assert_eq!(folder.query(told), ["left 7 111", "lost 6 111"]);
    // A state of its own is not overruled.
    folder.import(&["--assume", "live", "left.ndjson"]).exits(0);
    assert_eq!(folder.query(told), ["left 7 111", "lost 6 111"]);
}
