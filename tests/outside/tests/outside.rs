//! The output of this crate's annotated structs: tables, rows, CRDs, and a program that imports their objects.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

use ingester_core::Kind;
use sqlx::Row as _;
use std::path::Path;
use std::process::{Command, Output};

fn kind(name: &str) -> &'static Kind {
    outside::KINDS.iter().find(|kind| kind.kind() == name).expect("the kind is in the manifest")
}

/// The name and type of each indexed column, and whether it has a key.
fn columns(kind: &Kind) -> Vec<String> {
    let table = kind.table();
    let first = table.columns.len() - table.indexed().len();
    let text = |(place, column): (usize, &ingester_core::schema::Column)| {
        let keyed = table.keys.iter().any(|key| key.columns().first() == Some(&((first + place) as u16)));
        format!("{} {}{}", column.name, column.ty, if keyed { " key" } else { "" })
    };
    table.indexed().iter().enumerate().map(text).collect()
}

#[test]
fn a_custom_resource_of_our_own_has_its_tables() {
    let kind = kind("Experiment");
    assert_eq!(kind.table().name.as_str(), "experiment");
    assert_eq!(
        (kind.api_version().as_str(), kind.plural().as_ref(), kind.namespaced()),
        ("ml.example.com/v1", "experiments", true)
    );
    assert_eq!(
        columns(kind),
        [
            "owner VARCHAR(255) key",
            "team VARCHAR(255) key",
            // One key over both columns of a composite, which begins with its first.
            "dataset_namespace VARCHAR(255) key",
            "dataset_name VARCHAR(255)",
            "deadline DATETIME(6) key",
            "phase VARCHAR(255) key",
            "best_value DOUBLE key",
        ]
    );
    let names = |columns: &[u16]| -> Vec<&str> {
        columns.iter().map(|place| kind.table().columns[usize::from(*place)].name.as_str()).collect()
    };
    let keys: Vec<_> = kind.table().keys.iter().map(|key| names(key.columns())).collect();
    assert!(keys.contains(&vec!["dataset_namespace", "dataset_name"]), "{keys:?}");
    assert!(keys.contains(&vec!["namespace", "phase"]), "{keys:?}");
    // A column of many values has its own table.
    let many: Vec<String> = kind.table().many.iter().map(|many| format!("{} {}", many.name, many.ty())).collect();
    assert_eq!(many, ["tags VARCHAR(255)"]);
}

#[test]
fn a_projection_has_only_the_annotated_columns() {
    assert_eq!(kind("Pod").table().name.as_str(), "pod_facts");
    assert_eq!(kind("Pod").api_version(), "v1");
    assert_eq!(
        columns(kind("Pod")),
        [
            "owner_uid VARCHAR(255) key",
            "node VARCHAR(255) key",
            "image VARCHAR(255) key",
            "phase VARCHAR(255) key",
            "host_ip VARCHAR(45) key",
            "pod_ip VARCHAR(45) key",
        ]
    );
    assert_eq!(kind("PyTorchJob").table().name.as_str(), "pytorchjob");
    assert_eq!(
        columns(kind("PyTorchJob")),
        ["replicas INT key", "state VARCHAR(255) key", "start_time DATETIME(6) key", "completion_time DATETIME(6) key"]
    );
}

#[test]
fn only_a_kind_of_our_own_has_a_crd() {
    let crd = kind("Experiment").crd().expect("a CRD of our own");
    assert_eq!(crd.metadata.name.as_deref(), Some("experiments.ml.example.com"));
    assert_eq!((crd.spec.group.as_str(), crd.spec.scope.as_str()), ("ml.example.com", "Namespaced"));
    assert_eq!(crd.spec.names.kind, "Experiment");
    let [version] = crd.spec.versions.as_slice() else { panic!("one version") };
    assert_eq!((version.name.as_str(), version.served, version.storage), ("v1", true, true));
    assert!(version.subresources.as_ref().is_some_and(|all| all.status.is_some()));
    let schema = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()).expect("a schema");
    let schema = serde_json::to_value(schema).unwrap();
    let phase = &schema["properties"]["status"]["properties"]["phase"];
    assert_eq!(phase["enum"], serde_json::json!(["Pending", "Running", "Succeeded", "Failed"]));
    // The API server must store what the client sent.
    assert!(!schema.to_string().contains("\"default\"") && !schema.to_string().contains("\"required\""), "{schema}");

    assert!(kind("Pod").crd().is_none());
    assert!(kind("PyTorchJob").crd().is_none());
}

