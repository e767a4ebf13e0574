//! The effect and the output of an import.

use crate::program::{Folder, SAMPLES, finish, model, model_json};
use serde_json::{Value, json};

/// `kubectl get models -o json`, shortened.
const LIST: &str = r#"{
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "michelangelo.api/v2",
            "kind": "Model",
            "metadata": {
                "creationTimestamp": "2026-03-09T20:36:46Z",
                "labels": {"team": "growth"},
                "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}],
                "name": "churn",
                "namespace": "ml",
                "resourceVersion": "1842",
                "uid": "c1f9f2de-5c0c-4f5a-8f32-0d9a2b7a1e10"
            },
            "spec": {"algorithm": "xgboost", "owner": {"name": "ada"}, "revisionId": 3}
        },
        {
            "apiVersion": "michelangelo.api/v2",
            "kind": "ModelFamily",
            "metadata": {
                "name": "churn",
                "namespace": "ml",
                "resourceVersion": "1843",
                "uid": "e7a3f4a5-2a67-4f6c-b1a4-4a3f1f0c7b11"
            },
            "spec": {"name": "churn"}
        }
    ],
    "kind": "List",
    "metadata": {"resourceVersion": ""}
}
"#;

/// The stored rows of [`LIST`].
fn stored_list(folder: &Folder) -> Vec<String> {
    folder.query(
        "SELECT uid, name, res_version, create_time, owner, revision_id, json ->> '$.metadata.managedFields' FROM model
         UNION ALL SELECT uid, name, res_version, create_time, model_family_name, NULL, NULL FROM modelfamily
         UNION ALL SELECT obj_uid, key, value, NULL, NULL, NULL, NULL FROM model_labels",
    )
}

const STORED_LIST: [&str; 3] = [
    "c1f9f2de-5c0c-4f5a-8f32-0d9a2b7a1e10|churn|1842|2026-03-09 20:36:46.000000|ada|3|NULL",
    "e7a3f4a5-2a67-4f6c-b1a4-4a3f1f0c7b11|churn|1843|NULL|churn|NULL|NULL",
    "c1f9f2de-5c0c-4f5a-8f32-0d9a2b7a1e10|team|growth|NULL|NULL|NULL|NULL",
];

#[test]
fn importing_the_samples_stores_one_row_of_each_kind() {
    let folder = Folder::new();
    let ran = folder.import(&[SAMPLES]).exits(0).says(&["made 39 tables in sqlite://test.db"]);
    assert_eq!(ran.out.lines().count(), 1 + 13, "{}", ran.out);
    assert!(ran.out.starts_with("KIND "), "{}", ran.out);
    for kind in crd_specs::KINDS {
        assert_eq!(ran.counts(kind.kind()), [1, 1, 0, 0, 0, 0]);
        let rows = folder.query(&format!("SELECT name, delete_time FROM {}", kind.table().name));
        assert_eq!(
            rows,
            [format!(
                "ingester-test{}|NULL",
                if kind.kind() == "Project" { String::new() } else { format!("-{}", sample(kind.kind())) }
            )]
        );
    }
    let rows = folder.query("SELECT owner, algorithm, model_kind, model_family_name, src_pipeline_run_name FROM model");
    assert_eq!(rows, ["ml-owner1|xgboost|MODEL_KIND_REGRESSION|ingester-test-model-family|NULL"]);
    assert_eq!(
        folder.query("SELECT key, value FROM model_labels ORDER BY key"),
        ["algorithm|xgboost", "test|ingester"]
    );
    assert_eq!(folder.query("SELECT COUNT(*) FROM ingester_rejects"), ["0"]);
}

/// The name of the sample of a kind.
fn sample(kind: &str) -> String {
    if kind == "ModelFamily" { "model-family".into() } else { kind.to_lowercase() }
}

