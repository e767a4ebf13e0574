//! Labels or annotations of objects.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use crate::schema::{Companion, Table};
use askama::Template;

/// Reads the labels or annotations of some objects.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "obj_uid", "key", "value"
FROM {{ table.companion(*companion)|ident }}
WHERE "obj_uid" IN ({{ uids.len()|parameters }})
ORDER BY "obj_uid", "key""#
)]
pub struct ReadCompanion<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// Labels or annotations.
    pub companion: Companion,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for ReadCompanion<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for ReadCompanion<'_> {
    type Row = (String, String, String);

    fn read<C: Columns>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.text(0)?, row.text(1)?, row.text(2)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&ReadCompanion { table: &TABLE, companion: Companion::Labels, uids: UIDS });
    }
}
