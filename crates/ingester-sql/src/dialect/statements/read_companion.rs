//! Reads rows of companion tables.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{Companion, Table};

/// Reads the rows of some objects in a companion table.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT {{ companion.columns()|texts_of }}
FROM {{ table.companion(*companion)|ident }}
WHERE {{ "obj_uid"|is_one_of(uids.len()) }}
ORDER BY {{ companion.key_columns()|names }}"#
)]
pub struct ReadCompanion<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The companion to read.
    pub companion: Companion,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for ReadCompanion<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for ReadCompanion<'_> {
    type Row = (String, String, String);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        // The values of a list are keys.
        let value = if self.companion.columns().len() > 2 { row.read_text(2)? } else { String::new() };
        Ok((row.read_text(0)?, row.read_text(1)?, value))
    }
}
