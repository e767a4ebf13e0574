//! What keeps an object in the cluster whatever a rule says: its owner, what it owns, and finalizers of others.

use super::ask::version;
use super::dependents::{NAMESPACES, can_depend};
use super::{Candidate, Dependents, PolicyError};
use crate::lifecycle::finalizer;
use ingester_core::Kind;
use ingester_core::marks::Marks;
use ingester_core::object::{ManagedFields, Meta, Object, owner_uids};
use ingester_core::schema::base;
use ingester_sql::query::{Query, States};
use ingester_store::Store;
use ingester_store::query::{AskError, Wanted};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// How many objects are checked at a time.
const CHUNK: usize = 256;

/// The field by which an object's text names its owners.
const OWNERS: &str = "\"ownerReferences\"";

/// Why an object stays in the cluster although a rule says that it is to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// One of its owners is live.
    Owned,
    /// A live object has it as an owner, and would be collected as garbage.
    Owns,
    /// The same for an object in the cluster that has no live row: its kind is suspended or behind the cluster, or the object is rejected, or left out
    /// by a filter.
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
    /// It has changed since the rule was judged.
    Changed,
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
            Hindrance::Changed => write!(f, "it has changed since the rule was judged"),
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

/// The objects that are to leave, with what hinders them.
#[derive(Debug, Default)]
pub(crate) struct Weighed {
    /// The objects that may leave, and the total size of their texts in bytes.
    pub(crate) free: Vec<Candidate>,
    pub(crate) bytes: u64,
    pub(crate) hindered: Vec<(Candidate, Hindrance)>,
}

impl Weighed {
    /// Keeps objects that may leave by the rows, but not because of these dependents.
    pub(crate) fn take_back(&mut self, dependents: &Dependents) {
        for candidate in std::mem::take(&mut self.free) {
            match dependents.hindrance(&candidate) {
                Some(hindrance) => self.hindered.push((candidate, hindrance)),
                None => self.free.push(candidate),
            }
        }
    }
}

/// What the objects of a kind that are to leave may depend on.
pub(crate) struct Neighbours<'a> {
    /// The mirrored kinds.
    pub(crate) kinds: &'a [Kind],
    pub(crate) kind: &'a Kind,
    pub(crate) dependents: &'a Dependents,
}

/// Checks the objects that are to leave, in their order, until this many may.
///
/// Reads every live row of the mirrored kinds in the namespaces of those objects, because no column says what owns an object.
pub(crate) async fn weigh(
    store: &Store,
    Neighbours { kinds, kind, dependents }: Neighbours<'_>,
    leaving: &[Candidate],
    most: usize,
) -> Result<Weighed, PolicyError> {
    let mut weighed = Weighed::default();
    if leaving.is_empty() || most == 0 {
        return Ok(weighed);
    }
    let owners = owners_among(store, kinds, kind, leaving).await?;
    for chunk in leaving.chunks(CHUNK) {
        let uids: Vec<&str> = chunk.iter().map(|candidate| &*candidate.uid).collect();
        let mut stored = stored(store, kind, &uids).await?;
        let owned_by: Vec<&str> = stored.values().flat_map(|row| row.owners.iter().map(AsRef::as_ref)).collect();
        let live = live_among(store, kinds, &owned_by).await?;
        for candidate in chunk {
            // Without a row, the object is gone by now.
            let Some(StoredCandidate { version, meta, owners: its_owners, bytes }) = stored.remove(&candidate.uid)
            else {
                continue;
            };
            let hindrance = if version != candidate.version {
                Some(Hindrance::Changed)
            } else if its_owners.iter().any(|owner| live.contains(owner)) {
                Some(Hindrance::Owned)
            } else if owners.contains(&candidate.uid) {
                Some(Hindrance::Owns)
            } else {
                held(&meta, kind.marks()).or_else(|| dependents.hindrance(candidate))
            };
            match hindrance {
                Some(hindrance) => weighed.hindered.push((candidate.clone(), hindrance)),
                None => {
                    weighed.free.push(candidate.clone());
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

/// A stored object that is to leave.
struct StoredCandidate {
    version: u64,
    meta: Meta,
    /// The uids of all of its owners.
    owners: Vec<Box<str>>,
    /// The size of its text.
    bytes: u64,
}

/// What is stored of each object.
async fn stored(store: &Store, kind: &Kind, uids: &[&str]) -> Result<HashMap<Box<str>, StoredCandidate>, PolicyError> {
    let query =
        Query { uids: uids.iter().map(|uid| (*uid).to_owned()).collect(), states: States::LIVE, ..Query::default() };
    let wanted = Wanted { places: vec![base::RES_VERSION, base::JSON], labels: false };
    let mut reader = store.ask_about(kind, &query, store.limits())?.reader(&wanted, None).map_err(AskError::from)?;
    let mut stored = HashMap::new();
    loop {
        let rows = reader.next().await?;
        if rows.is_empty() {
            return Ok(stored);
        }
        for row in rows {
            let text = row.text(base::JSON);
            // A text that cannot be read says nothing about owners: the object stays.
            let Ok(object) = Object::parse(text, ManagedFields::Keep) else { continue };
            let Ok(owners) = owner_uids(text) else { continue };
            let (version, bytes) = (version(&row), text.len() as u64);
            let candidate = StoredCandidate { version, meta: object.meta().clone(), owners, bytes };
            stored.insert(row.uid().into(), candidate);
        }
    }
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

/// The candidates that a live object has as an owner.
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
        let mut reader = asked.reader(&Wanted::object(), None).map_err(AskError::from)?;
        loop {
            let rows = reader.next().await?;
            if rows.is_empty() {
                break;
            }
            let texts = rows.iter().map(|row| row.text(base::JSON)).filter(|text| text.contains(OWNERS));
            let owners = texts.filter_map(|text| owner_uids(text).ok()).flatten();
            found.extend(owners.filter(|owner| wanted.contains(&**owner)));
        }
    }
    Ok(found)
}
