//! A connection to one database with the kinds' tables: connecting, retries, the database's time. What is done with it is in `rows/`,
//! `ledger/` and the rooms above.
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
pub(crate) use logged::{Logged, Readers};
pub(crate) use recorded::Recorded;
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
    /// The objects in `ingester_rejects`: a write of another object has nothing to delete from it.
    recorded: Mutex<Recorded>,
    /// Objects that were refused with an unknown error.
    doubts: Mutex<Doubts>,
    /// Whether changes are logged.
    logged: Mutex<Logged>,
    /// Which logs were ever read.
    readers: Mutex<Readers>,
    /// [`ConnectOptions::query_time`]
    query_time: Duration,
}

impl Store {
    /// The server's name and version, as the server reports them.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// How long a statement of a query may take that is a part of other work.
    pub(crate) fn query_time(&self) -> Duration {
        self.query_time
    }

    /// The dialect of SQL that the server understands.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Closes the connections, after everything is written to disk.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// What the connections do now.
    pub fn connections(&self) -> Connections {
        self.pool.connections()
    }

    /// Asks the database for an answer, which may take as long as `within`. Broken connections of the pool are replaced first.
    ///
    /// # Errors
    /// If there is no answer in time, or the database refuses to answer.
    pub async fn answers(&self, within: Duration) -> Result<(), StoreError> {
        const DOING: &str = "asking the database for an answer";
        let usage = self.pool.connections();
        if self.dialect.is_embedded() && usage.idle == 0 && usage.used == usage.limit {
            // Its only connection is at work, and there is no server that could be away.
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
            Ok(answer) => answer.map_err(|error| StoreError::of(DOING.to_owned(), error)),
            Err(_) => Err(StoreError::silent(DOING, within)),
        }
    }

    /// The objects that are recorded as rejects, as far as this process knows.
    pub(crate) fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock()
    }

    /// What was read of whether changes are logged.
    pub(crate) fn logged(&self) -> MutexGuard<'_, Logged> {
        self.logged.lock()
    }

    /// What was read of which logs were ever read.
    pub(crate) fn readers(&self) -> MutexGuard<'_, Readers> {
        self.readers.lock()
    }

    /// The objects that were refused with an unknown error.
    pub(crate) fn doubts(&self) -> MutexGuard<'_, Doubts> {
        self.doubts.lock()
    }
}

impl Store {
    /// How often the connections have led to another server than before, or to the same one after it was started anew: whatever was
    /// committed just before may be lost. The receiver learns of each further time. Never with SQLite, nor in a group that certifies
    /// transactions.
    pub fn moves(&self) -> watch::Receiver<u64> {
        self.pool.servers().moves()
    }

    /// The settings of the server that may lose a commit that was answered, each with what loses it.
    pub fn risks(&self) -> Vec<String> {
        self.pool.servers().risks()
    }
}
