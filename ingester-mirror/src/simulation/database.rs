//! A model of the database: one table that all ingesters share, under the real guard.

use super::api_server::Thing;
use super::checks;
use super::kinds::{Flavour, MODEL, NEWER};
use super::world::{Client, Service, World};
use crate::identity::judge;
use crate::mistakes::{self, Mistake};
use crate::rows::{Names, Rows};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_store::guard::{self, Verdict, Version, verdict, verdict_of_tombstone, verdict_over};
use ingester_store::{Evicted, LiveRow, Reject, Rejected, Report, RowChange, StoreError, StoredRow};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// How long after a backfill rows of older definitions are looked for again.
const BACKFILL: Duration = Duration::from_secs(60);

/// A row, and when it was written.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) row: StoredRow,
    pub(super) since: Instant,
    before: Option<StoredRow>,
}

impl Kept {
    pub(super) fn version(&self) -> Version {
        version(&self.row)
    }

    fn name(&self) -> &str {
        text(&self.row, base::NAME)
    }

    pub(super) fn told(&self) -> String {
        let Version { res_version, deleted, evicted, .. } = self.version();
        let state = match (deleted, evicted) {
            (true, true) => "deleted and evicted",
            (true, false) => "deleted",
            (false, true) => "evicted",
            (false, false) => "live",
        };
        format!("{} v{res_version} {state}", self.row.uid)
    }
}

fn version(row: &StoredRow) -> Version {
    Version {
        res_version: row.res_version,
        ingest_version: row.ingest_version,
        deleted: row.delete_time.is_some(),
        evicted: row.evict_time.is_some(),
    }
}

