//! Tests which route is the best one, and when we take another key than the one that has the order.

use super::{Route, Routes};
use crate::query::{Filter, Order, Query, States, Test, parse_field_selector};
use ingester_core::schema::{Column, Field, Ident, Key, Shape, SqlType, Table, TableParts};
use ingester_core::value::{Micros, Value};

const FIELDS: &[Field] = &[Field::new("owner", Shape::scalar(SqlType::VarChar(255)))];
const PARTS: TableParts = TableParts::of(FIELDS);
const COLUMNS: [Column; PARTS.column_count()] = PARTS.columns();
const KEYS: [Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);

static TABLE: Table = Table {
    kind: "Widget",
    name: Ident::new("widget"),
    was: None,
    columns: &COLUMNS,
    many: &[],
    keys: &KEYS,
    companions: true,
    history: None,
};

const FEW: u64 = Routes::FEW;

fn key(name: &'static str) -> Route {
    Route::Key(Ident::new(name))
}

fn routes(query: Query) -> Routes {
    query.check(&TABLE).unwrap().routes()
}

fn label(key: &'static str) -> Filter {
    Filter::label(key, Test::Equal(Value::text("x")))
}

fn owner() -> Filter {
    Filter::field("owner", Test::Equal(Value::text("ann")))
}

fn order(field: &'static str) -> Vec<Order> {
    vec![Order { field: field.into(), descending: true }]
}

fn about(order: Vec<Order>, filters: Vec<Filter>) -> Routes {
    routes(Query { order, filters, ..Query::default() })
}

#[test]
fn a_list_of_everything_takes_the_key_of_its_order_without_counting() {
    for (order_by, name) in
        [(vec![], "namespace_name"), (order("create_time"), "create_time"), (order("owner"), "owner")]
    {
        let routes = about(order_by, vec![]);
        assert_eq!((routes.to_count(), routes.best(&[])), (&[][..], key(name)));
        // All rows are counted: their order does not matter, and the database has a smaller key.
        assert_eq!(routes.best_to_count(&[]), Route::Free);
    }
}

#[test]
fn a_label_is_taken_where_it_finds_few_rows_and_the_order_where_it_finds_many() {
    for (order_by, ordered) in [(vec![], "namespace_name"), (order("create_time"), "create_time")] {
        let routes = about(order_by, vec![label("team")]);
        let [pairs] = routes.to_count() else { panic!("{routes:?}") };
        assert!(matches!(pairs, Route::Pairs(_)), "{routes:?}");
        for few in [0, 1, FEW - 1] {
            assert_eq!(routes.best(&[few]), *pairs, "{few}");
            assert_eq!(routes.best_to_count(&[few]), *pairs, "{few}");
        }
        // As many as are counted: there may be millions.
        assert_eq!(routes.best(&[FEW]), key(ordered));
        assert_eq!(routes.best_to_count(&[FEW]), Route::Free);
    }
}

#[test]
fn of_several_routes_the_one_with_the_fewest_rows_is_taken() {
    let routes = about(order("create_time"), vec![label("team"), label("tier"), owner()]);
    let counted = routes.to_count().to_vec();
    assert_eq!(counted.len(), 3, "{routes:?}");
    assert!(counted.contains(&key("owner")), "{routes:?}");
    for (least, route) in counted.iter().enumerate() {
        let found: Vec<u64> = (0..3).map(|place| if place == least { 7 } else { FEW }).collect();
        assert_eq!(routes.best(&found), *route);
    }
    assert_eq!(routes.best(&[FEW; 3]), key("create_time"));
}

#[test]
fn where_no_key_has_the_order_the_only_route_is_taken_uncounted() {
    let routes = about(order("res_version"), vec![owner()]);
    assert_eq!((routes.ordered, routes.to_count()), (None, &[][..]));
    assert_eq!((routes.best(&[]), routes.best_to_count(&[])), (key("owner"), key("owner")));
    // Of two, the smaller one, however large.
    let routes = about(order("res_version"), vec![owner(), label("team")]);
    let counted = routes.to_count().to_vec();
    assert_eq!(counted.len(), 2, "{routes:?}");
    assert_eq!(routes.best(&[FEW, FEW - 1]), counted[1]);
    assert_eq!(routes.best(&[FEW, FEW]), counted[0]);
    // Without any, the database chooses.
    assert_eq!(about(order("res_version"), vec![]).best(&[]), Route::Free);
}

#[test]
fn a_uid_or_a_name_in_a_namespace_is_taken_uncounted() {
    let by_uid = routes(Query { uids: vec!["u".into()], filters: vec![label("team")], ..Query::default() });
    assert_eq!((by_uid.to_count(), by_uid.best(&[])), (&[][..], Route::PRIMARY));
    let namespaces = vec!["ml".into()];
    let names = vec!["a".into()];
    let named = routes(Query { namespaces, names, filters: vec![label("team")], ..Query::default() });
    assert_eq!((named.to_count(), named.best(&[])), (&[][..], key("namespace_name")));
}

#[test]
fn a_bound_of_the_order_itself_is_compared_with_the_other_routes() {
    let since = || Filter::field("create_time", Test::Greater(Value::Time(Micros(0))));
    let alone = about(order("create_time"), vec![since()]);
    assert!(alone.is_bounded, "{alone:?}");
    // The key is also a range of what is counted.
    assert_eq!((alone.best(&[]), alone.best_to_count(&[])), (key("create_time"), key("create_time")));
    let both = about(order("create_time"), vec![since(), label("team")]);
    let [pairs, bounded] = both.to_count() else { panic!("{both:?}") };
    assert_eq!(*bounded, key("create_time"));
    assert_eq!((both.best(&[9, 3]), both.best(&[3, 9])), (*bounded, *pairs));
    assert_eq!((both.best(&[FEW, FEW]), both.best_to_count(&[FEW, FEW])), (*bounded, *bounded));
}

#[test]
fn a_range_is_found_by_the_key_of_its_column() {
    let since = |text| parse_field_selector(text).unwrap();
    let from = about(order("create_time"), since("owner>=m"));
    assert_eq!((from.to_count(), from.best(&[7, 9])), (&[key("owner"), key("create_time")][..1], key("owner")));
    let between = about(vec![], since("owner>=m,owner<n,create_time>7d ago"));
    assert_eq!(between.to_count(), [key("owner"), key("create_time")]);
    // The order of the same column is a range of its key.
    let ordered = about(order("owner"), since("owner<=m"));
    assert_eq!((ordered.ordered, ordered.is_bounded, ordered.best(&[])), (Some(key("owner")), true, key("owner")));
    // The rows that pass the negation, NULL among them, are not a range of a key.
    let negated = about(order("create_time"), since("owner<m").into_iter().map(Filter::negated).collect());
    assert_eq!((negated.to_count(), negated.is_scan()), (&[][..], true));
}

#[test]
fn what_was_deleted_is_found_by_the_time_of_its_deletion() {
    let deleted = |filters| Query { states: States::DELETED, order: order("delete_time"), filters, ..Query::default() };
    let routes = routes(deleted(vec![]));
    assert_eq!((routes.ordered, routes.is_bounded), (Some(key("delete_time")), true));
    assert_eq!((routes.best(&[]), routes.best_to_count(&[])), (key("delete_time"), key("delete_time")));
}
