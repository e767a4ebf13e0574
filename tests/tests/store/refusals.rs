//! Objects that a database refuses, and transient errors.

use crate::world::{MODEL_AND_PROJECT, On, Stores as _, World, change, kind, model, poisoned};
use anyhow::{Context as _, Result};
use ingester_core::object::{ManagedFields, Object};
use ingester_store::{Address, ConnectOptions, ErrorClass, Retry, RowChange, Store};
use ingester_tests::on_every_database;
use ingester_tests::{MariaDb, shared_mariadb};
use serde_json::json;
use std::time::Duration;

on_every_database! {
    an_object_that_the_database_refuses_is_rejected_alone
    a_missing_table_stops_the_batch_and_says_what_to_do
    a_writer_waiting_for_a_lock_continues_when_it_is_released
}

async fn an_object_that_the_database_refuses_is_rejected_alone(world: World) -> Result<()> {
    let store = world.store().await?;
    let bad = ["u0000", "u0077", "u0078", "u0299"];
    let changes = (0..300)
        .map(|i| format!("u{i:04}"))
        .map(|uid| if bad.contains(&uid.as_str()) { poisoned(world.on, &uid) } else { change(&model(&uid, 1)) })
        .collect();
    let report = store.write(kind("Model").table(), changes).await?;
    let rejected: Vec<&str> = report.rejected.iter().map(|rejected| rejected.uid.as_ref()).collect();
    assert_eq!(rejected, bad, "{:?}", report.rejected);
    assert!(report.rejected.iter().all(|rejected| !rejected.reason.is_empty()));
    assert_eq!(report.written, 296);
    // Each bad object is in a batch of 300 and in each of its halves down to two objects; some of these are the same.
    assert!((10..40).contains(&report.splits), "{}", report.splits);
    assert_eq!(world.count("model").await?, 296);
    assert_eq!(world.count("model_labels").await?, 296 * 3);
    // It is also rejected when it is alone.
    let report = store.write(kind("Model").table(), vec![poisoned(world.on, "x")]).await?;
    assert_eq!((report.rejected.len(), report.splits), (1, 0));
    Ok(())
}

async fn a_missing_table_stops_the_batch_and_says_what_to_do(world: World) -> Result<()> {
    let store = world.connect(ConnectOptions::default()).await?;
    let changes = (0..10).map(|i| change(&model(&format!("u{i}"), 1))).collect();
    let error = store.write(kind("Model").table(), changes).await.expect_err("there are no tables");
    assert_eq!(error.class(), ErrorClass::Operator);
    let text = error.to_string();
    assert!(text.contains("`model`") && text.contains("schema is not there: make it with `ingester "), "{text}");
    Ok(())
}

async fn a_writer_waiting_for_a_lock_continues_when_it_is_released(world: World) -> Result<()> {
    use sqlx::{Connection as _, Executor as _};
    use tokio::sync::oneshot::{Receiver, Sender};
    async fn hold<D: sqlx::Database>(
        url: &str,
        lock: &[&'static str],
        locked: Sender<()>,
        released: Receiver<()>,
    ) -> sqlx::Result<()>
    where
        for<'c> &'c mut D::Connection: sqlx::Executor<'c, Database = D>,
    {
        let mut connection = D::Connection::connect(url).await?;
        for statement in lock {
            connection.execute(*statement).await?;
        }
        let _ = locked.send(());
        let _ = released.await;
        connection.execute("ROLLBACK").await.map(drop)
    }
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![change(&model("a", 1))]).await?;
    let (locked, lock) = tokio::sync::oneshot::channel();
    let (release, released) = tokio::sync::oneshot::channel::<()>();
    let url = world.url.clone();
    let on = world.on;
    let holder = tokio::spawn(async move {
        match on {
            On::Sqlite => hold::<sqlx::Sqlite>(&url, &["BEGIN IMMEDIATE"], locked, released).await,
            On::MariaDb | On::MySql => {
                hold::<sqlx::MySql>(&url, &["BEGIN", "SELECT * FROM model FOR UPDATE"], locked, released).await
            }
            On::Postgres => {
                hold::<sqlx::Postgres>(&url, &["BEGIN", "SELECT * FROM model FOR UPDATE"], locked, released).await
            }
        }
    });
    lock.await?;
    let mut write = tokio::spawn(async move { store.write(table, vec![change(&model("a", 2))]).await });
    // The write must wait now, and not fail. There is no event for that, so it gets a little time in which it could
    // fail.
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut write).await.is_err(), "it does not wait");
    let _ = release.send(());
    assert_eq!(write.await??.written, 1);
    holder.await??;
    Ok(())
}