#[test]
fn a_second_import_of_the_same_objects_writes_nothing() {
    let folder = Folder::new();
    folder.write("list.json", LIST);
    folder.import(&[SAMPLES, "list.json"]).exits(0);
    let stored = "SELECT update_time FROM modelfamily UNION ALL SELECT update_time FROM model \
                  UNION ALL SELECT COUNT(*) FROM ingester_changes";
    let before = folder.query(stored);

    let dry = folder.import(&["--dry-run", SAMPLES, "list.json"]).exits(0);
    let ran = folder.import(&[SAMPLES, "list.json"]).exits(0);
    assert!(!ran.err.contains("made"), "{}", ran.err);
    for ran in [&dry, &ran] {
        // The samples have no resourceVersion.
        assert_eq!(ran.counts("Project"), [1, 0, 1, 0, 0, 0]);
        assert_eq!(ran.counts("Model"), [2, 0, 2, 0, 0, 0]);
    }
    assert_eq!(folder.query(stored), before);

    // An older dump of the same objects changes nothing.
    let ran = folder.import_input(&LIST.replace("1842", "1841").replace("xgboost", "older")).exits(0);
    assert_eq!(ran.counts("Model"), [1, 0, 0, 1, 0, 0]);
    let ran = folder.import_input(&LIST.replace("1842", "1900").replace("xgboost", "newer")).exits(0);
    assert_eq!(ran.counts("Model"), [1, 1, 0, 0, 0, 0]);
    assert_eq!(folder.query("SELECT algorithm, res_version FROM model WHERE name = 'churn'"), ["newer|1900"]);
}

#[test]
fn labels_removed_from_an_object_are_deleted() {
    let folder = Folder::new();
    folder.import_input(&model("a", &["labels: {gone: 'yes', stays: 'yes', changes: before}"], &[])).exits(0);
    folder
        .import_input(&model("a", &["labels: {stays: 'yes', changes: after, new: 'yes'}"], &["source: second"]))
        .exits(0);
    assert_eq!(
        folder.query("SELECT key, value FROM model_labels ORDER BY key"),
        ["changes|after", "new|yes", "stays|yes"]
    );
    assert_eq!(folder.query("SELECT name, source FROM model"), ["a|second"]);
}

#[test]
fn json_yaml_and_line_input_give_the_same_rows() {
    let list: Value = serde_json::from_str(LIST).unwrap();
    let yaml = ingester_declare::yaml::to_string(&list).unwrap();
    assert!(yaml.contains("- apiVersion: michelangelo.api/v2"), "{yaml}");
    let lines: String = list["items"].as_array().unwrap().iter().map(|item| item.to_string() + "\n").collect();
    let documents = lines.lines().map(|line| format!("---\n{line}\n")).collect();
    for (name, text) in [("l.json", LIST.to_owned()), ("l.yaml", yaml), ("l.ndjson", lines), ("many.yaml", documents)] {
        let folder = Folder::new();
        folder.write(name, text);
        let ran = folder.import(&[name]).exits(0);
        assert_eq!(
            (ran.counts("Model"), ran.counts("ModelFamily")),
            ([1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]),
            "{name}"
        );
        assert_eq!(stored_list(&folder), STORED_LIST, "{name}");
    }
}

#[test]
fn a_dash_as_path_reads_standard_input() {
    let folder = Folder::new();
    folder.import_input(LIST).exits(0);
    assert_eq!(stored_list(&folder), STORED_LIST);
    let ran = folder.import_input("kind: [\n").exits(1);
    assert_eq!(ran.rejected().len(), 1);
    assert!(ran.rejected()[0].starts_with("standard input: document 1 (line 1): "), "{}", ran.err);
}

#[test]
fn a_folder_is_read_recursively_without_other_files() {
    let folder = Folder::new();
    folder.write("in/b.yml", model("b", &[], &[]));
    folder.write("in/deep/er/a.YAML", model("a", &[], &[]));
    folder.write("in/c.jsonl", model_json(json!({"name": "c"}), json!({})));
    folder.write("in/README.md", "# not an object");
    folder.write("in/empty.yaml", "");
    folder.write("in/comments.yaml", "# nothing\n---\n# at all\n");
    // A link back up must not cause an endless loop.
    std::os::unix::fs::symlink("..", folder.path().join("in/deep/up.yaml")).unwrap();
    let ran = folder.import(&["in"]).exits(0);
    assert_eq!(ran.counts("Model"), [3, 3, 0, 0, 0, 0]);
    assert_eq!(folder.query("SELECT name FROM model ORDER BY name"), ["a", "b", "c"]);

    // A file that is named on the command line is read whatever its extension.
    folder.write("objects.txt", model("d", &[], &[]));
    assert_eq!(folder.import(&["objects.txt"]).exits(0).counts("Model"), [1, 1, 0, 0, 0, 0]);
}

