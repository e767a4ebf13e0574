//! Kinds of one name in two groups: each is named with its group, and the name alone is an error that names both.

use crate::program::Folder;

/// A folder with two kinds of one name, and a configuration that names them.
fn folder() -> Folder {
    let folder = Folder::new();
    let kind = |group: &str, table: &str| {
        format!(
            "- group: {group}\n  version: v1\n  kind: PyTorchJob\n  namespaced: true\n  strict: true\n  table: {table}\n  columns:\n  - \
             {{column: phase, path: .status.phase, type: VARCHAR(32)}}\n"
        )
    };
    let kinds = [kind("kubeflow.org", "pytorchjob"), kind("training.kubedl.io", "kubedl_pytorchjob")].concat();
    folder.write("kinds.yaml", format!("kinds:\n{kinds}"));
    folder
}

fn config(folder: &Folder, ingester: &str) {
    let storage = "metadataStorage: {enableMetadataStorage: true, databaseURL: \"sqlite://test.db\"}";
    folder.write("ingester.yaml", format!("{storage}\ningester: {{kindsFile: kinds.yaml, {ingester}}}\n"));
}

fn job(group: &str, phase: &str) -> String {
    format!(
        "apiVersion: {group}/v1\nkind: PyTorchJob\nmetadata: {{namespace: ml, name: train}}\nstatus: {{phase: {phase}}}\n"
    )
}

const BOTH: &str = "use PyTorchJob.kubeflow.org or PyTorchJob.training.kubedl.io";

#[test]
fn kinds_of_one_name_are_told_apart_by_their_groups() {
    let folder = folder();
    let run = |arguments: &[&str]| folder.run(&[arguments, &["--kinds", "kinds.yaml"]].concat());
    let listed = run(&["kinds"]).exits(0).out;
    for name in ["PyTorchJob.kubeflow.org ", "PyTorchJob.training.kubedl.io ", "Model "] {
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name}: {listed}");
    }
    folder.write("in/a.yaml", job("kubeflow.org", "Running"));
    folder.write("in/b.yaml", job("training.kubedl.io", "Failed"));
    let long = "x".repeat(33);
    folder.write("in/c.yaml", job("training.kubedl.io", &long).replace("train}", "long}"));
    let database = ["--database-url", "sqlite://test.db"];
    let imported = run(&[&["import", "in"], &database[..]].concat()).exits(1);
    assert_eq!(imported.counts("PyTorchJob.kubeflow.org")[1], 1, "{}", imported.out);
    assert_eq!(imported.counts("PyTorchJob.training.kubedl.io")[1], 1, "{}", imported.out);

    let get = |kind: &str| {
        run(&[&["get", kind, "-n", "ml", "-o", "jsonpath={.items[*].status.phase}"], &database[..]].concat())
    };
    for name in ["PyTorchJob", "pytorchjobs", "pytorchjob"] {
        get(name).exits(2).says(&[&format!("several kinds are called `{name}`"), BOTH]);
    }
    for name in ["PyTorchJob.kubeflow.org", "pytorchjobs.kubeflow.org", "pytorchjob.v1.kubeflow.org"] {
        assert_eq!(get(name).exits(0).out.trim(), "Running", "{name}");
    }
    for name in ["PyTorchJob.training.kubedl.io", "kubedl_pytorchjob"] {
        assert_eq!(get(name).exits(0).out.trim(), "Failed", "{name}");
    }
    // With its group every kind may be named.
    get("Model.michelangelo.api").exits(0);

    let rejects = |kind: &str| run(&[&["rejects", kind], &database[..]].concat());
    rejects("pytorchjob").exits(2).says(&[BOTH]);
    assert_eq!(rejects("PyTorchJob.kubeflow.org").exits(0).out, "");
    let listed = rejects("PyTorchJob.training.kubedl.io").exits(0).out;
    assert!(listed.contains("long"), "{listed}");
}

#[test]
fn a_configuration_names_them_with_their_groups() {
    let folder = folder();
    config(&folder, "kinds: [PyTorchJob], suspend: [PyTorchJob.kubeflow.org, Modell]");
    let ran = folder.run(&["schema", "apply", "--config", "ingester.yaml"]).exits(2);
    let ran = ran.says(&["`PyTorchJob.kubeflow.org` or `PyTorchJob.training.kubedl.io`", "did you mean `Model`?"]);
    assert_eq!(ran.err.matches("several kinds have this name").count(), 1, "{}", ran.err);
    config(&folder, "kinds: [PyTorchJob.training.kubedl.io, Model.michelangelo.api, Pipeline]");
    folder.run(&["schema", "apply", "--config", "ingester.yaml"]).exits(0);
}

#[test]
fn completions_have_names_that_mean_one_kind() {
    let folder = folder();
    let script = folder.run(&["completions", "bash", "--kinds", "kinds.yaml"]).exits(0).out;
    assert!(script.contains("PyTorchJob.kubeflow.org PyTorchJob.training.kubedl.io"), "{script}");
    assert!(script.contains(" models ") && !script.contains(" pytorchjobs "), "{script}");
}
