//! The memory of a controller for each object: its version, the state of its row, and whether the list in progress contains it. Nothing
//! else.

mod chosen;
mod table;

use super::additions::Additions;
use crate::dependents::Uids;
use crate::lifecycle::{LifecycleState, RowMemory};
use ingester_core::row::{Eviction, Expected};
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::time::Duration;
use table::Table;
use tokio::time::Instant;

pub(crate) use crate::lifecycle::RowState;
pub(crate) use chosen::{Choice, Choices, Stage};

/// The memory of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownObject {
    pub(crate) version: u64,
    pub(crate) state: RowState,
    /// The latest list contains it, as far as the list was read. An object that the list lacks in the end is gone, or its events were
    /// missed.
    seen: bool,
    /// The hash of the labels and annotations that this process wrote, of 56 bits.
    pairs: Option<NonZeroU64>,
}

impl KnownObject {
    pub(crate) fn remembered(self) -> RowMemory {
        RowMemory { version: self.version, state: self.state }
    }

    /// The values that this process wrote, if the row is live.
    fn expected(&self) -> Option<Expected> {
        let pairs = self.pairs.filter(|_| self.state == RowState::Stored(LifecycleState::Live))?;
        Some(Expected::Stored { res_version: self.version, companions: pairs })
    }
}

/// The objects of one controller by uid.
#[derive(Default)]
pub(crate) struct ObjectMemory {
    objects: Table,
    /// The time when this process first saw that an object must be deleted, by uid.
    leaving: HashMap<Box<str>, Instant>,
    /// The terminating objects that wait for us: they have our finalizer.
    held: HashSet<Box<str>>,
    /// The objects that waited to be written when the list in progress began, and that the list has not contained so far.
    waiting: HashSet<Box<str>>,
    /// The results of adding our finalizer.
    pub(super) additions: Additions,
    /// The objects with annotations that have no effect.
    ignored: HashSet<Box<str>>,
    /// The objects that rules chose.
    pub(crate) choices: Choices,
    /// The uids of the owners of each object whose row does not show them: the object is rejected, left out, a ghost, or waits for our
    /// finalizer before it is written. Only objects with owners are here.
    owners: HashMap<Box<str>, Box<[Box<str>]>>,
    /// Objects that could not be read, so that this process knows nothing else about them.
    unread: HashSet<Box<str>>,
    live: usize,
    rejected: usize,
    ghosts: usize,
}

impl ObjectMemory {
    pub(crate) fn get(&self, uid: &str) -> Option<KnownObject> {
        self.objects.get(uid)
    }

    /// Returns the row that this process expects in the database for an object. It knows all live rows; other rows are rarely written
    /// again.
    pub(crate) fn expected(&self, uid: &str) -> Option<Expected> {
        self.get(uid).map_or(Some(Expected::Absent), |object| object.expected())
    }

    /// Records the state after a commit. A list in progress counts the object as seen.
    pub(crate) fn set(&mut self, uid: &str, version: u64, state: RowState, pairs: Option<NonZeroU64>) {
        let object = KnownObject { version, state, seen: true, pairs };
        if !state.hides_owners() {
            self.forget_owners(uid);
        }
        if !self.unread.is_empty() {
            self.unread.remove(uid);
        }
        let old = self.objects.set(uid, object);
        self.recount(old, Some(object));
    }

    /// Remembers the owners of an object that has no row, or whose row does not show them, until it is stored or gone.
    pub(crate) fn owned_by(&mut self, uid: &str, owners: Vec<Box<str>>) {
        if owners.is_empty() {
            self.forget_owners(uid);
        } else {
            self.owners.insert(uid.into(), owners.into());
        }
    }

    fn forget_owners(&mut self, uid: &str) {
        if !self.owners.is_empty() {
            self.owners.remove(uid);
        }
    }

    /// Records that an object is read again later. If nothing is remembered of it, its owners are unknown until then.
    pub(crate) fn wait_for(&mut self, uid: &str) {
        if self.get(uid).is_none() {
            self.unread.insert(uid.into());
        }
    }

