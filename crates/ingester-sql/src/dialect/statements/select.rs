//! Reads a page of the rows that a query asks for.

use crate::dialect::conditions::{RangedQuery, RoutedQuery, condition_params, places, range_params, route_params};
use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Range, Sql, Statement, filters};
use crate::query::{CheckedQuery, Route};
use askama::Template;
use ingester_core::schema::{Column, base};
use ingester_core::value::Value;

/// Reads a page of the rows that a query asks for, in its order, without locks.
///
/// Where large columns are wanted, the page is found, sorted and cut first, and only its rows' columns are read. Else a database would
/// read and sort the texts of all rows that match: MySQL refuses that where one of them is larger than its memory for sorting.
#[derive(Clone, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} {% for column in columns %}{% if !loop.first %}, {% endif %}{{ column|read }}{% endfor %}
FROM {% if in_two_steps %}(SELECT {{ query|found }}
FROM {% endif %}{{ self|rows_reached }}
WHERE {{ group|is_of_group }} AND {{ self|holds }}{{ self|is_within }}
ORDER BY {{ query|order_of }}
LIMIT {{ limit|number }}{% if in_two_steps %}) AS "page"
{{ query.table()|join_by_uid }} ON "uid" = "found uid"{% if query.table().is_former() %} AND "valid_from" = "found from"{% endif %}
ORDER BY {{ query|found_order }}{% endif %}"#
)]
pub struct Select<'a> {
    query: &'a CheckedQuery,
    group: &'a GroupFilter,
    range: &'a Range<'a>,
    route: Route,
    columns: Vec<Column>,
    reads_texts: bool,
    in_two_steps: bool,
    limit: usize,
    milliseconds: u64,
}

impl<'a> Select<'a> {
    /// The page of up to `limit` rows of the range, with the columns at the places of [`Select::places`]. The server ends it after so
    /// many milliseconds.
    pub fn new(
        query: &'a CheckedQuery,
        group: &'a GroupFilter,
        wanted: &[usize],
        (range, route): (&'a Range<'a>, Route),
        limit: usize,
        milliseconds: u64,
    ) -> Self {
        let places = places(wanted, query.order());
        let reads_texts = [base::JSON, base::PROTO].iter().any(|place| places.contains(place));
        // A key that has the order yields the rows of the page and few others, unsorted.
        let is_cut = || {
            let routes = query.routes();
            routes.is_plain && routes.ordered.is_some_and(|ordered| route == Route::Free || route == ordered)
        };
        let in_two_steps = reads_texts && !is_cut();
        let columns = places.into_iter().map(|place| query.table().columns[place]).collect();
        Select { query, group, range, route, columns, reads_texts, in_two_steps, limit, milliseconds }
    }

    /// Returns the positions of the columns that are read if these are wanted: the uid comes first, and the columns of the order are
    /// included.
    pub fn places(query: &CheckedQuery, wanted: &[usize]) -> Vec<usize> {
        places(wanted, query.order())
    }
}

impl RoutedQuery for Select<'_> {
    fn reached(&self) -> (&CheckedQuery, Route) {
        (self.query, self.route)
    }
}

impl RangedQuery for Select<'_> {
    fn within(&self) -> (&CheckedQuery, &Range<'_>) {
        (self.query, self.range)
    }
}

impl Statement for Select<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        // Where routes are chosen, a free route means that a key is missing: nothing yields the rows in their order.
        let is_sorted = self.reads_texts && self.route == Route::Free && dialect.has_routes();
        match is_sorted && !self.in_two_steps {
            true => dialect.render(&Select { in_two_steps: true, ..self.clone() }),
            false => dialect.render(self),
        }
    }

    fn params_in(&self, dialect: Dialect) -> Vec<Param<'_>> {
        let rules = dialect.rules();
        let mut all = Vec::new();
        route_params(self.query, self.route, rules, &mut all);
        all.extend(self.group.params().map(Param::Text));
        condition_params(self.query, self.route, rules, &mut all);
        range_params(self.query.order(), self.range, self.query.table(), rules, &mut all);
        all
    }
}

impl Query for Select<'_> {
    type Row = Box<[Value]>;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        // A page has many rows, so each is allocated at once.
        let mut values = Vec::with_capacity(self.columns.len());
        for (place, column) in self.columns.iter().enumerate() {
            values.push(row.read_value(place, column.ty)?);
        }
        Ok(values.into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;
    use crate::query::{Condition, Filter, Order, Query, States, Test};
    use ingester_core::schema::Ident;

    fn checked(query: Query) -> CheckedQuery {
        query.check(&TABLE).unwrap()
    }

    fn order(field: &'static str, descending: bool) -> Order {
        Order { field: field.into(), descending }
    }

    #[test]
    fn reads_well() {
        let group = &GroupFilter::new("example.com");
        let everything = checked(Query::default());
        let newest = checked(Query {
            namespaces: vec!["ml".into()],
            names: vec!["a".into(), "b".into()],
            order: vec![order("create_time", true)],
            ..Query::default()
        });
        let one = || Value::text("ann");
        let filtered = checked(Query {
            states: States::LIVE,
            filters: vec![
                Filter::field("owner", Test::Equal(one())).negated(),
                Filter::field("tier", Test::In(vec![Value::Int(1), Value::Int(2)]))
                    .or(Filter::field("owner", Test::Empty)),
                Filter::field("owner", Test::Like("a%".into())),
                Filter::label("team", Test::In(vec![one(), Value::text("bob")])),
                Filter::label("team", Test::Equal(one())).negated(),
                Filter::label("tier", Test::Greater(Value::Int(3))),
                Filter::field("spec.colour", Test::Equal(Value::text("red"))),
            ],
            order: vec![order("owner", false), order("tier", true)],
            scan: true,
            ..Query::default()
        });
        let labelled =
            filtered.conditions().iter().position(|condition| matches!(condition, Condition::Pair { .. })).unwrap();
        let former = Query { order: vec![order("tier", false)], ..Query::default() }.check(&FORMER).unwrap();
        let first = &Range { null: None, after: None };
        let names = [Value::text("ml"), Value::text("a"), Value::text("uid")];
        let later = &Range { null: None, after: Some(&names) };
        let time = [Value::Time(NOW), Value::text("uid")];
        let (times, none) =
            (&Range { null: Some(false), after: Some(&time) }, &Range { null: Some(true), after: None });
        let owner = [Value::text("ann"), Value::Int(1), Value::text("uid")];
        let owners = &Range { null: Some(false), after: Some(&owner) };
        let json = &[ingester_core::schema::base::JSON][..];
        snapshot_of(
            "Select",
            &[
                &Select::new(&everything, group, json, (first, Route::Free), 16, 30_000),
                &Select::new(&everything, group, json, (later, Route::Key(Ident::new("namespace_name"))), 16, 30_000),
                &Select::new(&newest, group, &[], (times, Route::Free), 16, 500),
                &Select::new(&newest, group, json, (none, Route::Key(Ident::new("namespace_name"))), 16, 500),
                &Select::new(&filtered, group, &[], (first, Route::Free), 16, 30_000),
                &Select::new(&filtered, group, json, (owners, Route::Pairs(labelled)), 16, 30_000),
                &Select::new(
                    &former,
                    group,
                    json,
                    (&Range { null: Some(false), after: None }, Route::Free),
                    16,
                    30_000,
                ),
            ],
        );
    }
}
