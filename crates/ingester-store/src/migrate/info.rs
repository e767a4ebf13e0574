//! Reports what a database knows about each migration, and what a run would do, without doing it.

use super::error::ApplyError;
use super::progress::is_done;
use super::released::ReleasedSchema;
use crate::ledger::migrations::LedgerEntry;
use crate::store::Store;
use ingester_sql::ddl::SchemaChange;
use serde::Serialize;
use std::collections::BTreeMap;

/// The state of a migration in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MigrationState {
    /// It was run.
    Applied,
    /// It was not run.
    Pending,
    /// It began, and its end is not recorded. The next run finds out if it was done.
    Interrupted,
    /// The database has run another text under its number.
    Changed,
    /// The database has run it, and the program does not have it.
    Missing,
}

impl MigrationState {
    /// Returns the state's name.
    pub fn name(self) -> &'static str {
        match self {
            MigrationState::Applied => "applied",
            MigrationState::Pending => "pending",
            MigrationState::Interrupted => "interrupted",
            MigrationState::Changed => "changed",
            MigrationState::Missing => "missing",
        }
    }
}

/// A migration with its state in a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MigrationInfo {
    /// The migration's number.
    pub version: i64,
    /// A description in words joined by underscores; empty if the program does not have the migration.
    pub description: String,
    /// The migration's state in the database.
    pub state: MigrationState,
}

/// A migration that a run would reach.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedMigration {
    /// The migration's name.
    pub migration: String,
    /// The changes that it makes.
    pub changes: Vec<SchemaChange>,
    /// Its text in the database's dialect.
    pub sql: String,
    /// True if the database has its effect already: a run would only record it.
    pub is_done: bool,
}

impl ReleasedSchema {
    /// Returns every migration that the program or the database has, in their order.
    ///
    /// # Errors
    /// If the database cannot be read, or a migration has no file for its dialect.
    pub async fn info(&self, store: &Store) -> Result<Vec<MigrationInfo>, ApplyError> {
        let entries = self.entries(store).await?;
        let mut all = BTreeMap::new();
        for released in &self.lock_file().migrations {
            let version = i64::from(released.version);
            let state = match entries.get(&version) {
                None => MigrationState::Pending,
                Some(LedgerEntry { interrupted: true, .. }) => MigrationState::Interrupted,
                Some(entry) if self.migration(store.dialect(), released, true)?.checksum != entry.checksum => {
                    MigrationState::Changed
                }
                Some(_) => MigrationState::Applied,
            };
            all.insert(version, MigrationInfo { version, description: released.description.clone(), state });
        }
        for version in entries.into_keys() {
            let missing = MigrationInfo { version, description: String::new(), state: MigrationState::Missing };
            all.entry(version).or_insert(missing);
        }
        Ok(all.into_values().collect())
    }

    /// Returns the migrations that [`ReleasedSchema::apply`] would run on this database now.
    ///
    /// # Errors
    /// As [`ReleasedSchema::pending`].
    pub async fn plan(&self, store: &Store) -> Result<Vec<PlannedMigration>, ApplyError> {
        let dialect = store.dialect();
        let entries = self.entries(store).await?;
        self.check(dialect, &entries)?;
        self.refuse_foreign(store).await?;
        let catalog = store.catalog().await?;
        let unknown = entries.is_empty() && self.any_table(&catalog);
        let mut planned = Vec::new();
        for released in self.unrun(&entries) {
            let uncertain = unknown || entries.contains_key(&i64::from(released.version));
            planned.push(PlannedMigration {
                migration: released.name(),
                changes: released.changes.clone(),
                sql: self.migration(dialect, released, true)?.sql.as_str().to_owned(),
                is_done: uncertain && is_done(&released.changes, &catalog, dialect),
            });
        }
        Ok(planned)
    }
}
