//! An entry of the log, and the facts that it adds to an object's present row.

use ingester_core::schema::base;
use ingester_sql::query::States;
use ingester_store::changes::{Change, ChangeKind};
use ingester_store::query::FoundRow;
use std::collections::{HashMap, HashSet};

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) change: Change,
    /// The object is new to clients that were sent everything before.
    pub(super) is_new: bool,
    /// A later entry, read together with this one, has the same version.
    is_repeated: bool,
}

/// Returns the entries that were read together.
pub(super) fn entries(changes: Vec<Change>) -> Vec<Entry> {
    let mut last = HashMap::new();
    for change in &changes {
        last.insert((change.uid.clone(), change.res_version), change.position);
    }
    let entry = |change: Change| Entry {
        is_new: change.what == ChangeKind::Inserted,
        is_repeated: last.get(&(change.uid.clone(), change.res_version)) != Some(&change.position),
        change,
    };
    changes.into_iter().map(entry).collect()
}

/// The states for which entries do not distinguish a user's change of an evicted row from a change in the cluster.
const LIVING: States = States { evicted: true, ..States::LIVE };

impl Entry {
    /// Returns true if the entry has the present row, and no later entry has it.
    pub(super) fn has(&self, row: Option<&FoundRow>) -> bool {
        !self.is_repeated && self.is_of(row)
    }

    /// Returns true if the row has the entry's version. If not, a later entry brings the row.
    fn is_of(&self, row: Option<&FoundRow>) -> bool {
        match (row, self.change.what) {
            (None, what) => what == ChangeKind::Purged,
            (Some(_), ChangeKind::Purged) => false,
            (Some(row), _) => super::version(row) == self.change.res_version,
        }
    }

    /// Returns the object's state before the entry, judged by the present row. There may have been no object: objects that were evicted or
    /// deleted before the mirror saw them begin like this.
    pub(super) fn state_before(&self, row: Option<&FoundRow>) -> States {
        match self.change.what {
            ChangeKind::Inserted | ChangeKind::Reset => States::NONE,
            ChangeKind::Updated if row.is_none_or(|row| row.time(base::EVICT_TIME).is_some()) => LIVING,
            ChangeKind::Updated | ChangeKind::Evicting => States::LIVE,
            ChangeKind::Revived => States { evicted: true, ..States::DELETED },
            ChangeKind::Evicted => States::EVICTED,
            ChangeKind::Purged => States::DELETED,
            ChangeKind::Deleted => match row {
                None => States::default(),
                Some(row) if row.time(base::EVICT_TIME).is_none() => States::LIVE,
                // The row may have been evicted since.
                Some(_) if !self.is_of(row) => LIVING,
                Some(_) => States::EVICTED,
            },
        }
    }

    /// Returns rare states before the entry: a row that no longer belongs to the cluster was written again.
    pub(super) fn rarely_before(&self, row: Option<&FoundRow>) -> States {
        match self.change.what {
            ChangeKind::Evicting => States::EVICTED,
            // A later row does not show whether it was evicted.
            ChangeKind::Deleted => States { evicted: !self.is_of(row), ..States::DELETED },
            _ => States::NONE,
        }
    }

    /// Returns the state after the entry.
    pub(super) fn state_after(&self) -> States {
        match self.change.what {
            ChangeKind::Inserted | ChangeKind::Revived => States::LIVE,
            ChangeKind::Updated => LIVING,
            ChangeKind::Evicting | ChangeKind::Evicted => States::EVICTED,
            ChangeKind::Deleted => States::DELETED,
            ChangeKind::Purged | ChangeKind::Reset => States::NONE,
        }
    }
}

/// The first entries of objects that were not sent, because the row was already later.
#[derive(Debug, Default)]
pub(super) struct SkippedObjects(HashSet<Box<str>>);

/// The most objects that are remembered.
const MOST: usize = 10_000;

impl SkippedObjects {
    /// Returns the entry for clients that were not sent the object's first entry.
    pub(super) fn complete(&mut self, mut entry: Entry, row: Option<&FoundRow>) -> Entry {
        entry.is_new |= self.0.remove(&entry.change.uid);
        if entry.is_new && row.is_some() && !entry.has(row) {
            if self.0.len() >= MOST {
                // New objects are then reported as modified.
                self.0.clear();
            }
            self.0.insert(entry.change.uid.clone());
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::fixture::change;

    #[test]
    fn of_entries_about_one_version_the_last_one_has_the_row() {
        let changes = vec![
            change(1, "a", 5, ChangeKind::Inserted),
            change(2, "b", 5, ChangeKind::Updated),
            change(3, "a", 7, ChangeKind::Evicting),
            change(4, "a", 7, ChangeKind::Evicted),
        ];
        let repeated: Vec<bool> = entries(changes).iter().map(|entry| entry.is_repeated).collect();
        assert_eq!(repeated, [false, false, true, false]);
    }

    #[test]
    fn an_entry_tells_the_states_around_it() {
        let of = |what| entries(vec![change(1, "a", 5, what)]).remove(0);
        for (what, before, after) in [
            (ChangeKind::Inserted, States::NONE, States::LIVE),
            (ChangeKind::Updated, LIVING, LIVING),
            (ChangeKind::Revived, States { evicted: true, ..States::DELETED }, States::LIVE),
            (ChangeKind::Evicting, States::LIVE, States::EVICTED),
            (ChangeKind::Evicted, States::EVICTED, States::EVICTED),
            (ChangeKind::Deleted, States::default(), States::DELETED),
            (ChangeKind::Purged, States::DELETED, States::NONE),
        ] {
            assert_eq!((of(what).state_before(None), of(what).state_after()), (before, after), "{what:?}");
        }
        assert!(of(ChangeKind::Purged).has(None) && !of(ChangeKind::Deleted).has(None), "the purge follows");
    }
}
