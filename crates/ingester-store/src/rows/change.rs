//! Changes of objects to write, and the result of writing them.

use super::guard::Version;
use ingester_core::row::Row;
use ingester_core::value::Micros;

/// The change of one object.
#[derive(Clone, Debug, PartialEq)]
pub enum RowChange {
    /// The object's row: a tombstone if `delete_time` is set, an evicted row if `evict_time` is set.
    Row(Row),
    /// The row of an object as the cluster has it now, although the guard would keep the stored row: the cluster was restored from a
    /// backup, or the row was changed by hand. It replaces only the row that its writer saw before it asked the cluster. If the stored row
    /// has changed since, the guard decides.
    Replacement {
        /// The new row.
        row: Row,
        /// The version of the stored row, read before the object.
        seen: Version,
    },
    /// A tombstone for an object if only its uid is known. For an evicted row, it confirms the eviction instead.
    Tombstone {
        /// The object's uid.
        uid: Box<str>,
        /// The resourceVersion at which the object was found to be gone; rows of later versions are left alone.
        res_version: u64,
        /// The tombstone's `delete_time`.
        delete_time: Micros,
    },
}

impl RowChange {
    /// Returns the row that it writes; `None` if only the object's uid is known.
    pub(super) fn row(&self) -> Option<&Row> {
        match self {
            RowChange::Row(row) | RowChange::Replacement { row, .. } => Some(row),
            RowChange::Tombstone { .. } => None,
        }
    }

    /// The object's uid.
    pub fn uid(&self) -> &str {
        match self {
            RowChange::Row(row) | RowChange::Replacement { row, .. } => &row.uid,
            RowChange::Tombstone { uid, .. } => uid,
        }
    }

    /// Returns true if it writes an evicted row, which is the only copy of its object.
    pub(super) fn is_eviction(&self) -> bool {
        self.row().is_some_and(|row| row.evict_time.is_some())
    }

    pub(super) fn res_version(&self) -> u64 {
        match self {
            RowChange::Row(row) | RowChange::Replacement { row, .. } => row.res_version,
            RowChange::Tombstone { res_version, .. } => *res_version,
        }
    }
}

/// The result of writing a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Rows written.
    pub written: usize,
    /// Rows that were stored already in the same version.
    pub unchanged: usize,
    /// Values with NUL (U+0000) in rows that are stored now, if the database's text cannot contain it: the column is NULL, or the companion
    /// table lacks the value.
    pub nul_values: usize,
    /// Values in rows that are stored now that do not fit their columns ([`Row::unfit`]).
    pub unfit_values: usize,
    /// Batches that the database refused, so that their halves were written separately.
    pub splits: usize,
    /// The uids of objects whose stored row is later, or contradicts the change so that only the cluster can decide, see
    /// [`Verdict::Stale`](super::guard::Verdict::Stale).
    pub stale: Vec<Box<str>>,
    /// Objects that the database refused.
    pub rejected: Vec<RejectedObject>,
    /// Objects that could not be stored now because of an unclassified error, which may pass. Write them again later. An object that is
    /// refused for long while others are stored is rejected then.
    pub postponed: Vec<RejectedObject>,
}

/// An object that the database refused.
#[derive(Clone, Debug, PartialEq)]
pub struct RejectedObject {
    /// Its uid.
    pub uid: Box<str>,
    /// The reason, for people.
    pub reason: String,
}

impl Report {
    /// Adds the result of another batch.
    pub fn add(&mut self, other: Report) {
        self.written += other.written;
        self.unchanged += other.unchanged;
        self.nul_values += other.nul_values;
        self.unfit_values += other.unfit_values;
        self.splits += other.splits;
        self.stale.extend(other.stale);
        self.rejected.extend(other.rejected);
        self.postponed.extend(other.postponed);
    }
}

/// Sorts changes by uid, so that all transactions lock rows in the same order. Keeps one change per uid: the one with the highest version,
/// and the last one if versions are equal.
pub fn latest_of_each(mut changes: Vec<RowChange>) -> Vec<RowChange> {
    changes.sort_by(|a, b| a.uid().cmp(b.uid()).then(a.res_version().cmp(&b.res_version())));
    let mut latest: Vec<RowChange> = Vec::with_capacity(changes.len());
    for change in changes {
        match latest.last_mut() {
            Some(last) if last.uid() == change.uid() => *last = change,
            _ => latest.push(change),
        }
    }
    latest
}
