//! The output of `ingester get`.

use crate::program::{Folder, RunOutput, SAMPLES, model_json};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// An object as kubectl prints it, in JSON and in YAML.
const OBJECT: [&str; 2] = [
    include_str!("../../../crates/ingester-printers/tests/kubectl/object.json"),
    include_str!("../../../crates/ingester-printers/tests/kubectl/object.yaml"),
];

/// Models of two teams: `m0` to `m5`, of which `m4` is evicted and `m5` deleted.
fn models() -> Folder {
    let folder = Folder::new();
    let model = |i: u32| {
        let metadata = json!({
            "name": format!("m{i}"),
            "namespace": if i < 3 { "ml" } else { "ads" },
            "uid": format!("uid-{i}"),
            "resourceVersion": format!("{}", 100 + i),
            "creationTimestamp": format!("2026-03-0{}T00:00:00Z", i + 1),
            "labels": {"team": if i.is_multiple_of(2) { "pricing" } else { "growth" }, "n": i.to_string()},
        });
        model_json(
            metadata,
            json!({"algorithm": if i < 4 { "xgboost" } else { "lstm" }, "owner": {"name": format!("o{}", i % 3)}}),
        )
    };
    folder.write("models.ndjson", (0..6_u32).map(model).collect::<String>());
    folder.import(&["models.ndjson"]).exits(0);
    folder.query("UPDATE model SET evict_time = '2026-04-01 00:00:00.000000' WHERE uid = 'uid-4'");
    folder.query("UPDATE model SET delete_time = '2026-04-02 00:00:00.000000' WHERE uid = 'uid-5'");
    folder
}

impl Folder {
    fn get_command(&self, arguments: &[&str]) -> Command {
        self.command(&[&["get", "--database-url", "sqlite://test.db"], arguments].concat())
    }

    fn get(&self, arguments: &[&str]) -> RunOutput {
        self.run(&[&["get", "--database-url", "sqlite://test.db"], arguments].concat())
    }

    /// The names that are found, in their order.
    #[track_caller]
    fn names(&self, arguments: &[&str]) -> Vec<String> {
        let ran = self.get(&[&["model", "-o", "name"], arguments].concat()).exits(0);
        ran.out.lines().map(|line| line.strip_prefix("model.michelangelo.api/").unwrap().to_owned()).collect()
    }
}

/// The words of each line.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn objects_are_printed_byte_for_byte_as_kubectl_prints_them() {
    let folder = Folder::new();
    // kubectl prints `-0` for a number that it has read as `-0.0`; it reads `-0` as the integer zero.
    folder.write("object.json", OBJECT[0].replace("\"negz\": -0,", "\"negz\": -0.0,"));
    folder.import(&["object.json"]).exits(0);
    // kubectl prints two characters as they are that a terminal or an editor obeys.
    let escaped = OBJECT[0].replace('\u{7f}', "\\u007f");
    // It also prints a long integer as a float, which cannot be imported.
    let whole_yaml = OBJECT[1].replace("'\u{2028}'", "\"\\L\"").replace("- 1e+20\n", "- 100000000000000000000\n");
    assert_eq!(folder.get(&["model", "a", "-o", "json"]).exits(0).out, escaped);
    assert_eq!(folder.get(&["model", "a", "-o", "yaml"]).exits(0).out, whole_yaml);

    // Without a name it is a list.
    let list = folder.get(&["model", "-o", "json"]).exits(0).out;
    let item: Value = serde_json::from_str(OBJECT[0]).unwrap();
    let expected = json!({"apiVersion": "v1", "items": [item], "kind": "List", "metadata": {"resourceVersion": ""}});
    assert_eq!(serde_json::from_str::<Value>(&list).unwrap(), expected);
    assert!(
        list.starts_with("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        {\n            \"apiVersion\""),
        "{list}"
    );
    let list = folder.get(&["model", "-o", "yaml"]).exits(0).out;
    assert!(list.starts_with("apiVersion: v1\nitems:\n- apiVersion: michelangelo.api/v2\n  kind: Model\n"), "{list}");
    assert!(list.ends_with("\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"), "{list}");
    let none = folder.get(&["pipelines", "-o", "json"]).exits(0).out;
    assert_eq!(serde_json::from_str::<Value>(&none).unwrap()["items"], json!([]));
}

