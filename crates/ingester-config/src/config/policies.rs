//! The rules by which objects leave etcd.

use super::condition::Condition;
use super::section::{Section, single};
use super::values::truth;
use ingester_core::schema::{self, Fault};
use ingester_declare::evict::RuleDeclaration;
use ingester_declare::text::{Faults, TreeNode};
use ingester_sql::query::SelectorError;
use std::collections::{BTreeMap, BTreeSet};

/// A rule that selects live objects of a kind to leave etcd: from `policies.evict`, or of the kind itself.
///
/// If a rule of the configuration has the name of a rule of the kind, it contains only the differences from that rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvictionRule {
    /// The rule's name in messages and metrics, unique among the rules of a kind.
    pub name: String,
    /// Selects the objects that leave.
    pub condition: Condition,
    /// If true, objects leave. Otherwise the rule only reports the objects that would.
    pub enforce: bool,
}

impl EvictionRule {
    /// Returns a rule of a struct or a file. It is not enforced, so no object leaves because of it.
    ///
    /// # Errors
    /// If one of its selectors is invalid, because constant evaluation does not read them.
    pub fn of_kind(rule: &schema::EvictionRule) -> Result<Self, SelectorError> {
        Ok(EvictionRule { name: rule.name.into(), condition: Condition::of_kind(rule)?, enforce: false })
    }
}

impl Section<'_> {
    /// Reads a map from kinds, which `kind` checks, to the rules by which their objects leave etcd.
    pub(super) fn evict_rules(
        &mut self,
        key: &'static str,
        into: &mut BTreeMap<String, Vec<EvictionRule>>,
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

/// Reads the rules of one kind. The kind's rules of the same names may provide the parts that they lack.
fn rules(at: &TreeNode<'_>, faults: &mut Faults) -> Vec<EvictionRule> {
    let mut rules = Vec::new();
    let mut names = BTreeSet::new();
    for at in at.elements(faults) {
        let Some(rule) = RuleDeclaration::read(&at, true, faults).and_then(|rule| of_configuration(&rule, faults))
        else {
            continue;
        };
        if !names.insert(rule.name.clone()) {
            faults.push(at.fault(Fault::EvictTwice(&rule.name).to_string()));
        }
        rules.push(rule);
    }
    rules
}

/// Reads a rule of the configuration. Returns `None` if its switch is invalid.
pub(super) fn of_configuration(rule: &RuleDeclaration<'_>, faults: &mut Faults) -> Option<EvictionRule> {
    if let (Some((at, _)), None) = (&rule.since, &rule.after) {
        faults.push(at.fault(Fault::EvictSinceAlone.to_string()));
    }
    let enforce = match rule.enforce.clone() {
        None => false,
        at => one(at, faults, truth)?,
    };
    Some(EvictionRule { name: rule.name.to_owned(), condition: Condition::of_configuration(rule), enforce })
}

/// Returns a single value, if there is one and it is correct.
pub(super) fn one<T>(
    at: Option<TreeNode<'_>>,
    faults: &mut Faults,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    single(&at?, read).map_err(|fault| faults.push(fault)).ok()
}
