//! The rules of a kind by which its objects may leave etcd.

use crate::evict::{Placed, WrittenRule};
use crate::kept::kept;
use crate::text::{Faults, Located};
use ingester_core::schema::{EvictionRule, check_evict, check_evictable};

/// The rules by which objects may leave etcd; `options` are `immutable` and `evictable`.
pub(super) fn read_evict<'t>(
    at: &Located<'t>,
    (immutable, evictable): (bool, Option<bool>),
    faults: &mut Faults,
) -> Vec<WrittenRule<'t>> {
    faults.extend(check_evictable(immutable, evictable).map(|fault| at.fault(fault.to_string())));
    let rules = at.elements(faults);
    let rules: Vec<WrittenRule<'t>> = rules.iter().filter_map(|at| WrittenRule::read(at, false, faults)).collect();
    let all: Vec<EvictionRule> = rules.iter().map(evict_rule).collect();
    for (place, rule) in rules.iter().enumerate() {
        faults.extend(check_evict(&all, place).map(|fault| rule.at.fault(fault.to_string())));
    }
    rules
}

/// A rule that lives to the end of the process.
pub(super) fn evict_rule(rule: &WrittenRule<'_>) -> EvictionRule {
    let text = |placed: &Option<Placed<'_>>| placed.as_ref().map_or("", |(_, text)| kept(*text));
    let texts = |placed: &[Placed<'_>]| -> &'static [&'static str] {
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
