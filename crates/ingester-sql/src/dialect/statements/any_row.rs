//! Checks whether a table has any row.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;

/// Returns a row for a table with rows, and none for an empty one.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT 1 FROM {{ table|ident }} LIMIT 1"#)]
pub struct AnyRow {
    /// The table.
    pub table: Ident,
}

impl Statement for AnyRow {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for AnyRow {
    type Row = ();

    fn read<C: Columns + ?Sized>(&self, _: &C) -> Result<Self::Row, C::Error> {
        Ok(())
    }
}