#[test]
fn people_get_columns() {
    let folder = models();
    let ran = folder.get(&["models"]).exits(0);
    let lines = words(&ran.out);
    assert_eq!(
        lines[0],
        ["NAMESPACE", "NAME", "OWNER", "DESCRIPTION", "MODEL_KIND", "ALGORITHM", "STATE", "AGE"],
        "{}",
        ran.out
    );
    // By namespace and name; deleted objects are not found.
    let names: Vec<&str> = lines[1..].iter().map(|line| line[1]).collect();
    assert_eq!(names, ["m3", "m4", "m0", "m1", "m2"]);
    assert!(lines[2].contains(&"evicted") && lines[3].contains(&"live"), "{}", ran.out);

    let ran =
        folder.get(&["models", "-n", "ml", "-L", "team,example.com/none", "--show-labels", "--state", "live"]).exits(0);
    let lines = words(&ran.out);
    assert_eq!(lines[0], ["NAME", "OWNER", "DESCRIPTION", "MODEL_KIND", "ALGORITHM", "AGE", "TEAM", "NONE", "LABELS"]);
    assert_eq!((lines[1][0], lines[1][1]), ("m0", "o0"));
    assert_eq!(lines[1].iter().rev().take(2).rev().copied().collect::<Vec<_>>(), ["pricing", "n=0,team=pricing"]);

    let ran = folder.get(&["models", "--state", "deleted", "-o", "wide"]).exits(0);
    let lines = words(&ran.out);
    assert!(ran.out.starts_with("NAMESPACE   NAME   OWNER "), "{}", ran.out);
    for header in ["TRAINING_FRAMEWORK", "SRC_PIPELINE_RUN_NAME", "STATE", "AGE", "DELETED", "UID", "VERSION"] {
        assert!(lines[0].contains(&header), "{header}: {}", ran.out);
    }
    assert_eq!((lines.len(), lines[1].last()), (2, Some(&"105")), "{}", ran.out);
    assert!(!folder.get(&["models", "--no-headers"]).exits(0).out.contains("NAME"));
}

#[test]
fn columns_of_one_name_are_told_apart() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    for kind in ["deployments", "inferenceservers"] {
        let header = folder.get(&[kind]).exits(0).out.lines().next().unwrap().to_owned();
        let states: Vec<&str> = header.split_whitespace().filter(|header| header.ends_with("STATE")).collect();
        assert_eq!(states, ["STATE", "ROW_STATE"], "{header}");
        let csv = folder.get(&[kind, "-o", "csv"]).exits(0).out;
        assert!(csv.contains(",state,") && csv.contains(",row_state,"), "{csv}");
    }
    // By its name there, and by its name in every kind.
    for (kind, column, header) in [
        ("deployments", "state", "STATE\nDEPLOYMENT_STATE_INVALID\n"),
        ("deployments", "row_state", "ROW_STATE\nlive\n"),
        ("projects", "state", "STATE\nlive\n"),
        ("projects", "row_state", "STATE\nlive\n"),
    ] {
        assert_eq!(folder.get(&[kind, "--columns", column]).exits(0).out, header, "{kind} {column}");
    }
}

#[test]
fn columns_are_those_that_are_named() {
    let folder = models();
    let get = |arguments: &[&str]| folder.get(&[&["models", "--columns"], arguments].concat());
    let columns = "NAME,state,spec.owner.name,version,training_framework";
    assert_eq!(
        get(&[columns, "-n", "ads"]).exits(0).out,
        "NAME   STATE     OWNER   VERSION   TRAINING_FRAMEWORK\n\
         m3     live      o0      103       \n\
         m4     evicted   o1      104       \n"
    );
    assert_eq!(
        get(&[columns, "-n", "ads", "-o", "csv"]).exits(0).out,
        "name,state,owner,version,training_framework\r\nm3,live,o0,103,\r\nm4,evicted,o1,104,\r\n"
    );
    assert_eq!(get(&["name", "-n", "ads", "-L", "team", "--no-headers"]).exits(0).out, "m3    growth\nm4    pricing\n");
    assert_eq!(
        get(&["namespace,name", "--columns", "delete_time", "--state", "deleted"]).exits(0).out,
        "NAMESPACE   NAME   DELETE_TIME\nads         m5     2026-04-02T00:00:00Z\n"
    );
    let names = folder.get(&["models,pipelines", "-n", "ml", "--columns", "name"]).exits(0).out;
    assert_eq!(names, "NAME\nm0\nm1\nm2\n");

    get(&["name,algoritm"]).exits(2).says(&[
        "--columns: model has no column `algoritm`, did you mean `algorithm`? It has namespace, name, owner, ",
        ", state, age, deleted, create_time, ",
    ]);
    // The database is not at fault.
    folder
        .run(&["get", "models", "--columns", "json", "--database-url", "sqlite://none.db"])
        .exits(2)
        .says(&["`json`"]);
    folder.get(&["models,pipelines", "--columns", "algorithm"]).exits(2).says(&["pipeline has no column `algorithm`"]);
    for format in ["wide", "json", "name", "custom-columns=N:.metadata.name"] {
        get(&["name", "-o", format]).exits(2).says(&["--columns is for the table", "-o csv"]);
    }
    get(&["name", "--count"]).exits(2).says(&["--columns", "--count"]);
}

