//! The requests of an ingester to the database's model.

use super::api_server::is_of;
use super::checks;
use super::database::{Database, FULL, KeptReject, KeptRow, read_text, told_change};
use super::kinds::MODEL;
use super::policies::is_live;
use super::things::FakeObject;
use super::world::{Client, Service, World};
use crate::clock::Clock as _;
use crate::identity::judge;
use crate::policies::{Candidate, PolicyError, WeighBounds, WeighedCandidates};
use crate::rows::{Names, Rows};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_config::EvictionRule;
use ingester_core::object::owner_uids;
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_store::fuse::{Account, Fuse, Sweep, others};
use ingester_store::guard::{Eviction, Version};
use ingester_store::left_out::FilterVerdict;
use ingester_store::{
    EvictedRows, LiveRow, LostEviction, Premise, Reject, RejectedObject, Report, RowChange, StoreError, StoredRow,
};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The pause after a backfill before the next search for rows of older definitions.
const BACKFILL: Duration = Duration::from_secs(60);

/// The work that errors name while the disk of the database is full.
const ON_FULL_DISK: &str = "writing to a full disk";

/// The pause between two purges.
const RETENTION_PAUSE: Duration = Duration::from_secs(10);

impl Client {
    /// Backfills in a loop, as the program does concurrently with the mirror.
    pub(super) async fn backfill(self) {
        loop {
            let kind = self.kind;
            let who = self.name();
            drop(self.change("backfill", String::new(), move |world| world.backfill(&who, kind)).await);
            tokio::time::sleep(BACKFILL).await;
        }
    }

    /// Returns true if the database may be used for the cluster; an error if one of the two does not answer.
    pub(super) async fn is_own_database(&self) -> Result<bool, ()> {
        let found = self.request(Service::ApiServer, "identity".into(), |world| world.cluster()).await.map_err(drop)?;
        let claimed = found.clone();
        let claim = |world: &mut World| world.database.cluster.get_or_insert(claimed).clone();
        let recorded = self.query("claim", String::new(), claim).await.map_err(drop)?;
        let own = judge(recorded, found).is_ok();
        self.sim.world().ingesters[self.ingester].identified = own;
        Ok(own)
    }

    /// Creates the tables, or changes them to the tables of this release.
    pub(super) async fn make_tables(&self) {
        while self.change("tables", String::new(), |_| ()).await.is_err() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Records the definition of this release, unless a later one is recorded.
    pub(super) async fn record_definition(&self) {
        let more = self.sim.world().more;
        if !more.rules && !more.policies {
            return;
        }
        let own = self.kind.ingest_version();
        let record = || {
            self.change("definition", String::new(), move |world| {
                world.database.latest = world.database.latest.max(own)
            })
        };
        while record().await.is_err() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Purges rows in a loop, as the program does concurrently with the mirror.
    pub(super) async fn retain(self) {
        loop {
            tokio::time::sleep(RETENTION_PAUSE).await;
            let who = self.name();
            let now = self.now();
            drop(self.change("purge", String::new(), move |world| world.purge(&who, now)).await);
        }
    }

    /// A query that changes something.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        doing: &str,
        key: String,
        effect: impl FnOnce(&mut World) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        {
            let mut world = self.sim.world();
            if !world.ingesters[self.ingester].identified {
                let who = self.name();
                let what = "nothing is written before the database is known to be the right one";
                world.violate(format!("{what}: {who}, {doing} {key}"));
            }
        }
        self.sim.report();
        self.ask_database(doing, key, |database| database.refusal_of_changes(), effect).await
    }

    pub(super) async fn query<T: Send + 'static>(
        &self,
        doing: &str,
        key: String,
        effect: impl FnOnce(&mut World) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask_database(doing, key, |database| database.refusal(), effect).await
    }

    /// Asks the database, unless it refuses with a code.
    async fn ask_database<T: Send + 'static>(
        &self,
        doing: &str,
        key: String,
        refusal: fn(&Database) -> Option<u16>,
        effect: impl FnOnce(&mut World) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let answer = self.request(Service::Database, format!("{doing} {key}"), move |world| {
            refusal(&world.database).map_or_else(|| Ok(effect(world)), Err)
        });
        answer.await.map_err(|code| match code {
            FULL => StoreError::silent(ON_FULL_DISK, Duration::ZERO),
            _ => StoreError::silent(doing, Duration::ZERO),
        })
    }
}

