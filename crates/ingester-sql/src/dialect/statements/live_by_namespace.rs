//! Counts live rows by namespace.

use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Counts a kind's live rows in each namespace, without rows whose objects left etcd for good. All entries of the narrow key
/// are read.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "namespace", COUNT(*)
FROM {{ table|by_narrow_key(*narrow) }}
WHERE {{ "delete_time"|without_index }} IS NULL AND "evict_time" IS NULL AND {{ group|is_of_group }}
GROUP BY {{ "namespace"|without_index }}
ORDER BY "namespace""#
)]
pub struct LiveByNamespace<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The kind's group.
    pub group: &'a GroupFilter,
    /// The database has the [narrow key](ingester_core::schema::NARROW_KEY), which contains every column that the statement reads.
    pub narrow: bool,
}

impl Statement for LiveByNamespace<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.group.params().map(Param::Text).collect()
    }
}

impl Query for LiveByNamespace<'_> {
    type Row = (String, u64);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_uint(1)?))
    }
}
