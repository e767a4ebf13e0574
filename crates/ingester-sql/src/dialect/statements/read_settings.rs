//! Reads several settings of the database.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement};
use askama::Template;

/// Reads the names and values of the settings in `ingester_settings` whose names begin with a text.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "name", "value"
FROM "ingester_settings"
WHERE "name" > ? AND "name" < ?
ORDER BY "name""#
)]
pub struct ReadSettings<'a> {
    prefix: &'a str,
    /// The first text after all those with this prefix.
    end: String,
}

impl<'a> ReadSettings<'a> {
    /// The settings whose names have this prefix, which ends with a character of ASCII.
    pub fn below(prefix: &'a str) -> Self {
        let (start, last) = prefix.split_at(prefix.len().saturating_sub(1));
        let next = last.bytes().map(|byte| char::from(byte + 1));
        ReadSettings { prefix, end: start.chars().chain(next).collect() }
    }
}

impl Statement for ReadSettings<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.prefix), Param::Text(&self.end)]
    }
}

impl Query for ReadSettings<'_> {
    type Row = (String, String);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_text(1)?))
    }
}
