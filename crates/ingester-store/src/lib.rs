//! Runs the SQL of [`ingester_sql::dialect`] on a database: stores rows, migrates schemas, answers queries.
//!
//! ```
//! # use ingester_core::Kind;
//! # const KINDS: &[Kind] = &[];
//! # async fn example() -> Result<(), ingester_store::StoreError> {
//! use ingester_store::{ConnectOptions, Store};
//!
//! let store = Store::connect(&"sqlite::memory:".parse()?, ConnectOptions::default()).await?;
//! store.create_missing(KINDS).await?;
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(example()).unwrap();
//! ```
//!
//! - [`Store`] writes batches of rows under the [`guard`], and reads them back.
//! - [`migrate`] brings a database to the schema of the structs, finds drift, and backfills new columns.
//! - [`query`] reads objects.
//! - [`changes`] reads the log of changes of rows.
//! - [`Store::export`] writes rows as files.
//! - [`files`] reads and replaces files that people name.
//! - [`spool`] keeps texts in a temporary file, so that rows can be written in the order of their keys.

#![cfg_attr(
    not(all(feature = "mysql", feature = "postgres", feature = "sqlite")),
    allow(dead_code, unused_imports, unused_macros, reason = "some of it serves the drivers that are left out")
)]

pub mod changes;
mod driver;
mod export;
pub mod files;
mod ledger;
pub mod migrate;
pub mod query;
mod quiet;
mod rows;
pub mod spool;
mod store;

pub use driver::{
    Address, ConnectOptions, Connections, ErrorClass, Finding, PasswordCommand, Retry, StoreError, Tls, TlsMistake,
    TlsMode, Verdict,
};
pub use export::ExportError;
pub use ledger::{Catalog, FoundTable};
pub use quiet::quietly;
pub use rows::{
    ChangeResult, DeletionResult, Effect, EvictedRows, LiveRow, LostEviction, OpenRestore, PendingReason, Premise,
    PurgePlace, PurgeResult, PurgeTerms, Reject, RejectedObject, Report, RestoreBegin, RowChange, StoredRow, compare,
    fuse, guard, latest_of_each, left_out, marks, units,
};
pub use store::{Store, unless_stopped, waiting_for};
