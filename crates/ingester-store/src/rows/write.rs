//! Writes rows in batches, and halves a batch that the database refuses.

use super::batch::{Batch, is_unique_violation};
use super::change::{RejectedObject, Report, RowChange, latest_of_each};
use super::history::{Beginnings, is_late, move_versions};
use super::rows_named;
use super::single::{SingleResult, write_single};
use crate::driver::{ErrorClass, StoreError};
use crate::store::Store;
use ingester_core::row::Row;
use ingester_core::schema::{Table, base};
use ingester_core::value::Value;
use ingester_sql::dialect::Access;
use tokio::time::Instant;

impl Store {
    /// Writes changes of objects of one table. If an object has several changes, only the latest is written.
    ///
    /// Objects that the database refuses are in the report's `rejected`. The caller records them with [`Store::record_rejects`]. It writes
    /// the objects in `postponed` again after a pause.
    ///
    /// # Errors
    /// If the database cannot be reached within the retries, or if nothing can be written until an operator acts (disk full, no rights, a
    /// missing table), or if an unclassified error prevents all of several objects from being written.
    pub async fn write(&self, table: &'static Table, changes: Vec<RowChange>) -> Result<Report, StoreError> {
        self.write_latest(table, &latest_of_each(changes)).await
    }

    /// Like [`Store::write`], for changes that come from [`latest_of_each`], so that a caller can try again without a copy.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn write_latest(&self, table: &'static Table, changes: &[RowChange]) -> Result<Report, StoreError> {
        let mut report = Report::default();
        // A stack of the ranges of `changes` that are not written yet, the next one last. Each gets its own transaction.
        let mut ranges = vec![(0, changes.len())];
        let mut unproven = None;
        while let Some((start, end)) = ranges.pop() {
            if start == end {
                continue;
            }
            let changes = &changes[start..end];
            let now = Instant::now;
            let error = match self.write_batch(table, changes).await {
                Ok(mut part) => {
                    if !self.dialect.has_nul() {
                        part.nul_values = stored_values(changes, &part, Row::nul_values);
                    }
                    part.unfit_values = stored_values(changes, &part, |row| row.unfit.len());
                    let uids = changes.iter().map(RowChange::uid);
                    self.doubts().passed(table.name.as_str(), uids, part.written > 0, now());
                    report.add(part);
                    continue;
                }
                Err(error) => error,
            };
            let refused = || RejectedObject { uid: changes[0].uid().into(), reason: why(&error, &changes[0]) };
            match error.class() {
                ErrorClass::Transient | ErrorClass::Operator | ErrorClass::Lease => return Err(error),
                ErrorClass::Object | ErrorClass::Unknown if changes.len() > 1 => {
                    if report.splits == 0 {
                        tracing::warn!(
                            table = table.name.as_str(),
                            objects = changes.len(),
                            reason = error.reason(),
                            "The database refuses a batch: writing its halves"
                        );
                    }
                    report.splits += 1;
                    let middle = start + (end - start) / 2;
                    // The first half is written first, so that rows are locked in the order of their uids.
                    ranges.push((middle, end));
                    ranges.push((start, middle));
                }
                ErrorClass::Object => report.rejected.push(refused()),
                ErrorClass::Unknown if self.doubts().refused(table.name.as_str(), changes[0].uid(), now()) => {
                    report.rejected.push(refused());
                }
                ErrorClass::Unknown => {
                    report.postponed.push(refused());
                    unproven = Some(error);
                }
            }
        }
        // Nothing in the batch was written, so the database is the likely cause. Let the caller retry the whole batch.
        if let Some(error) = unproven
            && report.postponed.len() == changes.len()
            && changes.len() > 1
            && self.doubts().is_outage(table.name.as_str(), changes.iter().map(RowChange::uid), Instant::now())
        {
            return Err(error);
        }
        Ok(report)
    }

    /// Writes a batch in one transaction, and retries transient errors.
    async fn write_batch(&self, table: &'static Table, changes: &[RowChange]) -> Result<Report, StoreError> {
        let written = self.with_retries(
            || format!("writing {}", rows_named(changes.len(), table)),
            || async {
                let mut batch = Batch {
                    table,
                    changes,
                    now: self.now(),
                    max_packet: self.max_packet,
                    clear_rejects: self.recorded().any(table.kind, changes.iter().map(RowChange::uid)),
                    trusting: true,
                    times: Vec::new(),
                    began: Beginnings::new(),
                };
                let logs = self.logs().await?;
                match write_single(self, &batch, logs).await? {
                    SingleResult::Written(report) => {
                        // Boxed, because it rarely runs and would enlarge the future of every write.
                        Box::pin(self.begin_later(&batch)).await?;
                        return Ok(report);
                    }
                    SingleResult::Refused => batch.trusting = false,
                    SingleResult::NotPossible => {}
                }
                loop {
                    let mut log = self.log_of_batch(table, batch.now, logs, changes.len()).await?;
                    let mut tx = self.pool.begin_durably(changes.iter().any(RowChange::is_eviction)).await?;
                    let mut report = batch.write(&mut tx, &mut log, || self.now()).await;
                    if report.is_ok()
                        && let Err(error) = batch.begin_later(&mut tx, || self.now()).await
                    {
                        report = Err(error);
                    }
                    match log.end(tx, report, self.max_packet).await {
                        // Rows exist that the writer expected to be absent. Write again without trust.
                        Err(error) if batch.trusting && is_unique_violation(&error) => batch.trusting = false,
                        written => return written,
                    }
                }
            },
        );
        let report = written.await?;
        self.recorded().cleared(table.kind, changes.iter().map(RowChange::uid));
        Ok(report)
    }
}

impl Store {
    /// Called after one statement or text has written and committed a batch of one object. If it has waited for a lock, its version began
    /// long before others see it, so it now begins later.
    async fn begin_later(&self, batch: &Batch<'_>) -> Result<(), sqlx::Error> {
        let uids: Vec<&str> = batch.changes.iter().map(RowChange::uid).collect();
        let from = batch.now;
        let to = self.now();
        if batch.table.history.is_none() || !is_late(from, to) {
            return Ok(());
        }
        let mut tx = self.pool.begin(Access::Write).await?;
        let moved = move_versions(&mut tx, batch.table, &uids, from, to).await;
        tx.end(moved).await.map(drop)
    }
}

/// Counts certain values in the rows of a batch that are stored now.
fn stored_values(changes: &[RowChange], report: &Report, count: impl Fn(&Row) -> usize) -> usize {
    let values = |change: &RowChange| change.row().map_or(0, &count);
    let is_stale = |change: &RowChange| report.stale.iter().any(|uid| **uid == *change.uid());
    let of_each = changes.iter().map(|change| (change, values(change))).filter(|(_, values)| *values > 0);
    of_each.filter(|(change, _)| !is_stale(change)).map(|(_, values)| values).sum()
}

/// Returns the reason why the database refuses an object. If it does not say what is wrong with the object's JSON, the driver does.
fn why(error: &StoreError, change: &RowChange) -> String {
    let why = match change.row().and_then(|row| row.values.get(base::JSON)) {
        Some(Value::Text(json)) => error.why_json(json),
        _ => None,
    };
    match why {
        Some(why) => format!("{}: {why}", error.reason()),
        None => error.reason().to_owned(),
    }
}
