//! Predicts the result of a write without writing.

use super::change::{Report, RowChange};
use super::plan::WritePlan;
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::schema::Table;

impl Store {
    /// Returns the report that [`Store::write_latest`] would return, as far as the guard decides. The database may still refuse an object.
    /// Writes nothing.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub async fn try_write(&self, table: &'static Table, changes: &[RowChange]) -> Result<Report, StoreError> {
        let uids: Vec<&str> = changes.iter().map(RowChange::uid).collect();
        let stored = self.versions(table, &uids).await?;
        let same = self.same(table, changes, &stored).await?;
        let mut plan = WritePlan::default();
        for change in changes.iter().filter(|change| !same.contains(change.uid())) {
            plan.add(change, stored.get(change.uid()).copied());
        }
        let mut report = plan.report();
        report.unchanged += same.len();
        Ok(report)
    }
}
