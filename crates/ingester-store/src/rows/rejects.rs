//! The table `ingester_rejects`: objects that could not be mirrored.

use super::change::RejectedObject;
use super::chunks::{MOST_ROWS, chunks};
use crate::driver::StoreError;
use crate::store::{RecordedRejects, Store};
use ingester_core::value::Micros;
use ingester_sql::dialect::REJECTS;
use ingester_sql::dialect::statements::{
    ClearRejects, ForgetRejects, ReadRejects, RecordRejects, RejectRow, RejectedUids, RejectsOf,
};
use std::collections::HashSet;

/// The most characters of a reason that are recorded.
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
    /// `metadata.resourceVersion`, as written in the object.
    pub res_version: String,
    /// The reason, for people; everything after 16,000 characters is cut off.
    pub reason: String,
}

impl Store {
    /// Records objects that could not be mirrored. An object is recorded once, with its latest reason.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn record_rejects(&self, rejects: &[Reject]) -> Result<(), StoreError> {
        self.recorded().add(rejects.iter().map(named));
        for rows in latest(rejects).chunks(100) {
            let record = &RecordRejects { rejects: rows, reject_time: Micros::now() };
            let doing = || "recording rejects in ingester_rejects".into();
            self.with_retries(doing, || async { self.pool.execute(record).await }).await?;
        }
        Ok(())
    }

    /// Returns the objects of one kind that are rejected now, with their reasons, in the order of their uids; with a namespace, only the
    /// ones in it.
    ///
    /// # Errors
    /// If `ingester_rejects` cannot be read within the retries.
    pub async fn rejects(
        &self,
        group_ver: &str,
        kind: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<RejectedObject>, StoreError> {
        let read = self.with_retries(
            || format!("reading the rejects of {kind} in ingester_rejects"),
            || async { self.pool.fetch(&ReadRejects { group_ver, kind, namespace }).await },
        );
        Ok(read.await?.into_iter().map(|(uid, reason)| RejectedObject { uid: uid.into(), reason }).collect())
    }

    /// Deletes the records of objects of a kind that are gone.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn forget_rejects(&self, kind: &str, uids: &[&str]) -> Result<(), StoreError> {
        for uids in chunks(uids, MOST_ROWS, self.dialect) {
            let doing = || "deleting rejects of objects that are gone".into();
            self.with_retries(doing, || async { self.pool.execute(&ClearRejects { kind, uids }).await }).await?;
            self.recorded().cleared(kind, uids.iter().copied());
        }
        Ok(())
    }

    /// Reads which objects are in `ingester_rejects`, so that writes of other objects need not delete from it.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub async fn look_for_rejects(&self) -> Result<(), StoreError> {
        let uids = self.pool.fetch(&RejectedUids { limit: RecordedRejects::MOST + 1 }).await;
        let uids = uids.map_err(|error| StoreError::from_sqlx("reading ingester_rejects".into(), error))?;
        *self.recorded() = RecordedRejects::from_rejects(uids.into_iter().map(|(uid, kind)| (uid.into(), kind.into())));
        Ok(())
    }

    /// Deletes rejects, and returns how many. An object that is still wrong is recorded again when it is tried again.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn clear_rejects(&self, of: RejectsOf<'_>) -> Result<u64, StoreError> {
        let doing = || "deleting from ingester_rejects".into();
        self.with_retries(doing, || async { self.pool.execute(&ForgetRejects { of }).await }).await
    }

    /// Returns true if the database has the table of rejects.
    ///
    /// # Errors
    /// If the names of the tables cannot be read.
    pub async fn has_rejects_table(&self) -> Result<bool, StoreError> {
        Ok(self.tables().await?.contains(REJECTS))
    }
}

/// Returns one row for each uid, with its latest reject: PostgreSQL refuses a statement that writes one row twice.
fn latest(rejects: &[Reject]) -> Vec<RejectRow<'_>> {
    let mut seen = HashSet::with_capacity(rejects.len());
    let mut rows: Vec<RejectRow<'_>> = rejects.iter().rev().map(row).filter(|row| seen.insert(row.uid)).collect();
    rows.reverse();
    rows
}

/// Returns a reject as a row, each text cut to the length of its column, so that the database does not refuse the record itself.
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

/// Returns uid and kind, as they are recorded.
pub(super) fn named(reject: &Reject) -> (Box<str>, Box<str>) {
    let RejectRow { uid, kind, .. } = row(reject);
    (uid.into(), kind.into())
}

/// Returns the first `limit` characters.
pub(super) fn head(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::{Reject, latest};

    #[test]
    fn the_latest_reject_of_each_uid_is_recorded() {
        let long = "u".repeat(64);
        let reject = |uid: &str, reason: &str| Reject {
            uid: uid.to_owned(),
            group_ver: String::new(),
            kind: String::new(),
            namespace: String::new(),
            name: String::new(),
            res_version: String::new(),
            reason: reason.to_owned(),
        };
        let all = [
            reject("a", "first"),
            reject("b", "only"),
            reject("a", "last"),
            // The same row, because the column cuts both uids here.
            reject(&format!("{long}1"), "first"),
            reject(&format!("{long}2"), "last"),
        ];
        let found: Vec<(&str, &str)> = latest(&all).into_iter().map(|row| (row.uid, row.reason)).collect();
        assert_eq!(found, [("b", "only"), ("a", "last"), (long.as_str(), "last")]);
    }
}
