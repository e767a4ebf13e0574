//! Reads this crate's objects from Rust: with the example in the README, and from a store in memory.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

use crd_specs::model::Model;
use ingester_core::{Kind, registry};
use ingester_store::query::AskError;
use ingester_store::{RowChange, Store};
use ingester_testing as testing;
use outside::experiment::{DatasetReference, Experiment, ExperimentStatus, Phase};
use outside::pod::Pod;
use std::path::Path;
use std::process::Command;

/// An experiment that was created in this minute.
fn experiment(name: &str, phase: Phase, minute: u32) -> String {
    format!(
        "apiVersion: ml.example.com/v1
kind: Experiment
metadata: {{name: {name}, namespace: ml, labels: {{tier: gold}}, creationTimestamp: '2026-03-09T20:{minute:02}:00Z'}}
spec: {{owner: {{name: ada}}, dataset: {{namespace: data, name: {name}}}, maxTrials: {minute}, tags: [nlp, {name}]}}
status: {{phase: {phase:?}}}"
    )
}

fn experiments() -> Vec<String> {
    use Phase::{Failed, Running};
    [("first", Failed, 1), ("second", Failed, 2), ("third", Running, 3)]
        .map(|(name, phase, minute)| experiment(name, phase, minute))
        .into()
}

async fn store() -> Result<Store, Box<dyn std::error::Error>> {
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "ownerReferences": [{"uid": "a"}]},
        "status": {"hostIP": "10.0.0.7"}}"#;
    store_of(outside::KINDS, pod).await
}

/// A store of these kinds with the experiments and one more object.
async fn store_of(kinds: &[Kind], object: &str) -> Result<Store, Box<dyn std::error::Error>> {
    let store = Store::in_memory(kinds).await?;
    let texts = experiments().into_iter().chain([object.to_owned()]);
    for row in testing::rows(kinds, texts)?.into_rows() {
        let report = store.write(row.kind().table(), vec![RowChange::Row(row.into_row())]).await?;
        assert_eq!(report.written, 1);
    }
    Ok(store)
}

fn run(test: impl Future<Output = Result<(), Box<dyn std::error::Error>>>) {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(test).unwrap();
}

#[test]
fn objects_are_asked_for_by_the_handles_of_their_own_kinds() {
    run(async {
        let store = store().await?;
        let failed = || store.query::<Experiment>().filter(ExperimentStatus::phase().eq(Phase::Failed));
        let newest = failed().order_by(Experiment::create_time().desc()).first().await?.unwrap();
        assert_eq!((&*newest.name, newest.object.spec.max_trials), ("second", 2));
        let by_dataset = failed().filter(Experiment::dataset().part(DatasetReference::name()).eq("first"));
        assert_eq!(by_dataset.count().await?, 1);
        // Any of many values.
        assert_eq!(failed().filter(Experiment::tags().contains("nlp")).count().await?, 2);
        assert_eq!(failed().filter(Experiment::tags().contains_any(["second", "third"])).count().await?, 1);
        assert_eq!(store.query::<Experiment>().field_selector("spec.tags=third")?.count().await?, 1);
        // A column with a `path` or a function accepts any value, and can be queried by its path as well.
        assert_eq!(failed().filter(Experiment::owner().eq("ada")).count().await?, 2);
        assert_eq!(store.query::<Pod>().filter(Pod::host_ip().eq("10.0.0.7")).count().await?, 1);
        assert_eq!(store.query::<Pod>().field_selector("status.hostIP=10.0.0.7")?.count().await?, 1);
        let error = store.query::<Pod>().field_selector("status.hostIp=10.0.0.7")?.count().await.unwrap_err();
        assert!(matches!(error, AskError::Query(_)) && error.to_string().contains("status.hostIP"), "{error}");
        Ok(())
    });
}

#[test]
fn kinds_of_another_crate_are_beside_our_own() {
    const JOINED: &[Kind] = registry![crd_specs::KINDS, outside::KINDS];
    let model = "
        apiVersion: michelangelo.api/v2
        kind: Model
        metadata: {name: churn-model, namespace: ml}
        spec: {algorithm: xgboost}";
    run(async {
        let store = store_of(JOINED, model).await?;
        assert_eq!(store.query::<Model>().filter(Model::algorithm().eq("xgboost")).count().await?, 1);
        assert_eq!(store.query::<Experiment>().count().await?, 3);
        Ok(())
    });
}

#[test]
fn stores_in_memory_are_apart() {
    run(async {
        let one = store().await?;
        let other = Store::in_memory(outside::KINDS).await?;
        assert_eq!(one.query::<Experiment>().count().await?, 3);
        assert_eq!(other.query::<Experiment>().count().await?, 0);
        Ok(())
    });
}

#[test]
fn the_example_prints_the_newest_failed_experiments_first() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("experiments.yaml"), experiments().join("\n---\n")).unwrap();
    let output = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).current_dir(folder.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let program = Path::new(env!("CARGO_BIN_EXE_outside"));
    output(program, &["import", "--database-url", "sqlite://outside.db", "experiments.yaml"]);
    // cargo builds examples beside the programs.
    let example = program.parent().unwrap().join("examples/failed_experiments");
    assert_eq!(output(&example, &["sqlite://outside.db"]), "second: 2 trials\nfirst: 1 trials\n");
}

#[test]
fn the_readme_shows_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let readme = read("../../README.md");
    let (_, section) = readme.split_once("## Read your objects from Rust\n").expect("the section");
    let (_, code) = section.split_once("```rust\n").expect("its code");
    let (shown, _) = code.split_once("```").expect("its end");
    let example = read("examples/failed_experiments.rs");
    let (_, lines) = example.split_once("// README.md shows these lines.\n").unwrap();
    let (lines, _) = lines.split_once("    Ok(())").unwrap();
    let lines: String = lines.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
    assert_eq!(shown, lines, "the code in README.md is not that of examples/failed_experiments.rs");
}
