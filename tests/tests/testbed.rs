//! The testbed itself: each server starts, answers, survives stops and kills, and leaves nothing behind.

use std::{
    io::{BufRead as _, BufReader},
    panic,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{
    ApiServer, Durability, Edition, Ingester, MariaDb,
    apiserver::{Access, SERVICE_ACCOUNT},
    databases::On,
    install,
    process::wait_until,
    shared_apiserver, shared_mariadb, shared_modern_apiserver, skipped_without_modern_apiserver, sql,
    with_every_server, with_servers,
};
use k8s_openapi::api::{
    core::v1::{ConfigMap, Namespace},
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, ResourceExt as _,
    api::{
        DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams, WatchEvent,
        WatchParams,
    },
    core::{ApiResource, Request},
};
use serde_json::{Value as Json, json};
use sqlx::{AssertSqlSafe, ConnectOptions as _, MySqlConnection, mysql::MySqlConnectOptions};

async fn connect(url: &str) -> Result<MySqlConnection> {
    let options: MySqlConnectOptions = url.parse()?;
    Ok(options.connect().await?)
}

/// Whether a process runs. A zombie does not: in a container whose first process never reaps orphans, zombies stay for
/// good.
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

with_every_server! {
    a_server_answers_with_its_version
    a_server_keeps_its_data_until_it_is_dropped
    create_database_replaces_an_existing_one
    a_replica_follows_and_takes_the_place_of_the_primary
}

// PostgreSQL counts rows, not statements.
with_servers! { (writing_statements_are_counted) [mariadb MariaDb] [mysql MySql] }

/// The only cell of an answer.
fn only(rows: sql::Rows) -> String {
    let cells: Vec<_> = rows.into_iter().flatten().map(|cell| cell.unwrap_or_else(|| "NULL".to_owned())).collect();
    assert_eq!(cells.len(), 1, "{cells:?}");
    cells.concat()
}

async fn a_server_answers_with_its_version(on: On) -> Result<()> {
    let Some(server) = on.shared()? else { return Ok(()) };
    let version = only(server.sql("", "SELECT VERSION()").await?);
    let named = ["MariaDB", "PostgreSQL"].map(|name| version.contains(name));
    assert_eq!(named, [on == On::MariaDb, on == On::Postgres], "{version}");
    Ok(())
}

/// A committed row survives a crash and a stop, at the same URL. After the drop nothing is left.
async fn a_server_keeps_its_data_until_it_is_dropped(on: On) -> Result<()> {
    let Some(server) = on.own()? else { return Ok(()) };
    let folder = server.folder().map(Path::to_owned).context("a folder")?;
    server.create_database("kept").await?;
    server.sql("kept", "CREATE TABLE t (a INT PRIMARY KEY)").await?;
    server.sql("kept", "INSERT INTO t VALUES (42)").await?;

    server.kill()?;
    assert!(server.sql("kept", "SELECT 1").await.is_err(), "a killed server does not answer");
    server.restart()?;
    let after_crash = only(server.sql("kept", "SELECT a FROM t").await?);
    server.stop()?;
    assert!(server.sql("kept", "SELECT 1").await.is_err(), "a stopped server does not answer");
    server.restart()?;
    let after_stop = only(server.sql("kept", "SELECT a FROM t").await?);
    assert_eq!([after_crash, after_stop], ["42", "42"]);

    let id = server.process().and_then(|process| process.id()).context("the server runs")?;
    assert!(is_used(&folder)?, "the check for processes sees the running server");
    drop(server);
    assert!(!runs(id), "its process is gone");
    assert!(!folder.exists(), "its folder is gone");
    assert!(!is_used(&folder)?, "none of its processes is left");
    Ok(())
}

async fn create_database_replaces_an_existing_one(on: On) -> Result<()> {
    let Some(server) = on.shared()? else { return Ok(()) };
    for _ in 0..2 {
        let url = server.create_database("made_anew").await?;
        sql::on(&url, &[], "CREATE TABLE t (a INT)").await?;
    }
    assert!(server.create_database("no`name").await.is_err());
    Ok(())
}

/// What was committed on the primary is on the replica, which accepts no writes until it is promoted.
async fn a_replica_follows_and_takes_the_place_of_the_primary(on: On) -> Result<()> {
    let Some(pair) = on.replicated().await? else { return Ok(()) };
    let insert = async |place: usize, number: u32| {
        pair.server(place).sql("pair", &format!("INSERT INTO t VALUES ({number})")).await
    };
    let numbers = async |place: usize| anyhow::Ok(only(pair.server(place).sql("pair", "SELECT SUM(a) FROM t").await?));
    pair.server(0).create_database("pair").await?;
    pair.server(0).sql("pair", "CREATE TABLE t (a INT PRIMARY KEY)").await?;
    insert(0, 1).await?;
    pair.caught_up(1).await?;
    assert_eq!(numbers(1).await?, "1");

    pair.switch_over(1).await?;
    insert(1, 2).await?;
    pair.caught_up(0).await?;
    assert_eq!(numbers(0).await?, "3");
    if on == On::Postgres {
        // The others let their administrator write.
        assert!(insert(0, 4).await.is_err(), "a standby does not take writes");
    }

    pair.server(1).kill()?;
    pair.promote(0).await?;
    insert(0, 4).await?;
    assert_eq!(numbers(0).await?, "7");
    Ok(())
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
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "empty"}, "data": {"nothing": ""}}))?;
    let stored = maps.create(&PostParams::default(), &map).await?;
    assert_eq!(stored.data, map.data);
    Ok(())
}

