//! Counts the rows of a query.

use crate::dialect::conditions::{RoutedQuery, condition_params, route_params};
use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Sql, Statement, filters};
use crate::query::{CheckedQuery, Route};
use askama::Template;
use ingester_core::schema::Column;
use ingester_core::value::Value;

/// Counts the rows that a query asks for, as one number or for each value of a column, the most frequent value first.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} COUNT(*){% if let Some(column) = by %}, {{ column|read }}{% endif %}
FROM {{ self|rows_reached }}
WHERE {{ group|is_of_group }} AND {{ self|holds }}{% if let Some(column) = by %}
GROUP BY {{ column.name|ident }}
ORDER BY COUNT(*) DESC, {{ column|ascending }}
LIMIT {{ limit|number }}{% endif %}"#
)]
pub struct CountRows<'a> {
    /// The query.
    pub query: &'a CheckedQuery,
    /// The route to its rows.
    pub route: Route,
    /// The kind's group.
    pub group: &'a GroupFilter,
    /// Count the rows for each value of this column.
    pub by: Option<&'a Column>,
    /// The most values.
    pub limit: usize,
    /// The time after which the server ends the statement.
    pub milliseconds: u64,
}

impl RoutedQuery for CountRows<'_> {
    fn reached(&self) -> (&CheckedQuery, Route) {
        (self.query, self.route)
    }
}

impl Statement for CountRows<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params_in(&self, dialect: Dialect) -> Vec<Param<'_>> {
        let rules = dialect.rules();
        let mut all = Vec::new();
        route_params(self.query, self.route, rules, &mut all);
        all.extend(self.group.params().map(Param::Text));
        condition_params(self.query, self.route, rules, &mut all);
        all
    }
}

impl Query for CountRows<'_> {
    type Row = (u64, Value);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_uint(0)?, self.by.map_or(Ok(Value::Null), |column| row.read_value(1, column.ty))?))
    }
}
