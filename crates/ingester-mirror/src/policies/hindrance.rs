//! The reasons that keep an object in the cluster whatever a rule says: its owner, its dependents, finalizers of others, or a recent restore.

use super::dependents::{NAMESPACES, can_depend};
use super::{Candidate, Dependents, PolicyError};
use crate::lifecycle::finalizer;
use ingester_core::Kind;
use ingester_core::marks::{Mark, Marks};
use ingester_core::object::{ManagedFields, Meta, Object, owner_uids};
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_sql::query::{Query, States};
use ingester_store::query::{AskError, RequestedParts};
use ingester_store::{PendingReason, Premise, Store};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

/// How many objects are checked at a time.
const CHUNK: usize = 256;

/// The field by which an object's text names its owners.
const OWNERS: &str = "\"ownerReferences\"";

/// The reason why an object stays in the cluster although a rule chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// One of its owners is live.
    Owned,
    /// A live object has it as an owner. Deleting the owner would delete that object as garbage.
    Owns,
    /// As `Owns`, but the dependent in the cluster has no live row: its kind is suspended or behind the cluster, or the object is rejected,
    /// or left out by a filter.
    OwnsUnstored,
    /// The objects of a kind that may have it as an owner are not known.
    Unlisted {
        /// The kind.
        kind: &'static str,
        /// Why they could not be listed.
        why: Box<str>,
    },
    /// A finalizer of others holds it.
    Finalizer(Box<str>),
    /// It is being deleted.
    Terminating,
    /// It was restored recently. No rule may evict it again before this time.
    Restored(Micros),
    /// It has changed since the rule was judged.
    Changed,
    /// No rule may judge its row now.
    Pending(PendingReason),
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hindrance::Owned => write!(f, "its owner is live: it leaves after that"),
            Hindrance::Owns => write!(f, "a live object has it as its owner, and would be collected as garbage"),
            Hindrance::OwnsUnstored => write!(
                f,
                "an object in the cluster that has no live row has it as its owner, and would be collected as garbage"
            ),
            Hindrance::Unlisted { kind, why } => write!(
                f,
                "it may own objects of {kind} that have no rows, as that kind is suspended or behind the cluster: it waits until the API server \
                 lists them ({why})"
            ),
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

/// Returns the hindrance that an object's metadata alone shows.
pub(crate) fn held(meta: &Meta, marks: &Marks) -> Option<Hindrance> {
    if meta.deletion_timestamp.is_some() {
        return Some(Hindrance::Terminating);
    }
    let foreign = meta.finalizers.iter().find(|name| !finalizer::holds(std::slice::from_ref(*name), marks));
    foreign.map(|name| Hindrance::Finalizer(name.clone()))
}

/// Returns the hindrance of an object that was restored recently. The object's own text decides, whatever its columns and labels say.
pub(crate) fn restored(meta: &Meta, marks: &Marks, grace: Duration, now: Micros) -> Option<Hindrance> {
    meta.annotations.iter().find(|(key, _)| marks.is(Mark::RestoredFrom, key))?;
    let grace = i64::try_from(grace.as_micros()).unwrap_or(i64::MAX);
    let until = Micros(meta.creation_timestamp.as_ref()?.micros().0.saturating_add(grace));
    (until > now).then_some(Hindrance::Restored(until))
}

/// The limits and facts for weighing objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeighBounds<'a> {
    pub(crate) most: usize,
    pub(crate) restore_grace: Duration,
    /// The premise that the texts of their rows must prove.
    pub(crate) premise: &'a Premise,
    /// The dependents that no live row shows.
    pub(crate) dependents: &'a Dependents,
}

/// The objects that a rule chose: those that may leave, and those that stay, with the reason.
#[derive(Debug, Default)]
pub(crate) struct WeighedCandidates {
    /// The objects that may leave, and the total size of their texts in bytes.
    pub(crate) free: Vec<Candidate>,
    pub(crate) bytes: u64,
    pub(crate) hindered: Vec<(Candidate, Hindrance)>,
}

impl WeighedCandidates {
    /// Moves the objects with these dependents from `free` to the hindered ones. The rows alone did not show these dependents.
    pub(crate) fn take_back(&mut self, dependents: &Dependents) {
        for candidate in std::mem::take(&mut self.free) {
            match dependents.hindrance(&candidate) {
                Some(hindrance) => self.hindered.push((candidate, hindrance)),
                None => self.free.push(candidate),
            }
        }
    }
}

