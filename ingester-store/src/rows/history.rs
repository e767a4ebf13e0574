//! The history of a kind: the version of a row that ends is copied into `<table>_history`, by the database and in its writer's transaction,
//! before the row is written over or deleted. A kind without a history has no such table, and pays for no statement.
//!
//! The present version of an object is its row, and began at the row's `update_time`. So a version begins where the one before it ends, there
//! is one for each time at which there was a row, and the history alone never has to be changed. What leaves the version as it is (another
//! definition of the kind, a backfill, the confirmation of an eviction) leaves `update_time`.
//!
//! A question about a moment must have the same answer for ever. So a version must not begin long before others see it: a writer takes the
//! time once it has its locks, and lets its versions begin later if its commit is due more than [`OPEN`] after that. Those who ask wait until
//! a moment is [`SETTLED`].

use super::chunks::{MOST_ROWS, chunks};
use crate::driver::Transaction;
use ingester_core::schema::{History, Table};
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{
    BeginAfterFormer, BeginLater, EndLater, Gone, KeepVersions, Tombstone, VersionTimes, What,
};
use std::collections::HashMap;
use std::time::Duration;

/// How old the time of a write may be when it is committed.
pub(super) const OPEN: Duration = Duration::from_secs(2);

/// How long after a moment every write of an earlier time is visible: [`OPEN`], and what a commit takes.
pub(crate) const SETTLED: Duration = Duration::from_secs(5);

/// Returns true if it is late for a write of a time.
pub(super) fn is_late(time: Micros, now: Micros) -> bool {
    now.0.saturating_sub(time.0) > i64::try_from(OPEN.as_micros()).unwrap_or(i64::MAX)
}

/// Lets the versions that began at a time, and those that ended then, begin and end later. The transaction has written them, or has their rows'
/// locks. Returns how many began then.
pub(super) async fn move_versions(
    tx: &mut Transaction,
    table: &Table,
    uids: &[&str],
    from: Micros,
    to: Micros,
) -> Result<u64, sqlx::Error> {
    let Some(History { table: former, .. }) = table.history else { return Ok(0) };
    let mut moved = 0;
    for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
        let begun = tx.execute(&BeginLater { table, uids, from, to }).await?;
        // Of a single object: if it has another version by now, that one's begin stays the end of the one before it.
        if begun > 0 {
            tx.execute(&EndLater { former, uids, from, to }).await?;
        }
        moved += begun;
    }
    Ok(moved)
}

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

/// Makes the first versions of new rows begin after the former ones of the same objects, if they had a row before.
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
