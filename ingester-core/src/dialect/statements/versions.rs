//! Versions of stored objects.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use crate::row::Version;
use crate::schema::Table;
use askama::Template;

/// Reads which versions of some objects are stored.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "res_version", "delete_time" IS NOT NULL, "evict_time" IS NOT NULL
FROM {{ table.name|ident }}
WHERE "uid" IN ({{ uids.len()|parameters }})
ORDER BY "uid"{% if lock %}{{ table|lock_rows }}{% endif %}"#
)]
pub struct Versions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// Whether to lock the rows until the transaction ends.
    pub lock: bool,
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
        let locked = Versions { table: &TABLE, uids: UIDS, lock: true };
        snapshot_of("Versions", &[&locked, &Versions { lock: false, ..locked }]);
    }
}
