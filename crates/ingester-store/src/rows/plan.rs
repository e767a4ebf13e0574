//! The plan of a batch: the rows of the main table to write, the companions that have to follow, the versions that end, and the entries of
//! the log. Pure.
//!
//! An executor says which version of each row it assumes to be stored, and runs the plan. [`single`](super::single) assumes the version
//! that the writer expects, and writes one object in one round trip. [`judged`](super::judged) assumes the version that the condition of
//! its statement requires. [`locked`](super::locked) has read and locked the rows. No executor decides anything about a row.

use super::change::{Report, RowChange};
use super::guard::{Eviction, Verdict, Version, verdict, verdict_of_tombstone, verdict_over};
use ingester_core::row::{Expected, Row};
use ingester_sql::dialect::statements::{ChangeKind, GoneObject};

/// The changes that a batch makes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct WritePlan<'a> {
    /// Rows to insert.
    pub(super) insert: Vec<&'a Row>,
    /// Stored rows to overwrite.
    pub(super) overwrite: Vec<RowOverwrite<'a>>,
    /// Stored rows to mark as deleted. Their columns stay.
    pub(super) mark: Vec<GoneObject<'a>>,
    /// The uids of evicted rows whose objects have left etcd.
    pub(super) confirm: Vec<&'a str>,
    /// The number of changes that are stored already.
    pub(super) unchanged: usize,
    /// The uids of objects for which the cluster must be asked.
    pub(super) stale: Vec<&'a str>,
}

/// A stored row that is overwritten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowOverwrite<'a> {
    /// The new row.
    pub(super) row: &'a Row,
    /// What the batch knows about the stored companions.
    pub(super) companions: StoredCompanions,
    /// The entries of the log, in order. There are none if the row says nothing new about its object; then its version does not end either.
    pub(super) entries: [Option<ChangeKind>; 2],
}

/// The knowledge about the stored labels, annotations and many values of a row before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredCompanions {
    /// They equal the companions of the new row.
    Same,
    /// They are the ones that the writer expects, and differ from the companions of the new row.
    Expected,
    /// Nothing is known.
    Unknown,
}

impl<'a> WritePlan<'a> {
    /// Plans one change. `stored` is the version of the stored row; `None` if there is none.
    pub(super) fn add(&mut self, change: &'a RowChange, stored: Option<Version>) {
        match change {
            RowChange::Row(row) => self.add_row(row, stored),
            RowChange::Replacement { row, seen } => match stored {
                Some(stored) => {
                    let verdict = verdict_over(stored, *seen, row.version());
                    // Even if the stored row has the same version, it differs from the object in the cluster.
                    let entries = steps(row, stored);
                    self.add_judged(verdict, RowOverwrite { row, companions: StoredCompanions::Unknown, entries });
                }
                None => self.insert.push(row),
            },
            RowChange::Tombstone { uid, res_version, delete_time } => {
                match stored.map(|stored| verdict_of_tombstone(stored, *res_version)) {
                    // Without a row, the object was never stored, and there is nothing to mark.
                    None | Some(Verdict::Unchanged) => self.unchanged += 1,
                    Some(Verdict::Stale) => self.stale.push(uid),
                    Some(Verdict::Confirm) => self.confirm.push(uid),
                    Some(Verdict::Write | Verdict::Mark) => {
                        self.mark.push(GoneObject { uid, res_version: *res_version, delete_time: *delete_time });
                    }
                }
            }
        }
    }

    /// Plans a row under the guard's usual rule.
    pub(super) fn add_row(&mut self, row: &'a Row, stored: Option<Version>) {
        let Some(stored) = stored else {
            self.insert.push(row);
            return;
        };
        let verdict = verdict(stored, row.version());
        if verdict != Verdict::Write {
            // The companions of a row that is not written need not be compared.
            self.add_judged(
                verdict,
                RowOverwrite { row, companions: StoredCompanions::Unknown, entries: [None, None] },
            );
            return;
        }
        let companions = StoredCompanions::compare(row, stored);
        let entries = if is_news(row, stored) { steps(row, stored) } else { [None, None] };
        self.add_judged(verdict, RowOverwrite { row, companions, entries });
    }

    fn add_judged(&mut self, verdict: Verdict, overwrite: RowOverwrite<'a>) {
        let row = overwrite.row;
        match verdict {
            Verdict::Write => self.overwrite.push(overwrite),
            Verdict::Mark => {
                let gone = |delete_time| GoneObject { uid: &row.uid, res_version: row.res_version, delete_time };
                self.mark.extend(row.delete_time.map(gone));
            }
            Verdict::Confirm => self.confirm.push(&row.uid),
            Verdict::Unchanged => self.unchanged += 1,
            Verdict::Stale => self.stale.push(&row.uid),
        }
    }

    /// Returns the plan of a row that its writer has judged itself, under the row's lock.
    pub(super) fn of_overwrite(row: &'a Row, becomes: ChangeKind) -> Self {
        let overwrite = RowOverwrite { row, companions: StoredCompanions::Unknown, entries: [None, Some(becomes)] };
        WritePlan { overwrite: vec![overwrite], ..WritePlan::default() }
    }

