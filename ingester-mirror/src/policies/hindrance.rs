//! What keeps an object in the cluster whatever a rule says: its owner, what it owns, finalizers of others, and that it was just restored.

use super::{Candidate, PolicyError};
use crate::lifecycle::finalizer;
use ingester_core::Kind;
use ingester_core::marks::{Mark, Marks};
use ingester_core::object::{ManagedFields, Meta, Object};
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_sql::query::{Query, States};
use ingester_store::query::{AskError, Wanted};
use ingester_store::{Pending, Premise, Store};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

/// How many objects are checked at a time.
const CHUNK: usize = 256;

/// With more namespaces than this, owned objects are searched for in all namespaces.
const NAMESPACES: usize = 100;

/// The field by which an object's text names its owners.
const OWNERS: &str = "\"ownerReferences\"";

/// Why an object stays in the cluster although a rule says that it is to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// Its owner is live.
    Owned,
    /// A live object has it as its owner, and would be collected as garbage.
    Owns,
    /// A finalizer of others holds it.
    Finalizer(Box<str>),
    /// It is being deleted.
    Terminating,
    /// It was restored, and no rule takes it away again before this time.
    Restored(Micros),
    /// It has changed since the rule was judged.
    Changed,
    /// No rule may judge it now.
    Pending(Pending),
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hindrance::Owned => write!(f, "its owner is live: it leaves after that"),
            Hindrance::Owns => write!(f, "a live object has it as its owner, and would be collected as garbage"),
            Hindrance::Finalizer(name) => write!(f, "the finalizer `{name}` holds it"),
            Hindrance::Terminating => write!(f, "it is being deleted"),
            Hindrance::Restored(until) => {
                write!(
                    f,
                    "it was restored, and `policies.restoreGrace` exempts it from rules before {}",
                    until.rfc3339()
                )
            }
            Hindrance::Changed => write!(f, "it has changed since the rule was judged"),
            Hindrance::Pending(why) => write!(f, "pending: {why}"),
        }
    }
}

/// What keeps an object in the cluster by its metadata alone.
pub(crate) fn held(meta: &Meta, marks: &Marks) -> Option<Hindrance> {
    if meta.deletion_timestamp.is_some() {
        return Some(Hindrance::Terminating);
    }
    let foreign = meta.finalizers.iter().find(|name| !finalizer::holds(std::slice::from_ref(*name), marks));
    foreign.map(|name| Hindrance::Finalizer(name.clone()))
}

/// What keeps an object in the cluster for a while because it was restored. By its own text, so it holds whatever columns and labels say.
pub(crate) fn restored(meta: &Meta, marks: &Marks, grace: Duration, now: Micros) -> Option<Hindrance> {
    meta.annotations.iter().find(|(key, _)| marks.is(Mark::RestoredFrom, key))?;
    let grace = i64::try_from(grace.as_micros()).unwrap_or(i64::MAX);
    let until = Micros(meta.creation_timestamp.as_ref()?.micros().0.saturating_add(grace));
    (until > now).then_some(Hindrance::Restored(until))
}

/// How many objects may leave, and for how long restored objects stay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeighBounds<'a> {
    pub(crate) most: usize,
    pub(crate) restore_grace: Duration,
    /// What the texts of their rows must prove.
    pub(crate) premise: &'a Premise,
}

/// The objects that are to leave, with what hinders them.
#[derive(Debug, Default)]
pub(crate) struct Weighed {
    /// The objects that may leave, and the total size of their texts in bytes.
    pub(crate) free: Vec<Candidate>,
    pub(crate) bytes: u64,
    pub(crate) hindered: Vec<(Candidate, Hindrance)>,
}