#[test]
fn formats_for_programs() {
    let folder = models();
    let get = |format: &str| folder.get(&["models", "-n", "ml", "-o", format]).exits(0).out;
    assert_eq!(get("jsonpath={.items[*].metadata.name}"), "m0 m1 m2");
    assert_eq!(
        get("jsonpath={range .items[*]}{.metadata.name}={.spec.owner.name}{'\\n'}{end}"),
        "m0=o0\nm1=o1\nm2=o2\n"
    );
    assert_eq!(get("jsonpath={.kind}: {.items[?(@.spec.owner.name==\"o1\")].metadata.uid}"), "List: uid-1");
    assert_eq!(get("jsonpath-as-json={.items[*].metadata.name}"), "[\n    \"m0\",\n    \"m1\",\n    \"m2\"\n]\n");
    assert_eq!(
        get("custom-columns=N:.metadata.name,X:.spec.none"),
        "N     X\nm0    <none>\nm1    <none>\nm2    <none>\n"
    );
    let csv = get("csv");
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert!(lines[0].starts_with("namespace,name,owner,description,model_kind,algorithm,"), "{csv}");
    assert!(lines[0].ends_with(",state,create_time,update_time,delete_time,evict_time,uid,version"), "{csv}");
    assert!(lines[1].starts_with("ml,m0,o0,,") && lines[1].contains(",live,2026-03-01T00:00:00Z,"), "{csv}");
    assert!(lines[1].ends_with(",,,uid-0,100"), "{csv}");
    let single = folder.get(&["model", "m4", "-o", "jsonpath={.metadata.namespace}"]).exits(0).out;
    assert_eq!(single, "ads");

    for wrong in [
        "xml",
        "jsonpath",
        "custom-columns",
        "jsonpath=",
        "jsonpath-as-json=",
        "jsonpath={.a",
        "custom-columns=A",
        "json=x",
    ] {
        folder.get(&["models", "-o", wrong]).exits(2);
    }
    folder
        .get(&["models", "-o", "jsonpath={.items[9]}"])
        .exits(1)
        .says(&["array index out of bounds: index 9, length 5"]);
}

