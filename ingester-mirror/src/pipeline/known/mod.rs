//! What a controller remembers of each object: its version, the state of its row, and whether the list that is read has it. Nothing
//! else.

mod table;

use crate::lifecycle::State;
use ingester_core::row::Expected;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use table::Table;
use tokio::time::Instant;

/// The state of an object's row, as far as this process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowState {
    /// The row has the object's version.
    Stored(State),
    /// The same, and the object lost its last finalizer: its DELETED event brings nothing new.
    Released,
    /// The object could not be stored.
    Rejected,
    /// The kind's predicate leaves the object out: it has no live row, on purpose.
    LeftOut,
}

/// What is remembered of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownObject {
    pub(crate) version: u64,
    pub(crate) state: RowState,
    /// Whether the latest list has it, as far as that is read. What the list lacks in the end is gone, or its events were missed.
    seen: bool,
    /// The hash of the labels and annotations that this process wrote, of 56 bits.
    pairs: Option<NonZeroU64>,
}

impl KnownObject {
    /// What this process wrote, if the row is live.
    fn expected(&self) -> Option<Expected> {
        let pairs = self.pairs.filter(|_| self.state == RowState::Stored(State::Live))?;
        Some(Expected::Stored { res_version: self.version, companions: pairs })
    }
}

/// The objects of one controller by uid.
#[derive(Default)]
pub(crate) struct Known {
    objects: Table,
    /// When it was first seen that an object is to be deleted, by uid.
    leaving: HashMap<Box<str>, Instant>,
    /// The terminating objects that wait for us: they have our finalizer.
    held: HashSet<Box<str>>,
    live: usize,
    rejected: usize,
}

impl Known {
    pub(crate) fn get(&self, uid: &str) -> Option<KnownObject> {
        self.objects.get(uid)
    }

    /// What this process expects to be stored of an object. It knows all live rows; other rows are rarely written again.
    pub(crate) fn expected(&self, uid: &str) -> Option<Expected> {
        self.get(uid).map_or(Some(Expected::Absent), |object| object.expected())
    }

    /// Records the state after a commit. A list in progress counts the object as seen.
    pub(crate) fn set(&mut self, uid: &str, version: u64, state: RowState, pairs: Option<NonZeroU64>) {
        let object = KnownObject { version, state, seen: true, pairs };
        let old = self.objects.set(uid, object);
        self.recount(old, Some(object));
    }

    /// Records a live row that was read. One that is remembered in another state is of no known version: somebody changed it, or it
    /// is just being written. So its object is looked at.
    pub(crate) fn load(&mut self, uid: &str, version: u64) {
        let live = RowState::Stored(State::Live);
        let mut object = KnownObject { version, state: live, seen: true, pairs: None };
        match self.get(uid) {
            // Rejected objects are looked at anyway.
            Some(old) if old.state == RowState::Rejected || (old.version, old.state) == (version, live) => {
                return self.seen(uid);
            }
            // It stays so until the object was looked at: the cluster may not answer before the rows are read again.
            Some(old) if old.state != live || old.version == 0 => object.version = 0,
            _ => {}
        }
        let old = self.objects.set(uid, object);
        self.recount(old, Some(object));
    }

    /// Nobody knows what is stored of an object: a list or a resync that has it looks at it, and one that lacks it sweeps it.
    pub(crate) fn doubt(&mut self, uid: &str) {
        self.load(uid, 0);
    }

    /// Begins to read the live rows.
    pub(crate) fn begin_rows(&mut self) {
        self.objects.forget_seen();
    }

    /// All live rows were read: forgets those that are live in memory only, unless `busy` says that they are being written. The
    /// objects are then found in the cluster as if they were new. Returns how many.
    pub(crate) fn end_rows(&mut self, busy: impl Fn(&str) -> bool) -> usize {
        let mut lost = self.objects.uids(|object| !object.seen && object.state == RowState::Stored(State::Live));
        lost.retain(|uid| !busy(uid));
        for uid in &lost {
            let old = self.objects.remove(uid);
            self.recount(old, None);
        }
        self.objects.shrink();
        lost.len()
    }

    pub(crate) fn remove(&mut self, uid: &str) {
        let old = self.objects.remove(uid);
        self.recount(old, None);
        self.leaving.remove(uid);
        self.held.remove(uid);
    }

    fn recount(&mut self, old: Option<KnownObject>, new: Option<KnownObject>) {
        for (count, state) in
            [(&mut self.live, RowState::Stored(State::Live)), (&mut self.rejected, RowState::Rejected)]
        {
            let is = |object: Option<KnownObject>| usize::from(object.is_some_and(|object| object.state == state));
            *count = *count + is(new) - is(old);
        }
    }

    /// When it was first seen that the object is to be deleted: now, if this is the first time.
    pub(crate) fn leaving_since(&mut self, uid: &str) -> Instant {
        *self.leaving.entry(uid.into()).or_insert_with(Instant::now)
    }

