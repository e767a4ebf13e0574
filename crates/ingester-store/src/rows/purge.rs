//! Deletes rows for good: rows of objects that were deleted long ago, rows that a rule has judged, and former versions of objects.
//!
//! It works in small batches, so that writers wait only for a few rows. Like every writer, it locks main rows first. A row that was found
//! without a lock is then checked again, because its object may have come back meanwhile.

use super::chunks::{MOST_ROWS, chunks};
use super::history::{Beginnings, keep_versions};
use super::marks::{Mark, MarkingRule};
use super::proof::{Premise, proved};
use super::restores::open_restores;
use crate::driver::{StoreError, Transaction};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::row::Standing;
use ingester_core::schema::{History, Table};
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{
    ChangeKind, DeleteVersions, ForgetMarks, LockPurgeable, ManyVersions, MarksOf, Old, OldVersions, Purge, Purgeable,
    ReadMarks, RecordRowChanges,
};
use ingester_sql::dialect::{Access, GroupFilter};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The place where a batch of [`Store::purge_older`] ended. The next batch begins there, and does not read the rows again that this one had
/// to keep. The default is the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PurgePlace(Option<(String, Micros)>);

/// The conditions that judged rows must meet once they are locked, in addition to being unchanged: without them, no rule may judge the rows
/// at all.
#[derive(Clone, Copy, Debug)]
pub struct PurgeTerms<'a> {
    /// The premise that their texts must prove.
    pub premise: &'a Premise,
    /// The mark that each row must have, and the time before which it must have been made; `None` for rows that need none.
    pub marked: Option<(MarkingRule<'a>, Micros)>,
}

/// The result of a batch of [`Store::purge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurgeResult {
    /// Number of deleted rows, including rows of companion tables.
    pub rows: u64,
    /// True if there may be more.
    pub more: bool,
}

impl Store {
    /// Deletes a batch of rows, with their labels and annotations, whose objects were deleted before a time, the oldest first. Rows of
    /// evicted objects are never among them, not even if they were deleted since.
    ///
    /// # Errors
    /// If the tables cannot be read or written within the retries.
    pub async fn purge(&self, kind: &Kind, before: Micros) -> Result<PurgeResult, StoreError> {
        let PurgeResult { rows, more } = self.purge_behind(kind, before, &mut PurgePlace::default()).await?;
        // If nothing could be deleted, the next batch would find the same rows.
        Ok(PurgeResult { rows, more: more && rows > 0 })
    }

    /// Like [`Store::purge`], for rows whose objects were deleted this long ago by the database's clock, which is asked now. The batch
    /// begins at `place`, and moves it to the end of the batch.
    ///
    /// # Errors
    /// As [`Store::purge`].
    pub async fn purge_older(
        &self,
        kind: &Kind,
        age: Duration,
        place: &mut PurgePlace,
    ) -> Result<PurgeResult, StoreError> {
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let before = Micros(self.read_clock().await?.0.saturating_sub(age));
        self.purge_behind(kind, before, place).await
    }

    async fn purge_behind(
        &self,
        kind: &Kind,
        before: Micros,
        place: &mut PurgePlace,
    ) -> Result<PurgeResult, StoreError> {
        let table = kind.table();
        let group = &GroupFilter::new(kind.group());
        let behind = place.0.as_ref().map(|(uid, deleted)| (uid.as_str(), *deleted));
        let found = &Purgeable { table, group, before, behind, limit: MOST_ROWS };
        let doing = || format!("purging rows of `{}`", table.name);
        let mut found = self.with_retries(doing, || async { self.pool.fetch(found).await }).await?;
        let uids: Vec<&str> = found.iter().map(|(uid, _)| uid.as_str()).collect();
        let rows = self.purge_rows(kind, &uids, before).await?;
        let more = found.len() == MOST_ROWS;
        place.0 = found.pop().or(place.0.take());
        Ok(PurgeResult { rows, more })
    }

