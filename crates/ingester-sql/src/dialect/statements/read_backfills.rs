//! Reads the progress of all backfills.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;

/// Reads the progress of every column whose backfill was ever begun.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "table_name", "column_name", "migration", "position", "rows_read", "rows_filled", "rows_failed", {{ "begin_time"|read_time }}, {{ "complete_time"|read_time }}
FROM "ingester_backfills"
ORDER BY "table_name", "column_name""#
)]
pub struct ReadBackfills;

impl Statement for ReadBackfills {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for ReadBackfills {
    type Row = BackfillRow;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let count = |place| row.read_int(place).map(|count| u64::try_from(count).unwrap_or(0));
        Ok(BackfillRow {
            table: row.read_text(0)?,
            column: row.read_text(1)?,
            migration: row.read_int(2)?,
            position: row.read_text(3)?,
            rows_read: count(4)?,
            rows_filled: count(5)?,
            rows_failed: count(6)?,
            complete: row.read_optional_text(8)?.is_some(),
        })
    }
}

/// A row of `ingester_backfills`: the progress of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackfillRow {
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
    /// The migration that added the column; 0 if a person asked for the backfill.
    pub migration: i64,
    /// The uid of the last row that was read.
    pub position: String,
    /// Rows that were read.
    pub rows_read: u64,
    /// Rows that got other values.
    pub rows_filled: u64,
    /// Rows whose objects cannot be decoded.
    pub rows_failed: u64,
    /// The backfill is complete: `complete_time` is set.
    pub complete: bool,
}
