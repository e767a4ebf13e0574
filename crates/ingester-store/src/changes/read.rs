//! Reads the log. Nothing here writes, so a replica will do.

use super::{Change, Position};
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::schema::Table;
use ingester_core::value::Micros;
use ingester_sql::dialect::CHANGES;
use ingester_sql::dialect::statements::{ChangeBefore, ChangeOfVersion, ChangesAfter, ReadPosition};

fn reading(table: &Table) -> String {
    format!("reading the changes of `{}` in {CHANGES}", table.name)
}

impl Store {
    /// Returns true if the database has a log of changes: the tables exist, and the log is not switched off.
    ///
    /// # Errors
    /// If that cannot be read within the retries.
    pub async fn has_changes(&self) -> Result<bool, StoreError> {
        self.with_retries(|| format!("looking for {CHANGES}"), || self.has_log()).await
    }

    /// Returns the last position in a table's log, without numbering the entries that were committed since; `None` if nothing was ever
    /// numbered.
    ///
    /// # Errors
    /// If the log cannot be read within the retries.
    pub async fn last_position(&self, table: &'static Table) -> Result<Option<Position>, StoreError> {
        let read = || async { self.pool.fetch(&ReadPosition { table, lock: false }).await };
        let state = self.with_retries(|| reading(table), read).await?.pop();
        Ok(state.filter(|state| state.seq > 0).map(|state| Position::from_seq(state.seq)))
    }

    /// Returns the numbered entries of a table's log behind a position, in their order, at most `limit`. They are complete if the position
    /// [is known](Store::is_known) afterwards.
    ///
    /// # Errors
    /// If the log cannot be read within the retries.
    pub async fn changes_after(
        &self,
        table: &'static Table,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Change>, StoreError> {
        let changes = &ChangesAfter { table, after: after.seq(), limit };
        let rows = self.with_retries(|| reading(table), || async { self.pool.fetch(changes).await }).await?;
        Ok(rows.into_iter().map(Change::from).collect())
    }

    /// Returns true if a reader can continue in a table's log from a position: the log has exactly this entry, or the entry was the last
    /// purged one. Entries that were read behind the position before this call are then complete.
    ///
    /// # Errors
    /// If the log cannot be read within the retries.
    pub async fn is_known(&self, table: &'static Table, position: Position) -> Result<bool, StoreError> {
        let seq = position.seq();
        let read = || async {
            let entry = ChangesAfter { table, after: seq.saturating_sub(1), limit: 1 };
            if self.pool.fetch(&entry).await?.first().is_some_and(|entry| entry.seq == seq) {
                return Ok(true);
            }
            // Read the state after the entry, which may be purged in between.
            let state = self.pool.fetch(&ReadPosition { table, lock: false }).await?.pop();
            Ok(state.is_some_and(|state| state.horizon == seq))
        };
        self.with_retries(|| reading(table), read).await
    }

    /// Returns the position just before the lowest entry of a table's log with this resourceVersion; `None` if there is none, or if it may
    /// be purged. 0 stands for objects without a version.
    ///
    /// # Errors
    /// If the log cannot be read within the retries.
    pub async fn position_of(&self, table: &'static Table, res_version: u64) -> Result<Option<Position>, StoreError> {
        if res_version == 0 || Position::of_version(res_version).is_some() {
            return Ok(None);
        }
        let read = || async {
            let lowest = ChangeOfVersion { table, res_version };
            let Some(lowest) = self.pool.fetch(&lowest).await?.pop() else { return Ok(None) };
            let before = self.pool.fetch(&ChangeBefore { table, before: lowest }).await?.pop();
            // Read the state after the entries: it shows if one was purged in between.
            let state = self.pool.fetch(&ReadPosition { table, lock: false }).await?.pop();
            let Some(state) = state.filter(|state| res_version > state.horizon_version) else { return Ok(None) };
            Ok(Some(Position::from_seq(before.unwrap_or(state.horizon))))
        };
        self.with_retries(|| reading(table), read).await
    }

    /// Returns the position at which a table's log begins, behind the purged entries; `None` if nothing was ever numbered.
    ///
    /// # Errors
    /// If the log cannot be read within the retries.
    pub async fn first_position(&self, table: &'static Table) -> Result<Option<Position>, StoreError> {
        let read = || async { self.pool.fetch(&ReadPosition { table, lock: false }).await };
        let state = self.with_retries(|| reading(table), read).await?.pop();
        Ok(state.filter(|state| state.seq > 0).map(|state| Position::from_seq(state.horizon)))
    }

    /// Returns a position with all entries behind it that were committed since a time of the database's clock, and perhaps a few more;
    /// `None` if some of them may be purged, or nothing was ever numbered.
    ///
    /// # Errors
    /// If the log cannot be read within the retries.
    pub async fn position_at(&self, table: &'static Table, time: Micros) -> Result<Option<Position>, StoreError> {
        let read = || async {
            let before = self.pool.fetch(&ChangeBefore { table, before: time.0 }).await?.pop();
            // After the entries, as above.
            let state = self.pool.fetch(&ReadPosition { table, lock: false }).await?.pop();
            let Some(state) = state.filter(|state| state.seq > 0 && time.0 >= state.horizon) else { return Ok(None) };
            Ok(Some(Position::from_seq(before.unwrap_or(state.horizon))))
        };
        self.with_retries(|| reading(table), read).await
    }
}
