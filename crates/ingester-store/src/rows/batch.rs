//! One batch: many objects of one table in one transaction, with statements of many rows. Rows are locked in the order of their uids.
//!
//! The batch has two parts. For some changes the database itself evaluates the guard, without a read before ([`judged`](super::judged)). For
//! the others, the versions of the stored rows are read and locked, absent rows are inserted, and the plan is run
//! ([`locked`](super::locked)).

use super::change::{Report, RowChange};
use super::chunks::{MOST_ROWS, chunks, most_rows, packets, room};
use super::guard::Version;
use super::history::{Beginnings, begin_versions, is_late, move_versions};
use super::locked::LockedRows;
use super::log::Log;
use super::plan::WritePlan;
use super::restores::end_restores;
use super::same::{same, without_version};
use crate::driver::Transaction;
use ingester_core::row::{Expected, Row};
use ingester_core::schema::Table;
use ingester_core::value::Micros;
use ingester_sql::dialect::Dialect;
use ingester_sql::dialect::statements::{ClearRejects, Insert, VersionTimes, Versions};
use std::collections::{HashMap, HashSet};

pub(super) struct Batch<'a> {
    pub(super) table: &'static Table,
    /// Sorted by uid; each uid occurs once.
    pub(super) changes: &'a [RowChange],
    pub(super) now: Micros,
    pub(super) max_packet: usize,
    pub(super) clear_rejects: bool,
    /// True if the batch relies on [`Row::expected`]. If it fails because an expectation is wrong, the caller writes it again with false.
    pub(super) trusting: bool,
    /// The times at which the versions written by this batch begin.
    pub(super) times: Vec<Micros>,
    /// When the present versions of the locked rows began, if the kind has a history.
    pub(super) began: Beginnings,
}

/// The result of inserting rows.
struct InsertResult<'a> {
    rows: Vec<&'a Row>,
    /// Rows that were not inserted. At least one of them exists already, or the statement was refused for another reason.
    rest: Vec<&'a Row>,
    /// The error of the refused statement, if there was one.
    refused: Option<sqlx::Error>,
}