    /// Returns true if an object could not be read, so that nothing else is remembered of it.
    pub(crate) fn has_unread(&mut self) -> bool {
        let objects = &self.objects;
        self.unread.retain(|uid| objects.get(uid).is_none());
        !self.unread.is_empty()
    }

    /// Returns the uids, out of these, of owners of objects whose rows do not show their owners.
    pub(crate) fn owners_among(&self, uids: &Uids) -> Uids {
        self.owners.values().flatten().filter(|owner| uids.contains(*owner)).cloned().collect()
    }

    /// Records a row that was read, which is live or being evicted.
    pub(crate) fn load(&mut self, uid: &str, version: u64, eviction: Eviction) {
        match eviction {
            Eviction::None => self.load_live(uid, version),
            Eviction::Intended => self.load_evicted(uid, version),
            // An earlier release wrote it: only the object itself shows whether it has left.
            Eviction::Unrecorded => self.load_evicted(uid, 0),
            Eviction::Confirmed => {}
        }
    }

    /// Records a row whose eviction is not confirmed. If no list has its object, the object has left.
    fn load_evicted(&mut self, uid: &str, version: u64) {
        let evicted = RowState::Stored(LifecycleState::Evicted);
        let version = match self.get(uid) {
            Some(old) if old.state != evicted && old.state != RowState::Stored(LifecycleState::Live) => {
                return self.seen(uid);
            }
            Some(old) if old.version != version => 0,
            _ => version,
        };
        let object = KnownObject { version, state: evicted, seen: true, pairs: None };
        let old = self.objects.set(uid, object);
        self.recount(old, Some(object));
    }

    /// Records a live row that was read. If this process remembers it in another state, its version is unknown: somebody changed it by
    /// hand, or it is just being written. So its object is looked at.
    fn load_live(&mut self, uid: &str, version: u64) {
        let live = RowState::Stored(LifecycleState::Live);
        let mut object = KnownObject { version, state: live, seen: true, pairs: None };
        match self.get(uid) {
            // Rejected objects are looked at anyway.
            Some(old) if old.state == RowState::Rejected || (old.version, old.state) == (version, live) => {
                return self.seen(uid);
            }
            // It stays unknown until the object was looked at: the cluster may not answer before the rows are read again.
            Some(old) if old.state != live || old.version == 0 => object.version = 0,
            _ => {}
        }
        let old = self.objects.set(uid, object);
        self.recount(old, Some(object));
    }

    /// Marks the row of an object as unknown: a list or a resync that has the object looks at it, and a list that lacks it sweeps it.
    pub(crate) fn doubt(&mut self, uid: &str) {
        self.load_live(uid, 0);
    }

    /// Begins a pass over the live rows.
    pub(crate) fn begin_rows(&mut self) {
        self.objects.forget_seen();
    }

    /// Ends a pass over all live rows: forgets the rows that are live only in memory, unless `busy` says that they are being written. Their
    /// objects then count as new when they are found in the cluster. Returns how many rows were forgotten.
    pub(crate) fn end_rows(&mut self, busy: impl Fn(&str) -> bool) -> usize {
        let mut lost =
            self.objects.uids(|object| !object.seen && object.state == RowState::Stored(LifecycleState::Live));
        lost.retain(|uid| !busy(uid));
        lost.iter().for_each(|uid| self.forget_row(uid));
        self.objects.shrink();
        lost.len()
    }

    /// Forgets ghosts, because their rows may be lost: a list or a resync looks at their objects again.
    pub(crate) fn forget_ghosts(&mut self) {
        for uid in self.objects.uids(|object| object.state == RowState::Ghost) {
            self.forget_row(&uid);
        }
    }

    fn forget_row(&mut self, uid: &str) {
        let old = self.objects.remove(uid);
        self.recount(old, None);
    }

    pub(crate) fn remove(&mut self, uid: &str) {
        self.forget_row(uid);
        self.leaving.remove(uid);
        self.held.remove(uid);
        self.additions.forget(uid);
        self.ignores(uid, false);
        self.choices.forget(uid);
        self.unread.remove(uid);
        self.forget_owners(uid);
    }

