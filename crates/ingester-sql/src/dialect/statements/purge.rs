//! Deletes rows for good.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{Companion, Ident, Table};

/// Deletes the rows of some objects, in one of their tables.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE {% if companion.is_none() %}{{ table|deleted_by_uid }}{% else %}FROM {{ self.find_table().0|ident }}{% endif %}
WHERE {{ self.find_table().1|is_one_of(uids.len()) }}"#
)]
pub struct Purge<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// Deletes the rows of this companion; `None` for rows of the main table.
    pub companion: Option<Companion>,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Purge<'_> {
    /// The table, and its column of the uids.
    fn find_table(&self) -> (Ident, &'static str) {
        match self.companion {
            Some(companion) => (self.table.companion(companion), "obj_uid"),
            None => (self.table.name, "uid"),
        }
    }
}

impl Statement for Purge<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}
