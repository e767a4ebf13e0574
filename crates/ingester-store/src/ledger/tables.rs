//! Creates missing tables: the tables of kinds, and the ingester's own.

use super::catalog::Catalog;
use super::foreign::difference;
use crate::driver::{ErrorClass, StoreError};
use crate::store::{CachedSetting, Store, database, waiting_for};
use ingester_core::Registry;
use ingester_sql::ddl::Schema;
use ingester_sql::dialect::Sql;
use ingester_sql::dialect::statements::ReadTables;
use ingester_sql::dialect::{
    BACKFILLS, CHANGES, LOST_EVICTIONS, MARKS, POSITIONS, REJECTS, RESTORES, SETTINGS, own_schema,
};
use std::collections::HashSet;
use std::time::Duration;

/// The number of attempts to create a table, and the pause between them.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);

impl Store {
    /// The names of the ingester's own tables.
    pub(crate) const OWN: [&'static str; 8] =
        [REJECTS, BACKFILLS, SETTINGS, CHANGES, POSITIONS, MARKS, RESTORES, LOST_EVICTIONS];

    /// Creates the missing tables of a list of kinds, or of a [`Registry`] with its views, and the ingester's own. Makes the views that are
    /// missing or were made from another definition. Returns the names of the kinds' tables and the views that it made.
    ///
    /// # Errors
    /// If the database cannot be read, or a missing table or view cannot be created.
    pub async fn create_missing<'a>(&self, registry: impl Into<Registry<'a>>) -> Result<Vec<String>, StoreError> {
        self.create_missing_of(registry.into()).await
    }

    async fn create_missing_of(&self, registry: Registry<'_>) -> Result<Vec<String>, StoreError> {
        let kinds = registry.kinds;
        Box::pin(self.refuse_foreign_tables(registry)).await?;
        let existing = self.tables().await?;
        let mut created = Vec::new();
        for kind in kinds {
            let schema = Schema::from_registry(std::slice::from_ref(kind));
            let names = schema.tables.iter().map(|table| table.name.to_string());
            let missing: Vec<String> = names.filter(|name| !existing.contains(name)).collect();
            if !missing.is_empty() {
                for sql in self.dialect.create_all(&schema) {
                    self.define(&sql, &format!("creating the tables of {}", kind.name())).await?;
                }
                created.extend(missing);
            }
        }
        self.create_own().await?;
        created.extend(self.make_views(&Schema::from_registry(registry)).await?);
        Ok(created)
    }

    /// Creates the missing ones of the ingester's own tables.
    ///
    /// # Errors
    /// As [`Store::create_missing`], and if another program has a table of the same name.
    pub async fn create_own(&self) -> Result<(), StoreError> {
        let catalog = self.checked_catalog().await?;
        self.create_own_beside(catalog).await.map(drop)
    }

    /// Like [`Store::create_own`], with a catalog that was read and checked before. Returns the catalog with these tables.
    pub(crate) async fn create_own_beside(&self, mut catalog: Catalog) -> Result<Catalog, StoreError> {
        if !Store::OWN.iter().all(|own| catalog.tables.contains_key(*own)) {
            // The catalog has only tables whose columns the user may see.
            let existing = self.tables().await?;
            for table in Store::OWN.iter().filter(|own| !existing.contains(**own)) {
                self.create_own_table(table).await?;
            }
            catalog = self.catalog().await?;
        }
        *self.logged() = CachedSetting::default();
        self.look_for_rejects().await?;
        Ok(catalog)
    }

    /// Returns true if the table of settings exists.
    ///
    /// # Errors
    /// If the names of the tables cannot be read.
    pub async fn has_settings(&self) -> Result<bool, StoreError> {
        Ok(self.tables().await?.contains(SETTINGS))
    }

    /// Creates the table of settings if it is missing.
    ///
    /// # Errors
    /// As [`Store::create_missing`].
    pub async fn create_settings(&self) -> Result<(), StoreError> {
        if self.tables().await?.contains(SETTINGS) {
            return Ok(());
        }
        self.create_own_table(SETTINGS).await
    }

    async fn create_own_table(&self, table: &str) -> Result<(), StoreError> {
        for sql in self.dialect.create_own(table) {
            self.define(&sql, &format!("creating table {table}")).await?;
        }
        Ok(())
    }

    /// Checks that tables with the names of the ingester's own tables can be the ingester's.
    ///
    /// # Errors
    /// If one lacks a column, has another primary key, or the catalog cannot be read.
    pub async fn check_own(&self) -> Result<(), StoreError> {
        self.checked_catalog().await.map(drop)
    }

    /// Returns the catalog, checked as in [`Store::check_own`].
    pub(crate) async fn checked_catalog(&self) -> Result<Catalog, StoreError> {
        let catalog = self.catalog_with(|_| Vec::new()).await?;
        self.check_own_in(&catalog).await?;
        Ok(catalog)
    }

    pub(super) async fn check_own_in(&self, catalog: &Catalog) -> Result<(), StoreError> {
        for own in own_schema(self.dialect).tables {
            let Some(found) = catalog.tables.get(own.name.as_str()) else { continue };
            // Do not compare the types: `ingester schema verify` does that.
            let Some(reason) = difference(&own, found, |_| true) else { continue };
            self.may_read(&own).await?;
            return Err(StoreError::wrong(
                format!("checking the table {}", own.name),
                format!("it is not the ingester's: {reason}"),
                "another program has made it: rename its table, or name another database; `ingester schema verify` tells more",
            ));
        }
        Ok(())
    }

    /// Returns the names of the tables in the database.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn tables(&self) -> Result<HashSet<String>, StoreError> {
        let doing = "reading the names of the tables";
        let tables = waiting_for(|| database(doing), self.pool.fetch(&ReadTables)).await;
        let tables = tables.map_err(|error| StoreError::from_sqlx(doing.into(), error))?;
        Ok(tables.into_iter().collect())
    }

    pub(super) async fn define(&self, sql: &Sql, doing: &str) -> Result<(), StoreError> {
        let mut attempts = 0;
        loop {
            let defined = waiting_for(|| database(doing), self.pool.define(sql)).await;
            attempts += 1;
            match defined.map_err(|error| StoreError::from_sqlx(doing.to_owned(), error)) {
                // `IF NOT EXISTS` checks before it creates, and on PostgreSQL another program may do both in between.
                Err(error) if error.class() == ErrorClass::Transient && attempts < ATTEMPTS => {
                    tokio::time::sleep(PAUSE).await;
                }
                defined => return defined,
            }
        }
    }
}
