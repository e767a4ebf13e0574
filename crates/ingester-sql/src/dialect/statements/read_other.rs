//! Reads rows of a database that is moved from, which may have fewer columns than ours.

use super::RowsToBackfill;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{Column, Ident};
use ingester_core::value::Value;

/// Reads these columns of a table in the order of its uids, without locks.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT {% for column in columns.iter() %}{% if !loop.first %}, {% endif %}{{ column|read }}{% endfor %}
FROM {{ table|ident }}
{%- match rows %}
{%- when RowsToBackfill::After { limit, .. } %}
WHERE "uid" > ?
ORDER BY "uid"
LIMIT {{ **limit|number }}
{%- when RowsToBackfill::These(uids) %}
WHERE {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid"
{%- endmatch %}"#
)]
pub struct ReadOther<'a> {
    /// The table.
    pub table: Ident,
    /// The columns to read. The table has all of them.
    pub columns: &'a [Column],
    /// The rows to read.
    pub rows: RowsToBackfill<'a>,
}

impl Statement for ReadOther<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        match self.rows {
            RowsToBackfill::After { uid, .. } => vec![Param::Text(uid)],
            RowsToBackfill::These(uids) => Param::texts(uids),
        }
    }
}

impl Query for ReadOther<'_> {
    /// The values of the columns, in their order.
    type Row = Box<[Value]>;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        self.columns.iter().enumerate().map(|(place, column)| row.read_value(place, column.ty)).collect()
    }
}
