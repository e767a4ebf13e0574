//! Whether the database has a log of changes. Its tables are there once a release that knows them has made them, and the setting `changes`
//! in `ingester_settings` says whether writers record what they do.
//!
//! Every writer keeps what it has read for a short time. So the program that switches the log on waits until no writer goes by the old setting, and
//! records then that the log lacks what was done meanwhile.

use super::migrations::{Migrating, failed};
use crate::driver::StoreError;
use crate::store::{Logged, Store};
use ingester_core::schema::{Ident, Table};
use ingester_sql::dialect::statements::{ReadPosition, ReadSetting, ReadTables, RecordResets, WriteSetting};
use ingester_sql::dialect::{CHANGES, POSITIONS, SETTINGS};
use std::time::Duration;

/// The setting. Without it, the log is on.
const LOG: &str = "changes";

/// Its values. The value `begins` is written and not yet read.
const OFF: &str = "off";
const BEGINS: &str = "begins";
const ON: &str = "on";

/// Whether the tables of the log are among these.
fn are_of_log(tables: &[String]) -> bool {
    [CHANGES, POSITIONS, SETTINGS].iter().all(|own| tables.iter().any(|table| table == own))
}

/// Longer than a writer goes by what it has read.
const SETTLED: Duration = Logged::FRESH.saturating_add(Duration::from_secs(1));

impl Store {
    /// Whether writers record what they do, as it was read at most a moment ago.
    pub(crate) async fn logs(&self) -> Result<bool, sqlx::Error> {
        Ok(self.log_state().await?.is_some_and(|value| value != OFF))
    }

    /// Whether the log can be read.
    pub(crate) async fn has_log(&self) -> Result<bool, sqlx::Error> {
        Ok(self.log_state().await?.is_some_and(|value| value == ON))
    }

    /// Whether a table's log was ever read, as known at most a moment ago. Only where there is a log.
    pub(crate) async fn is_read(&self, table: &'static Table) -> Result<bool, sqlx::Error> {
        if let Some(is_read) = self.readers().fresh(table) {
            return Ok(is_read);
        }
        let is_read = !self.pool.fetch(&ReadPosition { table, lock: false }).await?.is_empty();
        self.readers().found(table, is_read);
        Ok(is_read)
    }

    /// What records that these tables get other rows, of which the log has nothing. A log that is switched off gets its resets when it is
    /// switched on.
    pub(crate) async fn resets(
        &self,
        migrating: &mut Migrating,
        tables: impl Iterator<Item = Ident>,
    ) -> Result<Vec<RecordResets>, StoreError> {
        let mut tables = tables.peekable();
        // In the session of the migrations: another one may wait for their locks, and SQLite has no other.
        if tables.peek().is_none() || !migrating.logs().await? {
            return Ok(Vec::new());
        }
        Ok(tables.map(|table| RecordResets { table: Some(table), at: self.now() }).collect())
    }

    /// Whether the tables of the log exist, on or off.
    pub(crate) async fn had_log(&self) -> Result<bool, sqlx::Error> {
        Ok(self.log_state().await?.is_some())
    }

    /// The setting; `None` where the tables are missing.
    async fn log_state(&self) -> Result<Option<&'static str>, sqlx::Error> {
        let known = *self.logged();
        if let Some(state) = known.fresh() {
            return Ok(state);
        }
        let state = match known.has_tables() || self.has_tables_of_log().await? {
            true => Some(match self.setting(LOG).await?.as_deref() {
                Some(OFF) => OFF,
                Some(BEGINS) => BEGINS,
                _ => ON,
            }),
            false => None,
        };
        *self.logged() = Logged::read(state);
        Ok(state)
    }

    async fn has_tables_of_log(&self) -> Result<bool, sqlx::Error> {
        Ok(are_of_log(&self.pool.fetch(&ReadTables).await?))
    }

    /// Switches the log of changes on or off, for all writers of the database. Where it was off, switching it on takes some seconds, and
    /// the log of each table goes on with a [reset](crate::changes::What::Reset).
    ///
    /// # Errors
    /// If the settings or the log cannot be read or written within the retries.
    pub async fn switch_changes(&self, on: bool) -> Result<(), StoreError> {
        let doing = || format!("writing the setting {LOG} in {SETTINGS}");
        let write = async |value: &'static str| {
            let setting = &WriteSetting { name: LOG, value };
            self.with_retries(doing, || async { self.pool.execute(setting).await }).await?;
            *self.logged() = Logged::default();
            Ok::<_, StoreError>(())
        };
        let recorded = self.with_retries(doing, || async { self.setting(LOG).await }).await?;
        match (on, recorded.as_deref()) {
            (true, None | Some(ON)) | (false, Some(OFF)) => {
                *self.logged() = Logged::default();
                Ok(())
            }
            (false, _) => write(OFF).await,
            (true, Some(_)) => {
                write(BEGINS).await?;
                tokio::time::sleep(SETTLED).await;
                let resets = &RecordResets { table: None, at: self.now() };
                let doing = || format!("recording in {CHANGES} that it begins anew");
                self.with_retries(doing, || async { self.pool.execute(resets).await }).await?;
                write(ON).await
            }
        }
    }
}

impl Migrating {
    /// Whether writers record what they do.
    async fn logs(&mut self) -> Result<bool, StoreError> {
        let read = async {
            let is_there = are_of_log(&self.fetch(&ReadTables).await?);
            Ok(is_there && self.fetch(&ReadSetting { name: LOG }).await?.pop().is_none_or(|value| value != OFF))
        };
        read.await.map_err(|error| failed("looking for the log of changes", error))
    }
}
