//! Counts the rows of a query about a moment.

use super::CountRows;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;

/// Counts the rows that a query asks for among the present ones and the former versions together. One statement sees one state of the
/// database, so a row that moves meanwhile is counted once.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ present.milliseconds|select_within }} (SELECT COUNT(*)
FROM {{ present|rows_reached }}
WHERE {{ present.group|is_of_group }} AND {{ present|holds }}) + (SELECT COUNT(*)
FROM {{ former|rows_reached }}
WHERE {{ former.group|is_of_group }} AND {{ former|holds }})"#
)]
pub struct CountAt<'a> {
    /// The query about the present rows. The server ends the statement after this query's time limit.
    pub present: CountRows<'a>,
    /// The query about the former versions.
    pub former: CountRows<'a>,
}

impl Statement for CountAt<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params_in(&self, dialect: Dialect) -> Vec<Param<'_>> {
        [&self.present, &self.former].into_iter().flat_map(|count| count.params_in(dialect)).collect()
    }
}

impl Query for CountAt<'_> {
    type Row = u64;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_uint(0)
    }
}
