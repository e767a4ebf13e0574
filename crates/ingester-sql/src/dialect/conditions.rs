//! The conditions of a checked query, as SQL and as parameters: both in the same order.

use super::Param;
use super::rules::Rules;
use crate::query::{CheckedQuery, Comparison, Condition, Operand, PairTest, Route, SortKey, States};
use ingester_core::schema::{Companion, Table, base};
use ingester_core::value::Value;

/// The row after which a page begins, or the part of an order that it is in.
///
/// An order whose first column may be NULL has two parts, one with the rows where it is NULL and one with the others: so each is a
/// range of the column's key.
#[derive(Clone, Debug, PartialEq)]
pub struct Range<'a> {
    /// True for the rows where the order's first column is NULL, false for the others; `None` if that column cannot be NULL.
    pub null: Option<bool>,
    /// The values of the order in the last row of the page before; none for the first page.
    pub after: Option<&'a [Value]>,
}

/// More conditions in one expression are nested.
const MANY: usize = 100;

/// A query and a range of its order.
pub(super) trait RangedQuery {
    fn within(&self) -> (&CheckedQuery, &Range<'_>);
}

impl<W: RangedQuery> RangedQuery for &W {
    fn within(&self) -> (&CheckedQuery, &Range<'_>) {
        (**self).within()
    }
}

/// A query and the route to its rows.
pub(super) trait RoutedQuery {
    fn reached(&self) -> (&CheckedQuery, Route);
}

impl<R: RoutedQuery> RoutedQuery for &R {
    fn reached(&self) -> (&CheckedQuery, Route) {
        (**self).reached()
    }
}

pub(super) struct Writer<'a> {
    pub(super) rules: &'a dyn Rules,
    pub(super) table: &'a Table,
    /// The rows are reached by a route of ours: nothing may be written that lets the database take another one.
    pub(super) is_routed: bool,
    pub(super) sql: String,
}

impl<'a> Writer<'a> {
    pub(super) fn new(rules: &'a dyn Rules, table: &'a Table, route: Route) -> Self {
        Writer { rules, table, is_routed: route != Route::Free, sql: String::new() }
    }

    /// The table with its rows as the route reaches them.
    pub(super) fn write_rows(&mut self, query: &CheckedQuery, route: Route) {
        let name = self.table.name;
        match route {
            Route::Free => self.push(&format!("\"{name}\"")),
            Route::Key(key) => {
                let by = self.rules.by_key(key.as_str());
                self.push(&format!("\"{name}\"{by}"));
            }
            Route::Pairs(place) => {
                self.push("(SELECT \"obj_uid\" AS \"uid of pair\" FROM ");
                self.pairs(query, place);
                let join = self.rules.facts().join_in_order;
                let by = self.rules.by_key("PRIMARY");
                self.push(&format!(
                    ") AS \"pairs\" {join} \"{name}\"{by} ON \"{name}\".\"uid\" = \"pairs\".\"uid of pair\""
                ));
            }
        }
    }

    /// The rows of a companion for which one of the conditions holds, as its key finds them.
    fn pairs(&mut self, query: &CheckedQuery, place: usize) {
        let Some(Condition::Pair { companion, key, test, .. }) = query.conditions().get(place) else { return };
        let by = companion.keys().first().map(|key| self.rules.by_key(key.name.as_str())).unwrap_or_default();
        self.push(&format!("\"{}\"{by} WHERE ", self.table.companion(*companion)));
        self.pair_test(key.is_some(), test, "");
    }

    /// Counts the rows that a route finds, up to `most`.
    pub(super) fn count(&mut self, query: &CheckedQuery, route: Route, most: u64) {
        self.push("SELECT COUNT(*) FROM (SELECT 1 AS \"found\" FROM ");
        match route {
            Route::Pairs(place) => self.pairs(query, place),
            Route::Free => self.write_rows(query, route),
            Route::Key(key) => {
                self.write_rows(query, route);
                for (place, condition) in query.conditions_of(key).enumerate() {
                    self.push(if place == 0 { " WHERE " } else { " AND " });
                    self.condition(condition);
                }
            }
        }
        self.push(&format!(" LIMIT {most}) AS \"rows found\""));
    }

