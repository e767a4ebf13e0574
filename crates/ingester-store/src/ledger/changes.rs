//! Switches the log of changes of a database. Its tables exist once a release that knows them has made them, and the setting `changes` in
//! `ingester_settings` says whether writers record their changes.
//!
//! For a short time, every writer goes on with the value that it has read. So the program that switches the log on waits until no writer
//! uses the old setting, and then records that the log lacks the changes made meanwhile.

use super::migrations::{MigrationSession, failed};
use crate::driver::StoreError;
use crate::store::{CachedSetting, Store};
use ingester_core::schema::{Ident, Table};
use ingester_sql::dialect::statements::{ReadPosition, ReadSetting, ReadTables, RecordResets, WriteSetting};
use ingester_sql::dialect::{CHANGES, POSITIONS, SETTINGS};
use std::time::Duration;

/// The name of the setting. Without it, the log is on.
const LOG: &str = "changes";

/// The setting's values. The value `begins` is written but not read yet.
const OFF: &str = "off";
const BEGINS: &str = "begins";
const ON: &str = "on";

/// Returns true if the tables of the log are among these.
fn are_of_log(tables: &[String]) -> bool {
    [CHANGES, POSITIONS, SETTINGS].iter().all(|own| tables.iter().any(|table| table == own))
}

/// Longer than a writer uses a setting that it has read.
const SETTLED: Duration = CachedSetting::FRESH.saturating_add(Duration::from_secs(1));

impl Store {
    /// Returns true if writers record their changes, as read at most a moment ago.
    pub(crate) async fn logs(&self) -> Result<bool, sqlx::Error> {
        Ok(self.log_state().await?.is_some_and(|value| value != OFF))
    }

    /// Returns true if the log can be read.
    pub(crate) async fn has_log(&self) -> Result<bool, sqlx::Error> {
        Ok(self.log_state().await?.is_some_and(|value| value == ON))
    }

    /// Returns true if a table's log was ever read, as known at most a moment ago. Only for a database with a log.
    pub(crate) async fn is_read(&self, table: &'static Table) -> Result<bool, sqlx::Error> {
        if let Some(is_read) = self.readers().fresh(table) {
            return Ok(is_read);
        }
        let is_read = !self.pool.fetch(&ReadPosition { table, lock: false }).await?.is_empty();
        self.readers().found(table, is_read);
        Ok(is_read)
    }

    /// Returns the statements that record that these tables get other rows without entries in the log. A log that is switched off gets its
    /// resets when it is switched on.
    pub(crate) async fn resets(
        &self,
        migrating: &mut MigrationSession,
        tables: impl Iterator<Item = Ident>,
    ) -> Result<Vec<RecordResets>, StoreError> {
        let mut tables = tables.peekable();
        // Read it in the session of the migrations: another one might wait for their locks, and SQLite has no other.
        if tables.peek().is_none() || !migrating.logs().await? {
            return Ok(Vec::new());
        }
        Ok(tables.map(|table| RecordResets { table: Some(table), at: self.now() }).collect())
    }

    /// Returns true if the tables of the log exist, whether it is on or off.
    pub(crate) async fn had_log(&self) -> Result<bool, sqlx::Error> {
        Ok(self.log_state().await?.is_some())
    }

    /// Returns the setting; `None` if the tables are missing.
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
        *self.logged() = CachedSetting::read(state);
        Ok(state)
    }

    async fn has_tables_of_log(&self) -> Result<bool, sqlx::Error> {
        Ok(are_of_log(&self.pool.fetch(&ReadTables).await?))
    }

    /// Switches the log of changes on or off, for all writers of the database. If it was off, switching it on takes some seconds, and the
    /// log of each table goes on with a [reset](crate::changes::ChangeKind::Reset).
    ///
    /// # Errors
    /// If the settings or the log cannot be read or written within the retries.
    pub async fn switch_changes(&self, on: bool) -> Result<(), StoreError> {
        let doing = || format!("writing the setting {LOG} in {SETTINGS}");
        let write = async |value: &'static str| {
            let setting = &WriteSetting { name: LOG, value };
            self.with_retries(doing, || async { self.pool.execute(setting).await }).await?;
            *self.logged() = CachedSetting::default();
            Ok::<_, StoreError>(())
        };
        let recorded = self.with_retries(doing, || async { self.setting(LOG).await }).await?;
        match (on, recorded.as_deref()) {
            (true, None | Some(ON)) | (false, Some(OFF)) => {
                *self.logged() = CachedSetting::default();
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

impl MigrationSession {
    /// Returns true if writers record their changes.
    async fn logs(&mut self) -> Result<bool, StoreError> {
        let read = async {
            let is_there = are_of_log(&self.fetch(&ReadTables).await?);
            Ok(is_there && self.fetch(&ReadSetting { name: LOG }).await?.pop().is_none_or(|value| value != OFF))
        };
        read.await.map_err(|error| failed("looking for the log of changes", error))
    }
}
