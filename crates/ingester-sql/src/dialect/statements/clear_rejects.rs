//! Deletes rejects of some objects.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;

/// Deletes the rejects of some objects of one kind: files may have an object of another kind with the same uid.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_rejects"
WHERE {{ "uid"|is_one_of(uids.len()) }} AND "kind" = ?"#
)]
pub struct ClearRejects<'a> {
    /// The kind.
    pub kind: &'a str,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for ClearRejects<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Param::texts(self.uids);
        params.push(Param::Text(self.kind));
        params
    }
}
