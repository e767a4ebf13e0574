//! The rules by which rows of evicted objects leave the database in some seeds, and the invariants of purged rows.

use super::database::{KeptRow, read_text};
use super::kinds::NEWER;
use super::only_copy::content;
use super::policies::{candidate, place_of_done, premise};
use super::things::is_done;
use super::world::{Client, World};
use crate::policies::{PolicyError, age};
use crate::retention::{CoveredRow, CoveredRows, Portion, RetainedRows, RowSelection, apply};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_config::{Condition, KeepLast, RetainedState, RetentionRule};
use ingester_core::Kind;
use ingester_core::row::Standing;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_store::guard::Eviction;
use ingester_store::marks::{Mark, MarkingRule, text_hash};
use ingester_store::{ExportError, Premise, PurgeTerms, StoreError, StoredRow};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

/// A row may go this long after its eviction.
const AFTER: Duration = Duration::from_secs(30);

/// The row of an object that is done may go this long after its eviction: another rule keeps it longer.
const LONGER: Duration = Duration::from_secs(90);

/// The number of rows that stay.
const LAST: usize = 1;

/// The time that a marked row stays.
const GRACE: Duration = Duration::from_secs(20);

/// The pause between two rounds.
const PAUSE: Duration = Duration::from_secs(7);

/// The name of the rule about objects that are done.
const DONE: &str = "done";

/// The results of snapshots.
#[derive(Default)]
pub(super) struct SnapshotResults {
    /// The rows that were not among the last ones of some snapshot.
    beyond: BTreeSet<Box<str>>,
    /// Rows that rules met while they could not judge them.
    pub(super) pending: BTreeSet<Box<str>>,
}

/// The rules of a seed.
pub(super) fn rules(enforce: bool) -> Vec<RetentionRule> {
    let rule = |name: &str, after, last: Option<usize>| RetentionRule {
        name: name.into(),
        kinds: vec!["Model".into()],
        state: RetainedState::Evicted,
        immutable: false,
        export: None,
        condition: Condition {
            after: Some(after),
            since: Some(RetainedState::Evicted.since().into()),
            keep_last: last.map(|count| KeepLast { count, by: Vec::new() }),
            ..Condition::default()
        },
        enforce,
    };
    vec![rule("all", AFTER, Some(LAST)), rule(DONE, LONGER, None)]
}

fn standing(kept: &KeptRow) -> Standing {
    Standing { version: kept.version(), delete_time: kept.row.delete_time, evict_time: kept.row.evict_time }
}

/// The rows that the rules cover.
fn confirmed(world: &World) -> impl Iterator<Item = &KeptRow> {
    world.database.rows.values().filter(|kept| is_confirmed(kept))
}

fn is_confirmed(kept: &KeptRow) -> bool {
    kept.row.eviction == Eviction::Confirmed
}

fn covered(kept: &KeptRow) -> CoveredRow {
    let mut candidate = candidate(kept);
    candidate.since = kept.row.evict_time;
    candidate.takes_place = kept.row.delete_time.is_none();
    CoveredRow { candidate, standing: standing(kept) }
}

/// Returns the owner in the text of a row's object, whatever the columns say.
fn owner_in_text(kept: &KeptRow) -> String {
    let object: serde_json::Value = serde_json::from_str(read_text(&kept.row, base::JSON)).unwrap_or_default();
    object["spec"]["owner"].as_str().unwrap_or_default().to_owned()
}

impl Client {
    /// Applies the rules in a loop, as the program does concurrently with the mirror.
    pub(super) async fn apply_rules(self) {
        let enforce = !self.sim.world().more.dry;
        loop {
            tokio::time::sleep(PAUSE).await;
            apply(&self, RetainedState::Evicted, rules(enforce), GRACE).await;
        }
    }
}

