//! Reads when the present versions of objects began.

use super::changes_after::time_of;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Reads when the present versions of some objects began: the times at which their rows were written. The transaction has locked them.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", {{ "update_time"|read_time }}
FROM {{ table|by_uid }}
WHERE {{ "uid"|is_one_of(uids.len()) }}"#
)]
pub struct VersionTimes<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for VersionTimes<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

impl Query for VersionTimes<'_> {
    type Row = (String, Micros);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.text(0)?, time_of(row, 1)?))
    }
}
