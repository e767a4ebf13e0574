//! A password that changes while the store writes.

use crate::world::{change, kind, model};
use anyhow::{Context as _, Result, ensure};
use ingester_store::{Address, ConnectOptions, ErrorClass, PasswordCommand, Store};
use ingester_tests::databases::On;
use ingester_tests::{Replication, SqlServer, with_every_server};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

with_every_server! {
    a_password_that_changes_under_load_is_read_again
    a_password_command_is_run_again_under_load
    a_fail_over_beside_a_changed_password_finds_the_new_primary
}

/// A deadline for everything that is waited for.
const DEADLINE: Duration = Duration::from_secs(60);

/// Has the server ask for passwords, and makes a user who has one. PostgreSQL's server of a test trusts every user.
async fn make_user(on: On, server: &SqlServer) -> Result<()> {
    match on {
        On::Postgres => {
            let create = "CREATE ROLE rotated LOGIN PASSWORD 'first'";
            let allow = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO rotated";
            server.sql("rotation", &format!("{create}; {allow}")).await.map(drop)
        }
        _ => {
            let create = "CREATE USER 'rotated'@'%' IDENTIFIED BY 'first'";
            let allow = "GRANT SELECT, INSERT, UPDATE, DELETE ON rotation.* TO 'rotated'@'%'";
            server.run(&[create, allow]).await.map(drop)
        }
    }
}

async fn ask_for_passwords(on: On, server: &SqlServer) -> Result<()> {
    if let On::Postgres = on {
        let rules = "host all rotated 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\nlocal all all trust\n\
                     host replication all 127.0.0.1/32 trust";
        let file = server.sql("rotation", "SHOW hba_file").await?;
        let file = file.into_iter().flatten().flatten().next().context("pg_hba.conf")?;
        std::fs::write(&file, format!("{rules}\n")).context(file)?;
        server.sql("rotation", "SELECT pg_reload_conf()").await?;
    }
    Ok(())
}

/// Gives the user another password.
async fn change_password(on: On, server: &SqlServer, password: &str) -> Result<()> {
    match on {
        On::Postgres => server.sql("rotation", &format!("ALTER ROLE rotated PASSWORD '{password}'")).await.map(drop),
        _ => server.run(&[&format!("ALTER USER 'rotated'@'%' IDENTIFIED BY '{password}'")]).await.map(drop),
    }
}

/// Ends the connections of the user.
pub(crate) async fn end_connections(on: On, server: &SqlServer) -> Result<()> {
    let sql = match on {
        On::Postgres => "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'",
        // MySQL's list of processes is an error while one of them writes bytes.
        On::MySql => {
            "SELECT CONCAT('KILL ', processlist_id) FROM performance_schema.threads WHERE processlist_user = 'rotated'"
        }
        _ => "SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE user = 'rotated'",
    };
    for kill in server.sql("rotation", sql).await?.into_iter().flatten().flatten() {
        if let On::MariaDb | On::MySql = on {
            // It may have ended by itself.
            let _ = server.run(&[&kill]).await;
        }
    }
    Ok(())
}

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

/// The file of the password, which is replaced at once, as Kubernetes does.
struct File(tempfile::TempDir);

impl File {
    fn new() -> Result<Self> {
        let file = File(tempfile::tempdir()?);
        file.replace("first")?;
        Ok(file)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("password")
    }

    fn replace(&self, password: &str) -> Result<()> {
        let new = self.0.path().join("new");
        std::fs::write(&new, password)?;
        Ok(std::fs::rename(new, self.path())?)
    }
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

/// Has four writers write while the password changes, which `address` has the store read from a file.
async fn rotate_under_load(on: On, address: fn(&str, &Path) -> Result<Address>) -> Result<()> {
    let Some(server) = on.own()? else { return Ok(()) };
    let admin: Address = server.create_database("rotation").await?.parse()?;
    Store::connect(&admin, ConnectOptions::default()).await?.create_missing(crd_specs::KINDS).await?;
    make_user(on, &server).await?;
    ask_for_passwords(on, &server).await?;
    let file = File::new()?;
    let port = server.port().context("a port")?;
    let scheme = if let On::Postgres = on { "postgres" } else { "mysql" };
    let url = format!("{scheme}://rotated@127.0.0.1:{port}/rotation");
    let without = Store::connect(&url.parse()?, ConnectOptions::default()).await.map(drop);
    assert_eq!(without.expect_err("it asks for a password").class(), ErrorClass::Operator);
    let options = ConnectOptions { connections: 4, ..ConnectOptions::default() };
    let store = Arc::new(Store::connect(&address(&url, &file.path())?, options).await?);

    // Four writers, which go on at what an operator has to mend, as the mirror does.
    let [written, refused] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let stop = Arc::new(AtomicBool::new(false));
    let writer = |number: usize| {
        let (store, written, refused, stop) = (store.clone(), written.clone(), refused.clone(), stop.clone());
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
    let soon = async || reached(&written, written.load(Ordering::SeqCst) + 20).await;
    soon().await?;

    // The file is new before its connections end: no write is refused.
    change_password(on, &server, "second").await?;
    file.replace("second")?;
    end_connections(on, &server).await?;
    soon().await?;
    assert_eq!(refused.load(Ordering::SeqCst), 0, "the file is read before a write fails");

    // The file is late, as a Secret's is: writes are refused until it is there.
    change_password(on, &server, "third").await?;
    end_connections(on, &server).await?;
    reached(&refused, 8).await?;
    file.replace("third")?;
    soon().await?;
    let refused_until_now = refused.load(Ordering::SeqCst);
    end_connections(on, &server).await?;
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
    Store::connect(&admin, ConnectOptions::default()).await?.create_missing(crd_specs::KINDS).await?;
    make_user(on, one).await?;
    pair.caught_up(1).await?;
    for server in [one, two] {
        ask_for_passwords(on, server).await?;
    }
    let file = File::new()?;
    let store = {
        let retry = ingester_store::Retry { attempts: Some(60), ..ingester_store::Retry::SHORT };
        let options = ConnectOptions { retry, ..ConnectOptions::default() };
        Store::connect(&address(&pair.url("rotated", "rotation")?, &file.path())?, options).await?
    };
    let table = kind("Model").table();
    store.write(table, vec![change(&model("before", 1))]).await?;

    change_password(on, one, "second").await?;
    pair.caught_up(1).await?;
    file.replace("second")?;
    pair.switch_over(1).await?;
    store.write(table, vec![change(&model("after", 1))]).await?;
    let stored = two.sql("rotation", "SELECT uid FROM model ORDER BY uid").await?;
    let stored: Vec<String> = stored.into_iter().flatten().flatten().collect();
    assert_eq!(stored, ["after", "before"]);
    Ok(())
}
