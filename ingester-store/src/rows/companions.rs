//! What has to change in a companion table, which holds labels, annotations or many values. Pure.

use ingester_core::row::Row;
use ingester_core::schema::Companion;

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
        let mut old: Vec<(&str, &str, &str)> =
            stored.iter().map(|(uid, key, value)| (&**uid, &**key, &**value)).collect();
        // They come in about this order, so this costs less than a hash of each.
        old.sort_unstable();
        let mut gone = vec![false; old.len()];
        let mut changes = CompanionChanges::default();
        for row in rows {
            let uid: &str = &row.uid;
            let start = old.partition_point(|(of, ..)| *of < uid);
            let end = start + old[start..].partition_point(|(of, ..)| *of == uid);
            gone[start..end].fill(true);
            for (key, value) in row.companion(companion) {
                let found = old[start..end].binary_search_by_key(&&**key, |(_, key, _)| key);
                found.iter().for_each(|place| gone[start + place] = false);
                if !found.is_ok_and(|place| *old[start + place].2 == **value) {
                    changes.write.push((uid, key, value));
                }
            }
        }
        // In the order of the primary key, like every other writer.
        let gone = old.iter().zip(gone).filter(|(_, gone)| *gone);
        changes.delete.extend(gone.map(|((uid, key, _), _)| (*uid, *key)));
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
