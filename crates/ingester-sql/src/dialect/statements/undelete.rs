//! Takes deletions of rows back.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Takes the deletion of rows back. The transaction has locked them.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ table|by_uid }} SET "delete_time" = NULL, "update_time" = ?
WHERE {{ "uid"|is_one_of(uids.len()) }}"#
)]
pub struct Undelete<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// `update_time` of all of them.
    pub update_time: Micros,
}

impl Statement for Undelete<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        [Param::Time(self.update_time)].into_iter().chain(Param::texts(self.uids)).collect()
    }
}
