//! Overwrites rows of the main table that are the expected ones.

use super::insert::columns;
use super::record_changes::ChangeKind;
use crate::dialect::{Columns, Dialect, Param, Query, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Row;
use ingester_core::schema::{History, SqlType, Table};
use ingester_core::value::Micros;

/// Overwrites rows of the main table that are live, have the version that the writer expects, and have the same definition. Returns their
/// uids. Only for dialects where [a statement can judge](Dialect::judges).
///
/// For a kind with a history, the statement also keeps the versions that end. It reads them as they were when it began. If another writer has
/// changed a row since, what it read is not the row that it would overwrite, and it leaves the row alone.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{% if table.history.is_some() %}WITH "ended" AS (
{% endif %}UPDATE {{ table.name|upserted }} SET
  {% if table.history.is_some() %}{{ table.columns[1..]|write_all_after_former }}{% else %}{{ table.columns[1..]|write_all_inserted }}{% endif %}
FROM {{ self.names()|rows_inserted(self.describe_rows()) }}{% if table.history.is_some() %}, {{ table.name|ident }} AS "before"{% endif %}
WHERE "stored"."uid" = excluded."uid" AND "stored"."res_version" = excluded."expected version" AND "stored"."ingest_version" = excluded."ingest_version"
  AND "stored"."delete_time" IS NULL AND "stored"."evict_time" IS NULL
{%- if let Some(History { table: former, .. }) = table.history %}
  AND {% include "history/before.sql" %}
RETURNING {{ table.columns|values_before }}, "stored"."update_time" AS "valid_to", excluded."change" AS "change"
{% include "history/keep.sql" %}
SELECT "uid" FROM "ended"
{%- else %}
RETURNING "stored"."uid"
{%- endif %}"#
)]
pub struct OverwriteExpected<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The rows.
    pub rows: &'a [ExpectedRow<'a>],
    /// `update_time` of all of them; of a kind with a history, later if the version before began later.
    pub update_time: Micros,
}

/// A row that replaces the expected one.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedRow<'a> {
    /// The new row.
    pub row: &'a Row,
    /// The `res_version` that the stored row must have.
    pub expected: u64,
    /// The change that ends the version of the stored row.
    pub change: ChangeKind,
}

impl<'a> OverwriteExpected<'a> {
    /// The names of a row's parameters. No column has the last ones.
    fn names(&self) -> Vec<&'a str> {
        let change = self.table.history.map(|_| "change");
        let columns = self.table.columns.iter().map(|column| column.name.as_str());
        columns.chain(["expected version"]).chain(change).collect()
    }
}

impl<'a> Statement for OverwriteExpected<'a> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let of_row = |row: &ExpectedRow<'a>| {
            let change = self.table.history.map(|_| Param::Text(row.change.as_str()));
            columns(row.row, self.update_time).chain([Param::UInt(row.expected)]).chain(change)
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        let mut rows = RowsOf::columns(self.table.columns);
        rows.types.push(SqlType::BigIntUnsigned);
        rows.types.extend(self.table.history.map(|_| SqlType::Text));
        Some(rows)
    }
}

impl Query for OverwriteExpected<'_> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_text(0)
    }
}
