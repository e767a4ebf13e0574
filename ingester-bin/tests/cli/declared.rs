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
            assert_eq!(ran.counts(scaffolded.split("kind: ").nth(1).unwrap().lines().next().unwrap())[0], rows);
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
fn the_rights_for_the_kinds_that_are_built_in_are_those_that_are_deployed() {
    let deployed = include_str!("../../../deploy/clusterrole.yaml");
    let uncommented = |text: &str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let folder = Folder::new();
    assert_eq!(uncommented(&folder.run(&["rbac"]).exits(0).out), uncommented(deployed));
    // Objects of somebody else are only read.
    folder.write("jobs.yaml", format!("builtIn: false\n{JOBS}"));
    let role = folder.run(&["rbac", "--kinds", "jobs.yaml", "--name", "jobs"]).exits(0).out;
    assert!(role.contains("name: jobs") && role.contains("- jobs\n  verbs: [list, watch]\n"), "{role}");
    folder.write(
        "ensured.yaml",
        format!("builtIn: false\n{}", JOBS.replace("  columns:", "  finalizer: ensure\n  columns:")),
    );
    let role = folder.run(&["rbac", "--kinds", "ensured.yaml"]).exits(0).out;
    assert!(role.contains("verbs: [list, watch, patch, delete]"), "{role}");
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

/// KubeDL's kinds, declared, with the lives of some jobs.
const KUBEDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/kubedl");

/// What a comment above a state says: `# Restarting, the condition is gone: Restarting, 08:02:00 (kept), none.`
fn wanted(comment: &str) -> Option<[String; 3]> {
    let (_, wanted) = comment.strip_prefix("# ")?.trim_end_matches('.').split_once(": ")?;
    let mut parts = wanted.split(", ").map(|part| part.split(" (").next().unwrap_or(part).to_owned());
    let wanted = [parts.next()?, parts.next()?, parts.next()?];
    let is_time = |text: &String| text == "none" || (text.len() == 8 && text.as_bytes()[2] == b':');
    (is_time(&wanted[1]) && is_time(&wanted[2]) && parts.next().is_none()).then_some(wanted)
}

#[test]
fn jobs_of_kubedl_are_rows_of_one_view_at_every_state_of_their_lives() {
    let folder = Folder::new();
    let kinds = format!("{KUBEDL}/kinds.yaml");
    let mut states = 0;
    for kind in ["tfjob", "pytorchjob", "mpijob", "marsjob"] {
        let text = std::fs::read_to_string(format!("{KUBEDL}/objects/{kind}.yaml")).unwrap();
        // `as before`
        let mut before = None;
        for document in text.split("\n---\n") {
            let said = document.lines().find_map(wanted);
            let wanted = said.or(before).unwrap_or_else(|| panic!("{kind}: {document}"));
            let file = folder.write("state.yaml", document);
            folder.import(&["--kinds", &kinds, file.to_str().unwrap()]).exits(0);
            let sql = format!(
                "SELECT status, coalesce(substr(gmt_job_running, 12, 8), 'none'), coalesce(substr(gmt_job_finished, 12, 8), 'none')
                 FROM job_info WHERE lower(kind) = '{kind}'"
            );
            assert_eq!(folder.query(&sql), [wanted.join("|")], "{kind}: {document}");
            before = Some(wanted);
            states += 1;
        }
    }
    assert_eq!(states, 27);
    let columns = "name, kind, tenant, owner, deploy_region, remark, deleted, is_in_etcd, version";
    assert_eq!(
        folder.query(&format!("SELECT {columns} FROM job_info ORDER BY name")),
        [
            "bert|PyTorchJob|größe ☃||NULL|NULL|0|1|2005",
            "etl|MarsJob|||NULL|EnableTensorBoard|0|1|4008",
            "horovod|MPIJob|||NULL|NULL|0|1|3006",
            "mnist|TFJob|vision|alice|eu-west|EnableTensorBoard|0|1|1008",
        ]
    );
    // What was deleted while it ran has stopped then; what had ended stays as it was. The process may say its region.
    folder.query("UPDATE kubedl_tfjob SET status = 'Restarting', delete_time = '2026-07-02 00:00:00.000000'");
    folder.query("UPDATE kubedl_pytorchjob SET delete_time = '2026-07-02 00:00:00.000000'");
    folder.query("INSERT INTO ingester_settings VALUES ('deploy_region', 'here')");
    let columns = "name, status, gmt_job_finished, deleted, is_in_etcd, deploy_region";
    assert_eq!(
        folder.query(&format!("SELECT {columns} FROM job_info ORDER BY name")),
        [
            "bert|Failed|2026-07-02 11:20:05.000000|1|0|here",
            "etl|Succeeded|2026-07-04 13:00:00.000000|0|1|here",
            "horovod|Failed|NULL|0|1|here",
            "mnist|Stopped|2026-07-02 00:00:00.000000|1|0|here",
        ]
    );
    // Pods that KubeDL manages, and no others; the statistics of its console.
    folder
        .import(&["--kinds", &kinds, &format!("{KUBEDL}/objects/pod.yaml"), &format!("{KUBEDL}/objects/event.yaml")])
        .exits(0);
    let owners = "SELECT CASE owner WHEN '' THEN 'Anonymous' ELSE owner END AS who, count(*) FROM job_info GROUP BY who ORDER BY who";
    assert_eq!(folder.query(owners), ["Anonymous|3", "alice|1"]);
    let pods = folder.query("SELECT name, replica_type FROM kubedl_pod ORDER BY name");
    assert_eq!(
        pods,
        [
            "bert-master-0|master",
            "bert-sidecar|NULL",
            "bert-worker-0|worker",
            "bert-worker-1|worker",
            "bert-worker-2|worker",
            "mnist-ps-0|ps",
            "mnist-worker-0|worker",
            "mnist-worker-1|worker",
        ]
    );
}
