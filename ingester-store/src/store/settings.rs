//! The table `ingester_settings`: what a database is for, by name.

use super::{Store, StoreError};
use ingester_core::dialect::statements::{ReadSetting, RecordSetting};

/// The table's name.
pub(super) const SETTINGS: &str = "ingester_settings";

/// The setting with the uid of the cluster's namespace `kube-system`.
const CLUSTER: &str = "cluster";

impl Store {
    /// The uid of the cluster that the database belongs to: the recorded one, else `uid`, which is recorded then. Of several ingesters that
    /// record one at the same time, one wins, and all of them get its uid.
    ///
    /// # Errors
    /// If the table is missing, or cannot be read or written within the retries.
    pub async fn claim_for_cluster(&self, uid: &str) -> Result<String, StoreError> {
        self.with_retries(
            || format!("reading the cluster of this database in {SETTINGS}"),
            || async {
                if let Some(recorded) = self.cluster().await? {
                    return Ok(recorded);
                }
                match self.pool.execute(&RecordSetting { name: CLUSTER, value: uid }).await {
                    // Another one was faster.
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                        self.cluster().await?.ok_or(sqlx::Error::RowNotFound)
                    }
                    written => written.map(|_| uid.to_owned()),
                }
            },
        )
        .await
    }

    async fn cluster(&self) -> Result<Option<String>, sqlx::Error> {
        Ok(self.pool.fetch(&ReadSetting { name: CLUSTER }).await?.pop())
    }
}