/// Runs the program of this crate in `folder`, without the database variables of the caller's environment.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    run_program(Path::new(env!("CARGO_BIN_EXE_outside")), folder, arguments)
}

/// Runs a program in `folder`, without the database of the caller's environment.
fn run_program(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    program_in(program, folder, arguments).output().expect("the program runs")
}

fn program_in(program: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    for variable in ["DATABASE_URL", "MYSQL_HOST", "MYSQL_DB_NAME", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command.current_dir(folder).args(arguments);
    command
}

/// The standard output of a successful run.
fn output(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The rows of a query, cells joined by `|`.
fn query(folder: &Path, sql: &'static str) -> Vec<String> {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("outside.db")).read_only(true);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        use sqlx::Connection as _;
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let cell = |row: &sqlx::sqlite::SqliteRow, place| {
            row.try_get_unchecked::<Option<String>, _>(place).unwrap().unwrap_or_else(|| "NULL".into())
        };
        rows.iter().map(|row| (0..row.len()).map(|place| cell(row, place)).collect::<Vec<_>>().join("|")).collect()
    })
}

#[test]
fn the_program_imports_what_kubectl_prints() {
    let folder = tempfile::tempdir().unwrap();
    let objects = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects");
    let counts = output(folder.path(), &["import", "--database-url", "sqlite://outside.db", objects]);
    let counts: Vec<Vec<&str>> = counts.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(counts[0], ["KIND", "TABLE", "READ", "WRITTEN", "UNCHANGED", "STALE", "LEFT", "OUT", "REJECTED"]);
    assert_eq!(
        counts[1..],
        [
            ["Experiment", "experiment", "2", "2", "0", "0", "0", "0"],
            ["Pod", "pod_facts", "3", "2", "0", "0", "1", "0"],
            ["PyTorchJob", "pytorchjob", "2", "2", "0", "0", "0", "0"],
        ]
    );

    let rows = query(
        folder.path(),
        "SELECT name, owner, team, dataset_namespace, dataset_name, deadline, phase, best_value FROM experiment ORDER BY name",
    );
    assert_eq!(
        rows,
        [
            "churn|ada|growth|data|customers-2026|2026-04-01 04:00:00.000000|Running|0.875",
            "idea|NULL|NULL|NULL|NULL|NULL|Pending|NULL"
        ]
    );
    let tags = "SELECT name, value FROM experiment JOIN experiment_tags ON obj_uid = uid ORDER BY value";
    assert_eq!(query(folder.path(), tags), ["churn|churn", "churn|retail"]);
    let rows = query(
        folder.path(),
        "SELECT name, owner_uid, node, image, phase, host_ip, pod_ip, res_version FROM pod_facts ORDER BY name",
    );
    assert_eq!(
        rows,
        [
            "train-master-0|9d0f4cc1-3c1f-4a0e-8d6e-6a8cfe3f2b02|NULL|registry.example/train@sha256:0f1e|Pending|NULL|NULL|1850",
            "web-6d4cf56db6-4xkzq|5b0c2f0e-7d3b-4b8e-9a55-2f3f6f2f7d01|node-7|registry.example/web:1.27|Running|192.168.4.7|10.244.3.19|1842",
        ]
    );
    let rows =
        query(folder.path(), "SELECT name, replicas, state, start_time, completion_time FROM pytorchjob ORDER BY name");
    assert_eq!(
        rows,
        ["train|4|Succeeded|2026-03-09 20:39:59.000000|2026-03-09 21:12:30.000000", "unseen|0|NULL|NULL|NULL"]
    );

    // Fields that the small structs lack are in the JSON; only managedFields are cut out.
    let rows = query(
        folder.path(),
        "SELECT json ->> '$.status.podIPs[1].ip', json ->> '$.metadata.managedFields' FROM pod_facts WHERE node IS NOT NULL",
    );
    assert_eq!(rows, ["2001:db8:85a3:1234:5678:8a2e:0370:7334|NULL"]);
    let rows = query(
        folder.path(),
        "SELECT name, key, value FROM pod_facts_labels JOIN pod_facts ON uid = obj_uid
         UNION ALL SELECT name, key, value FROM experiment_labels JOIN experiment ON uid = obj_uid ORDER BY 2",
    );
    assert_eq!(
        rows,
        ["web-6d4cf56db6-4xkzq|app|web", "web-6d4cf56db6-4xkzq|pod-template-hash|6d4cf56db6", "churn|tier|gold"]
    );
    let rows = query(
        folder.path(),
        "SELECT pod_facts.name, pytorchjob.name FROM pod_facts JOIN pytorchjob ON pytorchjob.uid = owner_uid",
    );
    assert_eq!(rows, ["train-master-0|train"]);
}

