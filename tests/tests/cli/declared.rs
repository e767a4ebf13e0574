//! Kinds of a file: from a CRD to rows without Rust.

use crate::program::{Folder, RunOutput, finish};

/// CRDs that were not written for this program, with objects as they exist in clusters.
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
        // Unchanged, and with every field that it offers.
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
    // Objects of other projects are only read.
    folder.write("jobs.yaml", format!("builtIn: false\n{JOBS}"));
    let role = folder.run(&["rbac", "--kinds", "jobs.yaml", "--name", "jobs"]).exits(0).out;
    assert!(role.contains("name: jobs") && role.contains("- jobs\n  verbs: [list, watch]\n"), "{role}");
    assert!(role.contains("do not say `evictable`"), "{role}");
    for (says, verbs, reason) in [
        ("finalizer: ensure", "list, watch, patch, delete", "`delete` is for objects that leave etcd"),
        (
            "finalizer: ensure\n  evictable: true",
            "list, watch, patch, delete",
            "`delete` is for objects that leave etcd",
        ),
        ("finalizer: ensure\n  evictable: false", "list, watch, patch", "`patch` adds and removes the finalizer.\n"),
        ("evictable: true", "list, watch, delete", "`delete` is for objects that leave etcd"),
        ("evictable: false", "list, watch", "Nothing is changed on these.\n"),
        ("immutable: true", "list, watch, patch, delete", "`delete` is for objects that leave etcd"),
    ] {
        let file = JOBS.replace("  columns:", &format!("  {says}\n  columns:"));
        folder.write("jobs.yaml", format!("builtIn: false\n{file}"));
        let role = folder.run(&["rbac", "--kinds", "jobs.yaml"]).exits(0).out;
        assert!(role.contains(&format!("- jobs\n  verbs: [{verbs}]\n")) && role.contains(reason), "{says}\n{role}");
    }
}

#[test]
fn the_role_for_restores_as_callers_is_printed_apart() {
    let folder = Folder::new();
    folder.write("jobs.yaml", format!("builtIn: false\n{JOBS}"));
    let usual = folder.run(&["rbac", "--kinds", "jobs.yaml"]).exits(0).out;
    assert!(!usual.contains("impersonate"), "{usual}");
    let constrained = folder.run(&["rbac", "--restore", "--kinds", "jobs.yaml", "--name", "restores"]).exits(0).out;
    assert!(constrained.contains("  name: restores\n"), "{constrained}");
    for part in [
        "resources: [users, groups]\n  verbs: [\"impersonate:user-info\"]\n",
        "  - jobs\n  verbs: [\"impersonate-on:user-info:get\", \"impersonate-on:user-info:create\"]\n",
        "  - jobs/status\n  verbs: [\"impersonate-on:user-info:patch\"]\n",
    ] {
        assert!(constrained.contains(part), "{constrained}");
    }
    assert!(!constrained.contains("[impersonate]") && !constrained.contains("watch"), "{constrained}");
    let plain = folder.run(&["rbac", "--restore=plain", "--kinds", "jobs.yaml"]).exits(0).out;
    assert!(plain.contains("- apiGroups: [\"\"]\n  resources: [users, groups]\n  verbs: [impersonate]\n"), "{plain}");
    assert!(!plain.contains("jobs") && !plain.contains("impersonate-on"), "{plain}");
}

#[test]
fn a_kind_has_the_short_names_of_its_crd() {
    let folder = Folder::new();
    let crd = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/crds/certificates.cert-manager.io.yaml");
    std::fs::copy(crd, folder.path().join("crd.yaml")).unwrap();
    let file = "builtIn: false\nkinds:\n- {group: cert-manager.io, version: v1, kind: Certificate, crd: crd.yaml, columns: []}\n";
    folder.write("kinds.yaml", file);
    for name in ["cert", "CERTS"] {
        assert!(folder.run(&["kinds", name, "--kinds", "kinds.yaml"]).exits(0).out.contains("Certificate"), "{name}");
    }
    folder.run(&["kinds", "cer", "--kinds", "kinds.yaml"]).exits(2).says(&["unknown kind `cer`"]);
}

#[test]
fn a_file_may_be_named_by_the_environment_and_an_unknown_kind_says_so() {
    let folder = Folder::new();
    folder.write("jobs.yaml", JOBS);
    let named = |value: &str| finish(folder.command(&["kinds", "jobs"]).env("INGESTER_KINDS", value));
    assert!(named("jobs.yaml").exits(0).out.contains("Job"));
    let remedy = "if a file declares it, give --kinds FILE or set INGESTER_KINDS";
    named("").exits(2).says(&["unknown kind `jobs`", remedy]);
    named("none.yaml").exits(2).says(&["the file of kinds none.yaml cannot be read"]);
    let forgotten = folder.run(&["kinds", "jobz", "--kinds", "jobs.yaml"]).exits(2);
    assert!(!forgotten.err.contains("INGESTER_KINDS"), "{}", forgotten.err);
    forgotten.says(&["did you mean `Job`?"]);
}

#[test]
fn a_redundant_key_is_a_warning_that_names_both_and_the_remedy() {
    let folder = Folder::new();
    let kinds = format!("builtIn: false\n{}", JOBS.replace("  columns:", "  keys: [[phase, namespace]]\n  columns:"));
    folder.write("kinds.yaml", &kinds);
    folder.write("without.yaml", kinds.replace("default: Pending}", "default: Pending, key: false}"));
    let warning = [
        "warning: key `phase` (phase) of `job` is redundant: key `phase_namespace` (phase, namespace) finds",
        "`key: false`",
    ];
    let generate = |kinds: &str| folder.run(&["schema", "generate", "--out", "sql", "--check", "--kinds", kinds]);
    generate("kinds.yaml").exits(1).says(&warning);
    assert!(!generate("without.yaml").exits(1).err.contains("warning"));
    folder.run(&["schema", "apply", "--kinds", "kinds.yaml", "--database-url", "sqlite://test.db"]).exits(0);
    folder
        .run(&["schema", "diff", "--kinds", "kinds.yaml", "--database-url", "sqlite://test.db"])
        .exits(0)
        .says(&warning);
}

#[test]
fn what_cannot_be_scaffolded_is_said_with_what_to_do() {
    let folder = Folder::new();
    folder.write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n");
    folder.run(&["scaffold", "pod.yaml"]).exits(2).says(&["pod.yaml: it is not a CustomResourceDefinition"]);
    folder.run(&["scaffold", "none.yaml"]).exits(2).says(&["none.yaml cannot be read"]);
    folder.run(&["scaffold"]).exits(2).says(&["CRD"]);
    let [one, other] =
        ["certificates.cert-manager.io", "applications.argoproj.io"].map(|crd| format!("{CRDS}/{crd}.yaml"));
    folder.run(&["scaffold", &one, &one]).exits(2).says(&["the CRD of Certificate in cert-manager.io appears twice"]);
    folder.run(&["scaffold", "--rust", &one, &other]).exits(2).says(&["there are Certificate, Application"]);
}

