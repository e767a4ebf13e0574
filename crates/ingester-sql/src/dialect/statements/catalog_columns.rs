//! Reads the columns of all tables.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Reads all columns of all tables from the catalog, in their order.
#[derive(Debug)]
pub struct CatalogColumns;

impl Statement for CatalogColumns {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().catalog_columns)
    }
}

impl Query for CatalogColumns {
    type Row = CatalogColumn;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let place = row.read_optional_text(5)?;
        Ok(CatalogColumn {
            table: row.read_text(0)?,
            name: row.read_text(1)?,
            ty: row.read_text(2)?,
            nullable: row.read_optional_text(3)?.as_deref() == Some("1"),
            collation: row.read_optional_text(4)?,
            primary_key: place.and_then(|place| place.parse().ok()),
        })
    }
}

/// A column as the catalog describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogColumn {
    /// Its table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// Its type in the server's spelling.
    pub ty: String,
    /// Nullable in SQL.
    pub nullable: bool,
    /// Its collation, if the server names one.
    pub collation: Option<String>,
    /// Its place in the primary key, if it is part of it.
    pub primary_key: Option<u32>,
}