    /// The object is not to be deleted.
    pub(crate) fn staying(&mut self, uid: &str) {
        if !self.leaving.is_empty() {
            self.leaving.remove(uid);
        }
    }

    /// Whether the object is terminating and waits for us. Returns how many do.
    pub(crate) fn hold(&mut self, uid: &str, held: bool) -> usize {
        if !held {
            self.held.remove(uid);
        } else if !self.held.contains(uid) {
            self.held.insert(uid.into());
        }
        self.held.len()
    }

    /// How many terminating objects wait for us.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Whether this process itself wrote the object's row.
    pub(crate) fn is_own(&self, uid: &str) -> bool {
        self.get(uid).is_some_and(|object| object.pairs.is_some())
    }

    /// The version of a row that is live, as far as this process knows.
    pub(crate) fn live_version(&self, uid: &str) -> Option<u64> {
        self.get(uid).filter(|object| object.state == RowState::Stored(State::Live)).map(|object| object.version)
    }

    /// The highest version of a live row. A list at a lower one comes from a cluster that was restored to an earlier state.
    pub(crate) fn newest(&self) -> u64 {
        let live = self.objects.objects().filter(|object| object.state == RowState::Stored(State::Live));
        live.map(|object| object.version).max().unwrap_or_default()
    }

    /// How many rows are live.
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// How many objects could not be stored.
    pub(crate) fn rejected(&self) -> usize {
        self.rejected
    }

    /// A list begins.
    pub(crate) fn begin_list(&mut self) {
        self.objects.forget_seen();
    }

    /// The list has this object.
    pub(crate) fn seen(&mut self, uid: &str) {
        self.objects.mark_seen(uid);
    }

    /// The uids that the list, which has just ended, lacks and that must be read again. Objects that were leaving are
    /// forgotten.
    pub(crate) fn unseen(&mut self) -> Vec<Box<str>> {
        self.objects
            .retain(|object| object.seen || matches!(object.state, RowState::Stored(State::Live) | RowState::Rejected));
        self.objects.shrink();
        let mut uids = self.objects.uids(|object| !object.seen);
        // In one order, so that a history can be repeated.
        uids.sort_unstable();
        let objects = &self.objects;
        self.leaving.retain(|uid, _| objects.get(uid).is_some());
        self.held.retain(|uid| objects.get(uid).is_some());
        uids
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, RowState, State};

    #[test]
    fn a_row_that_contradicts_memory_is_of_no_known_version_until_its_object_was_looked_at() {
        let mut known = Known::default();
        known.set("a", 7, RowState::Stored(State::Deleted), None);
        for _ in 0..2 {
            known.begin_rows();
            known.load("a", 7);
            assert_eq!(known.live_version("a"), Some(0));
        }
        known.set("a", 7, RowState::Stored(State::Live), None);
        known.load("a", 7);
        assert_eq!(known.live_version("a"), Some(7));
    }

    #[test]
    fn an_object_missing_from_a_list_is_checked_unless_it_was_leaving() {
        let mut known = Known::default();
        for uid in ["here", "gone", "evicted", "deleted"] {
            known.load(uid, 1);
        }
        known.set("evicted", 2, RowState::Stored(State::Evicted), None);
        known.set("deleted", 2, RowState::Stored(State::Deleted), None);
        known.begin_list();
        known.seen("here");
        known.seen("never stored");
        // Stored during the list, which may be older than the object.
        known.set("new", 3, RowState::Stored(State::Live), None);
        assert_eq!(known.unseen(), ["gone".into()]);
        assert!(known.get("evicted").is_none() && known.get("deleted").is_none());
        assert_eq!(known.get("gone").map(|entry| entry.version), Some(1), "until its row says that it is gone");
    }

    #[test]
    fn only_live_rows_tell_whether_the_cluster_went_back() {
        let mut known = Known::default();
        known.load("a", 5);
        known.set("b", 9, RowState::Stored(State::Deleted), None);
        assert_eq!((known.newest(), known.live()), (5, 1));
        known.set("c", 11, RowState::Rejected, None);
        assert_eq!((known.newest(), known.rejected()), (5, 1));
    }

    #[test]
    fn a_row_that_is_live_although_it_was_marked_is_of_no_known_version() {
        let mut known = Known::default();
        for (uid, state) in [("marked", State::Deleted), ("evicted", State::Evicted), ("live", State::Live)] {
            known.set(uid, 7, RowState::Stored(state), None);
            known.load(uid, 7);
        }
        let versions = ["marked", "evicted", "live"].map(|uid| known.live_version(uid));
        assert_eq!(versions, [Some(0), Some(0), Some(7)]);
        assert_eq!(known.live(), 3);
        known.set("rejected", 7, RowState::Rejected, None);
        known.load("rejected", 7);
        assert_eq!((known.live(), known.rejected()), (3, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn the_deletion_delay_counts_from_when_the_request_was_first_seen() {
        let mut known = Known::default();
        let first = known.leaving_since("a");
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        assert_eq!(known.leaving_since("a"), first);
        known.staying("a");
        assert_ne!(known.leaving_since("a"), first);
    }
}
