//! What must change in a companion table. Pure.

use ingester_core::row::Row;
use ingester_core::schema::Companion;
use std::collections::HashMap;

/// A stored label or annotation: uid, key, value.
pub(super) type CompanionRow = (String, String, String);

/// Rows of a companion table to be deleted and written; borrowed from what was read and what is wanted.
#[derive(Debug, Default, PartialEq)]
pub(super) struct CompanionChanges<'a> {
    /// uid, key
    pub(super) delete: Vec<(&'a str, &'a str)>,
    /// uid, key, value
    pub(super) write: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> CompanionChanges<'a> {
    /// What turns `stored`, all companion rows of `rows`, into what `rows` say.
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
        // In the order of the primary key, as every other writer.
        changes.delete.sort_unstable();
        changes
    }

    /// Adds all of a row that has no companion rows yet.
    pub(super) fn write_all(&mut self, companion: Companion, row: &'a Row) {
        self.write.extend(
            row.companion(companion).iter().map(|(key, value)| (row.uid.as_ref(), key.as_ref(), value.as_ref())),
        );
    }
}