fn text(row: &StoredRow, place: usize) -> &str {
    match row.values.get(place) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

#[derive(Default)]
pub(super) struct Database {
    pub(super) rows: BTreeMap<Box<str>, Kept>,
    /// The version and the reason of each object that could not be mirrored.
    pub(super) rejects: BTreeMap<Box<str>, (String, String)>,
    /// Nobody answers before this time.
    pub(super) down: Option<Instant>,
    /// The cluster that it belongs to.
    pub(super) cluster: Option<String>,
    /// Rows that somebody changed by hand.
    pub(super) by_hand: BTreeSet<Box<str>>,
}

impl World {
    pub(super) fn write(&mut self, who: &str, changes: Vec<RowChange>) -> Report {
        let mut report = Report::default();
        for change in changes {
            let uid: Box<str> = change.uid().into();
            let old = self.database.rows.get(&uid).cloned();
            let stored = old.as_ref().map(Kept::version);
            if let RowChange::Row(row) | RowChange::Replacement { row, .. } = &change
                && matches!(&row.values[base::JSON], Value::Text(json) if json.contains(Flavour::Refused.text()))
            {
                let reason = "the database refuses it".to_owned();
                self.note(who, &format!("refused: {uid} v{}", row.res_version));
                report.rejected.push(Rejected { uid, reason });
                continue;
            }
            let verdict = match (&change, stored) {
                (RowChange::Tombstone { .. }, None) => Verdict::Unchanged,
                (_, None) => Verdict::Write,
                (RowChange::Row(row), Some(stored)) => verdict(stored, row.version()),
                (RowChange::Replacement { row, seen }, Some(stored)) => verdict_over(stored, *seen, row.version()),
                (RowChange::Tombstone { res_version, .. }, Some(stored)) => verdict_of_tombstone(stored, *res_version),
            };
            let verdict = mistaken(verdict, &change, stored);
            self.database.rejects.remove(&uid);
            match verdict {
                Verdict::Unchanged => report.unchanged += 1,
                Verdict::Stale => {
                    let told = old.as_ref().map(Kept::told).unwrap_or_default();
                    self.note(who, &format!("stale: {} (stored: {told})", told_change(&change)));
                    report.stale.push(uid);
                }
                Verdict::Mark => {
                    report.written += 1;
                    self.note(who, &format!("marked: {}", told_change(&change)));
                    self.mark(&change, old);
                }
                Verdict::Write => {
                    report.written += 1;
                    self.note(who, &format!("row: {}", told_change(&change)));
                    self.keep(change, old);
                }
            }
        }
        report
    }

    /// Marks a row of a later definition as deleted.
    fn mark(&mut self, change: &RowChange, old: Option<Kept>) {
        if let (
            RowChange::Row(Row { delete_time, .. }) | RowChange::Replacement { row: Row { delete_time, .. }, .. },
            Some(old),
        ) = (change, old)
        {
            let row = StoredRow { delete_time: *delete_time, ..old.row.clone() };
            checks::before_row(self, Some(&old), &row);
            self.store(row, Some(old));
        }
    }

    /// Gives rows of older definitions the columns of this one.
    fn backfill(&mut self, who: &str, kind: Kind) {
        let older: Vec<Kept> =
            self.database.rows.values().filter(|kept| kind.is_older(kept.row.ingest_version)).cloned().collect();
        for old in older {
            let object = Object::parse(text(&old.row, base::JSON), ManagedFields::Keep);
            let Ok(row) = object.map_err(drop).and_then(|object| kind.row(&object).map_err(drop)) else { continue };
            self.note(who, &format!("backfilled: {}", old.told()));
            let mut new = old.row.clone();
            if let Some(row) = row {
                let first = kind.table().columns.len() - kind.table().indexed().len();
                new.values[first..].clone_from_slice(&row.values[first..]);
            }
            new.ingest_version = kind.ingest_version();
            new.values[base::INGEST_VERSION] = Value::UInt(new.ingest_version.into());
            if let Some(kept) = self.database.rows.get_mut(&old.row.uid) {
                kept.row = new;
            }
        }
    }

    fn keep(&mut self, change: RowChange, old: Option<Kept>) {
        let row = match change {
            RowChange::Row(row) | RowChange::Replacement { row, .. } => {
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
                // A writer leaves columns alone that it does not know.
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
                    values,
                    labels,
                    annotations,
                    many,
                }
            }
            RowChange::Tombstone { res_version, delete_time, .. } => {
                let Some(Kept { mut row, .. }) = old.clone() else { return };
                row.res_version = res_version;
                row.values[base::RES_VERSION] = Value::UInt(res_version);
                row.delete_time = Some(delete_time);
                row
            }
        };
        checks::before_row(self, old.as_ref(), &row);
        self.store(row, old);
    }

    fn store(&mut self, row: StoredRow, old: Option<Kept>) {
        let kept = Kept { since: Instant::now(), before: old.map(|old| old.row), row };
        self.database.rows.insert(kept.row.uid.clone(), kept);
    }

    /// Somebody changes a row that no object's life depends on.
    pub(super) fn change_by_hand(&mut self) {
        let uids: Vec<Box<str>> = self
            .database
            .rows
            .values()
            .filter(|kept| !kept.version().evicted)
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
                let row = StoredRow { delete_time: Some(Micros(self.micros())), ..old.row.clone() };
                self.store(row, Some(old));
            }
            2 => {
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

/// The verdict with the mistake that is made.
fn mistaken(verdict: Verdict, change: &RowChange, stored: Option<Version>) -> Verdict {
    let Some(stored) = stored else { return verdict };
    if mistakes::made(Mistake::DefinitionIgnored)
        && let RowChange::Row(row) = change
    {
        return guard::verdict(Version { ingest_version: 0, ..stored }, Version { ingest_version: 0, ..row.version() });
    }
    let lives = match change {
        RowChange::Row(row) | RowChange::Replacement { row, .. } => {
            row.res_version == stored.res_version && row.delete_time.is_none() && row.evict_time.is_none()
        }
        RowChange::Tombstone { .. } => false,
    };
    if mistakes::made(Mistake::TombstoneUnchanged) && verdict == Verdict::Stale && stored.deleted && lives {
        return Verdict::Unchanged;
    }
    if mistakes::made(Mistake::EvictedMarkedDeleted)
        && matches!(change, RowChange::Tombstone { res_version: u64::MAX, .. })
    {
        return Verdict::Write;
    }
    verdict
}

fn told_change(change: &RowChange) -> String {
    let row = |row: &Row| {
        let Version { res_version, deleted, evicted, .. } = row.version();
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

impl Client {
    /// Backfills again and again, as the program does beside the mirror.
    pub(super) async fn backfill(self) {
        loop {
            let (kind, who) = (self.kind, self.name());
            let done = self.query("backfill", String::new(), move |world| world.backfill(&who, kind)).await;
            if done.is_ok() && mistakes::made(Mistake::DefinitionIgnored) {
                return;
            }
            tokio::time::sleep(BACKFILL).await;
        }
    }

    /// Whether the database may be used for the cluster; an error if one of the two does not tell.
    pub(super) async fn is_own_database(&self) -> Result<bool, ()> {
        let found = self.request(Service::ApiServer, "identity".into(), |world| world.cluster()).await.map_err(drop)?;
        let claimed = found.clone();
        let claim = |world: &mut World| world.database.cluster.get_or_insert(claimed).clone();
        let recorded = self.query("claim", String::new(), claim).await.map_err(drop)?;
        Ok(judge(recorded, found).is_ok())
    }

    async fn query<T: Send + 'static>(
        &self,
        doing: &str,
        key: String,
        effect: impl FnOnce(&mut World) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let answer = self.request(Service::Database, format!("{doing} {key}"), move |world| {
            if world.database.down.is_some_and(|down| down > Instant::now()) {
                return Err(0);
            }
            Ok(effect(world))
        });
        answer.await.map_err(|_| StoreError::silent(doing, Duration::ZERO))
    }
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
            let (changes, who, member) = (changes.to_vec(), self.name(), self.ingester);
            let key = changes.iter().map(told_change).collect::<Vec<_>>().join(", ");
            let report = self.query("write", key, move |world| {
                if world.shards.is_some() {
                    world.sent(member, &changes);
                }
                let report = world.write(&who, changes);
                let things: Vec<&Thing> = world.server.things.values().filter(|thing| thing.needs_nothing()).collect();
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

    fn stored<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<StoredRow>, StoreError>> {
        async move {
            let (uids, columns) = (owned(uids), self.kind.table().columns.len());
            let seen = move |kept: &Kept| StoredRow { values: kept.row.values[..columns].into(), ..kept.row.clone() };
            let stored = self.query("stored", uids.join(" "), move |world| {
                uids.iter().filter_map(|uid| world.database.rows.get(uid.as_str())).map(seen).collect()
            });
            stored.await
        }
        .boxed()
    }

    fn live<'a>(
        &'a self,
        evicted: Evicted,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LiveRow>, StoreError>> {
        async move {
            let after: Box<str> = after.into();
            let live = self.query("live", after.to_string(), move |world| {
                let after = (std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded);
                let rows = world.database.rows.range(after).map(|(_, kept)| kept);
                let wanted = |kept: &&Kept| evicted == Evicted::Included || kept.row.evict_time.is_none();
                let live = rows.filter(|kept| kept.row.delete_time.is_none()).filter(wanted);
                live.take(limit)
                    .map(|kept| LiveRow {
                        uid: kept.row.uid.clone(),
                        res_version: kept.row.res_version,
                        ingest_version: kept.row.ingest_version,
                        evicted: kept.row.evict_time.is_some(),
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
                checks::before_sweep(world, uids.len());
                let kept = uids.iter().filter_map(|uid| world.database.rows.get(uid.as_str()));
                kept.map(|kept| (kept.row.uid.clone(), text(&kept.row, base::NAMESPACE).into(), kept.name().into()))
                    .collect()
            });
            names.await
        }
        .boxed()
    }

    fn forget_rejects<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let (uids, who) = (owned(uids), self.name());
            let forgotten = self.query("forget rejects", uids.join(" "), move |world| {
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
            let (rejects, who) = (rejects.to_vec(), self.name());
            let key = rejects.iter().map(|reject| reject.uid.clone()).collect::<Vec<_>>().join(" ");
            let recorded = self.query("record rejects", key, move |world| {
                for Reject { uid, res_version, reason, .. } in rejects {
                    world.note(&who, &format!("reject: {uid} v{res_version}: {reason}"));
                    world.database.rejects.insert(uid.into(), (res_version, reason));
                }
            });
            recorded.await
        }
        .boxed()
    }

    fn rejects(&self) -> BoxFuture<'_, Result<Vec<Rejected>, StoreError>> {
        async move {
            let rejects = self.query("rejects", MODEL.api_version(), |world| {
                let rejects = world.database.rejects.iter();
                rejects.map(|(uid, (_, reason))| Rejected { uid: uid.clone(), reason: reason.clone() }).collect()
            });
            rejects.await
        }
        .boxed()
    }
}
