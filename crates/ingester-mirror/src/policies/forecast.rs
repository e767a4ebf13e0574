//! Forecasts the effect of a rule, for people.

use super::{
    Candidate, Dependents, Hindrance, KindPart, PolicyError, StayReason, WeighBounds, can_depend, candidates, check,
    judge_proved, list_dependents, namespaces, pending, premise, unproved, weigh,
};
use crate::cluster::ApiServer;
use crate::dependents::Uids;
use futures::FutureExt as _;
use ingester_config::EvictionRule;
use ingester_core::Kind;
use ingester_store::Store;
use ingester_store::units::{UnitPhase, UnitRecord};
use kube::Client;
use std::collections::BTreeSet;
use std::time::Duration;

/// The effect that a rule would have now, enforced or not.
#[derive(Debug, Default)]
pub struct Forecast {
    /// The objects that would leave etcd, the oldest first.
    pub leaving: Vec<Candidate>,
    /// The total size of their texts in bytes.
    pub bytes: u64,
    /// The objects that the rule chooses but that stay for another reason.
    pub hindered: Vec<(Candidate, Hindrance)>,
    /// The objects that meet `when` in the rule's namespaces but that the rule keeps.
    pub staying: Vec<(Candidate, StayReason)>,
    /// How many live objects in the rule's namespaces no rule may judge now.
    pub pending: u64,
    /// The reason why the API server was not asked, or did not answer, which of the objects own objects without rows.
    pub unasked: Option<Box<str>>,
}

/// The time limit for reading the states of the units.
const UNITS: Duration = Duration::from_secs(5);

/// The kinds, rules and grace that apply when a rule is judged.
#[derive(Clone, Copy, Debug)]
pub struct ForecastScope<'a> {
    /// The kinds that are mirrored.
    pub kinds: &'a [Kind],
    /// All rules of the kind: an object is not judged if one of them cannot be judged for it.
    pub rules: &'a [EvictionRule],
    /// For how long restored objects are exempt.
    pub restore_grace: Duration,
}

/// Judges a rule as the mirror does, and changes nothing. `client` lists dependents without rows.
///
/// # Errors
/// If the rule cannot be judged about this kind, or the database fails.
pub async fn forecast(
    store: &Store,
    kind: &Kind,
    rule: &EvictionRule,
    scope: ForecastScope<'_>,
    client: Option<&Client>,
) -> Result<Forecast, PolicyError> {
    check(kind, rule)?;
    let condition = &rule.condition;
    let premise = premise(store, kind, scope.rules).await?;
    let mut pending = pending(store, kind, condition, &premise).await?;
    let mut candidates = candidates(store, kind, condition).await?;
    candidates.retain(|candidate| premise.refuses(candidate.definition).is_none());
    let premise = &premise;
    let ask = |uids: Vec<Box<str>>| async move { unproved(store, kind, &uids, premise).await }.boxed();
    let judged = judge_proved(condition, candidates, store.read_clock().await?, ask).await?;
    let (dependents, unasked) = dependents(store, scope.kinds, kind, &judged.leaving, client).await?;
    let restore_grace = scope.restore_grace;
    let bounds = WeighBounds { most: usize::MAX, restore_grace, premise, dependents: &dependents };
    let weighed = weigh(store, scope.kinds, kind, &judged.leaving, bounds).await?;
    let is_pending = |hindrance: &Hindrance| matches!(hindrance, Hindrance::Pending(_));
    pending += weighed.hindered.iter().filter(|(_, hindrance)| is_pending(hindrance)).count() as u64;
    Ok(Forecast {
        leaving: weighed.free,
        bytes: weighed.bytes,
        hindered: weighed.hindered,
        staying: judged.staying,
        pending,
        unasked,
    })
}

/// Returns the dependents that no live row shows, and the reason why the API server did not list some of them. The units' records say which
/// kinds are behind the cluster. Without an answer from the API server, the rows of all other kinds are trusted.
async fn dependents(
    store: &Store,
    kinds: &[Kind],
    kind: &Kind,
    leaving: &[Candidate],
    client: Option<&Client>,
) -> Result<(Dependents, Option<Box<str>>), PolicyError> {
    if leaving.is_empty() {
        return Ok((Dependents::default(), None));
    }
    let uids: Uids = leaving.iter().map(|candidate| candidate.uid.clone()).collect();
    let namespaces = namespaces(kind, leaving);
    let dependents = kinds.iter().filter(|dependents| can_depend(dependents, kind));
    let part = |dependents: &Kind, namespace: &Option<Box<str>>| KindPart {
        namespace: namespace.clone().filter(|_| dependents.namespaced()),
        kind: dependents.name(),
    };
    let parts: BTreeSet<KindPart> =
        dependents.flat_map(|dependents| namespaces.iter().map(move |namespace| part(dependents, namespace))).collect();
    let behind = behind(store, kinds).await?;
    let mut found = match client {
        Some(client) => list_dependents(&ApiServer::of_all(client, kind), kinds, kind, parts, &uids).await,
        None => {
            let mut found = Dependents::default();
            found.miss(parts, kind, "no cluster is named");
            found
        }
    };
    let why = found.unlisted.first().map(|part| part.why.clone());
    found.unlisted.retain(|part| behind.contains(part.kind));
    Ok((found, why))
}

/// Returns the kinds whose units say that they are suspended or behind the cluster.
async fn behind(store: &Store, kinds: &[Kind]) -> Result<BTreeSet<&'static str>, PolicyError> {
    let now = store.read_clock().await?;
    let units = store.units(kinds, UNITS).await?;
    let is_behind = |record: &UnitRecord| match record.phase {
        UnitPhase::Starting | UnitPhase::Listing | UnitPhase::Suspended | UnitPhase::Failed => true,
        UnitPhase::Synced => record.is_stale(now),
        // The unit's objects are not mirrored, or nothing is moved.
        UnitPhase::Waiting | UnitPhase::Stopped => false,
    };
    Ok(units.iter().filter(|(_, record)| is_behind(record)).map(|(kind, _)| kind.name()).collect())
}
