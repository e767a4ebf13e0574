//! Deletes a setting of the database.

use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;

/// Deletes a setting from `ingester_settings`, if it is there.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"DELETE FROM "ingester_settings" WHERE "name" = ?"#)]
pub struct ForgetSetting<'a> {
    /// Its name.
    pub name: &'a str,
}

impl Statement for ForgetSetting<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.name)]
    }
}
