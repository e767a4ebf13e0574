//! What this process has read of whether changes are logged.

use std::time::Duration;
use tokio::time::Instant;

/// What was read of the setting, and when. Nothing at first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Logged {
    read: Option<(Option<&'static str>, Instant)>,
}

impl Logged {
    /// For how long it counts. One look in so many seconds costs writers nothing that could be measured.
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
