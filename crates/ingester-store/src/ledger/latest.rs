//! The latest definition of each kind that any program has used with a database. A program with an earlier definition does not know what
//! the later one wrote, so its rules judge nothing.

use super::declared::recorded_number;
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::Kind;
use ingester_sql::dialect::SETTINGS;
use ingester_sql::dialect::statements::{ForgetSetting, RecordSetting, ReplaceSetting};

/// The prefix of the names of these settings. The table follows, which has 52 characters at most.
const LATEST: &str = "latest/";

fn name(table: &str) -> String {
    format!("{LATEST}{table}")
}

impl Store {
    /// Returns the latest definition of a kind that the database records, as counted by lock files, or by the database itself for declared
    /// kinds; `None` if none is recorded.
    ///
    /// # Errors
    /// If the table of settings is missing, or cannot be read within the retries.
    pub async fn latest_definition(&self, kind: &Kind) -> Result<Option<u32>, StoreError> {
        let table = kind.table().name;
        let read = || async {
            let counted = self.setting(&super::declared::definition_name(kind)).await?;
            let counted = counted.as_deref().and_then(recorded_number);
            Ok(counted.max(self.used_definition(kind).await?))
        };
        self.with_retries(|| format!("reading the latest definition of `{table}` in {SETTINGS}"), read).await
    }

    /// Returns the latest definition that a program with a lock file has used.
    pub(super) async fn used_definition(&self, kind: &Kind) -> Result<Option<u32>, sqlx::Error> {
        let stored = self.setting(&name(kind.table().name.as_str())).await?;
        Ok(stored.and_then(|number| number.parse().ok()))
    }

    /// Records that a program uses these kinds with this database, unless a later definition is recorded. The database itself counts the
    /// definitions of declared kinds.
    ///
    /// # Errors
    /// As [`Store::latest_definition`].
    pub async fn record_latest(&self, kinds: &[Kind]) -> Result<(), StoreError> {
        for kind in kinds.iter().filter(|kind| kind.record().is_none() && kind.ingest_version() > 0) {
            let name = name(kind.table().name.as_str());
            let own = kind.ingest_version();
            let record = || async {
                loop {
                    let stored = self.setting(&name).await?;
                    let latest: Option<u32> = stored.as_deref().and_then(|number| number.parse().ok());
                    if latest.is_some_and(|latest| latest >= own) {
                        return Ok(());
                    }
                    let to = &own.to_string();
                    let written = match &stored {
                        Some(from) => self.pool.execute(&ReplaceSetting { name: &name, from, to }).await,
                        None => self.pool.execute(&RecordSetting { name: &name, value: to }).await,
                    };
                    match written {
                        Ok(1) => return Ok(()),
                        // Another process has recorded one first.
                        Ok(_) => {}
                        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                        Err(error) => return Err(error),
                    }
                }
            };
            self.with_retries(|| format!("recording {name} in {SETTINGS}"), record).await?;
        }
        Ok(())
    }

    /// Forgets the latest definition of a table that now has the rows of another one, or whose migrations were reverted.
    ///
    /// # Errors
    /// As [`Store::latest_definition`].
    pub(crate) async fn forget_latest(&self, table: &str) -> Result<(), StoreError> {
        let name = name(table);
        let forget = || async { self.pool.execute(&ForgetSetting { name: &name }).await };
        self.with_retries(|| format!("forgetting {name} in {SETTINGS}"), forget).await.map(drop)
    }
}