#[test]
fn an_import_without_objects_says_so() {
    let folder = Folder::new();
    folder.write("empty.yaml", "");
    folder.import(&["empty.yaml"]).exits(0).says(&["there was no object to import"]);
}

#[test]
fn of_two_objects_with_the_same_name_the_later_one_is_stored() {
    let folder = Folder::new();
    folder.write("in/a.yaml", model("same", &[], &["source: first"]));
    folder.write("in/b.yaml", model("same", &[], &["source: second"]));
    assert_eq!(folder.import(&["in"]).exits(0).counts("Model"), [2, 1, 0, 1, 0, 0]);
    assert_eq!(folder.query("SELECT name, source FROM model"), ["same|second"]);

    // Two uids are two objects: one was deleted and recreated.
    let of = |uid: &str, version: &str| {
        model("again", &[&format!("uid: {uid}"), &format!("resourceVersion: '{version}'")], &[])
    };
    folder.import_input(&format!("{}---\n{}", of("one", "1"), of("two", "2"))).exits(0);
    assert_eq!(
        folder.query("SELECT uid, res_version FROM model WHERE name = 'again' ORDER BY uid"),
        ["one|1", "two|2"]
    );
}

#[test]
fn an_import_of_several_batches_stores_every_object() {
    let folder = Folder::new();
    let objects: String = (0..2000)
        .map(|i| model_json(json!({"name": format!("m{i}"), "labels": {"i": i.to_string()}}), json!({"revisionId": i})))
        .collect();
    folder.write("many.ndjson", objects);
    assert_eq!(folder.import(&["many.ndjson"]).exits(0).counts("Model"), [2000, 2000, 0, 0, 0, 0]);
    let sums = "SELECT COUNT(*), SUM(revision_id), SUM(value) FROM model JOIN model_labels ON uid = obj_uid";
    assert_eq!(folder.query(sums), ["2000|1999000|1999000"]);
}

#[test]
fn show_prints_the_first_rows_without_empty_columns() {
    let folder = Folder::new();
    let objects: Vec<String> = (0..9).map(|i| model(&format!("m{i}"), &[], &[])).collect();
    folder.write("models.yaml", objects.join("---\n"));
    folder.write("family.json", LIST);
    let ran = folder.import(&["--show", "models.yaml", "family.json"]).exits(0);
    let (_, shown) = ran.out.split_once("\nModel (table `model`)\n").unwrap();
    let (models, _) = shown.split_once("\n\n").unwrap_or((shown, ""));
    let lines: Vec<Vec<&str>> = models.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(ran.out.contains(
        "\nModelFamily (table `modelfamily`)\nNAMESPACE   NAME    MODEL_FAMILY_NAME\nml          churn   churn\n"
    ));
    // Five rows by default, ordered by namespace and name.
    assert_eq!(lines.len(), 1 + 5, "{models}");
    assert!(!lines[0].contains(&"TRAINING_FRAMEWORK"), "{models}");
    assert_eq!(
        (lines[0][..4].to_vec(), lines[1][..3].to_vec()),
        (vec!["NAMESPACE", "NAME", "OWNER", "MODEL_KIND"], vec!["ml", "churn", "ada"])
    );
    assert_eq!(lines[5][1], "m3");
    // Kinds without objects are left out.
    assert!(!ran.out.contains("Pipeline"), "{}", ran.out);

    let ran = folder.import(&["--show=1", "models.yaml"]).exits(0);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("ml ")).count(), 1, "{}", ran.out);
    let ran = folder.import(&["models.yaml"]).exits(0);
    assert!(!ran.out.contains("ml "), "{}", ran.out);
}