    /// All conditions but the one that the route is about.
    pub(super) fn conditions(&mut self, query: &CheckedQuery, route: Route) {
        match route {
            Route::Pairs(_) => {
                let mut none = true;
                for (_, condition) in others(query, route) {
                    self.push(if none { "" } else { " AND " });
                    none = false;
                    self.condition(condition);
                }
                self.push(if none { "1 = 1" } else { "" });
            }
            _ => self.condition(query.condition()),
        }
    }

    fn push(&mut self, text: &str) {
        self.sql.push_str(text);
    }

    fn name(&mut self, place: usize) {
        let name = self.table.columns[place].name;
        self.sql.push('"');
        self.sql.push_str(name.as_str());
        self.sql.push('"');
    }

    fn parameters(&mut self, count: usize) {
        for place in 0..count {
            self.push(if place == 0 { "?" } else { ", ?" });
        }
    }

    fn joined(&mut self, conditions: &[Condition], word: &str, none: &str) {
        match conditions {
            [] => self.push(none),
            [one] => self.condition(one),
            many if many.len() > MANY => {
                // In halves, because databases limit the depth of an expression.
                let (first, second) = many.split_at(many.len() / 2);
                self.push("(");
                self.joined(first, word, none);
                self.push(word);
                self.joined(second, word, none);
                self.push(")");
            }
            several => {
                self.push("(");
                for (place, condition) in several.iter().enumerate() {
                    if place > 0 {
                        self.push(word);
                    }
                    self.condition(condition);
                }
                self.push(")");
            }
        }
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Column(place) => self.name(*place),
            Operand::Json(_) => {
                let text = self.rules.facts().json_text;
                self.push(text);
            }
        }
    }

    /// `test` of the operand, which may be NULL if that passes as well.
    fn test(&mut self, operand: &Operand, or_null: bool, test: impl FnOnce(&mut Self)) {
        if or_null {
            self.push("(");
            self.operand(operand);
            self.push(" IS NULL OR ");
        }
        self.operand(operand);
        test(self);
        if or_null {
            self.push(")");
        }
    }

    pub(super) fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::All(conditions) => self.joined(conditions, " AND ", "1 = 1"),
            Condition::Any(conditions) => self.joined(conditions, " OR ", "1 = 0"),
            Condition::Null(operand, is) => {
                self.operand(operand);
                self.push(if *is { " IS NULL" } else { " IS NOT NULL" });
            }
            Condition::Compare { operand, comparison, or_null, .. } => self.test(operand, *or_null, |this| {
                this.push(sign(*comparison));
                this.push("?");
            }),
            Condition::In { operand, values, is, or_null } => self.test(operand, *or_null, |this| {
                this.push(if *is { " IN (" } else { " NOT IN (" });
                this.parameters(values.len());
                this.push(")");
            }),
            Condition::Like { operand, is, or_null, .. } => {
                let like = self.rules.facts().like;
                self.test(operand, *or_null, |this| {
                    this.push(if *is { " " } else { " NOT " });
                    this.push(like);
                });
            }
            Condition::Pair { companion, key, test, has } => self.pair(*companion, key.is_some(), test, *has),
            Condition::States(states) => self.states(*states),
        }
    }

    /// Finds objects that have a pair by the pairs' key, and objects that have none by their own key. If we chose another route to the
    /// objects, each one is looked up.
    fn pair(&mut self, companion: Companion, of_key: bool, test: &PairTest, has: bool) {
        let table = self.table.companion(companion);
        let uid = format!("\"{}\".\"uid\"", self.table.name);
        match (has, self.is_routed) {
            (true, false) => {
                let is_all = !of_key && matches!(test, PairTest::Any);
                let condition = if is_all { "" } else { " WHERE " };
                self.push(&format!("\"uid\" IN (SELECT \"obj_uid\" FROM \"{table}\"{condition}"));
                self.pair_test(of_key, test, "");
                self.push(")");
            }
            // No database turns a subquery that ends after one row into a join.
            (true, true) => {
                self.push(&format!("1 = (SELECT 1 FROM \"{table}\" WHERE \"obj_uid\" = {uid}"));
                self.pair_test(of_key, test, " AND ");
                self.push(" LIMIT 1)");
            }
            (false, _) => {
                self.push(&format!("NOT EXISTS (SELECT 1 FROM \"{table}\" WHERE \"obj_uid\" = {uid}"));
                self.pair_test(of_key, test, " AND ");
                self.push(")");
            }
        }
    }

    /// The test of a pair, after `first` if there is a test.
    fn pair_test(&mut self, of_key: bool, test: &PairTest, first: &'static str) {
        let mut and = first;
        if of_key {
            self.push(and);
            self.push("\"key\" = ?");
            and = " AND ";
        }
        if !matches!(test, PairTest::Any) {
            self.push(and);
        }
        match test {
            PairTest::Any => {}
            PairTest::In(values) if values.is_empty() => self.push("1 = 0"),
            PairTest::In(values) => {
                self.push("\"value\" IN (");
                self.parameters(values.len());
                self.push(")");
            }
            PairTest::Compare(comparison, _) => {
                self.push("\"value\"");
                self.push(sign(*comparison));
                self.push("?");
            }
            PairTest::Number(comparison, _) => {
                let (is_number, number) = self.rules.facts().whole_number;
                self.push(&format!("{is_number} AND {number}{}?", sign(*comparison)));
            }
            PairTest::Like(_) => {
                self.push("\"value\" ");
                let like = self.rules.facts().like;
                self.push(like);
            }
        }
    }

    fn states(&mut self, states: States) {
        let deleted = self.rules.without_index("delete_time");
        let text = match states {
            States { live: true, evicted: true, deleted: true } => "1 = 1".to_owned(),
            States { live: true, evicted: true, deleted: false } => format!("{deleted} IS NULL"),
            States { live: true, evicted: false, deleted: false } => {
                format!("{deleted} IS NULL AND \"evict_time\" IS NULL")
            }
            States { live: false, evicted: true, deleted: false } => {
                format!("{deleted} IS NULL AND \"evict_time\" IS NOT NULL")
            }
            States { live: false, evicted: false, deleted: true } => "\"delete_time\" IS NOT NULL".to_owned(),
            States { live: true, evicted: false, deleted: true } => {
                "(\"delete_time\" IS NOT NULL OR \"evict_time\" IS NULL)".to_owned()
            }
            States { live: false, evicted: true, deleted: true } => {
                "(\"delete_time\" IS NOT NULL OR \"evict_time\" IS NOT NULL)".to_owned()
            }
            States { live: false, evicted: false, deleted: false } => "1 = 0".to_owned(),
        };
        self.push(&text);
    }

    pub(super) fn order(&mut self, order: &[SortKey]) {
        for (place, key) in order.iter().enumerate() {
            if place > 0 {
                self.push(", ");
            }
            let column = self.table.columns[key.place];
            let order = self.rules.order(column.name.as_str(), column.nullable, key.descending);
            self.push(&order);
        }
    }

    /// The columns that identify a row, and the columns of the order, under names that no column has.
    pub(super) fn found(&mut self, order: &[SortKey]) {
        self.push("\"uid\" AS \"found uid\"");
        if self.table.is_former() {
            self.push(", \"valid_from\" AS \"found from\"");
        }
        for (place, key) in order.iter().enumerate().filter(|(_, key)| key.place != base::UID) {
            self.push(", ");
            self.name(key.place);
            self.push(&format!(" AS \"order {place}\""));
        }
    }

    /// The order, by these names.
    pub(super) fn found_order(&mut self, order: &[SortKey]) {
        for (place, key) in order.iter().enumerate() {
            let name = if key.place == base::UID { "found uid" } else { &format!("order {place}") };
            let order = self.rules.order(name, self.table.columns[key.place].nullable, key.descending);
            self.push(if place > 0 { ", " } else { "" });
            self.push(&order);
        }
    }

    /// Writes the condition of a range, with ` AND ` in front of it.
    pub(super) fn range(&mut self, order: &[SortKey], range: &Range<'_>) {
        if let (Some(null), Some(first)) = (range.null, order.first()) {
            self.push(" AND ");
            self.name(first.place);
            self.push(if null { " IS NULL" } else { " IS NOT NULL" });
        }
        let Some(after) = range.after else { return };
        let keys = remaining(order, range, after);
        if keys.is_empty() {
            return;
        }
        self.push(" AND ");
        if self.compares_rows(&keys, range, order) {
            self.push("(");
            for (place, (key, _)) in keys.iter().enumerate() {
                if place > 0 {
                    self.push(", ");
                }
                self.name(key.place);
            }
            self.push(if keys[0].0.descending { ") < (" } else { ") > (" });
            self.parameters(keys.len());
            self.push(")");
            return;
        }
        // Each step: equal so far, and beyond here. A key is read in ranges of it.
        self.push("(");
        for step in 0..keys.len() {
            if step > 0 {
                self.push(" OR ");
            }
            self.push("(");
            for (key, value) in &keys[..step] {
                self.name(key.place);
                self.push(if **value == Value::Null { " IS NULL AND " } else { " = ? AND " });
            }
            let (key, value) = keys[step];
            let nullable = !self.never_null(key, range, order);
            match (value, key.descending) {
                (Value::Null, false) => {
                    self.name(key.place);
                    self.push(" IS NOT NULL");
                }
                // Nothing is less than NULL.
                (Value::Null, true) => self.push("1 = 0"),
                (_, false) => {
                    self.name(key.place);
                    self.push(" > ?");
                }
                (_, true) if nullable => {
                    self.push("(");
                    self.name(key.place);
                    self.push(" < ? OR ");
                    self.name(key.place);
                    self.push(" IS NULL)");
                }
                (_, true) => {
                    self.name(key.place);
                    self.push(" < ?");
                }
            }
            self.push(")");
        }
        self.push(")");
    }

    /// Returns true if the keys can be compared as one row: all go in one direction, none is NULL, and the dialect can find a range that way.
    fn compares_rows(&self, keys: &[(&SortKey, &Value)], range: &Range<'_>, order: &[SortKey]) -> bool {
        let one_way = keys.iter().all(|(key, _)| key.descending == keys[0].0.descending);
        let no_null = keys.iter().all(|(key, value)| **value != Value::Null && self.never_null(key, range, order));
        one_way && no_null && self.rules.facts().compares_rows
    }

    fn never_null(&self, key: &SortKey, range: &Range<'_>, order: &[SortKey]) -> bool {
        !self.table.columns[key.place].nullable || range.null.is_some() && order.first() == Some(key)
    }
}

