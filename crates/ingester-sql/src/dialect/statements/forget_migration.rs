//! Deletes an interrupted migration from the ledger.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;

/// Deletes a migration from the ledger that was interrupted and is not done.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"DELETE FROM {{ ledger|ident }} WHERE version = ? AND success = FALSE"#)]
pub struct ForgetMigration {
    /// The ledger: the table of the migrations that were run.
    pub ledger: Ident,
    /// Its version.
    pub version: i64,
}

impl Statement for ForgetMigration {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Int(self.version)]
    }
}
