//! The entries of a writer in the log of changes: one for each row that it changes, written at the end of its own transaction. An entry
//! locks nothing that another writer waits for.
//!
//! While a log has never been read, a transaction that only inserts several rows, as a first fill does, records one reset instead of their
//! entries. A reader that begins meanwhile misses nothing, because the reset is committed with the rows: if the reader begins before the
//! reset, it reads all rows again when it reaches the reset; if it begins after the reset, it has read the rows already.

use super::chunks::{MOST_ROWS, chunks, packets, room};
use super::plan::{WritePlan, what};
use crate::driver::Transaction;
use crate::store::Store;
use ingester_core::row::Row;
use ingester_core::schema::{Table, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::Statement;
use ingester_sql::dialect::statements::{ChangeEntry, ChangeKind, MarkedRow, RecordChanges, RecordRowChanges};

/// Entries to record at the end of a transaction.
pub(super) struct Log<'a> {
    table: &'static Table,
    at: Micros,
    /// True if the database has a log.
    is_on: bool,
    /// True if the log had no known reader a moment ago.
    is_unread: bool,
    /// Changed rows that the writer has in memory.
    known: Vec<ChangeEntry<'a>>,
    /// The number of `known` rows that were inserted.
    inserted: usize,
    /// Rows that the database has marked as deleted.
    marked: Vec<MarkedRow>,
    /// The uids of rows that are stored and locked, each with its change.
    stored: Vec<(ChangeKind, &'a str)>,
}

impl<'a> Log<'a> {
    fn new(table: &'static Table, at: Micros, is_on: bool) -> Self {
        Log {
            table,
            at,
            is_on,
            is_unread: false,
            known: Vec::new(),
            inserted: 0,
            marked: Vec::new(),
            stored: Vec::new(),
        }
    }

    /// Adds the entries of a plan that has been run.
    pub(super) fn add(&mut self, plan: &WritePlan<'a>) {
        self.inserted += plan.insert.len();
        plan.insert.iter().for_each(|row| self.row(row, what(row, None)));
        self.overwritten(plan);
        self.add_uids(ChangeKind::Deleted, plan.mark.iter().map(|gone| gone.uid));
        self.add_uids(ChangeKind::Evicted, plan.confirm.iter().copied());
    }

    /// Adds the entries of the rows that a plan has overwritten.
    pub(super) fn overwritten(&mut self, plan: &WritePlan<'a>) {
        for overwrite in &plan.overwrite {
            overwrite.entries.into_iter().flatten().for_each(|what| self.row(overwrite.row, what));
        }
    }

    /// Adds the entry of a written row that the writer has in memory.
    pub(super) fn row(&mut self, row: &'a Row, what: ChangeKind) {
        if self.is_on {
            self.known.push(recorded(row, what));
        }
    }

    /// Adds the entries of rows that the database has marked as deleted.
    pub(super) fn marked(&mut self, marked: Vec<MarkedRow>) {
        if self.is_on {
            self.marked.extend(marked);
        }
    }

    /// Adds the entries of changed rows if the writer knows only their uids.
    pub(super) fn add_uids(&mut self, what: ChangeKind, uids: impl IntoIterator<Item = &'a str>) {
        if self.is_on {
            self.stored.extend(uids.into_iter().map(|uid| (what, uid)));
        }
    }

    /// Returns the reset that replaces all entries, if one may.
    fn reset(&self) -> Option<ChangeEntry<'static>> {
        let is_fill = self.is_unread
            && self.marked.is_empty()
            && self.stored.is_empty()
            && self.inserted == self.known.len()
            && self.inserted > 1;
        let res_version = self.known.iter().map(|entry| entry.res_version).max().unwrap_or(0);
        is_fill.then_some(ChangeEntry { uid: "", namespace: "", name: "", res_version, what: ChangeKind::Reset })
    }

    /// Records the entries and commits if `done` is a success; rolls back otherwise. Returns `done`.
    pub(super) async fn end<T>(
        &self,
        tx: Transaction,
        done: Result<T, sqlx::Error>,
        max_packet: usize,
    ) -> Result<T, sqlx::Error> {
        let (&Log { table, at, .. }, dialect) = (self, tx.dialect());
        let bytes = |entry: &ChangeEntry<'_>| entry.uid.len() + entry.namespace.len() + entry.name.len() + 128;
        let marked = self.marked.iter().map(MarkedRow::recorded);
        let known: Vec<_> = match self.reset() {
            Some(reset) => vec![reset],
            None => self.known.iter().copied().chain(marked).collect(),
        };
        let known = match packets(&known, 4 * MOST_ROWS, max_packet, dialect, bytes) {
            Ok(packets) => packets,
            Err(error) => return tx.end(Err(error)).await,
        };
        let known: Vec<_> = known.into_iter().map(|changes| RecordChanges { table, changes, at }).collect();
        let of = |what: ChangeKind| self.stored.iter().filter(move |(of, _)| *of == what).map(|(_, uid)| *uid);
        let stored = [ChangeKind::Updated, ChangeKind::Deleted, ChangeKind::Revived, ChangeKind::Evicted]
            .map(|what| (what, of(what).collect::<Vec<&str>>()));
        let stored =
            stored.iter().flat_map(|(what, uids)| chunks(uids, 4 * MOST_ROWS, dialect).map(move |uids| (*what, uids)));
        let stored: Vec<_> = stored.map(|(what, uids)| RecordRowChanges { table, uids, what, at }).collect();
        let statements = known.iter().map(|known| known as &(dyn Statement + Sync));
        let statements: Vec<_> =
            statements.chain(stored.iter().map(|stored| stored as &(dyn Statement + Sync))).collect();
        tx.end_with(done, &statements, room(max_packet)).await
    }
}

/// Returns the entry of a row.
pub(super) fn recorded(row: &Row, what: ChangeKind) -> ChangeEntry<'_> {
    let text = |place: usize| match &row.values[place] {
        Value::Text(text) => &**text,
        _ => "",
    };
    let namespace = text(base::NAMESPACE);
    let name = text(base::NAME);
    ChangeEntry { uid: &row.uid, namespace, name, res_version: row.res_version, what }
}

impl Store {
    /// Begins the log of one transaction.
    pub(super) async fn log<'a>(&self, table: &'static Table, at: Micros) -> Result<Log<'a>, sqlx::Error> {
        Ok(Log::new(table, at, self.logs().await?))
    }

    /// Begins the log of a transaction that writes this many objects, if `is_on`.
    pub(super) async fn log_of_batch<'a>(
        &self,
        table: &'static Table,
        at: Micros,
        is_on: bool,
        objects: usize,
    ) -> Result<Log<'a>, sqlx::Error> {
        let is_unread = is_on && objects > 1 && !self.is_read(table).await?;
        Ok(Log { is_unread, ..Log::new(table, at, is_on) })
    }
}
