//! The table `ingester_settings`: what a database is for, by name.

use crate::driver::StoreError;
use crate::store::Store;
use ingester_sql::dialect::SETTINGS;
use ingester_sql::dialect::statements::{ForgetSetting, ReadSetting, RecordSetting, ReplaceSetting, WriteSetting};

/// The setting with the uid of the cluster's namespace `kube-system`.
const CLUSTER: &str = "cluster";

/// The setting with what the names of the mirror's finalizer and annotations begin with; empty once they are removed.
const PREFIX: &str = "marks/prefix";

/// The setting with the random name of the database, which its ingesters share.
const NAME: &str = "members";

impl Store {
    /// The uid of the cluster that the database belongs to: the recorded one, else `uid`, which is recorded then. Of several ingesters that
    /// record one at the same time, one wins, and all of them get its uid.
    ///
    /// # Errors
    /// If the table is missing, or cannot be read or written within the retries.
    pub async fn claim_for_cluster(&self, uid: &str) -> Result<String, StoreError> {
        self.claim(CLUSTER, uid).await
    }

    /// What tells the database from every other one: the recorded name, else `name`, which is recorded then, as
    /// [`Store::claim_for_cluster`] does.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn claim_name(&self, name: &str) -> Result<String, StoreError> {
        self.claim(NAME, name).await
    }

    /// The uid of the cluster that the database belongs to, if that is recorded.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn cluster(&self) -> Result<Option<String>, StoreError> {
        let read = || async { self.setting(CLUSTER).await };
        self.with_retries(|| format!("reading the {CLUSTER} of this database in {SETTINGS}"), read).await
    }

    /// What the names of the finalizer and annotations of the database's objects begin with: the recorded prefix, which is empty if the
    /// finalizer was removed from all objects; `earlier` if a release before that has recorded its cluster alone; else `None`.
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

    /// Records a prefix in the place of what [`Store::recorded_prefix`] returned. False if that has changed meanwhile: nothing is recorded then.
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
                // Another one was faster.
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
                    // Another one was faster.
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

    /// Writes a setting that views read; `None` takes it away. Tells whether that changed anything.
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
