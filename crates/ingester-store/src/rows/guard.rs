//! The guard decides which of two versions of an object's row is kept.
//!
//! It judges rows that the transaction has locked, so no other writer can change them between the decision and the write. A test writes
//! every combination of two versions on every database.

pub use ingester_core::row::{Eviction, Version};

/// The decision about a new row whose object has a stored row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Write it.
    Write,
    /// The new row adds nothing to the stored one.
    Unchanged,
    /// The stored row is later, or the two contradict each other, and only the cluster can tell which of them is right. There are three
    /// contradictions: the stored row is a tombstone, and the new row is live in the same version; the stored row is evicted, and the new
    /// one is deleted; the stored eviction is confirmed, and the object exists.
    Stale,
    /// Mark the stored row as deleted, and leave its columns alone: a later definition wrote them.
    Mark,
    /// The object has left etcd: record in the stored row that its eviction is confirmed, and leave its other columns alone.
    Confirm,
}

/// Decides between the stored row of an object and a new one. The rule:
/// - A row whose eviction is confirmed is the only copy of its object, so no state that the cluster reports replaces it, not even a deletion
///   that somebody requested: the caller must ask the cluster. An eviction whose progress is not recorded counts as confirmed, with one
///   exception: if the new row has the same version and is leaving etcd, the eviction begins again.
/// - A row whose eviction is intended is replaced by a later version of its object, unless that version is a deletion: only the cluster can
///   tell whether the object was deleted or evicted, and a terminating state may not be its last one. If the object is gone, the eviction
///   is confirmed.
/// - Otherwise, a higher resourceVersion wins.
/// - At the same resourceVersion, a deletion or an eviction wins over a live state. If an earlier definition of the kind wrote the deletion,
///   the row keeps the columns that a later definition wrote. A live state with the version of a tombstone is stale: it must not revive
///   the row, but it contradicts the row, so it is not unchanged either.
/// - At the same resourceVersion and in the same state, a higher definition of the kind wins; otherwise nothing is written.
/// - Objects without a resourceVersion (0, from hand-written files) replace each other, but never an object that has one. Before the guard
///   decides, a batch leaves out such objects if their rows are the same (`rows/same.rs`).
pub fn verdict(stored: Version, new: Version) -> Verdict {
    match stored.eviction {
        Eviction::Confirmed | Eviction::Unrecorded => return verdict_on_only_copy(stored, new),
        Eviction::Intended if new.deleted => return Verdict::Stale,
        Eviction::Intended | Eviction::None => {}
    }
    match new.res_version.cmp(&stored.res_version) {
        std::cmp::Ordering::Greater => Verdict::Write,
        std::cmp::Ordering::Less => Verdict::Stale,
        std::cmp::Ordering::Equal => {
            let ends = (new.deleted && !stored.deleted) || (new.evicted() && !stored.evicted());
            let alike = (new.deleted, new.evicted()) == (stored.deleted, stored.evicted());
            let lives = !new.deleted && !new.evicted();
            let replaces = new.res_version == 0 && !stored.deleted;
            if ends && new.deleted && new.ingest_version < stored.ingest_version {
                Verdict::Mark
            } else if ends || replaces || (alike && new.ingest_version > stored.ingest_version) {
                Verdict::Write
            } else if stored.evicted() && new.eviction == Eviction::Confirmed {
                Verdict::Confirm
            } else if stored.deleted && lives {
                Verdict::Stale
            } else {
                Verdict::Unchanged
            }
        }
    }
}

/// Judges a state that the cluster reports for an object whose row counts as its only copy.
fn verdict_on_only_copy(stored: Version, new: Version) -> Verdict {
    let same = new.res_version == stored.res_version;
    match (stored.eviction, new.eviction) {
        // The object has left etcd.
        (Eviction::Unrecorded, Eviction::Confirmed) => Verdict::Confirm,
        (_, Eviction::Confirmed) => Verdict::Unchanged,
        // An earlier release began this eviction, and did not record its progress. Begin it again.
        (Eviction::Unrecorded, Eviction::Intended) if same && !stored.deleted && !new.deleted => Verdict::Write,
        _ => Verdict::Stale,
    }
}

/// Judges a row that is meant to replace the stored row that its writer saw ([`RowChange::Replacement`](super::RowChange::Replacement)). If
/// the stored row has changed since, [`verdict`] decides. An earlier version never replaces an evicted row: the cluster was restored to an
/// earlier state, and the row may be the only copy of what came after that state.
pub fn verdict_over(stored: Version, seen: Version, new: Version) -> Verdict {
    // If another definition has written the row again since, and nothing else has changed, it is still the same row.
    let same = Version { ingest_version: seen.ingest_version, ..stored } == seen;
    let replaceable = match stored.eviction {
        Eviction::None => true,
        Eviction::Intended => new.res_version >= stored.res_version,
        Eviction::Confirmed | Eviction::Unrecorded => false,
    };
    if same && replaceable { Verdict::Write } else { verdict(stored, new) }
}

