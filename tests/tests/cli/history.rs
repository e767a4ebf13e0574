//! The past in the output of commands: the versions of an object, their differences, and the state at a moment.

use crate::program::{Folder, RunOutput};
use serde_json::{Value, json};

const KINDS: &str = "\
builtIn: false
kinds:
- group: example.com
  version: v1
  kind: Run
  namespaced: true
  history: forever
  columns:
  - {column: phase, path: .status.phase, type: VARCHAR(32)}
- group: example.com
  version: v1
  kind: House
  namespaced: true
";

/// A run of a uid in a version.
fn run(name: &str, uid: &str, version: u32, phase: &str) -> String {
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Run",
        "metadata": {
            "namespace": "ml", "name": name, "uid": uid, "resourceVersion": version.to_string(), "generation": version,
            "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"team": if version < 12 { "ads" } else { "pricing" }},
        },
        "spec": {"steps": ["load", "train"]},
        "status": {"phase": phase},
    });
    object.to_string() + "\n"
}

/// A folder whose database has `nightly`, which failed, was deleted and created again.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("kinds.yaml", KINDS);
    for (uid, version, phase) in [
        ("u1", 10, "Pending"),
        ("u1", 11, "Running"),
        ("u1", 12, "Failed"),
        ("u2", 20, "Pending"),
        ("u2", 21, "Running"),
    ] {
        folder.write("in.json", run("nightly", uid, version, phase));
        folder.import(&["--kinds", "kinds.yaml", "in.json"]).exits(0);
    }
    // The clock of the test: a version begins each hour.
    let hours = [
        ("run_history", "u1", 10),
        ("run_history", "u1", 11),
        ("run", "u1", 12),
        ("run_history", "u2", 20),
        ("run", "u2", 21),
    ];
    for (hour, (table, uid, version)) in hours.into_iter().enumerate() {
        let began = if table == "run" { "update_time" } else { "valid_from" };
        let time = |hour: usize| format!("'2026-01-02 {hour:02}:00:00.000000'");
        let end = if table == "run" { String::new() } else { format!(", valid_to = {}", time(hour + 1)) };
        let set =
            format!("UPDATE {table} SET {began} = {}{end} WHERE uid = '{uid}' AND res_version = {version}", time(hour));
        folder.query(&set);
    }
    folder.query("UPDATE run SET delete_time = '2026-01-02 02:30:00.000000' WHERE uid = 'u1'");
    folder
}

impl Folder {
    /// A command on this database with these kinds.
    fn past(&self, arguments: &[&str]) -> RunOutput {
        self.run(&[arguments, &["--kinds", "kinds.yaml", "--database-url", "sqlite://test.db"]].concat())
    }
}

#[test]
fn each_version_is_a_line_and_all_objects_of_the_name_are_there() {
    let folder = folder();
    let ran = folder.past(&["history", "run", "nightly"]).exits(0);
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["VERSION", "FROM", "TO", "FOR", "CHANGE", "CHANGED"]);
    let u2 = ["20", "2026-01-02T03:00:00Z", "2026-01-02T04:00:00Z", "60m", "<none>", "<none>"];
    assert_eq!((lines.len(), lines[2].as_slice()), (6, &u2[..]), "{}", ran.out);
    let is = |line: usize, cells: &[&str]| {
        assert!(lines[line].starts_with(&cells[..3]) && lines[line].ends_with(&cells[3..]), "{line}: {}", ran.out);
    };
    is(1, &["21", "2026-01-02T04:00:00Z", "now", "updated", ".status.phase"]);
    is(3, &["12", "2026-01-02T02:00:00Z", "now", "updated", ".metadata.labels.team,.status.phase"]);
    is(5, &["10", "2026-01-02T00:00:00Z", "2026-01-02T01:00:00Z", "<none>", "<none>"]);

    let wide = folder.past(&["history", "run/nightly", "-n", "ml", "-o", "wide", "--no-headers"]).exits(0).out;
    assert!(
        wide.lines().next().is_some_and(|line| line.starts_with("u2 ") && line.contains(".metadata.generation,")),
        "{wide}"
    );
    let one = folder.past(&["history", "run", "--uid", "u1", "--no-headers"]).exits(0).out;
    assert_eq!(one.lines().count(), 3);
    let ran = folder.past(&["history", "run", "nightly", "--limit", "3", "--no-headers"]).exits(0).says(&["--limit"]);
    assert_eq!(ran.out.lines().count(), 3);
    // The last line has paths although the version before is not printed.
    assert!(ran.out.lines().last().is_some_and(|line| line.ends_with(".status.phase")), "{}", ran.out);
    let all = folder.past(&["history", "run", "nightly", "--limit", "5"]).exits(0);
    assert_eq!(all.err, "");
}