#[test]
fn each_column_knows_where_its_value_is() {
    let paths = |name: &str| -> Vec<String> {
        let path = |column: &ingester_core::schema::Column| match (column.path, column.computed) {
            (Some(path), true) => format!("{} of {path}", column.name),
            (Some(path), false) => path.to_string(),
            (None, _) => String::from("-"),
        };
        kind(name).table().indexed().iter().map(path).collect()
    };
    assert_eq!(
        paths("Experiment"),
        [
            "spec.owner.name",
            "spec.owner.team",
            "spec.dataset.namespace",
            "spec.dataset.name",
            "spec.deadline",
            "status.phase",
            "status.bestValue"
        ]
    );
    assert_eq!(
        paths("Pod"),
        ["owner_uid of metadata", "spec.nodeName", "image of spec", "status.phase", "status.hostIP", "status.podIP"]
    );
    assert_eq!(
        paths("PyTorchJob"),
        ["replicas of spec", "state of status", "status.startTime", "status.completionTime"]
    );
    // The result of a function is not the value itself.
    assert_eq!(kind("Pod").table().place("spec"), None);
}

#[test]
fn the_program_lists_its_own_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let listed: serde_json::Value = serde_json::from_str(&output(folder.path(), &["kinds", "-o", "json"])).unwrap();
    let listed: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| (kind["apiVersion"].as_str().unwrap(), kind["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(listed, [("ml.example.com/v1", "Experiment"), ("v1", "Pod"), ("kubeflow.org/v1", "PyTorchJob")]);

    for dialect in ["mysql", "sqlite"] {
        let all = output(folder.path(), &["schema", "print", "--dialect", dialect]);
        assert_eq!(all.matches("CREATE TABLE").count(), 3 * outside::KINDS.len() + 1);
        for kind in outside::KINDS {
            let one = output(folder.path(), &["schema", "print", "--dialect", dialect, kind.kind()]);
            assert_eq!(one.matches("CREATE TABLE").count(), 3 + kind.table().many.len());
            assert!(all.contains(one.trim()), "{} is missing", kind.kind());
        }
    }

    // Kinds of other projects have no CRD here.
    let crds = output(folder.path(), &["crds"]);
    let names: Vec<&str> = crds.lines().filter_map(|line| line.strip_prefix("  name: ")).collect();
    assert_eq!(names, ["experiments.ml.example.com"]);
}

#[test]
fn the_generated_sql_is_current() {
    ingester_store::migrate::assert_current(outside::KINDS, concat!(env!("CARGO_MANIFEST_DIR"), "/generated-sql"));
}

#[test]
fn the_program_carries_its_migrations_along() {
    let folder = tempfile::tempdir().unwrap();
    let ran = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(ran(&["schema", "apply"]).contains("ran: 0001_create_tables"));
    assert!(ran(&["schema", "apply"]).contains("has run every migration"));
    assert!(ran(&["schema", "verify"]).contains("has the released schema"));
}

#[test]
fn program_without_generated_sql_can_write_its_first_migration() {
    // cargo builds examples beside the programs.
    let program = Path::new(env!("CARGO_BIN_EXE_outside")).parent().unwrap().join("examples/first_use");
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = run_program(&program, folder.path(), arguments);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let remedy = "run `ingester schema generate` and build the program again";
    let database = ["--database-url", "sqlite://first.db"];

    let (code, said) = run(&[&["schema", "apply"], &database[..]].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(remedy), "{said}");
    let objects = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects");
    let (code, said) = run(&[&["import", objects], &database[..]].concat());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the database lacks node, node_labels, node_annotations") && said.contains(remedy), "{said}");

    let (code, said) = run(&["schema", "generate", "--out", "generated-sql"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("new migration: 0001_create_tables"), "{said}");
    let (code, said) = run(&[&["schema", "apply", "--sql", "generated-sql"], &database[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ran: 0001_create_tables"), "{said}");
}

#[test]
fn tables_follow_the_structs_of_a_program_without_migrations() {
    let program = Path::new(env!("CARGO_BIN_EXE_outside")).parent().unwrap().join("examples/follows");
    let folder = tempfile::tempdir().unwrap();
    let objects = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "uid": "u", "resourceVersion": "7"},
        "spec": {"providerID": "kind://a"}}"#;
    std::fs::write(folder.path().join("node.json"), objects).unwrap();
    let run = |release: &str, arguments: &[&str]| {
        let mut command = program_in(&program, folder.path(), arguments);
        let output = command.env("RELEASE", release).env("DATABASE_URL", "sqlite://outside.db").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run("1", &["import", "node.json"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(query(folder.path(), "SELECT name, ingest_version FROM node"), ["a|1"]);
    // The second release has one more column.
    let (code, said) = run("2", &["schema", "diff"]);
    assert!(code == Some(1) && said.contains("`ingester schema apply` makes these changes"), "{said}");
    let (code, said) = run("2", &["import", "node.json"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(query(folder.path(), "SELECT provider, ingest_version FROM node"), ["kind://a|2"]);
    assert_eq!(run("2", &["schema", "diff"]).0, Some(0));
    assert_eq!(run("2", &["schema", "verify"]).0, Some(0));
    // In the third release it has values of another type.
    let (code, said) = run("3", &["import", "node.json"]);
    assert!(code == Some(2) && said.contains("make it with `ingester schema apply`"), "{said}");
    let (code, said) = run("3", &["schema", "apply"]);
    assert!(code == Some(2) && said.contains("`ingester schema apply --allow-destructive` makes them"), "{said}");
    assert_eq!(query(folder.path(), "SELECT provider FROM node"), ["kind://a"]);
    // The first release continues beside it.
    let (code, said) = run("1", &["import", "node.json"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn the_compiled_descriptors_match_the_proto_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    // Kubernetes' own messages are in the folder of the Michelangelo API.
    let kubernetes = root.join("../../../crd-specs/proto");
    let mut compiler = protox::Compiler::new([&root, &kubernetes]).unwrap();
    compiler.include_imports(true).include_source_info(false);
    compiler.open_file("experiment.proto").unwrap_or_else(|error| panic!("{error:?}"));
    let compiled = compiler.encode_file_descriptor_set();
    let path = root.join("descriptors.bin");
    if std::env::var_os("INGESTER_UPDATE").is_some() {
        std::fs::write(&path, &compiled).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == compiled, "run this test with INGESTER_UPDATE=1");
}

#[test]
fn an_object_of_our_own_kind_is_stored_as_protobuf_too() {
    let folder = tempfile::tempdir().unwrap();
    let objects = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects/experiments.yaml");
    output(folder.path(), &["import", "--database-url", "sqlite://outside.db", objects]);
    let uid = query(folder.path(), "SELECT uid FROM experiment WHERE name = 'churn'");
    let text =
        output(folder.path(), &["proto", "decode", "experiment", &uid[0], "--database-url", "sqlite://outside.db"]);
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(object["kind"], "Experiment");
    assert_eq!(
        object["spec"],
        serde_json::json!({
            "owner": {"name": "ada", "team": "growth"},
            "dataset": {"namespace": "data", "name": "customers-2026"},
            "deadline": "2026-04-01T04:00:00Z",
            "maxTrials": 40,
        })
    );
    assert_eq!(object["status"], serde_json::json!({"phase": "Running", "bestValue": 0.875}));
}
