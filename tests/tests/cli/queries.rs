//! Saved queries on the command line.

use crate::program::{Folder, RunOutput, model_json};
use serde_json::{Value, json};

/// Models `m0` to `m4`, and a folder of queries.
fn models() -> Folder {
    let folder = Folder::new();
    let model = |i: u32| {
        let metadata = json!({
            "name": format!("m{i}"),
            "namespace": "ml",
            "uid": format!("uid-{i}"),
            "resourceVersion": "1",
            "creationTimestamp": format!("2026-03-0{}T00:00:00Z", i + 1),
        });
        model_json(metadata, json!({"algorithm": if i == 4 { "lstm" } else { "xgboost" }}))
    };
    folder.write("models.ndjson", (0..5_u32).map(model).collect::<String>());
    folder.import(&["models.ndjson"]).exits(0);
    folder.write(
        "queries/newest.yaml",
        "name: newest\ndescription: The newest models of an algorithm.\nkind: Model\nparameters:\n\
         - {name: algorithm, type: string}\n- {name: after, type: time, default: '2026-01-01'}\n\
         filter: {all: [{field: spec.algorithm, equals: '${algorithm}'}, {field: create_time, greaterOrEqual: '${after}'}]}\n\
         orderBy: -create_time\nlimit: 2\n",
    );
    folder.write("queries/all.yml", "name: all\nkind: Model\nnamespaces: [ml]\n");
    folder.write("queries/README.md", "No query.");
    folder.write("queries/.hidden.yaml", "No query.");
    folder
}

impl Folder {
    fn ask(&self, arguments: &[&str]) -> RunOutput {
        self.run(&[&["get", "--database-url", "sqlite://test.db", "--query"], arguments].concat())
    }

    /// The names that are found, in their order.
    #[track_caller]
    fn asked(&self, arguments: &[&str]) -> Vec<String> {
        let ran = self.ask(&[arguments, &["-o", "name"]].concat()).exits(0);
        ran.out.lines().map(|line| line.strip_prefix("model.michelangelo.api/").unwrap().to_owned()).collect()
    }
}

const XGBOOST: [&str; 3] = ["newest", "--param", "algorithm=xgboost"];

#[test]
fn a_saved_query_is_asked_by_its_name() {
    let folder = models();
    assert_eq!(folder.asked(&XGBOOST), ["m3", "m2"]);
    assert_eq!(folder.asked(&["newest", "--param", "algorithm=lstm"]), ["m4"]);
    assert_eq!(folder.asked(&[&XGBOOST[..], &["--param", "after=2026-03-04"]].concat()), ["m3"]);
    assert_eq!(folder.asked(&[&XGBOOST[..], &["--limit", "3"]].concat()), ["m3", "m2", "m1"]);
    assert_eq!(folder.asked(&["all"]), ["m0", "m1", "m2", "m3", "m4"]);
    // One namespace needs no column.
    let table = folder.ask(&["all"]).exits(0).out;
    assert!(table.starts_with("NAME   OWNER "), "{table}");
    let none = folder.ask(&["newest", "--param", "algorithm=svm"]).exits(0);
    assert_eq!((none.out.as_str(), none.err.as_str()), ("", "No resources found\n"));
}

#[test]
fn options_narrow_a_saved_query_and_order_it() {
    let folder = models();
    assert_eq!(folder.asked(&["all", "-n", "ml", "--field-selector", "spec.algorithm=lstm"]), ["m4"]);
    assert_eq!(folder.asked(&["all", "--uid", "uid-1,uid-3", "--sort-by", "-name"]), ["m3", "m1"]);
    assert_eq!(folder.asked(&[&XGBOOST[..], &["--created-before", "2026-03-04"]].concat()), ["m2", "m1"]);
    assert!(folder.asked(&["all", "--state", "evicted,deleted"]).is_empty());
}

#[test]
fn a_saved_query_goes_with_pages_counts_and_formats() {
    let folder = models();
    assert_eq!(folder.ask(&XGBOOST).exits(0).err, "", "its limit is that of the whole answer");
    let first = folder.ask(&[&XGBOOST[..], &["-o", "name", "--limit", "2"]].concat()).exits(0).says(&["--continue="]);
    let (_, token) = first.err.trim_end().split_once("--continue=").unwrap();
    let ran = folder.ask(&[&XGBOOST[..], &["-o", "name", "--continue", token]].concat()).exits(0);
    assert_eq!(ran.out, "model.michelangelo.api/m1\nmodel.michelangelo.api/m0\n");
    assert_eq!(ran.err, "");
    // The token is of the query with these values.
    folder.ask(&["newest", "--param", "algorithm=lstm", "--continue", token]).exits(2);
    assert_eq!(folder.ask(&[&XGBOOST[..], &["--count"]].concat()).exits(0).out, "4\n");
    assert_eq!(
        folder.ask(&["all", "--group-by", "algorithm", "-o", "csv"]).exits(0).out,
        "algorithm,count\r\nxgboost,4\r\nlstm,1\r\n"
    );
    let explained = folder.ask(&[&XGBOOST[..], &["--explain"]].concat()).exits(0).out;
    assert!(explained.contains("LIMIT 2\n") && explained.contains("Value(Text(\"xgboost\"))"), "{explained}");
    let list: Value = serde_json::from_str(&folder.ask(&["all", "-o", "json"]).exits(0).out).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 5);
    folder.ask(&[&XGBOOST[..], &["--watch"]].concat()).exits(2).says(&["has a limit, which goes without --watch"]);
}

