//! The history of a kind: the version of a row that ends is copied into `<table>_history`, by the database and in its writer's transaction,
//! before the row is written over or deleted. A kind without a history has no such table, and pays for no statement.
//!
//! The present version of an object is its row, and began at the row's `update_time`. So a version begins where the one before it ends, there
//! is one for each time at which there was a row, and the history alone never has to be changed. What leaves the version as it is (another
//! definition of the kind, a backfill, the confirmation of an eviction) leaves `update_time`.

use super::chunks::{MOST_ROWS, chunks};
use super::purge::Purged;
use crate::driver::{StoreError, Transaction};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::schema::{History, Table};
use ingester_core::value::Micros;
use ingester_sql::dialect::OfGroup;
use ingester_sql::dialect::statements::{
    BeginAfterFormer, DeleteVersions, Gone, KeepVersions, ManyVersions, Old, OldVersions, Tombstone, VersionTimes, What,
};
use std::collections::HashMap;
use std::time::Duration;

/// The `update_time` of rows that are written: now, but for those in `others`.
pub(super) struct Times {
    now: Micros,
    others: HashMap<String, Micros>,
}

impl Times {
    /// That of the row of an object.
    pub(super) fn of(&self, uid: &str) -> Micros {
        self.others.get(uid).copied().unwrap_or(self.now)
    }
}

/// Keeps the versions of rows that end, and returns when the next ones begin: now, by the database's clock, and at least a microsecond after
/// they have begun themselves. Each row has its uid and what becomes of it; `None` if its version stays the same. The transaction has locked them.
pub(super) async fn keep_versions(
    tx: &mut Transaction,
    table: &Table,
    rows: &[(&str, Option<What>)],
    now: Micros,
) -> Result<Times, sqlx::Error> {
    let mut times = Times { now, others: HashMap::new() };
    let Some(History { table: former, .. }) = table.history else { return Ok(times) };
    let becomes: HashMap<&str, Option<What>> = rows.iter().copied().collect();
    let uids: Vec<&str> = rows.iter().map(|(uid, _)| *uid).collect();
    for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
        for (uid, began) in tx.fetch(&VersionTimes { table, uids }).await? {
            let begins = match becomes.get(uid.as_str()) {
                Some(Some(_)) => now.max(Micros(began.0.saturating_add(1))),
                _ => began,
            };
            if begins != now {
                times.others.insert(uid, begins);
            }
        }
    }
    // Nearly always one group: all are updated now.
    let mut groups: Vec<((Micros, What), Vec<&str>)> = Vec::new();
    for (uid, what) in rows.iter().filter_map(|(uid, what)| Some((*uid, (*what)?))) {
        let end = (times.of(uid), what);
        match groups.iter_mut().find(|(group, _)| *group == end) {
            Some((_, uids)) => uids.push(uid),
            None => groups.push((end, vec![uid])),
        }
    }
    for ((valid_to, change), uids) in &groups {
        let (valid_to, change) = (*valid_to, *change);
        for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
            tx.execute(&KeepVersions { table, former, uids, valid_to, change, expected: None }).await?;
        }
    }
    Ok(times)
}

impl Store {
    /// Deletes a batch of former versions of a kind's objects: those that ended longer ago than `age` by the database's clock, the oldest first,
    /// then those beyond the number that the kind keeps of each object. Without an age none is too old. Nothing to do for a kind without a
    /// history.
    ///
    /// # Errors
    /// If the table cannot be read or written within the retries.
    pub async fn purge_history(&self, kind: &Kind, age: Option<Duration>) -> Result<Purged, StoreError> {
        let Some(History { table: former, versions, .. }) = kind.history() else {
            return Ok(Purged { rows: 0, more: false });
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
        // If none could be deleted, the next batch would be the same one.
        Ok(Purged { rows, more: is_full && rows > 0 })
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
        let old = &OldVersions { former, group: &OfGroup::new(kind.group()), of, limit };
        let doing = || format!("looking for old rows of `{}`", former.name);
        self.with_retries(doing, || async { self.pool.fetch(old).await }).await
    }
}

/// Has the first versions of new rows begin after the former ones of the same objects, if they had a row before.
pub(super) async fn begin_versions<'u>(
    tx: &mut Transaction,
    table: &Table,
    uids: impl Iterator<Item = &'u str>,
) -> Result<(), sqlx::Error> {
    let Some(History { table: former, .. }) = table.history else { return Ok(()) };
    let uids: Vec<&str> = uids.collect();
    for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
        tx.execute(&BeginAfterFormer { table, former, uids }).await?;
    }
    Ok(())
}

/// Marks rows as deleted, which the transaction has locked.
pub(super) async fn mark_deleted(
    tx: &mut Transaction,
    table: &Table,
    gone: &[Gone<'_>],
    now: Micros,
) -> Result<(), sqlx::Error> {
    let rows: Vec<_> = gone.iter().map(|gone| (gone.uid, Some(What::Deleted))).collect();
    let times = keep_versions(tx, table, &rows, now).await?;
    let (usual, others): (Vec<Gone<'_>>, Vec<Gone<'_>>) = gone.iter().partition(|gone| times.of(gone.uid) == now);
    for gone in chunks(&usual, MOST_ROWS, tx.dialect()) {
        tx.execute(&Tombstone { table, gone, update_time: now }).await?;
    }
    for gone in &others {
        let update_time = times.of(gone.uid);
        tx.execute(&Tombstone { table, gone: std::slice::from_ref(gone), update_time }).await?;
    }
    Ok(())
}
