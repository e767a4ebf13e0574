//! The fingerprint of a query: which query a continue token belongs to.

use super::{AsOf, Filter, Order, Query, States, Test};
use ingester_core::schema::{Fingerprint, Table};
use ingester_core::value::Value;

impl Query {
    /// A number that is the same for the same query about the same table, in any process on any platform. A query that differs in
    /// anything, even in the order of its filters, has another one.
    pub fn fingerprint(&self, table: &Table) -> u64 {
        // Every field is named here, so that a new one is not forgotten.
        let Query { namespaces, names, uids, states, filters, order, scan, at } = self;
        let States { live, evicted, deleted } = *states;
        let mut all = Fingerprint::NONE.text(table.name.as_str());
        for list in [namespaces, names, uids] {
            all = list.iter().fold(all.number(list.len() as u64), |all, text| all.text(text));
        }
        for flag in [live, evicted, deleted, *scan] {
            all = all.number(flag.into());
        }
        all = filters.iter().fold(all.number(filters.len() as u64), with_filter);
        all = order.iter().fold(all.number(order.len() as u64), |all, Order { field, descending }| {
            all.text(field).number((*descending).into())
        });
        // As it was before queries could name a moment.
        all = at.iter().fold(all, |all, at| match at {
            AsOf::At(moment) => all.number(moment.0.cast_unsigned()),
            AsOf::FromNow(micros) => all.number(1).number(micros.cast_unsigned()),
        });
        all.as_u64()
    }
}

// A value of several forms begins with a number for its form, and a list with its length. So no two queries put the same in.

fn with_filter(all: Fingerprint, filter: &Filter) -> Fingerprint {
    match filter {
        Filter::And(filters) => filters.iter().fold(all.number(1).number(filters.len() as u64), with_filter),
        Filter::Or(filters) => filters.iter().fold(all.number(2).number(filters.len() as u64), with_filter),
        Filter::Not(filter) => with_filter(all.number(3), filter),
        Filter::Field { field, test } => with_test(all.number(4).text(field), test),
        Filter::Label { key, test } => with_test(all.number(5).text(key), test),
        Filter::Annotation { key, test } => with_test(all.number(6).text(key), test),
        Filter::UnknownName { field, name, .. } => all.number(7).text(field).text(name),
    }
}

fn with_test(all: Fingerprint, test: &Test) -> Fingerprint {
    match test {
        Test::Exists => all.number(1),
        Test::Equal(value) => with_value(all.number(2), value),
        Test::Less(value) => with_value(all.number(3), value),
        Test::LessOrEqual(value) => with_value(all.number(4), value),
        Test::Greater(value) => with_value(all.number(5), value),
        Test::GreaterOrEqual(value) => with_value(all.number(6), value),
        Test::In(values) => values.iter().fold(all.number(7).number(values.len() as u64), with_value),
        Test::Like(pattern) => all.number(8).text(pattern),
        Test::Empty => all.number(9),
    }
}

