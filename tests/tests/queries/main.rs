//! Every question of docs/queries.md, asked in each of its three ways on each database: the answers are the same, and the right ones.
//!
//! The Rust blocks of the document are the bodies of the functions in `questions.rs`.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

mod document;
mod history;
mod kubedl;
mod objects;
mod questions;
mod saved;

use anyhow::{Context as _, Result, ensure};
use crd_specs::model::Model;
use document::Document;
use ingester_store::{ConnectOptions, Store};
use ingester_tests::databases::{Database, On};
use ingester_tests::on_every_database;
use questions::QUESTIONS;
use std::path::Path;
use std::process::Command;

on_every_database! {
    every_question_has_its_answer_by_sql_and_in_rust
    every_question_has_its_answer_on_the_command_line
    ranges_compare_by_the_type_of_the_column
    text_compares_by_byte_but_for_spaces_at_the_end_on_mysql
    no_value_and_empty_values_are_told_apart
}

/// A database with the objects that the questions are about.
async fn filled(database: &Database) -> Result<Store> {
    let store = Store::connect(&database.url.parse()?, ConnectOptions::default()).await?;
    store.create_missing(crd_specs::KINDS).await?;
    objects::fill(&store).await?;
    Ok(store)
}

async fn every_question_has_its_answer_by_sql_and_in_rust(database: Database) -> Result<()> {
    let store = filled(&database).await?;
    let document = Document::read();
    for (question, written) in QUESTIONS.iter().zip(&document.questions) {
        let right = question.expected(written.is_ordered());
        let by_sql = by_sql(&database, &document, written).await.context(question.title)?;
        assert_eq!(by_sql, right, "{}: by SQL", question.title);
        let mut in_rust = (question.ask)(&store).await.context(question.title)?;
        if !written.is_ordered() {
            in_rust.sort_unstable();
        }
        assert_eq!(in_rust, right, "{}: in Rust", question.title);
    }
    Ok(())
}

/// Cells joined by `|`; of objects only the uid.
async fn by_sql(database: &Database, document: &Document, written: &document::Question) -> Result<Vec<String>> {
    let rows = database.sql(&document.sql(written, database.on)).await?;
    let cells = if written.is_of_objects() { 1 } else { usize::MAX };
    let line = |row: Vec<Option<String>>| {
        row.into_iter().take(cells).map(Option::unwrap_or_default).collect::<Vec<_>>().join("|")
    };
    let mut lines: Vec<String> = rows.into_iter().map(line).collect();
    if !written.is_ordered() {
        lines.sort_unstable();
    }
    Ok(lines)
}

async fn every_question_has_its_answer_on_the_command_line(database: Database) -> Result<()> {
    filled(&database).await?.close().await;
    let document = Document::read();
    for (question, written) in QUESTIONS.iter().zip(&document.questions) {
        let mut lines = on_the_command_line(&database.url, &written.command).context(question.title)?;
        if !written.is_ordered() {
            lines.sort_unstable();
        }
        assert_eq!(lines, question.expected(written.is_ordered()), "{}: on the command line", question.title);
    }
    Ok(())
}

/// The lines that a command of the document prints, in a form that has the uids of objects.
fn on_the_command_line(url: &str, command: &str) -> Result<Vec<String>> {
    let form = if command.contains("--group-by") {
        " -o csv --no-headers"
    } else if command.contains("--count") {
        ""
    } else {
        " -o custom-columns=UID:.metadata.uid --no-headers"
    };
    let folder = Path::new(env!("CARGO_BIN_EXE_ingester")).parent().context("the program's folder")?;
    let path = std::env::join_paths(
        std::iter::once(folder.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    let output = Command::new("sh")
        .args(["-c", &format!("{command}{form}")])
        .env("PATH", path)
        .env("DATABASE_URL", url)
        .env_remove("RUST_LOG")
        .output()?;
    let out = String::from_utf8(output.stdout)?;
    let err = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{command}: {}{err}", output.status);
    Ok(out.lines().map(|line| line.trim().replace(',', "|")).filter(|line| !line.is_empty()).collect())
}

async fn ranges_compare_by_the_type_of_the_column(database: Database) -> Result<()> {
    filled(&database).await?.close().await;
    for (kind, selector, right) in [
        // As texts, 7 would be greater than 10.
        ("models", "spec.revisionId>=1,spec.revisionId<10", "churn-2 churn-3 fraud-1 fraud-2"),
        ("models", "spec.revisionId>1,spec.revisionId<=7", "churn-3 fraud-1"),
        // By byte; objects without an owner are not in any range.
        ("models", "owner<bob", "churn-1 churn-2 demand-c fraud-2"),
        ("models", "owner>=ada,owner<Bob", ""),
        ("models", "owner>Zoe", "churn-1 churn-2 churn-3 demand-c not-demand"),
        ("models", "create_time>=2026-01-03,create_time<2026-01-15T12:00:00Z", "demand-c"),
        ("models", "evict_time<now", "churn-1 fraud-2"),
        ("pipelineruns", "create_time<in 1h,create_time>=1d ago", "run-1 run-10 run-11 run-6 run-lab-1"),
        ("pipelineruns", "create_time<=3d", "run-3 run-4 run-9"),
    ] {
        let command = format!("ingester get {kind} --field-selector '{selector}'");
        let mut found = on_the_command_line(&database.url, &command)?;
        found.sort_unstable();
        assert_eq!(found.join(" "), right, "{selector}");
    }
    Ok(())
}

async fn text_compares_by_byte_but_for_spaces_at_the_end_on_mysql(database: Database) -> Result<()> {
    let store = filled(&database).await?;
    let ignored = u64::from(matches!(database.on, On::MariaDb | On::MySql));
    for (name, found) in [("churn-2", 1), ("Churn-2", 0), ("churn-2\u{301}", 0), ("churn-2 ", ignored)] {
        assert_eq!(database.count(&format!("model WHERE name = '{name}'")).await?, found, "`{name}` by SQL");
        assert_eq!(store.query::<Model>().name(name).count().await?, found, "`{name}` in Rust");
    }
    Ok(())
}

async fn no_value_and_empty_values_are_told_apart(database: Database) -> Result<()> {
    let store = filled(&database).await?;
    for (from, found) in [
        ("model WHERE uid = 'fraud-1' AND owner IS NULL", 1),
        ("model WHERE uid = 'fraud-2' AND owner = ''", 1),
        ("model WHERE uid = 'churn-1' AND revision_id = 0 AND algorithm = ''", 1),
        ("inferenceserver WHERE uid = 'server-3' AND state = 'INFERENCE_SERVER_STATE_INVALID'", 1),
        ("model WHERE delete_time IS NULL AND owner <> 'ada'", 3),
        ("model WHERE delete_time IS NULL AND (owner IS NULL OR owner <> 'ada')", 4),
    ] {
        assert_eq!(database.count(from).await?, found, "{from}");
    }
    assert_eq!(store.query::<Model>().filter(Model::owner().ne("ada")).count().await?, 4);
    Ok(())
}

#[test]
fn the_document_has_these_questions_and_the_code_that_is_tested() {
    let document = Document::read();
    let titles: Vec<&str> = document.questions.iter().map(|question| question.title.as_str()).collect();
    assert_eq!(titles, QUESTIONS.iter().map(|question| question.title).collect::<Vec<_>>());
    for (question, written) in QUESTIONS.iter().zip(&document.questions) {
        assert_eq!(written.rust, questions::body(question.function), "{}", question.title);
    }
    assert_eq!(document.how_to_ask, questions::body("how_to_ask"));
}