/// The object of a change, and its version.
fn version_of(change: &RowChange) -> (Box<str>, u64) {
    let version = match change {
        RowChange::Row(row) | RowChange::Replacement { row, .. } => row.res_version,
        RowChange::Tombstone { res_version, .. } => *res_version,
    };
    (change.uid().into(), version)
}

/// The uids of an object's owners.
pub(super) fn owners_of(text: &str) -> Vec<Box<str>> {
    owner_uids(text).unwrap_or_default()
}

fn owned(uids: &[&str]) -> Vec<String> {
    uids.iter().map(|uid| (*uid).to_owned()).collect()
}

impl Rows for Client {
    fn write<'a>(&'a self, changes: &'a [RowChange]) -> BoxFuture<'a, Result<Report, StoreError>> {
        async move {
            if !self.unit.is_empty() {
                self.sim.world().works(self.ingester, &self.unit);
                self.sim.report();
            }
            let changes = changes.to_vec();
            let who = self.name();
            let member = self.ingester;
            let sent = Instant::now();
            let key = changes.iter().map(told_change).collect::<Vec<_>>().join(", ");
            let report = self.change("write", key, move |world| {
                if world.shards.is_some() {
                    world.sent(member, &changes);
                }
                let versions: Vec<(Box<str>, u64)> = changes.iter().map(version_of).collect();
                world.server.again.written(member, sent, versions.iter().map(|(uid, version)| (&**uid, *version)));
                let report = world.write(&who, changes);
                let things: Vec<&FakeObject> =
                    world.server.things.values().filter(|thing| thing.needs_nothing()).collect();
                let names = things.iter().filter(|thing| report.stale.iter().any(|uid| **uid == *thing.uid));
                let names: Vec<String> = names.map(|thing| thing.name.clone()).collect();
                (report, names)
            });
            let (report, names) = report.await?;
            names.iter().for_each(|name| self.stale(&format!("look {name}")));
            Ok(report)
        }
        .boxed()
    }

    fn versions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<HashMap<Box<str>, Version>, StoreError>> {
        async move {
            let uids = owned(uids);
            let versions = self.query("versions", uids.join(" "), move |world| {
                let kept = uids.iter().filter_map(|uid| world.database.rows.get(uid.as_str()));
                kept.map(|kept| (kept.row.uid.clone(), kept.version())).collect()
            });
            versions.await
        }
        .boxed()
    }

    fn read_stored<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<StoredRow>, StoreError>> {
        async move {
            let uids = owned(uids);
            let columns = self.kind.table().columns.len();
            let seen =
                move |kept: &KeptRow| StoredRow { values: kept.row.values[..columns].into(), ..kept.row.clone() };
            let stored = self.query("stored", uids.join(" "), move |world| {
                uids.iter().filter_map(|uid| world.database.rows.get(uid.as_str())).map(seen).collect()
            });
            stored.await
        }
        .boxed()
    }

    fn live<'a>(
        &'a self,
        evicted: EvictedRows,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LiveRow>, StoreError>> {
        async move {
            let (after, namespace): (Box<str>, _) = (after.into(), self.namespace);
            let live = self.query("live", after.to_string(), move |world| {
                let after = (std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded);
                let rows = world.database.rows.range(after).map(|(_, kept)| kept);
                let rows = rows.filter(|kept| is_of(namespace, read_text(&kept.row, base::NAMESPACE)));
                let wanted =
                    |kept: &&KeptRow| evicted == EvictedRows::Included || kept.row.eviction != Eviction::Confirmed;
                let live = rows.filter(|kept| kept.row.delete_time.is_none()).filter(wanted);
                live.take(limit)
                    .map(|kept| LiveRow {
                        uid: kept.row.uid.clone(),
                        res_version: kept.row.res_version,
                        ingest_version: kept.row.ingest_version,
                        eviction: kept.row.eviction,
                    })
                    .collect()
            });
            live.await
        }
        .boxed()
    }

