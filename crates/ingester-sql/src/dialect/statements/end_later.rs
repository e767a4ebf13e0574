//! Moves the end of former versions to a later time.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Lets the former versions of objects that ended at one time end at a later one.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ former.name|ident }} SET "valid_to" = ?
WHERE {{ "uid"|is_one_of(uids.len()) }} AND "valid_to" = ?"#
)]
pub struct EndLater<'a> {
    /// The table of the kind's history.
    pub former: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// When the versions ended.
    pub from: Micros,
    /// When they end.
    pub to: Micros,
}

impl Statement for EndLater<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = vec![Param::Time(self.to)];
        params.extend(Param::texts(self.uids));
        params.push(Param::Time(self.from));
        params
    }
}
