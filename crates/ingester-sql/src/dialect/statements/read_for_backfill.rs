//! Reads and locks rows for a backfill.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Value;

/// Reads rows to be backfilled in the order of their uids, and locks them until the transaction ends.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "group_ver", "namespace", "name", "res_version", "ingest_version", "delete_time" IS NULL AND "evict_time" IS NULL, "json"
{%- for place in places.iter().copied() %}, {{ table.columns[place]|read }}{% endfor %}
FROM {{ table|by_uid }}
{%- match rows %}
{%- when RowsToBackfill::After { limit, .. } %}
WHERE "uid" > ?
ORDER BY "uid"
LIMIT {{ **limit|number }}
{%- when RowsToBackfill::These(uids) %}
WHERE {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid"
{%- endmatch %}{{ table|lock_rows }}"#
)]
pub struct ReadForBackfill<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The places of the columns.
    pub places: &'a [usize],
    /// The rows to read.
    pub rows: RowsToBackfill<'a>,
}

/// The rows to read for a backfill.
#[derive(Clone, Copy, Debug)]
pub enum RowsToBackfill<'a> {
    /// A page.
    After {
        /// The uid that the page comes after; empty for the first page.
        uid: &'a str,
        /// The most rows.
        limit: usize,
    },
    /// The rows with these uids.
    These(&'a [&'a str]),
}

impl Statement for ReadForBackfill<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        match self.rows {
            RowsToBackfill::After { uid, .. } => vec![Param::Text(uid)],
            RowsToBackfill::These(uids) => Param::texts(uids),
        }
    }
}

impl Query for ReadForBackfill<'_> {
    type Row = RowToBackfill;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let value = |(place, column): (usize, &usize)| row.read_value(place + 8, self.table.columns[*column].ty);
        Ok(RowToBackfill {
            uid: row.read_text(0)?,
            group_ver: row.read_text(1)?,
            namespace: row.read_text(2)?,
            name: row.read_text(3)?,
            res_version: row.read_uint(4)?,
            // The column has 32 bits, unless it was changed by hand.
            ingest_version: u32::try_from(row.read_uint(5)?).unwrap_or(u32::MAX),
            in_cluster: row.read_int(6)? != 0,
            json: row.read_value(7, SqlType::Json)?,
            values: self.places.iter().enumerate().map(value).collect::<Result<_, _>>()?,
        })
    }
}

/// A row to be backfilled.
#[derive(Clone, Debug, PartialEq)]
pub struct RowToBackfill {
    /// `uid`
    pub uid: String,
    /// `group_ver`
    pub group_ver: String,
    /// `namespace`
    pub namespace: String,
    /// `name`
    pub name: String,
    /// `res_version`
    pub res_version: u64,
    /// `ingest_version`
    pub ingest_version: u32,
    /// The object is in the cluster: neither `delete_time` nor `evict_time` is set.
    pub in_cluster: bool,
    /// `json`
    pub json: Value,
    /// The stored values of the columns.
    pub values: Vec<Value>,
}
