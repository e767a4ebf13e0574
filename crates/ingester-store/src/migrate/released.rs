//! The migrations of a program: from a folder, or built in.

use super::error::{ApplyError, GenerateError};
use super::lock_file::{LockFile, ReleasedMigration};
use ingester_core::GeneratedSql;
use ingester_core::kind::Kind;
use ingester_sql::dialect::Dialect;
use sha2::{Digest, Sha256};
use sqlx::migrate::{Migration, MigrationType};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The lock file with the texts of its migrations.
#[derive(Clone, Debug, Default)]
pub struct ReleasedSchema {
    lock_file: LockFile,
    files: BTreeMap<String, Cow<'static, str>>,
}

impl ReleasedSchema {
    /// Returns a lock file with the files that it names.
    ///
    /// # Errors
    /// If a file is missing, or differs from the released one.
    pub(super) fn new(lock_file: LockFile, files: BTreeMap<String, Cow<'static, str>>) -> Result<Self, GenerateError> {
        for (path, released) in lock_file.migrations.iter().flat_map(|migration| &migration.files) {
            if files.get(path).is_none_or(|text| checksum(text) != *released) {
                return Err(GenerateError::Edited { path: path.clone() });
            }
        }
        Ok(ReleasedSchema { lock_file, files })
    }

    /// Returns the contents of the lock file.
    pub fn lock_file(&self) -> &LockFile {
        &self.lock_file
    }

    /// Returns these kinds, each with the `ingest_version` of its rows: 0 for a kind that differs from its last recorded definition.
    ///
    /// # Errors
    /// If the message of a kind cannot be used.
    pub fn versioned(&self, kinds: &[Kind]) -> Result<Vec<Kind>, GenerateError> {
        kinds.iter().map(|kind| Ok(kind.versioned(self.lock_file.ingest_version(kind)?))).collect()
    }

    /// Returns a migration for sqlx, up or down.
    ///
    /// # Errors
    /// If it has no file for the dialect.
    pub(super) fn migration(
        &self,
        dialect: Dialect,
        released: &ReleasedMigration,
        up: bool,
    ) -> Result<Migration, ApplyError> {
        let text = self.files.get(&path(dialect, released, up));
        let text = text.ok_or_else(|| ApplyError::Dialect(released.name(), dialect))?.clone().into_owned();
        let kind = if up { MigrationType::ReversibleUp } else { MigrationType::ReversibleDown };
        Ok(Migration::new(
            i64::from(released.version),
            // The description that sqlx's own tool takes from the file's name.
            released.description.replace('_', " ").into(),
            kind,
            sqlx::SqlSafeStr::into_sql_str(sqlx::AssertSqlSafe(text)),
            false,
        ))
    }
}

impl TryFrom<GeneratedSql> for ReleasedSchema {
    type Error = GenerateError;

    fn try_from(sql: GeneratedSql) -> Result<Self, GenerateError> {
        let lock_file = serde_json::from_str(sql.lock)
            .map_err(|error| GenerateError::LockFile { path: "schema.lock.json".into(), reason: error.to_string() })?;
        ReleasedSchema::new(
            lock_file,
            sql.files.iter().map(|(path, text)| ((*path).to_owned(), Cow::Borrowed(*text))).collect(),
        )
    }
}

/// The beginning of the line before each step of a migration with several.
pub(super) const STEP: &str = "-- Step ";

/// Returns the texts of a migration's steps. A text without lines before steps is one step.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let starts: Vec<usize> =
        text.match_indices(STEP).map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with('\n')).collect();
    match &starts[..] {
        [] => vec![text],
        starts => {
            let ends = starts.iter().skip(1).copied().chain([text.len()]);
            starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
        }
    }
}

/// Returns the path of a migration's file within the folder.
pub(super) fn path(dialect: Dialect, released: &ReleasedMigration, up: bool) -> String {
    let direction = if up { "up" } else { "down" };
    format!("{dialect}/migrations/{}.{direction}.sql", released.name())
}

/// Returns the checksum of a file, as the lock file has it.
pub(super) fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::{LockFile, ReleasedMigration, ReleasedSchema, checksum};
    use crate::driver::ConnectOptions;
    use crate::store::Store;
    use std::collections::BTreeMap;

    #[tokio::test]
    async fn a_migration_without_files_for_the_dialect_is_not_run() {
        let path = "mysql/migrations/0001_a.up.sql".to_owned();
        let migration = ReleasedMigration {
            version: 1,
            description: "a".into(),
            changes: Vec::new(),
            files: BTreeMap::from([(path.clone(), checksum("SELECT 1"))]),
        };
        let lock_file = LockFile { migrations: vec![migration], ..LockFile::default() };
        let released = ReleasedSchema::new(lock_file, BTreeMap::from([(path, "SELECT 1".into())])).unwrap();
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), ConnectOptions::default()).await.unwrap();
        let error = released.apply(&store, &mut |_| {}).await.unwrap_err().to_string();
        assert!(error.starts_with("migration 0001_a was released without files for sqlite; "), "{error}");
        assert_eq!(released.pending(&store).await.unwrap(), ["0001_a"]);
    }
}
