//! Forecasts the rows that a rule would purge, for people.

use super::rows::{CoveredRow, CoveredRows, Portion, RowSelection, covered, pending, pending_query, query, reads};
use super::rules::{HoldingRule, RuleSet, WeighedRows, is_by_age, rules};
use crate::policies::{Candidate, PolicyError, StayReason, places, unproved};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_config::{RetainedState, Retention, RetentionRule};
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::Query;
use ingester_store::marks::{Mark, text_hash};
use ingester_store::query::{FoundRow, RequestedParts, STANDING_PLACES};
use ingester_store::{PendingReason, Premise, Store, StoredRow};
use std::collections::HashSet;
use std::fmt;

/// How many rows are read at a time with their texts.
const CHUNK: usize = 128;

/// The most rows of one name that are explained although no rule may judge them.
const EXPLAINED: usize = 100;

/// The fate of a row that a rule covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFate {
    /// The rule lets it go, and no other rule keeps it.
    Goes,
    /// It is marked by this rule, and goes at this time if the rule still lets it go then.
    Marked(String, Micros),
    /// The rule lets it go, but another rule keeps it.
    Held(HoldingRule),
    /// The rule keeps it.
    Stays(StayReason),
    /// A user has reverted the rule for this text of its object.
    Reverted,
    /// No rule may judge it now.
    Pending(PendingReason),
}

impl fmt::Display for RowFate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowFate::Goes => write!(f, "no rule keeps it any more"),
            RowFate::Marked(rule, time) => {
                write!(f, "`{rule}` has marked it, and purges it from {} on if it still lets it go", time.rfc3339())
            }
            RowFate::Held(held) => held.fmt(f),
            RowFate::Stays(why) => why.fmt(f),
            RowFate::Reverted => write!(f, "the rule was reverted for it, and its object has not changed since"),
            RowFate::Pending(why) => write!(f, "pending: {why}"),
        }
    }
}

/// The rows that a rule would purge now, enforced or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetentionForecast {
    /// How many rows would be purged.
    pub going: u64,
    /// The total size of their objects in bytes, as JSON and as protobuf.
    pub bytes: u64,
    /// How many rows the rule lets go but another rule keeps.
    pub held: u64,
    /// How many rows the rule covers and keeps.
    pub staying: u64,
    /// How many rows of the rule's state and namespaces no rule may judge now.
    pub pending: u64,
    /// The fate of each row of the requested name.
    pub explained: Vec<(Candidate, RowFate)>,
}

/// Checks that the rule can be judged about rows of this kind.
///
/// # Errors
/// Names the field or the key that is wrong.
pub fn check(kind: &Kind, rule: &RetentionRule) -> Result<(), PolicyError> {
    if rule.state == RetainedState::Evicted && kind.immutable() && !rule.immutable {
        let why = "every object of this kind is evicted, because it is immutable by contract, and its row is the only copy: \
                   add `immutable: true` if the rule is meant for it, or take the kind out of `kinds`";
        return Err(PolicyError::Rule(why.into()));
    }
    places(&rule.condition, &query(rule, RowSelection::All).check(kind.table())?).map(drop)
}

/// Judges a rule as the mirror does, and changes nothing. The result explains each row whose object has this `name`.
///
/// # Errors
/// If a rule about the rows cannot be judged about this kind, or the database fails.
pub async fn forecast(
    store: &Store,
    retention: &Retention,
    kind: &Kind,
    rule: &RetentionRule,
    name: Option<&str>,
) -> Result<RetentionForecast, PolicyError> {
    let all = rules(retention, kind, rule.state);
    all.iter().filter(|other| !is_by_age(other)).try_for_each(|rule| check(kind, rule))?;
    let number = all.iter().position(|other| other.name == rule.name).unwrap_or_default();
    let rows = ReadOnlyRows { store, kind };
    let together = RuleSet::begin(&rows, all, store.read_clock().await?).await.map_err(|wrong| *wrong.error)?;
    let premise = &together.premise;
    let mut found = RetentionForecast { pending: pending(store, kind, rule, premise).await?, ..Default::default() };
    if let Some(name) = name {
        found.explained = pending_of(store, kind, rule, premise, name).await?;
    }
    let mut place = together.start(number);
    loop {
        let next = together.next(&rows, number, &mut place, true).await.map_err(|wrong| *wrong.error)?;
        let Some(WeighedRows { free, held, staying }) = next else { return Ok(found) };
        found.held += held.len() as u64;
        found.staying += staying.len() as u64;
        let held = held.into_iter().map(|(row, by)| (row.candidate, RowFate::Held(by)));
        let staying = staying.into_iter().map(|(row, why)| (row.candidate, RowFate::Stays(why)));
        let named = |(row, _): &(Candidate, RowFate)| name.is_some_and(|name| *row.name == *name);
        found.explained.extend(held.chain(staying).filter(named));
        for free in free.chunks(CHUNK) {
            let fates = fates(store, kind, rule, (retention, premise), free).await?;
            for (row, (fate, bytes)) in free.iter().zip(fates) {
                match &fate {
                    RowFate::Pending(_) => found.pending += 1,
                    RowFate::Reverted => found.staying += 1,
                    _ => {
                        found.going += 1;
                        found.bytes += bytes;
                    }
                }
                let explained = (row.candidate.clone(), fate);
                found.explained.extend(Some(explained).filter(named));
            }
        }
    }
}