/// Things of the namespace `default`: custom resources with any content, which both editions support.
async fn things(server: &ApiServer) -> Result<Api<DynamicObject>> {
    let crd: CustomResourceDefinition = serde_json::from_value(json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    }))?;
    let client = server.client().await?;
    install(&client, &[crd]).await?;
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("example.com", "v1", "Thing"), "things");
    Ok(Api::default_namespaced_with(client, &resource))
}

async fn create_thing(things: &Api<DynamicObject>, name: &str) -> Result<DynamicObject> {
    let thing =
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "data": {"a": "1"}});
    Ok(things.create(&PostParams::default(), &serde_json::from_value(thing)?).await?)
}

/// Runs a test on either edition; on the modern one only if it is installed.
async fn on(edition: Edition, test: impl AsyncFnOnce(ApiServer) -> Result<()>) -> Result<()> {
    match ApiServer::start_edition(edition)? {
        Some(server) => test(server).await,
        None => {
            skipped_without_modern_apiserver();
            Ok(())
        }
    }
}

async fn keeps_its_objects_until_it_is_dropped(server: ApiServer) -> Result<()> {
    let folder = server.folder().to_owned();
    let things = things(&server).await?;
    let uid = create_thing(&things, "kept").await?.uid();

    server.kill()?;
    server.etcd().kill()?;
    assert!(things.get("kept").await.is_err(), "a killed server does not answer");
    server.restart()?;
    assert_eq!(things.get("kept").await?.uid(), uid);

    let ids = [server.process().id(), server.etcd().id()].map(|id| id.unwrap_or_default());
    assert!(ids.into_iter().all(runs), "{ids:?}");
    drop(server);
    assert!(!ids.into_iter().any(runs), "its processes are gone");
    assert!(!folder.exists(), "its folder is gone");
    assert!(!is_used(&folder)?, "none of its processes is left");
    Ok(())
}

#[tokio::test]
async fn the_api_server_keeps_its_objects_until_it_is_dropped() -> Result<()> {
    on(Edition::Classic, keeps_its_objects_until_it_is_dropped).await
}

#[tokio::test]
async fn the_modern_api_server_keeps_its_objects_until_it_is_dropped() -> Result<()> {
    on(Edition::Modern, keeps_its_objects_until_it_is_dropped).await
}

