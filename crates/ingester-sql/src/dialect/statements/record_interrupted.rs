//! Records a migration that continues where another program has stopped.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;
use ingester_core::value::Value;

/// Records in the ledger that a migration has begun, as sqlx does before it runs one.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO {{ ledger|ident }} (version, description, success, checksum, execution_time) VALUES (?, ?, FALSE, ?, -1)"#
)]
pub struct RecordInterrupted<'a> {
    /// The ledger: the table of the migrations that were run.
    pub ledger: Ident,
    /// Its version.
    pub version: i64,
    /// Its purpose, from the name of its file.
    pub description: &'a str,
    /// The checksum of its text: bytes.
    pub checksum: &'a Value,
}

impl Statement for RecordInterrupted<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Int(self.version), Param::Text(self.description), Param::Value(self.checksum)]
    }
}
