//! A model of the database: one table that all ingesters share, under the real guard.

use super::checks;
use super::kinds::{Flavour, NEWER};
use super::taking_back::OpenRestore;
use super::troubles::ExtraTroubles;
use super::world::World;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Origin, Row};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_store::fuse::{Account, Fuse};
use ingester_store::guard::{Eviction, Verdict, Version, verdict, verdict_of_tombstone, verdict_over};
use ingester_store::left_out::{FilterVerdict, LeftOutCount, leaves_out};
use ingester_store::marks::Mark;
use ingester_store::{LostEviction, RejectedObject, Report, RowChange, StoredRow};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The code of a full disk.
pub(super) const FULL: u16 = 507;

/// How long rows of deleted objects are kept if they are purged.
const AGE: Duration = Duration::from_secs(240);

/// The number of rows that a changed filter may mark in any case, in the time of trouble and after it.
pub(super) const FILTER_LIMIT: u64 = 1;
pub(super) const CALM_FILTER_LIMIT: u64 = 1000;

/// The minimum time for which they exist.
const LEAST_AGE: Duration = Duration::from_secs(30);

/// A row, and when it was written.
#[derive(Clone, Debug)]
pub(super) struct KeptRow {
    pub(super) row: StoredRow,
    pub(super) since: Instant,
    before: Option<StoredRow>,
}

impl KeptRow {
    pub(super) fn version(&self) -> Version {
        version(&self.row)
    }

    pub(super) fn name(&self) -> &str {
        read_text(&self.row, base::NAME)
    }

    pub(super) fn told(&self) -> String {
        let version = self.version();
        let res_version = version.res_version;
        let state = match (version.deleted, version.eviction) {
            (true, Eviction::None) => "deleted",
            (true, _) => "deleted and evicted",
            (false, Eviction::None) => "live",
            (false, Eviction::Intended) => "leaving",
            (false, _) => "evicted",
        };
        format!("{} v{res_version} {state}", self.row.uid)
    }
}

fn version(row: &StoredRow) -> Version {
    Version {
        res_version: row.res_version,
        ingest_version: row.ingest_version,
        deleted: row.delete_time.is_some(),
        eviction: row.eviction,
    }
}

