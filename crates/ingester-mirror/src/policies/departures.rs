//! Says when evicted objects left etcd, and by what. A row records the time; the cause is what its object and the present rules show.

use super::ask::{candidates_of, query};
use super::{PolicyError, not_yet};
use ingester_config::EvictionRule;
use ingester_core::Kind;
use ingester_core::marks::{Mark, MarkName};
use ingester_core::row::Eviction;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{Filter, Order, Query, States, Test};
use ingester_store::Store;
use ingester_store::query::{FoundRow, RequestedParts, STANDING_PLACES};
use std::collections::HashMap;
use std::fmt;

/// The most objects of one name that are explained.
const MOST: usize = 1000;

/// The evicted objects of a kind with one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Departures {
    /// The newest evictions, the last one first.
    pub newest: Vec<Departure>,
    /// True if there are older ones.
    pub has_more: bool,
}

/// An evicted object.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// Its namespace; empty if it has none.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// When its eviction began.
    pub time: Micros,
    /// False while the object is not known to have left etcd.
    pub confirmed: bool,
    /// The reason why it left etcd.
    pub cause: DepartureCause,
}

/// The reason why an object left etcd.
#[derive(Clone, Debug, PartialEq)]
pub enum DepartureCause {
    /// Every object of its kind leaves.
    Kind,
    /// Its annotation asks for it.
    Annotation(MarkName),
    /// These enforced rules select it, and their `after` had passed then. If none does, a rule has changed or is gone, or the row was
    /// imported.
    Rules(Vec<String>),
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.confirmed { "it left etcd at" } else { "its eviction began at" };
        write!(f, "{what} {}, ", self.time.rfc3339())?;
        match &self.cause {
            DepartureCause::Kind => f.write_str("as every object of this kind (`immutable`)"),
            DepartureCause::Annotation(name) => write!(f, "because it has the annotation `{name}`"),
            DepartureCause::Rules(rules) if rules.is_empty() => f.write_str(
                "and no rule that is enforced now selects it: a rule has changed since, or the row was imported",
            ),
            DepartureCause::Rules(rules) => {
                let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
                write!(f, "by {}, which selects it and whose `after` had passed", names.join(" or "))
            }
        }
    }
}

/// Returns the evicted objects of a kind with this name. `rules` are the eviction rules of the kind, limited to the namespaces that their
/// selectors find. Only enforced rules count as causes.
///
/// # Errors
/// If a rule cannot be judged about this kind, or the database fails.
pub async fn departures(
    store: &Store,
    kind: &Kind,
    rules: &[EvictionRule],
    name: &str,
) -> Result<Departures, PolicyError> {
    let named = Filter::field("name", Test::Equal(Value::text(name)));
    let order = vec![Order { field: "evict_time".into(), descending: true }];
    let all = Query { states: States::EVICTED, filters: vec![named], order, ..Query::default() };
    let places = [base::NAMESPACE, base::NAME].into_iter().chain(STANDING_PLACES).collect();
    let page = store
        .ask_about(kind, &all, store.limits())?
        .page(&RequestedParts { places, labels: false }, MOST, None)
        .await?;
    let rows = page.rows;
    let has_more = page.next.is_some();
    if rows.is_empty() {
        return Ok(Departures::default());
    }
    let uids: Vec<&str> = rows.iter().map(|row| row.uid()).collect();
    let mut annotated: HashMap<Box<str>, MarkName> = HashMap::new();
    for row in store.read_stored(kind.table(), &uids).await? {
        if let Some(mark) = kind.marks().asked(&row.annotations, Mark::Immutable) {
            annotated.insert(row.uid, mark);
        }
    }
    let mut selected = Vec::new();
    for EvictionRule { name: rule, condition, .. } in rules.iter().filter(|rule| rule.enforce) {
        let uids = uids.iter().map(|uid| (*uid).to_owned()).collect();
        let query = Query { states: States::EVICTED, uids, ..query(condition) };
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
        let namespace = row.get_text(base::NAMESPACE).into();
        let name = row.get_text(base::NAME).into();
        Some(Departure {
            namespace,
            name,
            time,
            confirmed: row.standing().version.eviction != Eviction::Intended,
            cause,
        })
    };
    Ok(Departures { newest: rows.iter().filter_map(departure).collect(), has_more })
}
