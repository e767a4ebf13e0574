//! Kills `schema apply` at random moments. Whatever it was doing, the next run completes it.

use crate::program::Folder;
use crate::{after, before};
use anyhow::{Result, ensure};
use ingester_core::object::{ManagedFields, Object};
use ingester_store::migrate::{Folder as Files, GenerateOptions};
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::databases::Database;
use ingester_tests::{on_every_database, on_galera};
use serde_json::json;
use std::hash::{BuildHasher as _, RandomState};
use std::process::Stdio;
use std::time::Duration;

on_every_database! {
    a_killed_schema_apply_is_completed_by_the_next_run
}

on_galera! {
    a_killed_schema_apply_on_a_node_is_completed_by_the_next_run
}

/// `migrations` resumes one after each of its steps. Here the process ends at any moment, with its connection and its lock.
const KILLS: u32 = 10;
const ROWS: u64 = 300;

async fn a_killed_schema_apply_is_completed_by_the_next_run(database: Database) -> Result<()> {
    is_completed(database, KILLS).await
}

/// Here the migration lock is a row, which a killed program leaves behind. Fewer kills, because every change is made on three servers.
async fn a_killed_schema_apply_on_a_node_is_completed_by_the_next_run(database: Database) -> Result<()> {
    is_completed(database, KILLS / 2).await
}

async fn is_completed(database: Database, wanted: u32) -> Result<()> {
    let folder = Folder::new();
    let files = Files::new(folder.path().join("sql"));
    let options = GenerateOptions { name: Some("change"), allow_destructive: true, ..GenerateOptions::default() };
    files.generate(before::KINDS, &GenerateOptions::default())?;
    let first = files.released()?;
    // Forward, back and forward again, so that every kind of statement runs several times.
    for kinds in [after::KINDS, before::KINDS, after::KINDS] {
        files.generate(kinds, &options)?;
    }
    let migrations = files.released()?.lock_file().migrations.len();
    ensure!(migrations == 4, "{migrations} migrations");

    let store = Store::connect(&database.url.parse()?, ConnectOptions::default()).await?;
    first.apply(&store, &mut |_| {}).await?;
    let kind = before::KINDS[0];
    let change = |number: u64| {
        let object = json!({
            "apiVersion": "example.com/v1", "kind": "Job",
            "metadata": {"namespace": "default", "name": format!("job-{number}"), "uid": format!("uid-{number}"), "resourceVersion": "7",
                         "labels": {"number": number.to_string()}},
            "spec": {"queue": "q", "owner": "me", "priority": number},
        });
        let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
        Ok(RowChange::Row(kind.row(&object)?.unwrap()))
    };
    let report = store.write(kind.table(), (0..ROWS).map(change).collect::<Result<_>>()?).await?;
    ensure!(report.written as u64 == ROWS, "{report:?}");
    store.close().await;

    let on = ["--database-url", &database.url, "--sql", "sql"];
    let apply = [&["schema", "apply"], &on[..]].concat();
    let revert = [&["schema", "revert", "--to", "1", "--allow-destructive"], &on[..]].concat();
    let mut kills = 0;
    let mut round = 0_u64;
    while kills < wanted {
        let mut command = folder.command(&apply);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        round += 1;
        tokio::time::sleep(Duration::from_millis(20 + RandomState::new().hash_one(round) % 300)).await;
        match child.try_wait()? {
            // It ended before the kill: take the migrations back and try again.
            Some(ended) => {
                let said = child.wait_with_output()?.stderr;
                ensure!(ended.success() || ended.code() == Some(1), "{ended}: {}", String::from_utf8_lossy(&said));
                ensure!(folder.run(&apply).code == Some(0));
                let ran = folder.run(&revert);
                ensure!(ran.code == Some(0), "{ran:?}");
            }
            None => {
                child.kill()?;
                child.wait()?;
                kills += 1;
            }
        }
    }
    let ran = folder.run(&apply);
    ensure!(ran.code == Some(0), "{ran:?}");
    let ran = folder.run(&[&["schema", "verify"], &on[..]].concat());
    ensure!(ran.code == Some(0) && ran.err.contains("has the released schema"), "{ran:?}");
    for table in ["job", "job_labels"] {
        ensure!(database.count(table).await? == ROWS, "{table} lost rows");
    }
    Ok(())
}
