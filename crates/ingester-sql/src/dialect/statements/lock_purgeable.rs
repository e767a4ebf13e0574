//! Reads and locks the state of rows before they are purged.

use super::versions::version;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Standing;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::{Micros, Value};

/// Reads the versions and the states of some rows, and locks the rows until the transaction ends.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "res_version", "ingest_version", "delete_time" IS NOT NULL, "evict_time" IS NOT NULL, "evict_confirmed", {{ "delete_time"|read_time }}, {{ "evict_time"|read_time }}
FROM {{ table|by_uid }}
WHERE {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid"{{ table|lock_rows }}"#
)]
pub struct LockPurgeable<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for LockPurgeable<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for LockPurgeable<'_> {
    type Row = (String, Standing);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let standing = Standing { version: version(row, 1)?, delete_time: time(row, 6)?, evict_time: time(row, 7)? };
        Ok((row.read_text(0)?, standing))
    }
}

/// A time; another value, which was written there by hand, is none.
fn time<C: Columns + ?Sized>(row: &C, place: usize) -> Result<Option<Micros>, C::Error> {
    Ok(match row.read_value(place, SqlType::DateTime)? {
        Value::Time(time) => Some(time),
        _ => None,
    })
}
