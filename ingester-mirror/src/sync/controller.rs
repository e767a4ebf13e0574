//! The controller of one kind, in all namespaces or in one: follows the API server and hands what it hears to the queue.
//!
//! List, then watch from the list's version on, for ever. kube's `watcher` is not used because it hides two things that are
//! needed here: the list's version, and the moment when a watch is opened again. A cluster that was restored from a backup
//! takes a watch from a version that it has not reached yet without a word, and stays silent until it has.

use super::known::Known;
use super::lifecycle::Rules;
use super::queue::Queue;
use super::remote::{Event, Refusal, Remote, RemoteError, with_type};
use super::work::{Item, Origin, Work};
use crate::events::Publisher;
use crate::health::{Health, KindState};
use crate::metrics::{ControllerMetrics, Restart, Skip};
use futures::StreamExt as _;
use ingester_core::kind::Kind;
use ingester_core::object::{ManagedFields, Object, ObjectError};
use ingester_store::{Store, StoreError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How often a kind whose CRD is not installed is asked for.
const NOT_INSTALLED: Duration = Duration::from_secs(5);

/// The longest pause between attempts to reach the API server.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Bytes of objects that wait in one controller.
const WAITING_BYTES: usize = 8 << 20;

/// Rows read at a time when a controller begins.
const LOADED_ROWS: usize = 5000;

/// How long the workers of a stopping controller may take for the batch in hand.
const GRACE: Duration = Duration::from_secs(8);

/// What a kind's operators have set, beside the [`Rules`].
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) workers: usize,
    pub(super) requeue_period: Duration,
    /// How often the cluster is compared with what is known; `None` for never.
    pub(super) resync_period: Option<Duration>,
    /// Finalizers added per second to objects that are older than this process.
    pub(super) finalizer_rate: u32,
    pub(super) managed_fields: ManagedFields,
}

pub(super) struct Controller {
    pub(super) kind: Kind,
    pub(super) api_version: String,
    namespace: Option<Box<str>>,
    pub(super) remote: Remote,
    pub(super) store: Arc<Store>,
    pub(super) queue: Queue,
    known: Mutex<Known>,
    pub(super) rules: Rules,
    pub(super) settings: Settings,
    pub(super) metrics: ControllerMetrics,
    pub(super) health: Health,
    pub(super) publisher: Publisher,
    /// Held by whoever lists: two lists at a time would take each other's objects for gone.
    pub(super) listing: tokio::sync::Mutex<()>,
    /// The version up to which the cluster has been heard.
    pub(super) heard: AtomicU64,
    pub(super) relist: Notify,
    pub(super) unadopted: Notify,
    /// Whether the first list is in SQL.
    pub(super) synced_once: tokio::sync::watch::Sender<bool>,
}

/// What a controller is made of; [`Controller::new`] adds what it remembers.
#[derive(Clone)]
pub(super) struct Parts {
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

/// Why the watch is given up for a new list.
enum Relist {
    Because(Restart),
    Stopped,
}

impl Controller {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { kind, namespace, client, store, rules, settings, metrics, health, publisher } = parts;
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
            heard: AtomicU64::new(0),
            relist: Notify::new(),
            unadopted: Notify::new(),
            synced_once: tokio::sync::watch::Sender::new(false),
        }
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its name among the parts of [`Health`].
    pub(super) fn part(&self) -> String {
        super::part(&self.kind, self.namespace.as_deref())
    }