/// Returns the fate and the size in bytes of each row that a rule lets go. A row that has gone in the meantime counts as going.
async fn fates(
    store: &Store,
    kind: &Kind,
    rule: &RetentionRule,
    (retention, premise): (&Retention, &Premise),
    free: &[CoveredRow],
) -> Result<Vec<(RowFate, u64)>, PolicyError> {
    let uids: Vec<&str> = free.iter().map(|row| &*row.candidate.uid).collect();
    let stored = store.read_stored(kind.table(), &uids).await?;
    let marks = match rule.state {
        RetainedState::Evicted => store.marks_of(kind.table(), &uids).await?,
        RetainedState::Deleted => Vec::new(),
    };
    let grace = i64::try_from(retention.grace.as_micros()).unwrap_or(i64::MAX);
    let fate = |row: &StoredRow| {
        if let Err(why) = premise.prove(kind, row) {
            return RowFate::Pending(why);
        }
        let its = || marks.iter().filter(|mark| *mark.uid == *row.uid);
        let is_reverted = |mark: &Mark| {
            mark.revert_time.is_some() && mark.rule == rule.name && mark.text_hash == text_hash(row.json())
        };
        match its().find(|mark| mark.revert_time.is_none()) {
            Some(mark) => RowFate::Marked(mark.rule.clone(), Micros(mark.mark_time.0.saturating_add(grace))),
            None if its().any(is_reverted) => RowFate::Reverted,
            None => RowFate::Goes,
        }
    };
    let of = |uid: &str| stored.iter().find(|row| *row.uid == *uid);
    Ok(uids.into_iter().map(|uid| of(uid).map_or((RowFate::Goes, 0), |row| (fate(row), bytes(row)))).collect())
}

/// The size in bytes of a row's object, as JSON and as protobuf.
fn bytes(row: &StoredRow) -> u64 {
    let proto = match row.values.get(base::PROTO) {
        Some(Value::Bytes(proto)) => proto.len(),
        _ => 0,
    };
    (row.json().len() + proto) as u64
}

/// Returns the rows of this name that the premise excludes because of the definition that wrote them.
async fn pending_of(
    store: &Store,
    kind: &Kind,
    rule: &RetentionRule,
    premise: &Premise,
    name: &str,
) -> Result<Vec<(Candidate, RowFate)>, PolicyError> {
    let query = Query { names: vec![name.to_owned()], ..pending_query(rule, premise) };
    let mut read = vec![base::NAMESPACE, base::NAME, base::CREATE_TIME];
    read.extend(STANDING_PLACES);
    let wanted = RequestedParts { places: read, labels: false };
    let page = store.ask_about(kind, &query, store.limits())?.page(&wanted, EXPLAINED, None).await?;
    let explained = |row: FoundRow| {
        let standing = row.standing();
        let why = premise.refuses(standing.version.ingest_version)?;
        let candidate = Candidate {
            uid: row.uid().into(),
            namespace: row.get_text(base::NAMESPACE).into(),
            name: row.get_text(base::NAME).into(),
            version: standing.version.res_version,
            created: row.time(base::CREATE_TIME),
            since: None,
            definition: standing.version.ingest_version,
            takes_place: false,
            evidence: 0,
            group: Vec::new(),
        };
        Some((candidate, RowFate::Pending(why)))
    };
    Ok(page.rows.into_iter().filter_map(explained).collect())
}

/// The rows of a kind in a store, for judging only.
struct ReadOnlyRows<'s> {
    store: &'s Store,
    kind: &'s Kind,
}

impl CoveredRows for ReadOnlyRows<'_> {
    fn premise<'a>(&'a self, rules: &'a [RetentionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>> {
        async move { Ok(self.store.premise(self.kind, reads(self.kind, rules)?).await?) }.boxed()
    }

    fn unproved<'a>(
        &'a self,
        uids: &'a [Box<str>],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, PolicyError>> {
        unproved(self.store, self.kind, uids, premise).boxed()
    }

    fn pending<'a>(&'a self, rule: &'a RetentionRule, premise: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>> {
        pending(self.store, self.kind, rule, premise).boxed()
    }

    fn covered<'a>(
        &'a self,
        rule: &'a RetentionRule,
        which: RowSelection<'a>,
    ) -> BoxFuture<'a, Result<Portion, PolicyError>> {
        covered(self.store, self.kind, rule, which).boxed()
    }
}
