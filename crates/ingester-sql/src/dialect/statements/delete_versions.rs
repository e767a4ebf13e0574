//! Deletes former versions for good.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Micros;

/// Deletes former versions of objects.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM {{ former.name|ident }}
WHERE ("uid", "valid_from") IN ({{ rows.len()|row_values(self.describe_rows()) }})"#
)]
pub struct DeleteVersions<'a> {
    /// The table of the kind's history.
    pub former: &'a Table,
    /// The uid of each version, and when it began.
    pub rows: &'a [(String, Micros)],
}

impl Statement for DeleteVersions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.rows.iter().flat_map(|(uid, began)| [Param::Text(uid), Param::Time(*began)]).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf::new(&[SqlType::Text, SqlType::DateTime]))
    }
}
