//! Reads evictions that the database has lost.

use super::LostRow;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement};
use askama::Template;
use ingester_core::schema::Table;

/// Reads which evictions of one kind are recorded as lost.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "namespace", "name", "res_version"
FROM "ingester_lost_evictions"
WHERE "table_name" = ?{% if namespace.is_some() %} AND "namespace" = ?{% endif %}
ORDER BY "uid""#
)]
pub struct ReadLostEvictions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// Only objects of this namespace.
    pub namespace: Option<&'a str>,
}

impl Statement for ReadLostEvictions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        [self.table.name.as_str()].into_iter().chain(self.namespace).map(Param::Text).collect()
    }
}

impl Query for ReadLostEvictions<'_> {
    type Row = LostRow<String>;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(LostRow {
            uid: row.read_text(0)?,
            namespace: row.read_text(1)?,
            name: row.read_text(2)?,
            res_version: row.read_uint(3)?,
        })
    }
}
