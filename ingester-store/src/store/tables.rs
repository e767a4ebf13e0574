//! Creating tables that are missing: those of kinds, and the ingester's own.

use super::backfill::BACKFILLS;
use super::rejects::REJECTS;
use super::settings::SETTINGS;
use super::{Store, StoreError};
use ingester_core::ddl::Schema;
use ingester_core::dialect::statements::{CreateBackfills, CreateRejects, CreateSettings, ReadTables};
use ingester_core::dialect::{Sql, Statement as _};
use ingester_core::kind::Kind;
use std::collections::HashSet;

impl Store {
    /// The names of the ingester's own tables.
    pub(crate) const OWN: [&'static str; 3] = [REJECTS, BACKFILLS, SETTINGS];

    /// Creates the missing tables of `kinds` and the ingester's own. Returns the names of the kinds' tables it created.
    ///
    /// # Errors
    /// If the database cannot be read, or a missing table cannot be created.
    pub async fn create_missing(&self, kinds: &[Kind]) -> Result<Vec<String>, StoreError> {
        let existing = self.tables().await?;
        let mut created = Vec::new();
        for kind in kinds {
            let schema = Schema::of(std::slice::from_ref(kind));
            let names = schema.tables.iter().map(|table| table.name.to_string());
            let missing: Vec<String> = names.filter(|name| !existing.contains(name)).collect();
            if !missing.is_empty() {
                for sql in self.dialect.create_all(&schema) {
                    self.define(&sql, &format!("creating the tables of {}", kind.kind())).await?;
                }
                created.extend(missing);
            }
        }
        self.create_own().await?;
        Ok(created)
    }

    /// Creates those of the ingester's own tables that are missing.
    ///
    /// # Errors
    /// As [`Store::create_missing`].
    pub async fn create_own(&self) -> Result<(), StoreError> {
        let existing = self.tables().await?;
        let dialect = self.dialect;
        let own = [
            (REJECTS, CreateRejects.sql(dialect)),
            (BACKFILLS, CreateBackfills.sql(dialect)),
            (SETTINGS, CreateSettings.sql(dialect)),
        ];
        for (table, sql) in own {
            if !existing.contains(table) {
                self.define(&sql, &format!("creating table {table}")).await?;
            }
        }
        self.look_for_rejects().await
    }

    /// The names of the tables in the database.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn tables(&self) -> Result<HashSet<String>, StoreError> {
        let tables = self.pool.fetch(&ReadTables).await;
        let tables = tables.map_err(|error| StoreError::of("reading the names of the tables".into(), error))?;
        Ok(tables.into_iter().collect())
    }

    async fn define(&self, sql: &Sql, doing: &str) -> Result<(), StoreError> {
        self.pool.define(sql).await.map_err(|error| StoreError::of(doing.to_owned(), error))
    }
}
