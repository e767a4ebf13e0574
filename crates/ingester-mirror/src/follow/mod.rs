//! Follows one unit of the cluster: lists it, watches it from the list's version on, and lists again when the watch cannot go on.
//!
//! May use: ingester-config, ingester-core, ingester-store, backoff, budget, cluster, dependents, health, lifecycle, metrics, pipeline, policies, unit.
//!
//! | file | what it does |
//! |---|---|
//! | `list` | reads new objects: all objects if little is stored, otherwise all metadata and then the changed objects |
//! | `whole` | reads all objects, as a stream or in pages that fit into the budget |
//! | `metadata` | reads the metadata of all objects |
//! | `watch` | follows the changes |
//! | `sweep` | handles the objects that a list lacks |
//! | `left_out` | handles the rows that a changed filter leaves out |
//! | `lost` | finds evictions whose rows the database has lost |
//! | `resync` | compares cluster, rows and memory from time to time |
//! | `policies` | judges which objects leave etcd by rules |
//! | `dependents` | knows dependents without rows, and how far the unit is behind the cluster |
//! | `finalizers` | adds our finalizer to objects that are older than this process |
//!
//! kube's `watcher` is not used because it hides two facts that are needed here: the list's version, and the time when a watch is reopened.
//! An API server that was restored from a backup accepts a watch from a version that it has not reached yet, and stays silent until it has.

mod dependents;
mod finalizers;
mod left_out;
mod list;
mod lost;
mod metadata;
mod policies;
mod resync;
mod spooling;
mod sweep;
#[cfg(test)]
mod tests;
mod watch;
mod whole;

use crate::backoff::{API_SERVER, Backoff};
use crate::budget::MemoryReservation;
use crate::cluster::{ApiError, ApiErrorKind};
use crate::health::KindState;
use crate::lifecycle::{MayWait, NextStep};
use crate::metrics::SkipReason;
use crate::pipeline::{Arrival, Item, LookReason, ObjectRef, Pipeline, Work, bytes_of, uid_of};
use crate::unit::{Unit, UnitStopError};
use dependents::Currency;
use ingester_core::object::{Identity, Meta};
use ingester_store::EvictedRows;
use metadata::EarlyList;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tracing::Instrument as _;
use watch::WatchEnd;
use whole::Pages;

/// Rows per page when all live rows are read. In tests few rows already need several pages.
const ROWS: usize = if cfg!(test) { 3 } else { 5000 };

/// The time that the workers get to finish their work when the process ends.
const GRACE: Duration = Duration::from_secs(8);

/// The pause between attempts to list a kind whose CRD is not installed.
const NOT_INSTALLED: Duration = Duration::from_secs(5);

/// Follows one unit.
pub(crate) struct Follower {
    pipeline: Arc<Pipeline>,
    /// Locked during a list: two concurrent lists would take each other's objects for deleted.
    listing: tokio::sync::Mutex<Pages>,
    /// The version up to which the cluster was observed; 0 before the first list.
    observed: AtomicU64,
    /// The record of how far the unit is behind the cluster.
    currency: Currency,
    /// The cluster went back, and since then no list has ended that takes its objects at equal versions. A list may fail, and by the next
    /// one the cluster's version may have passed the observed version.
    restored: AtomicBool,
    /// The first list is in SQL.
    synced_once: tokio::sync::watch::Sender<bool>,
    /// The database may have a record that this unit wants to mark rows: true after a list that lacked objects, and before the first list.
    may_want: AtomicBool,
    /// The last list lacked so many objects that their rows were not marked. Remembered so that it is reported only when it happens.
    refused: AtomicBool,
    sweep_was_refused: Notify,
    missed: MissedObjects,
}

/// The objects that the last list lacked but that waited to be written when it began. If their rows are live once they are written, rows
/// are compared with the cluster.
#[derive(Default)]
struct MissedObjects {
    uids: Mutex<HashSet<Box<str>>>,
    added: Notify,
}

impl MissedObjects {
    fn uids(&self) -> MutexGuard<'_, HashSet<Box<str>>> {
        self.uids.lock()
    }
}

impl Follower {
    pub(crate) fn new(pipeline: Arc<Pipeline>) -> Self {
        Follower {
            pipeline,
            listing: tokio::sync::Mutex::default(),
            observed: AtomicU64::new(0),
            currency: Currency::default(),
            restored: AtomicBool::new(false),
            synced_once: tokio::sync::watch::Sender::new(false),
            may_want: AtomicBool::new(true),
            refused: AtomicBool::new(false),
            sweep_was_refused: Notify::new(),
            missed: MissedObjects::default(),
        }
    }

    fn unit(&self) -> &Unit {
        &self.pipeline.unit
    }

