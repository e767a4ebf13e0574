//! Finds rows whose names other live rows have.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Finds the rows, among some uids, whose namespace and name a live row with another uid also has. Returns uid, namespace and name of each.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT one."uid", one."namespace", one."name"
FROM {{ table.name|ident }} AS one
WHERE {{ "uid"|is_one_of(uids.len()) }} AND EXISTS (
  SELECT 1 FROM {{ table.name|ident }} AS other
  WHERE other."namespace" = one."namespace" AND other."name" = one."name" AND other."group_ver" = one."group_ver"
    AND other."delete_time" IS NULL AND other."uid" <> one."uid"
)
ORDER BY one."uid""#
)]
pub struct Namesakes<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for Namesakes<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for Namesakes<'_> {
    type Row = (String, String, String);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_text(1)?, row.read_text(2)?))
    }
}
