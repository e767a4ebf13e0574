//! The testbed itself: each server starts, answers, survives what tests do to it, and leaves nothing behind.

use std::{
    io::{BufRead as _, BufReader},
    panic,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{
    ApiServer, Durability, MariaDb, MySql, SqlServer, process::wait_until, shared_apiserver, shared_mariadb,
    shared_mysql, skipped_without_mysql,
};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, ResourceExt as _,
    api::{ListParams, PostParams},
};
use sqlx::{ConnectOptions as _, Connection as _, MySqlConnection, mysql::MySqlConnectOptions};

async fn connect(url: &str) -> Result<MySqlConnection> {
    let options: MySqlConnectOptions = url.parse()?;
    Ok(options.connect().await?)
}

async fn version(server: &SqlServer) -> Result<String> {
    let mut connection = connect(&server.url("")).await?;
    let version = sqlx::query_scalar("SELECT VERSION()").fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(version)
}

/// Whether a process runs. One that has ended and only waits to be noticed does not: where the first process of a container
/// adopts orphans and never looks at them, they stay so for good.
fn runs(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/status")).is_ok_and(|status| !status.contains("\nState:\tZ"))
}

/// Whether any process has this folder among its arguments.
fn is_used(folder: &Path) -> Result<bool> {
    for process in std::fs::read_dir("/proc")? {
        let arguments = std::fs::read(process?.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&arguments).contains(&*folder.to_string_lossy()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A committed row is there after a crash and after an orderly stop, at the same URL; after the drop nothing is left.
async fn keeps_its_data_until_it_is_dropped(server: impl std::ops::Deref<Target = SqlServer>) -> Result<()> {
    let Some(folder) = server.folder().map(Path::to_owned) else { return Ok(()) };
    let url = server.create_database("kept").await?;
    let mut connection = connect(&url).await?;
    sqlx::query("CREATE TABLE t (a INT PRIMARY KEY)").execute(&mut connection).await?;
    sqlx::query("INSERT INTO t VALUES (42)").execute(&mut connection).await?;

    server.kill()?;
    assert!(connect(&url).await.is_err(), "a killed server does not answer");
    server.restart()?;
    let after_crash: i32 = sqlx::query_scalar("SELECT a FROM t").fetch_one(&mut connect(&url).await?).await?;
    server.stop()?;
    assert!(connect(&url).await.is_err(), "a stopped server does not answer");
    server.restart()?;
    let after_stop: i32 = sqlx::query_scalar("SELECT a FROM t").fetch_one(&mut connect(&url).await?).await?;
    assert_eq!((after_crash, after_stop), (42, 42));

    let id = server.process().and_then(|process| process.id()).context("the server runs")?;
    assert!(is_used(&folder)?, "the check for processes sees the running server");
    drop(server);
    assert!(!runs(id), "its process is gone");
    assert!(!folder.exists(), "its folder is gone");
    assert!(!is_used(&folder)?, "none of its processes is left");
    Ok(())
}

#[tokio::test]
async fn mariadb_tells_its_version() -> Result<()> {
    let version = version(shared_mariadb()?).await?;
    assert!(version.contains("MariaDB"), "{version}");
    Ok(())
}

#[tokio::test]
async fn mysql_tells_its_version() -> Result<()> {
    let Some(server) = shared_mysql()? else {
        skipped_without_mysql();
        return Ok(());
    };
    let version = version(server).await?;
    assert!(!version.contains("MariaDB"), "{version}");
    Ok(())
}

#[tokio::test]
async fn mariadb_keeps_its_data_until_it_is_dropped() -> Result<()> {
    keeps_its_data_until_it_is_dropped(MariaDb::start()?).await
}

#[tokio::test]
async fn mysql_keeps_its_data_until_it_is_dropped() -> Result<()> {
    let Some(server) = MySql::start()? else {
        skipped_without_mysql();
        return Ok(());
    };
    keeps_its_data_until_it_is_dropped(server).await
}

#[tokio::test]
async fn a_durable_server_has_its_own_defaults() -> Result<()> {
    let server = MariaDb::start_with(Durability::Durable, &["--max-allowed-packet=2M"])?;
    if server.folder().is_none() {
        return Ok(());
    }
    let mut connection = connect(&server.url("")).await?;
    let settings: (u64, u64) = sqlx::query_as("SELECT @@innodb_flush_log_at_trx_commit, @@max_allowed_packet")
        .fetch_one(&mut connection)
        .await?;
    assert_eq!(settings, (1, 2 << 20));
    Ok(())
}

#[tokio::test]
async fn a_database_is_made_anew_each_time() -> Result<()> {
    let server = shared_mariadb()?;
    let url = server.create_database("made_anew").await?;
    sqlx::query("CREATE TABLE t (a INT)").execute(&mut connect(&url).await?).await?;
    let url = server.create_database("made_anew").await?;
    let tables: Vec<String> = sqlx::query_scalar("SHOW TABLES").fetch_all(&mut connect(&url).await?).await?;
    assert!(tables.is_empty(), "{tables:?}");
    assert!(server.create_database("no`name").await.is_err());
    Ok(())
}

#[tokio::test]
async fn the_api_server_lists_namespaces() -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(shared_apiserver()?.client().await?);
    let names: Vec<String> =
        namespaces.list(&ListParams::default()).await?.iter().map(|namespace| namespace.name_any()).collect();
    assert!(names.iter().any(|name| name == "default"), "{names:?}");
    Ok(())
}

#[tokio::test]
async fn the_api_server_stores_empty_strings_as_they_are() -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(shared_apiserver()?.client().await?, "kube-system");
    let map: ConfigMap =
        serde_json::from_value(serde_json::json!({"metadata": {"name": "empty"}, "data": {"nothing": ""}}))?;
    let stored = maps.create(&PostParams::default(), &map).await?;
    assert_eq!(stored.data, map.data);
    Ok(())
}

#[tokio::test]
async fn the_api_server_keeps_its_data_until_it_is_dropped() -> Result<()> {
    let server = ApiServer::start()?;
    let folder = server.folder().to_owned();
    let namespaces: Api<Namespace> = Api::all(server.client().await?);
    let kept: Namespace = serde_json::from_value(serde_json::json!({"metadata": {"name": "kept"}}))?;
    let uid = namespaces.create(&PostParams::default(), &kept).await?.uid();

    server.kill()?;
    server.etcd().kill()?;
    assert!(namespaces.get("kept").await.is_err(), "a killed server does not answer");
    server.restart()?;
    assert_eq!(namespaces.get("kept").await?.uid(), uid);

    let ids = [server.process().id(), server.etcd().id()].map(|id| id.unwrap_or_default());
    assert!(ids.into_iter().all(runs), "{ids:?}");
    drop(server);
    assert!(!ids.into_iter().any(runs), "its processes are gone");
    assert!(!folder.exists(), "its folder is gone");
    assert!(!is_used(&folder)?, "none of its processes is left");
    Ok(())
}

#[test]
fn a_test_that_panics_leaves_nothing_behind() -> Result<()> {
    let server = MariaDb::start()?;
    let Some(folder) = server.folder().map(Path::to_owned) else { return Ok(()) };
    let id = server.process().and_then(|process| process.id()).context("the server runs")?;
    let panicked = panic::catch_unwind(panic::AssertUnwindSafe(move || {
        let _server = server;
        // As a panic, without its message.
        panic::resume_unwind(Box::new("a failing test"));
    }));
    assert!(panicked.is_err());
    assert!(!runs(id) && !folder.exists());
    Ok(())
}

/// The program that the next test kills: this test alone, in a process of its own.
#[test]
#[ignore = "part of a_test_program_that_is_killed_leaves_nothing_behind"]
fn start_a_shared_server_and_wait_to_be_killed() -> Result<()> {
    use std::io::Write as _;
    let server = shared_mariadb()?;
    let folder = server.folder().context("a server of our own")?;
    let id = server.process().and_then(|process| process.id()).context("the server runs")?;
    // Past the test harness, which would keep it until the end.
    writeln!(std::io::stdout(), "\nstarted {id} {}", folder.display())?;
    std::thread::sleep(Duration::from_secs(300));
    Ok(())
}

#[test]
fn a_test_program_that_is_killed_leaves_nothing_behind() -> Result<()> {
    let mut program = Command::new(std::env::current_exe()?)
        .args(["--exact", "--ignored", "start_a_shared_server_and_wait_to_be_killed"])
        .env_remove("INGESTER_TEST_MARIADB_URL")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = program.stdout.take().context("its output")?;
    let started = BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("started ").map(str::to_owned));
    program.kill()?;
    program.wait()?;
    let started = started.context("the program started its server")?;
    let (id, folder) = started.split_once(' ').context("its line has two words")?;
    let (id, folder): (u32, &Path) = (id.parse()?, Path::new(folder));
    ensure!(folder.is_absolute(), "{folder:?}");
    wait_until("the server and its folder to go", Duration::from_secs(20), || Ok(!runs(id) && !folder.exists()))
}
