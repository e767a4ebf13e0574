//! Runs SQL on a database: writes batches of rows under the guard, reads them back, and keeps the ingester's own tables.
//!
//! May use: ingester-core.
//! Must not: hold SQL text (that is `ingester_core::dialect`), know Kubernetes.
//!
//! # Guarantees
//! - A batch is one transaction: all of it is stored or nothing.
//! - A stale write changes nothing, neither the main table nor labels and annotations ([`guard`]).
//! - If a database refuses a batch because of one object, only that object is rejected: the batch is halved until the
//!   object stands alone.
//! - An error that nobody knows is the object's only once it has lasted while others were stored (`doubts.rs`). Until then the object
//!   is postponed, and no other waits for it.
//! - Deadlocks, lock waits, lost connections and other transient errors are retried ([`Retry`]).
//!
//! Each database has a file with its driver: `mysql.rs`, `sqlite.rs`.

mod abandoned;
mod address;
mod ask;
pub(crate) mod backfill;
mod batch;
pub(crate) mod catalog;
mod clock;
mod companions;
pub mod compare;
mod connect;
mod connections;
mod deadline;
mod doubts;
mod driver;
mod durability;
mod error;
mod evicted;
pub(crate) mod foreign;
pub mod fuse;
pub mod guard;
mod holder;
mod hosts;
pub(crate) mod ledger;
mod mysql;
mod purge;
mod read;
mod recorded;
mod rejects;
mod retry;
mod servers;
mod settings;
mod single;
mod sqlite;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod tls;
mod transaction;
pub(crate) mod views;
mod write;

pub use address::Address;
pub use catalog::Catalog;
pub use connect::ConnectOptions;
pub use connections::Connections;
pub use error::{ErrorClass, StoreError};
pub use evicted::{Changed, Deleted, Effect};
pub use purge::Purged;
pub use read::{Evicted, LiveRow, StoredRow};
use rejects::Recorded;
pub use rejects::Reject;
pub use retry::{Retry, unless_stopped, waiting_for};
pub use tls::{Tls, TlsMistake, TlsMode};
pub use write::{Rejected, Report, RowChange, latest_of_each};

use deadline::Deadline;
use doubts::Doubts;
use ingester_core::dialect::Dialect;
use servers::Servers;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use transaction::Pool;

/// A connection pool to one database with the kinds' tables.
pub struct Store {
    pool: Pool,
    dialect: Dialect,
    server: String,
    /// The server's `max_allowed_packet`, in bytes.
    max_packet: usize,
    retry: Retry,
    /// The objects in `ingester_rejects`: a write of another object has nothing to delete from it.
    recorded: Mutex<Recorded>,
    servers: Arc<Servers>,
    deadline: Deadline,
    /// Objects that were refused with an unknown error.
    doubts: Mutex<Doubts>,
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
}
