//! Counts rows by the steps of time in which their objects were created.

use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Counts a kind's rows by the steps in which they were created. If all rows of the table are of the kind's group, only the key of the creation
/// times is read, otherwise the rows are.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} COUNT(*), "created"
FROM (SELECT {{ "create_time"|step_of(moments.len()) }} AS "created"
FROM {% if let Some(group) = group %}{{ table.name|ident }}
WHERE {{ group|is_of_group }}{% else %}{{ table.name|by_key("create_time") }}{% endif %}) AS "steps"
GROUP BY "created""#
)]
pub struct CreatedOverTime<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The kind's group, if the table has rows of others.
    pub group: Option<&'a GroupFilter>,
    /// The ends of the steps, ascending.
    pub moments: &'a [Micros],
    /// The time after which the server ends the statement.
    pub milliseconds: u64,
}

impl Statement for CreatedOverTime<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let moments = self.moments.iter().map(|moment| Param::Time(*moment));
        moments.chain(self.group.into_iter().flat_map(GroupFilter::params).map(Param::Text)).collect()
    }
}

impl Query for CreatedOverTime<'_> {
    /// The number of rows, and the place of their step: the number of steps for a later time, one more if the time is not known.
    type Row = (u64, usize);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_uint(0)?, row.read_uint(1)? as usize))
    }
}
