//! Deletes entries because of their age.

use crate::driver::{StoreError, Transaction};
use crate::rows::{PurgeResult, chunks};
use crate::store::Store;
use ingester_core::schema::Table;
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{
    ChangesAfter, LogState, MovePosition, PurgeChanges, ReadPosition, UnnumberedChanges,
};
use ingester_sql::dialect::{Access, CHANGES};
use std::time::Duration;

/// The most entries that one transaction deletes. A power of two, so that few texts have to be prepared.
const AT_ONCE: usize = 1024;

impl Store {
    /// Deletes a batch of entries of a table's log that are older than `age` by the database's clock, the oldest first. The last entry
    /// stays. It numbers old entries first, so it waits like [`Store::number_changes`]. It also works on a log that is switched off. If
    /// there never was a log, there is nothing to do.
    ///
    /// # Errors
    /// If the log cannot be read or written within the retries.
    pub async fn purge_changes(&self, table: &'static Table, age: Duration) -> Result<PurgeResult, StoreError> {
        let doing = || format!("looking for {CHANGES}");
        if !self.with_retries(doing, || self.had_log()).await? {
            return Ok(PurgeResult { rows: 0, more: false });
        }
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let before = Micros(self.read_clock().await?.0.saturating_sub(age));
        // Number only old entries, so that nothing is written if nothing is purged.
        let oldest = || async { self.pool.fetch(&UnnumberedChanges { table, limit: 1 }).await };
        let oldest = self.with_retries(|| format!("reading {CHANGES}"), oldest).await?;
        if oldest.first().is_some_and(|entry| entry.at < before) {
            self.number_changes(table).await?;
        }
        let first = || async {
            let Some(state) = self.pool.fetch(&ReadPosition { table, lock: false }).await?.pop() else {
                return Ok(None);
            };
            Ok(self.pool.fetch(&ChangesAfter { table, after: state.horizon, limit: 1 }).await?.pop())
        };
        let first = self.with_retries(|| format!("reading {CHANGES}"), first).await?;
        if first.is_none_or(|first| first.at >= before) {
            return Ok(PurgeResult { rows: 0, more: false });
        }
        let purge = || async {
            let mut tx = self.pool.begin(Access::Write).await?;
            let purged = purge(&mut tx, table, before).await;
            tx.end(purged).await
        };
        self.with_retries(|| format!("purging the changes of `{}` in {CHANGES}", table.name), purge).await
    }
}

async fn purge(tx: &mut Transaction, table: &'static Table, before: Micros) -> Result<PurgeResult, sqlx::Error> {
    let none = PurgeResult { rows: 0, more: false };
    let Some(state) = tx.fetch(&ReadPosition { table, lock: true }).await?.pop() else { return Ok(none) };
    let mut old = tx.fetch(&ChangesAfter { table, after: state.horizon, limit: AT_ONCE }).await?;
    let read = old.len();
    // Delete from the beginning up to the first entry that stays, so that the horizon tells which ones are gone.
    let stays = old.iter().position(|entry| entry.seq >= state.seq || entry.at >= before);
    old.truncate(stays.unwrap_or(read));
    let Some(last) = old.last() else { return Ok(none) };
    let ids: Vec<i64> = old.iter().map(|entry| entry.id).collect();
    for ids in chunks(&ids, AT_ONCE, tx.dialect()) {
        tx.execute(&PurgeChanges { ids }).await?;
    }
    let highest = old.iter().map(|entry| entry.res_version).max().unwrap_or(0);
    let to = LogState { horizon: last.seq, horizon_version: state.horizon_version.max(highest), ..state };
    tx.execute(&MovePosition { table, to }).await?;
    Ok(PurgeResult { rows: ids.len() as u64, more: ids.len() == AT_ONCE })
}
