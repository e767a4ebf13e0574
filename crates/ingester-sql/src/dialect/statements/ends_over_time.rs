//! Counts rows by the steps of time in which their objects left.

use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Counts a kind's rows by the steps in which they were evicted and deleted, whatever their group. All entries of the narrow key are read, and
/// nothing else.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} COUNT(*), "ours", "evicted", "deleted"
FROM (SELECT CASE WHEN {{ group|is_of_group }} THEN 1 ELSE 0 END AS "ours",
  {{ "evict_time"|step_of(moments.len()) }} AS "evicted",
  {{ "delete_time"|step_of(moments.len()) }} AS "deleted"
FROM {{ table|by_narrow_key(*narrow) }}) AS "steps"
GROUP BY "ours", "evicted", "deleted""#
)]
pub struct EndsOverTime<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The kind's group.
    pub group: &'a GroupFilter,
    /// The ends of the steps, ascending.
    pub moments: &'a [Micros],
    /// The database has the [narrow key](ingester_core::schema::NARROW_KEY), which contains every column that the statement reads.
    pub narrow: bool,
    /// The time after which the server ends the statement.
    pub milliseconds: u64,
}

impl Statement for EndsOverTime<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let moments = || self.moments.iter().map(|moment| Param::Time(*moment));
        self.group.params().map(Param::Text).chain(moments()).chain(moments()).collect()
    }
}

/// How many rows left in the same steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The number of rows.
    pub rows: u64,
    /// The rows belong to the kind's group.
    pub is_ours: bool,
    /// The step in which they were evicted, as an index: the number of steps for a later time, one more if they never were.
    pub evicted: usize,
    /// The step in which they were deleted, in the same way.
    pub deleted: usize,
}

impl Query for EndsOverTime<'_> {
    type Row = Ends;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let place = |column| row.read_uint(column).map(|place| place as usize);
        Ok(Ends { rows: row.read_uint(0)?, is_ours: row.read_uint(1)? == 1, evicted: place(2)?, deleted: place(3)? })
    }
}
