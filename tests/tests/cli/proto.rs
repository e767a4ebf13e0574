//! The `proto` column from the command line.

use crate::program::{Folder, SAMPLES, model};
use serde_json::{Value, json};

const DATABASE: [&str; 2] = ["--database-url", "sqlite://test.db"];

#[test]
fn decode_prints_the_stored_message_as_json() {
    let folder = Folder::new();
    let metadata = ["uid: u-1", "resourceVersion: '7'", "labels: {team: pricing}"];
    folder.write("model.yaml", model("iris", &metadata, &["kind: MODEL_KIND_REGRESSION", "unheardOf: 1"]));
    folder.import(&["model.yaml"]).exits(0);
    let ran = folder.run(&[&["proto", "decode", "model", "u-1"], &DATABASE[..]].concat()).exits(0);
    let printed: Value = serde_json::from_str(&ran.out).unwrap();
    let expected = json!({
        "apiVersion": "michelangelo.api/v2",
        "kind": "Model",
        "metadata": {"namespace": "ml", "name": "iris", "uid": "u-1", "resourceVersion": "7",
                     "labels": {"team": "pricing"}},
        "spec": {"algorithm": "xgboost", "kind": "MODEL_KIND_REGRESSION"},
        "status": {},
    });
    assert_eq!(printed, expected);
    assert!(ran.out.lines().count() > 10, "for people to read: {}", ran.out);
}

#[test]
fn decode_reports_unknown_objects_and_broken_bytes() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    let decode = |arguments: &[&str]| folder.run(&[&["proto", "decode"], arguments, &DATABASE[..]].concat());
    decode(&["Model", "nobody"]).exits(1).says(&["there is no Model with the uid nobody"]);
    decode(&["Modle", "nobody"]).exits(2).says(&["unknown kind `Modle`"]);
    let uid = folder.query("SELECT uid FROM model").remove(0);
    folder.query("UPDATE model SET proto = x'0a05'");
    decode(&["Model", &uid]).exits(1).says(&["the bytes of Model", "--column proto", "not a message at byte"]);
}

#[test]
fn backfill_fills_proto_in_rows_that_lack_it() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    let bytes = folder.query("SELECT HEX(proto) FROM model");
    folder.query("UPDATE model SET proto = NULL");
    let uid = folder.query("SELECT uid FROM model").remove(0);
    let decode = || folder.run(&[&["proto", "decode", "Model", &uid], &DATABASE[..]].concat());
    decode().exits(1).says(&["the Model has no bytes yet", "ingester backfill Model --column proto"]);
    let backfill = ["backfill", "Model", "--column", "proto"];
    folder.run(&[&backfill, &DATABASE[..]].concat()).exits(0).says(&["1 row read, 1 filled"]);
    assert_eq!(folder.query("SELECT HEX(proto) FROM model"), bytes);
    decode().exits(0);
}
