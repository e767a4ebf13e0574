//! Reads whole rows of the main table.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Value;

/// Reads whole rows of the main table without locks: every column, in the table's order.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT {% for column in table.columns %}{% if !loop.first %}, {% endif %}{{ column|read }}{% endfor %}
FROM {{ table.name|ident }}
WHERE {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid""#
)]
pub struct Read<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for Read<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for Read<'_> {
    type Row = Box<[Value]>;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        self.table.columns.iter().enumerate().map(|(place, column)| row.read_value(place, column.ty)).collect()
    }
}
