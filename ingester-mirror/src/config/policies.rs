//! Which objects leave etcd by rules.

use super::section::{shown, single};
use super::values::{DURATION, duration, namespace, truth, whole};
use ingester_core::query::Filter;
use ingester_declare::text::{Faults, Located};
use ingester_sql::query::{parse_field_selector, parse_label_selector};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::time::Duration;

/// The time that `after` counts from, if a rule does not name another one.
const CREATED: &str = "create_time";

/// A rule of `policies.evict`: which live objects of a kind leave etcd. All that it says must hold of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct EvictRule {
    /// What messages and metrics call it; no two rules of a kind have one name.
    pub name: String,
    /// What must hold of the columns and labels of an object: the terms of both selectors.
    pub when: Vec<Filter>,
    /// For how long the time of `since` must have passed.
    pub after: Option<Duration>,
    /// The column, or the path, of the time that `after` counts from.
    pub since: String,
    /// How many objects of each group stay.
    pub keep_last: Option<KeepLast>,
    /// The namespaces; none for all.
    pub namespaces: Vec<String>,
    /// Whether objects leave. If not, the rule only says which would.
    pub enforce: bool,
}

/// How many of the objects that meet `when` in the rule's namespaces stay: the last ones by `create_time` and uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepLast {
    /// How many of each group.
    pub count: usize,
    /// The columns, or paths, whose values make a group; none for one group of all.
    pub by: Vec<String>,
}

/// The rules of one kind.
pub(super) fn rules(at: &Located<'_>, faults: &mut Faults) -> Vec<EvictRule> {
    let (mut rules, mut names) = (Vec::new(), BTreeSet::new());
    for at in at.elements(faults) {
        let Some(rule) = rule(&at, faults) else { continue };
        if !names.insert(rule.name.clone()) {
            faults.push(
                at.fault(format!("another rule of this kind is named `{}`: give this one another name", rule.name)),
            );
        }
        rules.push(rule);
    }
    rules
}

fn rule(at: &Located<'_>, faults: &mut Faults) -> Option<EvictRule> {
    let keys = ["name", "when", "after", "since", "keepLast", "namespaces", "enforce"];
    let [name, selectors, after, since, keep, namespaces, enforce] = at.fields(keys, faults)?;
    let before = faults.len();
    let name = at.required("name", name, "messages name the rule by it", faults).map(|(_, name)| name.to_owned());
    let is_empty = selectors.is_none() && after.is_none() && keep.is_none();
    if is_empty {
        faults.push(at.fault("every object would leave: say which with `when`, `after` or `keepLast`"));
    }
    if let (Some(since), None) = (&since, &after) {
        faults.push(since.fault("`since` says what `after` counts from: add `after`, or leave out `since`"));
    }
    let when = selectors.map(|at| when(&at, faults)).unwrap_or_default();
    let after = one(after, faults, duration(DURATION));
    let since = one(since, faults, |text| Ok(text.to_owned())).unwrap_or_else(|| CREATED.to_owned());
    let keep_last = keep.and_then(|at| keep_last(&at, faults));
    let namespaces = several(namespaces, faults, namespace);
    let enforce = one(enforce, faults, truth).unwrap_or_default();
    let rule = EvictRule { name: name?, when, after, since, keep_last, namespaces, enforce };
    (faults.len() == before).then_some(rule)
}

pub(super) fn when(at: &Located<'_>, faults: &mut Faults) -> Vec<Filter> {
    let Some([fields, labels]) = at.fields(["fieldSelector", "labelSelector"], faults) else { return Vec::new() };
    if fields.is_none() && labels.is_none() {
        faults.push(at.fault("nothing is selected: add `fieldSelector` or `labelSelector`"));
    }
    let fields = one(fields, faults, |text| parse_field_selector(text).map_err(said));
    let labels = one(labels, faults, |text| parse_label_selector(text).map_err(said));
    fields.into_iter().chain(labels).flatten().collect()
}

fn said(error: impl Display) -> String {
    error.to_string()
}

pub(super) fn keep_last(at: &Located<'_>, faults: &mut Faults) -> Option<KeepLast> {
    let [count, by] = at.fields(["count", "by"], faults)?;
    if count.is_none() {
        faults.push(at.fault("`count` is missing: how many objects of each group stay"));
    }
    let count = one(count, faults, whole(1..=100_000));
    let by = several(by, faults, |text| Ok(text.to_owned()));
    Some(KeepLast { count: count?, by })
}

/// A single value, if there is one and it is right.
pub(super) fn one<T>(
    at: Option<Located<'_>>,
    faults: &mut Faults,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    match single(&at?, read) {
        Ok(value) => Some(value),
        Err(fault) => {
            faults.push(fault);
            None
        }
    }
}

/// The values of a list.
pub(super) fn several(
    at: Option<Located<'_>>,
    faults: &mut Faults,
    read: impl Fn(&str) -> Result<String, String>,
) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for at in at.map(|at| at.elements(faults)).unwrap_or_default() {
        let Some(value) = one(Some(at.clone()), faults, &read) else { continue };
        if values.contains(&value) {
            faults.push(at.fault(format!("`{}` is in this list already; remove one of them", shown(&value))));
        } else {
            values.push(value);
        }
    }
    values
}
