//! The table `ingester_rejects`: objects that could not be mirrored.

use super::batch::{MOST_ROWS, chunks};
use super::{Rejected, RowChange, Store, StoreError};
use ingester_core::dialect::statements::{ClearRejects, ReadRejects, RecordRejects, RejectRow, RejectedUids};
use ingester_core::value::Micros;
use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

/// The table's name.
pub(super) const REJECTS: &str = "ingester_rejects";

/// How many characters of a reason are recorded.
const REASON: usize = 16_000;

/// An object that could not be mirrored, as `ingester_rejects` records it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reject {
    /// The object's uid, or the name-based one.
    pub uid: String,
    /// `apiVersion`
    pub group_ver: String,
    /// `kind`
    pub kind: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.resourceVersion`, as the object has it.
    pub res_version: String,
    /// Why, for people; everything after 16,000 characters is cut off.
    pub reason: String,
}

/// The most uids that are remembered. With more rejects, every write looks for its own.
const MOST: usize = 10_000;

/// The objects in `ingester_rejects`, as far as this process knows.
#[derive(Debug)]
pub(super) enum Recorded {
    /// Not read yet, or too many: any object may be among them.
    Unknown,
    /// These uids, each with its kind.
    Only(HashMap<Box<str>, Box<str>>),
}

impl Recorded {
    fn of(rejects: impl IntoIterator<Item = (Box<str>, Box<str>)>) -> Self {
        let mut recorded = Recorded::Only(HashMap::new());
        recorded.add(rejects);
        recorded
    }

    /// Whether any of these objects of a kind may be among them.
    pub(super) fn any(&self, kind: &str, changes: &[RowChange]) -> bool {
        match self {
            Recorded::Unknown => true,
            Recorded::Only(uids) if uids.is_empty() => false,
            Recorded::Only(uids) => {
                changes.iter().any(|change| uids.get(change.uid()).is_some_and(|its| **its == *kind))
            }
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Recorded::Only(uids) if uids.is_empty())
    }

    pub(super) fn add(&mut self, more: impl IntoIterator<Item = (Box<str>, Box<str>)>) {
        if let Recorded::Only(uids) = self {
            uids.extend(more);
            if uids.len() > MOST {
                *self = Recorded::Unknown;
            }
        }
    }

    /// The records of these objects of a kind were deleted.
    pub(super) fn cleared<'u>(&mut self, kind: &str, cleared: impl IntoIterator<Item = &'u str>) {
        if let Recorded::Only(uids) = self
            && !uids.is_empty()
        {
            for uid in cleared {
                if uids.get(uid).is_some_and(|its| **its == *kind) {
                    uids.remove(uid);
                }
            }
        }
    }
}

impl Store {
    pub(super) fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records objects that could not be mirrored. An object is recorded once, with its latest reason.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn record_rejects(&self, rejects: &[Reject]) -> Result<(), StoreError> {
        self.recorded().add(rejects.iter().map(named));
        for chunk in rejects.chunks(100) {
            let rows: Vec<RejectRow<'_>> = chunk.iter().map(row).collect();
            let record = &RecordRejects { rejects: &rows, reject_time: Micros::now() };
            let doing = || "recording rejects in ingester_rejects".into();
            self.with_retries(doing, || async { self.pool.execute(record).await }).await?;
        }
        Ok(())
    }

    /// The objects of one kind that are rejected now, with their reasons, in the order of their uids; with a namespace, only those in
    /// it.
    ///
    /// # Errors
    /// If `ingester_rejects` cannot be read within the retries.
    pub async fn rejects(
        &self,
        group_ver: &str,
        kind: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<Rejected>, StoreError> {
        let read = self.with_retries(
            || format!("reading the rejects of {kind} in ingester_rejects"),
            || async { self.pool.fetch(&ReadRejects { group_ver, kind, namespace }).await },
        );
        Ok(read.await?.into_iter().map(|(uid, reason)| Rejected { uid: uid.into(), reason }).collect())
    }

    /// Deletes the records of objects of a kind that are gone.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn forget_rejects(&self, kind: &str, uids: &[&str]) -> Result<(), StoreError> {
        for uids in chunks(uids, MOST_ROWS) {
            let doing = || "deleting rejects of objects that are gone".into();
            self.with_retries(doing, || async { self.pool.execute(&ClearRejects { kind, uids }).await }).await?;
            self.recorded().cleared(kind, uids.iter().copied());
        }
        Ok(())
    }

    /// Reads which objects are in `ingester_rejects`. Writes of other objects do not delete from it.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub async fn look_for_rejects(&self) -> Result<(), StoreError> {
        let uids = self.pool.fetch(&RejectedUids { limit: MOST + 1 }).await;
        let uids = uids.map_err(|error| StoreError::of("reading ingester_rejects".into(), error))?;
        *self.recorded() = Recorded::of(uids.into_iter().map(|(uid, kind)| (uid.into(), kind.into())));
        Ok(())
    }
}

/// A reject as a row, each text cut to the length of its column: the database must not refuse the record itself.
pub(super) fn row(reject: &Reject) -> RejectRow<'_> {
    RejectRow {
        uid: head(&reject.uid, 64),
        group_ver: head(&reject.group_ver, 128),
        kind: head(&reject.kind, 128),
        namespace: head(&reject.namespace, 256),
        name: head(&reject.name, 256),
        res_version: head(&reject.res_version, 128),
        reason: head(&reject.reason, REASON),
    }
}

/// Uid and kind, as they are recorded.
pub(super) fn named(reject: &Reject) -> (Box<str>, Box<str>) {
    let RejectRow { uid, kind, .. } = row(reject);
    (uid.into(), kind.into())
}

/// The first `limit` characters.
pub(super) fn head(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}
