//! Imports of more bytes than the database has memory for tables: through a temporary file, in the order of the uids.

use crate::world::kinds;
use anyhow::{Context as _, Result, ensure};
use ingester_store::{ConnectOptions, Store};
use ingester_tests::MariaDb;
use ingester_tests::sql_server::Durability;
use ingester_transfer::import::{Destination, Import, ObjectStates, SpoolPlace, Summary, expand};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The number of objects, of 36 KB each: the least pool of MariaDB has 6 MB, and a batch of an import 16 MB.
const OBJECTS: u64 = 700;

/// A uid in the form of Kubernetes' own. In the order of the numbers, they are not sorted.
fn uid_of(number: u64) -> String {
    let spread = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:08x}-{:04x}-4000-8000-{number:012x}", spread >> 32, spread >> 16 & 0xffff)
}

/// Objects in random order of their uids, one of which cannot be decoded.
fn write_objects(path: &Path) -> Result<()> {
    let mut text = String::new();
    for number in 0..OBJECTS {
        let uid = uid_of(number);
        let much = "model ".repeat(6000);
        let spec =
            if number == 600 { "7".to_owned() } else { format!(r#"{{"description":"a model","notes":"{much}"}}"#) };
        writeln!(
            text,
            r#"{{"apiVersion":"michelangelo.api/v2","kind":"Model","metadata":{{"namespace":"ml","name":"m{number}","uid":"{uid}","resourceVersion":"{}"}},"spec":{spec}}}"#,
            number + 1
        )?;
    }
    // A later state of the first one.
    writeln!(
        text,
        r#"{{"apiVersion":"michelangelo.api/v2","kind":"Model","metadata":{{"namespace":"ml","name":"m0","uid":"{}","resourceVersion":"9999"}},"spec":{{"description":"later"}}}}"#,
        uid_of(0)
    )?;
    Ok(std::fs::write(path, text)?)
}

async fn import(store: &Store, path: &Path, spool: Option<SpoolPlace>) -> Result<(Summary, Vec<String>)> {
    let import = Import {
        destination: Destination::Store(store),
        kinds: kinds(),
        inputs: expand(&[path.to_owned()]),
        namespace: None,
        states: ObjectStates::Live,
        generate_names: false,
        ignore_unknown: false,
        spool,
        progress: Arc::default(),
        stop: CancellationToken::new(),
    };
    let mut problems = Vec::new();
    let summary = import.run(|problem| problems.push(problem.to_string())).await?;
    problems.sort();
    Ok((summary, problems))
}

/// How often a row was written before one with a smaller uid.
async fn descents(server: &MariaDb) -> Result<usize> {
    let log = server
        .sql("mysql", "SELECT argument FROM general_log WHERE command_type = 'Execute' AND argument LIKE '%INSERT%`model`%' ORDER BY event_time")
        .await?;
    let mut written = Vec::new();
    for row in &log {
        let text = row.first().and_then(Option::as_ref).context("a text")?;
        // The first uid of a statement, and the last.
        let uids: Vec<&str> =
            text.match_indices("-4000-8000-").filter_map(|(at, _)| text.get(at - 13..at + 23)).collect();
        written.extend([uids.iter().min(), uids.iter().max()].into_iter().flatten().map(|uid| (*uid).to_owned()));
    }
    ensure!(written.len() >= 4, "the log has no statements that insert rows: {} of {}", written.len(), log.len());
    Ok(written.windows(2).filter(|pair| pair[0] > pair[1]).count())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_larger_than_the_pool_is_written_in_the_order_of_the_uids() -> Result<()> {
    let server = MariaDb::start_with(Durability::Fast, &["--innodb-buffer-pool-size=6M", "--log-output=TABLE"])?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("models.jsonl");
    write_objects(&path)?;
    let mut found = Vec::new();
    let whole = || SpoolPlace { folder: folder.path().to_owned(), limit: 1 << 30 };
    for (name, spool, order) in [
        ("arriving", None, "as they arrive"),
        ("sorted", Some(whole()), "sorted"),
        ("runs", Some(SpoolPlace { limit: 20_000, ..whole() }), "in runs"),
        ("nowhere", Some(SpoolPlace { folder: PathBuf::from("/proc/no/such/folder"), ..whole() }), "as they arrive"),
        ("never", Some(SpoolPlace { limit: 0, ..whole() }), "as they arrive"),
    ] {
        let store = Store::connect(&server.create_database(name).await?.parse()?, ConnectOptions::default()).await?;
        ensure!(store.clustered_pool().is_some_and(|pool| pool < 7 << 20), "{:?}", store.clustered_pool());
        store.create_missing(kinds()).await?;
        server.run(&["TRUNCATE mysql.general_log", "SET GLOBAL general_log = ON"]).await?;
        let imported = import(&store, &path, spool).await;
        server.run(&["SET GLOBAL general_log = OFF"]).await?;
        let (summary, problems) = imported?;
        let descents = descents(&server).await?;
        match order {
            "sorted" => ensure!(descents == 0, "{name}: {descents}"),
            "in runs" => ensure!((1..20).contains(&descents), "{name}: {descents}"),
            _ => ensure!(descents > 0, "{name}: {descents}"),
        }
        let rows = server.sql(name, "SELECT uid, res_version, MD5(json) FROM model ORDER BY uid").await?;
        ensure!(rows.len() as u64 == OBJECTS - 1, "{name}: {} rows", rows.len());
        found.push((name, rows, problems, summary.rejected(), summary.read()));
        store.close().await;
    }
    ensure!(folder.path().read_dir()?.count() == 1, "files are left");
    let (_, rows, problems, rejected, read) = &found[0];
    ensure!(
        problems.iter().any(|problem| problem.contains("models.jsonl") && problem.contains("m600")),
        "{problems:?}"
    );
    for (name, others, their_problems, their_rejected, their_read) in &found[1..] {
        ensure!(rows == others, "{name}: the rows differ");
        ensure!(
            (problems, rejected, read) == (their_problems, their_rejected, their_read),
            "{name}: {their_problems:?}"
        );
    }
    Ok(())
}
