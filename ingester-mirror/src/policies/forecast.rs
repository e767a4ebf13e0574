//! What a rule would do now, for people.

use super::{Candidate, Hindrance, PolicyError, Stays, WeighBounds, candidates, check, judge, weigh};
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
}

/// Judges a rule as the mirror does, and changes nothing. `kinds` are those that are mirrored; restored objects are exempt for `restore_grace`.
///
/// # Errors
/// If the rule cannot be judged about this kind, or the database fails.
pub async fn forecast(
    store: &Store,
    kinds: &[Kind],
    kind: &Kind,
    rule: &EvictRule,
    restore_grace: Duration,
) -> Result<Forecast, PolicyError> {
    check(kind, rule)?;
    let judged = judge(rule, candidates(store, kind, rule).await?, store.read_clock().await?);
    let weighed = weigh(store, kinds, kind, &judged.leaving, WeighBounds { most: usize::MAX, restore_grace }).await?;
    Ok(Forecast { leaving: weighed.free, bytes: weighed.bytes, hindered: weighed.hindered, staying: judged.staying })
}