#[tokio::test]
async fn mariadb_says_which_of_its_limits_an_object_exceeds() -> Result<()> {
    let address: Address = shared_mariadb()?.create_database("refusals_json").await?.parse()?;
    let store = Store::connect(&address, ConnectOptions::default()).await?;
    let table = kind("Model").table();
    store.create_missing(std::slice::from_ref(kind("Model"))).await?;
    let object = |uid: &str, value: &str| {
        let text = model(uid, 1).to_string().replace("\"spec\":{", &format!("\"spec\":{{\"unknown\":{value},"));
        let object = Object::parse(text, ManagedFields::Prune).expect("an object");
        RowChange::Row(kind("Model").row(&object).expect("a row").expect("kept"))
    };
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    // The object and its spec are levels, too.
    for (uid, value) in
        [("29", nested(29)), ("pair", r#""\ud83d\ude00 \\ud800""#.into()), ("text", r#""[[{\"""#.into())]
    {
        let report = store.write(table, vec![object(uid, &value)]).await?;
        anyhow::ensure!(report.written == 1, "{uid}: {report:?}");
    }
    let report = store.write(table, vec![object("60", &nested(60))]).await?;
    let [rejected] = &report.rejected[..] else { anyhow::bail!("{report:?}") };
    anyhow::ensure!(rejected.reason.contains("MariaDB takes JSON of at most 32 levels"), "{rejected:?}");
    Ok(())
}

async fn connect_error(url: &str) -> Result<(ErrorClass, String)> {
    let pause = Duration::from_millis(10);
    let retry = Retry::SHORT.attempts(Some(2)).first(pause).longest(pause);
    let address: Address = url.parse()?;
    match Store::connect(&address, ConnectOptions::default().retry(retry)).await {
        Ok(_) => anyhow::bail!("{url} should not connect"),
        Err(error) => Ok((error.class(), error.to_string())),
    }
}

#[tokio::test]
async fn failures_to_connect_say_what_to_do() -> Result<()> {
    let server = shared_mariadb()?;
    let url = server.create_database("refusals_connect").await?;
    let address = url.strip_prefix("mysql://root@").context("a server of our own")?.to_owned();

    let (class, text) = connect_error(&format!("mysql://root:s3cret@{address}")).await?;
    assert!(class == ErrorClass::Operator && text.contains("password") && !text.contains("s3cret"), "{text}");

    let (class, text) = connect_error(&url.replace("refusals_connect", "no_such_database")).await?;
    assert!(class == ErrorClass::Operator && text.contains("CREATE DATABASE"), "{text}");

    let (class, text) = connect_error("mysql://root@127.0.0.1:1/ma").await?;
    assert!(class == ErrorClass::Transient && text.contains("is the server running"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_away_gives_no_answer_and_one_that_is_back_does_at_once() -> Result<()> {
    let mut server = MariaDb::start()?;
    if server.process().is_none() {
        return Ok(());
    }
    let address: Address = server.create_database("answers").await?.parse()?;
    let store = Store::connect(&address, ConnectOptions::default()).await?;
    // Several connections, which break with the server.
    let asked = (0..4).map(|_| store.answers(Duration::from_secs(10)));
    futures::future::try_join_all(asked).await?;
    server = tokio::task::spawn_blocking(move || server.kill().map(|()| server)).await??;
    let error = store.answers(Duration::from_secs(2)).await.expect_err("it is away");
    assert_eq!(error.class(), ErrorClass::Transient, "{error}");
    let _server = tokio::task::spawn_blocking(move || server.restart().map(|()| server)).await??;
    Ok(store.answers(Duration::from_secs(10)).await?)
}

#[tokio::test]
async fn a_server_that_crashes_and_comes_back_loses_nothing() -> Result<()> {
    let server = MariaDb::start()?;
    if server.process().is_none() {
        // A server that we did not start, so we may not crash it.
        return Ok(());
    }
    let address: Address = server.create_database("crash").await?.parse()?;
    let store = Store::connect(&address, ConnectOptions::default().retry(Retry::ENDLESS)).await?;
    store.create_missing(MODEL_AND_PROJECT).await?;
    let table = kind("Model").table();
    let (wrote, mut written) = tokio::sync::watch::channel(0);
    let writer = tokio::spawn(async move {
        for batch in 0..200 {
            let changes = (0..20).map(|i| change(&model(&format!("u{batch:03}-{i:02}"), 1))).collect();
            store.write(table, changes).await?;
            wrote.send_replace(batch);
        }
        Ok::<_, anyhow::Error>(store)
    });
    let mut server = server;
    for reached in [20, 100] {
        written.wait_for(|batch| *batch >= reached).await?;
        server = tokio::task::spawn_blocking(move || {
            server.kill()?;
            server.restart()?;
            Ok::<_, anyhow::Error>(server)
        })
        .await??;
    }
    let store = writer.await??;
    assert_eq!(store.peek(table, 10_000).await?.len(), 4000);
    Ok(())
}

#[tokio::test]
async fn statements_keep_to_the_servers_largest_packet() -> Result<()> {
    let server = MariaDb::start_with(ingester_tests::Durability::Fast, &["--max-allowed-packet=1M"])?;
    let address: Address = server.create_database("packets").await?.parse()?;
    let store = Store::connect(&address, ConnectOptions::default()).await?;
    store.create_missing(MODEL_AND_PROJECT).await?;
    let large = |uid: &str, bytes: usize| {
        let mut object = model(uid, 1);
        object["metadata"]["annotations"] = json!({ "large": "x".repeat(bytes) });
        change(&object)
    };
    let mut changes: Vec<RowChange> = (0..50).map(|i| large(&format!("u{i:02}"), 100_000)).collect();
    changes.push(large("u99", 2_000_000));
    let report = store.write(kind("Model").table(), changes).await?;
    assert_eq!(report.written, 50);
    assert_eq!(report.rejected.len(), 1);
    assert!(report.rejected[0].reason.contains("max_allowed_packet"), "{:?}", report.rejected);
    Ok(())
}
