//! The pipeline of one unit: received objects go through `prepare`, `commit` and `acknowledge`, each of which takes what the step
//! before it made.
//!
//! May use: ingester-core, ingester-store, backoff, budget, cluster, dependents, events, lifecycle, metrics, policies, unit.
//!
//! | phase | takes | makes |
//! |---|---|---|
//! | `queue` | what was received, an [`Item`](work::Item) | batches of items, each object with one worker at a time |
//! | `prepare` | an item | a `Write`, a `Rejection`, or a `Request` that has to come first |
//! | `commit` | the writes of a batch, in one transaction | an `Acknowledgement` of each object that is stored |
//! | `acknowledge` | an acknowledgement | finalizers removed, objects deleted |
//!
//! `decide` asks `lifecycle` what happens next with an object. `known` is what is remembered of each object, `evictions` of those that were evicted last. `choices` decides whether evictions by rules go on,
//! `additions` adds our finalizer, `settling` gathers changes, `left_out` keeps rows that a
//! changed filter would mark, `ghost` leaves alone what had left etcd, `ignored` reports annotations without effect.
//! Requests to the API server run concurrently with the batches: a slow request delays only its own object.
//!
//! # Guarantees
//! - SQL is committed before any finalizer is removed and any object is deleted: only a commit makes an acknowledgement. Every step
//!   can be repeated after a crash at any point.
//! - A request changes only the version that is stored: patches and deletions carry uid and resourceVersion.
//! - A tombstone is only written for an object that was looked up and is gone, and never over an evicted row: there it confirms the eviction.
//! - An object that a rule has chosen is evicted in the judged version, or in that version without our finalizer. If it has changed, it stays.
//! - Once the rules of a kind have changed, or the kind is being suspended, no further request is sent that takes an object out of etcd.
//! - If an object that had left the cluster is there again, nothing changes: a person decides, see `ghost`.
//! - An object that cannot be read, decoded, stored or acknowledged never blocks others.
//! - Every failure is retried after a pause.

mod acknowledge;
mod additions;
mod choices;
mod commit;
mod decide;
mod evictions;
mod ghost;
mod ignored;
mod known;
mod left_out;
mod prepare;
mod queue;
mod request;
mod settling;
mod work;

pub(crate) use evictions::{EvictedObject, Evictions, LossChanges};
pub(crate) use known::{Known, KnownObject, RowState, Unseen};
pub(crate) use left_out::HOLDS;
pub(crate) use prepare::forgotten;
pub(crate) use queue::Queue;
pub(crate) use work::{Arrival, Item, ObjectRef, Why, Work, bytes_of, uid_of};

use crate::unit::{Stopped, Unit};
use ingester_core::object::{Meta, owner_uids};
use left_out::Withheld;
use parking_lot::{Mutex, MutexGuard};
use request::Requests;
use settling::Settling;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, RwLock, Semaphore};

/// The most objects in one transaction, and of those that a round of rules hands on at a time.
pub(crate) const MOST_OBJECTS: usize = 256;

/// Roughly the most bytes of objects in one transaction; a single object may have more.
const MOST_BYTES: usize = 2 << 20;

/// How many objects are looked at or acknowledged at a time. An object that was looked at counts until it is written.
const REQUESTS: usize = 16;

/// The queue and the workers of one unit, and what they remember.
pub(crate) struct Pipeline {
    pub(crate) unit: Unit,
    pub(crate) queue: Queue,
    known: Mutex<Known>,
    evictions: Mutex<Evictions>,
    settling: Mutex<Settling>,
    withheld: Mutex<Withheld>,
    /// Rows that a changed filter leaves out wait for a verdict.
    pub(crate) filter_asked: Notify,
    /// Some objects lack our finalizer.
    pub(crate) finalizers_missing: Notify,
    /// Counts how often the cluster went back to an earlier state.
    restores: AtomicU32,
    /// Held for reading by all tasks that write beside the workers.
    pub(crate) writing: RwLock<()>,
    looks: Arc<Semaphore>,
    acknowledgements: Semaphore,
}

impl Pipeline {
    pub(crate) fn new(unit: Unit) -> Self {
        Pipeline {
            queue: Queue::new(unit.metrics.clone()),
            known: Mutex::default(),
            evictions: Mutex::default(),
            settling: Mutex::default(),
            withheld: Mutex::default(),
            filter_asked: Notify::new(),
            finalizers_missing: Notify::new(),
            restores: AtomicU32::new(0),
            writing: RwLock::default(),
            looks: Arc::new(Semaphore::new(REQUESTS)),
            acknowledgements: Semaphore::new(REQUESTS),
            unit,
        }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }

