//! The schema commands on SQLite: their output and exit codes.

use crate::program::{Folder, SAMPLES};
use crate::{after, before};
use ingester_store::migrate::{Folder as Files, GenerateOptions};
use serde_json::Value;

const DATABASE: [&str; 2] = ["--database-url", "sqlite://test.db"];

fn schema(folder: &Folder, arguments: &[&str]) -> crate::program::RunOutput {
    folder.run(&[&["schema"], arguments, &DATABASE[..]].concat())
}

#[test]
fn verify_and_diff_report_changes_made_by_hand() {
    let folder = Folder::new();
    let ran = schema(&folder, &["verify"]);
    assert_ne!(ran.code, Some(0), "there is no such file");
    schema(&folder, &["apply"]).exits(0).says(&["ran: 0001_create_tables"]);
    schema(&folder, &["apply"]).exits(0).says(&["has run every migration"]);
    schema(&folder, &["verify"]).exits(0).says(&["has the released schema"]);
    schema(&folder, &["diff"]).exits(0).says(&["the tables are those of the structs"]);

    folder.query("DROP INDEX model__algorithm");
    folder.query("ALTER TABLE model ADD COLUMN by_hand TEXT");
    let ran = schema(&folder, &["verify"]).exits(1);
    assert_eq!(
        ran.out,
        "column `model`.`by_hand` (TEXT) is not in the schema\nkey `algorithm` of `model` is missing; the schema has it over (algorithm)\n"
    );
    let ran = schema(&folder, &["verify", "-o", "json"]).exits(1);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["pending"], serde_json::json!([]));
    assert_eq!(report["differences"][1]["difference"], "missing_key");
    schema(&folder, &["apply"]).exits(1).says(&["differs: key `algorithm` of `model` is missing", "schema verify"]);

    let ran = schema(&folder, &["diff"]).exits(1).says(&["schema verify", "take it back by hand"]);
    assert!(!ran.err.contains("schema generate"), "it would do nothing: {}", ran.err);
    for part in [
        "table `model`",
        "  drop column `by_hand` MEDIUMTEXT: copy",
        "DESTRUCTIVE",
        "  add key `algorithm` (algorithm): copy",
    ] {
        assert!(ran.out.contains(part), "`{part}` is not in {}", ran.out);
    }
    let ran = schema(&folder, &["diff", "-o", "json"]).exits(1);
    let lines: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(lines[0]["table"], "model");
    assert_eq!((&lines[0]["class"], &lines[0]["destructive"]), (&"copy".into(), &true.into()));
}

#[test]
fn changes_are_generated_applied_and_reverted() {
    let folder = Folder::new();
    let files = Files::new(folder.path().join("sql"));
    files.generate(before::KINDS, &GenerateOptions::default()).unwrap();
    let sql = ["--sql", "sql"];
    schema(&folder, &[&["apply"], &sql[..]].concat()).exits(0).says(&["ran: 0001_create_tables"]);
    files
        .generate(
            after::KINDS,
            &GenerateOptions { name: Some("change"), allow_destructive: true, ..GenerateOptions::default() },
        )
        .unwrap();
    let ran = schema(&folder, &[&["verify"], &sql[..]].concat()).exits(1).says(&["schema apply"]);
    assert!(ran.out.starts_with("migration 0002_change has not been run\n"), "{}", ran.out);
    let ran = schema(&folder, &[&["apply"], &sql[..]].concat()).exits(0);
    let ran = ran.says(&["ran: 0002_change\n"]);
    assert!(!ran.err.contains("differs"), "{}", ran.err);
    schema(&folder, &[&["verify"], &sql[..]].concat()).exits(0);

    let refused = schema(&folder, &[&["revert", "--to", "1"], &sql[..]].concat()).exits(2);
    refused.says(&["drops data", "the values of `job`.`deadline`", "--allow-destructive"]);
    let revert = [&["revert", "--to", "1", "--allow-destructive"], &sql[..]].concat();
    schema(&folder, &revert)
        .exits(0)
        .says(&["took back: 0002_change", "run `ingester backfill` of the release that has migration 1 as its last"]);
    schema(&folder, &revert).exits(0).says(&["has run nothing after 1"]);
    schema(&folder, &["apply", "--sql", "nowhere"]).exits(2).says(&["nowhere is not a folder of generated SQL"]);

    // The program's own migrations are different ones.
    schema(&folder, &["apply"]).exits(2).says(&["another migration", "0001_create_tables"]);
}

