//! Which of two versions of an object's row stays: the rule, in one place in Rust.
//!
//! It is asked of rows that the transaction has locked, so that it holds against other writers too; a test writes every
//! combination on every database.

pub use ingester_core::row::Version;

/// Whether the guard decides about a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// A stale write changes nothing.
    Holds,
    /// The cluster itself went back, restored from a backup: it wins over what is stored, whatever its version.
    Overruled,
}

/// What to do with a row that is to be written over a stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Write it.
    Write,
    /// The stored one says the same already.
    Unchanged,
    /// The stored one is later.
    Stale,
}

/// The rule:
/// - a tombstone never goes over an evicted row: that object left etcd on purpose, its DELETED event says nothing new;
/// - a higher resourceVersion wins;
/// - at the same one, deletion and eviction win over the live state, and nothing else is written again;
/// - objects without a resourceVersion (0, from hand-written files) replace each other, and never one that has one.
pub fn verdict(stored: Version, new: Version) -> Verdict {
    if new.deleted && stored.evicted {
        return if new.res_version >= stored.res_version { Verdict::Unchanged } else { Verdict::Stale };
    }
    match new.res_version.cmp(&stored.res_version) {
        std::cmp::Ordering::Greater => Verdict::Write,
        std::cmp::Ordering::Less => Verdict::Stale,
        std::cmp::Ordering::Equal => {
            let ends = (new.deleted && !stored.deleted) || (new.evicted && !stored.evicted);
            if ends || (new.res_version == 0 && !stored.deleted) { Verdict::Write } else { Verdict::Unchanged }
        }
    }
}
