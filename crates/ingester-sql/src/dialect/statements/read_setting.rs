//! Reads one setting of the database.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement};
use askama::Template;

/// Reads the value of a setting in `ingester_settings`.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT "value" FROM "ingester_settings" WHERE "name" = ?"#)]
pub struct ReadSetting<'a> {
    /// Its name.
    pub name: &'a str,
}

impl Statement for ReadSetting<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.name)]
    }
}

impl Query for ReadSetting<'_> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_text(0)
    }
}