async fn snapshot_restores_objects_and_versions(server: ApiServer) -> Result<()> {
    let things = things(&server).await?;
    let changed = create_thing(&things, "changed").await?;
    let deleted = create_thing(&things, "deleted").await?;

    let snapshot = server.snapshot()?;
    for thing in [&changed, &deleted] {
        assert_eq!(&things.get(&thing.name_any()).await?, thing, "taking it changes nothing");
    }
    for round in 0..2 {
        let patch = json!({"data": {"a": "2"}});
        let patched = things.patch("changed", &PatchParams::default(), &Patch::Merge(&patch)).await?;
        let version = |thing: &DynamicObject| thing.resource_version().and_then(|version| version.parse::<u64>().ok());
        ensure!(version(&patched) > version(&changed), "round {round}");
        things.delete("deleted", &DeleteParams::default()).await?;
        create_thing(&things, "later").await?;

        server.restore(&snapshot)?;
        for thing in [&changed, &deleted] {
            assert_eq!(&things.get(&thing.name_any()).await?, thing, "round {round}");
        }
        assert!(things.get_opt("later").await?.is_none(), "round {round}");
    }
    Ok(())
}

#[tokio::test]
async fn a_snapshot_restores_objects_and_versions_every_time() -> Result<()> {
    on(Edition::Classic, snapshot_restores_objects_and_versions).await
}

#[tokio::test]
async fn a_snapshot_of_the_modern_api_server_restores_as_much() -> Result<()> {
    on(Edition::Modern, snapshot_restores_objects_and_versions).await
}

/// The first event of a watch from this version: the name of its object, or the code of its error.
async fn first_event(things: &Api<DynamicObject>, version: &str) -> Result<Result<String, u16>> {
    // A newer API server refuses the watch; an older one sends the error as the first event.
    let watch = Request::new(things.resource_url()).watch(&WatchParams::default().timeout(5), version)?;
    let mut answer = match things.clone().into_client().request_text(watch).await {
        Ok(answer) => answer,
        Err(kube::Error::Api(error)) => return Ok(Err(error.code)),
        Err(error) => return Err(error.into()),
    };
    answer.truncate(answer.find('\n').unwrap_or(answer.len()));
    match serde_json::from_str(&answer).with_context(|| format!("an event: {answer}"))? {
        WatchEvent::<DynamicObject>::Error(error) => Ok(Err(error.code)),
        WatchEvent::Added(thing) | WatchEvent::Modified(thing) | WatchEvent::Deleted(thing) => Ok(Ok(thing.name_any())),
        WatchEvent::Bookmark(_) => anyhow::bail!("a bookmark that nobody asked for"),
    }
}

async fn old_watch_is_gone_after_a_compaction(server: ApiServer) -> Result<()> {
    let things = things(&server).await?;
    let mut versions = Vec::new();
    for name in ["first", "second", "third"] {
        versions.push(create_thing(&things, name).await?.resource_version().context("a version")?);
    }
    assert_eq!(first_event(&things, &versions[0]).await?, Ok("second".to_owned()));
    let compacted = server.compact()?;
    assert!(compacted >= versions[2].parse()?, "{compacted}, {versions:?}");
    assert_eq!(server.compact()?, compacted, "doing it again where nothing has changed is no error");
    server.restart()?;
    assert_eq!(first_event(&things, &versions[0]).await?, Err(410));
    Ok(())
}

#[tokio::test]
async fn after_a_compaction_and_a_restart_an_old_watch_is_gone() -> Result<()> {
    on(Edition::Classic, old_watch_is_gone_after_a_compaction).await
}

#[tokio::test]
async fn after_a_compaction_an_old_watch_of_the_modern_api_server_is_gone() -> Result<()> {
    on(Edition::Modern, old_watch_is_gone_after_a_compaction).await
}

#[tokio::test]
async fn the_modern_api_server_streams_its_lists() -> Result<()> {
    let Some(server) = shared_modern_apiserver()? else {
        skipped_without_modern_apiserver();
        return Ok(());
    };
    let things = things(server).await?;
    for name in ["a", "b"] {
        create_thing(&things, name).await?;
    }
    let stream = WatchParams::streaming_lists().timeout(2);
    let answer =
        things.clone().into_client().request_text(Request::new(things.resource_url()).watch(&stream, "")?).await?;
    let events: Vec<Json> = answer.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let names: Vec<_> = events.iter().map(|event| (&event["type"], &event["object"]["metadata"]["name"])).collect();
    assert_eq!(names[..2], [(&json!("ADDED"), &json!("a")), (&json!("ADDED"), &json!("b"))], "{events:?}");
    let end = &events[2]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"];
    assert_eq!((&events[2]["type"], end), (&json!("BOOKMARK"), &json!("true")), "{events:?}");
    Ok(())
}

