//! The highest `res_version`.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Value;

/// Reads the highest `res_version` of all rows; NULL without rows. No key serves it.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT MAX("res_version")
FROM {{ table.name|ident }}"#
)]
pub struct Newest<'a> {
    /// The kind's tables.
    pub table: &'a Table,
}

impl Statement for Newest<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for Newest<'_> {
    type Row = Value;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.value(0, SqlType::BigIntUnsigned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&Newest { table: &TABLE });
    }
}
