//! The table `ingester_rejects`: objects that could not be mirrored.

use super::{Rejected, Store, StoreError};
use ingester_core::dialect::statements::{AnyRejects, ReadRejects, RecordRejects, RejectRow};
use ingester_core::value::Micros;
use std::sync::atomic::Ordering;

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

impl Store {
    /// Records objects that could not be mirrored. An object is recorded once, with its latest reason.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn record_rejects(&self, rejects: &[Reject]) -> Result<(), StoreError> {
        self.any_rejects.store(true, Ordering::Relaxed);
        for chunk in rejects.chunks(100) {
            let rows: Vec<RejectRow<'_>> = chunk.iter().map(row).collect();
            let record = &RecordRejects { rejects: &rows, reject_time: Micros::now() };
            let doing = || "recording rejects in ingester_rejects".into();
            self.with_retries(doing, || async { self.pool.execute(record).await }).await?;
        }
        Ok(())
    }

    /// The objects of one kind that are rejected now, with their reasons, in the order of their uids.
    ///
    /// # Errors
    /// If `ingester_rejects` cannot be read within the retries.
    pub async fn rejects(&self, group_ver: &str, kind: &str) -> Result<Vec<Rejected>, StoreError> {
        let read = self.with_retries(
            || format!("reading the rejects of {kind} in ingester_rejects"),
            || async { self.pool.fetch(&ReadRejects { group_ver, kind }).await },
        );
        Ok(read.await?.into_iter().map(|(uid, reason)| Rejected { uid: uid.into(), reason }).collect())
    }

    /// Checks whether `ingester_rejects` has any row. While it has none, no write deletes from it.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub async fn look_for_rejects(&self) -> Result<(), StoreError> {
        let any = self.pool.fetch(&AnyRejects).await;
        let any = any.map_err(|error| StoreError::of("reading ingester_rejects".into(), error))?;
        self.any_rejects.store(any.contains(&true), Ordering::Relaxed);
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

/// The first `limit` characters.
fn head(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}
