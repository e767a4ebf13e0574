//! The questions of docs/history.md, by their command and by SQL on each database.

use crate::document::Document;
use anyhow::{Context as _, Result, ensure};
use ingester_tests::databases::Database;
use ingester_tests::on_every_database;
use serde_json::json;
use std::path::Path;
use std::process::Command;

on_every_database! {
    every_question_about_the_past_has_its_answer
}

const KINDS: &str = "\
builtIn: false
kinds:
- group: example.com
  version: v1
  kind: PipelineRun
  namespaced: true
  history: forever
  columns:
  - {column: state, path: .status.state, type: VARCHAR(32)}
";

/// A question, its rows by SQL, and parts of the command's output, in order.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

const CASES: [Case; 5] = [
    (
        "How long was a run in each state?",
        &["Failed|7200", "Pending|3600", "Running|3600"],
        &["13 ", " now ", " updated ", ".status.state", "12 ", " 120m ", "11 ", "10 "],
    ),
    ("Which runs flap?", &["nightly|3"], &["13 ", "10 "]),
    ("Which runs had a label at a moment?", &["nightly"], &["pipelinerun.example.com/nightly"]),
    (
        "How was a namespace before an incident?",
        &["nightly|Failed", "weekly|Pending"],
        &["nightly,Failed", "weekly,Pending"],
    ),
    (
        "What changed an object since then?",
        &["2026-01-02 02:00:00|updated", "2026-01-02 04:00:00|updated"],
        &["/metadata/labels/team", "pricing"],
    ),
];

/// Runs the program with this kind on a database.
fn ingester(folder: &Path, url: &str, command: &str) -> Result<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_ingester")).parent().context("the program's folder")?;
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(program.to_owned()).chain(std::env::split_paths(&others)))?;
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("DATABASE_URL", url)
        .env("INGESTER_KINDS", "kinds.yaml")
        .env_remove("RUST_LOG")
        .output()?;
    let out = String::from_utf8(output.stdout)?;
    let err = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{command}: {}{out}{err}", output.status);
    Ok(out)
}

/// `nightly` was pending and running, for an hour each, then failed for two, and is running again; `weekly` is pending all the time.
async fn lived(database: &Database, folder: &Path) -> Result<()> {
    std::fs::write(folder.join("kinds.yaml"), KINDS)?;
    let versions =
        [("nightly", 10, "Pending"), ("nightly", 11, "Running"), ("nightly", 12, "Failed"), ("nightly", 13, "Running")];
    for (name, version, state) in versions.into_iter().chain([("weekly", 9, "Pending")]) {
        let object = json!({
            "apiVersion": "example.com/v1", "kind": "PipelineRun",
            "metadata": {
                "namespace": "ml", "name": name, "uid": name, "resourceVersion": version.to_string(),
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {"team": if name == "nightly" && version < 12 { "ads" } else { "pricing" }},
            },
            "status": {"state": state},
        });
        std::fs::write(folder.join("in.json"), object.to_string())?;
        ingester(folder, &database.url, "ingester import in.json")?;
    }
    let time = |hour: u32| format!("'2026-01-02 0{hour}:00:00.000000'");
    for (version, from, to) in [(10, 0, 1), (11, 1, 2), (12, 2, 4)] {
        let set = format!("valid_from = {}, valid_to = {}", time(from), time(to));
        database.sql(&format!("UPDATE pipelinerun_history SET {set} WHERE res_version = {version}")).await?;
    }
    for (name, began) in [("nightly", 4), ("weekly", 0)] {
        let set = format!("UPDATE pipelinerun SET update_time = {} WHERE name = '{name}'", time(began));
        database.sql(&set).await?;
    }
    Ok(())
}

async fn every_question_about_the_past_has_its_answer(database: Database) -> Result<()> {
    let folder = tempfile::tempdir()?;
    lived(&database, folder.path()).await?;
    let document = Document::of_history();
    let titles: Vec<&str> = document.questions.iter().map(|question| question.title.as_str()).collect();
    assert_eq!(titles, CASES.map(|(title, ..)| title));
    for ((title, rows, parts), question) in CASES.into_iter().zip(&document.questions) {
        let found = database.sql(&document.sql(question, database.on)).await?;
        // Databases write the fraction of a second in different ways.
        let cell = |cell: Option<String>| cell.unwrap_or_default().trim_end_matches(".000000").to_owned();
        let found: Vec<String> =
            found.into_iter().map(|row| row.into_iter().map(cell).collect::<Vec<_>>().join("|")).collect();
        assert_eq!(found, rows, "{title}: by SQL");
        let printed = ingester(folder.path(), &database.url, &question.command)?;
        parts.iter().try_fold(printed.as_str(), |rest, part| {
            let found = rest.split_once(part).map(|(_, rest)| rest);
            found.with_context(|| format!("{title}: `{part}` is not where it should be in {printed}"))
        })?;
    }
    Ok(())
}