    fn recount(&mut self, old: Option<KnownObject>, new: Option<KnownObject>) {
        for (count, state) in [
            (&mut self.live, RowState::Stored(LifecycleState::Live)),
            (&mut self.rejected, RowState::Rejected),
            (&mut self.ghosts, RowState::Ghost),
        ] {
            let is = |object: Option<KnownObject>| usize::from(object.is_some_and(|object| object.state == state));
            *count = *count + is(new) - is(old);
        }
    }

    /// Records that the object must be deleted, unless that was recorded before.
    pub(crate) fn leaving(&mut self, uid: &str) {
        if !self.leaving.contains_key(uid) {
            self.leaving.insert(uid.into(), Instant::now());
        }
    }

    /// Returns how long ago this was recorded; zero if it was not.
    pub(crate) fn leaving_for(&self, uid: &str) -> Duration {
        self.leaving.get(uid).map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Records that the object stays.
    pub(crate) fn staying(&mut self, uid: &str) {
        if !self.leaving.is_empty() {
            self.leaving.remove(uid);
        }
    }

    /// Records whether the object is terminating and waits for us. Returns the number of objects that wait.
    pub(crate) fn hold(&mut self, uid: &str, held: bool) -> usize {
        if !held {
            self.held.remove(uid);
        } else if !self.held.contains(uid) {
            self.held.insert(uid.into());
        }
        self.held.len()
    }

    /// Records whether annotations of the object have no effect. Returns true if that is new.
    pub(crate) fn ignores(&mut self, uid: &str, ignored: bool) -> bool {
        if !ignored {
            self.ignored.remove(uid);
        }
        ignored && self.ignored.insert(uid.into())
    }

    /// Returns true if the object is left without our finalizer at this version.
    pub(crate) fn is_left(&self, uid: &str, version: u64) -> bool {
        self.additions.leaves(uid, version)
    }

    /// Returns true if the object is terminating and waits for us.
    pub(crate) fn is_held(&self, uid: &str) -> bool {
        self.held.contains(uid)
    }

    /// How many terminating objects wait for us.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Returns true if this process itself wrote the object's row.
    pub(crate) fn is_own(&self, uid: &str) -> bool {
        self.get(uid).is_some_and(|object| object.pairs.is_some())
    }

    /// Returns the version of a row that is live, as far as this process knows.
    pub(crate) fn live_version(&self, uid: &str) -> Option<u64> {
        self.get(uid)
            .filter(|object| object.state == RowState::Stored(LifecycleState::Live))
            .map(|object| object.version)
    }

    /// Returns the highest version of a live row. A list at a lower version comes from a cluster that was restored to an earlier state.
    pub(crate) fn newest(&self) -> u64 {
        let live = self.objects.objects().filter(|object| object.state == RowState::Stored(LifecycleState::Live));
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

    /// How many objects are in the cluster although they had left it.
    pub(crate) fn ghosts(&self) -> usize {
        self.ghosts
    }

    /// Begins a list. These objects wait to be written: they were received before the list.
    pub(crate) fn begin_list(&mut self, waiting: HashSet<Box<str>>) {
        self.objects.forget_seen();
        self.waiting = waiting;
    }

    /// Records that the list contains this object.
    pub(crate) fn seen(&mut self, uid: &str) {
        self.objects.mark_seen(uid);
        self.waiting.remove(uid);
    }

    /// Returns the uids that the list, which has just ended, lacks and that must be read again. Forgets objects that were leaving.
    pub(crate) fn unseen(&mut self) -> UnlistedObjects {
        let is_missed = |state| matches!(state, RowState::Stored(LifecycleState::Live) | RowState::Rejected);
        let stays = |object: &KnownObject| object.seen || is_missed(object.state) || object.state.is_leaving();
        let objects = &self.objects;
        // Objects that are just being prepared are not in the table yet, but their owners are known.
        self.owners.retain(|uid, _| objects.get(uid).is_none_or(|object| stays(&object)));
        self.objects.retain(stays);
        self.objects.shrink();
        if self.ghosts > 0 {
            self.ghosts = self.objects.objects().filter(|object| object.state == RowState::Ghost).count();
        }
        let of = |wanted: &dyn Fn(RowState) -> bool| {
            let mut uids = self.objects.uids(|object| !object.seen && wanted(object.state));
            // A fixed order makes a history repeatable.
            uids.sort_unstable();
            uids
        };
        let waiting = std::mem::take(&mut self.waiting);
        let unseen = UnlistedObjects { missed: of(&is_missed), evicted: of(&RowState::is_leaving), waiting };
        let objects = &self.objects;
        self.leaving.retain(|uid, _| objects.get(uid).is_some());
        self.held.retain(|uid| objects.get(uid).is_some());
        self.additions.retain(|uid| objects.get(uid).is_some());
        self.ignored.retain(|uid| objects.get(uid).is_some());
        unseen
    }
}

/// The uids that a list lacks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UnlistedObjects {
    /// Uids of objects that should exist.
    pub(crate) missed: Vec<Box<str>>,
    /// Uids of objects that were being evicted.
    pub(crate) evicted: Vec<Box<str>>,
    /// Uids of objects that waited to be written when the list began. An older state of them is written after the list, or was written
    /// during it.
    pub(crate) waiting: HashSet<Box<str>>,
}

#[cfg(test)]
mod tests {
    use super::{Eviction, HashSet, LifecycleState, ObjectMemory, RowState};
    use std::time::Duration;

