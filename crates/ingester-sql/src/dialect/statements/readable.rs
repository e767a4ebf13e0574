//! Checks that the user may read a table.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;

/// Reads no row of a table, and names its columns: a server refuses that to a user who may not read one of them, although its catalog
/// just omits what the user may not see.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT {% for column in columns %}{% if !loop.first %}, {% endif %}{{ column|ident }}{% endfor %}
FROM {{ table|ident }}
WHERE 1 = 0"#
)]
pub struct Readable<'a> {
    /// The table.
    pub table: Ident,
    /// Its columns.
    pub columns: &'a [Ident],
}

impl Statement for Readable<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for Readable<'_> {
    type Row = ();

    fn read<C: Columns + ?Sized>(&self, _: &C) -> Result<Self::Row, C::Error> {
        Ok(())
    }
}
