//! Reads a page of live rows.

use super::versions::version;
use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Version;
use ingester_core::schema::Table;

/// Reads the uids and versions of a kind's live rows, one page in the order of their uids, without locks. A key is named: a database whose
/// statistics are wrong finds the rows that are not deleted by the key of `delete_time`, all of them again for each page.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "res_version", "ingest_version", "delete_time" IS NOT NULL, "evict_time" IS NOT NULL, "evict_confirmed"
FROM {{ table|by_narrow_key(*narrow) }}
WHERE "uid" > ? AND {{ "delete_time"|without_index }} IS NULL AND {{ group|is_of_group }}{% if namespace.is_some() %} AND {{ "namespace"|without_index }} = ?{% endif %}{% if !confirmed %} AND ({{ "evict_time"|without_index }} IS NULL OR "evict_confirmed" IS NULL OR "evict_confirmed" = FALSE){% endif %}
ORDER BY "uid"
LIMIT {{ limit|number }}"#
)]
pub struct Live<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The kind's group. Rows of another one, which a program with other kinds has left behind, are not this kind's.
    pub group: &'a GroupFilter,
    /// Only rows of this namespace.
    pub namespace: Option<&'a str>,
    /// Include rows whose eviction is confirmed.
    pub confirmed: bool,
    /// The uid that the page comes after; empty for the first page.
    pub after: &'a str,
    /// The most rows.
    pub limit: usize,
    /// The database has the [narrow key](ingester_core::schema::NARROW_KEY), which contains every column that the statement reads.
    pub narrow: bool,
}

impl Statement for Live<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        [self.after].into_iter().chain(self.group.params()).chain(self.namespace).map(Param::Text).collect()
    }
}

impl Query for Live<'_> {
    type Row = (String, Version);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, version(row, 1)?))
    }
}