#[test]
fn versions_are_printed_as_get_prints_objects() {
    let folder = folder();
    let list = folder.past(&["history", "run", "nightly", "-o", "json"]).exits(0).out;
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!((&list["kind"], list["items"].as_array().map(Vec::len)), (&json!("List"), Some(5)));
    let annotations = |place: usize| list["items"][place]["metadata"]["annotations"].clone();
    assert_eq!(
        annotations(3),
        json!({
            "mirror.michelangelo.api/valid-from": "2026-01-02T01:00:00Z",
            "mirror.michelangelo.api/valid-to": "2026-01-02T02:00:00Z",
            "mirror.michelangelo.api/change": "updated",
            "mirror.michelangelo.api/changed": ".metadata.generation, .metadata.resourceVersion, .status.phase",
        })
    );
    assert_eq!(annotations(2)["mirror.michelangelo.api/state"], "deleted");
    let yaml = folder.past(&["history", "run", "nightly", "-o", "yaml", "--limit", "1"]).exits(0).out;
    assert!(yaml.starts_with("apiVersion: v1\nitems:\n- apiVersion: example.com/v1\n  kind: Run\n"), "{yaml}");
    assert!(yaml.contains("\nkind: List\n"), "{yaml}");
    // All versions of the last object with the name, and none of the one before it.
    for (limit, is_cut) in [("1", true), ("3", true), ("5", false)] {
        let ran = folder.past(&["history", "run", "nightly", "-o", "json", "--limit", limit]).exits(0);
        let list: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(list["items"].as_array().map(|items| items.len().to_string()), Some(limit.to_owned()));
        assert_eq!(ran.err.contains("a higher --limit"), is_cut, "{limit}: {}", ran.err);
    }
}

