//! Counts the rows of a table.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;

/// Counts the rows of a table.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT COUNT(*) FROM {{ table|ident }}"#)]
pub struct CountTable {
    /// The table.
    pub table: Ident,
}

impl Statement for CountTable {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for CountTable {
    type Row = u64;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_uint(0)
    }
}
