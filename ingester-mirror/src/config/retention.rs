//! For how long rows of deleted objects are kept.

use std::collections::BTreeMap;
use std::time::Duration;

/// Section `retention`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// `deleted`: how long after its deletion an object's row is purged; `None` for never.
    pub deleted: Option<Duration>,
    /// `deletedMap`: the same for individual kinds.
    pub deleted_map: BTreeMap<String, Option<Duration>>,
}

impl Retention {
    /// How long after an object of `kind` was deleted its row is purged; `None` for never.
    pub fn of(&self, kind: &str) -> Option<Duration> {
        self.deleted_map.get(kind).copied().unwrap_or(self.deleted)
    }
}
