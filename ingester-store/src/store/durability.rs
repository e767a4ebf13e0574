//! Commits that survive a crash of the machine where a connection decides that (SQLite): an evicted row is the only copy of its object, so
//! what writes one is on disk before the object is deleted.

use super::sqlite::DIALECT;
use super::transaction::raw;
use sqlx::{Executor as _, SqliteConnection};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the connection waits for the disk at each commit. Shared by a store and its only connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Durability(Arc<AtomicBool>);

impl Durability {
    /// The next transaction of the connection is on disk when its commit is answered. It must not have begun: within a transaction
    /// the setting cannot be changed.
    pub(super) async fn raise(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        // Before the statement: if this future is dropped, the connection is lowered all the same.
        self.0.store(true, Ordering::Release);
        set(connection, true).await
    }

    /// The connection is given back, whatever became of its transaction.
    pub(super) async fn lower(&self, connection: &mut SqliteConnection) {
        if self.is_raised() && set(connection, false).await.is_ok() {
            self.0.store(false, Ordering::Release);
        }
    }

    fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

async fn set(connection: &mut SqliteConnection, is_durable: bool) -> Result<(), sqlx::Error> {
    match DIALECT.durability(is_durable) {
        Some(sql) => connection.execute(raw(&sql)).await.map(drop),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::store::transaction::Drivers;
    use crate::store::{Changed, Effect, RowChange, Store};
    use ingester_core::object::{ManagedFields, Object};
    use ingester_core::row::{Expected, Row};
    use ingester_core::value::Micros;
    use ingester_core::{Ingestable, Kind};
    use sqlx::Row as _;
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

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

    /// What the connection does at a commit: 2 waits for the disk, 1 does not.
    async fn synchronous(store: &Store) -> i64 {
        let Drivers::Sqlite(pool) = &store.pool.open else { unreachable!("SQLite") };
        sqlx::query("PRAGMA synchronous").fetch_one(pool).await.unwrap().get(0)
    }

    #[tokio::test]
    async fn the_setting_holds_in_the_transaction_and_no_longer() {
        let store = Store::in_memory(&[RUN]).await.unwrap();
        assert_eq!(synchronous(&store).await, 1);
        let mut tx = store.pool.begin_durably(true).await.unwrap();
        assert_eq!(tx.synchronous().await, 2);
        tx.end(Ok(())).await.unwrap();
        assert_eq!(synchronous(&store).await, 1);
        // One that is dropped is rolled back, and its connection is lowered, too.
        drop(store.pool.begin_durably(true).await.unwrap());
        assert_eq!(synchronous(&store).await, 1);
        let mut tx = store.pool.begin_durably(false).await.unwrap();
        assert_eq!(tx.synchronous().await, 1);
    }

    #[tokio::test]
    async fn what_writes_an_evicted_row_waits_for_the_disk_and_nothing_else_does() {
        let store = Store::in_memory(&[RUN]).await.unwrap();
        let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
        {
            let Drivers::Sqlite(pool) = &store.pool.open else { unreachable!("SQLite") };
            let mut connection = pool.acquire().await.unwrap();
            let (durability, seen) = (store.pool.durability.clone(), seen.clone());
            // Called within each transaction that changes something.
            let hook = move || {
                seen.lock().unwrap().push(durability.is_raised());
                true
            };
            connection.lock_handle().await.unwrap().set_commit_hook(hook);
        }
        let writes = || std::mem::take(&mut *seen.lock().unwrap());
        store.write(RUN.table(), vec![RowChange::Row(row("live", 1, false))]).await.unwrap();
        assert_eq!(writes(), [false], "an object that is in the cluster still");
        store.write(RUN.table(), vec![RowChange::Row(row("gone", 1, true))]).await.unwrap();
        assert_eq!(writes(), [true], "an eviction");
        // The writer knows the stored row, and nothing of its companions changes: this could be one statement.
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
        assert!(matches!(changed, Changed::Done(_)), "{changed:?}");
        assert_eq!(writes(), [true], "a user's change");
        store.delete_evicted(&RUN, "gone", Effect::Written, |_| Ok::<_, Infallible>(())).await.unwrap();
        assert_eq!(writes(), [true], "a user's deletion");
        store.write(RUN.table(), vec![RowChange::Row(row("more", 1, true))]).await.unwrap();
        writes();
        store.delete_evicted_of(RUN.table(), &[("more", 1)], Effect::Written).await.unwrap();
        assert_eq!(writes(), [true], "a user's deletion of many");
        assert_eq!(synchronous(&store).await, 1);
    }
}