/// Judges a tombstone that has only uid and version. It says that at this version, the object no longer existed.
pub fn verdict_of_tombstone(stored: Version, res_version: u64) -> Verdict {
    match stored.eviction {
        Eviction::Confirmed => Verdict::Unchanged,
        Eviction::Unrecorded => Verdict::Confirm,
        Eviction::None if stored.deleted => Verdict::Unchanged,
        _ if stored.res_version > res_version => Verdict::Stale,
        Eviction::Intended => Verdict::Confirm,
        Eviction::None => Verdict::Write,
    }
}

#[cfg(test)]
mod tests {
    use super::{Eviction, Verdict, Version, verdict, verdict_of_tombstone, verdict_over};

    fn version(res_version: u64, deleted: bool, eviction: Eviction) -> Version {
        Version { res_version, ingest_version: 1, deleted, eviction }
    }

    #[test]
    fn an_only_copy_gives_way_to_nothing_that_the_cluster_says() {
        for eviction in [Eviction::Confirmed, Eviction::Unrecorded] {
            for deleted in [false, true] {
                let stored = version(5, deleted, eviction);
                for res_version in [0, 1, 4, 5, 6, 900, u64::MAX] {
                    for new_deleted in [false, true] {
                        for new_eviction in [Eviction::None, Eviction::Intended, Eviction::Confirmed] {
                            let new = version(res_version, new_deleted, new_eviction);
                            let verdicts = [verdict(stored, new), verdict_over(stored, stored, new)];
                            let begins_again = eviction == Eviction::Unrecorded
                                && new == version(5, false, Eviction::Intended)
                                && !deleted;
                            for verdict in verdicts {
                                let harmless = !matches!(verdict, Verdict::Write | Verdict::Mark);
                                assert!(harmless || begins_again, "{stored:?} {new:?}: {verdict:?}");
                            }
                        }
                    }
                    assert_ne!(verdict_of_tombstone(stored, res_version), Verdict::Write, "{stored:?} {res_version}");
                }
            }
        }
    }

    #[test]
    fn an_object_that_is_there_again_is_looked_at() {
        let stored = version(5, false, Eviction::Confirmed);
        for res_version in [4, 5, 6] {
            for eviction in [Eviction::None, Eviction::Intended] {
                assert_eq!(verdict(stored, version(res_version, false, eviction)), Verdict::Stale);
            }
            // The object may still exist, and its deletion may have begun only now.
            assert_eq!(verdict(stored, version(res_version, true, Eviction::None)), Verdict::Stale);
        }
    }

    #[test]
    fn an_intended_eviction_gives_way_to_later_versions_alone() {
        let stored = version(5, false, Eviction::Intended);
        for eviction in [Eviction::None, Eviction::Intended, Eviction::Confirmed] {
            let new = |res_version| version(res_version, false, eviction);
            assert_eq!(verdict(stored, new(6)), Verdict::Write);
            assert_eq!(verdict(stored, new(4)), Verdict::Stale);
            assert_eq!(verdict_over(stored, stored, new(4)), Verdict::Stale, "{eviction:?}");
            assert_eq!(verdict_over(stored, stored, new(6)), Verdict::Write, "{eviction:?}");
        }
    }

    #[test]
    fn an_object_that_is_gone_confirms_an_intended_eviction() {
        let stored = version(5, false, Eviction::Intended);
        assert_eq!(verdict_of_tombstone(stored, 5), Verdict::Confirm);
        assert_eq!(verdict_of_tombstone(stored, 9), Verdict::Confirm);
        assert_eq!(verdict_of_tombstone(stored, 4), Verdict::Stale);
        assert_eq!(verdict(stored, version(5, false, Eviction::Confirmed)), Verdict::Confirm);
        // Another process may mistake the eviction for a deletion, but the object may exist until its grace period ends.
        assert_eq!(verdict(stored, version(5, true, Eviction::None)), Verdict::Stale);
        // Its deletion may have been requested meanwhile.
        assert_eq!(verdict(stored, version(6, true, Eviction::None)), Verdict::Stale);
        let unrecorded = version(5, false, Eviction::Unrecorded);
        assert_eq!(verdict_of_tombstone(unrecorded, 0), Verdict::Confirm);
        assert_eq!(verdict_of_tombstone(version(5, false, Eviction::Confirmed), 9), Verdict::Unchanged);
    }

    #[test]
    fn an_eviction_of_an_earlier_release_is_begun_again_by_the_same_version_alone() {
        let stored = version(5, false, Eviction::Unrecorded);
        let leaving = |res_version| version(res_version, false, Eviction::Intended);
        assert_eq!(verdict(stored, leaving(5)), Verdict::Write);
        assert_eq!(verdict(stored, leaving(6)), Verdict::Stale);
        assert_eq!(verdict(Version { deleted: true, ..stored }, leaving(5)), Verdict::Stale);
    }
}
