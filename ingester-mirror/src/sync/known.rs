//! What the engine remembers of each object: its version, how its row stands, and when it was last seen. Nothing else of it.

use super::lifecycle::State;
use ingester_core::row::Believed;
use std::collections::HashMap;
use std::num::NonZeroU64;
use tokio::time::Instant;

/// How an object stands in SQL, as far as this process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its row says what its version says.
    Stored(State),
    /// As before, and Kubernetes lets it go with nothing left to be told: its DELETED event says nothing new.
    Released,
    /// It could not be stored.
    Rejected,
    /// The kind's predicate leaves it out: it has no live row, on purpose.
    LeftOut,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) version: u64,
    pub(crate) standing: Standing,
    epoch: u32,
    /// Of the companion rows that this process has written.
    pairs: Option<NonZeroU64>,
}

impl Entry {
    /// What this process has written of a row that is live.
    fn believed(&self) -> Option<Believed> {
        let pairs = self.pairs.filter(|_| self.standing == Standing::Stored(State::Live))?;
        Some(Believed::Stored { res_version: self.version, pairs })
    }
}

/// The objects of one controller by uid.
#[derive(Default)]
pub(crate) struct Known {
    entries: HashMap<Box<str>, Entry>,
    /// Since when an annotation asks for the deletion of these.
    deleting: HashMap<Box<str>, Instant>,
    /// Counts the lists: what was not seen in the latest is gone, or has been missed.
    epoch: u32,
    live: usize,
    rejected: usize,
}

impl Known {
    pub(crate) fn get(&self, uid: &str) -> Option<Entry> {
        self.entries.get(uid).copied()
    }

    /// What this process thinks to be stored of an object. It knows all live rows; few others are ever written again.
    pub(crate) fn believed(&self, uid: &str) -> Option<Believed> {
        self.entries.get(uid).map_or(Some(Believed::Absent), Entry::believed)
    }

    /// Sets what is known after a commit. What is set counts as seen by a list that is under way.
    pub(crate) fn set(&mut self, uid: &str, version: u64, standing: Standing, pairs: Option<NonZeroU64>) {
        let entry = Entry { version, standing, epoch: self.epoch, pairs };
        let old = match self.entries.get_mut(uid) {
            Some(old) => Some(std::mem::replace(old, entry)),
            None => self.entries.insert(uid.into(), entry),
        };
        self.recount(old, Some(entry));
    }

    /// Takes in a row that was stored before this process began.
    pub(crate) fn load(&mut self, uid: Box<str>, version: u64) {
        let entry = Entry { version, standing: Standing::Stored(State::Live), epoch: self.epoch, pairs: None };
        let old = self.entries.insert(uid, entry);
        self.recount(old, Some(entry));
    }

    pub(crate) fn remove(&mut self, uid: &str) {
        let old = self.entries.remove(uid);
        self.recount(old, None);
        self.deleting.remove(uid);
    }

    fn recount(&mut self, old: Option<Entry>, new: Option<Entry>) {
        for (count, standing) in
            [(&mut self.live, Standing::Stored(State::Live)), (&mut self.rejected, Standing::Rejected)]
        {
            let is = |entry: Option<Entry>| usize::from(entry.is_some_and(|entry| entry.standing == standing));
            *count = *count + is(new) - is(old);
        }
    }

    /// Since when the object's annotation asks for deletion: now, if it has not before.
    pub(crate) fn deleting_since(&mut self, uid: &str) -> Instant {
        *self.deleting.entry(uid.into()).or_insert_with(Instant::now)
    }

    pub(crate) fn not_deleting(&mut self, uid: &str) {
        self.deleting.remove(uid);
    }

    /// The highest version of a live row: a list at a lower one is of a cluster that went back.
    pub(crate) fn newest(&self) -> u64 {
        let live = self.entries.values().filter(|entry| entry.standing == Standing::Stored(State::Live));
        live.map(|entry| entry.version).max().unwrap_or_default()
    }

    /// How many are live in SQL.
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// How many could not be stored.
    pub(crate) fn rejected(&self) -> usize {
        self.rejected
    }

    /// A list begins.
    pub(crate) fn begin_list(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// The list has it.
    pub(crate) fn seen(&mut self, uid: &str) {
        let epoch = self.epoch;
        if let Some(entry) = self.entries.get_mut(uid) {
            entry.epoch = epoch;
        }
    }

    /// What the list that has just ended did not have: the uids to look at. What needs no looking at is forgotten.
    pub(crate) fn unseen(&mut self) -> Vec<Box<str>> {
        let epoch = self.epoch;
        self.entries.retain(|_, entry| {
            entry.epoch == epoch || matches!(entry.standing, Standing::Stored(State::Live) | Standing::Rejected)
        });
        let unseen = self.entries.iter().filter(|(_, entry)| entry.epoch != epoch);
        let uids: Vec<Box<str>> = unseen.map(|(uid, _)| uid.clone()).collect();
        let entries = &self.entries;
        self.deleting.retain(|uid, _| entries.contains_key(uid));
        uids
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Standing, State};

    #[test]
    fn an_object_missing_from_a_list_is_checked_unless_it_was_leaving() {
        let mut known = Known::default();
        for uid in ["here", "gone", "evicted", "deleted"] {
            known.load(uid.into(), 1);
        }
        known.set("evicted", 2, Standing::Stored(State::Evicted), None);
        known.set("deleted", 2, Standing::Stored(State::Deleted), None);
        known.begin_list();
        known.seen("here");
        known.seen("never stored");
        // Stored while the list was under way: the list may be older than it.
        known.set("new", 3, Standing::Stored(State::Live), None);
        assert_eq!(known.unseen(), ["gone".into()]);
        assert!(known.get("evicted").is_none() && known.get("deleted").is_none());
        assert_eq!(known.get("gone").map(|entry| entry.version), Some(1), "until its row says that it is gone");
    }

    #[test]
    fn only_live_rows_tell_whether_the_cluster_went_back() {
        let mut known = Known::default();
        known.load("a".into(), 5);
        known.set("b", 9, Standing::Stored(State::Deleted), None);
        assert_eq!((known.newest(), known.live()), (5, 1));
        known.set("c", 11, Standing::Rejected, None);
        assert_eq!((known.newest(), known.rejected()), (5, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn the_deletion_delay_counts_from_when_the_request_was_first_seen() {
        let mut known = Known::default();
        let first = known.deleting_since("a");
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        assert_eq!(known.deleting_since("a"), first);
        known.not_deleting("a");
        assert_ne!(known.deleting_since("a"), first);
    }
}