/// The keys of the order with their values, without the first where it is NULL in the whole range.
fn remaining<'a>(order: &'a [SortKey], range: &Range<'_>, after: &'a [Value]) -> Vec<(&'a SortKey, &'a Value)> {
    let skipped = usize::from(range.null == Some(true));
    order.iter().zip(after).skip(skipped).collect()
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => " = ",
        Comparison::NotEqual => " <> ",
        Comparison::Less => " < ",
        Comparison::LessOrEqual => " <= ",
        Comparison::Greater => " > ",
        Comparison::GreaterOrEqual => " >= ",
    }
}

/// The parameters of a condition in this dialect.
pub(super) fn params<'a>(condition: &'a Condition, rules: &dyn Rules, params: &mut Vec<Param<'a>>) {
    let globs = rules.facts().globs;
    let operand = |operand: &'a Operand, times: usize, params: &mut Vec<Param<'a>>| {
        if let Operand::Json(path) = operand {
            let times = times * rules.facts().json_text.matches('?').count();
            (0..times).for_each(|_| params.push(Param::Text(rules.json_path(path))));
        }
    };
    match condition {
        Condition::All(conditions) | Condition::Any(conditions) => {
            conditions.iter().for_each(|condition| self::params(condition, rules, params));
        }
        Condition::Null(tested, _) => operand(tested, 1, params),
        Condition::Compare { operand: tested, value, or_null, .. } => {
            operand(tested, 1 + usize::from(*or_null), params);
            params.push(Param::Value(value));
        }
        Condition::In { operand: tested, values, or_null, .. } => {
            operand(tested, 1 + usize::from(*or_null), params);
            params.extend(values.iter().map(Param::Value));
        }
        Condition::Like { operand: tested, pattern, or_null, .. } => {
            operand(tested, 1 + usize::from(*or_null), params);
            params.push(Param::Text(pattern.render(globs)));
        }
        Condition::Pair { key, test, .. } => {
            params.extend(key.as_deref().map(Param::Text));
            match test {
                PairTest::Any => {}
                PairTest::In(values) => params.extend(values.iter().map(Param::Value)),
                PairTest::Compare(_, value) => params.push(Param::Value(value)),
                PairTest::Number(_, number) => params.push(Param::Int(*number)),
                PairTest::Like(pattern) => params.push(Param::Text(pattern.render(globs))),
            }
        }
        Condition::States(_) => {}
    }
}

