//! The guard: which of two versions of an object's row is kept.
//!
//! It decides about rows that the transaction has locked, so it also holds against other writers. A test writes every
//! combination on every database.

pub use ingester_core::row::Version;

/// Whether the guard decides about a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// A stale write changes nothing.
    Holds,
    /// The cluster was restored from a backup: its objects replace the stored rows, whatever their versions.
    Overruled,
}

/// What to do with a new row of which one is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Write it.
    Write,
    /// The stored row is the same already.
    Unchanged,
    /// The stored row is later.
    Stale,
    /// Mark the stored row as deleted, and leave its columns alone: a later definition wrote them.
    Mark,
}

/// The rule:
/// - A tombstone never replaces an evicted row: the object left etcd on purpose, so its DELETED event says nothing new.
/// - A higher resourceVersion wins.
/// - At the same resourceVersion, deletion and eviction win over the live state. A deletion that an earlier definition of the kind
///   brings leaves the columns of a later one.
/// - At the same resourceVersion and in the same state, a higher definition wins; nothing else is written again.
/// - Objects without a resourceVersion (0, from hand-written files) replace each other, but never an object that has one.
pub fn verdict(stored: Version, new: Version) -> Verdict {
    if new.deleted && stored.evicted {
        return if new.res_version >= stored.res_version { Verdict::Unchanged } else { Verdict::Stale };
    }
    match new.res_version.cmp(&stored.res_version) {
        std::cmp::Ordering::Greater => Verdict::Write,
        std::cmp::Ordering::Less => Verdict::Stale,
        std::cmp::Ordering::Equal => {
            let ends = (new.deleted && !stored.deleted) || (new.evicted && !stored.evicted);
            let alike = (new.deleted, new.evicted) == (stored.deleted, stored.evicted);
            let replaces = new.res_version == 0 && !stored.deleted;
            if ends && new.deleted && new.ingest_version < stored.ingest_version {
                Verdict::Mark
            } else if ends || replaces || (alike && new.ingest_version > stored.ingest_version) {
                Verdict::Write
            } else {
                Verdict::Unchanged
            }
        }
    }
}