    /// Remembers the owners of an object whose row does not say them.
    fn remember_owners(&self, uid: &str, text: &str) {
        // A text that cannot be read that far is one that the probe of `Work::Broken` has read as far as that is possible.
        if let Ok(owners) = owner_uids(text) {
            self.known().owned_by(uid, owners);
        }
    }

    /// The objects that were evicted last.
    pub(crate) fn evictions(&self) -> MutexGuard<'_, Evictions> {
        self.evictions.lock()
    }

    /// The objects whose rows a changed filter leaves out.
    fn withheld(&self) -> MutexGuard<'_, Withheld> {
        self.withheld.lock()
    }

    /// Some objects lack our finalizer: add it soon.
    pub(crate) fn request_finalizers(&self) {
        self.finalizers_missing.notify_one();
    }

    /// Returns how long the changes of one object are gathered.
    fn settling_time(&self) -> Duration {
        self.unit.config().ingester.settle_of(self.unit.kind.name())
    }

    /// A change of a stored object arrives in a watch and may wait. Returns true if an earlier change was just written: then the object is looked at
    /// later, once for all changes until then.
    pub(crate) fn gather(&self, meta: &Meta) -> bool {
        let settle = self.settling_time();
        let delay = {
            let mut settling = self.settling.lock();
            settling.arrives(&meta.uid, settle)
        };
        delay.is_some_and(|delay| self.queue.gather(Item::look(ObjectRef::of(meta), Why::Due, 0), delay))
    }

    /// The cluster went back to an earlier state, which is listed next. What was received before belongs to a lost past: it is
    /// not written any more, however long the database has been away. The list tells the true state of the objects.
    pub(crate) fn went_back(&self) {
        self.restores.fetch_add(1, Ordering::Relaxed);
        let received = self.queue.withdraw();
        let mut known = self.known();
        received.iter().for_each(|uid| known.doubt(uid));
    }

    /// Whether the cluster went back since it had done so that often.
    fn is_outdated(&self, restores: u32) -> bool {
        self.restores.load(Ordering::Relaxed) != restores
    }

    /// Works until the unit stops; then what was begun is finished.
    pub(crate) async fn work(self: Arc<Self>) {
        let mut requests = Requests::new(self.clone());
        loop {
            let items = tokio::select! {
                biased;
                () = self.unit.stop.cancelled() => break,
                () = requests.ended() => continue,
                items = self.queue.take(MOST_OBJECTS, MOST_BYTES), if requests.has_room() => items,
                // All requests that this worker has begun may wait for the permits of these objects.
                items = self.queue.take_handed_back(MOST_OBJECTS, MOST_BYTES), if !requests.has_room() => items,
            };
            if self.reconcile(items, &mut requests).await.is_err() {
                break;
            }
        }
        // None of them is dropped halfway, because nothing may take effect once a unit has stopped.
        requests.finish().await;
    }

    /// Does other work of the unit until that stops. What is being written then is finished first.
    pub(crate) async fn until_stopped(&self, work: impl Future<Output = ()>) {
        let stopped = async {
            self.unit.stop.cancelled().await;
            // Work that wants to write from now on waits, and is dropped.
            drop(self.writing.write().await);
        };
        tokio::select! {
            biased;
            () = stopped => {}
            () = work => {}
        }
    }

    /// Works until nothing waits any more but what is delayed.
    pub(crate) async fn settle(self: &Arc<Self>) {
        let mut requests = Requests::new(self.clone());
        while !self.queue.is_idle() {
            tokio::select! {
                biased;
                () = requests.ended() => {}
                items = self.queue.take(MOST_OBJECTS, MOST_BYTES) => {
                    if self.reconcile(items, &mut requests).await.is_err() {
                        return;
                    }
                }
            }
        }
        requests.finish().await;
    }

    async fn reconcile(&self, items: Vec<Item>, requests: &mut Requests) -> Result<(), Stopped> {
        let working = self.unit.metrics.work(items.len());
        let restores = self.restores.load(Ordering::Relaxed);
        for item in &items {
            let (namespace, name) = item.names();
            tracing::debug!(namespace, name, "Reconciling object");
        }
        let batch = self.prepare(items).await?;
        for request in batch.requests {
            requests.send(request);
        }
        self.queue.done(batch.done.iter().map(AsRef::as_ref));
        for acknowledgement in self.commit(batch.writes, batch.rejections, restores).await? {
            requests.acknowledge(acknowledgement);
        }
        drop(working);
        Ok(())
    }
}
