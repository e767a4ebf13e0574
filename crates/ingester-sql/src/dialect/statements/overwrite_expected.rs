//! Overwrites rows of the main table that are the expected ones.

use super::insert::columns;
use crate::dialect::{Columns, Dialect, Param, Query, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Row;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Micros;

/// Overwrites rows of the main table that are live, have the version that the writer expects, and have the same definition. Returns their
/// uids. Only for dialects where [a statement can judge](Dialect::judges).
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ table.name|upserted }} SET
  {{ table.columns[1..]|write_all_inserted }}
FROM {{ self.names()|rows_inserted(self.describe_rows()) }}
WHERE "stored"."uid" = excluded."uid" AND "stored"."res_version" = excluded."expected version" AND "stored"."ingest_version" = excluded."ingest_version"
  AND "stored"."delete_time" IS NULL AND "stored"."evict_time" IS NULL
RETURNING "stored"."uid""#
)]
pub struct OverwriteExpected<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The rows, each with the `res_version` that the stored one must have.
    pub rows: &'a [(&'a Row, u64)],
    /// `update_time` of all of them.
    pub update_time: Micros,
}

impl<'a> OverwriteExpected<'a> {
    /// The names of a row's parameters. No column has the last one.
    fn names(&self) -> Vec<&'a str> {
        self.table.columns.iter().map(|column| column.name.as_str()).chain(["expected version"]).collect()
    }
}

impl Statement for OverwriteExpected<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let rows = self.rows.iter();
        rows.flat_map(|(row, expected)| columns(row, self.update_time).chain([Param::UInt(*expected)])).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        let mut rows = RowsOf::columns(self.table.columns);
        rows.types.push(SqlType::BigIntUnsigned);
        Some(rows)
    }
}

impl Query for OverwriteExpected<'_> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_text(0)
    }
}