    /// Returns the uids of the rows that the plan changes.
    pub(super) fn uids(&self) -> impl Iterator<Item = &'a str> {
        let rows = self.insert.iter().copied().chain(self.overwrite.iter().map(|overwrite| overwrite.row));
        let marked = self.mark.iter().map(|gone| gone.uid);
        rows.map(|row| &*row.uid).chain(marked).chain(self.confirm.iter().copied())
    }

    /// Keeps only the part of the plan that concerns these rows.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.insert.retain(|row| is_kept(&row.uid));
        self.overwrite.retain(|overwrite| is_kept(&overwrite.row.uid));
        self.mark.retain(|gone| is_kept(gone.uid));
        self.confirm.retain(|uid| is_kept(uid));
    }

    /// Adds another plan.
    pub(super) fn join(&mut self, other: WritePlan<'a>) {
        self.insert.extend(other.insert);
        self.overwrite.extend(other.overwrite);
        self.mark.extend(other.mark);
        self.confirm.extend(other.confirm);
        self.unchanged += other.unchanged;
        self.stale.extend(other.stale);
    }

    /// Returns the result of the plan once it has run.
    pub(super) fn report(&self) -> Report {
        Report {
            written: self.insert.len() + self.overwrite.len() + self.mark.len() + self.confirm.len(),
            unchanged: self.unchanged,
            stale: self.stale.iter().map(|uid| Box::from(*uid)).collect(),
            ..Report::default()
        }
    }
}

impl RowOverwrite<'_> {
    /// Returns the change of the object; `None` if its version stays the same.
    pub(super) fn becomes(&self) -> Option<ChangeKind> {
        let [_, last] = self.entries;
        last
    }
}

impl StoredCompanions {
    /// Compares the expected companions with the ones of the new row, if the stored row is the expected one. A main row and its companions
    /// are only written together, so the version of the main row stands for all of them.
    fn compare(row: &Row, stored: Version) -> Self {
        let Some(Expected::Stored { res_version, companions }) = row.expected else {
            return StoredCompanions::Unknown;
        };
        // Labels and annotations do not depend on the definition, many values do.
        let ingest_version = if row.many.is_empty() { stored.ingest_version } else { row.ingest_version };
        let live = Version { res_version, ingest_version, deleted: false, eviction: Eviction::None };
        if res_version == 0 || stored != live {
            StoredCompanions::Unknown
        } else if companions == row.companions_hash() {
            StoredCompanions::Same
        } else {
            StoredCompanions::Expected
        }
    }
}

/// Returns the version of the live row that the writer of a row expects to be stored, as its own definition of the kind writes it. A statement that
/// relies on it must not overwrite the row of a later definition.
pub(super) fn expected_version(row: &Row) -> Option<Version> {
    match row.expected? {
        Expected::Stored { res_version, .. } if res_version > 0 => {
            let ingest_version = row.ingest_version;
            Some(Version { res_version, ingest_version, deleted: false, eviction: Eviction::None })
        }
        Expected::Stored { .. } | Expected::Absent => None,
    }
}

/// Returns the change of an object whose row replaces the stored one, or is the first one.
pub(super) fn what(row: &Row, stored: Option<Version>) -> ChangeKind {
    match (row.delete_time, row.eviction(), stored) {
        (Some(_), _, _) => ChangeKind::Deleted,
        (None, Eviction::Confirmed, _) => ChangeKind::Evicted,
        (None, Eviction::Intended, _) => ChangeKind::Evicting,
        (None, Eviction::None | Eviction::Unrecorded, None) => ChangeKind::Inserted,
        (None, Eviction::None | Eviction::Unrecorded, Some(stored)) if stored.deleted || stored.evicted() => {
            ChangeKind::Revived
        }
        (None, Eviction::None | Eviction::Unrecorded, Some(_)) => ChangeKind::Updated,
    }
}

/// Returns the log's entries for a row that replaces the stored one, in order. The last one is the change of the object. The entry of an
/// eviction does not tell the state before it, so another entry precedes it if the row was deleted, or if the object is evicted at once, as
/// by an import. Watchers of live objects then learn that it is no longer one of them.
fn steps(row: &Row, stored: Version) -> [Option<ChangeKind>; 2] {
    let last = what(row, Some(stored));
    let first = match last {
        ChangeKind::Evicting | ChangeKind::Evicted if stored.deleted => Some(ChangeKind::Revived),
        ChangeKind::Evicted if !stored.evicted() => Some(ChangeKind::Evicting),
        _ => None,
    };
    [first, Some(last)]
}

/// Returns true if a row says something else about its object than the stored one. A row that another definition of the kind made from the
/// same version does not. Objects from hand-written files have no versions.
fn is_news(row: &Row, stored: Version) -> bool {
    let new = row.version();
    let same = Version { ingest_version: stored.ingest_version, ..new } == stored;
    !same || new.res_version == 0
}
