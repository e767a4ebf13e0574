//! Overwrites rows of the main table.

use super::insert::columns;
use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Row;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Overwrites existing rows of the main table. The transaction has locked them.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO {{ table.name|upserted }} ({{ table.columns|names }})
{{ rows.len()|rows_of(self.describe_rows()) }}
{{ ["uid"]|on_conflict }}
  {{ table.columns[1..]|write_all_inserted }}"#
)]
pub struct Overwrite<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The rows, each with its `update_time`.
    pub rows: &'a [(&'a Row, Micros)],
}

impl Statement for Overwrite<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.rows.iter().flat_map(|(row, update_time)| columns(row, *update_time)).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf::columns(self.table.columns))
    }
}
