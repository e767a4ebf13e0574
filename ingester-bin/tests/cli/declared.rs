//! Kinds of a file: from a CRD to rows without Rust.

use crate::program::Folder;

/// CRDs that nobody wrote for this program, with objects as they are found in clusters.
const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/crds");

#[test]
fn a_crd_that_is_scaffolded_takes_its_objects_as_it_is() {
    for (crd, kind, rows, selector, selected) in [
        ("certificates.cert-manager.io", "certificate", 5, "spec.issuerRef.kind=ClusterIssuer", "shop"),
        ("applications.argoproj.io", "application", 5, "spec.project=storefront", "shop"),
        ("prometheuses.monitoring.coreos.com", "prometheus", 5, "status.availableReplicas=4", "cluster"),
        ("destinationrules.networking.istio.io", "destinationrule", 4, "spec.host=nowhere", "nowhere"),
    ] {
        let folder = Folder::new();
        let scaffolded = folder.run(&["scaffold", &format!("{CRDS}/{crd}.yaml")]).exits(0).out;
        let objects = format!("{CRDS}/objects/{kind}.yaml");
        // As it is, and with every field that it offers.
        for (name, text) in [("kinds.yaml", scaffolded.clone()), ("all.yaml", scaffolded.replace("  # - {", "  - {"))] {
            folder.write(name, text);
            let ran = folder.import(&["--kinds", name, &objects]).exits(0);
            assert_eq!(
                ran.counts(&scaffolded.split("kind: ").nth(1).unwrap().lines().next().unwrap().to_owned())[0],
                rows
            );
        }
        let all = ["--kinds", "all.yaml", "--database-url", "sqlite://test.db"];
        let found =
            folder.run(&[&["get", kind, "-A", "--field-selector", selector, "-o", "name"], &all[..]].concat()).exits(0);
        assert!(found.out.trim_end().ends_with(&format!("/{selected}")), "{}", found.out);
        folder.run(&[&["schema", "verify"], &all[..]].concat()).exits(0);
        // The second file had more columns, so every row was written again, by the next definition.
        let versions = folder.query(&format!("SELECT DISTINCT ingest_version FROM {kind}"));
        assert_eq!(versions, ["2"], "{kind}");
        let empty =
            folder.query(&format!("SELECT count(*) FROM {kind} WHERE json_extract(json, '$.metadata.name') != name"));
        assert_eq!(empty, ["0"]);
    }
}

#[test]
fn what_cannot_be_scaffolded_is_said_with_what_to_do() {
    let folder = Folder::new();
    folder.write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n");
    folder.run(&["scaffold", "pod.yaml"]).exits(2).says(&["pod.yaml: it is no CustomResourceDefinition"]);
    folder.run(&["scaffold", "none.yaml"]).exits(2).says(&["none.yaml cannot be read"]);
    folder.run(&["scaffold"]).exits(2).says(&["CRD"]);
}

const JOBS: &str = "
kinds:
- group: example.com
  version: v1
  kind: Job
  namespaced: true
  columns:
  - {column: phase, path: .status.phase, type: VARCHAR(20), default: Pending}
";

const OBJECT: &str = r#"{"apiVersion": "example.com/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "x", "uid": "u1",
    "resourceVersion": "5"}, "spec": {"owner": "ann", "replicas": 3}, "status": {}}"#;

#[test]
fn declared_kinds_stand_beside_those_that_are_built_in() {
    let folder = Folder::new();
    folder.write("jobs.yaml", JOBS);
    let kinds = folder.run(&["kinds", "--kinds", "jobs.yaml"]).exits(0).out;
    assert_eq!(kinds.lines().count(), 1 + 13 + 1, "{kinds}");
    // `builtIn: false`, and the same from a configuration.
    folder.write("alone.yaml", format!("builtIn: false\n{JOBS}"));
    let config = "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}\ningester: {kindsFile: alone.yaml}\n";
    folder.write("ingester.yaml", config);
    folder.write("a.json", OBJECT);
    let ran = folder.run(&["import", "--config", "ingester.yaml", "a.json"]).exits(0);
    assert_eq!(ran.counts("Job"), [1, 1, 0, 0, 0, 0]);
    assert!(ran.err.contains("made 3 tables"), "{}", ran.err);
    assert_eq!(folder.query("SELECT name, phase FROM job"), ["a|Pending"]);
    // The arguments override the configuration, and a kind may not be declared that is built in.
    let twice = JOBS.replace("example.com", "michelangelo.api").replace("kind: Job", "kind: Model");
    folder.write("twice.yaml", twice);
    let ran = folder.run(&["kinds", "--kinds", "twice.yaml"]).exits(2);
    ran.says(&["`michelangelo.api/v2 Model`", "keep one of them"]);
    folder.run(&["kinds", "--kinds", "none.yaml"]).exits(2).says(&["none.yaml cannot be read"]);
}

