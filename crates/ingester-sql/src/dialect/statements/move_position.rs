//! Records how far the log of a table is now.

use crate::dialect::statements::LogState;
use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;
use ingester_core::schema::Table;

/// Records how far the log of a table is numbered and purged. The transaction has locked the row.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE "ingester_positions" SET "seq" = ?, "horizon" = ?, "horizon_version" = ? WHERE "table_name" = ?"#
)]
pub struct MovePosition<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// How far it is.
    pub to: LogState,
}

impl Statement for MovePosition<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let LogState { seq, horizon, horizon_version } = self.to;
        let name = Param::Text(self.table.name.as_str());
        vec![Param::Int(seq), Param::Int(horizon), Param::UInt(horizon_version), name]
    }
}