/// Returns true if the text of a row has the row's version.
fn is_whole(row: &StoredRow) -> bool {
    let object: serde_json::Value = serde_json::from_str(read_text(row, base::JSON)).unwrap_or_default();
    let version = object["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok());
    version == Some(row.res_version)
}

pub(super) fn read_text(row: &StoredRow, place: usize) -> &str {
    match row.values.get(place) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

/// An object that could not be mirrored.
#[derive(Clone, Debug)]
pub(super) struct KeptReject {
    pub(super) namespace: String,
    pub(super) reason: String,
}

#[derive(Default)]
pub(super) struct Database {
    pub(super) rows: BTreeMap<Box<str>, KeptRow>,
    /// The objects that could not be mirrored.
    pub(super) rejects: BTreeMap<Box<str>, KeptReject>,
    /// It does not answer before this time.
    pub(super) down: Option<Instant>,
    /// Its disk is full before this time.
    pub(super) full: Option<Instant>,
    /// The cluster that it belongs to.
    pub(super) cluster: Option<String>,
    /// Rows that were changed by hand, or that another database lacked.
    pub(super) by_hand: BTreeSet<Box<str>>,
    /// The number of rows that each unit wants to sweep, and has swept.
    pub(super) accounts: BTreeMap<String, Account>,
    /// Counts for each caller how often another server has taken over.
    pub(super) moves: Vec<watch::Sender<u64>>,
    /// Rows of objects that are gone, which another database has in their state before the eviction.
    pub(super) lost_evictions: BTreeSet<Box<str>>,
    /// The table of lost evictions.
    pub(super) recorded_as_lost: BTreeMap<Box<str>, LostEviction>,
    /// The error of its clock, in microseconds.
    clock: i64,
    /// Rows of deleted objects are purged.
    purges: bool,
    /// The true time when each row was marked as deleted.
    marked: BTreeMap<Box<str>, Instant>,
    pub(super) purged: BTreeSet<Box<str>>,
    /// The marks of rules, by uid.
    pub(super) marks: BTreeMap<Box<str>, Mark>,
    /// The latest definition of the kind that an ingester has recorded.
    pub(super) latest: u32,
    /// The restores that have begun, by the uids of their rows.
    pub(super) restores: BTreeMap<Box<str>, OpenRestore>,
}

/// The content of another database that may take over.
pub(super) struct Replica {
    rows: BTreeMap<Box<str>, KeptRow>,
    rejects: BTreeMap<Box<str>, KeptReject>,
    marked: BTreeMap<Box<str>, Instant>,
    marks: BTreeMap<Box<str>, Mark>,
    latest: u32,
    restores: BTreeMap<Box<str>, OpenRestore>,
}

impl Database {
    pub(super) fn new(more: ExtraTroubles, dice: &mut fastrand::Rng) -> Self {
        let clock = if more.retention || more.rules { dice.i64(-7200..7200) * 1_000_000 } else { 0 };
        Database { clock, purges: more.retention, ..Database::default() }
    }

    pub(super) fn replica(&self) -> Replica {
        Replica {
            rows: self.rows.clone(),
            rejects: self.rejects.clone(),
            marked: self.marked.clone(),
            marks: self.marks.clone(),
            latest: self.latest,
            restores: self.restores.clone(),
        }
    }

    /// Purges a row.
    pub(super) fn forget(&mut self, uid: &str) {
        self.marked.remove(uid);
        self.rows.remove(uid);
        self.purged.insert(uid.into());
    }

    /// The code with which it refuses a question, if it does.
    pub(super) fn refusal(&self) -> Option<u16> {
        self.down.is_some_and(|down| down > Instant::now()).then_some(0)
    }

    /// The code with which it refuses a change, if it does.
    pub(super) fn refusal_of_changes(&self) -> Option<u16> {
        let is_full = self.full.is_some_and(|full| full > Instant::now());
        self.refusal().or_else(|| is_full.then_some(FULL))
    }

    /// The newest version of a live row.
    pub(super) fn newest(&self) -> u64 {
        let live = self.rows.values().map(KeptRow::version).filter(|version| !version.deleted && !version.evicted());
        live.map(|version| version.res_version).max().unwrap_or_default()
    }
}

impl World {
    /// The time by the database's clock.
    pub(super) fn database_time(&self) -> Micros {
        Micros(self.micros() + self.database.clock)
    }

    /// Purges rows of objects that were deleted long ago, by the clock of the requesting ingester.
    pub(super) fn purge(&mut self, who: &str, now: Micros) {
        if !self.database.purges {
            return;
        }
        let before = now.0 - i64::try_from(AGE.as_micros()).unwrap_or_default();
        let old =
            |kept: &&KeptRow| kept.row.evict_time.is_none() && kept.row.delete_time.is_some_and(|time| time.0 < before);
        let old: Vec<KeptRow> = self.database.rows.values().filter(old).cloned().collect();
        for kept in old {
            let uid = &kept.row.uid;
            self.note(who, &format!("purged: {}", kept.told()));
            let age = self.database.marked.get(uid).map_or(AGE, Instant::elapsed);
            // A writer takes the time before its write, which may be delayed.
            if age < LEAST_AGE && !self.database.by_hand.contains(uid) {
                self.violate(format!("no row is purged before its time: {} after {age:?}", kept.told()));
            }
            self.database.forget(uid);
        }
    }

    /// Lets another database take over.
    pub(super) fn fail_over(&mut self, Replica { rows, rejects, marked, marks, latest, restores }: Replica) {
        self.database.marks = marks;
        self.database.latest = latest;
        self.database.restores = restores;
        let state = |rows: &BTreeMap<Box<str>, KeptRow>, uid: &str| rows.get(uid).map(|kept| kept.row.clone());
        let uids: BTreeSet<Box<str>> = self.database.rows.keys().chain(rows.keys()).cloned().collect();
        for uid in uids {
            if state(&self.database.rows, &uid) != state(&rows, &uid) {
                let told = rows.get(&uid).map_or_else(|| "no row".to_owned(), KeptRow::told);
                self.note("world", &format!("the other database has of {uid}: {told}"));
                self.copies.forget(&uid);
                let evicted = |row: Option<StoredRow>| row.is_some_and(|row| row.eviction != Eviction::None);
                if evicted(state(&self.database.rows, &uid)) && !evicted(state(&rows, &uid)) {
                    self.database.lost_evictions.insert(uid.clone());
                }
                self.database.by_hand.insert(uid);
            }
        }
        (self.database.rows, self.database.rejects, self.database.marked) = (rows, rejects, marked);
        let uids: Vec<Box<str>> = self.database.rows.keys().cloned().collect();
        uids.iter().for_each(|uid| self.confirmed(uid));
        self.database.moves.retain(|of_one| !of_one.is_closed());
        self.database.moves.iter().for_each(|of_one| of_one.send_modify(|moves| *moves += 1));
    }

    pub(super) fn write(&mut self, who: &str, changes: Vec<RowChange>) -> Report {
        let mut report = Report::default();
        for change in changes {
            let uid: Box<str> = change.uid().into();
            let old = self.database.rows.get(&uid).cloned();
            let stored = old.as_ref().map(KeptRow::version);
            if let RowChange::Row(row) | RowChange::Replacement { row, .. } = &change
                && matches!(&row.values[base::JSON], Value::Text(json) if json.contains(Flavour::Refused.as_str()))
            {
                let reason = "the database refuses it".to_owned();
                self.note(who, &format!("refused: {uid} v{}", row.res_version));
                report.rejected.push(RejectedObject { uid, reason });
                continue;
            }
            let verdict = match (&change, stored) {
                (RowChange::Tombstone { .. }, None) => Verdict::Unchanged,
                (_, None) => Verdict::Write,
                (RowChange::Row(row), Some(stored)) => verdict(stored, row.version()),
                (RowChange::Replacement { row, seen }, Some(stored)) => verdict_over(stored, *seen, row.version()),
                (RowChange::Tombstone { res_version, .. }, Some(stored)) => verdict_of_tombstone(stored, *res_version),
            };
            self.database.rejects.remove(&uid);
            match verdict {
                Verdict::Unchanged => report.unchanged += 1,
                Verdict::Stale => {
                    let told = old.as_ref().map(KeptRow::told).unwrap_or_default();
                    self.note(who, &format!("stale: {} (stored: {told})", told_change(&change)));
                    report.stale.push(uid);
                }
                Verdict::Confirm => {
                    report.written += 1;
                    self.note(who, &format!("confirmed: {}", told_change(&change)));
                    if let Some(kept) = self.database.rows.get_mut(&uid) {
                        kept.row.eviction = Eviction::Confirmed;
                    }
                    self.confirmed(&uid);
                }
                Verdict::Mark => {
                    report.written += 1;
                    self.note(who, &format!("marked: {}", told_change(&change)));
                    self.mark(&change, old);
                }
                Verdict::Write => {
                    report.written += 1;
                    self.note(who, &format!("row: {}", told_change(&change)));
                    let origin = change_origin(&change).filter(|_| old.is_none());
                    self.keep(change, old);
                    if let Some(origin) = origin {
                        // In the same transaction.
                        self.end_restore(who, &origin);
                    }
                }
            }
        }
        report
    }

    /// Marks a row of a later definition as deleted.
    fn mark(&mut self, change: &RowChange, old: Option<KeptRow>) {
        if let (
            RowChange::Row(Row { delete_time, .. }) | RowChange::Replacement { row: Row { delete_time, .. }, .. },
            Some(old),
        ) = (change, old)
        {
            let row = StoredRow { delete_time: *delete_time, ..old.row.clone() };
            checks::before_row(self, Some(&old), &row);
            self.before_overwrite(&old, &row);
            self.store(row, Some(old));
        }
    }

    /// Decides whether rows that the filter of a kind leaves out may be marked as deleted.
    pub(super) fn judge_left_out(&mut self, who: &str, kind: Kind, fuse: Option<&Fuse>) -> FilterVerdict {
        let rows = self.database.rows.values().filter(|kept| !kept.version().deleted && !kept.version().evicted());
        let is_out = |kept: &&KeptRow| leaves_out(&kind, read_text(&kept.row, base::JSON)) == Ok(true);
        let found = LeftOutCount { rows: rows.clone().filter(is_out).count() as u64, live: rows.count() as u64 };
        let verdict = FilterVerdict::new(found, fuse);
        self.note(who, &format!("the filter: {verdict:?}"));
        self.filter_marks |= verdict.marks();
        verdict
    }

    /// Gives rows of older definitions the columns of this one.
    pub(super) fn backfill(&mut self, who: &str, kind: Kind) {
        let older: Vec<KeptRow> =
            self.database.rows.values().filter(|kept| kind.is_older(kept.row.ingest_version)).cloned().collect();
        let limit = if self.calm { CALM_FILTER_LIMIT } else { FILTER_LIMIT };
        let fuse = Fuse { limit, namespaces: Vec::new() };
        let marks = kind.filtered() && !older.is_empty() && self.judge_left_out(who, kind, Some(&fuse)).marks();
        for old in older {
            let object = Object::parse(read_text(&old.row, base::JSON), ManagedFields::Keep);
            let Ok(row) = object.map_err(drop).and_then(|object| kind.row(&object).map_err(drop)) else { continue };
            let is_left_out = row.is_none() && !old.version().deleted && !old.version().evicted();
            if is_left_out && kind.filtered() && !marks {
                continue;
            }
            self.note(who, &format!("backfilled: {}", old.told()));
            let mut new = old.row.clone();
            if let Some(row) = row {
                let first = kind.table().columns.len() - kind.table().indexed().len();
                new.values[first..].clone_from_slice(&row.values[first..]);
            }
            new.ingest_version = kind.ingest_version();
            new.values[base::INGEST_VERSION] = Value::UInt(new.ingest_version.into());
            if is_left_out && marks {
                new.delete_time = Some(self.database_time());
                checks::before_row(self, Some(&old), &new);
                self.store(new, Some(old));
                continue;
            }
            if let Some(kept) = self.database.rows.get_mut(&old.row.uid) {
                kept.row = new;
            }
        }
    }

    fn keep(&mut self, change: RowChange, old: Option<KeptRow>) {
        let row = match change {
            RowChange::Row(row) | RowChange::Replacement { row, .. } => {
                let eviction = row.eviction();
                let Row {
                    uid,
                    res_version,
                    ingest_version,
                    delete_time,
                    evict_time,
                    values,
                    labels,
                    annotations,
                    many,
                    ..
                } = row;
                // A writer does not change columns that it does not know.
                let mut values = values.into_vec();
                let known = values.len();
                values.resize(NEWER.table().columns.len(), Value::Null);
                if let Some(old) = &old {
                    values[known..].clone_from_slice(&old.row.values[known..]);
                }
                let values = values.into();
                // A tombstone keeps its time.
                let delete_time =
                    delete_time.map(|new| old.as_ref().and_then(|old| old.row.delete_time).unwrap_or(new));
                StoredRow {
                    uid,
                    res_version,
                    ingest_version,
                    delete_time,
                    evict_time,
                    eviction,
                    values,
                    labels,
                    annotations,
                    many,
                }
            }
            RowChange::Tombstone { res_version, delete_time, .. } => {
                let Some(KeptRow { mut row, .. }) = old.clone() else { return };
                row.res_version = res_version;
                row.values[base::RES_VERSION] = Value::UInt(res_version);
                row.delete_time = Some(delete_time);
                row
            }
        };
        checks::before_row(self, old.as_ref(), &row);
        if let Some(old) = &old {
            self.before_overwrite(old, &row);
        }
        self.store(row, old);
    }

    pub(super) fn store(&mut self, row: StoredRow, old: Option<KeptRow>) {
        let uid = row.uid.clone();
        let was = old.as_ref().is_some_and(|old| old.row.delete_time.is_some());
        if row.delete_time.is_none() {
            self.database.marked.remove(&uid);
        } else if !was {
            self.database.marked.insert(uid.clone(), Instant::now());
        }
        let kept = KeptRow { since: Instant::now(), before: old.map(|old| old.row), row };
        if kept.version().deleted || kept.version().evicted() {
            self.truth.record_stored(&uid, kept.row.res_version);
        }
        self.database.rows.insert(uid.clone(), kept);
        self.confirmed(&uid);
    }

    /// Changes a row by hand, but no row that an object's life depends on.
    pub(super) fn change_by_hand(&mut self) {
        let uids: Vec<Box<str>> = self
            .database
            .rows
            .values()
            .filter(|kept| !kept.version().evicted())
            .map(|kept| kept.row.uid.clone())
            .collect();
        if uids.is_empty() {
            return;
        }
        let uid = uids[self.rng.usize(..uids.len())].clone();
        let Some(old) = self.database.rows.get(&uid).cloned() else { return };
        self.database.by_hand.insert(uid.clone());
        match self.rng.u32(..4) {
            0 => {
                self.note("hand", &format!("row removed: {}", old.told()));
                self.database.rows.remove(&uid);
            }
            1 => {
                self.note("hand", &format!("marked as deleted: {}", old.told()));
                let row = StoredRow { delete_time: Some(self.database_time()), ..old.row.clone() };
                self.store(row, Some(old));
            }
            2 => {
                // The columns of a tombstone may come from an earlier version. If it were live again, it would hold values that no version
                // has.
                if old.row.delete_time.is_some() && !is_whole(&old.row) {
                    return;
                }
                self.note("hand", &format!("delete_time taken away: {}", old.told()));
                self.store(StoredRow { delete_time: None, ..old.row.clone() }, Some(old));
            }
            _ => {
                let Some(before) = old.before.clone().filter(|before| before.evict_time.is_none()) else { return };
                self.note("hand", &format!("put back to v{}: {}", before.res_version, old.told()));
                self.store(before, Some(old));
            }
        }
    }
}

/// The restore that created the object of a row.
fn change_origin(change: &RowChange) -> Option<Origin> {
    match change {
        RowChange::Row(row) | RowChange::Replacement { row, .. } => row.origin.as_deref().cloned(),
        RowChange::Tombstone { .. } => None,
    }
}

pub(super) fn told_change(change: &RowChange) -> String {
    let row = |row: &Row| {
        let version = row.version();
        let res_version = version.res_version;
        let deleted = version.deleted;
        let evicted = version.evicted();
        format!(
            "{} v{res_version}{}{}",
            row.uid,
            if deleted { " deleted" } else { "" },
            if evicted { " evicted" } else { "" }
        )
    };
    match change {
        RowChange::Row(new) => row(new),
        RowChange::Replacement { row: new, seen } => format!("{} instead of v{}", row(new), seen.res_version),
        RowChange::Tombstone { uid, res_version, .. } => format!("{uid} gone at v{res_version}"),
    }
}
