//! Reads some rows for people.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Reads some live rows for people, in the order of namespace and name: these two, then the indexed columns, as text.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "namespace", "name"{% for column in table.indexed() %}, {{ column|cast_to_text }}{% endfor %}
FROM {{ table.name|ident }}
WHERE "delete_time" IS NULL
ORDER BY "namespace", "name"
LIMIT {{ limit|number }}"#
)]
pub struct Peek<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The most rows.
    pub limit: usize,
}

impl Statement for Peek<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for Peek<'_> {
    type Row = Vec<Option<String>>;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        (0..2 + self.table.indexed().len()).map(|place| row.read_optional_text(place)).collect()
    }
}
