//! Moves the beginning of inserted rows behind the end of their last former versions.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Makes the versions of rows that the transaction has inserted begin no earlier than the last former version of their objects ended:
/// the database's clock may have gone back since such a row was purged. Most new objects have no former version.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ table|by_uid }}
SET "update_time" = (SELECT MAX("valid_to") FROM {{ former.name|ident }} WHERE {{ former.name|ident }}."uid" = {{ table.name|ident }}."uid")
WHERE {{ "uid"|is_one_of(uids.len()) }}
  AND "update_time" < (SELECT MAX("valid_to") FROM {{ former.name|ident }} WHERE {{ former.name|ident }}."uid" = {{ table.name|ident }}."uid")"#
)]
pub struct BeginAfterFormer<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The table of its history.
    pub former: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for BeginAfterFormer<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}
