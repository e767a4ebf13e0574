//! `ingester doctor` without a cluster, on SQLite. `tests/live/doctor.rs` has broken clusters and servers.

use crate::program::{Folder, SAMPLES, query};
use serde_json::Value as Json;

const CONFIG: &str = "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}\n";
const NOWHERE: &str = r#"{"apiVersion": "v1", "kind": "Config", "current-context": "c",
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "u", "user": {"token": "TOPSECRET"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}"#;

/// The lines, by check: result and message.
fn examined(folder: &Folder, code: i32) -> Vec<(String, String, String)> {
    let arguments = ["doctor", "--config", "ingester.yaml", "--kubeconfig", "nowhere.json", "-o", "json"];
    let ran = folder.run(&arguments).exits(code);
    assert!(!ran.out.contains("TOPSECRET") && !ran.err.contains("TOPSECRET"), "{ran:?}");
    let lines: Vec<Json> = serde_json::from_str(&ran.out).unwrap();
    let text = |line: &Json, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    lines.iter().map(|line| (text(line, "check"), text(line, "result"), text(line, "message"))).collect()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("ingester.yaml", CONFIG);
    folder.write("nowhere.json", NOWHERE);
    folder
}

fn find_check<'l>(lines: &'l [(String, String, String)], check: &str) -> (&'l str, &'l str) {
    let line = lines.iter().find(|line| line.0 == check).unwrap_or_else(|| panic!("no {check} in {lines:?}"));
    (&line.1, &line.2)
}

#[test]
fn a_cluster_that_is_away_does_not_hide_the_database() {
    let folder = folder();
    folder.import(&[SAMPLES]).exits(0);
    let lines = examined(&folder, 1);
    assert_eq!(find_check(&lines, "api-server").0, "error");
    for check in ["api-server-version", "cluster-identity", "crd", "rights", "streamed-lists", "admission", "lag"] {
        assert_eq!(find_check(&lines, check), ("skipped", "the API server does not answer"), "{check}");
    }
    for check in ["database", "database-rights", "migrations", "tables", "definitions", "durability"] {
        assert_eq!(find_check(&lines, check).0, "ok", "{check}: {lines:?}");
    }
}

#[test]
fn neither_a_file_nor_a_byte_of_it_is_made() {
    let folder = folder();
    let lines = examined(&folder, 1);
    assert_eq!(find_check(&lines, "database").0, "warning");
    assert_eq!(find_check(&lines, "migrations"), ("skipped", "the database is not reached"));
    assert!(!folder.path().join("test.db").exists());

    // The file of another program, which is written in a different mode from ours.
    let file = folder.path().join("test.db");
    query(&file, "CREATE TABLE other (x)");
    let before = std::fs::read(&file).unwrap();
    let lines = examined(&folder, 1);
    assert_eq!(find_check(&lines, "migrations").0, "warning");
    assert_eq!(find_check(&lines, "identity"), ("ok", "the database belongs to no cluster yet"));
    assert!(std::fs::read(&file).unwrap() == before, "the file was changed");
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
}

#[test]
fn a_configuration_that_cannot_be_read_is_wrong_usage() {
    let folder = folder();
    folder.run(&["doctor", "--config", "none.yaml"]).exits(2).says(&["none.yaml"]);
    folder.run(&["doctor"]).exits(2).says(&["--config"]);
}
