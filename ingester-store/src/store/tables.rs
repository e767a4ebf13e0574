//! Creating tables that are missing: those of kinds, and the ingester's own.

use super::backfill::BACKFILLS;
use super::catalog::Catalog;
use super::foreign::difference;
use super::rejects::REJECTS;
use super::retry::{database, waiting_for};
use super::settings::SETTINGS;
use super::{Store, StoreError};
use ingester_core::Registry;
use ingester_core::ddl::{ColumnDef, KeyDef, Schema, TableDef};
use ingester_core::dialect::statements::{CreateBackfills, CreateRejects, CreateSettings, ReadTables};
use ingester_core::dialect::{Dialect, Sql, Statement as _};
use ingester_core::schema::{Ident, SqlType, Stays};
use std::collections::HashSet;

impl Store {
    /// The names of the ingester's own tables.
    pub(crate) const OWN: [&'static str; 3] = [REJECTS, BACKFILLS, SETTINGS];

    /// Creates the missing tables of a list of kinds, or of a [`Registry`] with its views, and the ingester's own. Makes the views that
    /// are missing or were made of another definition. Returns the names of the kinds' tables and the views that it made.
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
            let schema = Schema::of(std::slice::from_ref(kind));
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
        created.extend(self.make_views(&Schema::of(registry)).await?);
        Ok(created)
    }

    /// Creates those of the ingester's own tables that are missing.
    ///
    /// # Errors
    /// As [`Store::create_missing`], and if another program has a table of the same name.
    pub async fn create_own(&self) -> Result<(), StoreError> {
        self.check_own().await?;
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

    /// Whether there is the table of settings.
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
        self.define(&CreateSettings.sql(self.dialect), &format!("creating table {SETTINGS}")).await
    }

    /// Checks that what has the names of the ingester's own tables can be them.
    ///
    /// # Errors
    /// If one lacks a column, has another primary key, or the catalog cannot be read.
    pub async fn check_own(&self) -> Result<(), StoreError> {
        let own = own_schema(self.dialect).tables;
        let catalog = self.catalog_with(&own.iter().collect::<Vec<_>>()).await?;
        self.check_own_in(&catalog).await
    }

    pub(super) async fn check_own_in(&self, catalog: &Catalog) -> Result<(), StoreError> {
        for own in own_schema(self.dialect).tables {
            let Some(found) = catalog.tables.get(own.name.as_str()) else { continue };
            // Not their types, which `ingester schema verify` compares.
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

    /// The names of the tables in the database.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn tables(&self) -> Result<HashSet<String>, StoreError> {
        let doing = "reading the names of the tables";
        let tables = waiting_for(|| database(doing), self.pool.fetch(&ReadTables)).await;
        let tables = tables.map_err(|error| StoreError::of(doing.into(), error))?;
        Ok(tables.into_iter().collect())
    }

    pub(super) async fn define(&self, sql: &Sql, doing: &str) -> Result<(), StoreError> {
        let defined = waiting_for(|| database(doing), self.pool.define(sql)).await;
        defined.map_err(|error| StoreError::of(doing.to_owned(), error))
    }
}

/// The ingester's own tables, as [`CreateRejects`], [`CreateBackfills`] and [`CreateSettings`] make them.
pub(crate) fn own_schema(dialect: Dialect) -> Schema {
    use SqlType::{BigInt, DateTime, Text, VarChar};
    let ident = |name: &str| Ident::new(name);
    let table = |name: &str, columns: &[(&str, SqlType)], primary_key: usize| TableDef {
        name: ident(name),
        was: Vec::new(),
        columns: columns
            .iter()
            .map(|(name, ty)| ColumnDef {
                name: ident(name),
                was: None,
                ty: *ty,
                nullable: *name == "complete_time",
                stays: Stays::None,
            })
            .collect(),
        primary_key: columns[..primary_key].iter().map(|(name, _)| ident(name)).collect(),
        keys: Vec::new(),
    };
    let mut rejects = table(
        REJECTS,
        &[
            ("uid", VarChar(64)),
            ("group_ver", VarChar(128)),
            ("kind", VarChar(128)),
            ("namespace", VarChar(256)),
            ("name", VarChar(256)),
            ("res_version", VarChar(128)),
            ("reason", Text),
            ("reject_time", DateTime),
        ],
        1,
    );
    if dialect == Dialect::MySql {
        rejects.keys.push(KeyDef { name: ident("kind"), columns: vec![ident("kind"), ident("reject_time")] });
    }
    let backfills = table(
        BACKFILLS,
        &[
            ("table_name", VarChar(64)),
            ("column_name", VarChar(64)),
            ("migration", BigInt),
            ("position", VarChar(64)),
            ("rows_read", BigInt),
            ("rows_filled", BigInt),
            ("rows_failed", BigInt),
            ("begin_time", DateTime),
            ("complete_time", DateTime),
        ],
        2,
    );
    let settings = table(SETTINGS, &[("name", VarChar(64)), ("value", VarChar(256))], 1);
    Schema { tables: vec![rejects, backfills, settings], views: Vec::new() }
}
