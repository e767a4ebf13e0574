//! Counts the rows that the routes of a query find.

use crate::dialect::conditions::{RoutedQuery, count_params};
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use crate::query::{CheckedQuery, Route};
use askama::Template;

/// Counts the rows that each route finds, up to [`Routes::FEW`](crate::query::Routes::FEW). Only keys are read.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} {% for route in routes %}{% if !loop.first %}, {% endif %}({{ route|count_few }}){% endfor %}"#
)]
pub struct CountRoutes<'a> {
    routes: Vec<RouteCount<'a>>,
    milliseconds: u64,
}

#[derive(Debug)]
struct RouteCount<'a>(&'a CheckedQuery, Route);

impl RoutedQuery for RouteCount<'_> {
    fn reached(&self) -> (&CheckedQuery, Route) {
        (self.0, self.1)
    }
}

impl<'a> CountRoutes<'a> {
    /// Counts for these routes of the query. The server ends it after this many milliseconds.
    pub fn new(query: &'a CheckedQuery, routes: &[Route], milliseconds: u64) -> Self {
        CountRoutes { routes: routes.iter().map(|route| RouteCount(query, *route)).collect(), milliseconds }
    }
}

impl Statement for CountRoutes<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params_in(&self, dialect: Dialect) -> Vec<Param<'_>> {
        let mut all = Vec::new();
        for RouteCount(query, route) in &self.routes {
            count_params(query, *route, dialect.rules(), &mut all);
        }
        all
    }
}

impl Query for CountRoutes<'_> {
    type Row = Vec<u64>;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        (0..self.routes.len()).map(|place| row.read_uint(place)).collect()
    }
}