fn with_value(all: Fingerprint, value: &Value) -> Fingerprint {
    match value {
        Value::Null => all.number(1),
        Value::Bool(value) => all.number(2).number((*value).into()),
        Value::Int(value) => all.number(3).number(value.cast_unsigned()),
        Value::UInt(value) => all.number(4).number(*value),
        Value::Double(value) => all.number(5).number(value.to_bits()),
        Value::Text(value) => all.number(6).text(value),
        Value::Bytes(value) => {
            value.iter().fold(all.number(7).number(value.len() as u64), |all, byte| all.number((*byte).into()))
        }
        Value::Time(value) => all.number(8).number(value.0.cast_unsigned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::MODEL;
    use crate::query::{Filter, Order, Query, States, Test};
    use ingester_core::value::{Micros, Value};
    use std::collections::HashMap;

    #[test]
    fn a_fingerprint_is_the_same_in_every_release() {
        let query = Query {
            namespaces: vec!["ml".into()],
            states: States::ALL,
            filters: vec![
                Filter::label("team", Test::In(vec![Value::text("a"), Value::Null])).negated(),
                Filter::field("size", Test::Less(Value::Double(0.5))),
            ],
            order: vec![Order { field: "create_time".into(), descending: true }],
            ..Query::default()
        };
        // Another number would end the paging of clients that hold a token during an update.
        assert_eq!(format!("{:016x}", query.fingerprint(MODEL.table())), "f4c5acbea460ef8a");
        assert_eq!(query.clone().fingerprint(MODEL.table()), query.fingerprint(MODEL.table()));
    }

    #[test]
    fn queries_that_differ_have_other_fingerprints() {
        let of = |filters: Vec<Filter>| Query { filters, ..Query::default() };
        let field = |test| of(vec![Filter::field("a", test)]);
        let [a, b] = ["a", "b"].map(|name| Filter::field(name, Test::Exists));
        let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let mut queries = vec![
            Query::default(),
            Query { namespaces: strings(&["a"]), ..Query::default() },
            Query { namespaces: strings(&["a", "b"]), ..Query::default() },
            Query { namespaces: strings(&["b", "a"]), ..Query::default() },
            Query { namespaces: strings(&["ab"]), ..Query::default() },
            Query { namespaces: strings(&["a"]), names: strings(&["b"]), ..Query::default() },
            Query { names: strings(&["a"]), ..Query::default() },
            Query { names: strings(&["a", "b"]), ..Query::default() },
            Query { uids: strings(&["a"]), ..Query::default() },
            Query { states: States::ALL, ..Query::default() },
            Query { states: States::LIVE, ..Query::default() },
            Query { states: States::EVICTED, ..Query::default() },
            Query { states: States::DELETED, ..Query::default() },
            Query { scan: true, ..Query::default() },
            Query { order: vec![Order { field: "a".into(), descending: false }], ..Query::default() },
            Query { order: vec![Order { field: "a".into(), descending: true }], ..Query::default() },
            of(vec![a.clone()]),
            of(vec![b.clone()]),
            of(vec![a.clone(), b.clone()]),
            of(vec![b.clone(), a.clone()]),
            of(vec![a.clone().negated()]),
            of(vec![a.clone().and(b.clone())]),
            of(vec![a.clone().or(b.clone())]),
            of(vec![a.clone().or(b.clone()).negated()]),
            of(vec![a.clone().negated().or(b.clone())]),
            of(vec![a.clone().or(b.clone().negated())]),
            of(vec![Filter::And(vec![a.clone()]), b.clone()]),
            of(vec![Filter::And(vec![]), a.clone(), b.clone()]),
            of(vec![Filter::label("a", Test::Exists)]),
            of(vec![Filter::Annotation { key: "a".into(), test: Test::Exists }]),
            field(Test::Like("a".into())),
            field(Test::Empty),
            field(Test::In(vec![])),
            field(Test::In(vec![Value::text("a")])),
            field(Test::In(vec![Value::text("a"), Value::text("b")])),
            field(Test::Less(Value::text("a"))),
            field(Test::LessOrEqual(Value::text("a"))),
            field(Test::Greater(Value::text("a"))),
            field(Test::GreaterOrEqual(Value::text("a"))),
        ];
        queries.extend(
            [
                Value::Null,
                Value::Bool(false),
                Value::Bool(true),
                Value::Int(0),
                Value::Int(1),
                Value::Int(-1),
                Value::UInt(1),
                Value::Double(1.0),
                Value::Double(0.0),
                Value::Double(-0.0),
                Value::text(""),
                Value::text("a"),
                Value::text("1"),
                Value::Bytes([1].into()),
                Value::Bytes([1, 0].into()),
                Value::Time(Micros(1)),
            ]
            .map(|value| field(Test::Equal(value))),
        );
        let mut seen = HashMap::new();
        for query in &queries {
            if let Some(other) = seen.insert(query.fingerprint(MODEL.table()), query) {
                panic!("{query:?} and {other:?} have one fingerprint");
            }
        }
    }
}