#[tokio::test]
async fn the_service_account_has_only_granted_rights_and_is_audited() -> Result<()> {
    let server = shared_apiserver()?;
    let admin = server.client().await?;
    let maps: Api<ConfigMap> = Api::namespaced(server.service_account_client().await?, "default");
    let access = |verb: &str, resource: &str| Access {
        verb: verb.to_owned(),
        group: String::new(),
        resource: resource.to_owned(),
    };
    assert!(matches!(maps.list(&ListParams::default()).await, Err(kube::Error::Api(error)) if error.code == 403));
    let audit = server.audit()?;
    assert_eq!((&audit.used, &audit.forbidden), (&[access("list", "configmaps")].into(), &audit.used));

    let role: ClusterRole = serde_json::from_value(json!({
        "metadata": {"name": "testbed"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "watch"]}],
    }))?;
    let binding: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": {"name": "testbed"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "testbed"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": SERVICE_ACCOUNT}],
    }))?;
    Api::all(admin.clone()).create(&PostParams::default(), &role).await?;
    Api::all(admin).create(&PostParams::default(), &binding).await?;
    // The authorizer observes them a moment later.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while let Err(error) = maps.get_opt("nothing").await {
        ensure!(tokio::time::Instant::now() < deadline, "{error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // A watch that ends at once, because some servers log a watch at its end.
    drop(maps.watch(&WatchParams::default(), "0").await?);
    maps.clone().into_client().apiserver_version().await?;
    let audit = loop {
        let audit = server.audit()?;
        if audit.used.contains(&access("watch", "configmaps")) {
            break audit;
        }
        ensure!(tokio::time::Instant::now() < deadline, "{audit:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let used = ["get", "list", "watch"].map(|verb| access(verb, "configmaps"));
    assert!(used.iter().all(|access| audit.used.contains(access)), "{audit:?}");
    assert!(audit.used.contains(&access("get", "/version")), "{audit:?}");
    assert!(audit.forbidden.contains(&access("list", "configmaps")), "{audit:?}");
    assert!(!audit.forbidden.contains(&access("watch", "configmaps")), "{audit:?}");
    Ok(())
}

/// Each writing statement counts once, whether sent as text or prepared. Reads do not count.
async fn writing_statements_are_counted(on: On) -> Result<()> {
    let Some(server) = on.own()? else { return Ok(()) };
    let url = server.create_database("counted").await?;
    let mut connection = connect(&url).await?;
    for (statement, counter) in [
        ("CREATE TABLE t (a INT PRIMARY KEY, b INT)", "Com_create_table"),
        ("INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = VALUES(b)", "Com_insert"),
        ("INSERT INTO t SELECT a + 100, b FROM t", "Com_insert_select"),
        ("REPLACE INTO t VALUES (1, 1)", "Com_replace"),
        ("UPDATE t SET b = 2", "Com_update"),
        ("UPDATE t SET b = 2", "Com_update"),
        ("DELETE FROM t WHERE a = -1", "Com_delete"),
        ("DELETE t FROM t JOIN t AS other ON t.a = other.b", "Com_delete_multi"),
        ("UPDATE t JOIN t AS other ON t.a = other.b SET t.b = 3", "Com_update_multi"),
        ("ALTER TABLE t ADD COLUMN c INT", "Com_alter_table"),
        ("DROP TABLE t", "Com_drop_table"),
    ] {
        let ddl = counter.ends_with("_table");
        for prepared in [false, true] {
            if prepared && ddl {
                continue;
            }
            let mut expected = server.writing_statements().await?;
            *expected.get_mut(counter).with_context(|| counter.to_owned())? += 1;
            if prepared {
                // It may fail because of the rows that the text has written, but it counts.
                let _ = sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await;
            } else {
                sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.context(statement)?;
            }
            sqlx::query("SELECT 1").execute(&mut connection).await?;
            assert_eq!(server.writing_statements().await?, expected, "{statement}, prepared: {prepared}");
        }
    }
    Ok(())
}

/// A program that prints how it was started, exits on SIGTERM, and has one other command.
const PROGRAM: &str = r#"#!/bin/sh
trap 'echo bye; exit 7' TERM
echo "$* $KUBECONFIG $MYSQL_PASSWORD"
cat "$3" 2>&1
case $1 in
  run) while :; do sleep 0.02; done ;;
  *) echo trouble >&2; exit 3 ;;
