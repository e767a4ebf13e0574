//! Commits that survive a crash of the machine, for a database where each connection decides that (SQLite). An evicted row is the only copy
//! of its object, so a transaction that writes one must be on disk before the object is deleted.

use ingester_sql::dialect::sqlite::session;
use sqlx::{Executor as _, SqliteConnection};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if the connection waits for the disk at each commit. A store and its only connection share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Durability(Arc<AtomicBool>);

impl Durability {
    /// Makes sure that the connection's next transaction is on disk when its commit is answered. The transaction must not have begun:
    /// within one, the setting cannot be changed.
    pub(super) async fn raise(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        // Set it before the statement runs, so that the connection is lowered even if this future is dropped.
        self.0.store(true, Ordering::Release);
        set(connection, true).await
    }

    /// Undoes [`Durability::raise`] when the connection is given back, whatever became of its transaction.
    pub(super) async fn lower(&self, connection: &mut SqliteConnection) {
        if self.is_raised() && set(connection, false).await.is_ok() {
            self.0.store(false, Ordering::Release);
        }
    }

    /// Records that the connection is closed. The next one begins without this setting.
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