    /// Deletes the rows whose objects were deleted before a time, and were not evicted. Returns how many.
    ///
    /// # Errors
    /// As [`Store::purge`].
    pub async fn purge_rows(&self, kind: &Kind, uids: &[&str], before: Micros) -> Result<u64, StoreError> {
        let is_old = |_: &str, now: Standing| {
            now.evict_time.is_none() && now.delete_time.is_some_and(|deleted| deleted < before)
        };
        self.purge_where(kind, uids, &is_old, None).await
    }

    /// Deletes the rows that are unchanged since they were judged and that meet the terms, including rows of evicted objects. Returns how
    /// many.
    ///
    /// # Errors
    /// As [`Store::purge`].
    pub async fn purge_judged(
        &self,
        kind: &Kind,
        rows: &[(&str, Standing)],
        terms: PurgeTerms<'_>,
    ) -> Result<u64, StoreError> {
        let judged: HashMap<&str, Standing> = rows.iter().copied().collect();
        let mut uids: Vec<&str> = judged.keys().copied().collect();
        uids.sort_unstable();
        self.purge_where(kind, &uids, &|uid, now| judged.get(uid) == Some(&now), Some(terms)).await
    }

    /// Deletes the rows for which `holds` returns true while they are locked.
    async fn purge_where(
        &self,
        kind: &Kind,
        uids: &[&str],
        holds: &impl Fn(&str, Standing) -> bool,
        terms: Option<PurgeTerms<'_>>,
    ) -> Result<u64, StoreError> {
        let table = kind.table();
        let mut purged = 0;
        for uids in chunks(uids, MOST_ROWS, self.dialect) {
            purged += self
                .with_retries(
                    || format!("purging rows of `{}`", table.name),
                    || async {
                        let logs = self.logs().await?;
                        let mut tx = self.pool.begin(Access::Write).await?;
                        let result = async {
                            let mut locked = tx.fetch(&LockPurgeable { table, uids }).await?;
                            locked.retain(|(uid, now)| holds(uid, *now));
                            // The text of a row that is being restored may still be needed.
                            let restoring = open_restores(&mut tx, table, &uids_of(&locked)).await?;
                            locked.retain(|(uid, _)| !restoring.contains_key(uid));
                            if let Some(terms) = terms {
                                retain_proved(&mut tx, kind, &mut locked, terms).await?;
                            }
                            purge_locked(&mut tx, kind, &locked, (self.now(), logs)).await
                        }
                        .await;
                        tx.end(result).await
                    },
                )
                .await?;
        }
        Ok(purged)
    }
}

impl Store {
    /// Deletes a batch of former versions of a kind's objects: first the ones that ended longer ago than `age` by the database's clock, the
    /// oldest first, then the ones in excess of the number that the kind keeps of each object. Without an age, none is too old. A kind
    /// without a history has nothing to delete.
    ///
    /// # Errors
    /// If the table cannot be read or written within the retries.
    pub async fn purge_history(&self, kind: &Kind, age: Option<Duration>) -> Result<PurgeResult, StoreError> {
        let Some(History { table: former, versions, .. }) = kind.history() else {
            return Ok(PurgeResult { rows: 0, more: false });
        };
        let mut old = Vec::new();
        if let Some(age) = age {
            let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
            let before = Old::Before(Micros(self.read_clock().await?.0.saturating_sub(age)));
            old = self.old_versions(kind, former, before, MOST_ROWS).await?;
        }
        let mut is_full = old.len() == MOST_ROWS;
        if let Some(most) = versions.filter(|_| !is_full) {
            let many = &ManyVersions { former, most, limit: MOST_ROWS };
            let doing = || format!("counting the versions of objects in `{}`", former.name);
            for (uid, count) in self.with_retries(doing, || async { self.pool.fetch(many).await }).await? {
                let surplus = usize::try_from(count.saturating_sub(most.into())).unwrap_or(usize::MAX);
                let room = MOST_ROWS - old.len().min(MOST_ROWS);
                let first = self.old_versions(kind, former, Old::Of(&uid), surplus.min(room)).await?;
                // Some of them may be too old as well.
                let new: Vec<_> = first.into_iter().filter(|version| !old.contains(version)).collect();
                old.extend(new);
                is_full |= surplus > room;
            }
        }
        let mut rows = 0;
        for versions in chunks(&old, MOST_ROWS, self.dialect) {
            let delete = &DeleteVersions { former, rows: versions };
            let doing = || format!("purging rows of `{}`", former.name);
            rows += self.with_retries(doing, || async { self.pool.execute(delete).await }).await?;
        }
        // If nothing could be deleted, the next batch would find the same rows.
        Ok(PurgeResult { rows, more: is_full && rows > 0 })
    }

