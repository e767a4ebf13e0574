//! The rules by which objects leave etcd.

use super::section::{Section, single};
use super::values::truth;
use ingester_core::query::Filter;
use ingester_core::schema::{Evict, Fault};
use ingester_declare::evict::{Placed, WrittenRule, filters};
use ingester_declare::text::{Faults, Located};
use ingester_sql::query::SelectorError;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The time that `after` counts from, if a rule does not name another one.
const CREATED: &str = "create_time";

/// Which live objects of a kind leave etcd: a rule of `policies.evict`, or of the kind. All that it says must hold of an object.
///
/// One of the configuration that has the name of a rule of the kind says what is different from that one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvictRule {
    /// What messages and metrics call it; no two rules of a kind have one name.
    pub name: String,
    /// What must hold of the columns and labels of an object: the terms of both selectors.
    pub when: Vec<Filter>,
    /// For how long the time of `since` must have passed.
    pub after: Option<Duration>,
    /// The column, or the path, of the time that `after` counts from; `None` for the time of creation.
    pub since: Option<String>,
    /// How many objects of each group stay.
    pub keep_last: Option<KeepLast>,
    /// The namespaces; none for all.
    pub namespaces: Vec<String>,
    /// The labels that namespaces have, as Kubernetes writes selectors; `None` for all.
    pub namespace_selector: Option<String>,
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

impl EvictRule {
    /// The column, or the path, of the time that `after` counts from.
    pub fn since(&self) -> &str {
        self.since.as_deref().unwrap_or(CREATED)
    }

    /// Whether it says which objects it means.
    pub fn is_bounded(&self) -> bool {
        !self.when.is_empty() || self.after.is_some() || self.keep_last.is_some()
    }

    /// A rule of a struct or a file, which nothing leaves by.
    ///
    /// # Errors
    /// If one of its selectors is not one: constant evaluation does not read them.
    pub fn of_kind(rule: &Evict) -> Result<Self, SelectorError> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Ok(EvictRule {
            name: rule.name.into(),
            when: filters(rule.field_selector, rule.label_selector)?,
            after: rule.after,
            since: rule.since.map(str::to_owned),
            keep_last: rule.keep_last.map(|(count, by)| KeepLast { count, by: texts(by) }),
            namespaces: texts(rule.namespaces),
            namespace_selector: Some(rule.namespace_selector.to_owned()).filter(|text| !text.is_empty()),
            enforce: false,
        })
    }
}

impl Section<'_> {
    /// Reads a map from kinds, which `kind` checks, to the rules by which their objects leave etcd.
    pub(super) fn evict_rules(
        &mut self,
        key: &'static str,
        into: &mut BTreeMap<String, Vec<EvictRule>>,
        kind: impl Fn(&str) -> Result<String, String>,
    ) {
        let Some(at) = self.take(key) else { return };
        let faults = &mut self.findings.problems;
        for (key, at) in at.entries("a map from kinds to lists of rules", faults).unwrap_or_default() {
            match kind(key) {
                Ok(kind) => drop(into.insert(kind, rules(&at, faults))),
                Err(message) => faults.push(at.fault(message)),
            }
        }
    }
}

/// The rules of one kind. What they lack may be said by the kind's rules of the same names.
fn rules(at: &Located<'_>, faults: &mut Faults) -> Vec<EvictRule> {
    let (mut rules, mut names) = (Vec::new(), BTreeSet::new());
    for at in at.elements(faults) {
        let Some(rule) = WrittenRule::read(&at, true, faults).and_then(|rule| of_configuration(&rule, faults)) else {
            continue;
        };
        if !names.insert(rule.name.clone()) {
            faults.push(at.fault(Fault::EvictTwice(&rule.name).to_string()));
        }
        rules.push(rule);
    }
    rules
}

/// A rule that the configuration has. `None` if its switch is not one.
pub(super) fn of_configuration(rule: &WrittenRule<'_>, faults: &mut Faults) -> Option<EvictRule> {
    let texts = |texts: &[Placed<'_>]| texts.iter().map(|(_, text)| (*text).to_owned()).collect();
    let text = |placed: &Option<Placed<'_>>| placed.as_ref().map(|(_, text)| (*text).to_owned());
    if let (Some((at, _)), None) = (&rule.since, &rule.after) {
        faults.push(at.fault(Fault::EvictSinceAlone.to_string()));
    }
    let enforce = match rule.enforce.clone() {
        None => false,
        at => one(at, faults, truth)?,
    };
    Some(EvictRule {
        name: rule.name.to_owned(),
        when: rule.filters(),
        after: rule.after,
        since: text(&rule.since),
        keep_last: rule.keep_last.as_ref().map(|(count, by)| KeepLast { count: *count, by: texts(by) }),
        namespaces: texts(&rule.namespaces),
        namespace_selector: text(&rule.namespace_selector),
        enforce,
    })
}

/// A single value, if there is one and it is right.
pub(super) fn one<T>(
    at: Option<Located<'_>>,
    faults: &mut Faults,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    single(&at?, read).map_err(|fault| faults.push(fault)).ok()
}
