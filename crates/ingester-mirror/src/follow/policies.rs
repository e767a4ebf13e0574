//! Judges repeatedly which objects leave etcd by rules, and hands them to the pipeline.

use super::Follower;
use crate::pipeline::MOST_OBJECTS;
use crate::policies::{
    Candidate, Dependents, Mandate, PolicyError, WeighBounds, WrongRule, age, in_namespaces, judge_proved, rules,
};
use crate::unit::{Unit, in_time, scopes};
use futures::FutureExt as _;
use ingester_config::{Config, EvictionRule, Policies};
use ingester_core::value::Micros;
use ingester_store::Premise;
use ingester_store::units::RuleRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// This many objects of a unit may leave within an hour, even if they are more than a fifth of it.
const FEW: u64 = 10;

/// One in this many live objects may leave within an hour.
const PART: u64 = 5;

/// The pause between two checks whether the first list is in SQL.
const SOON: Duration = Duration::from_secs(1);

/// The results of one round for the unit's own objects.
#[derive(Default)]
struct Round {
    /// The objects that rules choose, enforced or not, by uid.
    objects: BTreeMap<Box<str>, bool>,
    /// The objects that enforced rules choose.
    leaving: Vec<Candidate>,
    /// The names of the enforced rules.
    rules: Vec<String>,
    /// The record of each rule, with the objects that it chooses.
    found: Vec<(RuleRecord, BTreeSet<Box<str>>)>,
    /// The number of rows that each rule may not judge.
    pending: Vec<(String, u64)>,
}

impl Round {
    /// Returns the record of each rule, after these objects were handed to the pipeline.
    fn records(self, moved: &BTreeSet<Box<str>>, now: Micros) -> Vec<RuleRecord> {
        let record = |(record, chosen): (RuleRecord, BTreeSet<Box<str>>)| {
            let matches = chosen.len() as u64;
            let moved = if record.enforced { chosen.intersection(moved).count() as u64 } else { 0 };
            let waiting = if record.enforced { matches - moved } else { 0 };
            RuleRecord { time: now.0.div_euclid(1_000_000), matches, waiting, moved, ..record }
        };
        self.found.into_iter().map(record).collect()
    }

    /// Adds the result of a rule that was judged, or that could not be.
    fn judged(&mut self, rule: String, enforced: bool, chosen: Option<BTreeSet<Box<str>>>) {
        let record = RuleRecord { time: 0, enforced, judged: chosen.is_some(), matches: 0, waiting: 0, moved: 0, rule };
        self.found.push((record, chosen.unwrap_or_default()));
    }
}

impl Follower {
    /// Judges the kind's rules in rounds, once the first list is in SQL.
    pub(super) async fn apply_policies(&self) {
        let unit = self.unit();
        let of = |config: &Config| config.policies.clone();
        let mut told = false;
        loop {
            let policies = of(&unit.config());
            self.pipeline.review_choices();
            // Polled, not awaited: several waiters wake in an unspecified order, and a simulated seed must give one history.
            let synced = *self.synced_once.borrow();
            let rules = if synced { rules(&unit.kind, &policies) } else { Vec::new() };
            match rules.is_empty() {
                true => {
                    unit.metrics.policies(0, 0);
                    unit.metrics.record_rules(Vec::new());
                }
                false => self.apply_once(&policies, rules, &mut told).await,
            }
            tokio::select! {
                biased;
                () = unit.live.changed(&policies, of) => told = false,
                () = tokio::time::sleep(if synced { policies.period } else { policies.period.min(SOON) }) => {}
            }
        }
    }

    /// Does one round. A failure is logged, and the next round tries again.
    async fn apply_once(&self, policies: &Policies, rules: Vec<Result<EvictionRule, WrongRule>>, told: &mut bool) {
        let unit = self.unit();
        let mut round = Round::default();
        let all: Vec<EvictionRule> = rules.iter().flatten().cloned().collect();
        let premise = match unit.rows.premise(&all).await {
            Ok(premise) => premise,
            Err(error) => {
                tracing::warn!(%error, "Cannot judge the eviction rules, trying again in the next round");
                return;
            }
        };
        for rule in rules {
            let (name, enforced, judged) = match rule {
                Ok(rule) => {
                    let judged = self.judge_once(&rule, &premise, &mut round).await;
                    (rule.name, rule.enforce, judged)
                }
                Err(WrongRule { rule, error, .. }) => (rule, false, Err(*error)),
            };
            if let Err(error) = &judged {
                tracing::warn!(rule = name, %error, "Cannot judge this rule: it evicts nothing in this round");
            }
            round.judged(name, enforced, judged.ok());
        }
        let moved = match self.let_go(policies, &mut round, (&premise, told)).await {
            Ok(moved) => moved,
            Err(error) => {
                tracing::warn!(%error, "Cannot enforce the eviction rules, trying again in the next round");
                BTreeSet::new()
            }
        };
        let enforced = round.objects.values().filter(|enforced| **enforced).count();
        unit.metrics.policies(round.objects.len() - moved.len(), enforced - moved.len());
        unit.metrics.pending_rows(std::mem::take(&mut round.pending));
        unit.metrics.record_rules(round.records(&moved, unit.clock.now()));
    }

