//! Reads a page of rows of older definitions.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Reads a page of the uids of rows that older definitions of their kind wrote, in their order, without locks.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid"
FROM {{ table|by_narrow_key(*narrow) }}
WHERE "uid" > ? AND "ingest_version" < ?{% if !unmarked %} AND "ingest_version" > 0{% endif %}
ORDER BY "uid"
LIMIT {{ limit|number }}"#
)]
pub struct OlderRows<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The definition that they are older than.
    pub ingest_version: u32,
    /// Include rows that do not say their definition.
    pub unmarked: bool,
    /// The uid that the page comes after; empty for the first page.
    pub after: &'a str,
    /// The most rows.
    pub limit: usize,
    /// The database has the [narrow key](ingester_core::schema::NARROW_KEY), which contains every column that the statement reads.
    pub narrow: bool,
}

impl Statement for OlderRows<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.after), Param::UInt(self.ingest_version.into())]
    }
}

impl Query for OlderRows<'_> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_text(0)
    }
}
