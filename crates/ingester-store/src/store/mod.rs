//! A connection to one database with the kinds' tables: connecting, retries, the database's time. The operations are in `rows/`, `ledger/`
//! and the rooms above.
//!
//! May use: ingester-core, ingester-sql, driver.
//! Must not: know Kubernetes.

mod clock;
mod connect;
mod doubts;
mod examine;
mod logged;
mod recorded;
mod retry;

pub(crate) use doubts::Doubts;
pub(crate) use logged::{CachedSetting, Readers};
pub(crate) use recorded::RecordedRejects;
pub(crate) use retry::database;
pub use retry::{unless_stopped, waiting_for};

use crate::driver::{Connections, Pool, Retry, StoreError, is_lost};
use ingester_sql::dialect::Dialect;
use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;

/// A connection pool to one database with the kinds' tables.
pub struct Store {
    pub(crate) pool: Pool,
    pub(crate) dialect: Dialect,
    server: String,
    /// The server's `max_allowed_packet`, in bytes.
    pub(crate) max_packet: usize,
    retry: Retry,
    /// The objects in `ingester_rejects`, so that writes of other objects need not delete from it.
    recorded: Mutex<RecordedRejects>,
    /// Objects that the database refused with an unknown error.
    doubts: Mutex<Doubts>,
    /// Remembers whether changes are logged.
    logged: Mutex<CachedSetting>,
    /// Remembers which logs were ever read.
    readers: Mutex<Readers>,
    /// [`ConnectOptions::query_time`]
    query_time: Duration,
}

impl Store {
    /// Returns the server's name and version, as the server reports them.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the time limit of a query that is a part of other work.
    pub(crate) fn query_time(&self) -> Duration {
        self.query_time
    }

    /// Returns the dialect of SQL that the server understands.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Closes the connections, after everything is written to disk.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// Returns the present state of the connections.
    pub fn connections(&self) -> Connections {
        self.pool.connections()
    }

    /// Checks that the database answers within `within`. Replaces broken connections of the pool first.
    ///
    /// # Errors
    /// If there is no answer in time, or the database refuses to answer.
    pub async fn answers(&self, within: Duration) -> Result<(), StoreError> {
        const DOING: &str = "asking the database for an answer";
        let usage = self.pool.connections();
        if self.dialect.is_embedded() && usage.idle == 0 && usage.used == usage.limit {
            // The only connection is busy, and there is no server that could be gone.
            return Ok(());
        }
        let asked = async {
            for _ in 0..usage.limit {
                match self.ask_once().await {
                    Err(error) if is_lost(&error) => {}
                    answer => return answer,
                }
            }
            self.ask_once().await
        };
        match tokio::time::timeout(within, asked).await {
            Ok(answer) => answer.map_err(|error| StoreError::from_sqlx(DOING.to_owned(), error)),
            Err(_) => Err(StoreError::silent(DOING, within)),
        }
    }

    /// Returns the objects that are recorded as rejects, as far as this process knows.
    pub(crate) fn recorded(&self) -> MutexGuard<'_, RecordedRejects> {
        self.recorded.lock()
    }

    /// Returns the memory of whether changes are logged.
    pub(crate) fn logged(&self) -> MutexGuard<'_, CachedSetting> {
        self.logged.lock()
    }

    /// Returns the memory of which logs were ever read.
    pub(crate) fn readers(&self) -> MutexGuard<'_, Readers> {
        self.readers.lock()
    }

    /// Returns the objects that were refused with an unknown error.
    pub(crate) fn doubts(&self) -> MutexGuard<'_, Doubts> {
        self.doubts.lock()
    }
}

impl Store {
    /// Counts how often the connections have reached another server than before, or the same one after a restart. Commits from just before
    /// may then be lost. The receiver sees each increase. The count stays 0 with SQLite and in a group that certifies transactions.
    pub fn moves(&self) -> watch::Receiver<u64> {
        self.pool.servers().moves()
    }

    /// Returns the bytes of memory that the server has for tables, if it stores rows in the order of their primary key (InnoDB). Rows in
    /// random order take much longer once a table is larger.
    pub fn clustered_pool(&self) -> Option<u64> {
        self.pool.servers().clustered_pool()
    }

    /// Returns the settings of the server that may lose a commit that was answered, each with the event that loses it.
    pub fn risks(&self) -> Vec<String> {
        self.pool.servers().risks()
    }
}
