//! The rules by which rows of evicted objects leave the database in some seeds, and what must hold for the purged rows.

use super::database::{KeptRow, text};
use super::policies::{candidate, owner};
use super::things::is_done;
use super::world::{Client, World};
use crate::config::{EvictRule, KeepLast, Retained, RetentionRule};
use crate::policies::{PolicyError, age};
use crate::retention::{Covered, CoveredRows, Portion, RetainedRows, Which, apply};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_core::row::Standing;
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_store::guard::Eviction;
use ingester_store::{ExportError, StoreError};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

/// How long after its eviction a row may go.
const AFTER: Duration = Duration::from_secs(30);

/// How long after it the row of an object that is done may go: another rule keeps it longer.
const LONGER: Duration = Duration::from_secs(90);

/// How many rows stay.
const LAST: usize = 1;

/// The pause between two rounds.
const PAUSE: Duration = Duration::from_secs(7);

/// The name of the rule about objects that are done.
const DONE: &str = "done";

/// The results of snapshots.
#[derive(Default)]
pub(super) struct Judged {
    /// The rows that were not among the last ones of some snapshot.
    beyond: BTreeSet<Box<str>>,
}

/// The rules of a seed.
pub(super) fn rules(enforce: bool) -> Vec<RetentionRule> {
    let rule = |name: &str, after, last: Option<usize>| RetentionRule {
        kinds: vec!["Model".into()],
        state: Retained::Evicted,
        immutable: false,
        export: None,
        rule: EvictRule {
            name: name.into(),
            after: Some(after),
            since: Some(Retained::Evicted.since().into()),
            keep_last: last.map(|count| KeepLast { count, by: Vec::new() }),
            enforce,
            ..EvictRule::default()
        },
    };
    vec![rule("all", AFTER, Some(LAST)), rule(DONE, LONGER, None)]
}

fn standing(kept: &KeptRow) -> Standing {
    Standing { version: kept.version(), delete_time: kept.row.delete_time, evict_time: kept.row.evict_time }
}

/// The rows that the rules cover.
fn confirmed(world: &World) -> impl Iterator<Item = &KeptRow> {
    world.database.rows.values().filter(|kept| kept.row.eviction == Eviction::Confirmed)
}

fn covered(kept: &KeptRow) -> Covered {
    let mut candidate = candidate(kept);
    candidate.since = kept.row.evict_time;
    Covered { candidate, standing: standing(kept) }
}

impl Client {
    /// Applies the rules again and again, as the program does beside the mirror.
    pub(super) async fn apply_rules(self) {
        let enforce = !self.sim.world().more.dry;
        loop {
            tokio::time::sleep(PAUSE).await;
            apply(&self, self.kind.name(), rules(enforce)).await;
        }
    }
}

impl CoveredRows for Client {
    fn covered<'a>(&'a self, rule: &'a RetentionRule, which: Which<'a>) -> BoxFuture<'a, Result<Portion, PolicyError>> {
        async move {
            let is_meant =
                if rule.rule.name == DONE { |kept: &KeptRow| is_done(owner(kept)) } else { |_: &KeptRow| true };
            let all = matches!(which, Which::All);
            // A round asks for the same rule in several ways, whatever came of the others.
            let (until, uids, way) = match which {
                Which::Page { until, .. } => (until, None, "page"),
                Which::These(uids) => {
                    (None, Some(uids.iter().map(|uid| Box::from(*uid)).collect::<HashSet<Box<str>>>()), "these")
                }
                Which::All => (None, None, "all"),
            };
            let rows = self.query("covered", format!("{} {way}", rule.rule.name), move |world| {
                let is_asked = |row: &Covered| {
                    uids.as_ref().is_none_or(|uids| uids.contains(&row.candidate.uid))
                        && until.is_none_or(|until| row.candidate.since.is_some_and(|since| since <= until))
                };
                let rows: Vec<Covered> =
                    confirmed(world).filter(|kept| is_meant(kept)).map(covered).filter(is_asked).collect();
                if all {
                    world.look_at(&rows);
                }
                rows
            });
            Ok(Portion { rows: rows.await?, next: None })
        }
        .boxed()
    }
}

