//! Reads entries of the log, in the order of their numbers.

use crate::dialect::statements::ChangeKind;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::{Micros, Value};

/// Reads the entries of a table's log with higher numbers than this one, in their order.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "id", "seq", "uid", "namespace", "name", "res_version", "change", {{ "at"|read_time }}
FROM {{ "ingester_changes"|by_key("seq") }}
WHERE "table_name" = ? AND "seq" > ?
ORDER BY {{ "seq"|in_order(false) }}
LIMIT {{ limit|number }}"#
)]
pub struct ChangesAfter<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The number.
    pub after: i64,
    /// The most entries.
    pub limit: usize,
}

/// A numbered entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// The id by which it is stored.
    pub id: i64,
    /// Its number.
    pub seq: i64,
    /// The object's uid.
    pub uid: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The `res_version` of its row after the change.
    pub res_version: u64,
    /// How the row changed.
    pub what: ChangeKind,
    /// When, by the database's clock.
    pub at: Micros,
}

impl Statement for ChangesAfter<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.table.name.as_str()), Param::Int(self.after)]
    }
}

impl Query for ChangesAfter<'_> {
    type Row = ChangeRow;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(ChangeRow {
            id: row.read_int(0)?,
            seq: row.read_int(1)?,
            uid: row.read_text(2)?,
            namespace: row.read_text(3)?,
            name: row.read_text(4)?,
            res_version: row.read_uint(5)?,
            what: ChangeKind::from_text(&row.read_text(6)?),
            at: time_of(row, 7)?,
        })
    }
}

/// The time of an entry.
pub(super) fn time_of<C: Columns + ?Sized>(row: &C, place: usize) -> Result<Micros, C::Error> {
    Ok(match row.read_value(place, SqlType::DateTime)? {
        Value::Time(at) => at,
        // A value that was written there by hand counts as old.
        _ => Micros(0),
    })
}
