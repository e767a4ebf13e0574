//! The controller of one kind, in all namespaces or in one: follows the API server and puts what it observes into the queue.
//!
//! It lists, watches from the list's version on, and lists again when the watch cannot go on. kube's `watcher` is not used
//! because it hides two things that are needed here: the list's version, and the moment when a watch is reopened. An API server
//! that was restored from a backup accepts a watch from a version that it has not reached yet, and stays silent until it has.

use super::backoff::{API_SERVER, Backoff};
use super::known::Known;
use super::lifecycle::Rules;
use super::queue::Queue;
use super::remote::{ApiError, ApiErrorKind, Remote, RemoteEvent, with_type};
use super::work::{Item, Origin, Work};
use crate::events::Publisher;
use crate::health::{Health, KindState};
use crate::metrics::{ControllerMetrics, Restart, Skip};
use futures::StreamExt as _;
use ingester_core::kind::Kind;
use ingester_core::object::{ManagedFields, Object, ObjectError};
use ingester_store::{Evicted, Store, StoreError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The pause between attempts to list a kind whose CRD is not installed.
const NOT_INSTALLED: Duration = Duration::from_secs(5);

/// The most bytes of objects that wait in one controller.
const WAITING_BYTES: usize = 8 << 20;

/// Rows per page when a controller starts.
const LOADED_ROWS: usize = 5000;

/// How long the workers of a stopping controller may take for their current batches.
const GRACE: Duration = Duration::from_secs(8);

/// What is configured for a kind, besides the [`Rules`].
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) workers: usize,
    pub(super) requeue_period: Duration,
    /// How often the cluster is compared with what is remembered; `None` for never.
    pub(super) resync_period: Option<Duration>,
    /// Finalizers that are added per second to objects that are older than this process.
    pub(super) finalizer_rate: u32,
    pub(super) managed_fields: ManagedFields,
}

pub(super) struct Controller {
    pub(super) kind: Kind,
    pub(super) api_version: String,
    pub(super) namespace: Option<Box<str>>,
    pub(super) remote: Remote,
    pub(super) store: Arc<Store>,
    pub(super) queue: Queue,
    known: Mutex<Known>,
    pub(super) rules: Rules,
    pub(super) settings: Settings,
    pub(super) metrics: ControllerMetrics,
    pub(super) health: Health,
    pub(super) publisher: Publisher,
    /// Locked during a list: two lists at a time would take each other's objects for deleted.
    pub(super) listing: tokio::sync::Mutex<()>,
    /// The version up to which the cluster was observed; 0 before the first list.
    pub(super) observed: AtomicU64,
    /// The cluster is behind what was observed: list again.
    pub(super) relist: Notify,
    /// Some objects lack our finalizer.
    pub(super) finalizers_missing: Notify,
    /// Whether the first list is in SQL.
    pub(super) synced_once: tokio::sync::watch::Sender<bool>,
}

/// What a controller is made of; [`Controller::new`] adds what it remembers.
#[derive(Clone)]
pub(super) struct ControllerSetup {
    pub(super) kind: Kind,
    pub(super) namespace: Option<Box<str>>,
    pub(super) client: kube::Client,
    pub(super) store: Arc<Store>,
    pub(super) rules: Rules,
    pub(super) settings: Settings,
    pub(super) metrics: ControllerMetrics,
    pub(super) health: Health,
    pub(super) publisher: Publisher,
}

/// Why a watch ended for good.
enum WatchEnd {
    /// List again, for this reason.
    Relist(Restart),
    /// The process stops.
    Stopped,
}

