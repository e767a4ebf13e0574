//! The commands that need no database: schema, crds, kinds.

use crate::program::{Folder, finish};
use ingester_declare::documents::documents;
use serde_json::Value;

#[test]
fn the_printed_schema_runs_in_the_databases_client() {
    let folder = Folder::new();
    let mysql = folder.run(&["schema", "print"]).exits(0).out;
    assert_eq!(mysql.matches("CREATE TABLE IF NOT EXISTS `").count(), 39);
    assert_eq!(folder.run(&["schema", "print", "--dialect", "mysql"]).exits(0).out, mysql);
    let sqlite = folder.run(&["schema", "print", "--dialect", "sqlite"]).exits(0).out;
    assert_eq!(sqlite.matches("CREATE TABLE IF NOT EXISTS \"").count(), 39);
    // It can be run twice, and the import then has no table to create.
    folder.query(&sqlite);
    folder.query(&sqlite);
    let ran = folder.import(&[crate::program::SAMPLES]).exits(0);
    assert!(!ran.err.contains("made"), "{}", ran.err);

    // By kind, plural or table, ignoring case.
    let one = folder.run(&["schema", "print", "ModelFamily"]).exits(0).out;
    assert_eq!(one.matches("CREATE TABLE").count(), 3);
    assert_eq!(folder.run(&["schema", "print", "modelfamilys"]).exits(0).out, one);
    assert_eq!(folder.run(&["schema", "print", "modelfamily"]).exits(0).out, one);
    folder.run(&["schema", "print", "Modle"]).exits(2).says(&["unknown kind `Modle`", "Model"]);
    folder.run(&["schema", "print", "--dialect", "oracle"]).exits(2).says(&["oracle", "mysql", "sqlite"]);
}

