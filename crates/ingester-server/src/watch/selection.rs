//! Decides which events a watcher is sent: its scope from the log's entries alone, and the objects within it by questions to the database.

use super::entry::Entry;
use crate::former::Reach;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{Filter, Query, States, Test};
use ingester_store::changes::Change;
use ingester_store::query::FoundRow;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock};

/// The selection of a watcher. Watchers with equal selections share one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selection {
    scope: Scope,
    /// The question to the database about the objects in the scope.
    pub(super) rest: Query,
    /// Former objects that were created before this time are hidden.
    since: Option<Micros>,
    /// Some objects are hidden from the caller, whatever they request.
    is_narrowed: bool,
}

/// The objects that an entry of the log may be about.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scope {
    namespaces: Vec<String>,
    names: Vec<String>,
    uids: Vec<String>,
    /// Every one of these must match; they come from field selectors.
    equal: Vec<(Named, Arc<str>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Namespace,
    Name,
}

impl Scope {
    fn holds(&self, change: &Change) -> bool {
        let among = |texts: &[String], text: &str| texts.is_empty() || texts.iter().any(|other| other == text);
        let equal = |(named, text): &(Named, Arc<str>)| match named {
            Named::Namespace => **text == *change.namespace,
            Named::Name => **text == *change.name,
        };
        among(&self.namespaces, &change.namespace)
            && among(&self.names, &change.name)
            && among(&self.uids, &change.uid)
            && self.equal.iter().all(equal)
    }
}

/// The event that is sent for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentEvent {
    pub(super) event: EventType,
    /// The event has only the object's metadata, from the log.
    pub(super) bare: bool,
}

/// The type, as in Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventType {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

impl EventType {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            EventType::Added => "ADDED",
            EventType::Modified => "MODIFIED",
            EventType::Deleted => "DELETED",
            EventType::Bookmark => "BOOKMARK",
            EventType::Error => "ERROR",
        }
    }
}

/// The knowledge at the time of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryFacts<'a> {
    pub(super) entry: &'a Entry,
    /// The present row.
    pub(super) row: Option<&'a FoundRow>,
    /// The present row is selected.
    pub(super) matches: bool,
    /// The object was selected at the last look. Only if [`Selection::is_by_state`] is false.
    pub(super) had: bool,
    /// The object has been sent since, by an entry with its row.
    pub(super) was_sent: bool,
}

impl Selection {
    /// Creates the selection of a query that was already narrowed to objects that the caller may see.
    pub(super) fn new(query: Query, reach: Reach) -> Self {
        let Query { namespaces, names, uids, states, filters, order: _, scan, at: _ } = query;
        let mut scope = Scope { namespaces, names, uids, equal: Vec::new() };
        let mut rest = Query { states, scan, ..Query::default() };
        for filter in filters {
            match &filter {
                Filter::Field { field, test: Test::Equal(Value::Text(text)) } if field == "metadata.name" => {
                    scope.equal.push((Named::Name, text.clone()));
                }
                Filter::Field { field, test: Test::Equal(Value::Text(text)) } if field == "metadata.namespace" => {
                    scope.equal.push((Named::Namespace, text.clone()));
                }
                _ => rest.filters.push(filter),
            }
        }
        let since = if let Reach::Since(time) = reach { Some(time) } else { None };
        Selection { scope, rest, since, is_narrowed: reach != Reach::All }
    }

    /// Returns true if an entry may be about a selected object.
    pub(super) fn holds(&self, change: &Change) -> bool {
        self.scope.holds(change)
    }

    /// Returns true if the state of a row alone decides. Then the database is not asked, and nothing is remembered. An entry does not show
    /// if an object was live before it was evicted, so such a selection has both states, or neither.
    pub(super) fn is_by_state(&self) -> bool {
        let States { live, evicted, deleted: _ } = self.rest.states;
        self.rest.filters.is_empty() && live == evicted
    }

    /// Returns true if the state of this row is selected.
    pub(super) fn has_state(&self, row: &FoundRow) -> bool {
        let States { live, evicted, deleted } = self.rest.states;
        match row.state() {
            "live" => live,
            "evicting" | "evicted" => evicted,
            _ => deleted,
        }
    }

    /// Returns the query that finds all selected objects.
    pub(super) fn query(&self) -> Query {
        let Scope { namespaces, names, uids, equal } = self.scope.clone();
        let mut query = Query { namespaces, names, uids, ..self.rest.clone() };
        query.filters.extend(equal.into_iter().map(|(named, text)| {
            let field = match named {
                Named::Namespace => "metadata.namespace",
                Named::Name => "metadata.name",
            };
            Filter::field(field, Test::Equal(Value::Text(text)))
        }));
        query
    }

