//! Versions of stored objects, locked.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use crate::row::Version;
use crate::schema::Table;
use askama::Template;

/// Reads which versions of some objects are stored, and locks their rows until the transaction ends.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "res_version", "delete_time" IS NOT NULL, "evict_time" IS NOT NULL
FROM {{ table.name|ident }}
WHERE "uid" IN ({{ uids.len()|parameters }})
ORDER BY "uid"{{ table|lock_rows }}"#
)]
pub struct Versions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for Versions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for Versions<'_> {
    type Row = (String, Version);

    fn read<C: Columns>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let version = Version { res_version: row.uint(1)?, deleted: row.int(2)? != 0, evicted: row.int(3)? != 0 };
        Ok((row.text(0)?, version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&Versions { table: &TABLE, uids: UIDS });
    }
}
