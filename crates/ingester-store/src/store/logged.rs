//! Remembers for this process whether changes are logged, and whether the logs were ever read.

use ingester_core::schema::Table;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// The setting that was read last, with its time. Nothing at first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CachedSetting {
    read: Option<(Option<&'static str>, Instant)>,
}

impl CachedSetting {
    /// A reading is valid for this long. One in five seconds costs writers nothing measurable.
    pub(crate) const FRESH: Duration = Duration::from_secs(5);

    /// Records a reading of now; `None` if the log has no tables.
    pub(crate) fn read(state: Option<&'static str>) -> Self {
        CachedSetting { read: Some((state, Instant::now())) }
    }

    /// Returns the setting if it was read recently.
    pub(crate) fn fresh(self) -> Option<Option<&'static str>> {
        self.read.filter(|(_, at)| at.elapsed() < Self::FRESH).map(|(state, _)| state)
    }

    /// Returns true if the tables of the log existed at the last reading.
    pub(crate) fn has_tables(self) -> bool {
        matches!(self.read, Some((Some(_), _)))
    }
}

/// Remembers for each table whether its log was ever read.
#[derive(Debug, Default)]
pub(crate) struct Readers(HashMap<&'static str, (bool, Instant)>);

impl Readers {
    /// Returns true if a table's log was ever read; `None` if that is not known. "Yes" is valid for ever, "no" only for a while.
    pub(crate) fn fresh(&self, table: &Table) -> Option<bool> {
        let (is_read, at) = self.0.get(table.name.as_str())?;
        (*is_read || at.elapsed() < CachedSetting::FRESH).then_some(*is_read)
    }

    /// Records the answer of now.
    pub(crate) fn found(&mut self, table: &'static Table, is_read: bool) {
        self.0.insert(table.name.as_str(), (is_read, Instant::now()));
    }
}
