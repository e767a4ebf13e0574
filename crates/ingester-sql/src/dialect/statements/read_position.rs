//! Reads how far the log of a table is.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Reads how far the log of a table is numbered and purged.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "seq", "horizon", "horizon_version"
FROM "ingester_positions"
WHERE "table_name" = ?{% if lock %}{{ table|lock_rows }}{% endif %}"#
)]
pub struct ReadPosition<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// Lock the row until the transaction ends.
    pub lock: bool,
}

/// How far the log of a table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    /// The number that was given last; 0 if none was.
    pub seq: i64,
    /// The number of the last entry that was purged; 0 if none was.
    pub horizon: i64,
    /// The highest `res_version` of an entry that was purged, or of a row that a numbered reset was recorded with.
    pub horizon_version: u64,
}

impl Statement for ReadPosition<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.table.name.as_str())]
    }
}

impl Query for ReadPosition<'_> {
    type Row = LogState;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(LogState { seq: row.read_int(0)?, horizon: row.read_int(1)?, horizon_version: row.read_uint(2)? })
    }
}
