//! Records the progress of a column's backfill.

use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;

/// Adds a page of rows to the progress of a column.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE "ingester_backfills"
SET "position" = ?, "rows_read" = "rows_read" + ?, "rows_filled" = "rows_filled" + ?, "rows_failed" = "rows_failed" + ?
WHERE "table_name" = ? AND "column_name" = ?"#
)]
pub struct StepBackfill<'a> {
    /// The table.
    pub table: &'a str,
    /// The column.
    pub column: &'a str,
    /// The uid of the last row that was read.
    pub position: &'a str,
    /// Rows that were read.
    pub read: u64,
    /// Rows that got other values.
    pub filled: u64,
    /// Rows whose objects cannot be decoded.
    pub failed: u64,
}

impl Statement for StepBackfill<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::Text(self.position),
            Param::UInt(self.read),
            Param::UInt(self.filled),
            Param::UInt(self.failed),
            Param::Text(self.table),
            Param::Text(self.column),
        ]
    }
}
