//! Which keys serve a query: the one that has its order, and those that find its rows.
//!
//! A database chooses by statistics, which are wrong after a first fill and for long afterwards. So a key is chosen here: the one that
//! has the order, unless another one finds so few rows that sorting them is cheaper. Rows are counted for that, up to [`Routes::FEW`].

use super::States;
use super::check::{CheckedQuery, Comparison, Condition, Operand, PairTest, SortKey};
use ingester_core::schema::{Companion, Form, Ident, Key, Many, base};

/// How the rows of a query are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// As the database chooses.
    Free,
    /// Through this key of the main table.
    Key(Ident),
    /// Through the key of a companion: the place of its [`Condition::Pair`] among the conditions of the query.
    Pairs(usize),
}

impl Route {
    /// The primary key.
    pub const PRIMARY: Route = Route::Key(Ident::tolerant("PRIMARY", ""));
}

/// The routes to the rows of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    /// The key that has the order.
    pub ordered: Option<Route>,
    /// A condition bounds the range that is read of that key.
    pub is_bounded: bool,
    /// All rows behind that key belong to the query unless their state excludes them, so few are read in vain.
    pub is_plain: bool,
    /// A condition is about the stored JSON, so texts are read to find rows.
    pub reads_texts: bool,
    /// The routes that find rows; the one that finds the fewest is taken.
    pub compared: Vec<Route>,
    /// The only route in `compared` finds few rows, whatever is stored: it is a uid, or a name in a namespace.
    pub is_certain: bool,
}

impl Routes {
    /// Fewer rows than this are found and sorted for each page. If there are more, the key that has the order soon fills a page, so it is
    /// taken.
    pub const FEW: u64 = 4000;

    /// The best route to count all rows, whose order does not matter.
    pub fn best_to_count(&self, found: &[u64]) -> Route {
        match self.best(found) {
            route if Some(route) == self.ordered && !self.is_bounded => Route::Free,
            route => route,
        }
    }

    /// Returns the routes whose rows have to be counted before the best one is known.
    pub fn to_count(&self) -> &[Route] {
        let alone = usize::from(self.ordered.is_none());
        if self.is_certain || self.compared.len() <= alone { &[] } else { &self.compared }
    }

    /// True if a whole table may be read: its texts, to find rows; all rows that are found, to sort them; or, because no key finds rows,
    /// the key that has the order, including rows that the query does not select.
    pub fn is_scan(&self) -> bool {
        let sorts_many = self.ordered.is_none() && !self.is_certain;
        let reads_in_vain = self.compared.is_empty() && !self.is_plain;
        self.reads_texts || sorts_many || reads_in_vain
    }

    /// The best route; `found` tells how many rows each [route to count](Routes::to_count) finds.
    pub fn best(&self, found: &[u64]) -> Route {
        let least = match &self.compared[..] {
            [only] if found.is_empty() => Some((0, *only)),
            routes => found.iter().copied().zip(routes.iter().copied()).min_by_key(|(found, _)| *found),
        };
        match (least, self.ordered) {
            (Some((found, _)), Some(ordered)) if found >= Self::FEW => ordered,
            (Some((_, route)), _) => route,
            (None, Some(ordered)) => ordered,
            (None, None) => Route::Free,
        }
    }
}

