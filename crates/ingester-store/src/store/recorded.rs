//! The objects in `ingester_rejects`, as far as this process knows. Writes of other objects need not delete from the table.

use std::collections::HashMap;

/// The objects in `ingester_rejects`, as far as this process knows.
#[derive(Debug)]
pub(crate) enum RecordedRejects {
    /// Not read yet, or too many: any object may be among them.
    Unknown,
    /// These uids, each with its kind.
    Only(HashMap<Box<str>, Box<str>>),
}

impl RecordedRejects {
    /// The most uids that are remembered. With more rejects, every write tries to delete the rejects of its objects.
    pub(crate) const MOST: usize = 10_000;

    pub(crate) fn from_rejects(rejects: impl IntoIterator<Item = (Box<str>, Box<str>)>) -> Self {
        let mut recorded = RecordedRejects::Only(HashMap::new());
        recorded.add(rejects);
        recorded
    }

    /// Returns true if any of these objects of a kind may be among the rejects.
    pub(crate) fn any<'u>(&self, kind: &str, mut asked: impl Iterator<Item = &'u str>) -> bool {
        match self {
            RecordedRejects::Unknown => true,
            RecordedRejects::Only(uids) if uids.is_empty() => false,
            RecordedRejects::Only(uids) => asked.any(|uid| uids.get(uid).is_some_and(|its| **its == *kind)),
        }
    }

    /// Returns true if there are no rejects.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, RecordedRejects::Only(uids) if uids.is_empty())
    }

    pub(crate) fn add(&mut self, more: impl IntoIterator<Item = (Box<str>, Box<str>)>) {
        if let RecordedRejects::Only(uids) = self {
            uids.extend(more);
            if uids.len() > Self::MOST {
                *self = RecordedRejects::Unknown;
            }
        }
    }

    /// Records that the rejects of these objects of a kind were deleted.
    pub(crate) fn cleared<'u>(&mut self, kind: &str, cleared: impl IntoIterator<Item = &'u str>) {
        if let RecordedRejects::Only(uids) = self
            && !uids.is_empty()
        {
            for uid in cleared {
                if uids.get(uid).is_some_and(|its| **its == *kind) {
                    uids.remove(uid);
                }
            }
        }
    }
}
