//! Records a new setting of the database.

use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;

/// Records a setting that `ingester_settings` does not have yet.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"INSERT INTO "ingester_settings" ("name", "value") VALUES (?, ?)"#)]
pub struct RecordSetting<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}

impl Statement for RecordSetting<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.name), Param::Text(self.value)]
    }
}
