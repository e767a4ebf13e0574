//! Records the definition of existing rows.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Records the definition of existing rows, because they have its values already.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ table|by_uid }}
SET "ingest_version" = ?
WHERE {{ "uid"|is_one_of(uids.len()) }}"#
)]
pub struct MarkRows<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The definition.
    pub ingest_version: u32,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for MarkRows<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = vec![Param::UInt(self.ingest_version.into())];
        params.extend(Param::texts(self.uids));
        params
    }
}