impl<'a> Batch<'a> {
    /// Writes the batch, and adds the entries of the log to `log`. The caller writes these and commits. `clock` returns the database's time.
    pub(super) async fn write(
        &mut self,
        tx: &mut Transaction,
        log: &mut Log<'a>,
        clock: impl Fn() -> Micros,
    ) -> Result<Report, sqlx::Error> {
        self.times.clear();
        self.began.clear();
        let judged = self.write_judged(tx, log).await?;
        if self.table.history.is_some() && judged.uids().next().is_some() {
            self.times.push(self.now);
        }
        let mut plan = self.plan_others(tx, &judged, clock).await?;
        self.insert_absent(tx, &mut plan).await?;
        // Only the INSERT shows which rows are new, so begin their versions and add the log's entries after it.
        begin_versions(tx, self.table, plan.insert.iter().map(|row| &*row.uid)).await?;
        log.add(&plan);
        // Objects created by a restore. Usually there are none, and then no statement runs.
        let origins: Vec<_> = plan.insert.iter().filter_map(|row| row.origin.as_deref()).collect();
        end_restores(tx, self.table, &origins, self.now, log).await?;
        let Batch { table, now, max_packet, trusting, ref began, .. } = *self;
        let locked = LockedRows { table, now, max_packet, no_leftovers: trusting, began };
        locked.write_main(tx, &plan).await?;
        // The main rows of the judged part are already written. Write their companions now, together with the companions of the other part.
        plan.join(judged);
        locked.write_companions(tx, &plan).await?;
        if self.clear_rejects {
            let uids: Vec<&str> = self.changes.iter().map(RowChange::uid).collect();
            for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
                tx.execute(&ClearRejects { kind: self.table.kind, uids }).await?;
            }
        }
        Ok(plan.report())
    }

    /// Locks the rows of the changes that the database has not judged, and plans their writes.
    async fn plan_others(
        &mut self,
        tx: &mut Transaction,
        judged: &WritePlan<'a>,
        clock: impl Fn() -> Micros,
    ) -> Result<WritePlan<'a>, sqlx::Error> {
        let written: HashSet<&str> = judged.uids().collect();
        let changes: Vec<&'a RowChange> =
            self.changes.iter().filter(|change| !written.contains(change.uid())).collect();
        // Do not read rows that are expected to be absent. If one exists after all, its INSERT fails, and the row is read then.
        let asked: Vec<&str> =
            changes.iter().filter(|change| !self.is_new(change)).map(|change| change.uid()).collect();
        let stored = self.versions(tx, &asked).await?;
        if self.table.history.is_some() {
            // We may have waited long for the locks of another transaction, so take the time again.
            self.now = clock();
            self.times.push(self.now);
        }
        let without_version = without_version(self.changes, |uid| stored.get(uid).copied());
        let same = same(tx, self.table, &without_version).await?;
        let mut plan = WritePlan::default();
        for change in changes {
            if same.contains(change.uid()) {
                plan.unchanged += 1;
            } else {
                plan.add(change, stored.get(change.uid()).copied());
            }
        }
        Ok(plan)
    }

    /// Moves the beginning of the written versions to the present time if it is too far in the past by now. Call this before the commit.
    pub(super) async fn begin_later(
        &mut self,
        tx: &mut Transaction,
        clock: impl Fn() -> Micros,
    ) -> Result<(), sqlx::Error> {
        let uids: Vec<&str> = self.changes.iter().map(RowChange::uid).collect();
        while self.times.first().is_some_and(|time| is_late(*time, clock())) {
            let to = clock();
            for from in std::mem::take(&mut self.times) {
                move_versions(tx, self.table, &uids, from, to).await?;
            }
            self.times.push(to);
        }
        Ok(())
    }

    /// Inserts the rows that are absent. If another writer has inserted some of them meanwhile, plans those again.
    async fn insert_absent(&mut self, tx: &mut Transaction, plan: &mut WritePlan<'a>) -> Result<(), sqlx::Error> {
        let mut inserted = Vec::new();
        while !plan.insert.is_empty() {
            let absent = std::mem::take(&mut plan.insert);
            let InsertResult { rows, rest, refused } = self.insert(tx, absent).await?;
            inserted.extend(rows);
            // Another writer has inserted at least one of the rest in the meantime. Read and lock what it wrote.
            let uids: Vec<&str> = rest.iter().map(|row| row.uid.as_ref()).collect();
            let stored = self.versions(tx, &uids).await?;
            if let Some(refused) = refused
                && !rest.iter().any(|row| stored.contains_key(row.uid.as_ref()))
            {
                // None of the rows exists, so planning again would not help. Either the statement violated another unique key, such as one
                // that was added by hand, or the server treats two uids as equal because they differ only in trailing blanks.
                return Err(refused);
            }
            for row in rest {
                plan.add_row(row, stored.get(row.uid.as_ref()).copied());
            }
        }
        plan.insert = inserted;
        Ok(())
    }

    /// Returns true if the writer expects that the object has no row.
    fn is_new(&self, change: &RowChange) -> bool {
        self.trusting && matches!(change, RowChange::Row(Row { expected: Some(Expected::Absent), .. }))
    }

    /// Locks rows and returns their versions. If the kind has a history, remembers when they began.
    async fn versions(&mut self, tx: &mut Transaction, uids: &[&str]) -> Result<HashMap<String, Version>, sqlx::Error> {
        let table = self.table;
        let mut stored = HashMap::with_capacity(uids.len());
        for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
            if table.history.is_none() {
                stored.extend(tx.fetch(&Versions { table, uids, lock: true }).await?);
                continue;
            }
            for (uid, version, began) in tx.fetch(&VersionTimes { table, uids, lock: true }).await? {
                self.began.insert(uid.clone(), began);
                stored.insert(uid, version);
            }
        }
        Ok(stored)
    }

    /// Inserts rows; `rest` has the ones that were not inserted because a row exists. There are three cases:
    /// - The database can skip existing rows, and the batch does not rely on expectations: it skips them, and `rest` has them.
    /// - The database can skip existing rows, and the batch relies on expectations: an existing row makes the whole batch fail.
    /// - The database cannot skip: it refuses the statement, and `rest` has all rows of this statement and of the statements after it.
    async fn insert(&self, tx: &mut Transaction, rows: Vec<&'a Row>) -> Result<InsertResult<'a>, sqlx::Error> {
        let can_skip = tx.dialect().skips_stored();
        // Skipping costs one lookup per row, so a batch that relies on expectations does not skip. If it is refused, the caller writes it
        // again with `trusting: false`.
        let skip = can_skip && !self.trusting;
        let mut done = 0;
        let mut refused = None;
        let mut new = HashSet::new();
        for rows in self.main_packets(&rows, tx.dialect())? {
            let insert = Insert { table: self.table, rows, update_time: self.now, skip };
            if skip {
                new.extend(tx.fetch(&insert).await?);
            } else {
                match tx.execute(&insert).await {
                    // The server has rolled back only the statement, not the transaction.
                    Err(error) if !can_skip && is_unique_violation(&error) => {
                        refused = Some(error);
                        break;
                    }
                    result => result?,
                };
            }
            done += rows.len();
        }
        let mut place = 0..;
        let is_new = |row: &&Row| place.next() < Some(done) && (!skip || new.contains(row.uid.as_ref()));
        let (rows, rest) = rows.into_iter().partition(is_new);
        Ok(InsertResult { rows, rest, refused })
    }

    pub(super) fn main_packets<'r, 'b>(
        &self,
        rows: &'r [&'b Row],
        dialect: Dialect,
    ) -> Result<Vec<&'r [&'b Row]>, sqlx::Error> {
        packets(rows, most_rows(self.table.columns.len()), self.max_packet, dialect, |row| row.bytes())
    }

    /// Returns how many bytes of parameters fit into one packet, next to the statement's text and the types of the parameters.
    pub(super) fn room(&self) -> usize {
        room(self.max_packet)
    }
}

/// Returns true if the statement failed because the row, or another value of a unique key, exists already.
pub(super) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}
