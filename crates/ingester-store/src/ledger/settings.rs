//! The table `ingester_settings`: named settings that say what a database is for.

use crate::driver::StoreError;
use crate::store::Store;
use ingester_sql::dialect::SETTINGS;
use ingester_sql::dialect::statements::{ForgetSetting, ReadSetting, RecordSetting, ReplaceSetting, WriteSetting};

/// The setting with the uid of the cluster's namespace `kube-system`.
const CLUSTER: &str = "cluster";

/// The setting with the prefix of the names of the mirror's finalizer and annotations; empty once they are removed.
const PREFIX: &str = "marks/prefix";

/// The setting with the random name of the database, which its ingesters share.
const NAME: &str = "members";

impl Store {
    /// Returns the uid of the cluster that the database belongs to. If none is recorded, records `uid`. If several ingesters record one at
    /// the same time, one wins, and all of them get its uid.
    ///
    /// # Errors
    /// If the table is missing, or cannot be read or written within the retries.
    pub async fn claim_for_cluster(&self, uid: &str) -> Result<String, StoreError> {
        self.claim(CLUSTER, uid).await
    }

    /// Returns the name that distinguishes the database from every other one. If none is recorded, records `name`, as
    /// [`Store::claim_for_cluster`] does.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn claim_name(&self, name: &str) -> Result<String, StoreError> {
        self.claim(NAME, name).await
    }

    /// Returns the uid of the cluster that the database belongs to, if it is recorded.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn cluster(&self) -> Result<Option<String>, StoreError> {
        let read = || async { self.setting(CLUSTER).await };
        self.with_retries(|| format!("reading the {CLUSTER} of this database in {SETTINGS}"), read).await
    }

    /// Returns the prefix of the names of the finalizer and annotations of the database's objects. It is empty if the finalizer was removed
    /// from all objects. It is `earlier` if a release that did not record prefixes has recorded the cluster; otherwise `None`.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn recorded_prefix(&self, earlier: &str) -> Result<Option<String>, StoreError> {
        let read = || async {
            Ok(match self.setting(PREFIX).await? {
                Some(prefix) => Some(prefix),
                None => self.setting(CLUSTER).await?.map(|_| earlier.to_owned()),
            })
        };
        self.with_retries(|| format!("reading {PREFIX} in {SETTINGS}"), read).await
    }

    /// Records a prefix in the place of the one that [`Store::recorded_prefix`] returned. Returns false, and records nothing, if that one
    /// has changed meanwhile.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn record_prefix(&self, before: Option<&str>, prefix: &str) -> Result<bool, StoreError> {
        let record = || async {
            let written = match self.setting(PREFIX).await? {
                Some(from) if Some(from.as_str()) != before => return Ok(from == prefix),
                Some(from) => self.pool.execute(&ReplaceSetting { name: PREFIX, from: &from, to: prefix }).await,
                None => self.pool.execute(&RecordSetting { name: PREFIX, value: prefix }).await,
            };
            match written {
                Ok(rows) => Ok(rows == 1),
                // Another program was faster.
                Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.with_retries(|| format!("recording {PREFIX} in {SETTINGS}"), record).await
    }

    async fn claim(&self, name: &str, value: &str) -> Result<String, StoreError> {
        self.with_retries(
            || format!("reading the {name} of this database in {SETTINGS}"),
            || async {
                if let Some(recorded) = self.setting(name).await? {
                    return Ok(recorded);
                }
                match self.pool.execute(&RecordSetting { name, value }).await {
                    // Another program was faster.
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                        self.setting(name).await?.ok_or(sqlx::Error::RowNotFound)
                    }
                    written => written.map(|_| value.to_owned()),
                }
            },
        )
        .await
    }

    pub(super) async fn setting(&self, name: &str) -> Result<Option<String>, sqlx::Error> {
        Ok(self.pool.fetch(&ReadSetting { name }).await?.pop())
    }

    /// Writes a setting that views read; `None` removes it. Returns true if that changed anything.
    ///
    /// # Errors
    /// If the table is missing, or cannot be read or written within the retries.
    pub async fn set_for_views(&self, name: &str, value: Option<&str>) -> Result<bool, StoreError> {
        let write = || async {
            if self.setting(name).await?.as_deref() == value {
                return Ok(false);
            }
            match value {
                Some(value) => self.pool.execute(&WriteSetting { name, value }).await?,
                None => self.pool.execute(&ForgetSetting { name }).await?,
            };
            Ok(true)
        };
        self.with_retries(|| format!("writing the setting {name} in {SETTINGS}"), write).await
    }
}
