//! The rows of this crate's kinds, as a kind's own tests check them, and the messages of such a test when it fails.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

use ingester_core::Kind;
use ingester_core::value::Value;
use ingester_testing::{NoRow, assert_row};
use outside::experiment::{Experiment, Phase};
use outside::pod::Pod;
use outside::py_torch_job::PyTorchJob;
use std::path::Path;

const CHURN: &str = r#"
    apiVersion: ml.example.com/v1
    kind: Experiment
    metadata:
      name: churn
      namespace: ml
      resourceVersion: "7"
      labels: {tier: gold}
      annotations: {note: mind the gap}
    spec:
      owner: {name: ada, team: growth}
      dataset: {namespace: data, name: customers}
      deadline: "2026-03-09T22:36:46.5+02:00"
    status: {phase: Failed, bestValue: 0.25}"#;

#[test]
fn a_custom_resource_of_our_own_has_its_row() {
    let row = assert_row!(Experiment, CHURN, {
        namespace: "ml",
        name: "churn",
        res_version: 7,
        owner: "ada",
        team: "growth",
        dataset_namespace: "data",
        dataset_name: "customers",
        deadline: "2026-03-09T20:36:46.5Z",
        phase: Phase::Failed,
        best_value: 0.25,
        delete_time: null,
    });
    assert_eq!(row.get("team"), &Value::text("growth"));
    assert_eq!((row.label("tier"), row.label("team")), (Some("gold"), None));
    assert_eq!((row.annotation("note"), row.annotation("tier")), (Some("mind the gap"), None));
}

#[test]
fn an_absent_parent_is_null_and_an_absent_field_has_its_zero_value() {
    let text = r#"{"apiVersion": "ml.example.com/v1", "kind": "Experiment", "metadata": {"name": "idea"}, "spec": {"owner": {}}}"#;
    assert_row!(Experiment, text, {
        owner: "",
        team: "",
        dataset_namespace: null,
        dataset_name: null,
        deadline: null,
        phase: Phase::Pending,
        best_value: null,
    });
}

#[test]
fn a_pod_has_a_row_only_if_it_has_an_owner() {
    let text = r#"{"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "ownerReferences": [{"uid": "a"}, {"uid": "b", "controller": true}]},
        "spec": {"nodeName": "node-7", "containers": [{"image": "web:1"}, {"image": "sidecar:3"}]},
        "status": {"phase": "Running", "hostIP": "192.168.4.7", "podIP": "2001:db8::1"}}"#;
    assert_row!(Pod, text, {
        owner_uid: "b",
        node: "node-7",
        image: "web:1",
        phase: "Running",
        host_ip: "192.168.4.7",
        pod_ip: "2001:db8::1",
    });
    let pending = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, ownerReferences: [{uid: a}]}";
    assert_row!(Pod, pending, { owner_uid: "a", node: null, image: null, phase: null, host_ip: null, pod_ip: null });

    for text in [
        "apiVersion: v1\nkind: Pod\nmetadata: {name: shell}\nspec: {}",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: shell, ownerReferences: null}",
    ] {
        let object = String::from("v1 Pod shell");
        assert_eq!(ingester_testing::row::<Pod>(text).unwrap_err(), NoRow::LeftOut { object });
    }
}

#[test]
fn computed_columns_have_what_their_functions_give() {
    let text = "
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: train}
        spec: {pytorchReplicaSpecs: {Master: {}, Worker: {replicas: 3}}}
        status: {conditions: [{type: Created}, {type: Running}], startTime: 2026-03-09T20:39:59Z}";
    let start = ingester_core::value::Micros::from_sql("2026-03-09 20:39:59").unwrap();
    assert_row!(PyTorchJob, text, { replicas: 4, state: "Running", start_time: start, completion_time: null });
}

/// The files of `objects/`, in the order of their names.
fn objects() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn the_rows_of_all_objects_are_those_that_were_reviewed() {
    let rows = ingester_testing::rows(outside::KINDS, objects()).unwrap().to_string();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rows.txt");
    if std::env::var_os("INGESTER_UPDATE").is_some() {
        std::fs::write(&file, &rows).unwrap();
    }
    let reviewed = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(rows, reviewed, "`INGESTER_UPDATE=1 cargo test --test rows` writes tests/rows.txt, for you to review");
}

