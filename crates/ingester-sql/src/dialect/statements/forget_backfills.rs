//! Deletes backfills of reverted migrations.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;

/// Deletes the progress of columns that later migrations have added to these tables.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_backfills"
WHERE "migration" > ? AND {{ "table_name"|is_one_of(tables.len()) }}"#
)]
pub struct ForgetBackfills<'a> {
    /// The last migration whose columns stay.
    pub after: i64,
    /// The tables that these migrations are about; not empty.
    pub tables: &'a [&'a str],
}

impl Statement for ForgetBackfills<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        std::iter::once(Param::Int(self.after)).chain(Param::texts(self.tables)).collect()
    }
}