/// The conditions but the one that the route is about, each with its place.
fn others(query: &CheckedQuery, route: Route) -> impl Iterator<Item = (usize, &Condition)> {
    query.conditions().iter().enumerate().filter(move |(place, _)| route != Route::Pairs(*place))
}

/// The parameters of what leads to the rows.
pub(super) fn route_params<'a>(query: &'a CheckedQuery, route: Route, rules: &dyn Rules, all: &mut Vec<Param<'a>>) {
    if let Route::Pairs(place) = route
        && let Some(condition) = query.conditions().get(place)
    {
        params(condition, rules, all);
    }
}

/// The parameters of [`Writer::count`].
pub(super) fn count_params<'a>(query: &'a CheckedQuery, route: Route, rules: &dyn Rules, all: &mut Vec<Param<'a>>) {
    route_params(query, route, rules, all);
    if let Route::Key(key) = route {
        query.conditions_of(key).for_each(|condition| params(condition, rules, all));
    }
}

/// The parameters of [`Writer::conditions`].
pub(super) fn condition_params<'a>(query: &'a CheckedQuery, route: Route, rules: &dyn Rules, all: &mut Vec<Param<'a>>) {
    others(query, route).for_each(|(_, condition)| params(condition, rules, all));
}

/// The parameters of a range.
pub(super) fn range_params<'a>(
    order: &'a [SortKey],
    range: &Range<'a>,
    table: &Table,
    rules: &dyn Rules,
    params: &mut Vec<Param<'a>>,
) {
    let Some(after) = range.after else { return };
    let keys = remaining(order, range, after);
    let writer = Writer::new(rules, table, Route::Free);
    let value = |value: &'a Value| (*value != Value::Null).then_some(Param::Value(value));
    if writer.compares_rows(&keys, range, order) {
        params.extend(keys.iter().filter_map(|(_, key)| value(key)));
        return;
    }
    for step in 0..keys.len() {
        params.extend(keys[..=step].iter().filter_map(|(_, key)| value(key)));
    }
}

/// The positions of the columns to read: the uid, the wanted columns, and the columns of the order.
pub(super) fn places(wanted: &[usize], order: &[SortKey]) -> Vec<usize> {
    let mut places = vec![base::UID];
    for place in wanted.iter().copied().chain(order.iter().map(|key| key.place)) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}
