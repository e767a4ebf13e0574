//! Says when evicted objects left etcd, and by what. A row records the time; the cause is what its object and the present rules show.

use super::ask::{candidates_of, query};
use super::{PolicyError, not_yet};
use ingester_config::EvictionRule;
use ingester_core::Kind;
use ingester_core::marks::{Mark, MarkName};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{Filter, Query, States, Test};
use ingester_store::Store;
use ingester_store::query::{FoundRow, Wanted};
use std::collections::HashMap;
use std::fmt;

/// The most objects of one name that are explained.
const MOST: usize = 1000;

/// An evicted object.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// Its namespace; empty if it has none.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// When its eviction began.
    pub time: Micros,
    /// What took it out of etcd.
    pub cause: DepartureCause,
}

/// What took an object out of etcd.
#[derive(Clone, Debug, PartialEq)]
pub enum DepartureCause {
    /// Every object of its kind leaves.
    Kind,
    /// Its annotation asks for it.
    Annotation(MarkName),
    /// These rules select it, and their `after` had passed then. If none does, the rule has changed, or is gone.
    Rules(Vec<String>),
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it left etcd at {}, ", self.time.rfc3339())?;
        match &self.cause {
            DepartureCause::Kind => f.write_str("as every object of this kind (`immutable`)"),
            DepartureCause::Annotation(name) => write!(f, "because it has the annotation `{name}`"),
            DepartureCause::Rules(rules) if rules.is_empty() => {
                f.write_str("by a rule that has changed since or is gone: no present rule selects it")
            }
            DepartureCause::Rules(rules) => {
                let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
                write!(f, "by {}, which selects it and whose `after` had passed", names.join(" or "))
            }
        }
    }
}

/// Returns the evicted objects of a kind with this name. `rules` are the eviction rules of the kind.
///
/// # Errors
/// If a rule cannot be judged about this kind, or the database fails.
pub async fn departures(
    store: &Store,
    kind: &Kind,
    rules: &[EvictionRule],
    name: &str,
) -> Result<Vec<Departure>, PolicyError> {
    let named = Filter::field("name", Test::Equal(Value::text(name)));
    let all = Query { states: States::EVICTED, filters: vec![named.clone()], ..Query::default() };
    let wanted = Wanted { places: vec![base::NAMESPACE, base::NAME, base::EVICT_TIME], labels: false };
    let asked = store.ask_about(kind, &all, store.limits())?;
    let rows = asked.at_once(&wanted, MOST).await?.ok_or(PolicyError::TooMany)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let uids: Vec<&str> = rows.iter().map(|row| row.uid()).collect();
    let mut annotated: HashMap<Box<str>, MarkName> = HashMap::new();
    for row in store.stored(kind.table(), &uids).await? {
        if let Some(mark) = kind.marks().asked(&row.annotations, Mark::Immutable) {
            annotated.insert(row.uid, mark);
        }
    }
    let mut selected = Vec::new();
    for EvictionRule { name: rule, condition, .. } in rules {
        let mut query = Query { states: States::EVICTED, ..query(condition) };
        query.filters.push(named.clone());
        selected.push((rule, condition, candidates_of(store, kind, condition, query).await?));
    }
    let departure = |row: &FoundRow| {
        let time = row.time(base::EVICT_TIME)?;
        let by = selected.iter().filter(|(_, condition, candidates)| {
            let candidate = candidates.iter().find(|candidate| *candidate.uid == *row.uid());
            candidate.is_some_and(|candidate| not_yet(condition, candidate, time).is_none())
        });
        let cause = match annotated.get(row.uid()) {
            _ if kind.immutable() => DepartureCause::Kind,
            Some(mark) => DepartureCause::Annotation(*mark),
            None => DepartureCause::Rules(by.map(|(rule, ..)| (*rule).clone()).collect()),
        };
        let (namespace, name) = (row.text(base::NAMESPACE).into(), row.text(base::NAME).into());
        Some(Departure { namespace, name, time, cause })
    };
    Ok(rows.iter().filter_map(departure).collect())
}
