//! Reads restores that have begun.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{Ident, SqlType};
use ingester_core::value::{Micros, Value};

/// Reads which of some rows are being restored. A caller that acts on the answer has locked the rows: a restore begins and ends under that lock.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "nonce", {{ "restore_time"|read_time }}
FROM "ingester_restores"
WHERE "table_name" = ? AND {{ "uid"|is_one_of(uids.len()) }}"#
)]
pub struct ReadRestores<'a> {
    /// The kind's table.
    pub table: Ident,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for ReadRestores<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = vec![Param::Text(self.table.as_str())];
        params.extend(Param::texts(self.uids));
        params
    }
}

impl Query for ReadRestores<'_> {
    type Row = RestoreRow;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let restore_time = match row.read_value(2, SqlType::DateTime)? {
            Value::Time(time) => time,
            // Written there by hand: as if the object had been created a moment ago, so nothing is given up too early.
            _ => Micros(i64::MAX),
        };
        Ok(RestoreRow { uid: row.read_text(0)?, nonce: row.read_text(1)?, restore_time })
    }
}

/// A row of `ingester_restores`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreRow {
    /// The uid of the row that is restored.
    pub uid: String,
    /// The number of the restore.
    pub nonce: String,
    /// When the last attempt to create the object began.
    pub restore_time: Micros,
}
