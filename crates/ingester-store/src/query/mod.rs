//! Reads the objects that a [`Query`](ingester_sql::query::Query) selects, in pages, as a stream or as counts.
//!
//! | file | what it has |
//! |---|---|
//! | `ask.rs` | a query about one kind: pages, counts, plans |
//! | `at.rs` | the same as of a moment, and the versions of an object |
//! | `counts.rs` | objects by state, now and at moments; rejects |
//! | `cursor.rs` | where a page ends and the next one begins |
//! | `found.rs` | a row that was found |
//! | `lives.rs` | the objects that had a name, and one version among theirs |
//! | `shown.rs` | the state of an object, in its annotations |
//! | `typed.rs` | the same for a Rust type |
//! | `when.rs` | a query that may name a moment |
//!
//! May use: ingester-core, ingester-sql, driver, store, rows, changes.
//! Must not: hold SQL text (that is `ingester_sql::dialect`).

mod ask;
mod at;
mod counts;
mod cursor;
mod found;
mod lives;
mod shown;
mod typed;
mod when;

pub use ask::{AskError, Explanation, Limits, Page, PreparedQuery, Reader, RequestedParts};
pub use at::{HistoryPage, ObjectVersion, PastQuery};
pub use counts::StateCounts;
pub use found::{FoundRow, STANDING_PLACES};
pub use lives::{Life, VersionError, VersionOf};
pub use shown::{STATE_PLACES, ShownState, metadata};
pub use typed::{Stored, TypedPage, TypedQuery};
pub use when::{TimedQuery, TimedReader};