#[test]
fn zeros_have_the_sign_that_kubectl_gives_them() {
    let folder = Folder::new();
    // An integer has none, a float keeps its own.
    let metadata = r#"{"name": "z", "namespace": "ml", "uid": "z", "resourceVersion": "1", "creationTimestamp": "2026-03-01T00:00:00Z"}"#;
    let zeros = r#"{"zeros": [-0, -0.0, 0, 0.0]}"#;
    let text =
        format!(r#"{{"apiVersion": "michelangelo.api/v2", "kind": "Model", "metadata": {metadata}, "spec": {zeros}}}"#);
    folder.write("zeros.json", text);
    folder.import(&["zeros.json"]).exits(0);
    for (format, expected) in [
        ("jsonpath={.spec.zeros}", "[0,-0,0,0]"),
        ("jsonpath={.spec.zeros[*]}", "0 -0 0 0"),
        ("custom-columns=Z:.spec.zeros", "Z\n[0 -0 0 0]\n"),
    ] {
        assert_eq!(folder.get(&["model", "z", "-n", "ml", "-o", format]).exits(0).out, expected, "{format}");
    }
}

#[test]
fn kinds_are_named_as_for_kubectl() {
    let folder = models();
    for kind in [
        "model",
        "models",
        "Model",
        "MODELS",
        "model.michelangelo.api",
        "models.michelangelo.api",
        "models.v2.michelangelo.api",
        "models,model",
    ] {
        assert_eq!(folder.get(&[kind, "--count"]).exits(0).out, "5\n", "{kind}");
    }
    let unknown = folder.get(&["modles"]).exits(2);
    assert!(unknown.err.contains("unknown kind `modles`, did you mean `Model`? Known: Project, "), "{}", unknown.err);
    for wrong in ["models.other.api", "models.v1.michelangelo.api", "", ","] {
        folder.get(&[wrong]).exits(2);
    }
}

#[test]
fn several_kinds_are_printed_one_after_the_other() {
    let folder = models();
    folder.import(&[SAMPLES]).exits(0);
    let ran = folder.get(&["models,clusters,pipelines", "-n", "ingester-test"]).exits(0);
    let blocks: Vec<&str> = ran.out.split("\n\n").collect();
    assert_eq!(blocks.len(), 3, "{}", ran.out);
    assert!(blocks[0].contains("\nmodel.michelangelo.api/ingester-test-model "), "{}", ran.out);
    assert!(blocks[2].starts_with("NAME ") && blocks[2].contains("\npipeline.michelangelo.api/"), "{}", ran.out);
    // A kind without objects does not count.
    let ran = folder.get(&["models,pipelines", "-n", "ml"]).exits(0);
    assert!(ran.out.contains("\nm0 "), "{}", ran.out);

    let list: Value = serde_json::from_str(&folder.get(&["pipelines,models", "-o", "json"]).exits(0).out).unwrap();
    let kinds: Vec<&str> =
        list["items"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Pipeline", "Model", "Model", "Model", "Model", "Model", "Model"]);
    let names =
        folder.get(&["model.michelangelo.api/m1", "pipelines/ingester-test-pipeline", "-o", "name"]).exits(0).out;
    assert_eq!(names, "model.michelangelo.api/m1\npipeline.michelangelo.api/ingester-test-pipeline\n");
    assert_eq!(
        words(&folder.get(&["models,pipelines", "--count"]).exits(0).out)[1..],
        [["Model", "6"], ["Pipeline", "1"]]
    );
    for one in [vec!["-o", "csv"], vec!["--continue", "x"], vec!["-w"], vec!["--group-by", "state"]] {
        folder.get(&[&["models,pipelines"], one.as_slice()].concat()).exits(2).says(&["is for one kind"]);
    }
}

#[test]
fn named_objects_come_in_the_order_of_their_names_as_often_as_named() {
    let folder = models();
    assert_eq!(folder.names(&["m2", "m0", "m1"]), ["m2", "m0", "m1"]);
    assert_eq!(folder.names(&["m2", "m0", "m2"]), ["m2", "m0", "m2"]);
    assert_eq!(folder.names(&["m2", "m0", "m2", "--sort-by", "name"]), ["m0", "m2"]);
    assert_eq!(folder.names(&["m2", "m0", "m1", "--limit", "2"]), ["m0", "m1"]);
    let slashed = folder.get(&["model/m1", "model/m0", "-o", "name"]).exits(0).out;
    assert_eq!(slashed, "model.michelangelo.api/m1\nmodel.michelangelo.api/m0\n");
    let list: Value = serde_json::from_str(&folder.get(&["model", "m1", "m1", "-o", "json"]).exits(0).out).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    // One name in two namespaces.
    folder.write("other.ndjson", model_json(json!({"name": "m2", "namespace": "zoo", "uid": "uid-9"}), json!({})));
    folder.import(&["other.ndjson"]).exits(0);
    assert_eq!(folder.names(&["m2", "m1"]), ["m2", "m2", "m1"]);
    let ran = folder.get(&["model", "z", "m1", "y", "z"]).exits(1);
    let missing: Vec<&str> = ran.err.lines().filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(missing, ["z", "y"]);
}

#[test]
fn names_that_are_not_found_are_errors() {
    let folder = models();
    let ran = folder
        .get(&["model", "nobody"])
        .exits(1)
        .says(&["Error (NotFound): models.michelangelo.api \"nobody\" not found"]);
    assert_eq!(ran.out, "");
    // What is found is printed.
    let ran = folder.get(&["model", "m1", "nobody", "-o", "name"]).exits(1).says(&["\"nobody\" not found"]);
    assert_eq!(ran.out, "model.michelangelo.api/m1\n");
    folder.get(&["model", "m5"]).exits(1);
    folder.get(&["model", "m1", "-n", "ads"]).exits(1);
    assert_eq!(folder.get(&["model", "nobody", "-o", "json"]).exits(1).out, "");

    folder.get(&["models", "-n", "none"]).exits(0).says(&["No resources found in none namespace."]);
    assert_eq!(folder.get(&["pipelines", "-A"]).exits(0).err, "No resources found\n");
    assert_eq!(folder.get(&["pipelines", "-o", "name"]).exits(0).err, "");
}

#[test]
fn only_what_is_asked_for_is_found() {
    let folder = models();
    for (arguments, names) in [
        (&["-n", "ml"][..], "m0 m1 m2"),
        (&["-n", "ml,ads"], "m3 m4 m0 m1 m2"),
        (&["-l", "team=pricing"], "m4 m0 m2"),
        (&["-l", "team in (growth,x),n!=1"], "m3"),
        (&["-l", "team", "-l", "!none,n notin (1,2,3)"], "m4 m0"),
        (&["--field-selector", "spec.owner.name=o1"], "m4 m1"),
        (&["--field-selector", "metadata.namespace=ml,spec.algorithm!=lstm,owner=o2"], "m2"),
        (&["--field-selector", "owner in (o1, o2),metadata.name notin (m4)"], "m1 m2"),
        (&["--field-selector", "owner notin (o1, o2)"], "m3 m0"),
        (&["--field-selector", "spec.owner.name in (o2)", "--scan"], "m2"),
        (&["--state", "live"], "m3 m0 m1 m2"),
        (&["--state", "evicted,deleted"], "m4 m5"),
        (&["--state", "all"], "m3 m4 m5 m0 m1 m2"),
        (&["--created-after", "2026-03-02", "--created-before", "2026-03-04T00:00:00Z"], "m1 m2"),
        (&["--deleted-after", "2026-04-02"], "m5"),
        (&["--deleted-before", "2026-04-02"], ""),
        (&["--created-after", "1s"], ""),
        (&["--uid", "uid-5,uid-0"], "m5 m0"),
        (&["--sort-by", "-create_time"], "m4 m3 m2 m1 m0"),
        (&["--sort-by", "{.spec.owner.name},-metadata.name", "-A"], "m3 m0 m4 m1 m2"),
        (&["m2", "m0"], "m2 m0"),
    ] {
        assert_eq!(folder.names(arguments).join(" "), names, "{arguments:?}");
    }
    folder.get(&["models", "--field-selector", "spec.sealed=true"]).exits(2).says(&["spec.sealed"]);
    assert_eq!(folder.names(&["--field-selector", "spec.sealed=true", "--scan"]), [""; 0]);
    for wrong in [
        ["--selector", "a=(b"],
        ["--sort-by", "a["],
        ["--created-after", "soon"],
        ["--state", "dead"],
        ["--limit", "0"],
    ] {
        folder.get(&[&["models"], &wrong[..]].concat()).exits(2).says(&[wrong[0]]);
    }
}

#[test]
fn of_objects_with_one_name_the_newest_is_meant() {
    let folder = models();
    let again = |uid: &str, time: &str| {
        model_json(
            json!({"name": "m0", "namespace": "ml", "uid": uid, "resourceVersion": "90", "creationTimestamp": time}),
            json!({}),
        )
    };
    folder.import_input(&(again("a-old", "2025-01-01T00:00:00Z") + &again("z-old", "2025-01-02T00:00:00Z"))).exits(0);
    let uid = ["-o", "jsonpath={.metadata.uid}{.items[*].metadata.uid}"];
    assert_eq!(folder.get(&[&["model", "m0"], &uid[..]].concat()).exits(0).out, "uid-0");
    assert_eq!(folder.get(&[&["model", "m0", "--uid", "a-old"], &uid[..]].concat()).exits(0).out, "a-old");
    assert_eq!(folder.get(&[&["model", "m0", "--state", "live"], &uid[..]].concat()).exits(0).out, "a-old uid-0 z-old");
    assert_eq!(folder.get(&["model", "--count"]).exits(0).out, "7\n");
}

#[test]
fn pages_put_together_are_the_whole() {
    let folder = models();
    let mut names = Vec::new();
    let mut token: Option<String> = None;
    loop {
        let limit = ["models", "--state", "all", "--sort-by=-create_time", "-o", "name", "--limit", "4"];
        let go_on: Vec<&str> = token.iter().flat_map(|token| ["--continue", token]).collect();
        let ran = folder.get(&[&limit[..], &go_on].concat()).exits(0);
        names.extend(ran.out.lines().map(str::to_owned));
        assert!(names.len() == 4 || token.is_some(), "{}", ran.out);
        token = ran.err.trim().strip_prefix("there are more: repeat this with --continue=").map(str::to_owned);
        if token.is_none() {
            break;
        }
    }
    let names: Vec<&str> = names.iter().map(|name| name.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["m5", "m4", "m3", "m2", "m1", "m0"]);
    assert_eq!(folder.names(&["--chunk-size", "2", "--state", "all"]).len(), 6);
    folder.get(&["models", "--continue", "nonsense"]).exits(2).says(&["continue token is damaged"]);
}

#[test]
fn many_objects_stream_out_as_one_list() {
    let folder = Folder::new();
    let objects: String = (0..3000)
        .map(|i| model_json(json!({"name": format!("m{i:04}"), "namespace": "ml"}), json!({"revisionId": i})))
        .collect();
    folder.write("many.ndjson", objects);
    folder.import(&["many.ndjson"]).exits(0);
    let list: Value = serde_json::from_str(&folder.get(&["models", "-o", "json"]).exits(0).out).unwrap();
    let items = list["items"].as_array().unwrap();
    assert!(items.len() == 3000 && (0..3000).all(|i| items[i]["spec"]["revisionId"] == json!(i)));
    let table = folder.get(&["models", "-n", "ml"]).exits(0).out;
    assert_eq!((table.lines().count(), table.matches("NAME").count()), (3001, 1));
    let widths: Vec<usize> = table.lines().map(|line| line.find("live").or(line.find("STATE")).unwrap()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]));
}

