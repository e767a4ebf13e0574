//! Deletes records of lost evictions that are not lost any more.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Deletes the records of lost evictions of these objects.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_lost_evictions"
WHERE {{ "uid"|is_one_of(uids.len()) }} AND "table_name" = ?"#
)]
pub struct ForgetLostEvictions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for ForgetLostEvictions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Param::texts(self.uids);
        params.push(Param::Text(self.table.name.as_str()));
        params
    }
}
