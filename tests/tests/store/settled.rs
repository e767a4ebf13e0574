//! Answers about a moment stay the same, although a write of an earlier time may wait for a lock, or stay open for long.

use crate::history::KIND;
use crate::world::{On, Stores as _, World};
use anyhow::{Context as _, Result, ensure};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Expected, Row};
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_sql::query::Query;
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::on_every_database;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot::{Receiver, Sender};

on_every_database! {
    a_batch_that_waits_for_a_lock_changes_no_answer
    a_single_write_that_waits_for_a_lock_changes_no_answer_for_long
    a_transaction_that_stays_open_after_its_lock_changes_no_answer
    a_moment_is_waited_for_and_one_that_is_far_ahead_is_refused
}

/// How long a write may take to wait for a lock.
const PATIENCE: Duration = Duration::from_secs(30);

fn row(uid: &str, version: u64) -> Row {
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Run",
        "metadata": {
            "namespace": "ns", "name": format!("run-{uid}"), "uid": uid, "resourceVersion": version.to_string(),
            "labels": { "version": version.to_string() },
        },
        "status": { "phase": "Running", "count": version },
    });
    let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    KIND.row(&object).unwrap().unwrap()
}

fn live(uid: &str, version: u64) -> RowChange {
    RowChange::Row(row(uid, version))
}

/// A row whose version and labels its writer knows: one round trip can write it.
fn known(uid: &str, stored: u64, version: u64) -> RowChange {
    let before = row(uid, stored);
    let labels = before.labels.clone();
    let companions = before.companions_hash();
    RowChange::Row(Row {
        labels,
        expected: Some(Expected::Stored { res_version: stored, companions }),
        ..row(uid, version)
    })
}

/// The uid and version of each object at a moment.
async fn at(store: &Store, moment: Micros) -> Result<Vec<(String, u64)>> {
    let asked = store.ask_at(&KIND, &Query::default(), moment, Limits::default())?;
    let wanted = RequestedParts { places: vec![base::RES_VERSION], labels: false };
    let page = asked.page(&wanted, 100, None).await?;
    ensure!(page.next.is_none() && asked.count().await? == page.rows.len() as u64);
    let version = |row: &ingester_store::query::FoundRow| match row.get(base::RES_VERSION) {
        Some(ingester_core::value::Value::UInt(version)) => *version,
        other => panic!("{other:?}"),
    };
    Ok(page.rows.iter().map(|row| (row.uid().to_owned(), version(row))).collect())
}

/// Holds locks until it is told to release them.
async fn hold<D: sqlx::Database>(
    url: &str,
    lock: &'static str,
    locked: Sender<()>,
    released: Receiver<()>,
) -> sqlx::Result<()>
where
    for<'c> &'c mut D::Connection: sqlx::Executor<'c, Database = D>,
{
    use sqlx::{Connection as _, Executor as _};
    let mut connection = D::Connection::connect(url).await?;
    connection.execute("BEGIN").await?;
    connection.execute(lock).await?;
    let _ = locked.send(());
    let _ = released.await;
    connection.execute("ROLLBACK").await.map(drop)
}

