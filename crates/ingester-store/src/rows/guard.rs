//! The guard decides which of two versions of an object's row is kept.
//!
//! It judges rows that the transaction has locked, so its decision also holds against other writers. A test writes every combination on
//! every database.

pub use ingester_core::row::{Eviction, Version};

/// The decision about a new row whose object has a stored row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Write it.
    Write,
    /// The stored row says the same already, or the new one adds nothing to it.
    Unchanged,
    /// The stored row is later, or it contradicts the new one: a tombstone of the same version against a live object, an evicted row
    /// against a deletion, or a confirmed eviction against an object that exists. Only the cluster can tell which of the two is right.
    Stale,
    /// Mark the stored row as deleted, and leave its columns alone: a later definition wrote them.
    Mark,
    /// The object has left etcd: record in the stored row that its eviction is confirmed, and leave its other columns alone.
    Confirm,
}

/// The rule:
/// - A row whose eviction is confirmed is the only copy of its object. No state that the cluster reports replaces it: such a state,
///   including a requested deletion, can only be judged by asking the cluster. An eviction without a record of its progress counts as
///   confirmed, except that the same version on its way out of etcd begins the eviction again.
/// - A row whose eviction is intended gives way to a later version of its object. No deletion replaces it: only the cluster can tell
///   whether the object was deleted or evicted, and a terminating state may not be the last one. If the object is gone, the eviction is
///   confirmed.
/// - A higher resourceVersion wins.
/// - At the same resourceVersion, deletion and eviction win over the live state. A deletion from an earlier definition of the kind keeps
///   the columns that a later definition wrote. A live state with the version of a tombstone is stale: it does not revive the row, but it
///   does not agree with the row either.
/// - At the same resourceVersion and in the same state, a higher definition wins; nothing else is written again.
/// - Objects without a resourceVersion (0, from hand-written files) replace each other, but never an object that has one. A batch leaves
///   out such objects if their rows are the same (`rows/same.rs`).
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
        // An earlier release began this eviction and recorded no progress.
        (Eviction::Unrecorded, Eviction::Intended) if same && !stored.deleted && !new.deleted => Verdict::Write,
        _ => Verdict::Stale,
    }
}

/// Judges a row that replaces the one that its writer saw, see [`RowChange::Replacement`](super::RowChange::Replacement). If the stored row
/// has changed since, the usual rule decides. An evicted row is never replaced by an earlier version: the cluster went back, and the row
/// may be the only copy of what came after.
pub fn verdict_over(stored: Version, seen: Version, new: Version) -> Verdict {
    // A row that only another definition wrote again is still the same row.
    let same = Version { ingest_version: seen.ingest_version, ..stored } == seen;
    let replaceable = match stored.eviction {
        Eviction::None => true,
        Eviction::Intended => new.res_version >= stored.res_version,
        Eviction::Confirmed | Eviction::Unrecorded => false,
    };
    if same && replaceable { Verdict::Write } else { verdict(stored, new) }
}

/// Judges a tombstone with nothing but uid and version: the object no longer existed at this version.
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
            // The object may still exist, and be deleted only now.
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
        // Another process takes the eviction for a deletion, but the object may exist until its grace period ends.
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