    #[test]
    fn a_row_that_contradicts_memory_is_of_no_known_version_until_its_object_was_looked_at() {
        let mut known = ObjectMemory::default();
        known.set("a", 7, RowState::Stored(LifecycleState::Deleted), None);
        for _ in 0..2 {
            known.begin_rows();
            known.load("a", 7, Eviction::None);
            assert_eq!(known.live_version("a"), Some(0));
        }
        known.set("a", 7, RowState::Stored(LifecycleState::Live), None);
        known.load("a", 7, Eviction::None);
        assert_eq!(known.live_version("a"), Some(7));
    }

    #[test]
    fn an_object_missing_from_a_list_is_checked_unless_it_was_leaving() {
        let mut known = ObjectMemory::default();
        for uid in ["here", "gone", "evicted", "deleted"] {
            known.load(uid, 1, Eviction::None);
        }
        known.set("evicted", 2, RowState::Stored(LifecycleState::Evicted), None);
        known.set("deleted", 2, RowState::Stored(LifecycleState::Deleted), None);
        known.begin_list(HashSet::new());
        known.seen("here");
        known.seen("never stored");
        // Stored during the list; the list may be older than the object.
        known.set("new", 3, RowState::Stored(LifecycleState::Live), None);
        known.set("confirmed", 2, RowState::Confirmed, None);
        known.set("ghost", 2, RowState::Ghost, None);
        known.begin_list(HashSet::new());
        known.seen("here");
        known.seen("new");
        let unseen = known.unseen();
        assert_eq!((unseen.missed, unseen.evicted), (vec!["gone".into()], vec!["evicted".into()]));
        assert!(["deleted", "confirmed", "ghost"].iter().all(|uid| known.get(uid).is_none()));
        assert_eq!((known.live(), known.ghosts()), (3, 0));
        assert_eq!(known.get("gone").map(|entry| entry.version), Some(1), "until its row says that it is gone");
    }

    #[test]
    fn a_row_that_is_being_evicted_is_remembered_until_its_object_was_looked_at() {
        let mut known = ObjectMemory::default();
        known.load("intended", 7, Eviction::Intended);
        known.load("unrecorded", 7, Eviction::Unrecorded);
        known.load("confirmed", 7, Eviction::Confirmed);
        known.set("live", 6, RowState::Stored(LifecycleState::Live), None);
        known.load("live", 7, Eviction::Intended);
        let versions = ["intended", "unrecorded", "live"].map(|uid| known.get(uid).map(|object| object.version));
        assert_eq!(versions, [Some(7), Some(0), Some(0)]);
        assert!(known.get("confirmed").is_none() && known.live() == 0);
        known.begin_list(HashSet::new());
        for _ in 0..2 {
            assert_eq!(known.unseen().evicted, ["intended".into(), "live".into(), "unrecorded".into()]);
        }
    }