    /// Returns the event to send at an entry. `certain`: the watcher has exactly the objects that were selected at the last look; otherwise
    /// it may have others, because it read objects later than its position, or its position is a lower bound.
    ///
    /// A selected object is sent by the entry that has its present row; other entries are skipped, because that entry follows. If an object
    /// is not selected now, the first entry after which this may be so sends it as deleted, whatever the row is: a client that resumes
    /// between two entries learns only from the later ones.
    pub(super) fn sent(&self, seen: EntryFacts<'_>, certain: bool) -> Option<SentEvent> {
        let EntryFacts { entry, row, matches, had, was_sent } = seen;
        let has_row = entry.has(row);
        let (had, was_sent) = match self.is_by_state() {
            true => {
                let had = intersects(entry.state_before(row), self.rest.states);
                (had, had)
            }
            false => (had, was_sent),
        };
        if matches {
            let event = if entry.is_new || !was_sent && certain { EventType::Added } else { EventType::Modified };
            return has_row.then_some(SentEvent { event, bare: false });
        }
        if self.is_by_state() && !has_row && intersects(entry.state_after(), self.rest.states) {
            // A later entry says that the object has left.
            return None;
        }
        let mut rarely = entry.rarely_before(row);
        // Hidden objects are not sent on suspicion.
        rarely.live &= !self.is_narrowed;
        let before = entry.state_before(row).or(rarely);
        let may_have = !certain && intersects(before, self.select_states(row));
        // A typed client decodes the whole object, or ignores its deletion. So it gets the present object, even if that has changed again.
        let bare = self.is_narrowed || row.is_none();
        (had || may_have).then_some(SentEvent { event: EventType::Deleted, bare })
    }

    /// Returns the selected states in which the caller may see this row.
    fn select_states(&self, row: Option<&FoundRow>) -> States {
        let is_older = |since| row.and_then(|row| row.time(base::CREATE_TIME)).is_none_or(|created| created < since);
        match self.since {
            Some(since) if is_older(since) => self.rest.states.and(States::LIVE),
            _ => self.rest.states,
        }
    }
}

fn intersects(one: States, other: States) -> bool {
    one.and(other) != States::NONE
}

/// A selection with the memory of its objects, for all its watchers.
#[derive(Debug)]
pub(super) struct Selector {
    pub(super) selection: Selection,
    /// The question to the database. Selectors with the same question share it.
    pub(super) rest: Arc<Query>,
    matched: Mutex<SelectedObjects>,
    /// Set once the selected objects are known.
    pub(super) learned: tokio::sync::OnceCell<()>,
}

/// The objects that were selected at the last look.
#[derive(Debug)]
struct SelectedObjects {
    uids: HashSet<u128>,
    /// The objects, out of these, that were not sent yet, because the row was already later.
    unsent: HashSet<u128>,
    /// Decisions that were made while the selected objects are read.
    meanwhile: Option<HashMap<u128, bool>>,
}

/// The most objects that are remembered of a selection.
pub(super) const MOST_MATCHED: usize = 1_000_000;

/// Returns a number for a uid: sixteen bytes instead of a text.
fn number(uid: &str) -> u128 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    let half = |half: u8| u128::from(KEYS.hash_one((half, uid)));
    half(0) << 64 | half(1)
}

impl Selector {
    pub(super) fn new(selection: Selection, rest: Arc<Query>) -> Self {
        let matched = SelectedObjects { uids: HashSet::new(), unsent: HashSet::new(), meanwhile: Some(HashMap::new()) };
        Selector { selection, rest, matched: Mutex::new(matched), learned: tokio::sync::OnceCell::new() }
    }

    fn matched(&self) -> MutexGuard<'_, SelectedObjects> {
        self.matched.lock()
    }

    /// Records whether the object is selected, and whether it was sent as selected; returns the previous values of both. `sends`: the entry
    /// has its row.
    pub(super) fn replace(&self, uid: &str, matches: bool, sends: bool) -> (bool, bool) {
        if self.selection.is_by_state() {
            return (false, false);
        }
        let uid = number(uid);
        let mut matched = self.matched();
        let had = match &mut matched.meanwhile {
            Some(meanwhile) => meanwhile.insert(uid, matches).unwrap_or(false),
            None if matches => !matched.uids.insert(uid),
            None => matched.uids.remove(&uid),
        };
        let was_unsent = matched.unsent.remove(&uid);
        if matches && !sends && (was_unsent || !had) {
            matched.unsent.insert(uid);
        }
        (had, had && !was_unsent)
    }

    /// Records that these objects are selected, except where a decision was made since they were read.
    pub(super) fn learn(&self, read: SelectionBuilder) {
        let mut matched = self.matched();
        matched.uids = read.0;
        for (uid, matches) in matched.meanwhile.take().unwrap_or_default() {
            if matches {
                matched.uids.insert(uid)
            } else {
                matched.uids.remove(&uid)
            };
        }
    }
}

/// The selected objects, while they are read.
#[derive(Debug, Default)]
pub(super) struct SelectionBuilder(HashSet<u128>);

impl SelectionBuilder {
    /// Adds an object. Returns the number of objects.
    pub(super) fn add(&mut self, uid: &str) -> usize {
        self.0.insert(number(uid));
        self.0.len()
    }
}
