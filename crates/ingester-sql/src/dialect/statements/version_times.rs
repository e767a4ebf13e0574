//! Reads the versions of stored objects, and when they began.

use super::changes_after::time_of;
use super::versions::version;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Version;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Reads which versions of some objects are stored, as [`Versions`](super::Versions) does, and when they began: the times at which the rows
/// were written. A kind without a history does not need the times.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "res_version", "ingest_version", "delete_time" IS NOT NULL, "evict_time" IS NOT NULL, "evict_confirmed", {{ "update_time"|read_time }}
FROM {{ table|by_uid }}
WHERE {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid"{% if lock %}{{ table|lock_rows }}{% endif %}"#
)]
pub struct VersionTimes<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// Lock the rows until the transaction ends.
    pub lock: bool,
}

impl Statement for VersionTimes<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for VersionTimes<'_> {
    type Row = (String, Version, Micros);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, version(row, 1)?, time_of(row, 6)?))
    }
}