#[test]
fn counts_are_printed_as_json_or_yaml_on_request() {
    let folder = Folder::new();
    folder.write("in/a.json", LIST);
    folder.write("in/b.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n");
    let expected = json!([
        {"kind": "ModelFamily", "table": "modelfamily", "read": 1, "written": 1, "unchanged": 0, "stale": 0, "leftOut": 0, "rejected": 0},
        {"kind": "Model", "table": "model", "read": 1, "written": 1, "unchanged": 0, "stale": 0, "leftOut": 0, "rejected": 0},
        {"kind": "(unknown)", "table": "", "read": 1, "written": 0, "unchanged": 0, "stale": 0, "leftOut": 0, "rejected": 1},
    ]);
    let printed: Value = serde_json::from_str(&folder.import(&["-o", "json", "in"]).exits(1).out).unwrap();
    assert_eq!(printed, expected);

    let folder = Folder::new();
    folder.write("a.json", LIST);
    let printed: Value = serde_saphyr::from_str(&folder.import(&["-o", "yaml", "a.json"]).exits(0).out).unwrap();
    assert_eq!(printed, json!([expected[0], expected[1]]));

    let printed: Value =
        serde_json::from_str(&folder.import(&["-o", "json", "--show", "a.json"]).exits(0).out).unwrap();
    assert_eq!(printed[0]["rows"], json!([{"namespace": "ml", "name": "churn", "model_family_name": "churn"}]));
    let row = &printed[1]["rows"][0];
    assert_eq!(
        (&row["owner"], &row["revision_id"], &row["src_pipeline_run_name"]),
        (&json!("ada"), &json!("3"), &Value::Null)
    );
}