    /// Runs until told to stop. An error is what a task that panicked said.
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
                () = controller.adopt_all() => {}
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
        // Dropping the tasks ends those that are left; what they had in hand is found again by the next list.
        tokio::select! {
            ended = all_ended => ended,
            () = out_of_time => Ok(()),
        }
    }

    /// Lists and watches until told to stop.
    async fn follow(&self, stop: &CancellationToken) {
        if self.until_done("reading what is stored", stop, || self.load()).await.is_err() {
            return;
        }
        let mut failures = 0;
        while !stop.is_cancelled() {
            self.health.kind(&self.part(), KindState::Listing);
            let listed = tokio::select! {
                () = stop.cancelled() => return,
                listed = self.list() => listed,
            };
            match listed {
                Ok(version) => {
                    failures = 0;
                    self.heard.store(version, Ordering::Relaxed);
                    // Said once what was listed is in SQL; the watch does not wait for that.
                    let synced = async {
                        self.queue.drained().await;
                        self.synced_once.send_replace(true);
                        self.health.kind(&self.part(), KindState::Synced);
                        self.metrics.synced(true);
                        std::future::pending().await
                    };
                    let ended = tokio::select! {
                        ended = self.watch(version, stop) => ended,
                        ended = synced => ended,
                    };
                    match ended {
                        Relist::Stopped => return,
                        Relist::Because(reason) => {
                            tracing::info!(kind = self.kind.kind(), ?reason, "Listing again");
                            self.metrics.watch_restarted(reason);
                        }
                    }
                }
                Err(error) => {
                    self.not_listed(&error, failures);
                    let pause = match error.refusal() {
                        Refusal::NotFound => NOT_INSTALLED,
                        Refusal::Expired => Duration::ZERO,
                        _ => pause(failures),
                    };
                    failures += 1;
                    tokio::select! {
                        () = stop.cancelled() => return,
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            }
        }
    }

    fn not_listed(&self, error: &RemoteError, failures: u32) {
        let kind = self.kind.kind();
        if error.refusal() == Refusal::NotFound {
            if failures == 0 {
                tracing::warn!(
                    kind,
                    api_version = self.kind.api_version(),
                    "This kind is not installed in the cluster: waiting for its CustomResourceDefinition"
                );
            }
            self.metrics.installed(false);
            self.health.kind(&self.part(), KindState::Waiting);
            return;
        }
        self.metrics.api_error(&error.code());
        self.health.kind(&self.part(), KindState::Failed(error.to_string()));
        if failures.is_multiple_of(20) {
            tracing::error!(kind, %error, failures, "Cannot list, trying again");
        }
    }

    /// Reads which rows are live, and at which version.
    async fn load(&self) -> Result<(), StoreError> {
        let table = self.kind.table();
        let mut after: Box<str> = "".into();
        loop {
            let rows = self.store.live(table, self.namespace.as_deref(), &after, LOADED_ROWS).await?;
            let Some(last) = rows.last() else { break };
            after = last.uid.clone();
            let mut known = self.known();
            let live = rows.into_iter().filter(|row| !row.evicted);
            live.for_each(|row| known.load(row.uid, row.res_version));
        }
        let known = self.known();
        self.metrics.objects(known.live());
        tracing::debug!(kind = self.kind.kind(), rows = known.live(), "Live rows read");
        Ok(())
    }

    /// Lists everything, page by page, and looks at what is stored but not listed. Returns the list's version.
    async fn list(&self) -> Result<u64, RemoteError> {
        let _listing = self.listing.lock().await;
        self.known().begin_list();
        let begin = tokio::time::Instant::now();
        let (mut overrule, mut objects) = (None, 0);
        let mut page = self.remote.list(None).await?;
        self.metrics.installed(true);
        let version = loop {
            // The rows were read before the list began, and a list is a consistent read: one that is behind them is of a
            // cluster whose past is not the rows' past.
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
            // The API server makes the next page while this one is taken in.
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

    /// Watches from `version` on, opening the watch again whenever it ends.
    async fn watch(&self, mut version: u64, stop: &CancellationToken) -> Relist {
        let (mut failures, mut first) = (0, true);
        loop {
            let ended = tokio::select! {
                () = stop.cancelled() => return Relist::Stopped,
                () = self.relist.notified() => return Relist::Because(Restart::Behind),
                ended = self.watch_once(&mut version, first) => ended,
            };
            first = false;
            let error = match ended {
                Ok(()) => {
                    failures = 0;
                    continue;
                }
                Err(Ended::Because(reason)) => return Relist::Because(reason),
                Err(Ended::Failed(error)) => error,
            };
            match error.refusal() {
                Refusal::Expired => return Relist::Because(Restart::Expired),
                Refusal::NotFound => return Relist::Because(Restart::NotInstalled),
                _ => {}
            }
            self.metrics.api_error(&error.code());
            self.metrics.watch_restarted(Restart::Connection);
            if failures == 3 {
                tracing::warn!(kind = self.kind.kind(), %error, "Watch lost, trying again");
            }
            tokio::select! {
                () = stop.cancelled() => return Relist::Stopped,
                () = tokio::time::sleep(pause(failures)) => {}
            }
            failures += 1;
        }
    }

    async fn watch_once(&self, version: &mut u64, first: bool) -> Result<(), Ended> {
        if !first && self.remote.version().await.map_err(Ended::Failed)? < *version {
            return Err(Ended::Because(Restart::Behind));
        }
        let mut events = std::pin::pin!(self.remote.watch(*version).await.map_err(Ended::Failed)?);
        while let Some(event) = events.next().await {
            let heard = match event.map_err(Ended::Failed)? {
                Event::Applied(text) => self.receive(text, Origin::Watch, false, false).await,
                Event::Deleted(text) => self.receive(text, Origin::Watch, true, false).await,
                Event::Bookmark(version) => Some(version),
            };
            *version = (*version).max(heard.unwrap_or_default());
            self.heard.store(*version, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes in what the API server sent; returns its version.
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
                // The answer to our own patch was faster.
                return Some(version);
            }
            if self.lacks_finalizer_only(meta) {
                self.adoption_wanted();
                return Some(version);
            }
        }
        let behind = before.is_some_and(|entry| entry.version > version) && !overrule;
        let mut item = Item::new(Work::Object { object: Box::new(object), gone }, origin);
        item.overrule = overrule;
        if behind && !gone {
            // A list that is behind the row: the object itself tells which of the two is right.
            if let Work::Object { object, .. } = item.work {
                let meta = object.meta();
                item.work = Work::Look {
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

    pub(super) fn parse_as_it_is(&self, text: Box<str>) -> Result<Object, (Box<str>, String)> {
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

/// Why a watch has ended before its time.
enum Ended {
    Failed(RemoteError),
    Because(Restart),
}

/// From 100 ms on, twice as long each time, up to [`LONGEST_PAUSE`]; at random a little shorter, so that thirteen kinds do
/// not come in step to an API server that has just started.
pub(super) fn pause(failures: u32) -> Duration {
    let full = Duration::from_millis(100).saturating_mul(1 << failures.min(16)).min(LONGEST_PAUSE);
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), failures);
    full.mul_f64(0.5 + (random % 1000) as f64 / 2000.0)
}

/// What a task that panicked said.
pub(super) fn panic_of(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => match panic.downcast_ref::<&str>() {
            Some(text) => (*text).to_owned(),
            None => panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "no reason given".into()),
        },
        Err(error) => error.to_string(),
    }
}
