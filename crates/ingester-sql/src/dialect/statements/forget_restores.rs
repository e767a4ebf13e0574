//! Ends restores.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;

/// Records that some rows are not being restored any more. The transaction has locked the rows.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_restores"
WHERE "table_name" = ? AND {{ "uid"|is_one_of(uids.len()) }}"#
)]
pub struct ForgetRestores<'a> {
    /// The kind's table.
    pub table: Ident,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for ForgetRestores<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = vec![Param::Text(self.table.as_str())];
        params.extend(Param::texts(self.uids));
        params
    }
}
