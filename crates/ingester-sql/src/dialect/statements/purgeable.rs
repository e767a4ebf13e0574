//! Finds rows of objects that were deleted long ago.

use super::changes_after::time_of;
use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Reads rows whose objects were deleted before a time, the oldest first, without locks: the uid of each, and when it was deleted. Rows of
/// evicted objects are never among them, and read all the same: a batch begins behind the one before it.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", {{ "delete_time"|read_time }}
FROM {{ table.name|ident }}
WHERE "delete_time" < ?{% if behind.is_some() %} AND "delete_time" >= ? AND ("delete_time" > ? OR "uid" > ?){% endif %} AND {{ "evict_time"|without_index }} IS NULL AND {{ group|is_of_group }}
ORDER BY "delete_time", "uid"
LIMIT {{ limit|number }}"#
)]
pub struct Purgeable<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The kind's group. Rows of another one are not this kind's.
    pub group: &'a GroupFilter,
    /// The time before which they were deleted.
    pub before: Micros,
    /// The last row of the batch before: its uid, and when it was deleted.
    pub behind: Option<(&'a str, Micros)>,
    /// The most rows.
    pub limit: usize,
}

impl Statement for Purgeable<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let behind = self.behind.map(|(uid, deleted)| [Param::Time(deleted), Param::Time(deleted), Param::Text(uid)]);
        let group = self.group.params().map(Param::Text);
        [Param::Time(self.before)].into_iter().chain(behind.into_iter().flatten()).chain(group).collect()
    }
}

impl Query for Purgeable<'_> {
    type Row = (String, Micros);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, time_of(row, 1)?))
    }
}
