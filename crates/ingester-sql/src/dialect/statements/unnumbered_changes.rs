//! Reads entries of the log without a number.

use super::changes_after::time_of;
use crate::dialect::statements::ChangeKind;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Reads the committed entries of a table's log that have no number yet, in their order. It waits for no writer.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "id", {{ "at"|read_time }}, "res_version", "change"
FROM {{ "ingester_changes"|by_key("seq") }}
WHERE "table_name" = ? AND "seq" IS NULL
ORDER BY {{ "seq"|in_order(false) }}, "id"
LIMIT {{ limit|number }}"#
)]
pub struct UnnumberedChanges<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The most entries.
    pub limit: usize,
}

/// An entry that has no number yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnnumberedChange {
    /// Its id.
    pub id: i64,
    /// Its time.
    pub at: Micros,
    /// If it is a reset, the highest `res_version` of the rows that it was recorded with; else 0.
    pub reset_version: u64,
}

impl Statement for UnnumberedChanges<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.table.name.as_str())]
    }
}

impl Query for UnnumberedChanges<'_> {
    type Row = UnnumberedChange;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let is_reset = ChangeKind::from_text(&row.read_text(3)?) == ChangeKind::Reset;
        let reset_version = if is_reset { row.read_uint(2)? } else { 0 };
        Ok(UnnumberedChange { id: row.read_int(0)?, at: time_of(row, 1)?, reset_version })
    }
}
