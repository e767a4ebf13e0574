//! Runs a plan on rows that the transaction has locked or inserted.
//!
//! Locking the main row covers the rows of companion tables, because every writer of an object locks its main row first. So once the main rows
//! are written, no other transaction writes their labels, annotations and many values.

use super::chunks::{MOST_ROWS, chunks, most_rows, packets};
use super::companions::{CompanionChanges, CompanionRow, alike_but_for_labels};
use super::history::{Beginnings, keep_versions, mark_deleted};
use super::plan::{RowOverwrite, StoredCompanions, WritePlan};
use crate::driver::Transaction;
use ingester_core::row::Row;
use ingester_core::schema::{Companion, Table};
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{ConfirmEvictions, DeleteCompanion, Overwrite, ReadCompanion, WriteCompanion};
use std::collections::HashSet;

/// Locked rows of one table.
#[derive(Clone, Copy)]
pub(super) struct LockedRows<'a> {
    pub(super) table: &'static Table,
    /// The time at which the written versions begin, by the database's clock.
    pub(super) now: Micros,
    /// The largest packet that the server takes, in bytes.
    pub(super) max_packet: usize,
    /// True if inserted rows are assumed to have no companions yet. If somebody deleted a main row by hand, that is wrong, and the
    /// statement fails.
    pub(super) no_leftovers: bool,
    /// When the present versions of some of the rows began; the others are read.
    pub(super) began: &'a Beginnings,
}

impl LockedRows<'_> {
    /// Overwrites, marks and confirms the main rows of a plan. Its rows to insert are in the table already.
    pub(super) async fn write_main(&self, tx: &mut Transaction, plan: &WritePlan<'_>) -> Result<(), sqlx::Error> {
        self.overwrite(tx, &plan.overwrite).await?;
        mark_deleted(tx, self.table, &plan.mark, self.now, self.began).await?;
        for uids in chunks(&plan.confirm, MOST_ROWS, tx.dialect()) {
            tx.execute(&ConfirmEvictions { table: self.table, uids }).await?;
        }
        Ok(())
    }

    async fn overwrite(&self, tx: &mut Transaction, rows: &[RowOverwrite<'_>]) -> Result<(), sqlx::Error> {
        let mut ending = Vec::new();
        if self.table.history.is_some() {
            ending.extend(rows.iter().map(|overwrite| (&*overwrite.row.uid, overwrite.becomes())));
        }
        let times = keep_versions(tx, self.table, &ending, self.now, self.began).await?;
        let rows: Vec<(&Row, Micros)> =
            rows.iter().map(|overwrite| (overwrite.row, times.get(&overwrite.row.uid))).collect();
        let most = most_rows(self.table.columns.len());
        for rows in packets(&rows, most, self.max_packet, tx.dialect(), |(row, _)| row.bytes())? {
            tx.execute(&Overwrite { table: self.table, rows }).await?;
        }
        Ok(())
    }

    /// Makes the stored companions of inserted and overwritten rows equal to the ones of the plan's rows.
    pub(super) async fn write_companions(&self, tx: &mut Transaction, plan: &WritePlan<'_>) -> Result<(), sqlx::Error> {
        let of = |companions: StoredCompanions| {
            let rows = plan.overwrite.iter().filter(move |overwrite| overwrite.companions == companions);
            rows.map(|overwrite| overwrite.row)
        };
        let expected: Vec<&Row> = of(StoredCompanions::Expected).collect();
        let mut compared: Vec<&Row> = of(StoredCompanions::Unknown).chain(expected.iter().copied()).collect();
        for companion in self.table.companions() {
            let stored = self.write_companion(tx, companion, &plan.insert, &compared, None).await?;
            if companion == Companion::Labels {
                let alike = alike_but_for_labels(&expected, &stored);
                compared.retain(|row| !alike.contains(&*row.uid));
            }
        }
        Ok(())
    }

    /// Makes the stored rows of one companion table equal to the companions of these rows. `inserted` have none stored yet, `present` may
    /// have some. If `changed` is given, adds the uids of the `present` rows whose companions differed. Returns the companion rows that
    /// were stored.
    pub(super) async fn write_companion(
        &self,
        tx: &mut Transaction,
        companion: Companion,
        inserted: &[&Row],
        present: &[&Row],
        changed: Option<&mut HashSet<Box<str>>>,
    ) -> Result<Vec<CompanionRow>, sqlx::Error> {
        let table = self.table;
        let mut stored = Vec::new();
        let uids: Vec<&str> = present.iter().map(|row| row.uid.as_ref()).collect();
        for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
            stored.extend(tx.fetch(&ReadCompanion { table, companion, uids }).await?);
        }
        let mut changes = CompanionChanges::between(companion, &stored, present);
        if let Some(changed) = changed {
            changed.extend(changes.uids().map(Box::from));
        }
        for row in inserted {
            changes.write_all(companion, row);
        }
        for rows in chunks(&changes.delete, MOST_ROWS, tx.dialect()) {
            tx.execute(&DeleteCompanion { table, companion, rows }).await?;
        }
        let new = self.no_leftovers && present.is_empty() && tx.dialect().skips_stored();
        let bytes = |(uid, key, value): &(&str, &str, &str)| uid.len() + key.len() + value.len() + 27;
        for rows in packets(&changes.write, 4 * MOST_ROWS, self.max_packet, tx.dialect(), bytes)? {
            tx.execute(&WriteCompanion { table, companion, rows, new }).await?;
        }
        Ok(stored)
    }
}