#[test]
fn a_closed_output_pipe_ends_the_command_quietly() {
    let folder = Folder::new();
    for arguments in [&["schema", "print"] as &[&str], &["crds"], &["kinds"], &["kinds", "-o", "yaml"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = finish(folder.command(arguments).stdout(writer)).exits(0);
        assert_eq!(ran.err, "", "{arguments:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let folder = Folder::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = finish(folder.command(&["schema", "print"]).stdout(full));
    ran.exits(1).says(&["error: cannot write to standard output", "No space left"]);
}

#[test]
fn kinds_are_listed_with_their_columns() {
    let folder = Folder::new();
    let table = folder.run(&["kinds"]).exits(0).out;
    assert_eq!(table.lines().count(), 1 + 13);
    let row: Vec<&str> = table.lines().find(|line| line.starts_with("Pipeline ")).unwrap().split_whitespace().collect();
    assert_eq!(row, ["Pipeline", "michelangelo.api/v2", "pipeline", "owner,", "pipeline_type"]);

    let json: Value = serde_json::from_str(&folder.run(&["kinds", "-o", "json"]).exits(0).out).unwrap();
    // YAML is a file of kinds.
    let yaml: Value = serde_saphyr::from_str(&folder.run(&["kinds", "projects", "-o", "yaml"]).exits(0).out).unwrap();
    let expected = serde_json::json!({"kinds": [{
        "group": "michelangelo.api", "version": "v2", "kind": "Project", "plural": "projects", "namespaced": true, "finalizer": "ensure",
        "strict": true, "columns": [{"column": "tier", "path": ".spec.tier", "type": "INT", "absent": "empty"}],
    }]});
    assert_eq!(yaml, expected);
    let family = json.as_array().unwrap().iter().find(|kind| kind["kind"] == "ModelFamily").unwrap();
    let expected = serde_json::json!({
        "kind": "ModelFamily", "apiVersion": "michelangelo.api/v2", "plural": "modelfamilys", "namespaced": true,
        "immutable": false, "evictable": true, "table": "modelfamily", "columns": [{"name": "model_family_name", "type": "VARCHAR(255)", "path": "spec.name", "absent": "type"}],
    });
    assert_eq!(*family, expected);
}

#[test]
fn wide_kinds_show_where_each_columns_value_is() {
    let wide = Folder::new().run(&["kinds", "-o", "wide"]).exits(0).out;
    let lines: Vec<Vec<&str>> = wide.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["KIND", "COLUMN", "TYPE", "UNIT", "ABSENT", "EVICTABLE", "PATH"]);
    for line in [
        ["*", "create_time", "DATETIME(6)", "metadata.creationTimestamp"].as_slice(),
        &["*", "delete_time", "DATETIME(6)"],
        &["Model", "src_pipeline_run_name", "VARCHAR(255)", "type", "spec.sourcePipelineRun.name"],
        &["PipelineRun", "end_time", "DATETIME(6)", "type", "status.endTime"],
        &["Deployment", "deletion_requested_timestamp", "DATETIME(6)", "type", "metadata.deletionTimestamp"],
    ] {
        assert!(lines.iter().any(|found| found == line), "{line:?} is not in:\n{wide}");
    }
    let base = lines.iter().filter(|line| line[0] == "*").count();
    let indexed: usize = crd_specs::KINDS.iter().map(|kind| kind.table().indexed().len()).sum();
    assert_eq!((base, lines.len()), (13, 1 + 13 + indexed), "one line for each column");
}

#[test]
fn wide_kinds_show_which_are_not_evictable() {
    let folder = Folder::new();
    let kind = |name: &str, says: &str| {
        format!(
            "- {{group: a.b, version: v1, kind: {name}, namespaced: true{says}, columns: [{{column: a, path: .a, type: INT}}]}}\n"
        )
    };
    let file = format!("builtIn: false\nkinds:\n{}{}", kind("Job", ""), kind("Task", ", evictable: false"));
    folder.write("kinds.yaml", file);
    let wide = folder.run(&["kinds", "-o", "wide", "--kinds", "kinds.yaml"]).exits(0).out;
    let lines: Vec<Vec<&str>> = wide.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.contains(&vec!["Job", "a", "INT", "null", "a"]), "{wide}");
    assert!(lines.contains(&vec!["Task", "a", "INT", "null", "no", "a"]), "{wide}");
}

#[test]
fn crds_are_printed_or_written_to_one_file_per_kind() {
    let folder = Folder::new();
    let printed = folder.run(&["crds"]).exits(0).out;
    let printed: Vec<Value> = crds(&printed);
    let names: Vec<&str> = printed.iter().map(|crd| crd["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 13);
    assert!(names.contains(&"modelfamilys.michelangelo.api"), "{names:?}");
    assert!(
        printed
            .iter()
            .all(|crd| crd["apiVersion"] == "apiextensions.k8s.io/v1" && crd["kind"] == "CustomResourceDefinition")
    );

    let one = folder.run(&["crds", "model"]).exits(0).out;
    assert_eq!(crds(&one)[0]["spec"]["names"]["kind"], "Model");
    folder.run(&["crds", "Modle"]).exits(2).says(&["unknown kind `Modle`"]);

    folder.run(&["crds", "--out", "some/where"]).exits(0).says(&["wrote some/where/models.michelangelo.api.yaml"]);
    let written = std::fs::read_dir(folder.path().join("some/where")).unwrap().count();
    assert_eq!(written, 13);
    let text = std::fs::read_to_string(folder.path().join("some/where/models.michelangelo.api.yaml")).unwrap();
    assert_eq!(crds(&text), crds(&one));

    folder.write("file", "");
    folder.run(&["crds", "--out", "file/below"]).exits(1).says(&["cannot write file/below/", "Not a directory"]);
}

fn crds(text: &str) -> Vec<Value> {
    documents(text.as_bytes())
        .map(|document| serde_json::from_str(&document.unwrap().content.unwrap()).unwrap())
        .collect()
}

#[test]
fn generated_files_are_checked_against_the_code() {
    let folder = Folder::new();
    let check = || folder.run(&["schema", "generate", "--check"]);
    check().exits(1).says(&[
        "differs: generated-sql/mysql/schema.sql",
        "missing migration: 0001_create_tables",
        "run `ingester schema generate` and commit",
    ]);
    assert!(!folder.path().join("generated-sql").exists(), "a check writes nothing");

    let ran = folder.run(&["schema", "generate"]).exits(0);
    ran.says(&["wrote: generated-sql/sqlite/schema.sql", "new migration: 0001_create_tables"]);
    check().exits(0).says(&["generated-sql is current"]);
    folder.run(&["schema", "generate"]).exits(0).says(&["generated-sql is current"]);

    // A derived file is written again.
    std::fs::remove_file(folder.path().join("generated-sql/mysql/schema.sql")).unwrap();
    let ran = check().exits(1).says(&["differs: generated-sql/mysql/schema.sql"]);
    assert!(!ran.err.contains("migration"), "{}", ran.err);
    folder.run(&["schema", "generate"]).exits(0);
    check().exits(0);

    // A released migration is never rewritten.
    let path = "generated-sql/mysql/migrations/0001_create_tables.up.sql";
    let text = std::fs::read_to_string(folder.path().join(path)).unwrap();
    folder.write(path, format!("{text}-- a small change\n"));
    let edited = &[path, "differs from what was released", "version control"];
    check().exits(1).says(edited);
    folder.run(&["schema", "generate"]).exits(1).says(edited);
    folder.write(path, text);
    check().exits(0);

    folder.write("generated-sql/schema.lock.json", "{");
    check().exits(1).says(&["generated-sql/schema.lock.json is not a schema lock", "version control"]);
}

#[test]
fn a_check_of_another_folder_names_the_command_for_it() {
    let folder = Folder::new();
    folder
        .run(&["schema", "generate", "--check", "--out", "other"])
        .exits(1)
        .says(&["run `ingester schema generate --out other`"]);
}

#[test]
fn a_database_of_the_reference_system_is_refused_before_anything_changes() {
    let folder = Folder::new();
    // As its own script creates them, as far as SQLite supports it.
    folder.query(
        "CREATE TABLE model (uid VARCHAR(255) NOT NULL PRIMARY KEY, group_ver VARCHAR(255), namespace VARCHAR(255), name VARCHAR(255), \
         res_version BIGINT, create_time DATETIME, update_time DATETIME, delete_time DATETIME, proto BLOB, json JSON, algorithm VARCHAR(255))",
    );
    folder.query("CREATE TABLE model_labels (id INTEGER PRIMARY KEY, obj_uid VARCHAR(255), \"key\" VARCHAR(255), value VARCHAR(63))");
    folder.query("INSERT INTO model (uid, name) VALUES ('u', 'theirs')");
    let url = ["--database-url", "sqlite://test.db"];
    let everything = "SELECT name, sql FROM sqlite_master ORDER BY name";
    let before = folder.query(everything);
    for arguments in [
        &["schema", "diff"][..],
        &["schema", "apply"],
        &["schema", "apply", "--dry-run"],
        &["import", crate::program::SAMPLES],
    ] {
        let ran = folder.run(&[arguments, &url[..]].concat()).exits(2);
        let ran = ran.says(&[
            "checking the table model",
            "the database is one of the reference system",
            "name another database",
        ]);
        assert_eq!(ran.out, "", "{arguments:?}");
        assert_eq!(folder.query(everything), before, "{arguments:?}");
    }
    assert_eq!(folder.query("SELECT name FROM model"), ["theirs"]);
}