impl CheckedQuery {
    /// Returns all conditions. Each must hold.
    pub fn conditions(&self) -> &[Condition] {
        match self.condition() {
            Condition::All(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    /// The keys that serve it.
    pub fn routes(&self) -> Routes {
        let table = self.table();
        let bound = |key: &&Key| key.columns().iter().take_while(|place| self.is_one(usize::from(**place))).count();
        let first = |key: &Key| key.columns().first().map(|place| usize::from(*place));
        let ordered = table.keys.iter().filter(|key| self.has_order(key)).max_by_key(bound);
        let mut finding: Vec<Route> = Vec::new();
        let mut is_plain = true;
        let mut is_bounded = false;
        for (place, condition) in self.conditions().iter().enumerate() {
            if matches!(condition, Condition::States(states) if states.live || states.evicted) {
                continue;
            }
            let column = tested(condition);
            if column.is_some() && ordered.and_then(first) == column {
                is_bounded = true;
                continue;
            }
            if column.is_some_and(|column| ordered.is_some_and(|key| key.columns().contains(&(column as u16)))) {
                is_plain &= column.is_some_and(|column| self.is_one(column));
                continue;
            }
            is_plain = false;
            let route = match column {
                Some(base::UID) => Some(Route::PRIMARY),
                Some(column) => {
                    let keys = table.keys.iter().filter(|key| first(key) == Some(column));
                    keys.max_by_key(bound).map(|key| Route::Key(key.name))
                }
                None => finds_pairs(condition).then_some(Route::Pairs(place)),
            };
            let new = route.filter(|route| !finding.contains(route));
            finding.extend(new);
        }
        // A uid has one row.
        let is_by_uid = matches!(self.order(), [only] if only.place == base::UID) || self.is_one(base::UID);
        is_plain |= self.is_one(base::UID);
        let ordered = ordered.map(|key| Route::Key(key.name)).or(is_by_uid.then_some(Route::PRIMARY));
        let is_named = [base::NAMESPACE, base::NAME].iter().all(|place| self.is_one(*place));
        let of_names = |key: &&Key| key.columns() == [base::NAMESPACE as u16, base::NAME as u16];
        let of_names = table.keys.iter().find(of_names).filter(|_| is_named).map(|key| Route::Key(key.name));
        let certain = if finding.contains(&Route::PRIMARY) { Some(Route::PRIMARY) } else { of_names };
        let compared = match certain {
            Some(certain) => vec![certain],
            None if finding.is_empty() => finding,
            None => {
                let bounded = ordered.filter(|route| is_bounded && !finding.contains(route));
                finding.into_iter().chain(bounded).collect()
            }
        };
        let reads_texts = reads_texts(self.condition());
        let is_certain = certain.is_some();
        Routes { ordered, is_bounded, is_plain, reads_texts, compared, is_certain }
    }

    /// The conditions by which a key of the main table finds rows: those on its first columns.
    pub(crate) fn conditions_of(&self, name: Ident) -> impl Iterator<Item = &Condition> {
        let key = self.table().keys.iter().find(|key| key.name == name);
        let places = key.map_or(&[base::UID as u16][..], Key::columns).iter().map(|place| usize::from(*place));
        let fixed = places.clone().take_while(|place| self.is_one(*place)).count();
        let places: Vec<usize> = places.take(fixed + 1).collect();
        self.conditions().iter().filter(move |condition| tested(condition).is_some_and(|place| places.contains(&place)))
    }

    /// True if the column at this place has only one value in all rows of the query.
    fn is_one(&self, place: usize) -> bool {
        self.conditions().iter().any(|condition| {
            matches!(condition, Condition::Compare { operand: Operand::Column(column), comparison: Comparison::Equal, or_null: false, .. }
                if *column == place)
        })
    }

    /// True if this key, which ends with the uid, has the order.
    fn has_order(&self, key: &Key) -> bool {
        let varies = |place: &usize| !self.is_one(*place);
        let columns = key.columns().iter().map(|place| usize::from(*place)).filter(varies);
        let order: Vec<&SortKey> = self.order().iter().filter(|step| varies(&step.place)).collect();
        let places = order.iter().map(|step| step.place);
        places.eq(columns.chain([base::UID])) && order.iter().all(|step| step.descending == order[0].descending)
    }
}

/// The column that a condition tests in such a way that a key on it finds the rows.
fn tested(condition: &Condition) -> Option<usize> {
    match condition {
        Condition::States(States { live: false, evicted: false, deleted: true }) => Some(base::DELETE_TIME),
        Condition::Null(Operand::Column(column), _) => Some(*column),
        Condition::Compare { operand: Operand::Column(column), comparison, or_null: false, .. }
            if *comparison != Comparison::NotEqual =>
        {
            Some(*column)
        }
        Condition::In { operand: Operand::Column(column), is: true, or_null: false, .. } => Some(*column),
        _ => None,
    }
}

/// True if the key of a companion finds the rows for which the condition holds, and finds each only once.
fn finds_pairs(condition: &Condition) -> bool {
    let Condition::Pair { companion, key, test, has: true } = condition else { return false };
    match (companion, test) {
        (Companion::Annotations, _) => false,
        (Companion::Values(Many { form: Form::List, .. }), PairTest::In(values)) => values.len() == 1,
        (_, PairTest::In(values)) => key.is_some() && !values.is_empty(),
        (_, PairTest::Any) => key.is_some(),
        _ => false,
    }
}

fn reads_texts(condition: &Condition) -> bool {
    match condition {
        Condition::All(all) | Condition::Any(all) => all.iter().any(reads_texts),
        Condition::Null(operand, _)
        | Condition::Compare { operand, .. }
        | Condition::In { operand, .. }
        | Condition::Like { operand, .. } => matches!(operand, Operand::Json(_)),
        Condition::Pair { .. } | Condition::States(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::MODEL;
    use crate::query::{Filter, Order, Query, States, Test, parse_label_selector};
    use ingester_core::value::Value;

    fn make_query(filters: impl IntoIterator<Item = Filter>) -> Query {
        Query { filters: filters.into_iter().collect(), ..Query::default() }
    }

    fn label(selector: &str) -> Query {
        make_query(parse_label_selector(selector).unwrap())
    }

    fn by(field: &'static str, query: Query) -> Query {
        Query { order: vec![Order { field: field.into(), descending: true }], ..query }
    }

    fn within(namespaces: &[&str], query: Query) -> Query {
        Query { namespaces: namespaces.iter().map(|name| (*name).to_owned()).collect(), ..query }
    }

    fn named(query: Query) -> Query {
        Query { names: vec!["a".into()], ..query }
    }

    fn field(field: &'static str, test: Test) -> Filter {
        Filter::field(field, test)
    }

    #[test]
    fn a_query_scans_where_no_key_bounds_what_is_read() {
        let seven = || field("res_version", Test::Equal(Value::UInt(7)));
        let recent = || field("create_time", Test::Greater(Value::text("2026-01-31")));
        let colour = || field("spec.colour", Test::Equal(Value::text("red")));
        let uid = || Query { uids: vec!["u".into()], ..Query::default() };
        let deleted = || Query { states: States::DELETED, ..Query::default() };
        let cases = [
            // The key that has the order has the rows as well.
            ("everything", make_query([]), false),
            ("a namespace", within(&["ml"], make_query([])), false),
            ("namespaces", within(&["ml", "lab"], make_query([])), false),
            ("evicted objects", Query { states: States::EVICTED, ..Query::default() }, false),
            ("the newest", by("create_time", make_query([])), false),
            ("the newest of a namespace", by("create_time", within(&["ml"], make_query([]))), false),
            // A key finds the rows.
            ("a name", within(&["ml"], named(make_query([]))), false),
            ("a uid", uid(), false),
            ("a label", label("a=b"), false),
            ("a label of some values", label("a in (b,c)"), false),
            ("a label, and not another", label("a=b,c!=d"), false),
            ("those since a time", make_query([recent()]), false),
            ("deleted ones", deleted(), false),
            // Few rows are sorted.
            ("a name, by a column without a key", by("res_version", within(&["ml"], named(make_query([])))), false),
            ("a uid, by a column without a key", by("res_version", uid()), false),
            // Many may be.
            ("all, by a column without a key", by("res_version", make_query([])), true),
            ("a namespace, by a column without a key", by("res_version", within(&["ml"], make_query([]))), true),
            ("a label, by a column without a key", by("res_version", label("a=b")), true),
            ("namespaces, by name", by("name", within(&["ml", "lab"], make_query([]))), true),
            // Rows are read in vain.
            ("a column without a key", make_query([seven()]), true),
            ("a column without a key in a namespace", within(&["ml"], make_query([seven()])), true),
            ("not this label", label("a!=b"), true),
            ("without a label", label("!a"), true),
            ("an annotation", make_query([Filter::Annotation { key: "a".into(), test: Test::Exists }]), true),
            ("this or that", make_query([recent().or(seven())]), true),
            // Texts are read.
            ("a field without a column", Query { scan: true, ..make_query([colour()]) }, true),
            ("a uid and a field without a column", Query { scan: true, filters: vec![colour()], ..uid() }, true),
            ("a label or a field without a column", Query { scan: true, ..make_query([recent().or(colour())]) }, true),
        ];
        for (what, query, expected) in cases {
            let routes = query.check(MODEL.table()).unwrap().routes();
            assert_eq!(routes.is_scan(), expected, "{what}: {routes:?}");
        }
    }
}

#[cfg(test)]
mod routes_tests;
