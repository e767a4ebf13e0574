//! Numbers entries in the order in which their commits are seen.

use super::Position;
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::schema::Table;
use ingester_sql::dialect::statements::{
    BeginPositions, LogState, MovePosition, NumberChanges, ReadPosition, RecordResets, UnnumberedChanges,
};
use ingester_sql::dialect::{Access, CHANGES};

/// The most entries that one transaction numbers. A power of two, so that few texts have to be prepared.
const AT_ONCE: usize = 512;

impl Store {
    /// Numbers the committed entries of a table's log, and returns the last position. It needs to write, and waits for others that number
    /// the same table, but not for writers.
    ///
    /// # Errors
    /// If the log cannot be read or written within the retries.
    pub async fn number_changes(&self, table: &'static Table) -> Result<Position, StoreError> {
        let number = || async {
            loop {
                // Check before reading the position. An entry that is committed in between is then either above it, or numbered by another
                // reader.
                let is_new = !self.pool.fetch(&UnnumberedChanges { table, limit: 1 }).await?.is_empty();
                let state = self.pool.fetch(&ReadPosition { table, lock: false }).await?.pop();
                match state {
                    None => self.begin_positions(table, state).await?,
                    // The log's reset is gone, or was numbered just now.
                    Some(LogState { seq: 0, .. }) if !is_new => self.begin_positions(table, state).await?,
                    Some(state) if !is_new => return Ok(Position::from_seq(state.seq)),
                    Some(_) => {
                        if let Some(last) = self.number_some(table).await? {
                            return Ok(last);
                        }
                    }
                }
            }
        };
        let last =
            self.with_retries(|| format!("numbering the changes of `{}` in {CHANGES}", table.name), number).await?;
        self.readers().found(table, true);
        Ok(last)
    }

    /// Numbers up to [`AT_ONCE`] entries. Returns the last position if there were no more.
    async fn number_some(&self, table: &'static Table) -> Result<Option<Position>, sqlx::Error> {
        let now = self.now().0;
        let mut tx = self.pool.begin(Access::Write).await?;
        let numbered = async {
            let Some(state) = tx.fetch(&ReadPosition { table, lock: true }).await?.pop() else { return Ok(None) };
            // Read the committed entries without locks, so that this waits for no writer.
            let entries = tx.fetch(&UnnumberedChanges { table, limit: AT_ONCE }).await?;
            let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
            let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
                return Ok(Some(Position::from_seq(state.seq)));
            };
            // Numbers follow the clock, so after a restore from a backup they are above all numbers that the database gave before.
            let offset = now.max(state.seq.saturating_add(1)).saturating_sub(*first);
            for ids in crate::rows::chunks(&ids, AT_ONCE, self.dialect) {
                tx.execute(&NumberChanges { ids, offset }).await?;
            }
            // The rows that a reset stands for have no entries, so a later entry with such a version is not the version's first.
            let reset_version = entries.iter().map(|entry| entry.reset_version).max().unwrap_or(0);
            let horizon_version = state.horizon_version.max(reset_version);
            let to = LogState { seq: last.saturating_add(offset), horizon_version, ..state };
            tx.execute(&MovePosition { table, to }).await?;
            Ok((ids.len() < AT_ONCE).then(|| Position::from_seq(to.seq)))
        }
        .await;
        tx.end(numbered).await
    }

    /// Begins the numbers of a table behind a reset, because changes from before the log existed have no entries.
    async fn begin_positions(&self, table: &'static Table, state: Option<LogState>) -> Result<(), sqlx::Error> {
        let at = self.now();
        let mut tx = self.pool.begin(Access::Write).await?;
        let begun = async {
            if state.is_none() {
                tx.execute(&BeginPositions { table }).await?;
            } else {
                // Another reader may have recorded it meanwhile.
                let state = tx.fetch(&ReadPosition { table, lock: true }).await?.pop();
                let is_begun = state.is_none_or(|state| state.seq > 0);
                if is_begun || !tx.fetch(&UnnumberedChanges { table, limit: 1 }).await?.is_empty() {
                    return Ok(0);
                }
            }
            tx.execute(&RecordResets { table: Some(table.name), at }).await
        }
        .await;
        match tx.end(begun).await {
            // Another reader was faster.
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Ok(()),
            begun => begun.map(drop),
        }
    }
}
