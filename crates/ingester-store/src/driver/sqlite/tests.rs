//! Commits that survive a crash of the machine, and connections that do not survive a transaction that SQLite has ended.

use super::pool::Pool;
use super::session::LentConnection;
use crate::driver::Address;
use crate::driver::interface::{Session as _, TransactionEnd};
use crate::driver::options::{ConnectOptions, Retry};
use crate::rows::{ChangeResult, Effect, RowChange};
use crate::store::Store;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Expected, Row};
use ingester_core::value::Micros;
use ingester_core::{Ingestable, Kind};
use ingester_sql::dialect::Access;
use parking_lot::Mutex;
use sqlx::{Connection as _, Executor as _, Row as _};
use std::convert::Infallible;
use std::sync::Arc;

#[derive(Ingestable, serde::Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Run", namespaced = false)]
struct Run {}

const RUN: Kind = Kind::of::<Run>();

fn row(uid: &str, version: u64, evicted: bool) -> Row {
    let text = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Run","metadata":{{"name":"{uid}","uid":"{uid}","resourceVersion":"{version}"}}}}"#
    );
    let row = RUN.row(&Object::parse(text, ManagedFields::Keep).unwrap()).unwrap().unwrap();
    Row { evict_time: evicted.then_some(Micros(1)), evict_confirmed: evicted, ..row }
}

fn pool(store: &Store) -> &Pool {
    store.pool.driver.as_any().downcast_ref().unwrap()
}

/// Returns the connection's behaviour at a commit: 2 waits for the disk, 1 does not.
async fn synchronous(lent: &mut LentConnection) -> i64 {
    let connection = lent.connection().await.unwrap();
    sqlx::query("PRAGMA synchronous").fetch_one(connection).await.unwrap().get(0)
}

/// SQLite does not wait for other connections when a file gets its write-ahead log.
#[tokio::test(flavor = "multi_thread")]
async fn several_may_make_one_file_at_a_time() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let address: Address = format!("sqlite://{}", folder.path().join("new.db").display()).parse().unwrap();
        // One attempt, to prove that this does not need the caller's retries.
        let retry = Retry { attempts: Some(1), ..Retry::SHORT };
        let connect = || {
            let address = address.clone();
            tokio::spawn(async move {
                Store::connect(&address, ConnectOptions { retry, ..ConnectOptions::default() }).await
            })
        };
        let makers: Vec<_> = (0..8).map(|_| connect()).collect();
        for maker in makers {
            maker.await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn a_file_that_is_locked_is_said_to_be_and_one_on_a_slow_disk_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("held.db");
    let address: Address = format!("sqlite://{}", file.display()).parse().unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file).create_if_missing(true);
    let mut holder = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    holder.execute("BEGIN EXCLUSIVE").await.unwrap();
    let retry = Retry { attempts: Some(1), ..Retry::SHORT };
    let refused = Store::connect(&address, ConnectOptions { retry, ..ConnectOptions::default() }).await;
    let refused = refused.err().expect("it is locked");
    assert!(refused.to_string().contains("locked by another process"), "{refused}");
    let silent = address.silent().to_string();
    assert!(silent.contains("the disk gave no answer") && !silent.contains("locked"), "{silent}");
}

#[tokio::test]
async fn the_setting_holds_in_the_transaction_and_no_longer() {
    let store = Store::in_memory(&[RUN]).await.unwrap();
    for (is_durable, ends, within) in [(false, true, 1), (true, true, 2), (true, false, 2), (false, true, 1)] {
        let mut lent = pool(&store).lend().await.unwrap();
        assert_eq!(synchronous(&mut lent).await, 1);
        lent.begin(Access::Write, is_durable).await.unwrap();
        assert_eq!(synchronous(&mut lent).await, within);
        // A dropped transaction is rolled back, and its connection is lowered, too.
        if ends {
            lent.end(TransactionEnd::Commit(None)).await.unwrap();
            assert_eq!(synchronous(&mut lent).await, 1, "the connection was given back");
        }
    }
}

