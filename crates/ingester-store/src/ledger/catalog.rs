//! The tables and views as the database describes them.

use super::view::{FoundView, RECORDS, found_views};
use crate::driver::StoreError;
use crate::store::Store;
use ingester_sql::ddl::ForeignType;
use ingester_sql::dialect::SETTINGS;
use ingester_sql::dialect::statements::{
    CatalogColumn, CatalogColumns, CatalogKey, CatalogKeys, CatalogView, CatalogViews, ReadSettings,
};
use ingester_sql::dialect::{Access, Dialect};
use std::collections::BTreeMap;

/// The tables and views of a database. To compare them with a schema, see [`drift`](crate::migrate::drift) and
/// [`schema_of`](crate::migrate::schema_of).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// The tables by name.
    pub(crate) tables: BTreeMap<String, FoundTable>,
    /// The views by name.
    pub(crate) views: BTreeMap<String, FoundView>,
}

/// The rows that the catalog's statements return.
#[derive(Debug, Default)]
pub(super) struct CatalogRows {
    pub(super) columns: Vec<CatalogColumn>,
    pub(super) keys: Vec<CatalogKey>,
    pub(super) views: Vec<CatalogView>,
    /// The records of views.
    pub(super) records: Vec<(String, String)>,
}

impl CatalogRows {
    /// Returns true if there are views that may have records, and the table of records exists.
    pub(super) fn may_have_records(&self) -> bool {
        let has = |column: &str| self.columns.iter().any(|its| its.table == SETTINGS && its.name == column);
        !self.views.is_empty() && has("name") && has("value")
    }
}

/// A table that a database has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundTable {
    /// Its columns in order.
    pub(crate) columns: Vec<FoundColumn>,
    /// The columns of its primary key in order.
    pub(crate) primary_key: Vec<String>,
    /// Its other keys by name.
    pub(crate) keys: BTreeMap<String, FoundKey>,
}

/// A column that a database has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundColumn {
    /// Its name.
    pub(crate) name: String,
    /// Its type in the server's spelling.
    pub(crate) ty: String,
    /// True if it may be NULL.
    pub(crate) nullable: bool,
    /// Its collation, if the server names one for the type.
    pub(crate) collation: Option<String>,
}

/// A key that a database has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FoundKey {
    /// Its columns in order.
    pub(crate) columns: Vec<String>,
    /// True if its values are unique.
    pub(crate) unique: bool,
}

impl Catalog {
    /// Builds the catalog from the rows.
    pub(super) fn new(rows: CatalogRows) -> Self {
        let CatalogRows { columns, keys, views, records } = rows;
        let mut tables: BTreeMap<String, FoundTable> = BTreeMap::new();
        let mut primary: BTreeMap<String, Vec<(u32, String)>> = BTreeMap::new();
        for CatalogColumn { table, name, ty, nullable, collation, primary_key } in columns {
            if let Some(place) = primary_key {
                primary.entry(table.clone()).or_default().push((place, name.clone()));
            }
            tables.entry(table).or_default().columns.push(FoundColumn { name, ty, nullable, collation });
        }
        for (table, mut columns) in primary {
            columns.sort();
            tables.entry(table).or_default().primary_key = columns.into_iter().map(|(_, name)| name).collect();
        }
        for CatalogKey { table, key, column, unique } in keys {
            let key = tables.entry(table).or_default().keys.entry(key).or_default();
            key.columns.push(column);
            key.unique = unique;
        }
        Catalog { tables, views: found_views(views, records) }
    }
}

impl Catalog {
    /// Returns all tables, in the order of their names.
    pub fn tables(&self) -> impl Iterator<Item = (&str, &FoundTable)> {
        self.tables.iter().map(|(name, table)| (&**name, table))
    }

    /// Returns the table of this name.
    pub fn table(&self, name: &str) -> Option<&FoundTable> {
        self.tables.get(name)
    }

    /// Returns the columns whose types are not ours.
    pub fn foreign_types(&self, dialect: Dialect) -> Vec<ForeignType> {
        let columns =
            self.tables.iter().flat_map(|(table, found)| found.columns.iter().map(move |column| (table, column)));
        columns
            .filter(|(_, column)| dialect.type_of(&column.ty).is_none())
            .map(|(table, FoundColumn { name, ty, .. })| ForeignType {
                table: table.clone(),
                column: name.clone(),
                ty: ty.clone(),
            })
            .collect()
    }
}

impl FoundTable {
    /// Returns true if it has a column of this name.
    pub fn has_column(&self, name: &str) -> bool {
        self.column(name).is_some()
    }

    /// Returns the columns of its primary key in order.
    pub fn primary_key(&self) -> &[String] {
        &self.primary_key
    }

    /// Returns the column of this name.
    pub(crate) fn column(&self, name: &str) -> Option<&FoundColumn> {
        // MySQL Reference Manual, "Identifier Case Sensitivity": column names are not case-sensitive.
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

impl Store {
    /// Reads the tables and views of the database.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn catalog(&self) -> Result<Catalog, StoreError> {
        // Retry: a statement that defines tables on another node of a cluster ends a reader here with a deadlock.
        let read = || async {
            let mut tx = self.pool.begin(Access::Read).await?;
            let all = async {
                let mut rows = CatalogRows {
                    columns: tx.fetch(&CatalogColumns).await?,
                    keys: tx.fetch(&CatalogKeys).await?,
                    views: tx.fetch(&CatalogViews).await?,
                    records: Vec::new(),
                };
                if rows.may_have_records() {
                    rows.records = tx.fetch(&ReadSettings::below(RECORDS)).await?;
                }
                Ok(rows)
            }
            .await;
            tx.end(all).await
        };
        let rows = self.with_retries(|| "reading the catalog of the database".to_owned(), read).await?;
        Ok(Catalog::new(rows))
    }
}
