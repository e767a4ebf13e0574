//! Batches that the database itself judges: the statement that writes the rows has the guard as its condition, so no earlier statement needs
//! to read and lock the rows. That saves much if the database stores locks in the rows, where locking a row costs as much as writing it.
//!
//! The condition covers only the guard's usual case, a later version of a live row. The caller reads and locks the rows of all other changes.
//! For a kind with a history, the same statement copies the versions that end.
//!
//! The statement locks rows in the order of the server's plan, not of their uids, so two writers of the same rows may deadlock. The caller
//! retries that.

use super::batch::Batch;
use super::change::RowChange;
use super::chunks::{MOST_ROWS, chunks};
use super::guard::{Eviction, Version};
use super::log::Log;
use super::plan::{WritePlan, expected_version};
use crate::driver::Transaction;
use ingester_core::row::Row;
use ingester_sql::dialect::statements::{ChangeKind, ExpectedRow, OverwriteExpected, TombstoneOlder};
use std::collections::{HashMap, HashSet};

impl<'a> Batch<'a> {
    /// Writes the main rows of a batch if all its changes overwrite rows, or all are tombstones. A mixed batch would need two statements,
    /// which cause more deadlocks. Returns the part of the plan that was written.
    pub(super) async fn write_judged(
        &self,
        tx: &mut Transaction,
        log: &mut Log<'a>,
    ) -> Result<WritePlan<'a>, sqlx::Error> {
        let plan = tx.dialect().judges().then(|| self.plan_to_judge()).flatten();
        let Some(mut plan) = plan else { return Ok(WritePlan::default()) };
        let mut written: HashSet<String> = HashSet::new();
        for gone in chunks(&plan.mark, MOST_ROWS, tx.dialect()) {
            let tombstones = TombstoneOlder { table: self.table, gone, update_time: self.now };
            let mut marked = tx.fetch(&tombstones).await?;
            marked.sort_unstable_by(|a, b| a.uid.cmp(&b.uid));
            written.extend(marked.iter().map(|marked| marked.uid.to_string()));
            log.marked(marked);
        }
        let rows: Vec<&Row> = plan.overwrite.iter().map(|overwrite| overwrite.row).collect();
        let changes = plan.overwrite.iter().filter_map(|overwrite| Some((&*overwrite.row.uid, overwrite.becomes()?)));
        let changes: HashMap<&str, ChangeKind> = changes.collect();
        for rows in self.main_packets(&rows, tx.dialect())? {
            let expected = |row: &&'a Row| {
                let change = changes.get(&*row.uid).copied()?;
                Some(ExpectedRow { row, expected: expected_version(row)?.res_version, change })
            };
            let expected: Vec<ExpectedRow<'_>> = rows.iter().filter_map(expected).collect();
            let overwrite = OverwriteExpected { table: self.table, rows: &expected, update_time: self.now };
            written.extend(tx.fetch(&overwrite).await?);
        }
        // Rows that the statements skipped stay out of this plan; the caller reads and locks them.
        plan.retain(|uid| written.contains(uid));
        log.overwritten(&plan);
        Ok(plan)
    }

    /// Plans the changes, assuming that each stored row has the version that the statement's condition requires. Returns `None` if there is
    /// no such condition for one of the changes, or if the batch has both overwrites and tombstones.
    fn plan_to_judge(&self) -> Option<WritePlan<'a>> {
        let mut plan = WritePlan::default();
        for change in self.changes {
            plan.add(change, Some(required(change, self.trusting)?));
        }
        let changes = self.changes.len();
        (plan.overwrite.len() == changes || plan.mark.len() == changes).then_some(plan)
    }
}

/// Returns the version of the stored row that the condition of a statement requires for a change.
fn required(change: &RowChange, trusting: bool) -> Option<Version> {
    match change {
        RowChange::Row(row) => expected_version(row).filter(|stored| trusting && row.res_version > stored.res_version),
        // The condition accepts any live row that is not later; this version stands for all of them.
        RowChange::Tombstone { .. } => {
            Some(Version { res_version: 0, ingest_version: 0, deleted: false, eviction: Eviction::None })
        }
        RowChange::Replacement { .. } => None,
    }
}
