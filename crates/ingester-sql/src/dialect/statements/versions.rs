//! Reads the versions of stored objects.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::{Eviction, Version};
use ingester_core::schema::{SqlType, Table};

/// Reads which versions of some objects are stored, by the primary key.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "res_version", "ingest_version", "delete_time" IS NOT NULL, "evict_time" IS NOT NULL, "evict_confirmed"
FROM {{ table|by_uid }}
WHERE {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid"{% if lock %}{{ table|lock_rows }}{% endif %}"#
)]
pub struct Versions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// Lock the rows until the transaction ends.
    pub lock: bool,
}

impl Statement for Versions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for Versions<'_> {
    type Row = (String, Version);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, version(row, 1)?))
    }
}

/// `res_version`, `ingest_version`, the two flags and `evict_confirmed`, from the column at `place` on.
pub(super) fn version<C: Columns + ?Sized>(row: &C, place: usize) -> Result<Version, C::Error> {
    Ok(Version {
        res_version: row.read_uint(place)?,
        // The column has 32 bits, unless it was changed by hand.
        ingest_version: u32::try_from(row.read_uint(place + 1)?).unwrap_or(u32::MAX),
        deleted: row.read_int(place + 2)? != 0,
        eviction: Eviction::stored(row.read_int(place + 3)? != 0, &row.read_value(place + 4, SqlType::Boolean)?),
    })
}