impl CoveredRows for Client {
    fn premise<'a>(&'a self, _: &'a [RetentionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>> {
        async move {
            let kind = self.kind;
            Ok(self.query("premise", String::new(), move |world| premise(&kind, world.database.latest)).await?)
        }
        .boxed()
    }

    fn covered<'a>(
        &'a self,
        rule: &'a RetentionRule,
        which: RowSelection<'a>,
    ) -> BoxFuture<'a, Result<Portion, PolicyError>> {
        async move {
            let kind = self.kind;
            let only_done = rule.name == DONE;
            let is_meant = move |kept: &KeptRow| !only_done || is_done(read_text(&kept.row, place_of_done(&kind)));
            let all = matches!(which, RowSelection::All);
            // A round asks about the same rule in several ways, whatever the results of the others are.
            let (until, uids, way) = match which {
                RowSelection::Page { until, .. } => (until, None, "page"),
                RowSelection::These(uids) => {
                    (None, Some(uids.iter().map(|uid| Box::from(*uid)).collect::<HashSet<Box<str>>>()), "these")
                }
                RowSelection::All => (None, None, "all"),
            };
            let rows = self.query("covered", format!("{} {way}", rule.name), move |world| {
                let is_asked = |row: &CoveredRow| {
                    uids.as_ref().is_none_or(|uids| uids.contains(&row.candidate.uid))
                        && until.is_none_or(|until| row.candidate.since.is_some_and(|since| since <= until))
                };
                let rows: Vec<CoveredRow> =
                    confirmed(world).filter(|kept| is_meant(kept)).map(covered).filter(is_asked).collect();
                if all {
                    world.look_at(&kind, &rows);
                }
                rows
            });
            Ok(Portion { rows: rows.await?, next: None })
        }
        .boxed()
    }

    fn unproved<'a>(
        &'a self,
        uids: &'a [Box<str>],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, PolicyError>> {
        let kind = self.kind;
        let premise = premise.clone();
        let uids: Vec<String> = uids.iter().map(|uid| uid.to_string()).collect();
        let key = uids.join(" ");
        async move { Ok(self.query("unproved", key, move |world| world.unproved(&kind, &premise, &uids)).await?) }
            .boxed()
    }

    fn pending<'a>(&'a self, rule: &'a RetentionRule, premise: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>> {
        let premise = premise.clone();
        let count = move |world: &mut World| world.count_pending(is_confirmed, &premise);
        async move { Ok(self.query("pending", format!("rows {}", rule.name), count).await?) }.boxed()
    }
}

impl RetainedRows for Client {
    fn now(&self) -> BoxFuture<'_, Result<Micros, StoreError>> {
        self.query("clock", String::new(), |world| world.database_time()).boxed()
    }

    fn export<'a>(
        &'a self,
        _: &'a Path,
        rows: &'a [CoveredRow],
        _: &'a HashSet<Box<str>>,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, ExportError>> {
        async { Ok(rows.iter().map(|row| row.candidate.uid.clone()).collect()) }.boxed()
    }

    fn purge<'a>(
        &'a self,
        rows: &'a [CoveredRow],
        terms: PurgeTerms<'a>,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let who = self.name();
        let rows = rows.to_vec();
        let kind = self.kind;
        let key = key(&rows);
        let premise = terms.premise.clone();
        let marked = terms.marked.map(|(rule, before)| (rule.name.to_owned(), rule.fingerprint.to_string(), before));
        let purge = move |world: &mut World| {
            let is_due = |world: &World, uid: &str| match &marked {
                None => false,
                Some((rule, fingerprint, before)) => world.database.marks.get(uid).is_some_and(|mark| {
                    mark.rule == *rule && mark.fingerprint == *fingerprint && mark.mark_time <= *before
                }),
            };
            let mut purged = 0;
            for kept in world.still(&rows, &kind, &premise) {
                if is_due(world, &kept.row.uid) {
                    world.purge_judged(&who, &kept);
                    purged += 1;
                }
            }
            Some(purged)
        };
        async move { self.change("purge rows", key, purge).await }.boxed()
    }

    fn marks_of<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Mark>, StoreError>> {
        let uids: Vec<String> = uids.iter().map(|uid| (*uid).to_owned()).collect();
        let key = uids.join(" ");
        let read = move |world: &mut World| {
            uids.iter().filter_map(|uid| world.database.marks.get(uid.as_str()).cloned()).collect()
        };
        self.query("marks of rows", key, read).boxed()
    }

    fn marks_after<'a>(&'a self, last: Option<&'a Mark>) -> BoxFuture<'a, Result<Vec<Mark>, StoreError>> {
        let last = last.map_or_else(String::new, |mark| mark.uid.clone());
        let key = last.clone();
        let read = move |world: &mut World| {
            world.database.marks.values().filter(|mark| mark.uid > last).take(PAGE).cloned().collect()
        };
        self.query("marks", key, read).boxed()
    }

    fn mark<'a>(
        &'a self,
        rule: MarkingRule<'a>,
        rows: &'a [CoveredRow],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let who = self.name();
        let rows = rows.to_vec();
        let kind = self.kind;
        let premise = premise.clone();
        let fingerprint = rule.fingerprint.to_string();
        let rule = rule.name.to_owned();
        let key = key(&rows);
        let mark = move |world: &mut World| {
            let still = world.still(&rows, &kind, &premise);
            let free: Vec<KeptRow> =
                still.into_iter().filter(|kept| !world.database.marks.contains_key(&kept.row.uid)).collect();
            for kept in &free {
                world.mark_by_rule(&who, kept, (&rule, &fingerprint));
            }
            Some(free.len() as u64)
        };
        async move { self.change("mark rows", key, mark).await }.boxed()
    }

    fn withdraw<'a>(&'a self, marks: &'a [Mark]) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let who = self.name();
        let marks = marks.to_vec();
        let key = marks.iter().map(|mark| mark.uid.clone()).collect::<Vec<_>>().join(" ");
        let withdraw =
            move |world: &mut World| Some(marks.iter().filter(|mark| world.withdraw_mark(&who, mark)).count() as u64);
        async move { self.change("withdraw marks", key, withdraw).await }.boxed()
    }
}