#[test]
fn a_closed_output_pipe_does_not_change_the_exit_code() {
    let folder = Folder::new();
    folder.write("good.json", LIST);
    folder.write("bad.yaml", "kind: Model\n");
    for (name, code) in [("good.json", 0), ("bad.yaml", 1)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran =
            finish(folder.command(&["import", "--database-url", "sqlite://test.db", "--show", name]).stdout(writer));
        assert!(!ran.exits(code).err.contains("pipe"));
    }
    assert_eq!(stored_list(&folder), STORED_LIST);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_imported() {
    let folder = Folder::new();
    folder.write("in/a.yaml", model("a", &[], &[]));
    // A link to itself, which cannot be read, even by root.
    std::os::unix::fs::symlink("loop.yaml", folder.path().join("in/loop.yaml")).unwrap();
    folder.write("b.yaml", model("b", &[], &[]));
    let ran = folder.import(&["in", "missing", "b.yaml"]).exits(1);
    let rejected = ran.rejected();
    assert!(rejected.iter().any(|line| line.starts_with("missing: cannot be read: No such file")), "{}", ran.err);
    assert!(rejected.iter().any(|line| line.starts_with("in/loop.yaml: cannot be read: ")), "{}", ran.err);
    assert_eq!(
        (rejected.len(), folder.query("SELECT name FROM model ORDER BY name")),
        (2, vec!["a".into(), "b".into()])
    );

    let ran = folder.import(&["missing", "nowhere.yaml"]).exits(2);
    ran.says(&["cannot read missing: No such file", "cannot read nowhere.yaml: No such file"]);
    folder.write("zip.yaml", "PK\u{3}\u{4}..");
    folder.import(&["zip.yaml"]).exits(2).says(&["zip.yaml: cannot be read", "nothing could be read"]);
}

/// Only a user with limited rights sees a folder that he may not list: root may do everything.
#[test]
fn a_folder_that_may_not_be_listed_stops_no_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.write("in/a.yaml", model("a", &[], &[]));
    folder.write("in/closed/b.yaml", model("b", &[], &[]));
    folder.write("in/z.yaml", model("z", &[], &[]));
    for (path, mode) in [("", 0o777), ("in/closed", 0o000)] {
        std::fs::set_permissions(folder.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let import = ["import", "--database-url", "sqlite://test.db", "in"];
    let mut command = folder.command(&import);
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|about| std::os::unix::fs::MetadataExt::uid(&about) == 0);
    if is_root {
        // Perhaps only root may read the folder where the program was built.
        let built = env!("CARGO_BIN_EXE_ingester");
        let here = folder.path().join("program");
        if std::fs::hard_link(built, &here).is_err() {
            std::fs::copy(built, &here).unwrap();
        }
        command = std::process::Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", "./program"]).args(import);
        command.current_dir(folder.path()).env_remove("RUST_LOG").stdin(std::process::Stdio::null());
    }
    let ran = finish(&mut command);
    std::fs::set_permissions(folder.path().join("in/closed"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = ran.exits(1);
    assert_eq!(ran.rejected(), ["in/closed: cannot be read: Permission denied (os error 13)"]);
    assert_eq!(folder.query("SELECT name FROM model ORDER BY name"), ["a", "z"]);
}

#[test]
fn standard_input_that_is_closed_empty_or_a_folder_is_an_error() {
    let folder = Folder::new();
    for redirection in ["<&-", "</dev/null", "<.", ">written"] {
        let mut command = std::process::Command::new("sh");
        let program = env!("CARGO_BIN_EXE_ingester");
        let line = match redirection {
            // Open, but for writing only.
            ">written" => format!("exec {program} import --database-url sqlite://test.db - 0>written"),
            _ => format!("exec {program} import --database-url sqlite://test.db - {redirection}"),
        };
        command.args(["-c", &line]).current_dir(folder.path());
        let ran = finish(&mut command).exits(2);
        ran.says(&["standard input: cannot be read: ", "error: nothing could be read"]);
    }
    // A list without objects is valid input.
    folder.import_input(r#"{"apiVersion": "v1", "kind": "List", "items": []}"#).exits(0);
}

#[test]
fn files_of_another_encoding_are_named_with_their_line_and_the_remedy() {
    let folder = Folder::new();
    folder.write("latin1.yaml", b"kind: Model\n# caf\xe9\n");
    let remedy = "iconv -f LATIN1 -t UTF-8 FILE";
    folder.import(&["latin1.yaml"]).exits(1).says(&["latin1.yaml: document 1", "not valid UTF-8 at byte 17", remedy]);
    for arguments in [["kinds", "--kinds", "latin1.yaml"], ["run", "--config", "latin1.yaml"]] {
        folder.run(&arguments).exits(2).says(&["latin1.yaml", "line 2 is not UTF-8", remedy]);
    }
}

/// `text`, compressed by gzip.
fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_read_from_files_folders_and_standard_input() {
    let folder = Folder::new();
    folder.write("in/a.yaml.gz", gzip(model("a", &[], &[])));
    folder.write("in/b.json.gz", gzip(model_json(json!({"name": "b"}), json!({}))));
    folder.write("in/c.tar.gz", gzip("not read"));
    // Two in a row are one, and the name says nothing.
    let documents = [model("c", &[], &[]), format!("---\n{}", model("d", &[], &[]))];
    let both = folder.write("both", documents.map(gzip).concat());
    assert_eq!(folder.import(&["in", "both"]).exits(0).counts("Model"), [4, 4, 0, 0, 0, 0]);
    let mut command = folder.command(&["import", "--database-url", "sqlite://stdin.db", "-"]);
    finish(command.stdin(std::fs::File::open(both).unwrap())).exits(0);
    // Cut off: what comes before the end is stored.
    let whole = gzip(format!("{}---\n{}", model("e", &[], &[]), "# x\n".repeat(100_000)));
    folder.write("cut.yaml.gz", &whole[..whole.len() - 8]);
    folder
        .import(&["cut.yaml.gz"])
        .exits(1)
        .says(&["cut.yaml.gz: cannot be read: its gzip data", "copy the file once more"]);
    assert_eq!(folder.query("SELECT name FROM model ORDER BY name"), ["a", "b", "c", "d", "e"]);
}

#[test]
fn text_in_utf_16_and_other_compressions_are_named_with_the_remedy() {
    let folder = Folder::new();
    let text = model("a", &[], &[]);
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let iconv = "it is UTF-16; convert it: iconv -f UTF-16 -t UTF-8";
    for (bytes, says) in [
        (little(&text), iconv),
        (big(&text), iconv),
        (little(&format!("\u{feff}{text}")), iconv),
        (big("\u{feff}{}"), iconv),
        (gzip(gzip("x")), "it is gzip in gzip"),
        (b"PK\x03\x04....".to_vec(), "it is a zip archive; unpack it"),
        (b"\x28\xb5\x2f\xfd....".to_vec(), "decompress it with unzstd"),
        (b"\xfd7zXZ\0....".to_vec(), "decompress it with unxz"),
        (b"BZh91AY&SY".to_vec(), "decompress it with bunzip2"),
    ] {
        folder.write("x.yaml", bytes);
        let ran = folder.import(&["x.yaml"]);
        assert!(matches!(ran.code, Some(1 | 2)) && ran.err.contains(says), "{}", ran.err);
    }
}

#[test]
fn a_kind_that_is_nearly_known_is_named() {
    let folder = Folder::new();
    let of =
        |api_version: &str, kind: &str| format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\n");
    for (api_version, kind, says) in [
        ("michelangelo.api/v2", "model", "did you mean Model of michelangelo.api/v2?"),
        ("michelangelo.api/v1", "modle", "did you mean Model of michelangelo.api/v2?"),
        ("michelangelo.api/v2", "Pipelines", "did you mean Pipeline of michelangelo.api/v2?"),
        ("example.com/v1", "Model", "this ingester knows Model of michelangelo.api/v2"),
        ("apps/v1", "DaemonSet", "is not a kind that this ingester mirrors; `ingester kinds` lists them"),
        (
            "michelangelo.api/v2",
            "CronPipeline",
            "is not a kind that this ingester mirrors; `ingester kinds` lists them",
        ),
    ] {
        folder.import_input(&of(api_version, kind)).exits(1).says(&[says]);
    }
}

#[test]
fn objects_without_a_name_are_counted_and_named_on_request() {
    let folder = Folder::new();
    let nameless = |n: u32| {
        format!(
            "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {{generateName: run-, namespace: ml, labels: {{n: '{n}'}}}}\n---\n"
        )
    };
    folder.write("objects.yaml", (0..3).map(nameless).collect::<String>() + &model("named", &[], &[]));
    let ran = folder.import(&["objects.yaml"]).exits(1);
    let ran = ran.says(&["rejected: 3 objects with `generateName` and no name", "--generate-names"]);
    assert_eq!(ran.err.matches("rejected: ").count(), 1, "{}", ran.err);
    folder.import(&["objects.yaml", "--generate-names"]).exits(0);
    folder.import(&["objects.yaml", "--generate-names"]).exits(0);
    let names = folder.query("SELECT name FROM model ORDER BY name");
    assert!(names.len() == 4 && names[1..].iter().all(|name| name.starts_with("run-")), "{names:?}");
    // Equal objects are as many rows.
    folder.write("equal.yaml", nameless(9).repeat(2));
    folder.import(&["equal.yaml", "--generate-names"]).exits(0);
    folder.import(&["equal.yaml", "--generate-names"]).exits(0);
    assert_eq!(folder.query("SELECT COUNT(*) FROM model"), ["6"]);
}

#[test]
fn an_object_whose_name_is_generated_keeps_its_state() {
    let folder = Folder::new();
    let annotations =
        "mirror.michelangelo.api/state: deleted, mirror.michelangelo.api/deleted-at: '2026-01-31T12:00:00Z'";
    folder.write(
        "objects.yaml",
        format!(
            "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {{generateName: run-, namespace: ml, annotations: {{{annotations}}}}}\n"
        ),
    );
    for states in [&["--states"][..], &["--assume", "evicted"]] {
        folder.import(&[&["objects.yaml", "--generate-names"], states].concat()).exits(0);
        let query = "SELECT COUNT(*), SUM(delete_time IS NOT NULL) FROM model";
        assert_eq!(folder.query(query), ["1|1"], "{states:?}");
    }
}

#[test]
fn objects_of_unknown_kinds_are_ignored_on_request() {
    let folder = Folder::new();
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\n";
    folder.write("objects.yaml", other.to_owned() + &model("known", &[], &[]));
    folder.import(&["objects.yaml"]).exits(1);
    let ran = folder.import(&["objects.yaml", "--ignore-unknown"]).exits(0);
    let ran = ran.says(&["1 object of a kind that this ingester does not mirror was ignored"]);
    assert!(!ran.out.contains("unknown"), "{}", ran.out);
    // Neither a missing name nor another namespace matters.
    let of = |api_version: &str, kind: &str, metadata: &str| {
        format!("apiVersion: {api_version}\nkind: {kind}\n{metadata}---\n")
    };
    let others = [
        of("kustomize.config.k8s.io/v1beta1", "Kustomization", ""),
        of("batch/v1", "Job", "metadata: {generateName: run-}\n"),
        of("michelangelo.api/v1", "Model", "metadata: {name: x, namespace: other}\n"),
    ];
    folder.write("others.yaml", others.concat());
    let ran = folder.import(&["others.yaml", "--ignore-unknown", "-n", "ml"]).exits(0);
    ran.says(&["3 objects of kinds that this ingester does not mirror were ignored"]);
    folder.import_input("kind: Model\n").exits(1);
}

#[test]
fn times_up_to_the_end_of_the_year_9999_are_stored_and_printed() {
    let folder = Folder::new();
    let time = "9999-12-31T23:59:59Z";
    folder.import_input(&model("last", &[&format!("creationTimestamp: {time}")], &[])).exits(0);
    assert_eq!(folder.query("SELECT create_time FROM model"), ["9999-12-31 23:59:59.000000"]);
    let get = ["get", "models", "--database-url", "sqlite://test.db", "--created-after", "9999-12-31", "-o", "name"];
    assert_eq!(folder.run(&get).exits(0).out.lines().count(), 1);
    let ran = folder.run(&["get", "models", "--database-url", "sqlite://test.db", "-o", "json"]).exits(0);
    assert!(ran.out.contains(time), "{}", ran.out);
}

#[test]
fn a_locked_sqlite_file_is_said_to_be_locked() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("test.db"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let ran = runtime.block_on(async {
        use sqlx::{Connection as _, Executor as _};
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").await.unwrap();
        connection.execute("BEGIN EXCLUSIVE").await.unwrap();
        folder.import(&[SAMPLES])
    });
    ran.exits(2).says(&["sqlite://test.db: the file is locked by another process", "`fuser test.db` tells which"]);
}

#[test]
fn names_that_kubernetes_refuses_are_rejected_alone() {
    let folder = Folder::new();
    let names = ["x'); DROP TABLE model; --", "Churn", "ml/churn"];
    let objects: String =
        names.iter().map(|name| model_json(json!({"namespace": "ml", "name": name}), json!({}))).collect();
    let elsewhere = model_json(json!({"namespace": "ml'; --", "name": "churn"}), json!({}));
    let good = model_json(json!({"namespace": "ml", "name": "churn"}), json!({}));
    folder.write("in.ndjson", format!("{objects}{elsewhere}{good}"));
    let ran = folder.import(&["in.ndjson"]).exits(1);
    for (said, what) in ran.rejected().iter().zip(names.map(|name| format!("the name `{name}`"))) {
        assert!(said.contains(&what) && said.ends_with("; Kubernetes would refuse it"), "{said}");
    }
    assert!(ran.rejected()[3].contains("the namespace `ml'; --`"), "{:?}", ran.rejected());
    assert_eq!(folder.query("SELECT namespace, name FROM model"), ["ml|churn"]);
    assert_eq!(folder.query("SELECT COUNT(*) FROM ingester_rejects"), ["4"]);
}

#[test]
fn a_dry_run_refuses_a_database_of_another_program() {
    let of_reference = [
        "CREATE TABLE model (uid VARCHAR(255) PRIMARY KEY, group_ver TEXT, namespace TEXT, name TEXT, res_version BIGINT, proto BLOB, json JSON)",
        "CREATE TABLE model_labels (id INTEGER PRIMARY KEY, obj_uid TEXT, \"key\" TEXT, value TEXT)",
    ];
    let foreign = ["CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT)"];
    let companion = ["DROP TABLE model_labels", "CREATE TABLE model_labels (id INTEGER PRIMARY KEY, label TEXT)"];
    for (statements, is_ours, says) in [
        (&foreign[..], false, "the table model: the ingester did not make it"),
        (&of_reference, false, "the database is one of the reference system"),
        (&companion, true, "the table model_labels: the ingester did not make it"),
    ] {
        let folder = Folder::new();
        if is_ours {
            folder.import(&[SAMPLES]).exits(0);
        }
        statements.iter().for_each(|sql| drop(folder.query(sql)));
        let ran = folder.import(&["--dry-run", SAMPLES]).exits(2).says(&[says]);
        assert!(!ran.err.contains("schema apply"), "it would change that table: {}", ran.err);
        assert_eq!(ran.out, "");
    }
}
