//! The tables as the database itself describes them.

use super::{Store, StoreError};
use ingester_core::dialect::Access;
use ingester_core::dialect::statements::{CatalogColumn, CatalogColumns, CatalogKey, CatalogKeys};
use std::collections::BTreeMap;

/// All tables of a database, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// The tables.
    pub tables: BTreeMap<String, FoundTable>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundTable {
    /// Its columns in order.
    pub columns: Vec<FoundColumn>,
    /// The columns of its primary key in order.
    pub primary_key: Vec<String>,
    /// Its other keys by name.
    pub keys: BTreeMap<String, FoundKey>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundColumn {
    /// Its name.
    pub name: String,
    /// Its type in the server's spelling.
    pub ty: String,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How it is compared, on servers that say so of the type.
    pub collation: Option<String>,
}

/// A key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundKey {
    /// Its columns in order.
    pub columns: Vec<String>,
    /// Whether it refuses equal values.
    pub unique: bool,
}

impl Catalog {
    /// From the answers of the dialect's two statements.
    pub(super) fn new(columns: Vec<CatalogColumn>, keys: Vec<CatalogKey>) -> Self {
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
        Catalog { tables }
    }
}

impl FoundTable {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&FoundColumn> {
        // MySQL Reference Manual, "Identifier Case Sensitivity": column names are not case-sensitive.
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

impl Store {
    /// Reads how the tables stand in the database.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub async fn catalog(&self) -> Result<Catalog, StoreError> {
        let read = async {
            let mut tx = self.pool.begin(Access::Read).await?;
            let both = async { Ok((tx.fetch(&CatalogColumns).await?, tx.fetch(&CatalogKeys).await?)) }.await;
            tx.end(both).await
        };
        let (columns, keys) =
            read.await.map_err(|error| StoreError::of("reading the catalog of the database".into(), error))?;
        Ok(Catalog::new(columns, keys))
    }
}
