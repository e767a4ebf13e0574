//! Ends the backfill of a column.

use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;
use ingester_core::value::Micros;

/// Records that the backfill of a column is complete.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE "ingester_backfills"
SET "complete_time" = ?
WHERE "table_name" = ? AND "column_name" = ?"#
)]
pub struct EndBackfill<'a> {
    /// The table.
    pub table: &'a str,
    /// The column.
    pub column: &'a str,
    /// The current time.
    pub complete_time: Micros,
}

impl Statement for EndBackfill<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Time(self.complete_time), Param::Text(self.table), Param::Text(self.column)]
    }
}