/// Marks of a page.
const PAGE: usize = 8;

/// The key of a request about these rows.
fn key(rows: &[CoveredRow]) -> String {
    rows.iter().map(|row| row.candidate.uid.to_string()).collect::<Vec<_>>().join(" ")
}

impl World {
    /// A rule takes a snapshot of all rows that it covers.
    fn look_at(&mut self, kind: &Kind, rows: &[CoveredRow]) {
        let premise = premise(kind, self.database.latest);
        let counts = |row: &&CoveredRow| {
            row.candidate.takes_place && premise.refuses(row.standing.version.ingest_version).is_none()
        };
        for row in rows {
            let later = |other: &&CoveredRow| age(&other.candidate) > age(&row.candidate);
            if rows.iter().filter(counts).filter(later).count() >= LAST {
                self.judged.beyond.insert(row.candidate.uid.clone());
            }
        }
    }

    /// Returns the rows that have not changed and that the premise lets rules judge.
    fn still(&mut self, rows: &[CoveredRow], kind: &Kind, premise: &Premise) -> Vec<KeptRow> {
        let mut still = Vec::new();
        for row in rows {
            let uid = &row.candidate.uid;
            let Some(kept) = self.database.rows.get(uid).filter(|kept| standing(kept) == row.standing) else {
                continue;
            };
            // The store leaves it alone.
            if self.is_restoring(uid) {
                continue;
            }
            match premise.prove(kind, &kept.row) {
                Ok(_) => still.push(kept.clone()),
                Err(_) => {
                    self.judged.pending.insert(uid.clone());
                }
            }
        }
        still
    }

    /// A rule marks a row.
    fn mark_by_rule(&mut self, who: &str, kept: &KeptRow, (rule, fingerprint): (&str, &str)) {
        self.note(who, &format!("marked by a rule: {}", kept.told()));
        if self.more.dry {
            self.violate(format!("no evicted row is marked without a rule that is enforced: {}", kept.told()));
        }
        let now = self.database_time();
        let uid = kept.row.uid.clone();
        let mark = Mark {
            uid: uid.to_string(),
            rule: rule.to_owned(),
            fingerprint: fingerprint.to_owned(),
            text_hash: text_hash(kept.row.json()),
            mark_time: now,
            revert_time: None,
        };
        self.database.marks.insert(uid, mark);
        if kept.row.delete_time.is_none() {
            self.set_deletion(kept, Some(now));
        }
    }

