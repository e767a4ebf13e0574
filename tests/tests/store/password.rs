//! A password that changes while the store writes.

use crate::world::{MODEL_AND_PROJECT, change, kind, model};
use anyhow::{Context as _, Result, ensure};
use ingester_store::{Address, ConnectOptions, ErrorClass, PasswordCommand, Store};
use ingester_tests::databases::On;
use ingester_tests::password::{PasswordFile, RotatedUser};
use ingester_tests::{Replication, SqlServer, with_every_server};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

with_every_server! {
    a_password_that_changes_under_load_is_read_again
    a_password_command_is_run_again_under_load
    a_fail_over_beside_a_changed_password_finds_the_new_primary
}

/// A deadline for every wait.
const DEADLINE: Duration = Duration::from_secs(60);

/// The database of the user, whose password a command prints.
fn address_by_command(url: &str, file: &Path) -> Result<Address> {
    let args = vec![file.display().to_string()];
    let command = PasswordCommand { command: "cat".to_owned(), args, ..PasswordCommand::default() };
    Ok(url.parse::<Address>()?.password_command(command)?)
}

/// The database of the user, whose password is in a file.
fn address(url: &str, file: &Path) -> Result<Address> {
    let read = {
        let file = file.to_owned();
        move || std::fs::read_to_string(&file).map_err(|error| error.to_string())
    };
    Ok(url.parse::<Address>()?.password(&read().map_err(anyhow::Error::msg)?, read)?)
}

/// Waits until a count is reached.
async fn reached(count: &AtomicUsize, wanted: usize) -> Result<()> {
    let waiting = async {
        while count.load(Ordering::SeqCst) < wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, waiting).await.with_context(|| format!("{wanted} of something"))
}

async fn a_password_that_changes_under_load_is_read_again(on: On) -> Result<()> {
    rotate_under_load(on, address).await
}

async fn a_password_command_is_run_again_under_load(on: On) -> Result<()> {
    rotate_under_load(on, address_by_command).await
}

/// Lets four writers write while the password changes, which the store at `address` reads from a file.
async fn rotate_under_load(on: On, address: fn(&str, &Path) -> Result<Address>) -> Result<()> {
    let Some(server) = on.own()? else { return Ok(()) };
    let admin: Address = server.create_database("rotation").await?.parse()?;
    Store::connect(&admin, ConnectOptions::default()).await?.create_missing(MODEL_AND_PROJECT).await?;
    let user = RotatedUser::new(on, &server, "rotation");
    user.make().await?;
    user.is_asked().await?;
    let file = PasswordFile::new()?;
    let url = user.url()?;
    let without = Store::connect(&url.parse()?, ConnectOptions::default()).await.map(drop);
    assert_eq!(without.expect_err("it asks for a password").class(), ErrorClass::Operator);
    let options = ConnectOptions::default().connections(4);
    let store = Arc::new(Store::connect(&address(&url, &file.path())?, options).await?);

    // Four writers, which continue after errors that an operator has to fix, as the mirror does.
    let written = [(); 4].map(|()| Arc::new(AtomicUsize::new(0)));
    let refused = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let writer = |number: usize| {
        let store = store.clone();
        let written = written[number].clone();
        let refused = refused.clone();
        let stop = stop.clone();
        async move {
            let mut uids = Vec::new();
            while !stop.load(Ordering::SeqCst) {
                let uid = format!("u{number}-{:05}", uids.len());
                while let Err(error) = store.write(kind("Model").table(), vec![change(&model(&uid, 1))]).await {
                    ensure!(error.class() == ErrorClass::Operator, "{error}");
                    ensure!(!error.to_string().contains("second") && !error.to_string().contains("third"), "{error}");
                    refused.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                written.fetch_add(1, Ordering::SeqCst);
                uids.push(uid);
            }
            anyhow::Ok(uids)
        }
    };
    let writers: Vec<_> = (0..4).map(|number| tokio::spawn(writer(number))).collect();
    // Each of them, because one may have a connection that was opening when the others were ended.
    let soon = async || {
        for written in &written {
            reached(written, written.load(Ordering::SeqCst) + 5).await?;
        }
        anyhow::Ok(())
    };
    soon().await?;

    // The file is new before its connections end: no write is refused.
    user.change("second").await?;
    file.replace("second")?;
    user.end_connections().await?;
    soon().await?;
    assert_eq!(refused.load(Ordering::SeqCst), 0, "the file is read before a write fails");

    // The file is late, as a Secret's is: writes are refused until it is there.
    user.change("third").await?;
    user.end_connections().await?;
    reached(&refused, 8).await?;
    file.replace("third")?;
    soon().await?;
    let refused_until_now = refused.load(Ordering::SeqCst);
    user.end_connections().await?;
    soon().await?;
    assert_eq!(refused.load(Ordering::SeqCst), refused_until_now, "the new password is kept");

    stop.store(true, Ordering::SeqCst);
    let mut expected = Vec::new();
    for writer in writers {
        expected.extend(writer.await??);
    }
    expected.sort();
    let stored = server.sql("rotation", "SELECT uid FROM model").await?;
    let mut stored: Vec<String> = stored.into_iter().flatten().flatten().collect();
    stored.sort();
    assert_eq!(stored, expected, "every write is there");
    Ok(())
}

/// The servers of a pair, in the order of its URLs.
fn servers(pair: &Replication) -> [&SqlServer; 2] {
    [pair.server(0), pair.server(1)]
}

async fn a_fail_over_beside_a_changed_password_finds_the_new_primary(on: On) -> Result<()> {
    let Some(pair) = on.replicated().await? else { return Ok(()) };
    let [one, two] = servers(&pair);
    let admin: Address = one.create_database("rotation").await?.parse()?;
    Store::connect(&admin, ConnectOptions::default()).await?.create_missing(MODEL_AND_PROJECT).await?;
    let user = RotatedUser::new(on, one, "rotation");
    user.make().await?;
    pair.caught_up(1).await?;
    for server in [one, two] {
        RotatedUser::new(on, server, "rotation").is_asked().await?;
    }
    let file = PasswordFile::new()?;
    let store = {
        let retry = ingester_store::Retry::SHORT.attempts(Some(60));
        let options = ConnectOptions::default().retry(retry);
        Store::connect(&address(&pair.url("rotated", "rotation")?, &file.path())?, options).await?
    };
    let table = kind("Model").table();
    store.write(table, vec![change(&model("before", 1))]).await?;

    user.change("second").await?;
    pair.caught_up(1).await?;
    file.replace("second")?;
    pair.switch_over(1).await?;
    store.write(table, vec![change(&model("after", 1))]).await?;
    let stored = two.sql("rotation", "SELECT uid FROM model ORDER BY uid").await?;
    let stored: Vec<String> = stored.into_iter().flatten().flatten().collect();
    assert_eq!(stored, ["after", "before"]);
    Ok(())
}
