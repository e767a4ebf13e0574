//! Numbers entries of the log.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::SqlType;

/// Gives entries of the log their numbers, each its id and the same offset. The transaction has locked the table's position.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE "ingester_changes" SET "seq" = "id" + ?
WHERE "id" IN ({{ ids.len()|row_values(self.describe_rows()) }})"#
)]
pub struct NumberChanges<'a> {
    /// The ids of the entries.
    pub ids: &'a [i64],
    /// A number is the entry's id plus this offset.
    pub offset: i64,
}

impl Statement for NumberChanges<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        std::iter::once(self.offset).chain(self.ids.iter().copied()).map(Param::Int).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf { after: 1, ..RowsOf::new(&[SqlType::BigInt]) })
    }
}
