//! Reads the latest definition of their kind that wrote rows of a table.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Reads the highest `ingest_version` of a table, if it has rows.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "ingest_version" FROM {{ table.name|ident }} ORDER BY "ingest_version" DESC LIMIT 1"#
)]
pub struct LatestDefinition {
    /// The table.
    pub table: &'static Table,
}

impl Statement for LatestDefinition {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for LatestDefinition {
    type Row = u64;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_uint(0)
    }
}
