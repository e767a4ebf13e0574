//! What a rule would purge, for people.

use super::rows::{CHUNK, Covered, CoveredRows, Portion, Which, covered, query};
use super::rules::{Held, Together, Weighed, rules};
use crate::config::{Retained, Retention, RetentionRule};
use crate::policies::{Candidate, PolicyError, Stays, places};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_sql::query::{Query, States};
use ingester_store::Store;
use ingester_store::query::{AskError, Wanted};
use std::fmt;

/// What a rule that covers a row does with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFate {
    /// The rule lets it go, and no other rule keeps it.
    Goes,
    /// The rule lets it go, but another rule keeps it.
    Held(Held),
    /// The rule keeps it.
    Stays(Stays),
}

impl fmt::Display for RowFate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowFate::Goes => write!(f, "no rule keeps it any more"),
            RowFate::Held(held) => held.fmt(f),
            RowFate::Stays(why) => why.fmt(f),
        }
    }
}

/// What a rule would purge now, whether it is enforced or not.
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
    /// What the rule does with each row of the requested name.
    pub explained: Vec<(Candidate, RowFate)>,
}

/// Whether the rule can be judged about rows of this kind.
///
/// # Errors
/// Names the field or the key that is wrong.
pub fn check(kind: &Kind, rule: &RetentionRule) -> Result<(), PolicyError> {
    if rule.state == Retained::Evicted && kind.immutable() && !rule.immutable {
        let why = "every object of this kind is evicted, because it is immutable by contract, and its row is the only copy: \
                   add `immutable: true` if the rule is meant for it, or take the kind out of `kinds`";
        return Err(PolicyError::Rule(why.into()));
    }
    places(&rule.rule, &query(rule, Which::All).check(kind.table())?).map(drop)
}

/// Judges a rule as the mirror does, and changes nothing. `name` is the name of the objects whose rows are to be explained.
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
    all.iter().filter(|other| !other.kinds.is_empty()).try_for_each(|rule| check(kind, rule))?;
    let number = all.iter().position(|other| other.rule.name == rule.rule.name).unwrap_or_default();
    let rows = OnlyRead { store, kind };
    let together = Together::begin(&rows, all, store.read_clock().await?).await.map_err(|wrong| *wrong.error)?;
    let (mut found, mut place) = (RetentionForecast::default(), together.start(number));
    loop {
        let next = together.next(&rows, number, &mut place, true).await.map_err(|wrong| *wrong.error)?;
        let Some(Weighed { free, held, staying }) = next else { return Ok(found) };
        found.going += free.len() as u64;
        found.held += held.len() as u64;
        found.staying += staying.len() as u64;
        found.bytes += bytes(store, kind, &free).await?;
        let free = free.into_iter().map(|row| (row.candidate, RowFate::Goes));
        let held = held.into_iter().map(|(row, by)| (row.candidate, RowFate::Held(by)));
        let staying = staying.into_iter().map(|(row, why)| (row.candidate, RowFate::Stays(why)));
        let named = |(row, _): &(Candidate, RowFate)| name.is_some_and(|name| *row.name == *name);
        found.explained.extend(free.chain(held).chain(staying).filter(named));
    }
}

/// The total size in bytes of the objects of these rows.
async fn bytes(store: &Store, kind: &Kind, rows: &[Covered]) -> Result<u64, PolicyError> {
    let mut bytes = 0;
    for rows in rows.chunks(CHUNK).filter(|rows| !rows.is_empty()) {
        let uids = rows.iter().map(|row| row.candidate.uid.to_string()).collect();
        let query = Query { uids, states: States::ALL, ..Query::default() };
        let wanted = Wanted { places: vec![base::JSON, base::PROTO], labels: false };
        let mut reader =
            store.ask_about(kind, &query, store.limits())?.reader(&wanted, None).map_err(AskError::from)?;
        loop {
            let found = reader.next().await?;
            if found.is_empty() {
                break;
            }
            for row in &found {
                let proto = match row.get(base::PROTO) {
                    Some(Value::Bytes(proto)) => proto.len(),
                    _ => 0,
                };
                bytes += (row.text(base::JSON).len() + proto) as u64;
            }
        }
    }
    Ok(bytes)
}

/// The rows of a kind in a store, only to be judged.
struct OnlyRead<'s> {
    store: &'s Store,
    kind: &'s Kind,
}

impl CoveredRows for OnlyRead<'_> {
    fn covered<'a>(&'a self, rule: &'a RetentionRule, which: Which<'a>) -> BoxFuture<'a, Result<Portion, PolicyError>> {
        covered(self.store, self.kind, rule, which).boxed()
    }
}
