//! What a controller remembers of each object: its version, the state of its row, and when it was last seen. Nothing else.

use crate::lifecycle::State;
use ingester_core::row::Expected;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownObject {
    pub(crate) version: u64,
    pub(crate) state: RowState,
    /// The list that last had it, see [`Known`].
    epoch: u32,
    /// The hash of the labels and annotations that this process wrote.
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
    entries: HashMap<Box<str>, KnownObject>,
    /// When it was first seen that an object is to be deleted, by uid.
    leaving: HashMap<Box<str>, Instant>,
    /// The terminating objects that wait for us: they have our finalizer.
    held: HashSet<Box<str>>,
    /// Counts the lists. An object that the latest list lacks is gone, or its events were missed.
    epoch: u32,
    live: usize,
    rejected: usize,
}

impl Known {
    pub(crate) fn get(&self, uid: &str) -> Option<KnownObject> {
        self.entries.get(uid).copied()
    }

    /// What this process expects to be stored of an object. It knows all live rows; other rows are rarely written again.
    pub(crate) fn expected(&self, uid: &str) -> Option<Expected> {
        self.entries.get(uid).map_or(Some(Expected::Absent), KnownObject::expected)
    }

    /// Records the state after a commit. A list in progress counts the object as seen.
    pub(crate) fn set(&mut self, uid: &str, version: u64, state: RowState, pairs: Option<NonZeroU64>) {
        let entry = KnownObject { version, state, epoch: self.epoch, pairs };
        let old = match self.entries.get_mut(uid) {
            Some(old) => Some(std::mem::replace(old, entry)),
            None => self.entries.insert(uid.into(), entry),
        };
        self.recount(old, Some(entry));
    }

    /// Records a live row that was read. One that is remembered in another state is of no known version: somebody changed it, or it
    /// is just being written. So its object is looked at.
    pub(crate) fn load(&mut self, uid: Box<str>, version: u64) {
        let live = RowState::Stored(State::Live);
        let mut entry = KnownObject { version, state: live, epoch: self.epoch, pairs: None };
        match self.entries.get_mut(&uid) {
            // Rejected objects are looked at anyway.
            Some(old) if old.state == RowState::Rejected || (old.version, old.state) == (version, live) => {
                old.epoch = self.epoch;
                return;
            }
            // It stays so until the object was looked at: the cluster may not answer before the rows are read again.
            Some(old) if old.state != live || old.version == 0 => entry.version = 0,
            _ => {}
        }
        let old = self.entries.insert(uid, entry);
        self.recount(old, Some(entry));
    }

    /// Nobody knows what is stored of an object: a list or a resync that has it looks at it, and one that lacks it sweeps it.
    pub(crate) fn doubt(&mut self, uid: Box<str>) {
        self.load(uid, 0);
    }

    /// Begins to read the live rows.
    pub(crate) fn begin_rows(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// All live rows were read: forgets those that are live in memory only, unless `busy` says that they are being written. The
    /// objects are then found in the cluster as if they were new. Returns how many.
    pub(crate) fn end_rows(&mut self, busy: impl Fn(&str) -> bool) -> usize {
        let epoch = self.epoch;
        let lost = |entry: &KnownObject| entry.epoch != epoch && entry.state == RowState::Stored(State::Live);
        let lost: Vec<Box<str>> =
            self.entries.iter().filter(|(uid, entry)| lost(entry) && !busy(uid)).map(|(uid, _)| uid.clone()).collect();
        for uid in &lost {
            let old = self.entries.remove(uid);
            self.recount(old, None);
        }
        lost.len()
    }

    pub(crate) fn remove(&mut self, uid: &str) {
        let old = self.entries.remove(uid);
        self.recount(old, None);
        self.leaving.remove(uid);
        self.held.remove(uid);
    }

    fn recount(&mut self, old: Option<KnownObject>, new: Option<KnownObject>) {
        for (count, state) in
            [(&mut self.live, RowState::Stored(State::Live)), (&mut self.rejected, RowState::Rejected)]
        {
            let is = |entry: Option<KnownObject>| usize::from(entry.is_some_and(|entry| entry.state == state));
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
        self.entries.get(uid).is_some_and(|entry| entry.pairs.is_some())
    }

    /// The version of a row that is live, as far as this process knows.
    pub(crate) fn live_version(&self, uid: &str) -> Option<u64> {
        self.get(uid).filter(|entry| entry.state == RowState::Stored(State::Live)).map(|entry| entry.version)
    }

    /// The highest version of a live row. A list at a lower one comes from a cluster that was restored to an earlier state.
    pub(crate) fn newest(&self) -> u64 {
        let live = self.entries.values().filter(|entry| entry.state == RowState::Stored(State::Live));
        live.map(|entry| entry.version).max().unwrap_or_default()
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
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// The list has this object.
    pub(crate) fn seen(&mut self, uid: &str) {
        let epoch = self.epoch;
        if let Some(entry) = self.entries.get_mut(uid) {
            entry.epoch = epoch;
        }
    }

    /// The uids that the list, which has just ended, lacks and that must be read again. Objects that were leaving are
    /// forgotten.
    pub(crate) fn unseen(&mut self) -> Vec<Box<str>> {
        let epoch = self.epoch;
        self.entries.retain(|_, entry| {
            entry.epoch == epoch || matches!(entry.state, RowState::Stored(State::Live) | RowState::Rejected)
        });
        let unseen = self.entries.iter().filter(|(_, entry)| entry.epoch != epoch);
        let mut uids: Vec<Box<str>> = unseen.map(|(uid, _)| uid.clone()).collect();
        // In one order, so that a history can be repeated.
        uids.sort_unstable();
        let entries = &self.entries;
        self.leaving.retain(|uid, _| entries.contains_key(uid));
        self.held.retain(|uid| entries.contains_key(uid));
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
            known.load("a".into(), 7);
            assert_eq!(known.live_version("a"), Some(0));
        }
        known.set("a", 7, RowState::Stored(State::Live), None);
        known.load("a".into(), 7);
        assert_eq!(known.live_version("a"), Some(7));
    }

    #[test]
    fn an_object_missing_from_a_list_is_checked_unless_it_was_leaving() {
        let mut known = Known::default();
        for uid in ["here", "gone", "evicted", "deleted"] {
            known.load(uid.into(), 1);
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
        known.load("a".into(), 5);
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
            known.load(uid.into(), 7);
        }
        let versions = ["marked", "evicted", "live"].map(|uid| known.live_version(uid));
        assert_eq!(versions, [Some(0), Some(0), Some(7)]);
        assert_eq!(known.live(), 3);
        known.set("rejected", 7, RowState::Rejected, None);
        known.load("rejected".into(), 7);
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