impl Controller {
    pub(super) fn new(setup: ControllerSetup) -> Self {
        let ControllerSetup { kind, namespace, client, store, rules, settings, metrics, health, publisher } = setup;
        Controller {
            remote: Remote::new(client, kind, namespace.clone()),
            queue: Queue::new(WAITING_BYTES, metrics.clone()),
            api_version: kind.api_version(),
            kind,
            namespace,
            store,
            known: Mutex::default(),
            rules,
            settings,
            metrics,
            health,
            publisher,
            listing: tokio::sync::Mutex::default(),
            observed: AtomicU64::new(0),
            relist: Notify::new(),
            finalizers_missing: Notify::new(),
            synced_once: tokio::sync::watch::Sender::new(false),
        }
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its name in [`Health`].
    pub(super) fn name(&self) -> String {
        super::controller_name(&self.kind, self.namespace.as_deref())
    }

    /// Runs until `stop` is cancelled. An error is the message of a panic.
    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) -> Result<(), String> {
        tracing::info!(
            kind = self.kind.kind(),
            namespace = self.namespace.as_deref(),
            workers = self.settings.workers,
            "Ingester controller registered"
        );
        self.metrics.workers(self.settings.workers);
        let mut tasks = JoinSet::new();
        for _ in 0..self.settings.workers.max(1) {
            let (controller, stop) = (self.clone(), stop.clone());
            tasks.spawn(async move { controller.work(&stop).await });
        }
        let (controller, token) = (self.clone(), stop.clone());
        tasks.spawn(async move { controller.follow(&token).await });
        let (controller, token) = (self.clone(), stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = token.cancelled() => {}
                () = controller.resync() => {}
            }
        });
        let (controller, token) = (self.clone(), stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = token.cancelled() => {}
                () = controller.add_finalizers() => {}
            }
        });
        let all_ended = async {
            while let Some(ended) = tasks.join_next().await {
                if let Err(error) = ended {
                    return Err(panic_of(error));
                }
            }
            Ok(())
        };
        let out_of_time = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        // Dropping the set ends the remaining tasks; the next list finds what they did not finish.
        tokio::select! {
            ended = all_ended => ended,
            () = out_of_time => Ok(()),
        }
    }

    /// Lists and watches until `stop` is cancelled.
    async fn follow(&self, stop: &CancellationToken) {
        if self.until_done("reading what is stored", stop, || self.load()).await.is_err() {
            return;
        }
        let mut backoff = Backoff::new(API_SERVER);
        while !stop.is_cancelled() {
            self.health.kind(&self.name(), KindState::Listing);
            let listed = tokio::select! {
                () = stop.cancelled() => return,
                listed = self.list() => listed,
            };
            match listed {
                Ok(version) => {
                    backoff.reset();
                    self.observed.store(version, Ordering::Relaxed);
                    // The kind is synced once the list is in SQL; the watch does not wait for that.
                    let synced = async {
                        self.queue.drained().await;
                        self.synced_once.send_replace(true);
                        self.health.kind(&self.name(), KindState::Synced);
                        self.metrics.synced(true);
                        std::future::pending().await
                    };
                    let ended = tokio::select! {
                        ended = self.watch(version, stop) => ended,
                        ended = synced => ended,
                    };
                    match ended {
                        WatchEnd::Stopped => return,
                        WatchEnd::Relist(reason) => {
                            tracing::info!(kind = self.kind.kind(), ?reason, "Listing again");
                            self.metrics.watch_restarted(reason);
                        }
                    }
                }
                Err(error) => {
                    let failures = backoff.failures();
                    self.not_listed(&error, failures);
                    let pause = match (error.kind(), backoff.pause()) {
                        (ApiErrorKind::NotFound, _) => NOT_INSTALLED,
                        // The list took longer than the API server keeps its version: start over, the first time at once.
                        (ApiErrorKind::Expired, _) if failures == 0 => Duration::ZERO,
                        (_, pause) => pause,
                    };
                    tokio::select! {
                        () = stop.cancelled() => return,
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            }
        }
    }

    fn not_listed(&self, error: &ApiError, failures: u32) {
        let kind = self.kind.kind();
        if error.kind() == ApiErrorKind::NotFound {
            if failures == 0 {
                tracing::warn!(
                    kind,
                    api_version = self.kind.api_version(),
                    "This kind is not installed in the cluster: waiting for its CustomResourceDefinition"
                );
            }
            self.metrics.installed(false);
            self.health.kind(&self.name(), KindState::Waiting);
            return;
        }
        self.metrics.api_error(&error.code());
        self.health.kind(&self.name(), KindState::Failed(error.to_string()));
        if failures.is_multiple_of(20) {
            tracing::error!(kind, %error, failures, "Cannot list, trying again");
        }
    }

    /// Reads the uids and versions of the live rows.
    async fn load(&self) -> Result<(), StoreError> {
        let table = self.kind.table();
        let mut after: Box<str> = "".into();
        loop {
            let rows = self.store.live(table, self.namespace.as_deref(), Evicted::LeftOut, &after, LOADED_ROWS).await?;
            let Some(last) = rows.last() else { break };
            after = last.uid.clone();
            let mut known = self.known();
            rows.into_iter().for_each(|row| known.load(row.uid, row.res_version));
        }
        let known = self.known();
        self.metrics.objects(known.live());
        tracing::debug!(kind = self.kind.kind(), rows = known.live(), "Live rows read");
        Ok(())
    }

    /// Lists all objects, page by page, and refreshes what is stored but not listed. Returns the list's version.
    async fn list(&self) -> Result<u64, ApiError> {
        let _listing = self.listing.lock().await;
        self.known().begin_list();
        let begin = tokio::time::Instant::now();
        let (mut overrule, mut objects) = (None, 0);
        let mut page = self.remote.list(None).await?;
        self.metrics.installed(true);
        let version = loop {
            // The rows were read before the list, which is a consistent read. So a list that is behind them comes from a
            // cluster that was restored to an earlier state.
            let overrule = *overrule.get_or_insert_with(|| {
                let newest = self.known().newest();
                if newest > page.version {
                    tracing::warn!(
                        kind = self.kind.kind(),
                        stored = newest,
                        cluster = page.version,
                        "The cluster is behind what is stored, as after a restore from a backup: the cluster wins"
                    );
                }
                newest > page.version
            });
            objects += page.items.len();
            let version = page.version;
            let received = async {
                for text in page.items {
                    self.receive(text, Origin::List, false, overrule).await;
                }
            };
            let Some(token) = page.next else {
                received.await;
                break version;
            };
            // The API server prepares the next page while this one is processed.
            let ((), following) = tokio::join!(received, self.remote.list(Some(&token)));
            page = following?;
        };
        self.metrics.listed();
        let swept = self.sweep(version).await;
        tracing::info!(
            kind = self.kind.kind(),
            objects,
            unseen = swept,
            version,
            seconds = begin.elapsed().as_secs_f32(),
            "Listed"
        );
        Ok(version)
    }

    /// Watches from `version` on, and reopens the watch whenever the API server ends it.
    async fn watch(&self, mut version: u64, stop: &CancellationToken) -> WatchEnd {
        let (mut backoff, mut first) = (Backoff::new(API_SERVER), true);
        loop {
            let ended = tokio::select! {
                () = stop.cancelled() => return WatchEnd::Stopped,
                () = self.relist.notified() => return WatchEnd::Relist(Restart::Behind),
                ended = self.watch_once(&mut version, first) => ended,
            };
            first = false;
            let error = match ended {
                Ok(()) => {
                    backoff.reset();
                    continue;
                }
                Err(WatchError::Relist(reason)) => return WatchEnd::Relist(reason),
                Err(WatchError::Api(error)) => error,
            };
            match error.kind() {
                ApiErrorKind::Expired => return WatchEnd::Relist(Restart::Expired),
                ApiErrorKind::NotFound => return WatchEnd::Relist(Restart::NotInstalled),
                _ => {}
            }
            self.metrics.api_error(&error.code());
            self.metrics.watch_restarted(Restart::Connection);
            if backoff.failures() == 3 {
                tracing::warn!(kind = self.kind.kind(), %error, "Watch lost, trying again");
            }
            tokio::select! {
                () = stop.cancelled() => return WatchEnd::Stopped,
                () = tokio::time::sleep(backoff.pause()) => {}
            }
        }
    }

    /// Opens the watch and reads it to its end. A watch that is reopened needs a cluster that has reached its version.
    async fn watch_once(&self, version: &mut u64, first: bool) -> Result<(), WatchError> {
        if !first && self.remote.version().await.map_err(WatchError::Api)? < *version {
            return Err(WatchError::Relist(Restart::Behind));
        }
        let mut events = std::pin::pin!(self.remote.watch(*version).await.map_err(WatchError::Api)?);
        while let Some(event) = events.next().await {
            let observed = match event.map_err(WatchError::Api)? {
                RemoteEvent::Applied(text) => self.receive(text, Origin::Watch, false, false).await,
                RemoteEvent::Deleted(text) => self.receive(text, Origin::Watch, true, false).await,
                RemoteEvent::Bookmark(version) => Some(version),
            };
            *version = (*version).max(observed.unwrap_or_default());
            self.observed.store(*version, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Queues what the API server sent, unless it brings nothing new; returns its version.
    async fn receive(&self, text: Box<str>, origin: Origin, gone: bool, overrule: bool) -> Option<u64> {
        let object = match self.parse(text) {
            Ok(object) => object,
            Err((identity, reason)) => {
                let version = identity.resource_version.as_deref().and_then(|version| version.parse().ok());
                self.queue.push(Item::new(Work::Broken { identity, reason }, origin)).await;
                return version;
            }
        };
        let meta = object.meta();
        let version = meta.resource_version;
        let before = {
            let mut known = self.known();
            known.seen(&meta.uid);
            known.get(&meta.uid)
        };
        if !overrule && self.is_echo(meta, gone) {
            self.metrics.skipped(Skip::Unchanged, 1);
            return Some(version);
        }
        if let Some(entry) = before.filter(|_| !overrule && !gone) {
            if entry.version > version && origin == Origin::Watch {
                // The answer to our own patch came first.
                return Some(version);
            }
            if self.lacks_finalizer_only(meta) {
                self.request_finalizers();
                return Some(version);
            }
        }
        let behind = before.is_some_and(|entry| entry.version > version) && !overrule;
        let mut item = Item::new(Work::Object { object: Box::new(object), gone }, origin);
        item.overrule = overrule;
        if behind && !gone {
            // The list is behind the row. Reading the object tells which of the two is right.
            if let Work::Object { object, .. } = item.work {
                let meta = object.meta();
                item.work = Work::Refresh {
                    uid: meta.uid.clone(),
                    namespace: meta.namespace.clone(),
                    name: meta.name.clone(),
                    version,
                    swept: false,
                };
            }
            item.behind = Some(version);
        }
        self.queue.push(item).await;
        Some(version)
    }

    /// Parses an object, with the `apiVersion` and `kind` that a list item may lack. An error has the text and the reason.
    pub(super) fn parse_text(&self, text: Box<str>) -> Result<Object, (Box<str>, String)> {
        let managed_fields = self.settings.managed_fields;
        match Object::parse(&*text, managed_fields) {
            Ok(object) => Ok(object),
            Err(ObjectError::Missing("apiVersion" | "kind")) => {
                let whole = with_type(&text, &self.kind);
                Object::parse(whole, managed_fields).map_err(|error| (text, error.to_string()))
            }
            Err(error) => Err((text, error.to_string())),
        }
    }
}

/// Why a watch failed.
enum WatchError {
    /// The API server.
    Api(ApiError),
    /// It cannot go on, for this reason.
    Relist(Restart),
}

/// The message of a task's panic.
pub(super) fn panic_of(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => match panic.downcast_ref::<&str>() {
            Some(text) => (*text).to_owned(),
            None => panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "no reason given".into()),
        },
        Err(error) => error.to_string(),
    }
}
