//! One batch: many objects of one table in one transaction, with statements of many rows. Rows are locked in the order of their
//! uids.
//!
//! Locking the main row covers the rows of companion tables, because every writer of an object locks its main row first. So once the
//! main rows are written, no other transaction writes their labels, annotations and many values.

use super::change::{Report, RowChange};
use super::chunks::{MOST_ROWS, chunks, most_rows, packets, room};
use super::companions::{CompanionChanges, CompanionRow, alike_but_for_labels};
use super::guard::{Eviction, Verdict, Version, verdict, verdict_of_tombstone, verdict_over};
use super::history::{begin_versions, is_late, keep_versions, mark_deleted, move_versions};
use super::log::{Log, is_news, steps};
use super::restores::end_restores;
use super::same::{same, without_version};
use crate::driver::Transaction;
use ingester_core::row::{Expected, Row};
use ingester_core::schema::{Companion, Table};
use ingester_core::value::Micros;
use ingester_sql::dialect::Dialect;
use ingester_sql::dialect::statements::{
    ClearRejects, ConfirmEvictions, DeleteCompanion, Gone, Insert, Overwrite, ReadCompanion, Versions, What,
    WriteCompanion,
};
use std::collections::{HashMap, HashSet};

pub(super) struct Batch<'a> {
    pub(super) table: &'static Table,
    /// Sorted by uid; each uid occurs once.
    pub(super) changes: &'a [RowChange],
    pub(super) now: Micros,
    pub(super) max_packet: usize,
    pub(super) clear_rejects: bool,
    /// Whether to rely on [`Row::expected`] until it turns out to be wrong.
    pub(super) trusting: bool,
    /// The times that it has given to versions.
    pub(super) times: Vec<Micros>,
}

/// The changes of a batch, by what is to be done with their rows.
#[derive(Default)]
struct Sorted<'a> {
    /// Rows that do not exist.
    absent: Vec<&'a Row>,
    /// Rows that exist.
    present: Vec<&'a Row>,
    /// Rows that exist and have the right rows in the companion tables already.
    alike: Vec<&'a Row>,
    /// Rows that exist as expected, with other rows in the companion tables.
    relabelled: Vec<&'a Row>,
    /// Rows that are to be marked as deleted.
    gone: Vec<Gone<'a>>,
    /// The uids of evicted rows whose objects have left etcd.
    confirmed: Vec<&'a str>,
    /// The present and alike ones that the log is to have.
    news: Vec<(&'a Row, What)>,
}

/// What became of rows that were to be inserted.
struct Inserted<'a> {
    rows: Vec<&'a Row>,
    /// Those that were not inserted: one of them exists, if it is not one of a statement that was refused for another reason.
    rest: Vec<&'a Row>,
    /// Why a statement was refused.
    refused: Option<sqlx::Error>,
}

impl<'a> Sorted<'a> {
    /// Adds a change, beside the version of the stored row.
    fn add(&mut self, change: &'a RowChange, old: Option<Version>, report: &mut Report) {
        match change {
            RowChange::Row(row) => match old.map(|old| (verdict(old, row.version()), old)) {
                Some((Verdict::Write, old)) if is_expected(row, old) => {
                    let is_alike = has_its_companions(row, old);
                    if is_alike { &mut self.alike } else { &mut self.relabelled }.push(row);
                    self.add_news(row, old);
                }
                judged => self.add_row(row, judged, report),
            },
            RowChange::Replacement { row, seen } => {
                let judged = old.map(|old| (verdict_over(old, *seen, row.version()), old));
                self.add_row(row, judged, report);
                // Even if the stored row has the same version, it differs from the cluster's.
                if let Some((Verdict::Write, old)) = judged
                    && !is_news(row, old)
                {
                    self.news.extend(steps(row, old).map(|what| (row, what)));
                }
            }
            RowChange::Tombstone { uid, res_version, delete_time } => {
                match old.map(|old| verdict_of_tombstone(old, *res_version)) {
                    // Without a row, the object was never stored, and there is nothing to mark.
                    None | Some(Verdict::Unchanged) => report.unchanged += 1,
                    Some(Verdict::Stale) => report.stale.push(uid.clone()),
                    Some(Verdict::Confirm) => self.confirmed.push(uid),
                    Some(Verdict::Write | Verdict::Mark) => {
                        self.gone.push(Gone { uid, res_version: *res_version, delete_time: *delete_time });
                    }
                }
            }
        }
    }

