//! Finds the entry of the log before another one.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Reads the highest number in a table's log that is lower than another one.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "seq"
FROM {{ "ingester_changes"|by_key("seq") }}
WHERE "table_name" = ? AND "seq" < ?
ORDER BY {{ "seq"|in_order(true) }}
LIMIT 1"#
)]
pub struct ChangeBefore<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The number of the other entry.
    pub before: i64,
}

impl Statement for ChangeBefore<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.table.name.as_str()), Param::Int(self.before)]
    }
}

impl Query for ChangeBefore<'_> {
    type Row = i64;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_int(0)
    }
}
