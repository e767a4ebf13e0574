//! Reads the state of a migration in the ledger.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;

/// Reads whether a migration is done. Returns no row if the ledger does not have the migration.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT success FROM {{ ledger|ident }} WHERE version = ?"#)]
pub struct ReadMigration {
    /// The ledger: the table of the migrations that were run.
    pub ledger: Ident,
    /// Its version.
    pub version: i64,
}

impl Statement for ReadMigration {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Int(self.version)]
    }
}

impl Query for ReadMigration {
    type Row = bool;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(row.read_int(0)? != 0)
    }
}
