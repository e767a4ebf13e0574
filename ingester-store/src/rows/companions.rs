//! What has to change in a companion table, which holds labels, annotations or many values. Pure.

use ingester_core::row::Row;
use ingester_core::schema::Companion;
use std::collections::HashMap;

/// A stored row: uid, key, value; of a list's values the value as the key.
pub(super) type CompanionRow = (String, String, String);

/// Rows of a companion table to delete and to write; borrowed from the stored and the new rows.
#[derive(Debug, Default, PartialEq)]
pub(super) struct CompanionChanges<'a> {
    /// uid, key
    pub(super) delete: Vec<(&'a str, &'a str)>,
    /// uid, key, value
    pub(super) write: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> CompanionChanges<'a> {
    /// The changes that make `stored`, all companion rows of `rows`, equal to those in `rows`.
    pub(super) fn between(companion: Companion, stored: &'a [CompanionRow], rows: &[&'a Row]) -> Self {
        let mut old: HashMap<&str, HashMap<&str, &str>> = HashMap::new();
        for (uid, key, value) in stored {
            old.entry(uid).or_default().insert(key, value);
        }
        let mut changes = CompanionChanges::default();
        for row in rows {
            let uid: &str = &row.uid;
            let mut left = old.remove(uid).unwrap_or_default();
            for (key, value) in row.companion(companion) {
                if left.remove(key.as_ref()) != Some(value.as_ref()) {
                    changes.write.push((uid, key, value));
                }
            }
            changes.delete.extend(left.into_keys().map(|key| (uid, key)));
        }
        // In the order of the primary key, like every other writer.
        changes.delete.sort_unstable();
        changes
    }

    /// The objects that have changes, some of them several times.
    pub(super) fn uids(&self) -> impl Iterator<Item = &'a str> {
        let written = self.write.iter().map(|(uid, ..)| *uid);
        self.delete.iter().map(|(uid, _)| *uid).chain(written)
    }

    /// Adds all of a row that has none stored yet.
    pub(super) fn write_all(&mut self, companion: Companion, row: &'a Row) {
        self.write.extend(
            row.companion(companion).iter().map(|(key, value)| (row.uid.as_ref(), key.as_ref(), value.as_ref())),
        );
    }
}