#[tokio::test]
async fn what_writes_an_evicted_row_waits_for_the_disk_and_nothing_else_does() {
    let store = Store::in_memory(&[RUN]).await.unwrap();
    let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
    {
        let pool = pool(&store);
        let mut connection = pool.pool.acquire().await.unwrap();
        let durability = pool.durability.clone();
        let seen = seen.clone();
        // Called within each transaction that changes something.
        let hook = move || {
            seen.lock().push(durability.is_raised());
            true
        };
        connection.lock_handle().await.unwrap().set_commit_hook(hook);
    }
    let writes = || std::mem::take(&mut *seen.lock());
    store.write(RUN.table(), vec![RowChange::Row(row("live", 1, false))]).await.unwrap();
    assert_eq!(writes(), [false], "an object that is in the cluster still");
    store.write(RUN.table(), vec![RowChange::Row(row("gone", 1, true))]).await.unwrap();
    assert_eq!(writes(), [true], "an eviction");
    // The writer knows the stored row, and its companions do not change, so this could be one statement.
    let expected = |row: &Row, res_version| Expected::Stored { res_version, companions: row.companions_hash() };
    store.write(RUN.table(), vec![RowChange::Row(row("known", 2, false))]).await.unwrap();
    let next = row("known", 3, false);
    let next = Row { expected: Some(expected(&next, 2)), ..next };
    assert_eq!(store.write(RUN.table(), vec![RowChange::Row(next)]).await.unwrap().written, 1);
    let last = row("known", 4, true);
    let last = Row { expected: Some(expected(&last, 3)), ..last };
    assert_eq!(store.write(RUN.table(), vec![RowChange::Row(last)]).await.unwrap().written, 1);
    assert_eq!(writes(), [false, false, true], "an eviction that is expected");
    store.write(RUN.table(), vec![RowChange::Row(row("live", 2, false))]).await.unwrap();
    assert_eq!(writes(), [false], "back to what it was");
    let edit = |_: &_| Ok::<_, Infallible>(Some(row("gone", 2, true)));
    let changed = store.change_evicted(&RUN, "gone", Effect::Written, edit).await.unwrap();
    assert!(matches!(changed, ChangeResult::Done(_)), "{changed:?}");
    assert_eq!(writes(), [true], "a user's change");
    store.delete_evicted(&RUN, "gone", Effect::Written, |_| Ok::<_, Infallible>(())).await.unwrap();
    assert_eq!(writes(), [true], "a user's deletion");
    store.write(RUN.table(), vec![RowChange::Row(row("more", 1, true))]).await.unwrap();
    writes();
    store.delete_evicted_of(RUN.table(), &[("more", 1)], Effect::Written).await.unwrap();
    assert_eq!(writes(), [true], "a user's deletion of many");
    assert_eq!(synchronous(&mut pool(&store).lend().await.unwrap()).await, 1);
}

/// Returns a store in a file, with tables.
async fn stored_in(folder: &tempfile::TempDir) -> Store {
    let address = format!("sqlite://{}", folder.path().join("test.db").display()).parse().unwrap();
    let store = Store::connect(&address, ConnectOptions::default()).await.unwrap();
    store.create_missing(&[RUN]).await.unwrap();
    store
}

#[tokio::test]
async fn a_full_disk_is_named_and_the_next_write_finds_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = stored_in(&folder).await;
    let large =
        |uid: &str| Row { annotations: Arc::from([("note".into(), "x".repeat(1 << 20).into())]), ..row(uid, 1, false) };
    // The limit belongs to the connection; the next one has the whole disk.
    let mut connection = pool(&store).pool.acquire().await.unwrap();
    sqlx::query("PRAGMA max_page_count = 1").execute(&mut *connection).await.unwrap();
    drop(connection);
    let error = store.write(RUN.table(), vec![RowChange::Row(large("first"))]).await.unwrap_err().to_string();
    assert!(error.contains("database or disk is full") && error.contains("make room"), "{error}");
    let report = store.write(RUN.table(), vec![RowChange::Row(large("second"))]).await.unwrap();
    assert_eq!(report.written, 1);
}

#[derive(Clone, Copy, Debug)]
enum Ending {
    Commit,
    RollBack,
    Drop,
}

#[tokio::test]
async fn a_transaction_that_sqlite_has_ended_is_not_left_to_the_next_caller() {
    let folder = tempfile::tempdir().unwrap();
    let store = stored_in(&folder).await;
    for ending in [Ending::Commit, Ending::RollBack, Ending::Drop] {
        for is_nested in [false, true] {
            let mut lent = pool(&store).lend().await.unwrap();
            lent.begin(Access::Write, true).await.unwrap();
            let connection = lent.connection().await.unwrap();
            if is_nested {
                std::mem::forget(connection.begin().await.unwrap());
            }
            // As SQLite does by itself on a full disk.
            connection.execute(sqlx::raw_sql("ROLLBACK")).await.unwrap();
            match ending {
                Ending::Commit => drop(lent.end(TransactionEnd::Commit(None)).await.unwrap_err()),
                Ending::RollBack => lent.end(TransactionEnd::RollBack(None)).await.unwrap(),
                Ending::Drop => {}
            }
            drop(lent);
            let mut next = pool(&store).lend().await.unwrap();
            next.begin(Access::Write, false).await.unwrap_or_else(|error| panic!("{ending:?}, {is_nested}: {error}"));
            assert_eq!(synchronous(&mut next).await, 1);
            next.end(TransactionEnd::Commit(None)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_transaction_that_ends_as_it_should_keeps_its_connection() {
    let store = Store::in_memory(&[RUN]).await.unwrap();
    for ends in [true, false] {
        let mut lent = pool(&store).lend().await.unwrap();
        lent.begin(Access::Write, false).await.unwrap();
        if ends {
            lent.end(TransactionEnd::RollBack(None)).await.unwrap();
        }
    }
    // A new connection would have no tables.
    assert_eq!(store.write(RUN.table(), vec![RowChange::Row(row("a", 1, false))]).await.unwrap().written, 1);
}
