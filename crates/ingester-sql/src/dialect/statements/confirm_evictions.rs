//! Confirms evictions.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Records that the objects of evicted rows have left etcd. The transaction has locked the rows.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ table|by_uid }} SET "evict_confirmed" = ?
WHERE {{ "uid"|is_one_of(uids.len()) }}"#
)]
pub struct ConfirmEvictions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for ConfirmEvictions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        [Param::bool(Some(true))].into_iter().chain(Param::texts(self.uids)).collect()
    }
}
