//! The rules of a kind by which its objects may leave etcd.

use crate::evict::{LocatedText, RuleDeclaration};
use crate::kept::kept;
use crate::text::{Faults, TreeNode};
use ingester_core::schema::{EvictionRule, check_evict, check_evictable};

/// The rules by which objects may leave etcd; `options` are `immutable` and `evictable`.
pub(super) fn read_evict<'t>(
    at: &TreeNode<'t>,
    (immutable, evictable): (bool, Option<bool>),
    faults: &mut Faults,
) -> Vec<RuleDeclaration<'t>> {
    faults.extend(check_evictable(immutable, evictable).map(|fault| at.fault(fault.to_string())));
    let rules = at.elements(faults);
    let rules: Vec<RuleDeclaration<'t>> =
        rules.iter().filter_map(|at| RuleDeclaration::read(at, false, faults)).collect();
    let all: Vec<EvictionRule> = rules.iter().map(evict_rule).collect();
    for (place, rule) in rules.iter().enumerate() {
        faults.extend(check_evict(&all, place).map(|fault| rule.at.fault(fault.to_string())));
    }
    rules
}

/// A rule that lives to the end of the process.
pub(super) fn evict_rule(rule: &RuleDeclaration<'_>) -> EvictionRule {
    let text = |placed: &Option<LocatedText<'_>>| placed.as_ref().map_or("", |(_, text)| kept(*text));
    let texts = |placed: &[LocatedText<'_>]| -> &'static [&'static str] {
        kept(placed.iter().map(|(_, text)| kept(*text)).collect::<Vec<&'static str>>())
    };
    EvictionRule {
        name: kept(rule.name),
        field_selector: text(&rule.fields),
        label_selector: text(&rule.labels),
        after: rule.after,
        since: rule.since.as_ref().map(|(_, since)| kept(*since)),
        keep_last: rule.keep_last.as_ref().map(|(count, by)| (*count, texts(by))),
        namespaces: texts(&rule.namespaces),
        namespace_selector: text(&rule.namespace_selector),
    }
}
