//! The schema as files that are reviewed and committed (`schema.sql`, numbered migrations, the lock that says what they
//! add up to), and as it stands in a database: applying migrations, finding drift, filling new columns.
//!
//! May use: ingester-core, store.
//! Only [`Folder`] touches files.

mod apply;
mod backfill;
mod drift;
mod folder;
mod lock_file;
mod released;

pub use apply::{Applied, ApplyError, Progress, schema_of};
pub use backfill::{Backfill, BackfillProgress, ColumnBackfill, RATE};
pub use drift::{Drift, drift};
pub use folder::{Folder, GenerateError, GenerateOptions, Outcome, assert_current};
pub use ingester_core::GeneratedSql;
pub use lock_file::{AddedColumn, LockFile, ReleasedMigration};
pub use released::Released;