/// Checks the objects that are to leave, in their order, until as many may as the bounds say. `kinds` are those that are mirrored.
///
/// Reads every live row of these kinds in the namespaces of those objects, because no column says what owns an object.
pub(crate) async fn weigh(
    store: &Store,
    kinds: &[Kind],
    kind: &Kind,
    leaving: &[Candidate],
    bounds: WeighBounds<'_>,
) -> Result<Weighed, PolicyError> {
    let WeighBounds { most, restore_grace, premise } = bounds;
    let mut weighed = Weighed::default();
    if leaving.is_empty() || most == 0 {
        return Ok(weighed);
    }
    let owners = owners_among(store, kinds, kind, leaving).await?;
    for chunk in leaving.chunks(CHUNK) {
        let uids: Vec<&str> = chunk.iter().map(|candidate| &*candidate.uid).collect();
        let mut stored = stored(store, kind, &uids, premise).await?;
        let owned_by: Vec<&str> = stored.values().filter_map(|row| row.meta.owner_uid.as_deref()).collect();
        let live = live_among(store, kinds, &owned_by).await?;
        for candidate in chunk {
            // Without a row, the object is gone by now.
            let Some(LeavingRow { version, meta, bytes, evidence }) = stored.remove(&candidate.uid) else { continue };
            let pending = || evidence.clone().err().map(Hindrance::Pending);
            let hindrance = if version != candidate.version {
                Some(Hindrance::Changed)
            } else if meta.owner_uid.as_ref().is_some_and(|owner| live.contains(owner)) {
                Some(Hindrance::Owned)
            } else if owners.contains(&candidate.uid) {
                Some(Hindrance::Owns)
            } else {
                held(&meta, kind.marks())
                    .or_else(|| restored(&meta, kind.marks(), restore_grace, store.now()))
                    .or_else(pending)
            };
            match hindrance {
                Some(hindrance) => weighed.hindered.push((candidate.clone(), hindrance)),
                None => {
                    let evidence = evidence.unwrap_or_default();
                    weighed.free.push(Candidate { evidence, ..candidate.clone() });
                    weighed.bytes += bytes;
                }
            }
            if weighed.free.len() >= most {
                return Ok(weighed);
            }
        }
    }
    Ok(weighed)
}

/// A live row whose object is to leave.
struct LeavingRow {
    version: u64,
    meta: Meta,
    /// Of its text.
    bytes: u64,
    /// A hash of what rules read of it, or why no rule may judge it.
    evidence: Result<u64, Pending>,
}

/// The live rows of these objects, each read with its labels in one state of the database.
async fn stored(
    store: &Store,
    kind: &Kind,
    uids: &[&str],
    premise: &Premise,
) -> Result<HashMap<Box<str>, LeavingRow>, PolicyError> {
    let mut leaving = HashMap::new();
    for row in store.stored(kind.table(), uids).await? {
        if row.delete_time.is_some() || row.evict_time.is_some() {
            continue;
        }
        // A text that cannot be read says nothing about owners: the object stays.
        let Ok(object) = Object::parse(row.json(), ManagedFields::Keep) else { continue };
        let evidence = premise.prove(kind, &row).and_then(|_| premise.evidence(kind, &object));
        let (version, meta, bytes) = (row.res_version, object.meta().clone(), row.json().len() as u64);
        leaving.insert(row.uid, LeavingRow { version, meta, bytes, evidence });
    }
    Ok(leaving)
}

/// The uids, out of these, whose objects are live.
async fn live_among(store: &Store, kinds: &[Kind], uids: &[&str]) -> Result<HashSet<Box<str>>, PolicyError> {
    let mut live = HashSet::new();
    if uids.is_empty() {
        return Ok(live);
    }
    let uids: HashSet<&str> = uids.iter().copied().collect();
    let query = Query { uids: uids.into_iter().map(str::to_owned).collect(), states: States::LIVE, ..Query::default() };
    for kind in kinds {
        let page = store.ask_about(kind, &query, store.limits())?.page(&Wanted::default(), CHUNK, None).await?;
        live.extend(page.rows.iter().map(|row| Box::from(row.uid())));
    }
    Ok(live)
}

/// The candidates that a live object has as its owner.
async fn owners_among(
    store: &Store,
    kinds: &[Kind],
    kind: &Kind,
    leaving: &[Candidate],
) -> Result<HashSet<Box<str>>, PolicyError> {
    let wanted: HashSet<&str> = leaving.iter().map(|candidate| &*candidate.uid).collect();
    let namespaces: HashSet<&str> = leaving.iter().map(|candidate| &*candidate.namespace).collect();
    let mut found = HashSet::new();
    // An object in a namespace owns only objects of that namespace.
    for dependents in kinds.iter().filter(|dependents| dependents.namespaced() || !kind.namespaced()) {
        let narrow = kind.namespaced() && namespaces.len() <= NAMESPACES;
        let namespaces = namespaces.iter().filter(|_| narrow).map(|namespace| (*namespace).to_owned()).collect();
        let query = Query { namespaces, states: States::LIVE, ..Query::default() };
        let asked = store.ask_about(dependents, &query, store.limits())?;
        let mut reader = asked.reader(&Wanted::object(), None).map_err(AskError::from)?;
        loop {
            let rows = reader.next().await?;
            if rows.is_empty() {
                break;
            }
            let texts = rows.iter().map(|row| row.text(base::JSON)).filter(|text| text.contains(OWNERS));
            let objects = texts.filter_map(|text| Object::parse(text, ManagedFields::Keep).ok());
            found.extend(
                objects.filter_map(|object| object.meta().owner_uid.clone().filter(|owner| wanted.contains(&**owner))),
            );
        }
    }
    Ok(found)
}
