//! Commits that survive a crash of the machine where a connection decides that (SQLite): an evicted row is the only copy of its object, so
//! a transaction that writes one is on disk before the object is deleted.

use ingester_sql::dialect::sqlite::session;
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
        // Before the statement: if this future is dropped, the connection is lowered anyway.
        self.0.store(true, Ordering::Release);
        set(connection, true).await
    }

    /// The connection is given back, whatever became of its transaction.
    pub(super) async fn lower(&self, connection: &mut SqliteConnection) {
        if self.is_raised() && set(connection, false).await.is_ok() {
            self.0.store(false, Ordering::Release);
        }
    }

    /// The connection is closed. The next one begins without this setting.
    pub(super) fn forget(&self) {
        self.0.store(false, Ordering::Release);
    }

    pub(super) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

async fn set(connection: &mut SqliteConnection, is_durable: bool) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(session::durability(is_durable))).await.map(drop)
}
