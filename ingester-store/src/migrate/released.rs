//! The migrations that a program has: from a folder, or built into it.

use super::folder::{GenerateError, checksum};
use super::lock_file::{LockFile, ReleasedMigration};
use ingester_core::GeneratedSql;
use ingester_core::dialect::Dialect;
use sqlx::migrate::{Migration, MigrationType};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The lock file with the texts of its migrations.
#[derive(Clone, Debug, Default)]
pub struct Released {
    lock_file: LockFile,
    files: BTreeMap<String, Cow<'static, str>>,
}

impl Released {
    /// A lock file with the files that it names.
    ///
    /// # Errors
    /// If a file is missing, or differs from the released one.
    pub(super) fn new(lock_file: LockFile, files: BTreeMap<String, Cow<'static, str>>) -> Result<Self, GenerateError> {
        for (path, released) in lock_file.migrations.iter().flat_map(|migration| &migration.files) {
            if files.get(path).is_none_or(|text| checksum(text) != *released) {
                return Err(GenerateError::Edited { path: path.clone() });
            }
        }
        Ok(Released { lock_file, files })
    }

    /// The contents of the lock file.
    pub fn lock_file(&self) -> &LockFile {
        &self.lock_file
    }

    /// A migration for sqlx, up or down.
    pub(crate) fn migration(&self, dialect: Dialect, released: &ReleasedMigration, up: bool) -> Migration {
        let path = path(dialect, released, up);
        let text = self.files.get(&path).map(|text| text.clone().into_owned()).unwrap_or_default();
        let kind = if up { MigrationType::ReversibleUp } else { MigrationType::ReversibleDown };
        Migration::new(
            i64::from(released.version),
            // As sqlx's own tool takes it from the file's name.
            released.description.replace('_', " ").into(),
            kind,
            sqlx::SqlSafeStr::into_sql_str(sqlx::AssertSqlSafe(text)),
            false,
        )
    }
}

impl TryFrom<GeneratedSql> for Released {
    type Error = GenerateError;

    fn try_from(sql: GeneratedSql) -> Result<Self, GenerateError> {
        let lock_file = serde_json::from_str(sql.lock)
            .map_err(|error| GenerateError::LockFile { path: "schema.lock.json".into(), reason: error.to_string() })?;
        Released::new(
            lock_file,
            sql.files.iter().map(|(path, text)| ((*path).to_owned(), Cow::Borrowed(*text))).collect(),
        )
    }
}

/// The path of a migration's file within the folder.
pub(super) fn path(dialect: Dialect, released: &ReleasedMigration, up: bool) -> String {
    let direction = if up { "up" } else { "down" };
    format!("{dialect}/migrations/{}.{direction}.sql", released.name())
}
