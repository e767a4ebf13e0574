//! Reads the highest `res_version`.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Value;

/// Reads the highest `res_version` of all rows; NULL without rows. All entries of the narrow key are read.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT MAX("res_version")
FROM {{ table|by_narrow_key(*narrow) }}"#
)]
pub struct Newest<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The database has the [narrow key](ingester_core::schema::NARROW_KEY), which contains every column that the statement reads.
    pub narrow: bool,
}

impl Statement for Newest<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for Newest<'_> {
    type Row = Value;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_value(0, SqlType::BigIntUnsigned)
    }
}
