//! Moves the beginning of present versions to a later time.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Lets the present versions of objects that began at one time begin at a later one.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ table.name|ident }} SET "update_time" = ?
WHERE {{ "uid"|is_one_of(uids.len()) }} AND "update_time" = ?"#
)]
pub struct BeginLater<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// When the versions began.
    pub from: Micros,
    /// When they begin.
    pub to: Micros,
}

impl Statement for BeginLater<'_> {
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