    /// Mirrors the unit until it is stopped, in the span of the caller. An error is the message of a panic.
    pub(crate) async fn run(unit: Unit) -> Result<(), String> {
        let workers = unit.config().ingester.concurrent_reconciles_of(unit.kind.name());
        tracing::info!(workers, "Ingester controller registered");
        unit.metrics.workers(workers);
        let exit = unit.exit.clone();
        let pipeline = Arc::new(Pipeline::new(unit));
        let follower = Arc::new(Follower::new(pipeline.clone()));
        let weak: Weak<Follower> = Arc::downgrade(&follower);
        pipeline.unit.mirrored.follow(pipeline.unit.name(), weak);
        let mut tasks = JoinSet::new();
        for _ in 0..workers.max(1) {
            tasks.spawn(pipeline.clone().work().in_current_span());
        }
        let task = follower.clone();
        let until = pipeline.clone();
        tasks.spawn(async move { until.until_stopped(task.follow()).await }.in_current_span());
        let task = follower.clone();
        let until = pipeline.clone();
        tasks.spawn(async move { until.until_stopped(task.resync()).await }.in_current_span());
        let task = follower.clone();
        let until = pipeline.clone();
        tasks.spawn(async move { until.until_stopped(task.apply_policies()).await }.in_current_span());
        let task = follower.clone();
        let until = pipeline.clone();
        tasks.spawn(async move { until.until_stopped(task.judge_filter()).await }.in_current_span());
        tasks.spawn(async move { pipeline.until_stopped(follower.add_finalizers()).await }.in_current_span());
        let all_ended = async {
            while let Some(ended) = tasks.join_next().await {
                if let Err(error) = ended {
                    return Err(panic_of(error));
                }
            }
            Ok(())
        };
        let out_of_time = async {
            exit.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        // Dropping the set ends the remaining tasks; the next list finds the work that they did not finish.
        tokio::select! {
            biased;
            ended = all_ended => ended,
            () = out_of_time => Ok(()),
        }
    }

    /// Lists and watches in an endless loop.
    async fn follow(&self) {
        let Ok(mut ahead) = self.load().await else { return };
        // Before the first list, because that list would mark the rows that are left of them.
        if self.learn_lost().await.is_err() {
            return;
        }
        let unit = self.unit();
        let mut backoff = Backoff::new(API_SERVER);
        loop {
            unit.health.kind(&unit.name(), KindState::Listing);
            self.currency.listing();
            match self.list(ahead.take()).await {
                Ok(version) => {
                    backoff.reset();
                    self.observed.store(version, Ordering::Relaxed);
                    let WatchEnd(reason) = self.watch_synced(version).await;
                    tracing::info!(?reason, "Listing again");
                    unit.metrics.watch_restarted(reason);
                }
                // The list took longer than the API server keeps its version. This is not a failure the first time.
                Err(error) if error.kind() == ApiErrorKind::Expired && backoff.failures() == 0 => {
                    let _ = backoff.pause();
                }
                Err(error) => {
                    self.not_listed(&error, backoff.failures());
                    let pause = backoff.pause();
                    let pause = if error.kind() == ApiErrorKind::NotFound { pause.max(NOT_INSTALLED) } else { pause };
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// Watches from the list's version on. The kind is synced once the list is in SQL; the watch does not wait for that.
    async fn watch_synced(&self, version: u64) -> WatchEnd {
        let synced = async {
            self.pipeline.queue.drained().await;
            self.synced_once.send_replace(true);
            self.currency.listed();
            self.unit().health.kind(&self.unit().name(), KindState::Synced);
            self.unit().metrics.synced(true);
            std::future::pending().await
        };
        tokio::select! {
            biased;
            ended = self.watch(version) => ended,
            ended = synced => ended,
        }
    }

    /// Reports that the kind could not be listed.
    fn not_listed(&self, error: &ApiError, failures: u32) {
        let unit = self.unit();
        if error.kind() == ApiErrorKind::NotFound {
            if failures == 0 {
                tracing::warn!(
                    api_version = unit.kind.api_version(),
                    "This kind is not installed in the cluster: waiting for its CustomResourceDefinition"
                );
            }
            unit.metrics.installed(false);
            unit.health.kind(&unit.name(), KindState::Waiting);
            return;
        }
        unit.metrics.api_error(&error.code());
        unit.health.kind(&unit.name(), KindState::Failed(error.to_string()));
        if failures.is_multiple_of(20) {
            tracing::error!(%error, failures, "Cannot list the objects of this kind, trying again");
        }
    }

    /// Reads the uids and versions of the live rows. If they have several pages, the metadata of the objects is read meanwhile, as far as
    /// memory allows.
    async fn load(&self) -> Result<Option<EarlyList>, UnitStopError> {
        let mut after = "".into();
        let more = self.load_page(&mut after).await?;
        let ahead = if more { self.begin_ahead().await } else { None };
        let rest = async {
            while self.load_page(&mut after).await? {}
            Ok(())
        };
        let ahead = match ahead {
            _ if !more => None,
            Some(ahead) => Some(ahead.read_during(rest, &self.unit().memory).await?),
            None => {
                rest.await?;
                None
            }
        };
        let live = self.pipeline.known().live();
        self.unit().metrics.objects(live);
        tracing::debug!(rows = live, "Live rows read");
        Ok(ahead)
    }

    /// Reads a page of live rows. Each page has its own time limit and its own retries. Returns true if there may be more.
    async fn load_page(&self, after: &mut Box<str>) -> Result<bool, UnitStopError> {
        let unit = self.unit();
        let page = &*after;
        let rows =
            unit.until_done("reading what is stored", move || unit.rows.live(EvictedRows::LeftOut, page, ROWS)).await?;
        let mut known = self.pipeline.known();
        for row in &rows {
            known.load(&row.uid, row.res_version, row.eviction);
        }
        let more = rows.len() == ROWS;
        if let Some(last) = rows.into_iter().next_back() {
            *after = last.uid;
        }
        Ok(more)
    }

    /// Queues an object that the API server sent, unless it brings nothing new. Returns its version.
    async fn receive(&self, text: Box<str>, arrival: Arrival, memory: Memory<'_>) -> Option<u64> {
        let (version, received) = self.sort_in(text, arrival, memory).await;
        if let Some((item, _)) = received {
            self.pipeline.queue.push(item);
        }
        version
    }

    /// Returns the version of an object that the API server sent, and the work that it needs, if it brings anything new.
    async fn sort_in(
        &self,
        text: Box<str>,
        arrival: Arrival,
        memory: Memory<'_>,
    ) -> (Option<u64>, Option<(Item, MayWait)>) {
        let hold = match memory {
            Memory::Of(hold) => hold.split(bytes_of(text.len())),
            Memory::Taken => self.unit().memory.take(bytes_of(text.len())).await,
        };
        let object = match self.unit().parse(text) {
            Ok(object) => object,
            Err((identity, reason)) => {
                let (version, item) = self.sort_in_unreadable(identity, reason, arrival, hold);
                return (version, Some((item, MayWait::Nothing)));
            }
        };
        let meta = object.meta();
        let version = meta.resource_version;
        let received = match self.sift(meta, arrival) {
            None => None,
            Some(NextStep::Look { .. }) => {
                Some((Item::look(ObjectRef::from_meta(meta), LookReason::Due, 0), MayWait::Nothing))
            }
            Some(NextStep::Queue(MayWait::ForChanges)) if self.pipeline.gather(meta) => {
                self.unit().metrics.skipped(SkipReason::Settling, 1);
                None
            }
            Some(next) => {
                let may_wait = if let NextStep::Queue(may_wait) = next { may_wait } else { MayWait::Nothing };
                Some((Item::new(Work::Object { object: Box::new(object), arrival }).holding(hold), may_wait))
            }
        };
        (Some(version), received)
    }

    /// Returns the version of an object that cannot be read, and its work: it is recorded, and counted if it waits for us. If it is gone, the
    /// look finds that out.
    fn sort_in_unreadable(
        &self,
        identity: Box<Identity>,
        reason: String,
        arrival: Arrival,
        hold: MemoryReservation,
    ) -> (Option<u64>, Item) {
        let uid = uid_of(&identity);
        let gone = arrival == Arrival::Deletion;
        let version = identity.resource_version.as_deref().and_then(|version| version.parse().ok());
        self.pipeline.hold_unreadable(&uid, &identity, gone);
        self.pipeline.known().seen(&uid);
        let item = match &identity.name {
            Some(name) if gone && !name.is_empty() => {
                let namespace = identity.namespace.clone().unwrap_or_default();
                let name = name.clone();
                Item::look(ObjectRef { uid, namespace, name, version: version.unwrap_or_default() }, LookReason::Due, 0)
            }
            _ => Item::new(Work::Broken { identity, reason }).holding(hold),
        };
        (version, item)
    }

    /// Decides about a received object by its metadata. Returns `None` if it needs no worker. A list counts the object as seen.
    fn sift(&self, meta: &Meta, arrival: Arrival) -> Option<NextStep> {
        // Record it now: it may wait a long time until a worker has it.
        self.pipeline.hold(meta, arrival == Arrival::Deletion);
        self.pipeline.known().seen(&meta.uid);
        match self.pipeline.decide_by_metadata(meta, arrival) {
            next @ (NextStep::Unchanged | NextStep::Forget) => {
                self.pipeline.nothing_new(&meta.uid, next);
                None
            }
            NextStep::Outdated => None,
            NextStep::RequestFinalizers => {
                self.pipeline.request_finalizers();
                None
            }
            next => Some(next),
        }
    }
}

/// The source of the memory for a received object.
enum Memory<'a> {
    /// The page that contained it.
    Of(&'a mut MemoryReservation),
    /// It is reserved now.
    Taken,
}

/// Returns the message of a task's panic.
pub(crate) fn panic_of(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => match panic.downcast_ref::<&str>() {
            Some(text) => (*text).to_owned(),
            None => panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "no reason given".into()),
        },
        Err(error) => error.to_string(),
    }
}