#[test]
fn every_mistake_of_a_file_is_said_at_once_with_its_line() {
    let folder = Folder::new();
    folder.write("jobs.yaml", JOBS.replace(".status.phase", "status.phase").replace("version: v1", "version: 1"));
    let ran = folder.run(&["get", "jobs", "--kinds", "jobs.yaml"]).exits(2);
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(
        lines,
        [
            "error: jobs.yaml line 4: kinds[0].version: expected a text (in quotes), found `1`",
            "error: jobs.yaml line 8: kinds[0].columns[0].path: a path begins with a point: `.status.phase`",
        ]
    );
}

#[test]
fn tables_follow_a_file_that_adds_and_are_changed_by_command_where_it_does_not() {
    let folder = Folder::new();
    let alone = format!("builtIn: false\n{JOBS}");
    let target = ["--kinds", "jobs.yaml", "--database-url", "sqlite://test.db"];
    folder.write("jobs.yaml", &alone);
    folder.write("a.json", OBJECT);
    folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    // A column more: the table gets it, and the import fills it.
    let more = format!("{alone}  - {{column: owner, path: .spec.owner, type: VARCHAR(100)}}\n");
    folder.write("jobs.yaml", &more);
    let ran = folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert_eq!(ran.counts("Job")[1], 1);
    assert_eq!(folder.query("SELECT phase, owner FROM job"), ["Pending|ann"]);
    // Another path: the same columns, another definition.
    folder.write("jobs.yaml", more.replace(".spec.owner", ".metadata.name"));
    folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert_eq!(folder.query("SELECT owner, ingest_version FROM job"), ["a|3"]);
    // A column of another kind of values is no addition.
    let other = more.replace("path: .spec.owner, type: VARCHAR(100)", "path: .spec.replicas, type: INT");
    folder.write("jobs.yaml", &other);
    let ran = folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(2);
    ran.says(&["owner", "ingester schema apply --kinds FILE"]);
    assert_eq!(folder.query("SELECT owner FROM job"), ["a"]);
    folder.run(&[&["schema", "diff"], &target[..]].concat()).exits(1);
    folder.run(&[&["schema", "apply"], &target[..]].concat()).exits(2).says(&["`owner`", "--allow-destructive"]);
    folder.run(&[&["schema", "apply", "--allow-destructive"], &target[..]].concat()).exits(0);
    folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert_eq!(folder.query("SELECT owner FROM job"), ["3"]);
    // What is not declared any more is left, and dropped only by command.
    folder.write("jobs.yaml", &alone);
    folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert_eq!(folder.query("SELECT owner FROM job"), ["3"]);
    folder.run(&[&["schema", "apply"], &target[..]].concat()).exits(0).says(&["left as it is"]);
    folder.run(&[&["schema", "apply", "--allow-destructive"], &target[..]].concat()).exits(0);
    assert_eq!(folder.query("SELECT count(*) FROM pragma_table_info('job') WHERE name = 'owner'"), ["0"]);
}

#[test]
fn a_folder_of_migrations_is_kept_for_the_kinds_of_a_file() {
    let folder = Folder::new();
    let alone = format!("builtIn: false\n{JOBS}");
    let generate = ["schema", "generate", "--kinds", "jobs.yaml", "--out", "sql"];
    folder.write("jobs.yaml", &alone);
    folder.run(&generate).exits(0);
    let apply = ["schema", "apply", "--kinds", "jobs.yaml", "--sql", "sql", "--database-url", "sqlite://test.db"];
    folder.run(&apply).exits(0);
    folder.write("jobs.yaml", format!("{alone}  - {{column: owner, path: .spec.owner, type: VARCHAR(100)}}\n"));
    folder.run(&[&generate[..], &["--check"]].concat()).exits(1);
    let ran = folder.run(&generate).exits(0);
    assert!(ran.out.contains("owner"), "{}", ran.out);
    folder.run(&apply).exits(0);
    folder
        .run(&["schema", "verify", "--kinds", "jobs.yaml", "--sql", "sql", "--database-url", "sqlite://test.db"])
        .exits(0);
    folder.write("a.json", OBJECT);
    folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert_eq!(folder.query("SELECT owner FROM job"), ["ann"]);
}