#[test]
fn several_crds_become_one_file_of_kinds() {
    let folder = Folder::new();
    let [one, other] =
        ["certificates.cert-manager.io", "applications.argoproj.io"].map(|crd| format!("{CRDS}/{crd}.yaml"));
    folder.write("kinds.yaml", folder.run(&["scaffold", &one, &other]).exits(0).out);
    let objects = ["certificate", "application"].map(|kind| format!("{CRDS}/objects/{kind}.yaml"));
    let ran = folder.import(&["--kinds", "kinds.yaml", &objects[0], &objects[1]]).exits(0);
    assert_eq!([ran.counts("Certificate")[0], ran.counts("Application")[0]], [5, 5]);
}

#[test]
fn a_file_that_does_not_say_what_is_stored_for_absent_values_is_named_where_its_schema_is_looked_at() {
    let folder = Folder::new();
    let job = |name: &str, says: &str| {
        format!(
            "- {{group: example.com, version: v1, kind: {name}, namespaced: true{says}, columns: [{{column: a, path: .spec.a, type: INT}}]}}\n"
        )
    };
    folder.write("kinds.yaml", format!("builtIn: false\nkinds:\n{}{}", job("Job", ""), job("Task", ", absent: null")));
    let warning =
        "warning: kinds.yaml: Job does not say what is stored where an object has no value; write `absent: null`";
    let generate = |out: &str| {
        folder.run(&["schema", "generate", "--kinds", "kinds.yaml", "--name", "first", "--out", out]).exits(0)
    };
    assert_eq!(generate("sql").says(&[warning]).err.matches("not say what").count(), 1);
    let target = ["--kinds", "kinds.yaml", "--database-url", "sqlite://test.db"];
    let ran = folder.run(&[&["schema", "apply"], &target[..]].concat()).exits(0);
    assert!(!ran.err.contains("not say what"), "{}", ran.err);
    folder.run(&[&["schema", "diff"], &target[..]].concat()).exits(0).says(&[warning]);
    folder.write("kinds.yaml", format!("builtIn: false\nkinds:\n{}", job("Job", ", absent: null")));
    assert!(!generate("other").err.contains("not say what"));
}

#[test]
fn a_kind_of_a_file_becomes_a_struct() {
    let folder = Folder::new();
    folder.write("jobs.yaml", JOBS);
    let arguments = ["scaffold", "--rust", "--kinds", "jobs.yaml", "--kind"];
    let written = folder.run(&[&arguments[..], &["jobs"]].concat()).exits(0).out;
    for part in ["pub struct Job {", "#[index(column = \"phase\", with = phase, type = \"VARCHAR(20)\")]"] {
        assert!(written.contains(part), "{part} is not in:\n{written}");
    }
    folder.run(&[&arguments[..], &["Model"]].concat()).exits(2).says(&["Model is built in, so it is a struct already"]);
    folder.run(&[&arguments[..], &["Jub"]].concat()).exits(2).says(&["`Jub`"]);
    folder.run(&["scaffold", "--kind", "Job", "--kinds", "jobs.yaml"]).exits(2).says(&["--rust"]);
}

#[test]
fn the_version_has_the_prefix_of_the_file_of_the_environment() {
    let folder = Folder::new();
    folder.write("jobs.yaml", format!("prefix: data.example.com\n{JOBS}"));
    let version = |file: &str| finish(folder.command(&["--version"]).env("INGESTER_KINDS", file)).exits(0).out;
    assert!(version("jobs.yaml").ends_with("\nprefix of finalizer and annotations: data.example.com\n"));
    assert_eq!(version("none.yaml"), version(""));
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
    // The arguments override the configuration, and a built-in kind must not be declared.
    let twice = JOBS.replace("example.com", "michelangelo.api").replace("kind: Job", "kind: Model");
    folder.write("twice.yaml", twice);
    let ran = folder.run(&["kinds", "--kinds", "twice.yaml"]).exits(2);
    ran.says(&["`michelangelo.api/v2 Model`", "keep one of them"]);
    folder.run(&["kinds", "--kinds", "none.yaml"]).exits(2).says(&["none.yaml cannot be read"]);
}

#[test]
fn several_files_folders_and_documents_declare_kinds_together() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("kinds")).unwrap();
    let of_kind = |kind: &str| JOBS.replace("kind: Job", &format!("kind: {kind}"));
    folder.write("jobs.yaml", format!("builtIn: false\n{JOBS}---{}", of_kind("Build")));
    folder.write("kinds/b.yaml", of_kind("Test"));
    folder.write("kinds/a.yaml", of_kind("Run"));
    folder.write("kinds/README.md", "not a file of kinds");
    let kinds = |ran: RunOutput| {
        let lines = ran.exits(0).out;
        lines.lines().skip(1).map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["Job", "Build", "Run", "Test"];
    assert_eq!(kinds(folder.run(&["kinds", "--kinds", "jobs.yaml", "--kinds", "kinds"])), all);
    assert_eq!(kinds(folder.run(&["kinds", "--kinds", "jobs.yaml,kinds"])), all);
    assert_eq!(kinds(finish(folder.command(&["kinds"]).env("INGESTER_KINDS", "jobs.yaml,kinds/"))), all);
    // From a configuration.
    let config = "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}\ningester: {kindsFile: [jobs.yaml, kinds]}\n";
    folder.write("ingester.yaml", config);
    folder.write("a.json", OBJECT.replace("\"Job\"", "\"Test\""));
    folder.run(&["import", "--config", "ingester.yaml", "a.json"]).exits(0);
    assert_eq!(folder.query("SELECT name, phase FROM test"), ["a|Pending"]);
    // Every command has all of them.
    let target = ["--kinds", "kinds", "--kinds", "jobs.yaml"];
    let printed = folder.run(&[&["schema", "print"], &target[..]].concat()).exits(0).out;
    for table in ["job", "build", "run", "test"] {
        assert!(printed.contains(&format!("`{table}_labels`")), "{table}: {printed}");
    }
    folder.run(&[&["schema", "generate", "--out", "sql"], &target[..]].concat()).exits(0);
    let lock = std::fs::read_to_string(folder.path().join("sql/schema.lock.json")).unwrap();
    assert!(lock.contains("\"ingester_migrations_kinds\""));
    folder.run(&[&["manifests", "--out", "base", "--image", "a:1"], &target[..]].concat()).exits(0);
    assert_eq!(kinds(folder.run(&["kinds", "--kinds", "base/kinds/kinds.yaml"])), ["Run", "Test", "Job", "Build"]);
    // Duplicates are found across files.
    folder.write("again.yaml", of_kind("Run"));
    folder
        .run(&["kinds", "--kinds", "kinds,again.yaml"])
        .exits(2)
        .says(&["again.yaml line 3: kinds[0]: ", "(the other one begins in kinds/a.yaml on line 3)"]);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    folder.run(&["kinds", "--kinds", "empty"]).exits(2).says(&["the folder of kinds empty has no file *.yaml"]);
}

