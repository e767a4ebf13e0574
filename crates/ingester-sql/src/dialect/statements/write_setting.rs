//! Writes a setting of the database.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;

/// Writes a setting, even if `ingester_settings` has it already.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_settings" ("name", "value") VALUES (?, ?)
{{ ["name"]|on_conflict }}
  {{ "value"|write_inserted }}"#
)]
pub struct WriteSetting<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}

impl Statement for WriteSetting<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.name), Param::Text(self.value)]
    }
}
