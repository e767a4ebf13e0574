//! The guard: which of two versions of an object's row is kept.
//!
//! It decides about rows that the transaction has locked, so it also holds against other writers. A test writes every
//! combination on every database.

pub use ingester_core::row::Version;

/// What to do with a new row of which one is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Write it.
    Write,
    /// The stored row is the same already.
    Unchanged,
    /// The stored row is later, or it contradicts the new one: the tombstone of this very version while the object is said to live,
    /// or an evicted row while the object is said to be deleted. Only the cluster can tell which of the two is right.
    Stale,
    /// Mark the stored row as deleted, and leave its columns alone: a later definition wrote them.
    Mark,
}

/// The rule:
/// - A tombstone never replaces an evicted row: the object left etcd on purpose, so its DELETED event says nothing new. A tombstone
///   of another version is stale: only the cluster can tell whether the object is gone, or still there and to be deleted.
/// - The same holds of an evicted row that somebody deleted where it lives (`evicted.rs`): no tombstone replaces it.
/// - An evicted row that was deleted where it lives stays deleted, whatever is still heard of the eviction of its object.
/// - A higher resourceVersion wins.
/// - At the same resourceVersion, deletion and eviction win over the live state. A deletion that an earlier definition of the kind
///   brings leaves the columns of a later one. A live state of the version of a tombstone is stale: it does not revive the row, and
///   it does not agree with it either.
/// - At the same resourceVersion and in the same state, a higher definition wins; nothing else is written again.
/// - Objects without a resourceVersion (0, from hand-written files) replace each other, but never an object that has one.
pub fn verdict(stored: Version, new: Version) -> Verdict {
    if is_deleted_for_good(stored, new) {
        return Verdict::Unchanged;
    }
    if new.deleted && stored.evicted {
        return if new.res_version == stored.res_version { Verdict::Unchanged } else { Verdict::Stale };
    }
    match new.res_version.cmp(&stored.res_version) {
        std::cmp::Ordering::Greater => Verdict::Write,
        std::cmp::Ordering::Less => Verdict::Stale,
        std::cmp::Ordering::Equal => {
            let ends = (new.deleted && !stored.deleted) || (new.evicted && !stored.evicted);
            let alike = (new.deleted, new.evicted) == (stored.deleted, stored.evicted);
            let lives = !new.deleted && !new.evicted;
            let replaces = new.res_version == 0 && !stored.deleted;
            if ends && new.deleted && new.ingest_version < stored.ingest_version {
                Verdict::Mark
            } else if ends || replaces || (alike && new.ingest_version > stored.ingest_version) {
                Verdict::Write
            } else if stored.deleted && lives {
                Verdict::Stale
            } else {
                Verdict::Unchanged
            }
        }
    }
}

/// Whether somebody deleted the evicted row where it lives, and the new one is the object on its way out of etcd once more: what is
/// still heard of it, such as another finalizer that goes, does not bring it back.
fn is_deleted_for_good(stored: Version, new: Version) -> bool {
    stored.deleted && stored.evicted && new.evicted && !new.deleted
}

/// What to do with a row that replaces the one that its writer saw, see
/// [`RowChange::Replacement`](super::RowChange::Replacement). If the stored row is another one by now, the usual rule decides.
pub fn verdict_over(stored: Version, seen: Version, new: Version) -> Verdict {
    // Which definition wrote it makes it no other row.
    let same = Version { ingest_version: seen.ingest_version, ..stored } == seen;
    if is_deleted_for_good(stored, new) {
        Verdict::Unchanged
    } else if same {
        Verdict::Write
    } else {
        verdict(stored, new)
    }
}

/// What to do with a tombstone of which only the uid and the version are known.
pub fn verdict_of_tombstone(stored: Version, res_version: u64) -> Verdict {
    if stored.deleted || stored.evicted {
        Verdict::Unchanged
    } else if stored.res_version > res_version {
        Verdict::Stale
    } else {
        Verdict::Write
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, Version, verdict, verdict_over};

    #[test]
    fn an_evicted_row_that_was_deleted_where_it_lives_stays_deleted() {
        let version = |res_version, deleted, evicted| Version { res_version, ingest_version: 1, deleted, evicted };
        let deleted = version(5, true, true);
        for later in [5, 6, 900] {
            let leaving = version(later, false, true);
            assert_eq!(verdict(deleted, leaving), Verdict::Unchanged, "{later}");
            assert_eq!(verdict_over(deleted, deleted, leaving), Verdict::Unchanged, "{later}, by a look");
        }
        // An object that lives again, such as in a cluster that was restored, is another matter.
        assert_eq!(verdict(deleted, version(6, false, false)), Verdict::Write);
    }
}