#[test]
fn every_column_is_filled_from_where_it_says() {
    ingester_testing::assert_paths(outside::KINDS, objects());
}

#[test]
fn what_is_wrong_with_an_object_is_said_as_to_users() {
    fn error<K: ingester_core::Ingestable>(text: &str) -> String {
        ingester_testing::row::<K>(text).unwrap_err().to_string()
    }
    let text = CHURN.replace("phase: Failed", "phase: Lost");
    let said = error::<Experiment>(&text);
    assert!(said.starts_with("ml.example.com/v1 Experiment ml/churn: status.phase: "), "{said}");
    assert!(said.contains("Lost") && said.contains("Succeeded"), "{said}");
    // A type that the API server would refuse, as in a file that was edited by hand.
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, ownerReferences: [{uid: 7}]}";
    let said = error::<Pod>(text);
    assert!(said.starts_with("v1 Pod a: metadata.ownerReferences[0].uid: "), "{said}");

    assert_eq!(error::<Pod>(CHURN), "ml.example.com/v1 Experiment ml/churn is not of an expected kind: v1 Pod");
    let none = "the text has 0 objects, one was expected (`ingester_testing::rows` takes any number)";
    assert_eq!(error::<Pod>("# nothing"), none);
    assert_eq!(error::<Experiment>(&format!("{CHURN}\n---{CHURN}")), none.replace('0', "2"));
    assert_eq!(
        error::<Pod>("apiVersion: v1\nkind: Pod\nmetadata: {}"),
        "document 1, line 1: metadata.name: missing; every Kubernetes object has one: add it"
    );
    assert_eq!(
        error::<Pod>("kind: Pod\nkind: Pod"),
        "document 1, line 1: line 2 column 1: the key `kind` appears twice in the same object"
    );
}

/// The message of a test that panics.
fn panic_of(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panicked = std::panic::catch_unwind(test).unwrap_err();
    panicked.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn all_columns_that_differ_are_shown_together() {
    let said = panic_of(|| {
        assert_row!(Experiment, CHURN, {
            owner: "bob",
            team: "growth",
            best_value: null,
            phase: Phase::Running,
            dedline: null,
            colour: "red",
        });
    });
    let expected = r#"the row of Experiment churn differs
  column      expected   found
  owner       "bob"      "ada"
  best_value  NULL       0.25
  phase       "Running"  "Failed"
  `Experiment` has no column `dedline`; did you mean `deadline`?
  `Experiment` has no column `colour`; its indexed columns are: owner, team, dataset_namespace, dataset_name, deadline, phase, best_value"#;
    assert_eq!(said, expected);

    let said = panic_of(|| drop(ingester_testing::row::<Experiment>(CHURN).unwrap().get("bestvalue").clone()));
    assert_eq!(said, "`Experiment` has no column `bestvalue`; did you mean `best_value`?");
    let said = panic_of(|| drop(assert_row!(Pod, CHURN, {})));
    assert!(said.ends_with("is not of an expected kind: v1 Pod"), "{said}");
}

#[test]
fn a_number_or_a_time_of_another_value_differs() {
    for said in [
        panic_of(|| drop(assert_row!(Experiment, CHURN, { res_version: 8 }))),
        panic_of(|| drop(assert_row!(Experiment, CHURN, { res_version: -7 }))),
        panic_of(|| drop(assert_row!(Experiment, CHURN, { res_version: "7" }))),
        panic_of(|| drop(assert_row!(Experiment, CHURN, { best_value: 0 }))),
        panic_of(|| drop(assert_row!(Experiment, CHURN, { deadline: "2026-03-09T20:36:46Z" }))),
        panic_of(|| drop(assert_row!(Experiment, CHURN, { deadline: "soon" }))),
        panic_of(|| drop(assert_row!(Experiment, CHURN, { owner: "" }))),
        panic_of(|| drop(assert_row!(Experiment, CHURN, { name: null }))),
    ] {
        assert!(said.starts_with("the row of Experiment churn differs\n"), "{said}");
    }
    const KINDS: &[Kind] = &[Kind::of::<Experiment>()];
    let rows = ingester_testing::rows(KINDS, [CHURN]).unwrap().into_rows();
    assert_eq!(rows.len(), 1);
}