    /// Takes a mark back. Returns true if its row lives again.
    fn withdraw_mark(&mut self, who: &str, mark: &Mark) -> bool {
        let uid = mark.uid.as_str();
        if self.database.marks.get(uid) != Some(mark) {
            return false;
        }
        self.database.marks.remove(uid);
        let kept = self.database.rows.get(uid).filter(|kept| kept.row.delete_time == Some(mark.mark_time)).cloned();
        let Some(kept) = kept else { return false };
        let is_namesake = |other: &KeptRow| {
            other.name() == kept.name() && other.row.uid != kept.row.uid && other.row.delete_time.is_none()
        };
        if self.database.rows.values().any(is_namesake) {
            return false;
        }
        self.note(who, &format!("mark taken back: {}", kept.told()));
        self.set_deletion(&kept, None);
        true
    }

    fn set_deletion(&mut self, kept: &KeptRow, delete_time: Option<Micros>) {
        let mut row = StoredRow { delete_time, ..kept.row.clone() };
        row.values[base::DELETE_TIME] = delete_time.map_or(Value::Null, Value::Time);
        self.copies.changed(&row.uid, content(&row));
        self.store(row, Some(kept.clone()));
    }

    /// Purges a row.
    fn purge_judged(&mut self, who: &str, kept: &KeptRow) {
        let uid = &kept.row.uid;
        self.note(who, &format!("purged by a rule: {}", kept.told()));
        self.before_purge(kept);
        self.ghosts_purged += usize::from(self.server.things.values().any(|thing| *thing.uid == **uid));
        self.copies.forget(uid);
        self.database.marks.remove(uid);
        self.database.forget(uid);
    }

    /// Checks the purge of a row by a rule.
    fn before_purge(&mut self, kept: &KeptRow) {
        let told = kept.told();
        let uid = &kept.row.uid;
        if self.more.dry {
            self.violate(format!("no evicted row is purged without a rule that is enforced: {told}"));
        }
        if kept.row.eviction != Eviction::Confirmed {
            self.violate(format!("no row is purged by a rule before its eviction is confirmed: {told}"));
        }
        if !self.judged.beyond.contains(uid) {
            self.violate(format!("the last rows of a snapshot stay: {told}"));
        }
        let now = self.database_time().0;
        let age = now - kept.row.evict_time.map_or(i64::MAX, |time| time.0);
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or_default();
        let least = if is_done(&owner_in_text(kept)) { LONGER } else { AFTER };
        if age < micros(least) {
            self.violate(format!("of two rules the longer time wins: {told} after {age} us"));
        }
        let mark = self.database.marks.get(uid);
        if mark.is_none_or(|mark| now - mark.mark_time.0 < micros(GRACE)) {
            self.violate(format!("the row of an evicted object goes after the grace of its mark: {told}"));
        }
    }

    /// Returns the work that enforced rules have left undone although there was time for everything.
    pub(super) fn unpurged(&self) -> Option<String> {
        let is_judged =
            self.ingesters.iter().any(|ingester| ingester.newer) || self.database.latest < NEWER.ingest_version();
        if !self.more.rules || self.more.dry || !is_judged {
            return None;
        }
        let premise = premise(&NEWER, self.database.latest);
        let due = self.database_time().0 - i64::try_from(2 * LONGER.as_micros()).unwrap_or_default();
        let rows: Vec<&KeptRow> = confirmed(self).collect();
        let is_provable = |kept: &KeptRow| premise.prove(&NEWER, &kept.row).is_ok();
        let is_last = |kept: &KeptRow| {
            let of = |kept: &KeptRow| (candidate(kept).created, kept.row.uid.clone());
            let counts = |other: &&&KeptRow| other.row.delete_time.is_none() && is_provable(other);
            rows.iter().filter(counts).filter(|other| of(other) > of(kept)).count() < LAST
        };
        let is_due = |kept: &KeptRow| kept.row.evict_time.is_some_and(|time| time.0 < due) && is_provable(kept);
        let left = rows.iter().find(|kept| is_due(kept) && !is_last(kept) && !self.is_restoring(&kept.row.uid));
        left.map(|kept| format!("what rules let go is purged: {} {}", kept.told(), read_text(&kept.row, base::NAME)))
    }
}