/// Checks the objects that a rule chose, in their order, until as many may leave as the bounds allow. `kinds` are the mirrored kinds.
///
/// Reads every live row of the mirrored kinds in the namespaces of those objects, because no column says what owns an object.
pub(crate) async fn weigh(
    store: &Store,
    kinds: &[Kind],
    kind: &Kind,
    leaving: &[Candidate],
    bounds: WeighBounds<'_>,
) -> Result<WeighedCandidates, PolicyError> {
    let WeighBounds { most, restore_grace, premise, dependents } = bounds;
    let mut weighed = WeighedCandidates::default();
    if leaving.is_empty() || most == 0 {
        return Ok(weighed);
    }
    let owners = owners_among(store, kinds, kind, leaving).await?;
    for chunk in leaving.chunks(CHUNK) {
        let uids: Vec<&str> = chunk.iter().map(|candidate| &*candidate.uid).collect();
        let mut stored = read_live_rows(store, kind, &uids, premise).await?;
        let owned_by: Vec<&str> = stored.values().flat_map(|row| row.owners.iter().map(AsRef::as_ref)).collect();
        let live = live_among(store, kinds, &owned_by).await?;
        for candidate in chunk {
            // Without a row, the object is gone by now.
            let Some(row) = stored.remove(&candidate.uid) else { continue };
            let LeavingRow { version, meta, owners: its_owners, bytes, evidence } = row;
            let pending = || evidence.clone().err().map(Hindrance::Pending);
            let hindrance = if version != candidate.version {
                Some(Hindrance::Changed)
            } else if its_owners.iter().any(|owner| live.contains(owner)) {
                Some(Hindrance::Owned)
            } else if owners.contains(&candidate.uid) {
                Some(Hindrance::Owns)
            } else {
                held(&meta, kind.marks())
                    .or_else(|| restored(&meta, kind.marks(), restore_grace, store.now()))
                    .or_else(|| dependents.hindrance(candidate))
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

/// A live row whose object a rule chose.
struct LeavingRow {
    version: u64,
    meta: Meta,
    /// The uids of all of its owners.
    owners: Vec<Box<str>>,
    /// The size of its text.
    bytes: u64,
    /// A hash of the parts that rules read, or the reason why no rule may judge the row.
    evidence: Result<u64, PendingReason>,
}

/// Returns the live rows of these objects, each read with its labels in one state of the database.
async fn read_live_rows(
    store: &Store,
    kind: &Kind,
    uids: &[&str],
    premise: &Premise,
) -> Result<HashMap<Box<str>, LeavingRow>, PolicyError> {
    let mut leaving = HashMap::new();
    for row in store.read_stored(kind.table(), uids).await? {
        if row.delete_time.is_some() || row.evict_time.is_some() {
            continue;
        }
        // A text that cannot be parsed does not show its owners, so the object stays.
        let Ok(object) = Object::parse(row.json(), ManagedFields::Keep) else { continue };
        let Ok(owners) = owner_uids(row.json()) else { continue };
        let evidence = premise.prove(kind, &row).and_then(|_| premise.evidence(kind, &object));
        let meta = object.meta().clone();
        let bytes = row.json().len() as u64;
        leaving.insert(row.uid, LeavingRow { version: row.res_version, meta, owners, bytes, evidence });
    }
    Ok(leaving)
}

/// Returns the uids, out of these, whose objects are live.
async fn live_among(store: &Store, kinds: &[Kind], uids: &[&str]) -> Result<HashSet<Box<str>>, PolicyError> {
    let mut live = HashSet::new();
    if uids.is_empty() {
        return Ok(live);
    }
    let uids: HashSet<&str> = uids.iter().copied().collect();
    let query = Query { uids: uids.into_iter().map(str::to_owned).collect(), states: States::LIVE, ..Query::default() };
    for kind in kinds {
        let page = store.ask_about(kind, &query, store.limits())?.page(&RequestedParts::default(), CHUNK, None).await?;
        live.extend(page.rows.iter().map(|row| Box::from(row.uid())));
    }
    Ok(live)
}

/// Returns the candidates that a live object has as an owner.
async fn owners_among(
    store: &Store,
    kinds: &[Kind],
    kind: &Kind,
    leaving: &[Candidate],
) -> Result<HashSet<Box<str>>, PolicyError> {
    let wanted: HashSet<&str> = leaving.iter().map(|candidate| &*candidate.uid).collect();
    let namespaces: HashSet<&str> = leaving.iter().map(|candidate| &*candidate.namespace).collect();
    let mut found = HashSet::new();
    for dependents in kinds.iter().filter(|dependents| can_depend(dependents, kind)) {
        let narrow = kind.namespaced() && namespaces.len() <= NAMESPACES;
        let namespaces = namespaces.iter().filter(|_| narrow).map(|namespace| (*namespace).to_owned()).collect();
        let query = Query { namespaces, states: States::LIVE, ..Query::default() };
        let asked = store.ask_about(dependents, &query, store.limits())?;
        let mut reader = asked.reader(&RequestedParts::object(), None).map_err(AskError::from)?;
        loop {
            let rows = reader.next().await?;
            if rows.is_empty() {
                break;
            }
            let texts = rows.iter().map(|row| row.get_text(base::JSON)).filter(|text| text.contains(OWNERS));
            let owners = texts.filter_map(|text| owner_uids(text).ok()).flatten();
            found.extend(owners.filter(|owner| wanted.contains(&**owner)));
        }
    }
    Ok(found)
}
