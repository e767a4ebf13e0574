//! Writes rows of a companion table.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{Companion, Table};

/// Writes rows of a companion table. Unless they are `new`, they replace rows with the same keys.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO {{ table.companion(*companion)|ident }} ({{ companion.columns()|names }})
{{ rows.len()|rows_of(self.describe_rows()) }}
{% if !new %}{{ companion.primary_key()|on_conflict }} {{ "value"|write_inserted }}{% endif %}"#
)]
pub struct WriteCompanion<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The companion to write.
    pub companion: Companion,
    /// uid, key and value of each; for a list, the value is the key.
    pub rows: &'a [(&'a str, &'a str, &'a str)],
    /// The objects have no rows yet. If one has, the statement fails.
    pub new: bool,
}

impl Statement for WriteCompanion<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let columns = self.companion.columns();
        let mut params = Vec::with_capacity(self.rows.len() * columns.len());
        for (uid, key, value) in self.rows {
            let texts = [*uid, *key, *value];
            params.extend(columns.iter().zip(texts).map(|(column, text)| Param::from_stored(column.ty, text)));
        }
        params
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf { skips_unfit: true, ..RowsOf::columns(self.companion.columns()) })
    }
}
