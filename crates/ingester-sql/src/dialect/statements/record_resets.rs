//! Records resets in the log of changes.

use crate::dialect::statements::ChangeKind;
use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;
use ingester_core::schema::Ident;
use ingester_core::value::Micros;

/// Records that the log lacks earlier changes of a table, or of every table whose log was ever read.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_changes" ("table_name", "uid", "namespace", "name", "res_version", "change", "at")
SELECT "table_name", '', '', '', 0, ?, ?
FROM "ingester_positions"
{%- if table.is_some() %}
WHERE "table_name" = ?
{%- endif %}"#
)]
pub struct RecordResets {
    /// The main table of one kind; `None` for the tables of all kinds.
    pub table: Option<Ident>,
    /// The time.
    pub at: Micros,
}

impl Statement for RecordResets {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let name = self.table.as_ref().map(|table| Param::Text(table.as_str()));
        [Param::Text(ChangeKind::Reset.as_str()), Param::Time(self.at)].into_iter().chain(name).collect()
    }
}