impl RetainedRows for Client {
    fn now(&self) -> BoxFuture<'_, Result<Micros, StoreError>> {
        self.query("clock", String::new(), |world| world.database_time()).boxed()
    }

    fn export<'a>(&'a self, _: &'a Path, rows: &'a [Covered]) -> BoxFuture<'a, Result<HashSet<Box<str>>, ExportError>> {
        async { Ok(rows.iter().map(|row| row.candidate.uid.clone()).collect()) }.boxed()
    }

    fn purge<'a>(&'a self, rows: &'a [Covered]) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let (who, rows) = (self.name(), rows.to_vec());
        let key = rows.iter().map(|row| row.candidate.uid.to_string()).collect::<Vec<_>>().join(" ");
        async move { self.change("purge rows", key, move |world| Some(world.purge_judged(&who, &rows))).await }.boxed()
    }
}

impl World {
    /// A rule takes a snapshot of all rows that it covers.
    fn look_at(&mut self, rows: &[Covered]) {
        for row in rows {
            let later = rows.iter().filter(|other| age(&other.candidate) > age(&row.candidate)).count();
            if later >= LAST {
                self.judged.beyond.insert(row.candidate.uid.clone());
            }
        }
    }

    /// Purges those of these rows that have not changed. Returns how many.
    fn purge_judged(&mut self, who: &str, rows: &[Covered]) -> u64 {
        let mut purged = 0;
        for row in rows {
            let uid = &row.candidate.uid;
            let Some(kept) = self.database.rows.get(uid).filter(|kept| standing(kept) == row.standing).cloned() else {
                continue;
            };
            // The store leaves it alone.
            if self.is_restoring(uid) {
                continue;
            }
            self.note(who, &format!("purged by a rule: {}", kept.told()));
            self.before_purge(&kept);
            self.ghosts_purged += usize::from(self.server.things.values().any(|thing| *thing.uid == **uid));
            self.copies.forget(uid);
            self.database.forget(uid);
            purged += 1;
        }
        purged
    }

    /// Checks the purge of a row by a rule.
    fn before_purge(&mut self, kept: &KeptRow) {
        let (told, uid) = (kept.told(), &kept.row.uid);
        if self.more.dry {
            self.violate(format!("no evicted row is purged without a rule that is enforced: {told}"));
        }
        if kept.row.eviction != Eviction::Confirmed {
            self.violate(format!("no row is purged by a rule before its eviction is confirmed: {told}"));
        }
        if !self.judged.beyond.contains(uid) {
            self.violate(format!("the last rows of a snapshot stay: {told}"));
        }
        let age = self.database_time().0 - kept.row.evict_time.map_or(i64::MAX, |time| time.0);
        let least = if is_done(owner(kept)) { LONGER } else { AFTER };
        if age < i64::try_from(least.as_micros()).unwrap_or_default() {
            self.violate(format!("of two rules the longer time wins: {told} after {age} us"));
        }
    }

    /// What enforced rules have not done although there was time for everything.
    pub(super) fn unpurged(&self) -> Option<String> {
        if !self.more.rules || self.more.dry {
            return None;
        }
        let due = self.database_time().0 - i64::try_from(2 * LONGER.as_micros()).unwrap_or_default();
        let rows: Vec<&KeptRow> = confirmed(self).collect();
        let is_last = |kept: &KeptRow| {
            let of = |kept: &KeptRow| (candidate(kept).created, kept.row.uid.clone());
            rows.iter().filter(|other| of(other) > of(kept)).count() < LAST
        };
        let is_due = |kept: &KeptRow| kept.row.evict_time.is_some_and(|time| time.0 < due);
        let left = rows.iter().find(|kept| is_due(kept) && !is_last(kept) && !self.is_restoring(&kept.row.uid));
        left.map(|kept| format!("what rules let go is purged: {} {}", kept.told(), text(&kept.row, base::NAME)))
    }
}