    /// Judges one rule for all objects of the kind; its results count for the unit's own objects. Returns the own objects that it chooses.
    async fn judge_once(
        &self,
        rule: &EvictionRule,
        premise: &Premise,
        round: &mut Round,
    ) -> Result<BTreeSet<Box<str>>, PolicyError> {
        let unit = self.unit();
        let narrowed = match &rule.condition.namespace_selector {
            None => rule.clone(),
            // The current namespaces. If they cannot be listed, the rule fails, because objects in unknown namespaces must stay.
            Some(selector) => match in_namespaces(rule, unit.cluster.namespaces(selector).await?) {
                Some(rule) => rule,
                None => return Ok(BTreeSet::new()),
            },
        };
        let mut snapshot = unit.rows.candidates(&narrowed).await?;
        let found = snapshot.len();
        // Another definition may have computed their columns: no rule judges these objects, and they take no place among the last ones.
        snapshot.retain(|candidate| premise.refuses(candidate.definition).is_none());
        let pending = unit.rows.pending(&narrowed, premise).await?.max((found - snapshot.len()) as u64);
        round.pending.push((rule.name.clone(), pending));
        let unproved = |uids: Vec<Box<str>>| async move { unit.rows.unproved(&uids, premise).await }.boxed();
        let judged = judge_proved(&rule.condition, snapshot, unit.clock.now(), unproved).await?;
        let own: Vec<Candidate> = judged.leaving.into_iter().filter(|candidate| is_own(unit, candidate)).collect();
        let chosen = own.iter().map(|candidate| candidate.uid.clone()).collect();
        for candidate in &own {
            *round.objects.entry(candidate.uid.clone()).or_default() |= rule.enforce;
        }
        if rule.enforce {
            round.leaving.extend(own);
            round.rules.push(rule.name.clone());
        }
        Ok(chosen)
    }

    /// Hands the objects that may leave now to the pipeline. Returns them.
    async fn let_go(
        &self,
        policies: &Policies,
        round: &mut Round,
        (premise, told): (&Premise, &mut bool),
    ) -> Result<BTreeSet<Box<str>>, PolicyError> {
        let unit = self.unit();
        if round.leaving.is_empty() || !unit.rules().evictions {
            return Ok(BTreeSet::new());
        }
        round.leaving.sort_by(|one, other| age(one).cmp(&age(other)));
        // Two rules may choose the same object, in the same version or in different ones.
        round.leaving.dedup_by(|one, other| one.uid == other.uid);
        // An object that waits or is being processed is judged by a later round: a look now would be merged with that work and have no effect.
        let judged = round.leaving.len();
        round.leaving.retain(|candidate| !self.pipeline.queue.holds(&candidate.uid));
        let busy = (judged - round.leaving.len()) as u64;
        let name = unit.name();
        self.give_back(&name).await?;
        let lately = in_time("counting evictions", unit.rows.evicted_lately(&name)).await?;
        let units = scopes(std::slice::from_ref(&unit.kind), &unit.config()).len().max(1) as u64;
        // Objects that are being evicted count as both.
        let live = self.pipeline.known().live() as u64 + lately.saturating_sub(busy);
        let limit = (policies.evict_limit / units).max(1).min((live / PART).max(FEW));
        let most = usize::try_from(limit.saturating_sub(lately)).unwrap_or(usize::MAX);
        // Check before the rows are read, and after: in the meantime an object without a row may get one, or lose it.
        let dependents = if most > 0 { self.dependents(&round.leaving).await } else { Dependents::default() };
        let restore_grace = policies.restore_grace;
        let bounds = WeighBounds { most, restore_grace, premise, dependents: &dependents };
        let mut weighed = unit.rows.weigh(&round.leaving, bounds).await?;
        self.check_again(&mut weighed, dependents);
        let left = weighed.free.len();
        let hindered = weighed.hindered.len();
        let over = round.leaving.len().saturating_sub(left + hindered);
        let rules = round.rules.join(", ");
        if left > 0 || over > 0 {
            tracing::info!(rules, objects = left, over, hindered, limit, "Evicting objects that rules have chosen");
        }
        if left == 0 {
            return Ok(BTreeSet::new());
        }
        if !std::mem::replace(told, true) {
            unit.publisher.policies_enforced(&unit.kind, &rules, left);
        }
        self.hand_on(&name, &weighed.free, &Arc::new(Mandate::for_kind(&unit.kind, policies, premise.clone()))).await
    }

    /// Hands objects to the pipeline in batches, while the rules of this mandate are in force. Returns the objects that it handed on.
    async fn hand_on(
        &self,
        name: &str,
        free: &[Candidate],
        mandate: &Arc<Mandate>,
    ) -> Result<BTreeSet<Box<str>>, PolicyError> {
        let unit = self.unit();
        let mut moved = BTreeSet::new();
        for batch in free.chunks(MOST_OBJECTS) {
            if !self.pipeline.may_hand_on(mandate) {
                tracing::info!("The rules have changed, or the kind is being suspended: the round ends");
                break;
            }
            // Before they leave: if the process is killed in between, it has counted too many, not too few.
            in_time("counting evictions", unit.rows.count_evicted(name, batch.len() as u64)).await?;
            self.pipeline.hand_on(batch, mandate, unit.clock.now());
            moved.extend(batch.iter().map(|candidate| candidate.uid.clone()));
        }
        Ok(moved)
    }

    /// Gives back the count of objects that stay. If that fails, too many are counted, not too few.
    async fn give_back(&self, name: &str) -> Result<(), PolicyError> {
        let unit = self.unit();
        let unsent = self.pipeline.known().choices.take_unsent();
        for (counted, objects) in unsent {
            in_time("counting evictions", unit.rows.uncount_evicted(name, objects, counted)).await?;
        }
        Ok(())
    }
}

/// Returns true if an object belongs to the unit.
fn is_own(unit: &Unit, candidate: &Candidate) -> bool {
    let namespace = unit.namespace.as_ref().is_none_or(|namespace| *namespace == candidate.namespace);
    namespace && unit.shard.has(&candidate.uid)
}
