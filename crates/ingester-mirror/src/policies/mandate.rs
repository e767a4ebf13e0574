//! The rules under which a round hands objects on to the workers. Pure.

use ingester_config::{EvictionRule, Policies};
use ingester_core::Kind;
use ingester_store::Premise;
use std::time::Duration;

/// The configuration's rules about one kind when a round began. Once the configuration has other rules, no object that the round chose
/// leaves etcd, whatever the change is: an added rule may cover the same objects.
///
/// The rules of the kind itself do not change while a process runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mandate {
    evict: Vec<EvictionRule>,
    restore_grace: Duration,
    /// The premise that the round's rules required of rows.
    pub(crate) premise: Premise,
}

impl Mandate {
    /// The rules of the configuration about this kind.
    pub(crate) fn for_kind(kind: &Kind, policies: &Policies, premise: Premise) -> Self {
        Mandate { evict: evict(kind, policies).to_vec(), restore_grace: policies.restore_grace, premise }
    }

    /// Returns true if the configuration still has the same rules about this kind.
    pub(crate) fn holds(&self, kind: &Kind, policies: &Policies) -> bool {
        self.restore_grace == policies.restore_grace && self.evict == evict(kind, policies)
    }
}

fn evict<'p>(kind: &Kind, policies: &'p Policies) -> &'p [EvictionRule] {
    policies.evict.get(kind.name()).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Mandate;
    use crate::fixture::MODEL;
    use ingester_config::{EvictionRule, Policies};
    use ingester_store::Premise;
    use std::time::Duration;

    #[test]
    fn a_mandate_ends_with_any_change_of_the_rules_of_its_kind_and_no_other() {
        let rule = |name: &str, enforce| EvictionRule { name: name.into(), enforce, ..EvictionRule::default() };
        let policies = |kind: &str, rules: Vec<EvictionRule>| Policies {
            evict: [(kind.to_owned(), rules)].into(),
            ..Policies::default()
        };
        let before = policies("Model", vec![rule("a", true)]);
        let mandate = Mandate::for_kind(&MODEL, &before, Premise::default());
        for (after, holds) in [
            (before.clone(), true),
            (Policies { evict_limit: 1, ..before.clone() }, true),
            (
                Policies {
                    evict: [before.evict.clone(), policies("Other", vec![rule("b", true)]).evict]
                        .into_iter()
                        .flatten()
                        .collect(),
                    ..before.clone()
                },
                true,
            ),
            (policies("Model", vec![rule("a", false)]), false),
            (policies("Model", vec![rule("a", true), rule("keeper", false)]), false),
            (policies("Other", vec![rule("a", true)]), false),
            (Policies { restore_grace: Duration::ZERO, ..before }, false),
        ] {
            assert_eq!(mandate.holds(&MODEL, &after), holds, "{after:?}");
        }
    }
}
