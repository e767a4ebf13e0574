//! Deletes entries of the log.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::SqlType;

/// Deletes entries of the log.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_changes"
WHERE "id" IN ({{ ids.len()|row_values(self.describe_rows()) }})"#
)]
pub struct PurgeChanges<'a> {
    /// The ids of the entries.
    pub ids: &'a [i64],
}

impl Statement for PurgeChanges<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.ids.iter().copied().map(Param::Int).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf::new(&[SqlType::BigInt]))
    }
}
