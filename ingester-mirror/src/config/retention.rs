//! For how long rows of deleted objects are kept.

use super::Retention;
use ingester_core::Kind;
use std::time::Duration;

impl Retention {
    /// How long after an object of `kind` was deleted its row is purged; `None` for never. What is said here of this kind comes
    /// first, then what its struct says, then what is said here of all kinds.
    pub fn of(&self, kind: &Kind) -> Option<Duration> {
        self.deleted_map.get(kind.name()).copied().unwrap_or_else(|| kind.retention().or(self.deleted))
    }

    /// How long after its end a former version of an object of `kind` is purged; `None` for never, and for a kind without a history. What is said
    /// here shortens what the kind says.
    pub fn of_history(&self, kind: &Kind) -> Option<Duration> {
        let said = self.history_map.get(kind.name()).copied().flatten().or(self.history);
        let history = kind.history()?;
        history.keep.into_iter().chain(said).min()
    }
}
