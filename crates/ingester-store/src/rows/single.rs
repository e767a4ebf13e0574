//! Writes a single object in one round trip: the usual case in a quiet cluster, where events come one by one.
//!
//! It relies on the row that the writer expects to be stored. If the expectation is wrong, nothing is written, and the object is then
//! written as a batch of one.

use super::batch::Batch;
use super::change::{Report, RowChange};
use super::log::recorded;
use super::plan::{RowOverwrite, StoredCompanions, WritePlan, expected_version, what};
use crate::driver::{ErrorClass, class_of};
use crate::store::Store;
use ingester_core::row::{Expected, Row};
use ingester_core::schema::Companion;
use ingester_sql::dialect::statements::{
    BeginAfterFormer, ChangeKind, ClearRejects, Insert, KeepVersions, RecordChanges, Update, WriteCompanion,
};
use ingester_sql::dialect::{Access, Dialect, Sql, Statement, TransactionForm};

/// The largest object that is written as text, in bytes. Larger texts cost more than the round trips that they save.
const LARGEST: usize = 64 << 10;

/// A write that fits one round trip.
enum SingleWrite<'a> {
    /// A new row with its rows in companion tables: a whole transaction as one text.
    Insert(&'a Row),
    /// A stored row whose rows in companion tables stay the same, and its change. This is one statement, and so one transaction. A kind with
    /// a history needs a statement before it that copies the ending version, and a log one after it that records the change.
    Update(Update<'a>, ChangeKind),
}

impl Batch<'_> {
    /// Returns the write of the batch, with its log entry if the database has a log, if it fits one round trip.
    fn one_trip(&self, dialect: Dialect, logs: bool) -> Option<SingleWrite<'_>> {
        let [change @ RowChange::Row(row)] = self.changes else { return None };
        let stored = match row.expected? {
            Expected::Absent => None,
            Expected::Stored { .. } => Some(expected_version(row)?),
        };
        let mut plan = WritePlan::default();
        plan.add(change, stored);
        match (&plan.insert[..], &plan.overwrite[..]) {
            // If the object was restored from a row, that row may have to be marked, too.
            ([row], []) if row.origin.is_none() && self.fits_a_text(row) => Some(SingleWrite::Insert(row)),
            ([], [overwrite]) => self.one_update(*overwrite, stored?.res_version, dialect, logs),
            _ => None,
        }
    }

    /// Returns the write that overwrites the expected row in one round trip.
    fn one_update<'r>(
        &self,
        overwrite: RowOverwrite<'r>,
        expected: u64,
        dialect: Dialect,
        logs: bool,
    ) -> Option<SingleWrite<'r>> {
        let RowOverwrite { row, companions, entries: [before, becomes] } = overwrite;
        let becomes = becomes?;
        // Deleting a reject as well needs a transaction, and so do several entries of the log.
        let is_one = companions == StoredCompanions::Same && !(logs && before.is_some()) && !self.clear_rejects;
        if !is_one || row.bytes() > self.room() {
            return None;
        }
        let record = logs.then(|| recorded(row, becomes));
        let former = self.table.history.map(|history| history.table);
        let is_alone = record.is_none() || dialect.records_in_one_statement();
        let is_text = (former.is_some() || !is_alone) && !dialect.is_embedded();
        if is_text && !self.fits_a_text(row) {
            return None;
        }
        let update = Update { table: self.table, row, expected, update_time: self.now, former, record };
        Some(SingleWrite::Update(update, becomes))
    }

    /// Returns true if a row's values can be written into a text, and if that is worth it.
    fn fits_a_text(&self, row: &Row) -> bool {
        // The text of a byte string is twice as long as the string.
        row.total_bytes() <= LARGEST && 4 * LARGEST <= self.max_packet
    }

    /// Returns all statements that store a new row, as one text; `None` if the dialect has no such text.
    fn insertion(&self, dialect: Dialect, form: TransactionForm, row: &Row, logs: bool) -> Option<Sql> {
        let uids = [row.uid.as_ref()];
        let of = |companion: Companion| {
            let rows =
                row.companion(companion).iter().map(|(key, value)| (row.uid.as_ref(), key.as_ref(), value.as_ref()));
            (companion, rows.collect::<Vec<_>>())
        };
        let companions: Vec<_> = self.table.companions().map(of).collect();
        let insert = Insert { table: self.table, rows: &[row], update_time: self.now, skip: false };
        let companions = companions.iter();
        let companions: Vec<_> = companions
            .map(|(companion, rows)| WriteCompanion { table: self.table, companion: *companion, rows, new: true })
            .collect();
        let clear = ClearRejects { kind: self.table.kind, uids: &uids };
        let begin = self.table.history.map(|history| {
            let table = self.table;
            let former = history.table;
            BeginAfterFormer { table, former, uids: &uids }
        });
        let mut statements: Vec<&dyn Statement> = vec![&insert];
        statements.extend(begin.as_ref().map(|begin| begin as &dyn Statement));
        statements
            .extend(companions.iter().filter(|write| !write.rows.is_empty()).map(|write| write as &dyn Statement));
        if self.clear_rejects {
            statements.push(&clear);
        }
        let record = RecordChanges { table: self.table, changes: &[recorded(row, what(row, None))], at: self.now };
        if logs {
            statements.push(&record);
        }
        dialect.in_one_text(form, &statements)
    }
}