#[test]
fn a_reader_who_has_enough_ends_it() {
    let folder = Folder::new();
    let metadata = |i: u32| json!({"name": format!("m{i}"), "annotations": {"a": "x".repeat(1000)}});
    folder.write("many.ndjson", (0..2000).map(|i| model_json(metadata(i), json!({}))).collect::<String>());
    folder.import(&["many.ndjson"]).exits(0);
    let mut child = folder.get_command(&["models", "-o", "json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!((line.as_str(), child.wait().unwrap().code()), ("{\n", Some(0)));
}

#[test]
fn counts_and_groups() {
    let folder = models();
    assert_eq!(folder.get(&["models", "--count", "-l", "team=pricing"]).exits(0).out, "3\n");
    let ran = folder.get(&["models", "--group-by", "algorithm"]).exits(0);
    assert_eq!(ran.out, "ALGORITHM   COUNT\nxgboost     4\nlstm        1\n");
    let ran = folder
        .get(&["models", "--group-by", "spec.owner.name", "-o", "csv", "--limit", "1", "--state", "live"])
        .exits(0);
    assert_eq!(ran.out, "owner,count\r\no0,2\r\n");
    let ran = folder.get(&["models", "--group-by", "namespace", "-o", "json"]).exits(0);
    let groups: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(groups, json!([{"value": "ml", "count": 3}, {"value": "ads", "count": 2}]));
    folder
        .get(&["models", "--group-by", "algoritm"])
        .exits(2)
        .says(&["no column `algoritm`, did you mean `algorithm`?"]);
}

#[test]
fn explain_prints_the_statement_and_no_row() {
    let folder = models();
    let ran = folder.get(&["models", "-n", "ml", "-l", "team=pricing", "--explain"]).exits(0);
    for part in ["SELECT", "model_labels", "\nParameters\n", "pricing", "\nPlan\n", "SEARCH"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(!ran.out.contains("m0"), "{}", ran.out);
}

#[test]
fn watch_prints_what_changes() {
    let folder = models();
    let mut command = folder.get_command(&["models", "-n", "ml", "-w", "--no-headers"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    for name in ["m0", "m1", "m2"] {
        assert!(next().starts_with(name));
    }
    folder
        .import_input(&model_json(
            json!({"name": "new", "namespace": "ml", "uid": "uid-9", "resourceVersion": "200"}),
            json!({}),
        ))
        .exits(0);
    assert!(next().starts_with("new "));
    folder.query("UPDATE model SET delete_time = '2026-04-02 00:00:00.000000' WHERE uid = 'uid-1'");
    let line = next();
    assert!(line.starts_with("m1 ") && line.contains(" deleted "), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn without_a_database_nothing_is_made() {
    let folder = Folder::new();
    folder.run(&["get", "models"]).exits(2).says(&["sqlite://ingester.db", "--database-url", "ingester import"]);
    assert!(!folder.path().join("ingester.db").exists());
    folder.query("SELECT 1");
    folder
        .get(&["models"])
        .exits(2)
        .says(&["the database lacks model, ", "run `ingester schema apply --database-url sqlite://test.db`"]);
    folder.run(&["get"]).exits(2).says(&["KIND"]);
    let help = folder.run(&["get", "--help"]).exits(0).out;
    assert!(help.contains("Examples:") && help.contains("ingester get models"), "{help}");
}
