//! Replaces a setting of the database.

use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;

/// Replaces the value of a setting in `ingester_settings`, unless another program has replaced it meanwhile.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"UPDATE "ingester_settings" SET "value" = ? WHERE "name" = ? AND "value" = ?"#)]
pub struct ReplaceSetting<'a> {
    /// Its name.
    pub name: &'a str,
    /// The value that it has.
    pub from: &'a str,
    /// The new value.
    pub to: &'a str,
}

impl Statement for ReplaceSetting<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.to), Param::Text(self.name), Param::Text(self.from)]
    }
}
