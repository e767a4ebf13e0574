//! Reads the secondary keys of all tables.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Reads all secondary keys of all tables from the catalog: a row for each of their columns, in the order of the key.
#[derive(Debug)]
pub struct CatalogKeys;

impl Statement for CatalogKeys {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().catalog_keys)
    }
}

impl Query for CatalogKeys {
    type Row = CatalogKey;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(CatalogKey {
            table: row.read_text(0)?,
            key: row.read_text(1)?,
            column: row.read_text(2)?,
            unique: row.read_optional_text(3)?.as_deref() == Some("1"),
        })
    }
}

/// A column of a key as the catalog describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogKey {
    /// Its table.
    pub table: String,
    /// The key's name.
    pub key: String,
    /// The column.
    pub column: String,
    /// A unique key.
    pub unique: bool,
}
