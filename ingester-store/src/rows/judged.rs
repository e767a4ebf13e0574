//! A batch that the database itself judges: the statement that writes the rows has the guard as its condition. So they are not read and locked
//! first; where a lock is written into the row, that costs as much as writing the row.
//!
//! The condition is the guard's usual case alone: a later version of a live row. All other changes are written as in any batch.
//!
//! The statement locks rows in the order of the server's plan, not of their uids. Two writers of the same rows may deadlock; that is retried.

use super::batch::Batch;
use super::change::RowChange;
use super::chunks::{MOST_ROWS, chunks};
use super::guard::{Eviction, Version};
use super::log::{Log, steps};
use crate::driver::Transaction;
use ingester_core::row::{Expected, Row};
use ingester_sql::dialect::statements::{Gone, OverwriteExpected, TombstoneOlder};
use std::collections::HashSet;

/// What the database has judged and written.
#[derive(Default)]
pub(super) struct Judged<'a> {
    /// The uids.
    pub(super) written: HashSet<&'a str>,
    /// Of them, those with other rows in the companion tables.
    pub(super) relabelled: Vec<&'a Row>,
}

impl<'a> Batch<'a> {
    /// Writes a batch of changes that are all of one sort. With several sorts, there would be several statements, and more deadlocks.
    pub(super) async fn write_judged(
        &self,
        tx: &mut Transaction,
        log: &mut Log<'a>,
    ) -> Result<Judged<'a>, sqlx::Error> {
        let mut judged = Judged::default();
        // Of a kind with a history, the versions that end are kept before.
        if !tx.dialect().judges() || self.table.history.is_some() {
            return Ok(judged);
        }
        let changes = self.changes.iter();
        if let Some(gone) = changes.clone().map(as_gone).collect::<Option<Vec<_>>>() {
            for gone in chunks(&gone, MOST_ROWS, tx.dialect()) {
                let tombstones = TombstoneOlder { table: self.table, gone, update_time: self.now };
                let mut marked = tx.fetch(&tombstones).await?;
                marked.sort_unstable_by(|a, b| a.uid.cmp(&b.uid));
                let written: HashSet<&str> = marked.iter().map(|marked| &*marked.uid).collect();
                judged.written.extend(gone.iter().map(|gone| gone.uid).filter(|uid| written.contains(uid)));
                log.marked(marked);
            }
        } else if self.trusting
            && let Some(rows) = changes.map(as_expected).collect::<Option<Vec<_>>>()
        {
            let of_rows: Vec<&Row> = rows.iter().map(|(row, ..)| *row).collect();
            let mut rows = rows.into_iter();
            for packet in self.main_packets(&of_rows, tx.dialect())? {
                let rows: Vec<(&'a Row, u64, bool)> = rows.by_ref().take(packet.len()).collect();
                let expected: Vec<(&Row, u64)> = rows.iter().map(|(row, version, _)| (*row, *version)).collect();
                let overwrite = OverwriteExpected { table: self.table, rows: &expected, update_time: self.now };
                let written: HashSet<String> = tx.fetch(&overwrite).await?.into_iter().collect();
                for (row, res_version, is_alike) in rows.into_iter().filter(|(row, ..)| written.contains(&*row.uid)) {
                    judged.written.insert(&row.uid);
                    judged.relabelled.extend((!is_alike).then_some(row));
                    // By the statement's condition.
                    let (ingest_version, eviction) = (row.ingest_version, Eviction::None);
                    let stored = Version { res_version, ingest_version, deleted: false, eviction };
                    for step in steps(row, stored) {
                        log.row(row, step);
                    }
                }
            }
        }
        Ok(judged)
    }
}

/// The object of a tombstone.
fn as_gone(change: &RowChange) -> Option<Gone<'_>> {
    match change {
        RowChange::Tombstone { uid, res_version, delete_time } => {
            Some(Gone { uid, res_version: *res_version, delete_time: *delete_time })
        }
        RowChange::Row(_) | RowChange::Replacement { .. } => None,
    }
}

/// A row that is of a later version than its writer expects to be stored, that version, and whether labels, annotations and many values stay
/// the same.
fn as_expected(change: &RowChange) -> Option<(&Row, u64, bool)> {
    match change {
        RowChange::Row(row) => match row.expected? {
            Expected::Stored { res_version, companions } if res_version > 0 && row.res_version > res_version => {
                Some((row, res_version, companions == row.companions_hash()))
            }
            Expected::Stored { .. } | Expected::Absent => None,
        },
        RowChange::Replacement { .. } | RowChange::Tombstone { .. } => None,
    }
}
