//! Finds the first entry of the log with a resourceVersion.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Reads the lowest number of an entry with this resourceVersion in a table's log.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "seq"
FROM {{ "ingester_changes"|by_key("res_version") }}
WHERE "table_name" = ? AND "res_version" = ? AND "seq" IS NOT NULL
ORDER BY "seq"
LIMIT 1"#
)]
pub struct ChangeOfVersion<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The resourceVersion.
    pub res_version: u64,
}

impl Statement for ChangeOfVersion<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.table.name.as_str()), Param::UInt(self.res_version)]
    }
}

impl Query for ChangeOfVersion<'_> {
    type Row = i64;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_int(0)
    }
}
