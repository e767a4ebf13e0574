//! Reads a page of the texts of live rows.

use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Value;

/// Reads the uids and objects of a kind's live rows that are not being evicted, one page in the order of their uids, without locks.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "json"
FROM {{ table|by_uid }}
WHERE "uid" > ? AND {{ "delete_time"|without_index }} IS NULL AND "evict_time" IS NULL AND {{ group|is_of_group }}
ORDER BY "uid"
LIMIT {{ limit|number }}"#
)]
pub struct LiveTexts<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The kind's group.
    pub group: &'a GroupFilter,
    /// The uid that the page comes after; empty for the first page.
    pub after: &'a str,
    /// The most rows.
    pub limit: usize,
}

impl Statement for LiveTexts<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        [self.after].into_iter().chain(self.group.params()).map(Param::Text).collect()
    }
}

impl Query for LiveTexts<'_> {
    type Row = (String, Value);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_value(1, SqlType::Json)?))
    }
}
