//! The schema as files that are reviewed and committed: `schema.sql`, numbered migrations, and the lock that says what
//! they add up to.
//!
//! May use: `schema`, `dialect`, `kind`. Only [`Folder`] touches files.

mod folder;
mod lock;

pub use folder::{Folder, GenerateError, Outcome};
pub use lock::{Lock, LockedColumn, LockedKey, LockedMigration, LockedTable};