/// Returns true if a session of this database waits for a lock of a row.
///
/// InnoDB refreshes its tables about transactions only if nobody read them for 0.1 s, so one test at a time reads them.
async fn is_waiting(world: &World) -> Result<bool> {
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _alone = ALONE.lock().await;
    tokio::time::sleep(Duration::from_millis(120)).await;
    let count = match world.on {
        On::Postgres => {
            "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        }
        _ => {
            "SELECT COUNT(*) FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id \
             WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()"
        }
    };
    Ok(world.cell(count).await?.is_some_and(|count| count != "0"))
}

/// Writes while another session has the rows of a table locked, and asks about a moment before the locks are released, and after. Returns both
/// answers, and the moment.
async fn answers(
    world: &World,
    lock: &'static str,
    write: Vec<RowChange>,
) -> Result<(Vec<(String, u64)>, Vec<(String, u64)>)> {
    let store = Arc::new(world.connect(ConnectOptions::default()).await?);
    store.create_missing(&[KIND]).await?;
    for uid in ["a", "b"] {
        store.write(KIND.table(), vec![live(uid, 1)]).await?;
    }
    let (locked, lock_is_held) = tokio::sync::oneshot::channel();
    let (release, released) = tokio::sync::oneshot::channel();
    let url = world.url.clone();
    let on = world.on;
    let holder = tokio::spawn(async move {
        match on {
            On::Postgres => hold::<sqlx::Postgres>(&url, lock, locked, released).await,
            _ => hold::<sqlx::MySql>(&url, lock, locked, released).await,
        }
    });
    lock_is_held.await.context("a lock")?;
    let writer = store.clone();
    let changes = write.len();
    let writing = tokio::spawn(async move { writer.write(KIND.table(), write).await });
    let begin = Instant::now();
    while !is_waiting(world).await? {
        ensure!(begin.elapsed() < PATIENCE, "the write does not wait");
    }
    let moment = store.now();
    let before = at(&store, moment).await?;
    let _ = release.send(());
    assert_eq!(writing.await??.written, changes);
    holder.await??;
    let after = at(&store, moment).await?;
    // The version that ends does so when the next one begins.
    for uid in ["a", "b"] {
        let wanted = RequestedParts::default();
        let versions = store.history(&KIND, uid, &wanted, (9, None), Limits::default()).await?.versions;
        ensure!(versions.windows(2).all(|pair| pair[1].to == Some(pair[0].from)), "{versions:?}");
    }
    let present = at(&store, store.now()).await?;
    ensure!(present.iter().any(|(uid, version)| uid == "a" && *version == 2), "{present:?}");
    Ok((before, after))
}

async fn a_batch_that_waits_for_a_lock_changes_no_answer(world: World) -> Result<()> {
    if world.on == On::Sqlite {
        // SQLite only locks the whole database, and a question about a moment waits for that lock.
        return Ok(());
    }
    let lock = "SELECT * FROM run FOR UPDATE";
    let (before, after) = answers(&world, lock, vec![live("a", 2), live("b", 2)]).await?;
    assert_eq!(before, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    assert_eq!(after, before);
    Ok(())
}

async fn a_single_write_that_waits_for_a_lock_changes_no_answer_for_long(world: World) -> Result<()> {
    if world.on == On::Sqlite {
        return Ok(());
    }
    let lock = "SELECT * FROM run FOR UPDATE";
    let (before, after) = answers(&world, lock, vec![known("a", 1, 2)]).await?;
    assert_eq!(before, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    assert_eq!(after, before);
    Ok(())
}

async fn a_transaction_that_stays_open_after_its_lock_changes_no_answer(world: World) -> Result<()> {
    if world.on == On::Sqlite {
        return Ok(());
    }
    // The rows are locked, and the time is taken, before the labels are written.
    let lock = "SELECT * FROM run_labels FOR UPDATE";
    let (before, after) = answers(&world, lock, vec![live("a", 2), live("b", 2)]).await?;
    assert_eq!(before, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    assert_eq!(after, before);
    Ok(())
}

async fn a_moment_is_waited_for_and_one_that_is_far_ahead_is_refused(world: World) -> Result<()> {
    let store = world.connect(ConnectOptions::default()).await?;
    store.create_missing(&[KIND]).await?;
    store.write(KIND.table(), vec![live("a", 1)]).await?;
    let moment = Micros(store.now().0 + 1_000_000);
    assert_eq!(at(&store, moment).await?, [("a".to_owned(), 1)]);
    ensure!(store.now() > moment, "the answer would change");
    let begin = Instant::now();
    at(&store, Micros(store.now().0 - 60_000_000)).await?;
    ensure!(begin.elapsed() < Duration::from_secs(3), "an earlier moment is not waited for");
    let ahead = Micros(store.now().0 + 30_000_000);
    let error = store.ask_at(&KIND, &Query::default(), ahead, Limits::default()).err().context("refused")?.to_string();
    ensure!(error.contains("is in the future: the clock of the database says "), "{error}");
    // Another program that reads alone, as `ingester get` does.
    let reader = world.connect(ConnectOptions::default().read_only(true).create(false)).await?;
    let begin = Instant::now();
    assert_eq!(at(&reader, reader.now()).await?, [("a".to_owned(), 1)]);
    ensure!(world.on != On::Sqlite || begin.elapsed() < Duration::from_secs(3), "SQLite says that no write is open");
    let refused = reader.write(KIND.table(), vec![live("a", 2)]).await;
    ensure!(refused.is_err(), "it reads alone after that, too");
    Ok(())
}
