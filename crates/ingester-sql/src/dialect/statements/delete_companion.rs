//! Deletes rows of companion tables.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{Companion, Table};

/// Deletes rows of a companion table.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM {{ table.companion(*companion)|ident }}
WHERE ({{ companion.key_columns()|names }}) IN ({{ rows.len()|row_values(self.describe_rows()) }})"#
)]
pub struct DeleteCompanion<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The companion whose rows are deleted.
    pub companion: Companion,
    /// uid and key of each; for a list, the value is the key.
    pub rows: &'a [(&'a str, &'a str)],
}

impl Statement for DeleteCompanion<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let key = self.companion.columns()[1].ty;
        self.rows.iter().flat_map(|(uid, text)| [Param::Text(uid), Param::from_stored(key, text)]).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf::columns(&self.companion.columns()[..2]))
    }
}
