//! What this process has read of whether changes are logged, and whether the log is read.

use ingester_core::schema::Table;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// What was read of the setting, and when. Nothing at first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Logged {
    read: Option<(Option<&'static str>, Instant)>,
}

impl Logged {
    /// For how long it counts. One look in this many seconds costs writers nothing measurable.
    pub(crate) const FRESH: Duration = Duration::from_secs(5);

    /// The setting is read now; `None` without the tables of the log.
    pub(crate) fn read(state: Option<&'static str>) -> Self {
        Logged { read: Some((state, Instant::now())) }
    }

    /// What was read not long ago.
    pub(crate) fn fresh(self) -> Option<Option<&'static str>> {
        self.read.filter(|(_, at)| at.elapsed() < Self::FRESH).map(|(state, _)| state)
    }

    /// Whether there were the tables of the log.
    pub(crate) fn has_tables(self) -> bool {
        matches!(self.read, Some((Some(_), _)))
    }
}

/// What this process has read of whether logs were ever read.
#[derive(Debug, Default)]
pub(crate) struct Readers(HashMap<&'static str, (bool, Instant)>);

impl Readers {
    /// Whether a table's log was ever read. Once it was, that stays; before, the answer counts for a while.
    pub(crate) fn fresh(&self, table: &Table) -> Option<bool> {
        let (is_read, at) = self.0.get(table.name.as_str())?;
        (*is_read || at.elapsed() < Logged::FRESH).then_some(*is_read)
    }

    /// That is found now.
    pub(crate) fn found(&mut self, table: &'static Table, is_read: bool) {
        self.0.insert(table.name.as_str(), (is_read, Instant::now()));
    }
}