    fn names<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Names>, StoreError>> {
        async move {
            let uids = owned(uids);
            let names = self.query("names", uids.join(" "), move |world| {
                checks::before_sweep(world, &uids);
                let kept = uids.iter().filter_map(|uid| world.database.rows.get(uid.as_str()));
                kept.map(|kept| {
                    (kept.row.uid.clone(), read_text(&kept.row, base::NAMESPACE).into(), kept.name().into())
                })
                .collect()
            });
            names.await
        }
        .boxed()
    }

    fn forget_rejects<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let uids = owned(uids);
            let who = self.name();
            let forgotten = self.change("forget rejects", uids.join(" "), move |world| {
                for uid in uids {
                    world.note(&who, &format!("reject forgotten: {uid}"));
                    world.database.rejects.remove(uid.as_str());
                }
            });
            forgotten.await
        }
        .boxed()
    }

    fn record_rejects<'a>(&'a self, rejects: &'a [Reject]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let rejects = rejects.to_vec();
            let who = self.name();
            let key = rejects.iter().map(|reject| reject.uid.clone()).collect::<Vec<_>>().join(" ");
            let recorded = self.change("record rejects", key, move |world| {
                for Reject { uid, namespace, res_version, reason, .. } in rejects {
                    world.note(&who, &format!("reject: {uid} v{res_version}: {reason}"));
                    world.database.rejects.insert(uid.into(), KeptReject { namespace, reason });
                }
            });
            recorded.await
        }
        .boxed()
    }

    fn rejects(&self) -> BoxFuture<'_, Result<Vec<RejectedObject>, StoreError>> {
        async move {
            let namespace = self.namespace;
            let rejects = self.query("rejects", MODEL.api_version(), move |world| {
                let rejects = world.database.rejects.iter().filter(|(_, kept)| is_of(namespace, &kept.namespace));
                rejects.map(|(uid, kept)| RejectedObject { uid: uid.clone(), reason: kept.reason.clone() }).collect()
            });
            rejects.await
        }
        .boxed()
    }

    fn ask_to_sweep<'a>(
        &'a self,
        unit: &'a str,
        gone: u64,
        fuse: &'a Fuse,
    ) -> BoxFuture<'a, Result<Sweep, StoreError>> {
        async move {
            let unit = unit.to_owned();
            let fuse = fuse.clone();
            let asked = self.change("ask to sweep", format!("{unit} {gone}"), move |world| {
                let now = Micros(world.micros());
                let before = world.database.accounts.get(&unit).cloned().unwrap_or_default();
                world.database.accounts.insert(unit.clone(), before.clone().wanting(gone, now));
                let accounts = world.database.accounts.iter().filter(|(name, _)| **name != unit);
                let of_others: Vec<Account> = accounts.map(|(_, account)| account.clone()).collect();
                let gone = if gone > 0 { gone + others(&before, &of_others, now) } else { 0 };
                let rows = world.database.rows.values();
                let live = rows.filter(|kept| !kept.version().deleted && !kept.version().evicted()).count() as u64;
                if fuse.refuses(gone, live) { Sweep::Refused { gone, live } } else { Sweep::Allowed }
            });
            asked.await
        }
        .boxed()
    }

    fn count_swept<'a>(&'a self, unit: &'a str, rows: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let unit = unit.to_owned();
            let counted = self.change("count swept", format!("{unit} {rows}"), move |world| {
                let now = Micros(world.micros());
                let account = world.database.accounts.remove(&unit).unwrap_or_default();
                world.database.accounts.insert(unit, account.marking(rows, now));
            });
            counted.await
        }
        .boxed()
    }

    fn judge_left_out<'a>(&'a self, fuse: Option<&'a Fuse>) -> BoxFuture<'a, Result<FilterVerdict, StoreError>> {
        async move {
            let who = self.name();
            let kind = self.kind;
            let fuse = fuse.cloned();
            let judge = move |world: &mut World| world.judge_left_out(&who, kind, fuse.as_ref());
            self.query("judge left out", String::new(), judge).await
        }
        .boxed()
    }

    fn candidates<'a>(&'a self, rule: &'a EvictionRule) -> BoxFuture<'a, Result<Vec<Candidate>, PolicyError>> {
        async move {
            let last = rule.condition.keep_last.as_ref().map_or(0, |keep| keep.count);
            let kind = self.kind;
            let snapshot =
                self.query("candidates", rule.name.clone(), move |world| world.candidates(&kind, last)).await?;
            Ok(snapshot)
        }
        .boxed()
    }

    fn premise<'a>(&'a self, _: &'a [EvictionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>> {
        async move {
            let kind = self.kind;
            Ok(self.query("premise", "live".into(), move |world| world.premise_of_live(&kind)).await?)
        }
        .boxed()
    }

    fn pending<'a>(&'a self, rule: &'a EvictionRule, premise: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>> {
        let premise = premise.clone();
        let count = move |world: &mut World| world.count_pending(is_live, &premise);
        async move { Ok(self.query("pending", rule.name.clone(), count).await?) }.boxed()
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

    fn weigh<'a>(
        &'a self,
        leaving: &'a [Candidate],
        bounds: WeighBounds<'a>,
    ) -> BoxFuture<'a, Result<WeighedCandidates, PolicyError>> {
        let WeighBounds { most, premise, dependents, .. } = bounds;
        let leaving = leaving.to_vec();
        let premise = premise.clone();
        let dependents = dependents.clone();
        let kind = self.kind;
        let has_dependents = self.sim.world().more.dependents;
        let key = leaving.iter().map(|candidate| candidate.uid.to_string()).collect::<Vec<_>>().join(" ");
        async move {
            let asker = self.asker();
            let sent = Instant::now();
            let weigh = move |world: &mut World| {
                let mut proved = world.proved(&kind, &premise, leaving);
                if has_dependents {
                    return world.weigh(&proved, most, &dependents, asker, sent);
                }
                // Without dependents nothing hinders.
                proved.truncate(most);
                WeighedCandidates { free: proved, ..WeighedCandidates::default() }
            };
            let weighed = self.query("weigh", key, weigh).await?;
            self.sim.report();
            Ok(weighed)
        }
        .boxed()
    }

    fn evicted_lately<'a>(&'a self, unit: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        async move {
            // There are never more objects than the limit.
            self.query("evicted lately", unit.to_owned(), |_| 0).await
        }
        .boxed()
    }

    fn count_evicted<'a>(&'a self, unit: &'a str, objects: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        async move { self.change("count evicted", format!("{unit} {objects}"), |_| ()).await }.boxed()
    }

    fn uncount_evicted<'a>(&'a self, unit: &'a str, objects: u64, _: Micros) -> BoxFuture<'a, Result<(), StoreError>> {
        async move { self.change("uncount evicted", format!("{unit} {objects}"), |_| ()).await }.boxed()
    }

    /// Answer at once: a request would draw random numbers, and change every history that is kept.
    fn lost_evictions(&self) -> BoxFuture<'_, Result<Vec<LostEviction>, StoreError>> {
        async move {
            let world = self.sim.world();
            let recorded = world.database.recorded_as_lost.values();
            Ok(recorded.filter(|lost| is_of(self.namespace, &lost.namespace)).cloned().collect())
        }
        .boxed()
    }

    fn record_lost_evictions<'a>(&'a self, lost: &'a [LostEviction]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let entries = lost.iter().map(|lost| (lost.uid.clone(), lost.clone()));
            self.sim.world().database.recorded_as_lost.extend(entries);
            Ok(())
        }
        .boxed()
    }

    fn forget_lost_evictions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let mut world = self.sim.world();
            uids.iter().for_each(|uid| drop(world.database.recorded_as_lost.remove(*uid)));
            Ok(())
        }
        .boxed()
    }

    fn moves(&self) -> watch::Receiver<u64> {
        // Use one channel for each, because a channel wakes several receivers in an unspecified order, and a seed must give one history.
        let (sender, moves) = watch::channel(0);
        self.sim.world().database.moves.push(sender);
        moves
    }

    fn clustered_pool(&self) -> Option<u64> {
        self.sim.world().more.spools.then_some(0)
    }
}