#[test]
fn wrong_use_of_a_saved_query_says_what_is_wrong() {
    let folder = models();
    for (arguments, said) in [
        (&["newest"][..], "the saved query `newest`: the query needs the parameter `algorithm`, a text"),
        (&["newst"], "unknown saved query `newst`, did you mean `newest`?"),
        (&["newest", "--param", "algoritm=x"], "the query has no parameter `algoritm`, did you mean `algorithm`?"),
        (&["newest", "--param", "algorithm"], "give NAME=VALUE"),
        (&["newest", "--param", "algorithm=x", "--param", "after=soon"], "the parameter `after`: `soon` is not a time"),
        (&["all", "models"], "cannot be used with"),
        (
            &["all", "-n", "lab"],
            "the saved query `all`: --namespace: no object passes both this and `namespaces` of the saved query",
        ),
        (&["all", "--state", "gone"], "[possible values: live, evicted, deleted, all]"),
        (&["all", "-l", "a=("], "--selector: label selector `a=(`"),
        (&["all", "--queries", "elsewhere"], "cannot read elsewhere: No such file"),
    ] {
        folder.ask(arguments).exits(2).says(&[said]);
    }
    let get = |arguments: &[&str]| {
        folder.run(&[&["get", "models", "--database-url", "sqlite://test.db"], arguments].concat())
    };
    get(&["--param", "a=b"]).exits(2).says(&["--param goes with --query"]);
    get(&["--queries", "queries"]).exits(2).says(&["--queries goes with --query"]);
    // All mistakes of all files, whichever query is asked.
    folder.write("queries/a.yaml", "name: a\nkind: Modl\n");
    folder.write("queries/b.json", r#"{"name": "b", "kind": "Model", "orderBy": "spec.none"}"#);
    folder.ask(&["all"]).exits(2).says(&[
        "2 mistakes in saved queries",
        "queries/a.yaml line 2: kind: unknown kind `Modl`, did you mean `Model`?",
        "queries/b.json line 1: orderBy: model has no column for the field `spec.none`",
    ]);
}

#[test]
fn saved_queries_are_found_beside_the_configuration_before_those_here() {
    let folder = models();
    folder
        .write("conf/ingester.yaml", "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}");
    let names = |arguments: &[&str]| folder.run(&[&["queries", "-o", "name"], arguments].concat());
    assert_eq!(names(&["--config", "conf/ingester.yaml"]).exits(0).out, "all\nnewest\n");
    folder.write("conf/queries/one.yaml", "name: one\nkind: Model\nlimit: 1\n");
    assert_eq!(names(&["--config", "conf/ingester.yaml"]).exits(0).out, "one\n");
    assert_eq!(names(&["--config", "conf/ingester.yaml", "--queries", "queries"]).exits(0).out, "all\nnewest\n");
    let asked = folder.run(&["get", "--config", "conf/ingester.yaml", "--query", "one", "-o", "name"]).exits(0);
    assert_eq!(asked.out, "model.michelangelo.api/m0\n");
    let elsewhere = Folder::new();
    elsewhere.run(&["queries"]).exits(2).says(&["found no folder `queries`: name the folder of the saved queries"]);
    let both = ["queries", "--config", "conf/ingester.yaml"];
    elsewhere.run(&both).exits(2).says(&["found no folder `conf/queries` or `queries`"]);
}

#[test]
fn saved_queries_are_listed() {
    let folder = models();
    let table = folder.run(&["queries"]).exits(0).out;
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split("   ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect();
    assert_eq!(
        lines,
        [
            &["NAME", "KIND", "PARAMETERS", "DESCRIPTION"][..],
            &["all", "Model"],
            &["newest", "Model", "algorithm=STRING [after=2026-01-01]", "The newest models of an algorithm."],
        ]
    );
    let one: Value = serde_json::from_str(&folder.run(&["queries", "newest", "-o", "json"]).exits(0).out).unwrap();
    assert_eq!((&one["apiVersion"], &one["kind"]), (&json!("mirror.michelangelo.api/v1"), &json!("Query")));
    assert_eq!((&one["metadata"]["name"], &one["spec"]["limit"]), (&json!("newest"), &json!(2)));
    let list = folder.run(&["queries", "-o", "yaml"]).exits(0).out;
    assert!(
        list.starts_with("apiVersion: v1\nitems:\n- apiVersion: mirror.michelangelo.api/v1\n  kind: Query\n"),
        "{list}"
    );
    folder.run(&["queries", "none"]).exits(2).says(&["unknown saved query `none`; known: all, newest"]);
}