#[test]
fn a_history_that_is_not_there_is_named_with_the_remedy() {
    let folder = folder();
    folder.past(&["history", "house", "a"]).exits(2).says(&["House keeps no former versions", "history: 90d"]);
    folder.past(&["history", "run", "weekly"]).exits(1).says(&["runs.example.com \"weekly\" not found"]);
    folder.past(&["history", "run"]).exits(2).says(&["KIND NAME"]);
    folder.past(&["history", "run/a", "b"]).exits(2).says(&["KIND/NAME"]);
    folder
        .write("other.json", run("nightly", "u3", 1, "Pending").replace(r#""namespace":"ml""#, r#""namespace":"ads""#));
    folder.import(&["--kinds", "kinds.yaml", "other.json"]).exits(0);
    folder.past(&["history", "run", "nightly"]).exits(2).says(&["several namespaces", "(ads, ml)"]);
}

#[test]
fn a_diff_is_of_the_last_two_versions_unless_it_says_otherwise() {
    let folder = folder();
    let diff = folder.past(&["diff", "run", "nightly"]).exits(0).out;
    assert!(
        diff.starts_with(
            "--- run.example.com/nightly 20 2026-01-02T03:00:00Z u2\n+++ run.example.com/nightly 21 2026-01-02T04:00:00Z u2\n@@ "
        ),
        "{diff}"
    );
    assert!(diff.contains("\n-  phase: Pending\n+  phase: Running\n") && !diff.contains('\x1b'), "{diff}");
    // The first version of an object is compared with the last one of the object that had the name before.
    for (arguments, is) in [
        (&["--to", "11"][..], ["10 2026-01-02T00", "11 2026-01-02T01"]),
        (&["--to", "20"], ["12 2026-01-02T02", "20 2026-01-02T03"]),
        (&["--from", "2026-01-02T01:30:00Z"], ["11 2026-01-02T01", "21 2026-01-02T04"]),
        (&["--from", "11", "--to", "2026-01-02T02:00:00Z"], ["11 2026-01-02T01", "12 2026-01-02T02"]),
        (&["--from", "21", "--to", "10"], ["21 2026-01-02T04", "10 2026-01-02T00"]),
    ] {
        let diff = folder.past(&[&["diff", "run/nightly"], arguments].concat()).exits(0).out;
        let heads: Vec<&str> = diff.lines().take(2).collect();
        assert!(heads[0].contains(is[0]) && heads[1].contains(is[1]), "{arguments:?}: {diff}");
    }
    // A deletion is a change of the state.
    let diff = folder.past(&["diff", "run", "--uid", "u1", "--to", "12"]).exits(0).out;
    assert!(diff.contains("+    mirror.michelangelo.api/state: deleted\n"), "{diff}");

    let patch = folder.past(&["diff", "run", "nightly", "--from", "10", "--to", "11", "-o", "json"]).exits(0).out;
    let expected = json!([
        {"op": "replace", "path": "/metadata/generation", "value": 11},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "11"},
        {"op": "replace", "path": "/status/phase", "value": "Running"},
    ]);
    assert_eq!(serde_json::from_str::<Value>(&patch).unwrap(), expected);
    let same = folder.past(&["diff", "run", "nightly", "--from", "10", "--to", "10"]).exits(0).says(&["do not differ"]);
    assert_eq!(same.out, "");
}

#[test]
fn a_version_that_is_not_there_is_named_with_the_reason() {
    let folder = folder();
    let diff = |arguments: &[&str]| folder.past(&[&["diff", "run", "nightly"], arguments].concat());
    diff(&["--from", "7"])
        .exits(1)
        .says(&["--from: the object has no version with the resourceVersion 7", "ingester history"]);
    diff(&["--from", "2026-01-01T12:00:00Z"])
        .exits(1)
        .says(&["is not known: its history begins at 2026-01-02T00:00:00Z"]);
    diff(&["--from", "2025-12-01"]).exits(1).says(&["the object did not exist", "created at 2026-01-01T00:00:00Z"]);
    diff(&["--to", "10"]).exits(1).says(&["no version is known before", "--from"]);
    diff(&["--to", "tuesday"]).exits(2).says(&["--to:", "or a resourceVersion"]);
    // Files without versions have 0 in all of them.
    for phase in ["Pending", "Running"] {
        folder.write("in.json", run("made", "u9", 0, phase));
        folder.import(&["--kinds", "kinds.yaml", "in.json"]).exits(0);
    }
    folder
        .past(&["diff", "run", "made", "--to", "0"])
        .exits(1)
        .says(&["2 different versions of the object have the resourceVersion 0", "by a time"]);
    folder.past(&["diff", "run", "made"]).exits(0);
    folder.past(&["diff", "run", "weekly"]).exits(1).says(&["not found"]);
}

#[test]
fn of_several_objects_with_a_name_the_one_that_was_there_is_meant() {
    let folder = folder();
    let diff = |arguments: &[&str]| folder.past(&[&["diff", "run", "nightly"], arguments].concat());
    let late = ["--from", "2026-01-02T06:00:00Z", "--to", "10"];
    // The first one is evicted, and the second one was created although the row of the first is there.
    folder.query("UPDATE run SET delete_time = NULL, evict_time = '2026-01-02 02:30:00.000000' WHERE uid = 'u1'");
    diff(&late).exits(1).says(&["--from: 2 objects had this name at 2026-01-02T06:00:00Z (u2, u1)", "--uid"]);
    let one = folder.past(&[&["diff", "run", "--uid", "u1"][..], &late].concat()).exits(0).out;
    assert!(one.starts_with("--- run.example.com/nightly 12 "), "{one}");
    folder.past(&["get", "run", "nightly", "--at", "2025-12-31"]).exits(1).says(&["the object did not exist"]);
    // The second one is deleted.
    folder.query("UPDATE run SET delete_time = '2026-01-02 05:00:00.000000' WHERE uid = 'u2'");
    let evicted = diff(&late).exits(0).out;
    assert!(evicted.starts_with("--- run.example.com/nightly 12 2026-01-02T02:00:00Z u1\n"), "{evicted}");
    // Both are: the last one counts.
    folder.query("UPDATE run SET delete_time = '2026-01-02 02:30:00.000000' WHERE uid = 'u1'");
    let last = diff(&late).exits(0).out;
    assert!(last.starts_with("--- run.example.com/nightly 21 2026-01-02T04:00:00Z u2\n"), "{last}");
    // Nothing is kept of the last one, but something of the one before it.
    folder.query("DELETE FROM run WHERE uid = 'u2'");
    let known = diff(&late).exits(0).out;
    assert!(known.starts_with("--- run.example.com/nightly 12 "), "{known}");
}

#[test]
fn get_prints_objects_as_they_were_at_a_moment() {
    let folder = folder();
    let get = |arguments: &[&str]| folder.past(&[&["get"], arguments].concat());
    let phase = |at: &str, more: &[&str]| {
        let ran =
            get(&[&["run", "nightly", "-o", "jsonpath={.metadata.uid} {.status.phase}", "--at", at], more].concat());
        ran.exits(0).out.trim().to_owned()
    };
    assert_eq!(phase("2026-01-02T01:30:00Z", &[]), "u1 Running");
    assert_eq!(phase("2026-01-02T03:00:00Z", &[]), "u2 Pending");
    assert_eq!(phase("1s", &["-n", "ml"]), "u2 Running");
    // Every format, and selectors and orders of columns.
    let at = ["--at", "2026-01-02T03:30:00Z"];
    let table =
        get(&[&["runs", "--field-selector", "phase=Pending", "--sort-by", "-phase"][..], &at].concat()).exits(0).out;
    assert!(table.contains("Pending") && table.lines().count() == 2, "{table}");
    let csv =
        get(&[&["runs", "--columns", "name,phase", "-o", "csv", "--state", "all"][..], &at].concat()).exits(0).out;
    assert_eq!(csv, "name,phase\r\nnightly,Failed\r\nnightly,Pending\r\n");
    let list = get(&[&["runs", "-o", "json"][..], &at].concat()).exits(0).out;
    assert_eq!(serde_json::from_str::<Value>(&list).unwrap()["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(get(&[&["runs", "--count", "--state", "all"][..], &at].concat()).exits(0).out, "2\n");
    // By labels only with a scan, which reads the texts.
    get(&[&["runs", "-l", "team=pricing"][..], &at].concat()).exits(2).says(&["labels", "scan"]);
    let labelled = get(&[&["runs", "-l", "team=pricing", "--scan", "-o", "name"][..], &at].concat()).exits(0).out;
    assert_eq!(labelled, "run.example.com/nightly\n");
    let explained = get(&[&["runs", "--explain"][..], &at].concat()).exits(0).out;
    assert_eq!(explained.matches("Plan\n").count(), 2, "{explained}");
}

#[test]
fn the_pages_of_a_moment_are_of_one_moment() {
    let folder = folder();
    for i in 0..5 {
        folder.write("in.json", run(&format!("run-{i}"), &format!("v{i}"), 30, "Pending"));
        folder.import(&["--kinds", "kinds.yaml", "in.json"]).exits(0);
    }
    let mut arguments: Vec<String> =
        ["get", "runs", "-o", "name", "--limit", "2", "--at", "0s"].map(str::to_owned).into();
    let mut all = String::new();
    loop {
        let ran = folder.past(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).exits(0);
        all.push_str(&ran.out);
        let Some((_, more)) = ran.err.split_once("repeat this with ") else { break };
        arguments.truncate(6);
        arguments.extend(more.split_whitespace().map(str::to_owned));
        assert!(arguments[6].starts_with("--at=20") && arguments[7].starts_with("--continue="), "{arguments:?}");
        // Changes meanwhile do not affect the past.
        folder.write("in.json", run("run-4", "v4", 31, "Running"));
        folder.import(&["--kinds", "kinds.yaml", "in.json"]).exits(0);
    }
    let names: Vec<&str> = all.lines().collect();
    assert_eq!((names.len(), names.last()), (6, Some(&"run.example.com/run-4")), "{all}");
}

#[test]
fn a_moment_that_cannot_be_answered_says_why() {
    let folder = folder();
    let get = |arguments: &[&str]| folder.past(&[&["get"], arguments].concat());
    get(&["houses", "--at", "1h"]).exits(2).says(&["House keeps no former versions"]);
    get(&["runs", "--at", "1h", "--watch"]).exits(2).says(&["--watch", "--at"]);
    get(&["runs", "--at", "1h", "--group-by", "phase"]).exits(2).says(&["--group-by", "--at"]);
    get(&["runs", "--at", "tuesday"]).exits(2).says(&["--at: time `tuesday`"]);
    get(&["runs", "--at", "in 1h"]).exits(2).says(&["is in the future", "the clock of the database says"]);
    folder
        .past(&["diff", "run", "nightly", "--to", "2999-01-01"])
        .exits(2)
        .says(&["2999-01-01T00:00:00Z is in the future"]);
    let begins =
        "the state of the object at 2026-01-01T12:00:00Z is not known: its history begins at 2026-01-02T00:00:00Z";
    get(&["run", "nightly", "--at", "2026-01-01T12:00:00Z"]).exits(1).says(&["\"nightly\" not found: ", begins]);
    get(&["run", "nightly", "--at", "2025-12-31"])
        .exits(1)
        .says(&["the object did not exist", "it was created at 2026-01-01"]);
    get(&["run", "weekly", "--at", "2026-01-02T03:00:00Z"]).exits(1).says(&["\"weekly\" not found\n"]);
    // Known to be deleted then.
    get(&["run", "--uid", "u1", "--state", "live", "--at", "1s"]).exits(0).says(&["No resources found"]);
    // A list that is empty, although objects' timestamps say that they existed.
    get(&["runs", "--at", "2026-01-01T12:00:00Z"]).exits(0).says(&["No resources found", "Run ml/nightly: ", begins]);
    let before = get(&["runs", "--at", "2025-12-31"]).exits(0);
    assert_eq!(before.err, "No resources found\n");
}

#[test]
fn a_version_that_cannot_be_restored_is_refused_before_a_cluster_is_asked() {
    let folder = folder();
    folder.past(&["restore", "house", "a", "--at", "1h"]).exits(2).says(&["House keeps no former versions"]);
    folder.past(&["restore", "run", "nightly", "--at", "tuesday"]).exits(2).says(&["--at: time `tuesday`"]);
    folder.past(&["restore", "run", "nightly", "--at", "1h", "--version", "7"]).exits(2).says(&["cannot be used with"]);
    folder.past(&["restore", "run", "-l", "a=b", "--version", "7"]).exits(2).says(&["cannot be used with"]);
}