    #[test]
    fn annotations_without_effect_are_new_once_and_again_after_they_were_away() {
        let mut known = ObjectMemory::default();
        assert_eq!([true, true, false, true].map(|ignored| known.ignores("a", ignored)), [true, false, false, true]);
        known.remove("a");
        assert!(known.ignores("a", true), "an object that is gone is forgotten");
        known.begin_list(HashSet::new());
        known.unseen();
        assert!(known.ignored.is_empty(), "and so is one that a list lacks");
    }

    #[test]
    fn only_live_rows_tell_whether_the_cluster_went_back() {
        let mut known = ObjectMemory::default();
        known.load("a", 5, Eviction::None);
        known.set("b", 9, RowState::Stored(LifecycleState::Deleted), None);
        assert_eq!((known.newest(), known.live()), (5, 1));
        known.set("c", 11, RowState::Rejected, None);
        assert_eq!((known.newest(), known.rejected()), (5, 1));
    }

    #[test]
    fn a_row_that_is_live_although_it_was_marked_is_of_no_known_version() {
        let mut known = ObjectMemory::default();
        for (uid, state) in
            [("marked", LifecycleState::Deleted), ("evicted", LifecycleState::Evicted), ("live", LifecycleState::Live)]
        {
            known.set(uid, 7, RowState::Stored(state), None);
            known.load(uid, 7, Eviction::None);
        }
        let versions = ["marked", "evicted", "live"].map(|uid| known.live_version(uid));
        assert_eq!(versions, [Some(0), Some(0), Some(7)]);
        assert_eq!(known.live(), 3);
        known.set("rejected", 7, RowState::Rejected, None);
        known.load("rejected", 7, Eviction::None);
        assert_eq!((known.live(), known.rejected()), (3, 1));
    }

    #[test]
    fn the_owners_of_objects_without_rows_are_remembered_until_they_are_stored_or_gone() {
        let mut known = ObjectMemory::default();
        let uids = ["x", "y", "z"].into_iter().map(Box::from).collect();
        let found = |known: &ObjectMemory| known.owners_among(&uids).into_iter().collect::<Vec<_>>().join(" ");
        known.owned_by("rejected", vec!["x".into(), "y".into(), "other".into()]);
        known.owned_by("left out", vec!["z".into()]);
        known.owned_by("free", Vec::new());
        assert_eq!(found(&known), "x y z", "before they are remembered themselves");
        known.set("rejected", 1, RowState::Rejected, None);
        known.set("left out", 1, RowState::LeftOut, None);
        known.begin_list(HashSet::new());
        known.seen("rejected");
        known.unseen();
        assert_eq!(found(&known), "x y", "one is gone");
        known.owned_by("rejected", vec!["y".into()]);
        assert_eq!(found(&known), "y", "it has changed");
        known.set("rejected", 2, RowState::Stored(LifecycleState::Live), None);
        assert_eq!((found(&known).as_str(), known.owners.len()), ("", 0));
        known.owned_by("ghost", vec!["x".into()]);
        known.set("ghost", 2, RowState::Ghost, None);
        assert_eq!(found(&known), "x");
        known.remove("ghost");
        assert_eq!(found(&known), "");
    }

    #[tokio::test(start_paused = true)]
    async fn the_deletion_delay_counts_from_when_the_request_was_first_seen() {
        let mut known = ObjectMemory::default();
        known.leaving("a");
        tokio::time::advance(Duration::from_secs(5)).await;
        known.leaving("a");
        assert_eq!(known.leaving_for("a"), Duration::from_secs(5));
        known.staying("a");
        assert_eq!(known.leaving_for("a"), Duration::ZERO);
    }
}
