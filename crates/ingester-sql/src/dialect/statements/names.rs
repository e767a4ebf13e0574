//! Reads namespaces and names of objects.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Reads uid, namespace and name of some objects.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "namespace", "name"
FROM {{ table.name|ident }}
WHERE {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid""#
)]
pub struct Names<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for Names<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for Names<'_> {
    type Row = (String, String, String);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_text(1)?, row.read_text(2)?))
    }
}