/// The result of [`write_single`].
pub(super) enum SingleResult {
    /// The object is written.
    Written(Report),
    /// Nothing was written: the stored row is not the expected one, or the database refuses the object.
    Refused,
    /// The batch cannot be written in one round trip.
    NotPossible,
}

/// Writes a batch of one object in one round trip, if possible.
pub(super) async fn write_single(store: &Store, batch: &Batch<'_>, logs: bool) -> Result<SingleResult, sqlx::Error> {
    // In some databases each connection sets how durable its commits are. An eviction has to set this before its transaction, which takes
    // another round trip.
    if store.dialect.durability_is_of_connections() && batch.changes.iter().any(RowChange::is_eviction) {
        return Ok(SingleResult::NotPossible);
    }
    let Some(one_trip) = batch.one_trip(store.dialect, logs) else { return Ok(SingleResult::NotPossible) };
    let written = match one_trip {
        SingleWrite::Update(update, change) => match execute_update(store, &update, change).await? {
            Some(rows) => rows > 0,
            None => return Ok(SingleResult::NotPossible),
        },
        SingleWrite::Insert(row) => {
            let Some(form) = store.pool.servers().one_text() else { return Ok(SingleResult::NotPossible) };
            let Some(sql) = batch.insertion(store.dialect, form, row, logs) else {
                return Ok(SingleResult::NotPossible);
            };
            match store.pool.execute_transaction(form, &sql).await {
                Ok(Some(_)) => true,
                Ok(None) => return Ok(SingleResult::NotPossible),
                Err(error) if class_of(&error) == ErrorClass::Transient => return Err(error),
                // Usually the row exists after all. If something is wrong with the object, the batch finds out.
                Err(_) => false,
            }
        }
    };
    Ok(if written { SingleResult::Written(Report { written: 1, ..Report::default() }) } else { SingleResult::Refused })
}

/// Runs an update. If the kind has a history, the ending version is copied before; if the update has a log entry, it is recorded as well.
/// Returns how many rows were written, 0 if the stored row is not the expected one; or `None` if the servers take no text of several
/// statements.
async fn execute_update(store: &Store, update: &Update<'_>, change: ChangeKind) -> Result<Option<u64>, sqlx::Error> {
    let uids = [&*update.row.uid];
    let expected = Some((update.expected, update.row.ingest_version));
    let table = update.table;
    let valid_to = update.update_time;
    let keep = update.former.map(|former| KeepVersions { table, former, uids: &uids, valid_to, change, expected });
    if keep.is_none() && (update.record.is_none() || store.dialect.records_in_one_statement()) {
        return store.pool.execute(update).await.map(Some);
    }
    if store.dialect.is_embedded() {
        let mut tx = store.pool.begin(Access::Write).await?;
        // We may have waited long for another program's write lock, so take the time again.
        let now = store.now();
        let rows = match keep {
            Some(keep) => tx.execute(&KeepVersions { valid_to: now, ..keep }).await,
            None => Ok(0),
        };
        let rows = match rows {
            Ok(_) => tx.execute(&Update { update_time: now, ..*update }).await,
            failed => failed,
        };
        return tx.end(rows).await.map(Some);
    }
    let Some(form) = store.pool.servers().one_text() else { return Ok(None) };
    let sql = match &keep {
        Some(keep) => store.dialect.in_one_text(form, &[keep, update]),
        None => store.dialect.in_one_text(form, &[update]),
    };
    let Some(sql) = sql else { return Ok(None) };
    store.pool.execute_transaction(form, &sql).await
}