    async fn old_versions(
        &self,
        kind: &Kind,
        former: &Table,
        of: Old<'_>,
        limit: usize,
    ) -> Result<Vec<(String, Micros)>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let old = &OldVersions { former, group: &GroupFilter::new(kind.group()), of, limit };
        let doing = || format!("looking for old rows of `{}`", former.name);
        self.with_retries(doing, || async { self.pool.fetch(old).await }).await
    }
}

fn uids_of(rows: &[(String, Standing)]) -> Vec<&str> {
    rows.iter().map(|(uid, _)| uid.as_str()).collect()
}

/// Keeps the locked rows that meet the terms.
async fn retain_proved(
    tx: &mut Transaction,
    kind: &Kind,
    locked: &mut Vec<(String, Standing)>,
    terms: PurgeTerms<'_>,
) -> Result<(), sqlx::Error> {
    let uids: Vec<&str> = locked.iter().map(|(uid, _)| uid.as_str()).collect();
    if uids.is_empty() {
        return Ok(());
    }
    let (rows, _) = proved(tx, kind, &uids, terms.premise).await?;
    let mut may_go: HashSet<String> = rows.iter().map(|row| row.uid.to_string()).collect();
    if let Some((rule, before)) = terms.marked {
        let table = kind.table().name.as_str();
        let fingerprint = rule.fingerprint.to_string();
        let marks = tx.fetch(&ReadMarks { table, of: MarksOf::Rows(&uids) }).await?;
        let is_due = |uid: &String| {
            let of_rule = |mark: &&Mark| mark.uid == *uid && mark.rule == rule.name && mark.revert_time.is_none();
            marks.iter().find(of_rule).is_some_and(|mark| mark.fingerprint == fingerprint && mark.mark_time <= before)
        };
        may_go.retain(is_due);
    }
    locked.retain(|(uid, _)| may_go.contains(uid));
    Ok(())
}

/// Deletes locked rows with their marks. First copies them into the history and logs them with this time, while the rows still have names
/// and versions.
async fn purge_locked(
    tx: &mut Transaction,
    kind: &Kind,
    locked: &[(String, Standing)],
    (at, logs): (Micros, bool),
) -> Result<u64, sqlx::Error> {
    let table = kind.table();
    if logs {
        // For readers of the log, an evicted object exists until it is deleted.
        let exists = locked.iter().filter(|(_, now)| now.delete_time.is_none());
        let uids: Vec<&str> = exists.map(|(uid, _)| uid.as_str()).collect();
        for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
            tx.execute(&RecordRowChanges { table, uids, what: ChangeKind::Deleted, at }).await?;
        }
    }
    let uids: Vec<&str> = uids_of(locked);
    // Only rows of evicted objects have marks.
    let evicted = locked.iter().filter(|(_, now)| now.evict_time.is_some()).map(|(uid, _)| uid.as_str());
    let evicted: Vec<&str> = evicted.collect();
    for uids in chunks(&evicted, MOST_ROWS, tx.dialect()) {
        tx.execute(&ForgetMarks { table: table.name.as_str(), rule: None, uids }).await?;
    }
    let mut purged = 0;
    for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
        let last: Vec<_> = uids.iter().map(|uid| (*uid, Some(ChangeKind::Purged))).collect();
        keep_versions(tx, table, &last, at, &Beginnings::new()).await?;
        if logs {
            tx.execute(&RecordRowChanges { table, uids, what: ChangeKind::Purged, at }).await?;
        }
        for companion in table.companions() {
            tx.execute(&Purge { table, companion: Some(companion), uids }).await?;
        }
        purged += tx.execute(&Purge { table, companion: None, uids }).await?;
    }
    Ok(purged)
}
