//! Marks a migration in the ledger as done, or as not done.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;

/// Records in the ledger that an interrupted migration was done, or that a migration is being reverted.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ ledger|ident }} SET success = {% if done %}TRUE{% else %}FALSE{% endif %} WHERE version = ?"#
)]
pub struct SettleMigration {
    /// The ledger: the table of the migrations that were run.
    pub ledger: Ident,
    /// Its version.
    pub version: i64,
    /// True if an interrupted migration was done, false if a migration is being reverted.
    pub done: bool,
}

impl Statement for SettleMigration {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Int(self.version)]
    }
}
