//! What a rule would do now, for people.

use super::{Candidate, Hindrance, PolicyError, Stays, WeighBounds, candidates, check, judge, pending, premise, weigh};
use crate::config::EvictRule;
use ingester_core::Kind;
use ingester_store::Store;
use std::time::Duration;

/// What a rule would do now, whether it is enforced or not.
#[derive(Debug, Default)]
pub struct Forecast {
    /// The objects that would leave etcd, the oldest first.
    pub leaving: Vec<Candidate>,
    /// The total size of their texts in bytes.
    pub bytes: u64,
    /// The objects that are to leave but stay for another reason.
    pub hindered: Vec<(Candidate, Hindrance)>,
    /// The objects that meet `when` in the rule's namespaces but stay by the rule.
    pub staying: Vec<(Candidate, Stays)>,
    /// How many live objects in the rule's namespaces no rule may judge now.
    pub pending: u64,
}

/// What a rule is judged with.
#[derive(Clone, Copy, Debug)]
pub struct ForecastScope<'a> {
    /// The kinds that are mirrored.
    pub kinds: &'a [Kind],
    /// All rules of the kind: an object is not judged if one of them cannot be judged for it.
    pub rules: &'a [EvictRule],
    /// For how long restored objects are exempt.
    pub restore_grace: Duration,
}

/// Judges a rule as the mirror does, and changes nothing.
///
/// # Errors
/// If the rule cannot be judged about this kind, or the database fails.
pub async fn forecast(
    store: &Store,
    kind: &Kind,
    rule: &EvictRule,
    scope: ForecastScope<'_>,
) -> Result<Forecast, PolicyError> {
    check(kind, rule)?;
    let premise = premise(store, kind, scope.rules).await?;
    let mut pending = pending(store, kind, rule, &premise).await?;
    let mut candidates = candidates(store, kind, rule).await?;
    candidates.retain(|candidate| premise.refuses(candidate.definition).is_none());
    let judged = judge(rule, candidates, store.read_clock().await?);
    let bounds = WeighBounds { most: usize::MAX, restore_grace: scope.restore_grace, premise: &premise };
    let weighed = weigh(store, scope.kinds, kind, &judged.leaving, bounds).await?;
    let is_pending = |hindrance: &Hindrance| matches!(hindrance, Hindrance::Pending(_));
    pending += weighed.hindered.iter().filter(|(_, hindrance)| is_pending(hindrance)).count() as u64;
    Ok(Forecast {
        leaving: weighed.free,
        bytes: weighed.bytes,
        hindered: weighed.hindered,
        staying: judged.staying,
        pending,
    })
}