#[test]
fn import_creates_missing_tables_and_alters_none() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0).says(&["made 39 tables"]);
    schema(&folder, &["verify"]).exits(0);
    folder.query("DROP INDEX model__algorithm");
    folder.query("ALTER TABLE model DROP COLUMN algorithm");
    let refused =
        ["lacks model.algorithm", "`ingester schema apply --database-url sqlite://test.db`", "and changes none"];
    folder.import(&[SAMPLES]).exits(2).says(&refused);
    folder.import(&["--dry-run", SAMPLES]).exits(2).says(&refused);
}

#[test]
fn the_backfill_command_fills_columns() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    let algorithm = folder.query("SELECT algorithm FROM model");
    folder.query("UPDATE model SET algorithm = NULL, training_framework = NULL");
    let backfill = |arguments: &[&str]| folder.run(&[&["backfill"], arguments, &DATABASE[..]].concat());
    backfill(&["model", "--column", "algorithm"]).exits(0).says(&["Model: 1 row read, 1 filled, 0 cannot be decoded"]);
    assert_eq!(folder.query("SELECT algorithm FROM model"), algorithm);
    assert_eq!(folder.query("SELECT COUNT(*) FROM model WHERE training_framework IS NULL"), ["1"]);
    backfill(&["Model", "--rate", "0"]).exits(0).says(&["1 filled"]);
    assert_eq!(folder.query("SELECT COUNT(*) FROM model WHERE training_framework IS NULL"), ["0"]);
    let complete =
        "SELECT COUNT(*) FROM ingester_backfills WHERE complete_time IS NOT NULL AND column_name = 'algorithm'";
    assert_eq!(folder.query(complete), ["1"]);

    backfill(&["Model", "--column", "json"]).exits(2).says(&["Model has no indexed column `json`", "algorithm"]);
    backfill(&["Modle"]).exits(2).says(&["unknown kind `Modle`"]);
    folder.query("UPDATE model SET json = json_set(json, '$.spec.algorithm', json('[1]'))");
    backfill(&["Model"]).exits(1).says(&["1 cannot be decoded", "The columns of this row cannot be filled"]);
}

#[test]
fn generate_checks_its_name_and_refuses_to_drop_data() {
    let folder = Folder::new();
    folder
        .run(&["schema", "generate", "--name", "First kinds"])
        .exits(1)
        .says(&["`First kinds` is not a name", "add_owner"]);
    let ran = folder.run(&["schema", "generate", "--name", "first_kinds"]).exits(0);
    ran.says(&["new migration: 0001_first_kinds"]);
    // The released schema has a table that no struct declares any more.
    let lock = folder.path().join("generated-sql/schema.lock.json");
    let text = std::fs::read_to_string(&lock).unwrap();
    let mut released: Value = serde_json::from_str(&text).unwrap();
    let gone = serde_json::json!({"name": "gone", "columns": [{"name": "uid", "type": "VARCHAR(64)", "nullable": false}],
                                  "primary_key": ["uid"], "keys": []});
    released["tables"].as_array_mut().unwrap().push(gone);
    std::fs::write(&lock, released.to_string()).unwrap();
    folder
        .run(&["schema", "generate"])
        .exits(1)
        .says(&["these changes drop data: all rows of `gone`", "--allow-destructive"]);
    let ran = folder.run(&["schema", "generate", "--check"]).exits(1).says(&["missing migration: 0002_change_tables"]);
    assert!(ran.out.contains("DESTRUCTIVE: all rows of `gone`"), "{}", ran.out);
    let ran = folder.run(&["schema", "generate", "--name", "drop_gone", "--allow-destructive"]).exits(0);
    ran.says(&["new migration: 0002_drop_gone"]);
    folder.run(&["schema", "generate", "--check"]).exits(0);
}
