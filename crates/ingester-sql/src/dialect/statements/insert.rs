//! Inserts rows into the main table.

use crate::dialect::{Columns, Dialect, Param, Query, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Row;
use ingester_core::schema::{Table, base};
use ingester_core::value::Micros;

/// Inserts rows into the main table; none of them if one of them exists. As a query, it returns the uids that it inserted.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO {{ table.name|ident }} ({{ table.columns|names }})
{{ rows.len()|rows_of(self.describe_rows()) }}{% if skip %}{{ table|skip_stored }}{% endif %}"#
)]
pub struct Insert<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The rows.
    pub rows: &'a [&'a Row],
    /// `update_time` of all of them.
    pub update_time: Micros,
    /// Leave out rows that exist, on a database [that can do this](Dialect::skips_stored).
    pub skip: bool,
}

impl Statement for Insert<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.rows.iter().flat_map(|row| columns(row, self.update_time)).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf::columns(self.table.columns))
    }
}

impl Query for Insert<'_> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_text(0)
    }
}

/// Every column of a row in the table's order.
pub(super) fn columns(row: &Row, update_time: Micros) -> impl Iterator<Item = Param<'_>> {
    row.values.iter().enumerate().map(move |(place, value)| match place {
        base::UPDATE_TIME => Param::Time(update_time),
        base::DELETE_TIME => Param::time(row.delete_time),
        base::EVICT_TIME => Param::time(row.evict_time),
        base::EVICT_CONFIRMED => Param::bool(row.eviction().confirmed()),
        base::INGEST_VERSION => Param::UInt(row.ingest_version.into()),
        _ => Param::Value(value),
    })
}
