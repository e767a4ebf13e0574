//! Begins the numbers of a table's log.

use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;
use ingester_core::schema::Table;

/// Begins the numbers of a table's log, which has none yet.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_positions" ("table_name", "seq", "horizon", "horizon_version") VALUES (?, 0, 0, 0)"#
)]
pub struct BeginPositions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
}

impl Statement for BeginPositions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.table.name.as_str())]
    }
}