esac
"#;

#[test]
fn the_ingester_process_is_started_stopped_killed_and_queried() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    // Another process writes it: a file that is open for writing cannot be executed, and a child that another test is
    // starting would inherit it open.
    let write = r#"printf %s "$2" >"$1" && chmod +x "$1""#;
    let written = Command::new("sh").args(["-c", write, "sh"]).arg(&program).arg(PROGRAM).status()?;
    ensure!(written.success());

    let kubeconfig = Path::new("/nowhere/kubeconfig");
    let ingester = Ingester::start(&program, "a: b\n", kubeconfig, &[("MYSQL_PASSWORD", "geheim")])?;
    let says = |what: &str, times: usize| {
        wait_until(what, Duration::from_secs(20), || Ok(ingester.logs()?.matches(what).count() == times))
            .with_context(|| ingester.logs().unwrap_or_default())
    };
    says("/config.yaml /nowhere/kubeconfig geheim\na: b\nserver:\n  address: 127.0.0.1:", 1)?;
    assert!(ingester.logs()?.starts_with("run --config /"), "{}", ingester.logs()?);
    assert!(ingester.probe("/readyz").is_err() && ingester.metrics().is_err(), "nobody listens");

    let stopped = ingester.stop()?;
    assert_eq!(stopped.status.code(), Some(7), "{stopped:?}");
    assert!(stopped.took < Duration::from_secs(20), "{stopped:?}");
    assert!(ingester.logs()?.ends_with("bye\n"));
    assert!(ingester.stop().is_err(), "it does not run any more");

    ingester.restart()?;
    says("a: b", 2)?;
    ingester.process().freeze();
    ingester.kill()?;
    assert_eq!(ingester.logs()?.matches("bye").count(), 1, "nobody asked it");

    let ran = ingester.run(&["audit", "--repair"])?;
    assert_eq!((ran.code, &*ran.err), (Some(3), "trouble\n"), "{ran:?}");
    assert!(ran.out.starts_with("audit --repair --config "), "{ran:?}");

    let ends = Ingester::start(Path::new("/bin/false"), "", kubeconfig, &[])?;
    let error = format!("{:#}", ends.wait_ready(Duration::from_secs(20)).expect_err("it ends at once"));
    assert!(error.contains("ended") && error.contains("exit status: 1"), "{error}");
    assert_eq!(ends.wait_end(Duration::from_secs(20))?.code(), Some(1));
    Ok(())
}

#[test]
fn a_test_that_panics_leaves_nothing_behind() -> Result<()> {
    let server = MariaDb::start()?;
    let Some(folder) = server.folder().map(Path::to_owned) else { return Ok(()) };
    let id = server.process().and_then(|process| process.id()).context("the server runs")?;
    let panicked = panic::catch_unwind(panic::AssertUnwindSafe(move || {
        let _server = server;
        // Like a panic, but without the message.
        panic::resume_unwind(Box::new("a failing test"));
    }));
    assert!(panicked.is_err());
    assert!(!runs(id) && !folder.exists());
    Ok(())
}

/// The process that the next test kills: it runs this test alone.
#[test]
#[ignore = "part of a_test_program_that_is_killed_leaves_nothing_behind"]
fn start_a_shared_server_and_wait_to_be_killed() -> Result<()> {
    use std::io::Write as _;
    let server = shared_mariadb()?;
    let folder = server.folder().context("a server of our own")?;
    let id = server.process().and_then(|process| process.id()).context("the server runs")?;
    // Bypasses the test harness, which would hold the output back until the end.
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
