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
}
