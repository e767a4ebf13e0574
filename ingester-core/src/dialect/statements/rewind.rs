//! Rows before a restored cluster's objects.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use crate::schema::Table;
use askama::Template;

/// Makes rows live and older than any object, so that the next write of each object wins.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ table.name|ident }}
SET "res_version" = 0, "delete_time" = NULL, "evict_time" = NULL
WHERE "uid" IN ({{ uids.len()|parameters }})"#
)]
pub struct Rewind<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for Rewind<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&Rewind { table: &TABLE, uids: UIDS });
    }
}
