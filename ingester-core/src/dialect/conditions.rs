//! The conditions of a checked query, as SQL and as parameters: both in the same order.

use super::Param;
use super::rules::Rules;
use crate::query::{Checked, Comparison, Condition, Operand, PairTest, SortKey, States};
use crate::schema::{Companion, Table, base};
use crate::value::Value;

/// What a page comes after, or which part of an order it is of.
///
/// An order whose first column may be NULL has two parts, one with the rows where it is NULL and one with the others: so each is a
/// range of the column's key.
#[derive(Clone, Debug, PartialEq)]
pub struct Range<'a> {
    /// Whether the first column of the order is NULL; `None` if it cannot be.
    pub null: Option<bool>,
    /// The values of the order in the last row of the page before; none for the first page.
    pub after: Option<&'a [Value]>,
}

/// More conditions in one expression are nested.
const MANY: usize = 100;

/// A query and a range of its order.
pub(super) trait Within {
    fn within(&self) -> (&Checked, &Range<'_>);
}

impl<W: Within> Within for &W {
    fn within(&self) -> (&Checked, &Range<'_>) {
        (**self).within()
    }
}

pub(super) struct Writer<'a> {
    pub(super) rules: &'a dyn Rules,
    pub(super) table: &'a Table,
    pub(super) sql: String,
}

impl Writer<'_> {
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
                // In halves, because databases bound how deep an expression is.
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
                let text = self.rules.json_text();
                self.push(text);
            }
        }
    }

    /// `test` of the operand, which may be NULL where that passes as well.
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
                let like = self.rules.like();
                self.test(operand, *or_null, |this| {
                    this.push(if *is { " " } else { " NOT " });
                    this.push(like);
                });
            }
            Condition::Pair { companion, key, test, has } => self.pair(*companion, key.is_some(), test, *has),
            Condition::States(states) => self.states(*states),
        }
    }

    /// An object that has a pair is found by the pairs' key, one that has none by its own.
    fn pair(&mut self, companion: Companion, of_key: bool, test: &PairTest, has: bool) {
        let table = self.table.companion(companion);
        let mut and = " WHERE ";
        if has {
            self.push(&format!("\"uid\" IN (SELECT \"obj_uid\" FROM \"{table}\""));
        } else {
            let uid = format!("\"{}\".\"uid\"", self.table.name);
            self.push(&format!("NOT EXISTS (SELECT 1 FROM \"{table}\" WHERE \"obj_uid\" = {uid}"));
            and = " AND ";
        }
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
                let (is_number, number) = self.rules.whole_number();
                self.push(&format!("{is_number} AND {number}{}?", sign(*comparison)));
            }
            PairTest::Like(_) => {
                self.push("\"value\" ");
                let like = self.rules.like();
                self.push(like);
            }
        }
        self.push(")");
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
            self.name(key.place);
            if key.descending {
                self.push(" DESC");
            }
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
        // Each step: equal so far, and further here. A key is read in ranges of it.
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

    /// Whether the keys are compared as one row: all in one direction, none NULL, and the dialect finds a range like that.
    fn compares_rows(&self, keys: &[(&SortKey, &Value)], range: &Range<'_>, order: &[SortKey]) -> bool {
        let one_way = keys.iter().all(|(key, _)| key.descending == keys[0].0.descending);
        let no_null = keys.iter().all(|(key, value)| **value != Value::Null && self.never_null(key, range, order));
        one_way && no_null && self.rules.compares_rows()
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
    let globs = rules.globs();
    let operand = |operand: &'a Operand, times: usize, params: &mut Vec<Param<'a>>| {
        if let Operand::Json(path) = operand {
            (0..times).for_each(|_| params.push(Param::Text(path)));
        }
    };
    match condition {
        Condition::All(conditions) | Condition::Any(conditions) => {
            conditions.iter().for_each(|condition| self::params(condition, rules, params));
        }
        Condition::Null(tested, _) => operand(tested, JSON_PATHS, params),
        Condition::Compare { operand: tested, value, or_null, .. } => {
            operand(tested, JSON_PATHS * (1 + usize::from(*or_null)), params);
            params.push(Param::Value(value));
        }
        Condition::In { operand: tested, values, or_null, .. } => {
            operand(tested, JSON_PATHS * (1 + usize::from(*or_null)), params);
            params.extend(values.iter().map(Param::Value));
        }
        Condition::Like { operand: tested, pattern, or_null, .. } => {
            operand(tested, JSON_PATHS * (1 + usize::from(*or_null)), params);
            params.push(Param::Text(pattern.text(globs)));
        }
        Condition::Pair { key, test, .. } => {
            params.extend(key.as_deref().map(Param::Text));
            match test {
                PairTest::Any => {}
                PairTest::In(values) => params.extend(values.iter().map(Param::Value)),
                PairTest::Compare(_, value) => params.push(Param::Value(value)),
                PairTest::Number(_, number) => params.push(Param::Int(*number)),
                PairTest::Like(pattern) => params.push(Param::Text(pattern.text(globs))),
            }
        }
        Condition::States(_) => {}
    }
}

/// How many parameters [`Rules::json_text`] has, each of them the path.
pub(super) const JSON_PATHS: usize = 2;

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
    let writer = Writer { rules, table, sql: String::new() };
    let value = |value: &'a Value| (*value != Value::Null).then_some(Param::Value(value));
    if writer.compares_rows(&keys, range, order) {
        params.extend(keys.iter().filter_map(|(_, key)| value(key)));
        return;
    }
    for step in 0..keys.len() {
        params.extend(keys[..=step].iter().filter_map(|(_, key)| value(key)));
    }
}

/// The places of the columns that are read: the uid, those that are wanted, and those of the order.
pub(super) fn places(wanted: &[usize], order: &[SortKey]) -> Vec<usize> {
    let mut places = vec![base::UID];
    for place in wanted.iter().copied().chain(order.iter().map(|key| key.place)) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}