#[test]
fn get_prints_what_kubectl_prints_for_the_printer_columns_of_a_crd() {
    let folder = Folder::new();
    let scaffolded = folder.run(&["scaffold", &format!("{CRDS}/certificates.cert-manager.io.yaml")]).exits(0).out;
    folder.write("kinds.yaml", scaffolded);
    folder.import(&["--kinds", "kinds.yaml", &format!("{CRDS}/objects/certificate.yaml")]).exits(0);
    let get = |more: &[&str]| {
        let target = ["get", "certificates", "--kinds", "kinds.yaml", "--database-url", "sqlite://test.db"];
        folder.run(&[&target[..], more].concat()).exits(0).out
    };
    let titles = |out: &str| {
        out.lines()
            .next()
            .unwrap()
            .split("  ")
            .map(str::trim)
            .filter(|title| !title.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    // The selectable fields, of which `Issuer` has priority 1, and the printer columns.
    let own = ["NAMESPACE", "NAME", "ISSUER_REF_GROUP", "ISSUER_REF_KIND"];
    assert_eq!(titles(&get(&[])), [&own[..], &["READY", "SECRET", "STATE", "AGE"]].concat());
    let wide = titles(&get(&["-o", "wide"]));
    assert_eq!(
        wide[2..],
        [
            "ISSUER_REF_GROUP",
            "ISSUER_REF_KIND",
            "ISSUER",
            "READY",
            "SECRET",
            "STATUS",
            "EXPIRATION",
            "STATE",
            "AGE",
            "UID",
            "VERSION"
        ]
    );
    assert!(get(&["-o", "csv"]).starts_with("namespace,name,issuer_ref_group,"), "{}", get(&["-o", "csv"]));
}

#[test]
fn a_value_that_does_not_fit_is_null_and_no_rule_that_reads_it_judges_the_row() {
    let folder = Folder::new();
    let config = "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}
ingester: {kindsFile: jobs.yaml}
retention:
  rules:
  - {name: last, kinds: [Job], state: deleted, after: 1d, when: {fieldSelector: phase!=Done}}
";
    folder.write("ingester.yaml", config);
    folder.write(
        "jobs.yaml",
        format!("builtIn: false\n{}", JOBS.replace("VARCHAR(20), default: Pending", "VARCHAR(20)")),
    );
    let object = |name: &str, phase: &str| {
        let uid = format!("\"uid\": \"{name}\"");
        let phase = format!("\"status\": {{\"phase\": {phase}}}");
        let named = OBJECT.replace("\"name\": \"a\"", &format!("\"name\": \"{name}\""));
        named.replace("\"uid\": \"u1\"", &uid).replace("\"status\": {}", &phase)
    };
    let long = format!("\"{}\"", "x".repeat(21));
    let objects = [object("fits", "\"Done\""), object("long", &long), object("number", "7")];
    folder.write("a.json", objects.join("\n"));
    let ran = folder.run(&["import", "--config", "ingester.yaml", "a.json"]).exits(0);
    assert_eq!(ran.counts("Job"), [3, 3, 0, 0, 0, 0]);
    ran.says(&[
        "2 values do not fit their columns, which are NULL",
        "column `phase`: 21 characters do not fit VARCHAR(20)",
        "status.phase: expected a string, found number 7",
    ]);
    assert_eq!(folder.query("SELECT name, phase FROM job ORDER BY name"), ["fits|Done", "long|NULL", "number|NULL"]);
    folder.query("UPDATE job SET delete_time = '2020-01-01 00:00:00.000000'");
    let policies =
        |more: &[&str]| folder.run(&[&["policies", "--config", "ingester.yaml"], more].concat()).exits(0).out;
    let lines: serde_json::Value = serde_json::from_str(&policies(&["-o", "json"])).unwrap();
    assert_eq!(["leaves", "stays", "pending"].map(|key| lines[0][key].as_u64().unwrap()), [0, 0, 2], "{lines}");
    let explained = policies(&["--explain", "long"]);
    assert!(
        explained.contains("`phase` does not hold what its object says (column `phase`: 21 characters"),
        "{explained}"
    );
    // The kind may ask for the reject.
    let strict = JOBS.replace("  columns:", "  strict: true\n  columns:");
    folder.write(
        "jobs.yaml",
        format!("builtIn: false\n{}", strict.replace("VARCHAR(20), default: Pending", "VARCHAR(20)")),
    );
    let again = objects.map(|object| object.replace("\"resourceVersion\": \"5\"", "\"resourceVersion\": \"6\""));
    folder.write("a.json", again.join("\n"));
    let ran = folder.run(&["import", "--config", "ingester.yaml", "a.json"]).exits(1);
    assert_eq!(ran.rejected().len(), 2, "{}", ran.err);
}

#[test]
fn a_field_with_a_dot_in_its_name_is_selected_grouped_sorted_and_printed() {
    const FILE: &str = "builtIn: false
kinds:
- group: example.com
  version: v1
  kind: Job
  namespaced: true
  columns:
  - {column: file, path: '.status[\"a.json\"]', type: VARCHAR(20)}
  - {column: cpu, path: .spec.cpu | quantity, type: DOUBLE}
  - {column: phase_lower, path: .status.phase | lower, type: VARCHAR(20)}
";
    let folder = Folder::new();
    folder.write("kinds.yaml", FILE);
    let object = |name: &str, file: &str| {
        format!(
            "{{\"apiVersion\": \"example.com/v1\", \"kind\": \"Job\", \"metadata\": {{\"name\": \"{name}\", \"namespace\": \"a\", \
             \"uid\": \"{name}\", \"resourceVersion\": \"1\", \"creationTimestamp\": \"2026-03-01T00:00:00Z\"}}, \
             \"spec\": {{\"cpu\": \"500m\"}}, \"status\": {{\"a.json\": \"{file}\", \"b.json\": \"{file}\"}}}}\n"
        )
    };
    folder.write("objects.yaml", [object("one", "x"), object("two", "y")].concat());
    folder.import(&["--kinds", "kinds.yaml", "objects.yaml"]).exits(0);
    let get = |more: &[&str]| {
        let named = ["get", "jobs", "--kinds", "kinds.yaml", "--database-url", "sqlite://test.db"];
        folder.run(&[&named, more].concat())
    };
    for field in ["status[\"a.json\"]", "status['a.json']", r"status.a\.json"] {
        let selector = format!("{field}=y");
        assert_eq!(
            get(&["--field-selector", &selector, "-o", "name"]).exits(0).out,
            "job.example.com/two\n",
            "{field}"
        );
        assert_eq!(get(&["--field-selector", &selector, "--count"]).exits(0).out, "1\n", "{field}");
        let groups = get(&["--group-by", field, "-o", "csv"]).exits(0).out;
        assert_eq!(groups, "file,count\r\nx,1\r\ny,1\r\n", "{field}");
        let printed = get(&["--columns", &format!("name,{field}"), "--sort-by", &format!("-{field}"), "-o", "csv"]);
        assert_eq!(printed.exits(0).out, "name,file\r\ntwo,y\r\none,x\r\n", "{field}");
        // Without a column.
        let other = format!("{}=x", field.replace("a.json", "b.json").replace(r"a\.", r"b\."));
        assert_eq!(get(&["--scan", "--field-selector", &other, "-o", "name"]).exits(0).out, "job.example.com/one\n");
    }
    assert_eq!(get(&["--field-selector", "spec.cpu=0.5", "--count"]).exits(0).out, "2\n");
    let made = "the column `phase_lower` is made of it";
    get(&["--field-selector", "status.phase=done"]).exits(2).says(&["no column for the field `status.phase`", made]);
    get(&["--group-by", "status.phase"]).exits(2).says(&["did you mean `phase_lower`?"]);
    get(&["--columns", "status.phase"]).exits(2).says(&["did you mean `phase_lower`?"]);
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
            "error: jobs.yaml line 8: kinds[0].columns[0].path: a path begins with a dot: `.status.phase`",
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
    // One more column: the table gets it, and the import fills it.
    let more = format!("{alone}  - {{column: owner, path: .spec.owner, type: VARCHAR(100)}}\n");
    folder.write("jobs.yaml", &more);
    let ran = folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert_eq!(ran.counts("Job")[1], 1);
    assert_eq!(folder.query("SELECT phase, owner FROM job"), ["Pending|ann"]);
    // Another path: the same columns, another definition.
    folder.write("jobs.yaml", more.replace(".spec.owner", ".metadata.name"));
    folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert_eq!(folder.query("SELECT owner, ingest_version FROM job"), ["a|3"]);
    // A column with another type of values is not an addition.
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
    // Columns that are not declared any more stay, and are dropped only by command.
    folder.write("jobs.yaml", &alone);
    folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert_eq!(folder.query("SELECT owner FROM job"), ["3"]);
    folder.run(&[&["schema", "apply"], &target[..]].concat()).exits(0).says(&["no longer declared, but kept"]);
    folder.run(&[&["schema", "apply", "--allow-destructive"], &target[..]].concat()).exits(0);
    assert_eq!(folder.query("SELECT count(*) FROM pragma_table_info('job') WHERE name = 'owner'"), ["0"]);
}

#[test]
fn rows_that_a_new_definition_does_not_fill_are_named_with_the_command_that_fills_them() {
    let folder = Folder::new();
    let alone = format!("builtIn: false\n{JOBS}");
    let target = ["--kinds", "jobs.yaml", "--database-url", "sqlite://test.db"];
    folder.write("jobs.yaml", &alone);
    folder.write("a.json", OBJECT);
    folder.write("b.json", OBJECT.replace("\"a\"", "\"b\"").replace("u1", "u2"));
    let said = "an earlier definition wrote rows of Job: `ingester run` then fills the columns from the stored objects, and `ingester \
                backfill KIND --kinds FILE` does so at once";
    let first = folder.import(&["--kinds", "jobs.yaml", "a.json"]).exits(0);
    assert!(!first.err.contains("earlier definition"), "{}", first.err);
    // An import fills the rows of its objects only.
    folder.write("jobs.yaml", format!("{alone}  - {{column: owner, path: .spec.owner, type: VARCHAR(100)}}\n"));
    folder.import(&["--kinds", "jobs.yaml", "b.json"]).exits(0).says(&[said]);
    assert_eq!(folder.query("SELECT name, owner FROM job ORDER BY name"), ["a|NULL", "b|ann"]);
    folder.run(&[&["schema", "apply"], &target[..]].concat()).exits(0).says(&[said]);
    // A retype on SQLite converts no row; it is refused, and the refusal says what fills them.
    let retyped = format!("{alone}  - {{column: owner, path: .spec.replicas, type: INT}}\n");
    folder.write("jobs.yaml", &retyped);
    let refused = folder.import(&["--kinds", "jobs.yaml", "b.json"]).exits(2);
    refused.says(&["make it with `ingester schema apply --kinds FILE`; `ingester run` then fills the columns"]);
    let refused = folder.run(&[&["schema", "apply"], &target[..]].concat()).exits(2);
    refused.says(&["makes them; `ingester run` then fills the columns"]);
    folder.run(&[&["schema", "apply", "--allow-destructive"], &target[..]].concat()).exits(0).says(&[said]);
    assert_eq!(folder.query("SELECT name, owner FROM job ORDER BY name"), ["a|NULL", "b|NULL"]);
    folder.run(&[&["backfill", "jobs"], &target[..]].concat()).exits(0);
    assert_eq!(folder.query("SELECT name, owner FROM job ORDER BY name"), ["a|3", "b|3"]);
    let last = folder.run(&[&["schema", "apply"], &target[..]].concat()).exits(0);
    assert!(!last.err.contains("earlier definition"), "{}", last.err);
}

#[test]
fn a_view_that_left_the_file_is_named_and_dropped_only_by_its_name() {
    let folder = Folder::new();
    let alone = format!("builtIn: false\n{JOBS}");
    let view = "views:\n- name: names\n  kinds: [Job]\n  columns:\n  - {column: name}\n";
    folder.write("jobs.yaml", format!("{alone}{view}"));
    let of = |arguments: &[&str]| {
        folder.run(&[&["schema"], arguments, &["--kinds", "jobs.yaml", "--database-url", "sqlite://test.db"]].concat())
    };
    let views = || folder.query("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name");
    of(&["apply"]).exits(0);
    folder.query("CREATE VIEW others AS SELECT 1 AS a");
    of(&["apply", "--drop-view", "names"]).exits(2).says(&["names", "declared", "remove it from the file first"]);
    folder.write("jobs.yaml", &alone);
    let drops = "`ingester schema apply --kinds FILE --drop-view names` drops it: DROP VIEW IF EXISTS \"names\"";
    of(&["diff"]).exits(0).says(&["no longer declared, but kept: view `names`", drops]);
    of(&["apply", "--allow-destructive"]).exits(0).says(&[drops]);
    of(&["apply", "--drop-view", "others"]).exits(2).says(&["others", "Known: `names`", "by hand"]);
    let planned = of(&["apply", "--dry-run", "--drop-view", "names"]).exits(0);
    assert_eq!(planned.out.trim_end(), "DROP VIEW IF EXISTS \"names\";");
    assert_eq!(views(), ["names", "others"]);
    of(&["apply", "--drop-view", "names"]).exits(0).says(&["drop view `names`"]);
    assert_eq!(views(), ["others"]);
    of(&["apply", "--drop-view", "names"]).exits(2).says(&["Known: none"]);
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

#[test]
fn the_migrations_of_a_file_run_beside_those_that_are_built_in() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| folder.run(&[arguments, &["--database-url", "sqlite://test.db"]].concat());
    let of_file = |arguments: &[&str]| run(&[arguments, &["--kinds", "jobs.yaml", "--sql", "sql"]].concat());
    let generate = ["schema", "generate", "--kinds", "jobs.yaml", "--out", "sql"];
    folder.write("jobs.yaml", JOBS);
    folder.run(&generate).exits(0);
    folder.write("jobs.yaml", format!("{JOBS}  - {{column: owner, path: .spec.owner, type: VARCHAR(100)}}\n"));
    folder.run(&generate).exits(0);
    folder.run(&[&generate[..], &["--check"]].concat()).exits(0);
    run(&["schema", "apply"]).exits(0).says(&["ran: 0001_"]);
    of_file(&["schema", "apply", "--dry-run"]).exits(0).says(&["2 migrations would be"]);
    of_file(&["schema", "apply"]).exits(0).says(&["ran: 0001_create_tables", "ran: 0002_"]);
    let ledger = || folder.query("SELECT version, success FROM ingester_migrations_jobs ORDER BY version");
    assert_eq!(ledger(), ["1|1", "2|1"]);
    let again = of_file(&["schema", "apply"]).exits(0);
    assert!(!again.err.contains("earlier definition"), "no row needs to be filled: {}", again.err);
    let built_in = folder.query("SELECT count(*) FROM _sqlx_migrations");
    let settled = || {
        run(&["schema", "info"]).exits(0);
        run(&["schema", "verify"]).exits(0);
        run(&["schema", "diff"]).exits(0);
        run(&["schema", "apply"]).exits(0).says(&["has run every migration"]);
        assert_eq!(folder.query("SELECT count(*) FROM _sqlx_migrations"), built_in);
    };
    settled();
    let info = of_file(&["schema", "info"]).exits(0).out;
    assert_eq!(info.matches("applied").count(), 2, "{info}");
    of_file(&["schema", "verify"]).exits(0).says(&["has the released schema"]);
    let both = run(&["schema", "verify", "--kinds", "jobs.yaml"]).exits(0);
    both.says(&["has the released schema and the schema of the declared kinds"]);
    run(&["schema", "diff", "--kinds", "jobs.yaml"]).exits(0);
    folder.write("a.json", OBJECT);
    folder.import(&["--kinds", "jobs.yaml", "a.json", crate::program::SAMPLES]).exits(0);
    assert_eq!(folder.query("SELECT owner FROM job"), ["ann"]);

    of_file(&["schema", "revert", "--to", "1"]).exits(2).says(&["owner", "--allow-destructive"]);
    of_file(&["schema", "revert", "--to", "1", "--allow-destructive"]).exits(0).says(&["took back: 0002_"]);
    assert_eq!(ledger(), ["1|1"]);
    of_file(&["schema", "verify"]).exits(1);
    settled();
    of_file(&["schema", "apply"]).exits(0).says(&["ran: 0002_"]);
    of_file(&["schema", "verify"]).exits(0);
}

#[test]
fn nothing_is_made_beside_a_foreign_table_of_a_declared_kind() {
    for (table, columns) in
        [("job", "id INTEGER PRIMARY KEY, queue TEXT"), ("job_labels", "id INTEGER PRIMARY KEY, label TEXT")]
    {
        let folder = Folder::new();
        folder.write("jobs.yaml", JOBS);
        folder.write("a.json", OBJECT);
        folder.query(&format!("CREATE TABLE {table} ({columns})"));
        folder.query(&format!("INSERT INTO {table} VALUES (1, 'theirs')"));
        let apply = ["schema", "apply", "--kinds", "jobs.yaml", "--database-url", "sqlite://test.db"];
        for ran in [
            folder.run(&apply),
            folder.run(&[&apply[..], &["--dry-run"]].concat()),
            folder.run(&[&apply[..], &["--allow-destructive"]].concat()),
            folder.import(&["--kinds", "jobs.yaml", "a.json"]),
            folder.import(&["--dry-run", "--kinds", "jobs.yaml", "a.json"]),
        ] {
            let ran = ran.exits(2).says(&[&format!("the table {table}: the ingester did not make it")]);
            assert_eq!(ran.out, "");
            // Nor by the built-in migrations.
            assert_eq!(folder.query("SELECT name FROM sqlite_master WHERE type = 'table'"), [table]);
        }
        assert_eq!(folder.query(&format!("SELECT * FROM {table}")), ["1|theirs"]);
    }
}

/// KubeDL's kinds, declared, with the lives of some jobs.
const KUBEDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/kubedl");

/// The text of a comment above a state: `# Restarting, the condition is gone: Restarting, 08:02:00 (kept), none.`
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
    // A job that was deleted while it ran has stopped then; a job that had ended stays as it was. The process may set its region.
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
    // The statistics of its console.
    let owners = "SELECT CASE owner WHEN '' THEN 'Anonymous' ELSE owner END AS who, count(*) FROM job_info GROUP BY who ORDER BY who";
    assert_eq!(folder.query(owners), ["Anonymous|3", "alice|1"]);
}

/// Pods and events of KubeDL with its jobs in their last states, in a folder.
fn kubedl() -> Folder {
    let folder = Folder::new();
    folder.import(&["--kinds", &format!("{KUBEDL}/kinds.yaml"), &format!("{KUBEDL}/objects")]).exits(0);
    folder
}

/// One pod as the view shows it: status, started, finished, image, remark. The comment above the pod says so.
const PODS: [(&str, [&str; 5]); 8] = [
    (
        "bert-master-0",
        [
            "Failed",
            "10:04:55",
            "11:20:04",
            "bert:0.9",
            "Reason: OOMKilled\nExitCode: 137\nMessage: out of memory\nsee the log",
        ],
    ),
    ("bert-sidecar", ["Running", "10:06:03", "NULL", "board:1", "NULL"]),
    (
        "bert-worker-0",
        ["Failed", "10:04:02", "seen", "first:1", "Reason: Evicted\nMessage: The node was low on resource: memory."],
    ),
    ("bert-worker-1", ["Unknown", "NULL", "NULL", "bert:0.9", "NULL"]),
    ("bert-worker-2", ["Running", "10:04:03", "NULL", "bert:0.9", "NULL"]),
    ("mnist-ps-0", ["Pending", "NULL", "NULL", "mnist:1.4", "NULL"]),
    ("mnist-worker-0", ["Running", "08:01:59", "NULL", "mnist:1.4", "NULL"]),
    ("mnist-worker-1", ["Succeeded", "08:31:05", "09:15:40", "mnist:1.4", "NULL"]),
];

#[test]
fn pods_of_kubedl_say_of_their_main_container_what_their_comments_say() {
    let folder = kubedl();
    let comments = std::fs::read_to_string(format!("{KUBEDL}/objects/pod.yaml")).unwrap();
    let mut rows = Vec::new();
    for (name, [status, started, finished, image, remark]) in PODS {
        let document =
            comments.split("\n---\n").find(|document| document.contains(&format!("\n  name: {name}\n"))).unwrap();
        let comment: String = document.lines().filter_map(|line| line.strip_prefix('#')).collect();
        for said in [status, started, finished].into_iter().filter(|said| *said != "NULL") {
            let is_said = comment.contains(said) || name == "bert-sidecar";
            assert!(is_said, "{name} {said}: {comment}");
        }
        rows.push(format!("{name}|{status}|{started}|{finished}|registry.example.com/{image}|{remark}"));
    }
    for view in ["replica_info", "pod"] {
        let finished = "CASE WHEN name = 'bert-worker-0' AND gmt_finished >= '2026-07-03' THEN 'seen' ELSE substr(gmt_finished, 12, 8) END";
        let columns = format!("name, status, substr(gmt_started, 12, 8), {finished}, image, remark");
        assert_eq!(folder.query(&format!("SELECT {columns} FROM {view} ORDER BY name")), rows, "{view}");
    }
    let columns =
        "name, job_id, replica_type, host_ip, pod_ip, deploy_region, deleted, is_in_etcd, version, gmt_created";
    let job = "6f1c0a52-3d1e-4a7b-8f60-0c5d1e2a000";
    let found = folder.query(&format!("SELECT {columns} FROM replica_info WHERE pod_id = id ORDER BY name"));
    assert_eq!(
        found,
        [
            format!("bert-master-0|{job}2|master|10.1.0.1|10.244.1.9|NULL|0|1|5004|2026-07-02 10:04:01.000000"),
            format!("bert-sidecar|{job}2|NULL|10.1.0.2|fd00::12|NULL|0|1|5007|2026-07-02 10:06:00.000000"),
            format!("bert-worker-0|{job}2|worker|NULL|NULL|NULL|0|1|5005|2026-07-02 10:04:02.000000"),
            format!("bert-worker-1|{job}2|worker|NULL|NULL|NULL|0|1|5006|2026-07-02 10:04:02.000000"),
            format!("bert-worker-2|{job}2|worker|10.1.0.3|10.244.2.4|NULL|0|1|5012|2026-07-02 10:04:03.000000"),
            format!("mnist-ps-0|{job}1|ps|NULL|NULL|NULL|0|1|5001|2026-07-01 08:01:36.000000"),
            format!("mnist-worker-0|{job}1|worker|10.1.0.7|10.1.0.7|NULL|0|1|5002|2026-07-01 08:01:36.000000"),
            format!("mnist-worker-1|{job}1|worker|10.1.0.8|10.244.3.17|NULL|0|1|5003|2026-07-01 08:30:50.000000"),
        ]
    );
}

#[test]
fn a_pod_of_kubedl_that_is_deleted_while_it_runs_has_stopped_then() {
    let folder = kubedl();
    folder.query("UPDATE kubedl_pod SET delete_time = '2026-07-09 00:00:00.000000'");
    folder.query("INSERT INTO ingester_settings VALUES ('deploy_region', 'here')");
    let columns = "name, status, gmt_started, gmt_finished, deleted, is_in_etcd, deploy_region";
    let found =
        folder.query(&format!("SELECT {columns} FROM replica_info WHERE name != 'bert-worker-0' ORDER BY name"));
    let stopped = "2026-07-09 00:00:00.000000|0|0|here";
    assert_eq!(
        found,
        [
            "bert-master-0|Failed|2026-07-02 10:04:55.000000|2026-07-02 11:20:04.000000|0|0|here".into(),
            format!("bert-sidecar|Stopped|2026-07-02 10:06:03.000000|{stopped}"),
            format!("bert-worker-1|Stopped|2026-07-02 10:04:02.000000|{stopped}"),
            format!("bert-worker-2|Stopped|2026-07-02 10:04:03.000000|{stopped}"),
            format!("mnist-ps-0|Stopped|2026-07-01 08:01:36.000000|{stopped}"),
            format!("mnist-worker-0|Stopped|2026-07-01 08:01:59.000000|{stopped}"),
            "mnist-worker-1|Succeeded|2026-07-01 08:31:05.000000|2026-07-01 09:15:40.000000|0|0|here".into(),
        ]
    );
    // By the manual, a row is modified when its status changes.
    let modified =
        folder.query("SELECT name, gmt_modified FROM pod WHERE name IN ('mnist-ps-0', 'mnist-worker-1') ORDER BY name");
    assert_eq!(modified, ["mnist-ps-0|2026-07-09 00:00:00.000000", "mnist-worker-1|2026-07-01 09:15:40.000000"]);
}

#[test]
fn the_first_start_and_end_of_a_pod_of_kubedl_stay() {
    let folder = kubedl();
    let pods = std::fs::read_to_string(format!("{KUBEDL}/objects/pod.yaml")).unwrap();
    let later = pods.replace("startedAt: \"2026-07-01T08:01:59Z\"", "startedAt: \"2026-07-01T09:30:00Z\"");
    let later = later.replace("finishedAt: \"2026-07-02T11:20:04Z\"", "finishedAt: \"2026-07-02T12:00:00Z\"");
    let later = later.replace("image: registry.example.com/bert:0.9", "image: registry.example.com/bert:1.0");
    folder.write("later.yaml", later.replace("resourceVersion: \"50", "resourceVersion: \"60"));
    folder.import(&["--kinds", &format!("{KUBEDL}/kinds.yaml"), "later.yaml"]).exits(0);
    let columns = "name, gmt_started, gmt_finished, image, version";
    assert_eq!(
        folder.query(&format!(
            "SELECT {columns} FROM pod WHERE name IN ('bert-master-0', 'mnist-worker-0') ORDER BY name"
        )),
        [
            "bert-master-0|2026-07-02 10:04:55.000000|2026-07-02 11:20:04.000000|registry.example.com/bert:1.0|6004",
            "mnist-worker-0|2026-07-01 08:01:59.000000|NULL|registry.example.com/mnist:1.4|6002",
        ]
    );
}

#[test]
fn events_of_kubedl_are_those_on_its_jobs_and_pods() {
    let folder = kubedl();
    // An event on another owner's pod, which has the name of a job's pod.
    let events = std::fs::read_to_string(format!("{KUBEDL}/objects/event.yaml")).unwrap();
    let foreign =
        events.split("\n---\n").nth(1).unwrap().replace("5d1e2b0012", "5d1e2b9912").replace("5d1e2c0002", "5d1e2c9902");
    folder.write("foreign.yaml", foreign);
    folder.import(&["--kinds", &format!("{KUBEDL}/kinds.yaml"), "foreign.yaml"]).exits(0);
    assert_eq!(folder.query("SELECT count(*) FROM kubedl_event"), ["4"]);
    let columns =
        "kind, type, obj_namespace, obj_name, reason, message, count, region, first_timestamp, last_timestamp";
    let all = format!("SELECT {columns} FROM event_info ORDER BY first_timestamp");
    let found = folder.query(&all);
    assert_eq!(
        found,
        [
            "TFJob|Normal|vision|mnist|JobSucceeded|TFJob mnist is done.|1|NULL|2026-07-01 09:15:42.000000|2026-07-01 09:15:42.000000",
            "Pod|Normal|nlp|bert-worker-0|Scheduled|Successfully assigned nlp/bert-worker-0 to node-2|3|NULL|2026-07-02 10:04:02.123456|2026-07-02 10:04:09.000001",
            "Pod|Warning|nlp|bert-worker-2|BackOff|Back-off restarting failed container \"pytorch\"\nin pod größe|117|NULL|2026-07-02 10:04:03.000000|2026-07-02 11:19:59.000000",
        ]
    );
    // They stay when their object is deleted.
    folder.query("UPDATE kubedl_pod SET delete_time = '2026-07-09 00:00:00.000000'");
    assert_eq!(folder.query(&all), found);
}

#[test]
fn the_views_of_kubedl_have_the_columns_of_its_tables() {
    let folder = kubedl();
    let columns =
        |view: &str| folder.query(&format!("SELECT name FROM pragma_table_info('{view}') ORDER BY cid")).join(" ");
    let pod = "id name namespace pod_id version status image job_id replica_type resources host_ip pod_ip deploy_region deleted is_in_etcd remark gmt_created gmt_modified gmt_started gmt_finished";
    for (view, wanted) in [
        (
            "job_info",
            "id name namespace job_id version status kind resources deploy_region tenant owner deleted is_in_etcd remark gmt_created gmt_modified gmt_job_running gmt_job_finished",
        ),
        ("replica_info", pod),
        (
            "event_info",
            "name kind type obj_namespace obj_name obj_uid reason message count region first_timestamp last_timestamp",
        ),
        (
            "job",
            "id name namespace job_id version status kind resources deploy_region tenant owner is_in_etcd gmt_created gmt_modified gmt_finished",
        ),
        ("pod", pod),
    ] {
        assert_eq!(columns(view), wanted, "{view}");
    }
    let jobs = folder.query("SELECT name, status, gmt_modified, gmt_finished, resources FROM job ORDER BY name");
    let begin = [
        "bert|Failed|2026-07-02 11:20:05.000000|2026-07-02 11:20:05.000000|{\"Master\":{\"resources\":{},\"replicas\":0},",
        "etl|Succeeded|2026-07-04 13:00:00.000000|2026-07-04 13:00:00.000000|{\"Scheduler\":",
        "horovod|Failed|",
        "mnist|Succeeded|2026-07-01 09:15:42.000000|2026-07-01 09:15:42.000000|{\"PS\":",
    ];
    for (job, begin) in jobs.iter().zip(begin) {
        assert!(job.starts_with(begin), "{job}");
    }
    assert_eq!(jobs.len(), begin.len());
}

/// The values of each Model, without the definition that wrote it and the columns that only a program with the message has.
const MODELS: &str = "SELECT uid || ' ' || res_version || ' ' || coalesce(owner, 'NULL') || ' ' || coalesce(algorithm, 'NULL') \
                      || ' ' || coalesce(model_family_name, 'NULL') || ' ' || json FROM model ORDER BY uid";

#[test]
fn a_kind_moves_from_a_file_to_a_struct_without_a_change_of_a_row() {
    let folder = Folder::new();
    let file = folder.run(&["kinds", "-o", "yaml"]).exits(0).out;
    folder.write("kinds.yaml", format!("builtIn: false\n{file}"));
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../crd-specs/samples");
    folder.import(&["--kinds", "kinds.yaml", samples]).exits(0);
    // Another definition and back: rows have later definitions than the program.
    let other = file
        .replace("column: algorithm, path: '.spec.algorithm'", "column: algorithm, path: '.spec.algorithm | lower'");
    folder.write("other.yaml", format!("builtIn: false\n{other}"));
    folder.import(&["--kinds", "other.yaml", samples]).exits(0);
    folder.import(&["--kinds", "kinds.yaml", samples]).exits(0);
    assert_eq!(folder.query("SELECT ingest_version FROM model"), ["3"]);
    let rows = folder.query(MODELS);
    assert_eq!(rows.len(), 1);
    let printed = |more: &[&str]| {
        let get = |kind: &str, format: &str| {
            let get = ["get", kind, "--database-url", "sqlite://test.db", "-o", format];
            let get = if format.is_empty() { &get[..4] } else { &get[..] };
            folder.run(&[get, more].concat()).exits(0).out
        };
        let kinds = ["models", "pipelines", "projects"].into_iter();
        kinds.map(|kind| ["", "wide", "csv", "yaml"].map(|format| get(kind, format))).collect::<Vec<_>>()
    };
    let before = printed(&["--kinds", "kinds.yaml"]);
    // A backfill reads every row, also one without a number.
    folder.query("UPDATE model SET ingest_version = 0");

    let adopted = folder.run(&["schema", "adopt", "--database-url", "sqlite://test.db"]).exits(0);
    adopted.says(&["was there already: 0001", "adopted model: 1 row is read again"]);
    assert_eq!(folder.query(MODELS), rows);
    assert_eq!(printed(&[]), before);
    let declared = "SELECT name FROM ingester_settings WHERE name LIKE 'definition/%' OR name LIKE 'recipes/%'";
    assert_eq!(folder.query(declared), [""; 0]);
    folder.run(&["schema", "verify", "--database-url", "sqlite://test.db"]).exits(0);
    folder.run(&["schema", "diff", "--database-url", "sqlite://test.db"]).exits(0);
    // The backfill finds that the values are right. `ingester run` reads the rows, too, although the table is older than the number.
    let waiting = "SELECT count(*) FROM ingester_backfills WHERE table_name = 'model' AND complete_time IS NULL";
    assert_ne!(folder.query(waiting), ["0"]);
    let filled = folder.run(&["backfill", "Model", "--database-url", "sqlite://test.db"]).exits(0);
    filled.says(&["Model: 1 row read, "]);
    assert_eq!(folder.query(MODELS), rows);
    assert_eq!(folder.query(waiting), ["0"]);
    let again = folder.run(&["schema", "adopt", "--database-url", "sqlite://test.db"]).exits(0);
    again.says(&["there is nothing to adopt"]);
}

#[test]
fn a_table_that_is_not_as_the_struct_says_is_not_adopted() {
    let folder = Folder::new();
    let file = folder.run(&["kinds", "projects", "-o", "yaml"]).exits(0).out;
    let other = file.replace("type: INT", "type: BIGINT");
    assert_ne!(other, file);
    folder.write("kinds.yaml", format!("builtIn: false\n{other}"));
    folder
        .import(&[
            "--kinds",
            "kinds.yaml",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../crd-specs/samples/01-project.yaml"),
        ])
        .exits(0);
    // SQLite has one type for both.
    let narrowed = file.replace("column: tier", "column: level");
    folder.write("kinds.yaml", format!("builtIn: false\n{narrowed}"));
    folder
        .import(&[
            "--kinds",
            "kinds.yaml",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../crd-specs/samples/01-project.yaml"),
        ])
        .exits(0);
    let refused = folder.run(&["schema", "adopt", "projects", "--database-url", "sqlite://test.db"]).exits(1);
    refused.says(&["project: the struct would drop column `level`", "nothing was changed"]);
    assert_eq!(folder.query("SELECT count(*) FROM ingester_settings WHERE name = 'definition/project'"), ["1"]);
}

#[test]
fn a_kind_of_a_file_is_printed_as_it_was_read() {
    let folder = Folder::new();
    folder.write("jobs.yaml", format!("builtIn: false\n{JOBS}"));
    let printed = folder.run(&["kinds", "-o", "yaml", "--kinds", "jobs.yaml"]).exits(0).out;
    folder.write("again.yaml", format!("builtIn: false\n{printed}"));
    let again = folder.run(&["kinds", "-o", "yaml", "--kinds", "again.yaml"]).exits(0).out;
    assert_eq!(again, printed);
}

#[test]
fn a_pruned_secret_is_in_no_table_message_or_answer() {
    let folder = Folder::new();
    let kinds = |more: &str| {
        format!(
            "builtIn: false\nkinds:\n- group: example.com\n  version: v1\n  kind: Vault\n  namespaced: true\n  evictable: false\n{more}  \
             columns:\n  - {{column: owner, path: .spec.owner, type: VARCHAR(100)}}\n"
        )
    };
    let vault = |name: &str| {
        let applied = r#"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Vault\",\"spec\":{\"token\":\"TOPSECRET\"}}"#;
        format!(
            r#"{{"apiVersion": "example.com/v1", "kind": "Vault", "metadata": {{"name": "{name}", "namespace": "a", "resourceVersion": "1",
                "annotations": {{"kubectl.kubernetes.io/last-applied-configuration": "{applied}"}},
                "managedFields": [{{"fieldsV1": {{"v:\"TOPSECRET\"": {{}}}}}}]}}, "spec": {{"owner": "ann", "token": "TOPSECRET"}}}}"#
        )
    };
    folder.write("before.json", vault("before"));
    folder.write("kinds.yaml", kinds(""));
    folder.import(&["--kinds", "kinds.yaml", "before.json"]).exits(0);
    folder.write("kinds.yaml", kinds("  prune: [.spec.token]\n"));

    let mut said = Vec::new();
    let with_file = ["--kinds", "kinds.yaml", "--database-url", "sqlite://test.db"];
    // An unknown column, a text that is not an object, a value of a wrong type where nothing is pruned.
    folder.write("after.json", vault("after"));
    folder.write("broken.json", vault("broken").replace("}}", "}"));
    folder.write("wrong.json", vault("wrong").replace(r#""ann""#, r#"["x"]"#));
    said.push(folder.import(&["--kinds", "kinds.yaml", "after.json"]).exits(0));
    said.push(folder.import(&["--kinds", "kinds.yaml", "broken.json", "wrong.json"]).exits(1));
    said.push(folder.run(&[&["backfill", "vaults"], &with_file[..]].concat()).exits(0));
    for format in ["yaml", "json", "jsonpath={.items[*].spec}", "wide"] {
        said.push(folder.run(&[&["get", "vaults", "-A", "-o", format], &with_file[..]].concat()).exits(0));
    }
    let shown = &said[3].out;
    assert!(shown.contains("mirror.michelangelo.api/pruned: .spec.token") && shown.contains("owner: ann"), "{shown}");
    said.push(folder.run(&[&["rejects", "-o", "json"], &with_file[..]].concat()).exits(0));
    for ran in &said {
        assert!(!ran.out.contains("TOPSECRET") && !ran.err.contains("TOPSECRET"), "{ran:?}");
    }
    assert_eq!(folder.query("SELECT count(*) FROM vault WHERE owner = 'ann'"), ["2"]);
    // The whole content of the database, without remains of former pages in its file.
    let dump = folder.path().join("dump.db");
    folder.query(&format!("VACUUM INTO '{}'", dump.display()));
    let dump = std::fs::read(dump).unwrap();
    let dump = String::from_utf8_lossy(&dump);
    assert!(dump.contains("\"owner\": \"ann\"") || dump.contains("\"owner\":\"ann\""));
    assert!(!dump.contains("TOPSECRET"));
}
