//! Rows of objects: written in batches under the guard, read back, compared and purged.
//!
//! May use: ingester-core, ingester-sql, driver, store, ledger.
//! Must not: hold SQL text (that is `ingester_sql::dialect`), name a database, know Kubernetes.
//!
//! # Guarantees
//! - A batch is one transaction: it is stored completely or not at all.
//! - A stale write changes nothing, neither the main table nor labels and annotations ([`guard`]).
//! - If a database refuses a batch because of one object, only that object is rejected: the batch is halved until the
//!   object is alone in its part.
//! - If an object fails with an unclassified error, it is postponed, and the others are stored. It is rejected only if the error lasts while
//!   other objects are stored (`store/doubts.rs`).
//! - Deadlocks, lock waits, lost connections and other transient errors are retried ([`Retry`](crate::Retry)).

mod ask;
pub(crate) mod backfill;
mod batch;
mod change;
mod chunks;
mod companions;
pub mod compare;
mod evicted;
pub mod fuse;
pub mod guard;
mod history;
mod judged;
pub mod left_out;
mod locked;
mod log;
mod lost;
pub mod marks;
mod plan;
mod proof;
mod purge;
mod read;
mod rejects;
mod restores;
mod same;
mod single;
#[cfg(test)]
mod tests;
mod tried;
pub mod units;
mod write;

pub use change::{RejectedObject, Report, RowChange, latest_of_each};
pub(crate) use chunks::chunks;
pub use evicted::{ChangeResult, DeletionResult, Effect};
pub(crate) use history::SETTLED;
pub use lost::LostEviction;
pub use proof::{PendingReason, Premise};
pub use purge::{PurgePlace, PurgeResult, PurgeTerms};
pub use read::{EvictedRows, LiveRow, StoredRow};
pub use rejects::Reject;
pub use restores::{OpenRestore, RestoreBegin};

/// Rows of a table, as messages name them.
fn rows_named(count: usize, table: &ingester_core::schema::Table) -> String {
    format!("{count} {} of `{}`", if count == 1 { "row" } else { "rows" }, table.name)
}
