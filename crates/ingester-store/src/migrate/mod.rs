//! Schemas and their migrations: generates the files that are reviewed and committed (`schema.sql`, numbered migrations, the lock file),
//! applies migrations to a database, finds drift, and backfills new columns.
//!
//! May use: ingester-core, ingester-sql, driver, files, store, ledger, rows.
//! Only [`Folder`] reads and writes files.

mod adopt;
mod apply;
mod backfill;
mod compress;
mod declared;
mod drift;
mod error;
mod folder;
mod info;
mod keys;
mod lock_file;
mod progress;
mod released;

pub use crate::ledger::{Ledger, LedgerError};
pub use apply::{ApplyReport, MissingParts, Progress, schema_of};
pub use backfill::{Backfill, BackfillProgress, ColumnBackfill, RATE, UnknownColumn};
pub use declared::{AllowedChanges, DeclareReport, DeclaredError, left_alone};
pub use drift::{Drift, drift, own_drift};
pub use error::{ApplyError, GenerateError};
pub use folder::{Folder, GenerateOptions, Outcome, assert_current};
pub use info::{MigrationInfo, MigrationState, PlannedMigration};
pub use lock_file::{Definitions, LockFile, ReleasedMigration};
pub use released::ReleasedSchema;
