//! Bad input: each bad document is named, every good one is stored.

use crate::program::{Folder, RunOutput, model, model_json};
use serde_json::json;

/// A rejected document, and what its message contains.
struct Bad {
    file: &'static str,
    document: u32,
    line: u32,
    says: &'static [&'static str],
}

const fn bad(file: &'static str, document: u32, line: u32, says: &'static [&'static str]) -> Bad {
    Bad { file, document, line, says }
}

/// Checks that exactly these documents were rejected.
#[track_caller]
fn are_rejected(ran: &RunOutput, bad: &[Bad]) {
    let mut rejected = ran.rejected();
    for Bad { file, document, line, says } in bad {
        let head = format!("in/{file}: document {document} (line {line}): ");
        let place = rejected.iter().position(|text| text.starts_with(&head));
        let text = rejected.remove(place.unwrap_or_else(|| panic!("no `{head}` in {}", ran.err)));
        for part in *says {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
    }
    assert!(rejected.is_empty(), "rejected too: {rejected:?}");
}

#[test]
fn a_bad_document_is_named_and_every_good_one_is_stored() {
    let folder = Folder::new();
    let good = |name: &str| model(name, &[], &[]);
    let write = |name: &str, text: String| folder.write(&format!("in/{name}"), text);
    write("broken.yaml", format!("{}---\n{}---\n{}", good("g1"), good("[unclosed"), good("g2")));
    write("broken.ndjson", format!("{}{{\"kind\": \"Model\", oops}}\n{}", json_good("g3"), json_good("g4")));
    write("empty.yaml", String::new());
    write(
        "key.yaml",
        format!("{}---\n{}", model("key", &[&format!("labels: {{{}: v}}", "k".repeat(318))], &[]), good("g5")),
    );
    write(
        "long.yaml",
        format!("{}---\n{}", model("long", &[], &[&format!("description: {}", "ü".repeat(769))]), good("g6")),
    );
    // As many characters as the column holds, in twice as many bytes.
    write("not-too-long.yaml", model("g7", &[], &[&format!("description: {}", "ü".repeat(768))]));
    write("noname.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {namespace: ml}\n".into());
    write("nokind.yaml", "apiVersion: michelangelo.api/v2\nmetadata: {name: x}\n".into());
    write("scalar.yaml", "just text\n".into());
    write("type.yaml", format!("{}---\n{}---\n{}", good("3"), model("t", &[], &["revisionId: many"]), good("g8")));
    write("unknown.yaml", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: shop}\n---\napiVersion: michelangelo.api/v1\nkind: Model\nmetadata: {name: old}\n".into());
    write(
        "version.yaml",
        ["abc", "18446744073709551616", "9223372036854775808", "-1"]
            .map(|version| model(&format!("v{version}"), &[&format!("resourceVersion: '{version}'")], &[]))
            .join("---\n"),
    );
    write("z-last.yaml", good("g9"));

    let ran = folder.import(&["in"]).exits(1).says(&["15 rejected, the rest is stored in sqlite://test.db"]);
    are_rejected(
        &ran,
        &[
            bad("broken.yaml", 2, 9, &["Model in namespace ml: line "]),
            bad("broken.ndjson", 2, 2, &["line 2 column 19"]),
            bad(
                "key.yaml",
                1,
                1,
                &[
                    "Model ml/key",
                    "the key of label `kkk",
                    "a key has 63 characters at most",
                    "Kubernetes would refuse it",
                ],
            ),
            bad(
                "long.yaml",
                1,
                1,
                &["Model ml/long", "column `description`", "769 characters", "VARCHAR(768)", "shorten"],
            ),
            bad("noname.yaml", 1, 1, &["Model in namespace ml: metadata.name: missing"]),
            bad("nokind.yaml", 1, 1, &["x: kind: missing"]),
            bad("scalar.yaml", 1, 1, &["not an object but a string"]),
            bad("type.yaml", 1, 1, &["Model ml/3", "metadata.name", "expected a string", "3"]),
            bad("type.yaml", 2, 9, &["Model ml/t", "spec.revisionId", "many"]),
            bad("unknown.yaml", 1, 1, &["ReplicaSet shop/web", "apps/v1", "`ingester kinds`"]),
            bad(
                "unknown.yaml",
                2,
                5,
                &["Model old", "michelangelo.api/v1 is not mirrored", "Model of michelangelo.api/v2"],
            ),
            bad("version.yaml", 1, 1, &["Model ml/vabc", "metadata.resourceVersion", "`abc` is not a number"]),
            bad("version.yaml", 2, 10, &["metadata.resourceVersion", "`18446744073709551616`", "18446744073709551615"]),
            bad("version.yaml", 3, 19, &["9223372036854775808 is larger than SQLite's integers"]),
            bad("version.yaml", 4, 28, &["metadata.resourceVersion", "`-1` is not a number"]),
        ],
    );
    let names: Vec<String> = (1..=9).map(|i| format!("g{i}")).collect();
    assert_eq!(folder.query("SELECT name FROM model ORDER BY name"), names);
    assert_eq!(ran.counts("Model"), [19, 9, 0, 0, 0, 10]);
    assert_eq!(ran.counts("(unknown)"), [5, 0, 0, 0, 0, 5]);
}

fn json_good(name: &str) -> String {
    model_json(json!({"name": name, "namespace": "ml"}), json!({}))
}

#[test]
fn a_rejected_object_is_recorded_until_a_good_version_is_stored() {
    let folder = Folder::new();
    let long = format!("description: {}", "x".repeat(769));
    let version = "resourceVersion: abc";
    folder.write("a.yaml", model("long", &["uid: u-1", "resourceVersion: '7'"], &[&long]));
    folder.write("b.yaml", model("version", &[version], &[]));
    folder.write("c.yaml", model("large", &["resourceVersion: '18446744073709551615'"], &[]));
    folder.write("d.yaml", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\n");
    folder.import(&["a.yaml", "b.yaml", "c.yaml", "d.yaml"]).exits(1);
    let recorded = "SELECT name, group_ver, kind, namespace, res_version, reason FROM ingester_rejects ORDER BY name";
    let rows = folder.query(recorded);
    // Documents of unknown kinds are not recorded: they need no fix.
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(
        rows[0].starts_with("large|michelangelo.api/v2|Model|ml|18446744073709551615|18446744073709551615 is larger"),
        "{rows:?}"
    );
    assert!(
        rows[1].starts_with("long|michelangelo.api/v2|Model|ml|7|column `description`: 769 characters"),
        "{rows:?}"
    );
    assert!(
        rows[2].starts_with("version|michelangelo.api/v2|Model|ml|abc|metadata.resourceVersion: `abc`"),
        "{rows:?}"
    );
    assert_eq!(folder.query("SELECT uid FROM ingester_rejects WHERE name = 'long'"), ["u-1"]);
    assert_eq!(
        folder.query("SELECT COUNT(*) FROM ingester_rejects WHERE reject_time >= '2026' AND LENGTH(reject_time) = 26"),
        ["3"]
    );

    // The same files again: still one record each.
    folder.import(&["a.yaml", "b.yaml", "c.yaml"]).exits(1);
    assert_eq!(folder.query("SELECT COUNT(*) FROM ingester_rejects"), ["3"]);

    folder.write("a.yaml", model("long", &["uid: u-1", "resourceVersion: '8'"], &["description: short"]));
    folder.write("b.yaml", model("version", &[], &[]));
    folder.import(&["a.yaml", "b.yaml", "c.yaml"]).exits(1);
    assert_eq!(folder.query("SELECT name FROM ingester_rejects"), ["large"]);
    folder.write("c.yaml", model("large", &[], &[]));
    folder.import(&["c.yaml"]).exits(0);
    assert_eq!(folder.query("SELECT COUNT(*) FROM ingester_rejects"), ["0"]);
    assert_eq!(folder.query("SELECT name FROM model ORDER BY name"), ["large", "long", "version"]);
}

#[test]
fn a_key_twice_rejects_its_object_in_either_format() {
    let folder = Folder::new();
    let json = |name: &str, more: &str| {
        model_json(json!({"name": name, "namespace": "ml"}), json!({})).replacen("\"spec\":{}", more, 1)
    };
    let twice = r#""spec":{"algorithm":"a","algorithm":"b"}"#;
    let once = r#""spec":{"algorithm":"b"}"#;
    assert!(json("j", twice).contains(twice), "{}", json("j", twice));
    // Fields that are not in any struct are checked, too.
    let unknown = r#""spec":{"more":[{"x":1,"x":2}]}"#;
    folder.write("a.json", [json("j", twice), json("g1", once), json("u", unknown)].concat());
    folder.write("b.yaml", [model("w", &[], &["algorithm: a"]), model("g2", &[], &[])].join("---\n"));
    let ran = folder.import(&["a.json", "b.yaml"]).exits(1);
    let named = |object: &str, place: &str, key: &str| {
        let message = format!(": Model ml/{object}: {place}: the key `{key}` appears twice in the same object");
        assert!(ran.rejected().iter().any(|line| line.ends_with(&message)), "{message} is not in: {}", ran.err);
    };
    assert_eq!(ran.rejected().len(), 3, "{}", ran.err);
    let column = |text: &str, key: &str| text.rfind(key).unwrap() + 1;
    named("j", &format!("line 1 column {}", column(&json("j", twice), "\"algorithm\"")), "algorithm");
    named("u", &format!("line 3 column {}", column(&json("u", unknown), "\"x\"")), "x");
    named("w", "line 8 column 3", "algorithm");
    assert_eq!(folder.query("SELECT name FROM model ORDER BY name"), ["g1", "g2"]);
    assert_eq!(folder.query("SELECT name FROM ingester_rejects ORDER BY name"), ["j", "u", "w"]);

    folder.write("a.json", json("j", once));
    folder.import(&["a.json"]).exits(0);
    assert_eq!(folder.query("SELECT name FROM ingester_rejects ORDER BY name"), ["u", "w"]);
}

#[test]
fn sql_in_names_and_values_is_stored_literally() {
    let folder = Folder::new();
    let evil = "'; DROP TABLE model; --";
    let marks = "`back` \"double\" 'single' \\ \\' %s ? $1 :x \u{0}nul\u{0} \u{202e}ö😀\n\ttab";
    // Names that Kubernetes would refuse are rejects, see below.
    let object = json!({
        "name": "a", "namespace": "ml", "labels": {"a": "b"}, "annotations": {"marks": marks, "evil": evil},
    });
    folder.write(
        "a.json",
        model_json(object, json!({"algorithm": evil, "description": marks, "owner": {"name": marks}})),
    );
    folder.import(&["a.json"]).exits(0);

    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
    let evil = hex(evil);
    let marks = hex(marks);
    let rows = folder.query("SELECT HEX(algorithm), HEX(description), HEX(owner) FROM model");
    assert_eq!(rows, [format!("{evil}|{marks}|{marks}")]);
    let rows = folder.query("SELECT key, HEX(value) FROM model_annotations ORDER BY key");
    assert_eq!(rows, [format!("evil|{evil}"), format!("marks|{marks}")]);
    assert_eq!(folder.query("SELECT JSON_VALID(json) FROM model"), ["1"]);

    // Import it again: comparing with the stored row is safe, too.
    folder.import(&["a.json"]).exits(0);
    assert_eq!(folder.query("SELECT COUNT(*), (SELECT COUNT(*) FROM model_labels) FROM model"), ["1|1"]);

    // The message and the record of a reject are safe, too.
    folder.write(
        "b.yaml",
        model("\"'; DROP TABLE ingester_rejects; --\"", &["resourceVersion: \"'; DROP TABLE model; --\""], &[]),
    );
    folder.import(&["b.yaml"]).exits(1);
    assert_eq!(
        folder.query("SELECT name, res_version FROM ingester_rejects"),
        ["'; DROP TABLE ingester_rejects; --|'; DROP TABLE model; --"]
    );
}

#[test]
fn labels_that_kubernetes_refuses_are_rejected_by_name() {
    let folder = Folder::new();
    let of = |name: &str, labels: serde_json::Value| model_json(json!({"name": name, "labels": labels}), json!({}));
    let noted = model_json(json!({"name": "noted", "annotations": {"a ": "1"}}), json!({}));
    let good = of("good", json!({"a": "1", "example.com/A_b.c": ""}));
    let bad = [of("blank", json!({"a": "1", "a ": "2"})), of("value", json!({"a": "1 "})), noted];
    folder.write("in/a.ndjson", bad.concat() + &good);
    let ran = folder.import(&["in"]).exits(1);
    are_rejected(
        &ran,
        &[
            bad_line(1, &["Model blank", "the key of label `a `: a key has letters, digits"]),
            bad_line(2, &["Model value", "the value of label `a`: a label's value has letters"]),
            bad_line(3, &["Model noted", "the key of annotation `a `: "]),
        ],
    );
    assert_eq!(folder.query("SELECT name FROM model"), ["good"]);
}

const fn bad_line(line: u32, says: &'static [&'static str]) -> Bad {
    bad("a.ndjson", line, line, says)
}

#[test]
fn control_characters_of_a_document_do_not_reach_the_terminal() {
    let folder = Folder::new();
    folder.write(
        "a.json",
        model_json(json!({"name": "a\u{1b}[2Jb\nrejected: c", "resourceVersion": "\u{7}"}), json!({})),
    );
    let ran = folder.import(&["a.json"]).exits(1);
    assert!(ran.err.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", ran.err);
    assert_eq!(ran.rejected().len(), 1, "{:?}", ran.err);
    assert!(ran.err.contains(r"Model a\u{1b}[2Jb\nrejected: c: "), "{:?}", ran.err);
}

#[test]
fn a_megabyte_in_a_name_or_value_is_shortened_in_messages() {
    let folder = Folder::new();
    let long = "x".repeat(1_000_000);
    let of = |metadata| model_json(metadata, json!({}));
    let objects = [
        of(json!({"name": long})),
        of(json!({"name": "a", "namespace": long})),
        of(json!({"name": "b", "resourceVersion": long})),
        of(json!({"name": "c", "creationTimestamp": long})),
        of(json!({"name": "d", "labels": {long.as_str(): long}})),
        model_json(json!({"name": "e"}), json!({"revisionId": long})),
        json!({"apiVersion": long, "kind": long, "metadata": {"name": long}}).to_string(),
    ];
    folder.write("a.ndjson", objects.concat());
    let ran = folder.import(&["a.ndjson"]).exits(1);
    assert_eq!(ran.rejected().len(), objects.len(), "{}", ran.err.len());
    assert!(ran.err.lines().all(|line| line.chars().count() < 2500), "{}", ran.err);
    // A recorded name is cut to the column's length.
    let lengths = folder.query("SELECT name, LENGTH(namespace), LENGTH(reason) < 20000 FROM ingester_rejects WHERE LENGTH(name) = 1 ORDER BY 1");
    assert_eq!(lengths, ["a|256|1", "b|0|1", "c|0|1", "d|0|1", "e|0|1"]);
}

#[test]
fn an_object_of_110_levels_is_stored_and_shown() {
    let folder = Folder::new();
    // The object and its spec are two of them.
    let deep = (0..108).fold(json!(1), |inner, _| json!([inner]));
    let object = model_json(json!({"name": "deep", "namespace": "ml", "uid": "u"}), json!({"unknown": deep}));
    folder.write("a.json", object);
    folder.import(&["a.json"]).exits(0);
    for arguments in [&["get", "models"][..], &["get", "model", "deep", "-n", "ml"]] {
        let target = ["-o", "json", "--database-url", "sqlite://test.db"];
        let shown = folder.run(&[arguments, &target].concat()).exits(0).out;
        let unknown = shown.split_once("\"unknown\"").unwrap().1;
        assert_eq!(unknown.split('1').next().unwrap().matches('[').count(), 108, "{shown}");
    }
}

#[test]
fn too_deep_nesting_is_rejected_and_later_documents_are_stored() {
    let deep = 200_000;
    let open = "[".repeat(deep);
    let close = "]".repeat(deep);
    let head = "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: deep}\nspec:";
    for (name, text) in [
        (
            "a.json",
            format!(
                "{{\"apiVersion\": \"michelangelo.api/v2\", \"kind\": \"Model\", \"metadata\": {{\"name\": \"deep\"}}, \"spec\": {open}{close}}}\n{}",
                json_good("after")
            ),
        ),
        (
            "objects.json",
            format!("{{\"spec\": {}1{}}}\n{}", "{\"a\":".repeat(deep), "}".repeat(deep), json_good("after")),
        ),
        ("unclosed.json", format!("{{\"spec\": {open}\n{}", json_good("after"))),
        ("flow.yaml", format!("{head} {open}{close}\n---\n{}", model("after", &[], &[]))),
        ("block.yaml", format!("{head}\n  {}x\n---\n{}", "- ".repeat(deep), model("after", &[], &[]))),
        ("unclosed.yaml", format!("{head} {}\n---\n{}", "{a: ".repeat(deep), model("after", &[], &[]))),
    ] {
        let folder = Folder::new();
        folder.write(name, text);
        let ran = folder.import(&[name]).exits(1);
        assert_eq!(ran.rejected().len(), 1, "{name}: {}", ran.err);
        assert!(ran.rejected()[0].starts_with(&format!("{name}: document 1 (line 1): ")), "{}", ran.err);
        assert!(ran.err.contains("nested deeper than 120 levels"), "{name}: {}", ran.err);
        assert_eq!(folder.query("SELECT name FROM model"), ["after"], "{name}");
    }
}

#[test]
fn three_megabytes_of_noise_are_rejected_in_a_few_lines() {
    // The same noise in every run: Marsaglia's xorshift.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    })
    .take(3_000_000)
    .collect();
    let folder = Folder::new();
    folder.write("in/a.json", [b"{".as_slice(), &noise].concat());
    folder.write("in/b.yaml", &noise);
    folder.write(
        "in/c.yaml",
        noise.iter().map(|byte| if byte.is_ascii_graphic() { *byte } else { b' ' }).collect::<Vec<_>>(),
    );
    folder.write("in/d.yaml", model("good", &[], &[]));
    let ran = folder.import(&["in"]).exits(1);
    let of = |name: &str| ran.rejected().iter().filter(|line| line.starts_with(name)).count();
    assert!(of("in/a.json") > 0 && of("in/b.yaml") > 0 && of("in/c.yaml") == 1 && of("in/d.yaml") == 0, "{}", ran.err);
    assert!(ran.err.len() < 20_000, "{} bytes of messages", ran.err.len());
    assert_eq!(folder.query("SELECT name FROM model"), ["good"]);
}

#[test]
fn an_unreadable_file_is_named_and_the_others_are_imported() {
    let folder = Folder::new();
    folder.write("in/a.yaml", model("a", &[], &[]));
    std::os::unix::fs::symlink("nowhere.yaml", folder.path().join("in/b.yaml")).unwrap();
    // Its first page is never mapped, so reading fails, even for root.
    std::os::unix::fs::symlink("/proc/self/mem", folder.path().join("in/c.yaml")).unwrap();
    folder.write("in/d.yaml", model("d", &[], &[]));
    let ran = folder.import(&["in"]).exits(1);
    assert_eq!(
        ran.rejected(),
        [
            "in/b.yaml: cannot be read: No such file or directory (os error 2)",
            "in/c.yaml: cannot be read: Input/output error (os error 5)"
        ]
    );
    assert_eq!(folder.query("SELECT name FROM model ORDER BY name"), ["a", "d"]);
    assert_eq!((ran.counts("Model"), ran.counts("(unknown)")), ([2, 2, 0, 0, 0, 0], [2, 0, 0, 0, 0, 2]));
}

#[test]
fn a_file_without_read_permission_is_named_and_the_others_are_imported() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let secret = folder.write("in/a.yaml", model("a", &[], &[]));
    folder.write("in/b.yaml", model("b", &[], &[]));
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&secret).is_ok() {
        eprintln!("skipped: this user may read every file");
        return;
    }
    let ran = folder.import(&["in"]).exits(1);
    assert_eq!(ran.rejected(), ["in/a.yaml: cannot be read: Permission denied (os error 13)"]);
    assert_eq!(folder.query("SELECT name FROM model"), ["b"]);
}
