//! Saved queries: those of `queries/`, and each operator that a filter may have.

use crate::filled;
use anyhow::{Context as _, Result, ensure};
use ingester_declare::saved::SavedQueries;
use ingester_store::Store;
use ingester_store::query::{Limits, RequestedParts};
use ingester_tests::databases::Database;
use ingester_tests::on_every_database;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The folder of the shipped queries.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../queries");

on_every_database! {
    every_query_that_is_shipped_has_its_answer
    every_test_of_a_saved_query_means_what_it_says
}

/// A shipped query, more arguments, and the uids that it finds.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

const CARD: [&str; 4] = ["--param", "namespace=ml", "--param", "name=churn"];

const CASES: &[Case] = &[
    ("active-models", &[], &["deployment-3", "phone-5", "phone-1", "batch-1", "deployment-1", "deployment-2"]),
    ("active-models", &["--param", "namespaces=lab"], &["phone-5", "deployment-2"]),
    ("deployed-models-by-target-type", &["--param", "type=TARGET_TYPE_MOBILE"], &["phone-5", "phone-1"]),
    ("deployed-models-by-target-type", &["--param", "type=TARGET_TYPE_OFFLINE"], &["batch-1"]),
    ("feature-pipelines", &[], &["group", "basis"]),
    ("feature-pipelines", &["--param", "types=PIPELINE_TYPE_TRAIN,PIPELINE_TYPE_BASIS_FEATURE"], &["basis", "train"]),
    ("latest-model-card-revision", &CARD, &["card-5"]),
    (
        "latest-model-card-revision",
        &[CARD[0], CARD[1], CARD[2], CARD[3], "--param", "after=2026-01-02", "--param", "before=2026-02-01"],
        &["card-2"],
    ),
    ("latest-model-card-revision", &[CARD[0], CARD[1], CARD[2], CARD[3], "--limit", "2"], &["card-5", "card-2"]),
    (
        "latest-model-card-revision",
        &[CARD[0], CARD[1], CARD[2], "name=train", "--param", "kind=Pipeline"],
        &["revision-2"],
    ),
];

async fn every_query_that_is_shipped_has_its_answer(database: Database) -> Result<()> {
    filled(&database).await?.close().await;
    for (name, arguments, right) in CASES {
        let output = Command::new(env!("CARGO_BIN_EXE_ingester"))
            .args(["get", "--database-url", &database.url, "--queries", SHIPPED, "--query", name])
            .args(["-o", "custom-columns=UID:.metadata.uid", "--no-headers"])
            .args(*arguments)
            .env_remove("RUST_LOG")
            .output()?;
        let out = String::from_utf8(output.stdout)?;
        let err = String::from_utf8(output.stderr)?;
        ensure!(output.status.success(), "{name} {arguments:?}: {err}");
        let found: Vec<&str> = out.lines().map(str::trim).collect();
        assert_eq!(found, *right, "{name} {arguments:?}");
    }
    let shipped: BTreeSet<String> = std::fs::read_dir(Path::new(SHIPPED))?
        .map(|entry| Ok(entry?.file_name().into_string().unwrap()))
        .collect::<Result<_>>()?;
    let asked: BTreeSet<String> = CASES.iter().map(|(name, ..)| format!("{name}.yaml")).collect();
    assert_eq!(asked, shipped, "each file is named after its query and has a case here");
    Ok(())
}

async fn every_test_of_a_saved_query_means_what_it_says(database: Database) -> Result<()> {
    let store = filled(&database).await?;
    for (filter, right) in [
        ("{field: spec.owner.name, equals: ada}", &["churn-1", "churn-2", "demand-c"][..]),
        ("{field: spec.owner.name, equals: \"${text}\"}", &["churn-1", "churn-2", "demand-c"]),
        ("{field: spec.owner.name, notEquals: ada}", &["churn-3", "fraud-1", "fraud-2", "not-demand"]),
        ("{field: spec.revisionId, greater: 1, less: \"${number}\"}", &["churn-3"]),
        ("{field: spec.revisionId, greaterOrEqual: 1, lessOrEqual: \"${number}\"}", &["churn-2", "churn-3", "fraud-1"]),
        ("{field: spec.modelFamily.name, in: \"${list}\"}", &["churn-1", "churn-2", "churn-3"]),
        ("{field: spec.modelFamily.name, notIn: [churn, \"${family}\"]}", &["demand-c", "not-demand"]),
        ("{field: metadata.name, like: \"%-1\"}", &["churn-1", "fraud-1"]),
        ("{field: spec.owner.name, exists: false}", &["fraud-1"]),
        ("{field: spec.owner.name, empty: \"${true}\"}", &["fraud-1", "fraud-2"]),
        ("{field: metadata.creationTimestamp, less: \"${time}\"}", &["not-demand"]),
        ("{label: legacy, exists: true}", &["churn-1"]),
        ("{label: team, in: [risk, \"${text}\"]}", &["fraud-1"]),
        ("{all: [{label: team, equals: pricing}, {not: {label: legacy, exists: true}}]}", &["churn-2", "churn-3"]),
        (
            "{any: [{label: legacy, exists: true}, {all: [{field: namespace, equals: lab}, {annotation: a, exists: false}]}]}",
            &["churn-1", "not-demand"],
        ),
    ] {
        let found = found(&store, filter).await.with_context(|| filter.to_owned())?;
        assert_eq!(found, right, "{filter}");
    }
    Ok(())
}

#[test]
fn the_example_of_the_document_is_a_query() -> Result<()> {
    let (_, section) =
        include_str!("../../../docs/queries.md").split_once("\n### Saved queries\n").context("section")?;
    let (_, example) = section.split_once("\n```yaml\n").context("example")?;
    let (example, _) = example.split_once("```").context("its end")?;
    let queries = SavedQueries::parse([("example.yaml".to_owned(), example.to_owned())], crd_specs::KINDS)?;
    let bound = queries.get("failed-runs")?.bind(&[("people".to_owned(), "ada,bob".to_owned())])?;
    assert_eq!((bound.query.namespaces.len(), bound.query.filters.len(), bound.limit), (2, 2, Some(50)));
    Ok(())
}

/// The uids of models that a filter finds, sorted.
async fn found(store: &Store, filter: &str) -> Result<Vec<String>> {
    let parameters = [
        ("text", "string", "ada"),
        ("family", "string", "fraud"),
        ("number", "integer", "7"),
        ("list", "list", "churn,pricing"),
        ("true", "boolean", "true"),
        ("time", "time", "2026-01-02"),
    ];
    let is_used = |name: &str| filter.contains(&format!("${{{name}}}"));
    let mut declared = String::new();
    let mut given = Vec::new();
    for (name, ty, value) in parameters.into_iter().filter(|(name, ..)| is_used(name)) {
        declared.push_str(&format!("- {{name: \"{name}\", type: {ty}}}\n"));
        given.push((name.to_owned(), value.to_owned()));
    }
    let text = format!("name: a\nkind: Model\nparameters:\n{declared}filter: {filter}");
    let queries = SavedQueries::parse([("a.yaml".to_owned(), text)], crd_specs::KINDS)?;
    let bound = queries.get("a")?.bind(&given)?;
    let asked = store.ask_about(&bound.kind, &bound.query, Limits::default())?;
    let page = asked.page(&RequestedParts::default(), 100, None).await?;
    let mut uids: Vec<String> = page.rows.iter().map(|row| row.uid().to_owned()).collect();
    uids.sort_unstable();
    Ok(uids)
}
