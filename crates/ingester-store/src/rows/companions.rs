//! The changes of a companion table, which holds labels, annotations or many values. Pure.

use ingester_core::row::{Expected, Row};
use ingester_core::schema::Companion;
use std::collections::HashSet;

/// A stored row: uid, key, value. A value of a list is in the place of the key.
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
    /// Returns the changes that make the companion rows in the database equal to the ones in `rows`. `stored` has all companion rows of the
    /// objects in `rows`.
    pub(super) fn between(companion: Companion, stored: &'a [CompanionRow], rows: &[&'a Row]) -> Self {
        let old = in_order(stored);
        let mut gone = vec![false; old.len()];
        let mut changes = CompanionChanges::default();
        for row in rows {
            let uid: &str = &row.uid;
            let (start, of_row) = of_uid(&old, uid);
            gone[start..start + of_row.len()].fill(true);
            for (key, value) in row.companion(companion) {
                let found = of_row.binary_search_by_key(&&**key, |(_, key, _)| key);
                found.iter().for_each(|place| gone[start + place] = false);
                if !found.is_ok_and(|place| *of_row[place].2 == **value) {
                    changes.write.push((uid, key, value));
                }
            }
        }
        // In the order of the primary key, like every other writer.
        let gone = old.iter().zip(gone).filter(|(_, gone)| *gone);
        changes.delete.extend(gone.map(|((uid, key, _), _)| (*uid, *key)));
        changes
    }

    /// Returns the uids of objects with changes, some of them several times.
    pub(super) fn uids(&self) -> impl Iterator<Item = &'a str> {
        let written = self.write.iter().map(|(uid, ..)| *uid);
        self.delete.iter().map(|(uid, _)| *uid).chain(written)
    }

    /// Adds all companion rows of an object that has none stored yet.
    pub(super) fn write_all(&mut self, companion: Companion, row: &'a Row) {
        self.write.extend(
            row.companion(companion).iter().map(|(key, value)| (row.uid.as_ref(), key.as_ref(), value.as_ref())),
        );
    }
}

/// Returns the uids of the `rows` that keep the annotations and many values of the row that is expected to be stored, so that only labels
/// can differ. `labels` has all stored labels of these rows.
pub(super) fn alike_but_for_labels<'a>(rows: &[&'a Row], labels: &[CompanionRow]) -> HashSet<&'a str> {
    let labels = in_order(labels);
    let is_alike = |row: &&&Row| match row.expected {
        Some(Expected::Stored { companions, .. }) => {
            let (_, labels) = of_uid(&labels, &row.uid);
            row.has_others_of(companions, labels.iter().map(|(_, key, value)| (*key, *value)))
        }
        Some(Expected::Absent) | None => false,
    };
    rows.iter().filter(is_alike).map(|row| &*row.uid).collect()
}

type CompanionValue<'s> = (&'s str, &'s str, &'s str);

fn in_order(stored: &[CompanionRow]) -> Vec<CompanionValue<'_>> {
    let mut stored: Vec<_> = stored.iter().map(|(uid, key, value)| (&**uid, &**key, &**value)).collect();
    // They arrive almost in this order, so sorting costs less than hashing each.
    stored.sort_unstable();
    stored
}

/// Returns the rows of an object, and the index of the first.
fn of_uid<'o, 's>(stored: &'o [CompanionValue<'s>], uid: &str) -> (usize, &'o [CompanionValue<'s>]) {
    let start = stored.partition_point(|(of, ..)| *of < uid);
    let behind = &stored[start..];
    // Search in a line: an object has few rows.
    (start, &behind[..behind.iter().take_while(|(of, ..)| *of == uid).count()])
}
