//! Errors of generating files and of running migrations.

use super::lock_file::LOCK_FILE;
use crate::driver::StoreError;
use ingester_core::RegistryError;
use ingester_core::kind::ProtobufError;
use ingester_sql::dialect::Dialect;
use std::io;

/// The reason why files cannot be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A file cannot be read or written.
    #[error("cannot access {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The lock file is not one that this program wrote.
    #[error("{path} is not a schema lock: {reason}; take it from version control again")]
    LockFile {
        /// The file.
        path: String,
        /// The mistake in it.
        reason: String,
    },
    /// A released migration was edited.
    #[error(
        "{path} differs from what was released: databases that have run it would never see the change; take it from version control again and put the change into a new migration"
    )]
    Edited {
        /// The file.
        path: String,
    },
    /// The changes drop data, and that is not allowed.
    #[error("these changes drop data: {}; if that is meant, say so with --allow-destructive", .0.join("; "))]
    Destructive(Vec<String>),
    /// Two kinds cannot be in one registry.
    #[error("the kinds: {0}")]
    Registry(#[from] RegistryError),
    /// The message of a kind cannot be used.
    #[error(transparent)]
    Protobuf(#[from] ProtobufError),
    /// The lock file has no migration that could be amended.
    #[error("{path} has no migration that could be amended: generate without --amend")]
    NothingToAmend {
        /// The lock file.
        path: String,
    },
    /// The last migration cannot be taken back, because an earlier release wrote its lock file.
    #[error(
        "{migration} dropped tables or views, and the lock file, which is of an earlier release, does not say what they were: take its files and {LOCK_FILE} of before it from version control again, and generate without --amend"
    )]
    CannotAmend {
        /// The migration.
        migration: String,
    },
    /// A text that cannot be the name of a migration.
    #[error(
        "`{0}` is not a name for a migration: it has up to 60 lower-case letters, digits and underscores, such as add_owner"
    )]
    Name(String),
}

/// The reason why migrations cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The files of the migrations cannot be read, or were edited.
    #[error(transparent)]
    Files(#[from] GenerateError),
    /// The database has run a migration that this program does not have.
    #[error(
        "the database has run migration {0:04}, which this program does not have; it belongs to a later release: use that one"
    )]
    Later(i64),
    /// The database has run a migration of this name with another text.
    #[error(
        "the database has run another migration {0} than the one released under that name; take the file that was run from version control again"
    )]
    Another(String),
    /// A migration was released without files for the dialect, because it is older than the dialect.
    #[error("migration {0} was released without files for {1}; `ingester schema generate --dialects` adds them")]
    Dialect(String, Dialect),
    /// A migration that does not exist.
    #[error("there is no migration {0}; the last one is {1}: `ingester schema info` lists them")]
    Missing(u32, u32),
}
