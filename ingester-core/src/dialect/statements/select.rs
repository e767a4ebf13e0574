//! A page of the rows that a query asks for.

use crate::dialect::conditions::{Within, params, places, range_params};
use crate::dialect::{Columns, Dialect, OfGroup, Param, Query, Range, Sql, Statement, filters};
use crate::query::Checked;
use crate::schema::Column;
use crate::value::Value;
use askama::Template;

/// Reads a page of the rows that a query asks for, in its order, without locks.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} {% for column in columns %}{% if !loop.first %}, {% endif %}{{ column|read }}{% endfor %}
FROM {{ query.table().name|ident }}
WHERE {{ group|is_of_group }} AND {{ query|holds }}{{ self|is_within }}
ORDER BY {{ query|order_of }}
LIMIT {{ limit|number }}"#
)]
pub struct Select<'a> {
    query: &'a Checked,
    group: &'a OfGroup,
    range: &'a Range<'a>,
    columns: Vec<Column>,
    limit: usize,
    milliseconds: u64,
}

impl<'a> Select<'a> {
    /// The page of up to `limit` rows of the range, with the columns at the places of [`Select::places`]. The server ends it after so
    /// many milliseconds.
    pub fn new(
        query: &'a Checked,
        group: &'a OfGroup,
        wanted: &[usize],
        range: &'a Range<'a>,
        limit: usize,
        milliseconds: u64,
    ) -> Self {
        let columns = places(wanted, query.order()).into_iter().map(|place| query.table().columns[place]).collect();
        Select { query, group, range, columns, limit, milliseconds }
    }

    /// The places of the columns that are read where these are wanted: the uid first, and those of the order as well.
    pub fn places(query: &Checked, wanted: &[usize]) -> Vec<usize> {
        places(wanted, query.order())
    }
}

impl Within for Select<'_> {
    fn within(&self) -> (&Checked, &Range<'_>) {
        (self.query, self.range)
    }
}

impl Statement for Select<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params_in(&self, dialect: Dialect) -> Vec<Param<'_>> {
        let rules = dialect.rules();
        let mut all: Vec<Param<'_>> = self.group.params().map(Param::Text).collect();
        params(self.query.condition(), rules, &mut all);
        range_params(self.query.order(), self.range, self.query.table(), rules, &mut all);
        all
    }
}

impl Query for Select<'_> {
    type Row = Box<[Value]>;

    fn read<C: Columns>(&self, row: &C) -> Result<Self::Row, C::Error> {
        self.columns.iter().enumerate().map(|(place, column)| row.value(place, column.ty)).collect()
    }
}
