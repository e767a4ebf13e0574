//! The rejects as a person sees them: listed, and cleared.

use super::{Store, StoreError};
use ingester_core::dialect::statements::{ForgetRejects, ListRejects, RecordedReject, RejectsOf};

impl Store {
    /// Up to `limit` rejects, in the order of kind, namespace and name.
    ///
    /// # Errors
    /// If `ingester_rejects` cannot be read within the retries.
    pub async fn list_rejects(&self, of: RejectsOf<'_>, limit: usize) -> Result<Vec<RecordedReject>, StoreError> {
        self.with_retries(
            || "reading ingester_rejects".into(),
            || async { self.pool.fetch(&ListRejects { of, limit }).await },
        )
        .await
    }

    /// Deletes rejects; returns how many. An object that is still wrong is recorded again when it is tried again.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn clear_rejects(&self, of: RejectsOf<'_>) -> Result<u64, StoreError> {
        let doing = || "deleting from ingester_rejects".into();
        self.with_retries(doing, || async { self.pool.execute(&ForgetRejects { of }).await }).await
    }

    /// Whether the database has the table of rejects.
    ///
    /// # Errors
    /// If the names of the tables cannot be read.
    pub async fn has_rejects_table(&self) -> Result<bool, StoreError> {
        Ok(self.tables().await?.contains(super::rejects::REJECTS))
    }
}
