//! Rows of objects that were deleted long ago.

use crate::dialect::{Columns, Dialect, OfGroup, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Reads the uids of rows whose objects were deleted before a time, the oldest first, without locks. Rows of evicted objects are never
/// among them.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid"
FROM {{ table.name|ident }}
WHERE "delete_time" < ? AND {{ "evict_time"|without_index }} IS NULL AND {{ group|is_of_group }}
ORDER BY "delete_time", "uid"
LIMIT {{ limit|number }}"#
)]
pub struct Purgeable<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The kind's group. Rows of another one are not this kind's.
    pub group: &'a OfGroup,
    /// The time before which they were deleted.
    pub before: Micros,
    /// The most rows.
    pub limit: usize,
}

impl Statement for Purgeable<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        [Param::Time(self.before)].into_iter().chain(self.group.params().map(Param::Text)).collect()
    }
}

impl Query for Purgeable<'_> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.text(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&Purgeable { table: &TABLE, group: &OfGroup::new("example.com"), before: NOW, limit: 2 });
    }
}