    /// The log is to have this row, if it says something else than the stored one.
    fn add_news(&mut self, row: &'a Row, old: Version) {
        if is_news(row, old) {
            self.news.extend(steps(row, old).map(|what| (row, what)));
        }
    }

    /// Adds a row with the guard's verdict and the stored version; `None` if none is stored.
    fn add_row(&mut self, row: &'a Row, judged: Option<(Verdict, Version)>, report: &mut Report) {
        match judged {
            None => self.absent.push(row),
            Some((Verdict::Write, old)) => {
                self.present.push(row);
                self.add_news(row, old);
            }
            Some((Verdict::Mark, _)) => self.gone.extend(as_gone(row)),
            Some((Verdict::Confirm, _)) => self.confirmed.push(&row.uid),
            Some((Verdict::Unchanged, _)) => report.unchanged += 1,
            Some((Verdict::Stale, _)) => report.stale.push(row.uid.clone()),
        }
    }
}

impl<'a> Batch<'a> {
    /// Writes the batch; the caller commits, with the entries of the log. `clock` says the database's time.
    pub(super) async fn write(
        &mut self,
        tx: &mut Transaction,
        log: &mut Log<'a>,
        clock: impl Fn() -> Micros,
    ) -> Result<Report, sqlx::Error> {
        let mut report = Report::default();
        self.times.clear();
        let changes = self.changes;
        let uids: Vec<&str> = changes.iter().map(RowChange::uid).collect();
        let judged = self.write_judged(tx, log).await?;
        let is_open = |change: &&RowChange| !judged.written.contains(change.uid());
        // Rows that are expected to be absent are not read: if one exists after all, its INSERT fails, and it is read then.
        let asked: Vec<&str> =
            changes.iter().filter(is_open).filter(|change| !self.is_new(change)).map(RowChange::uid).collect();
        let stored = self.versions(tx, &asked).await?;
        if self.table.history.is_some() {
            // Another transaction may have had the locks for long.
            self.now = clock();
            self.times.push(self.now);
        }

        let without_version = without_version(changes, |uid| stored.get(uid).copied());
        let same = same(tx, self.table, &without_version).await?;
        let mut sorted = Sorted::default();
        for change in changes.iter().filter(is_open) {
            if same.contains(change.uid()) {
                report.unchanged += 1;
                continue;
            }
            sorted.add(change, stored.get(change.uid()).copied(), &mut report);
        }
        let inserted = self.insert_absent(tx, &mut sorted, &mut report).await?;
        let Sorted { present, alike, mut relabelled, gone, confirmed, news, .. } = sorted;
        begin_versions(tx, self.table, inserted.iter().map(|row| &*row.uid)).await?;
        inserted.iter().for_each(|row| log.inserted(row));
        // Objects that a restore has created; nearly never any, and then no statement.
        let origins: Vec<_> = inserted.iter().filter_map(|row| row.origin.as_deref()).collect();
        end_restores(tx, self.table, &origins, self.now, log).await?;
        news.iter().for_each(|(row, what)| log.row(row, *what));
        log.stored(What::Deleted, gone.iter().map(|gone| gone.uid));
        log.stored(What::Evicted, confirmed.iter().copied());
        self.overwrite(tx, &[&present[..], &alike, &relabelled].concat(), &news).await?;
        report.written += judged.written.len() + inserted.len() + present.len() + alike.len() + relabelled.len();
        relabelled.extend(judged.relabelled);
        let mut with_companions = [&present[..], &relabelled].concat();
        for companion in self.table.companions() {
            let stored = self.write_companions(tx, companion, &inserted, &with_companions, None).await?;
            if companion == Companion::Labels {
                let alike = alike_but_for_labels(&relabelled, &stored);
                with_companions.retain(|row| !alike.contains(&*row.uid));
            }
        }
        mark_deleted(tx, self.table, &gone, self.now).await?;
        for uids in chunks(&confirmed, MOST_ROWS, tx.dialect()) {
            tx.execute(&ConfirmEvictions { table: self.table, uids }).await?;
        }
        report.written += gone.len() + confirmed.len();
        if self.clear_rejects {
            for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
                tx.execute(&ClearRejects { kind: self.table.kind, uids }).await?;
            }
        }
        Ok(report)
    }

    /// Before the commit: lets the versions that were written begin later, if it is late for their time.
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

    /// Inserts the rows that are absent; returns them. Those that another writer has inserted meanwhile are sorted anew.
    async fn insert_absent<'c>(
        &self,
        tx: &mut Transaction,
        sorted: &mut Sorted<'c>,
        report: &mut Report,
    ) -> Result<Vec<&'c Row>, sqlx::Error> {
        let mut inserted = Vec::new();
        while !sorted.absent.is_empty() {
            let absent = std::mem::take(&mut sorted.absent);
            let Inserted { rows, rest, refused } = self.insert(tx, absent).await?;
            inserted.extend(rows);
            // Another writer has inserted one of these rows in the meantime. Now it can be read and locked.
            let uids: Vec<&str> = rest.iter().map(|row| row.uid.as_ref()).collect();
            let stored = self.versions(tx, &uids).await?;
            if let Some(refused) = refused
                && !rest.iter().any(|row| stored.contains_key(row.uid.as_ref()))
            {
                // Another unique key was violated, such as one added by hand; or the server compares two uids as equal
                // because they differ only in trailing blanks.
                return Err(refused);
            }
            for row in rest {
                let judged = stored.get(row.uid.as_ref()).map(|old| (verdict(*old, row.version()), *old));
                sorted.add_row(row, judged, report);
            }
        }
        Ok(inserted)
    }

    /// Whether the writer expects that the object has no row.
    fn is_new(&self, change: &RowChange) -> bool {
        self.trusting && matches!(change, RowChange::Row(Row { expected: Some(Expected::Absent), .. }))
    }

    async fn versions(&self, tx: &mut Transaction, uids: &[&str]) -> Result<HashMap<String, Version>, sqlx::Error> {
        let mut stored = HashMap::with_capacity(uids.len());
        for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
            stored.extend(tx.fetch(&Versions { table: self.table, uids, lock: true }).await?);
        }
        Ok(stored)
    }

    /// Inserts rows, and returns those that are left because rows exist. A database that can skip them does so, unless the batch is trusted: then it
    /// refuses all. Elsewhere it refuses a statement, and the rows from that on are left.
    async fn insert<'c>(&self, tx: &mut Transaction, rows: Vec<&'c Row>) -> Result<Inserted<'c>, sqlx::Error> {
        let can_skip = tx.dialect().skips_stored();
        // That costs a look for each row. If a trusted batch is refused, it is written again without trust.
        let skip = can_skip && !self.trusting;
        let (mut done, mut refused, mut new) = (0, None, HashSet::new());
        for rows in self.main_packets(&rows, tx.dialect())? {
            let insert = Insert { table: self.table, rows, update_time: self.now, skip };
            if skip {
                new.extend(tx.fetch(&insert).await?);
            } else {
                match tx.execute(&insert).await {
                    // Only the statement is rolled back, not the transaction.
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
        Ok(Inserted { rows, rest, refused })
    }

    /// Writes over stored rows. `news` says what becomes of their objects; the others are of the same versions as before.
    pub(super) async fn overwrite(
        &self,
        tx: &mut Transaction,
        rows: &[&Row],
        news: &[(&Row, What)],
    ) -> Result<(), sqlx::Error> {
        let mut ending = Vec::new();
        if self.table.history.is_some() {
            let becomes: HashMap<&str, What> = news.iter().map(|(row, what)| (&*row.uid, *what)).collect();
            ending.extend(rows.iter().map(|row| (&*row.uid, becomes.get(&*row.uid).copied())));
        }
        let times = keep_versions(tx, self.table, &ending, self.now).await?;
        let rows: Vec<(&Row, Micros)> = rows.iter().map(|row| (*row, times.of(&row.uid))).collect();
        let most = most_rows(self.table.columns.len());
        for rows in self.packets(&rows, most, tx.dialect(), |(row, _)| row.bytes())? {
            tx.execute(&Overwrite { table: self.table, rows }).await?;
        }
        Ok(())
    }

    pub(super) fn main_packets<'r, 'b>(
        &self,
        rows: &'r [&'b Row],
        dialect: Dialect,
    ) -> Result<Vec<&'r [&'b Row]>, sqlx::Error> {
        let most = most_rows(self.table.columns.len());
        self.packets(rows, most, dialect, |row| row.bytes())
    }

    /// Makes the stored rows of a companion equal to those of the rows. `inserted` have none stored yet, `present` may. Adds the uids of
    /// those `present` that had others to `changed`, if that is given. Returns the rows that were stored.
    pub(super) async fn write_companions(
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
        // Of rows that were just inserted, unless some were left of an object whose row was deleted by hand.
        let new = self.trusting && present.is_empty() && tx.dialect().skips_stored();
        let bytes = |(uid, key, value): &(&str, &str, &str)| uid.len() + key.len() + value.len() + 27;
        for rows in self.packets(&changes.write, 4 * MOST_ROWS, tx.dialect(), bytes)? {
            tx.execute(&WriteCompanion { table, companion, rows, new }).await?;
        }
        Ok(stored)
    }

    /// How many bytes of parameters fit into one packet, beside the statement's text and the types of the parameters.
    pub(super) fn room(&self) -> usize {
        room(self.max_packet)
    }

    /// Splits rows into statements of at most `most` rows that fit into one packet of the server.
    fn packets<'r, T>(
        &self,
        rows: &'r [T],
        most: usize,
        dialect: Dialect,
        bytes: impl Fn(&T) -> usize,
    ) -> Result<Vec<&'r [T]>, sqlx::Error> {
        packets(rows, most, self.max_packet, dialect, bytes)
    }
}

/// Whether a row, or another value of a unique key, is there already.
pub(super) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}

/// The mark of a row that is deleted.
fn as_gone(row: &Row) -> Option<Gone<'_>> {
    row.delete_time.map(|delete_time| Gone { uid: &row.uid, res_version: row.res_version, delete_time })
}

/// Whether the stored row is the expected one, and so are its rows in the companion tables. The version of the main row vouches for them, because
/// all are only written together.
fn is_expected(row: &Row, stored: Version) -> bool {
    let Some(Expected::Stored { res_version, .. }) = row.expected else { return false };
    // Labels and annotations do not depend on the definition, many values do.
    let ingest_version = if row.many.is_empty() { stored.ingest_version } else { row.ingest_version };
    let live = Version { res_version, ingest_version, deleted: false, eviction: Eviction::None };
    res_version > 0 && stored == live
}

/// Whether the stored row is the expected one and already has the rows of `row` in its companion tables.
pub(super) fn has_its_companions(row: &Row, stored: Version) -> bool {
    let hash = match row.expected {
        Some(Expected::Stored { companions, .. }) => Some(companions),
        Some(Expected::Absent) | None => None,
    };
    is_expected(row, stored) && hash == Some(row.companions_hash())
}
