//! The history of a kind. Before a row is overwritten or deleted, the database copies the ending version into `<table>_history`, in the
//! writer's transaction. A kind without a history has no such table, and pays for no statement.
//!
//! The present version of an object is its row, and began at the row's `update_time`. So a version begins where the one before it ends,
//! every time at which there was a row has its version, and the history never has to be changed on its own. Writes that do not change the
//! version (another definition of the kind, a backfill, the confirmation of an eviction) do not change `update_time` either.
//!
//! A query about a past moment must return the same answer for ever, so a version must not begin long before others see it. A writer takes
//! the time once it has its locks, or right before the statement that takes them, and lets its versions start later if its commit comes more
//! than [`OPEN`] after that. Readers wait until a moment is [`SETTLED`].

use super::chunks::{MOST_ROWS, chunks};
use crate::driver::Transaction;
use ingester_core::schema::{History, Table};
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{
    BeginAfterFormer, BeginLater, ChangeKind, EndLater, GoneObject, KeepVersions, Tombstone, VersionTimes,
};
use std::collections::HashMap;
use std::time::Duration;

/// The time of a write may be at most this old when it is committed.
pub(super) const OPEN: Duration = Duration::from_secs(2);

/// This long after a moment, every write with an earlier time is visible: [`OPEN`], and the time of a commit.
pub(crate) const SETTLED: Duration = Duration::from_secs(5);

/// Returns true if a write with this time would be committed too late.
pub(super) fn is_late(time: Micros, now: Micros) -> bool {
    now.0.saturating_sub(time.0) > i64::try_from(OPEN.as_micros()).unwrap_or(i64::MAX)
}

/// Moves the start and the end of versions from one time to a later one. The transaction has written them, or has their rows' locks.
/// Returns how many began at the earlier time.
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
        // A single object is committed already, so another writer may have replaced this version. Then no version begins at `from` any
        // more, and the version before it keeps its end.
        if begun > 0 {
            tx.execute(&EndLater { former, uids, from, to }).await?;
        }
        moved += begun;
    }
    Ok(moved)
}

/// When the present versions of rows began, by uid. The transaction has locked these rows.
pub(super) type Beginnings = HashMap<String, Micros>;

/// The `update_time` of the written rows: now, except for the rows in `others`.
pub(super) struct Times {
    now: Micros,
    others: HashMap<String, Micros>,
}

impl Times {
    /// Returns the time of an object's row.
    pub(super) fn get(&self, uid: &str) -> Micros {
        self.others.get(uid).copied().unwrap_or(self.now)
    }
}

/// Copies the ending versions of rows, and returns the times at which the next ones begin: now, by the database's clock, and at least a
/// microsecond after the start of the ending version. Each row has its uid and its change; `None` if its version stays the same. The
/// transaction has locked the rows. `began` saves reading when the ending versions began.
pub(super) async fn keep_versions(
    tx: &mut Transaction,
    table: &Table,
    rows: &[(&str, Option<ChangeKind>)],
    now: Micros,
    began: &Beginnings,
) -> Result<Times, sqlx::Error> {
    let mut times = Times { now, others: HashMap::new() };
    let Some(History { table: former, .. }) = table.history else { return Ok(times) };
    let becomes: HashMap<&str, Option<ChangeKind>> = rows.iter().copied().collect();
    let mut add = |uid: &str, began: Micros| {
        let begins = match becomes.get(uid) {
            Some(Some(_)) => now.max(Micros(began.0.saturating_add(1))),
            _ => began,
        };
        if begins != now {
            times.others.insert(uid.to_owned(), begins);
        }
    };
    let mut unread = Vec::new();
    for (uid, _) in rows {
        match began.get(*uid) {
            Some(began) => add(uid, *began),
            None => unread.push(*uid),
        }
    }
    for uids in chunks(&unread, MOST_ROWS, tx.dialect()) {
        for (uid, _, began) in tx.fetch(&VersionTimes { table, uids, lock: false }).await? {
            add(&uid, began);
        }
    }
    // Almost always one group, because all rows are updated now.
    let mut groups: Vec<((Micros, ChangeKind), Vec<&str>)> = Vec::new();
    for (uid, what) in rows.iter().filter_map(|(uid, what)| Some((*uid, (*what)?))) {
        let end = (times.get(uid), what);
        match groups.iter_mut().find(|(group, _)| *group == end) {
            Some((_, uids)) => uids.push(uid),
            None => groups.push((end, vec![uid])),
        }
    }
    for ((valid_to, change), uids) in &groups {
        let valid_to = *valid_to;
        let change = *change;
        for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
            tx.execute(&KeepVersions { table, former, uids, valid_to, change, expected: None }).await?;
        }
    }
    Ok(times)
}

/// Makes the first versions of new rows begin after the former versions of the same objects, if they had a row before.
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

/// Marks rows that the transaction has locked as deleted. `began` is as for [`keep_versions`].
pub(super) async fn mark_deleted(
    tx: &mut Transaction,
    table: &Table,
    gone: &[GoneObject<'_>],
    now: Micros,
    began: &Beginnings,
) -> Result<(), sqlx::Error> {
    let rows: Vec<_> = gone.iter().map(|gone| (gone.uid, Some(ChangeKind::Deleted))).collect();
    let times = keep_versions(tx, table, &rows, now, began).await?;
    let (usual, others): (Vec<GoneObject<'_>>, Vec<GoneObject<'_>>) =
        gone.iter().partition(|gone| times.get(gone.uid) == now);
    for gone in chunks(&usual, MOST_ROWS, tx.dialect()) {
        tx.execute(&Tombstone { table, gone, update_time: now }).await?;
    }
    for gone in &others {
        let update_time = times.get(gone.uid);
        tx.execute(&Tombstone { table, gone: std::slice::from_ref(gone), update_time }).await?;
    }
    Ok(())
}
