//! The pipeline of one unit: received objects go through `prepare`, `commit` and `acknowledge`. Each step takes the output of the step
//! before.
//!
//! May use: ingester-core, ingester-store, backoff, budget, cluster, dependents, events, lifecycle, metrics, policies, unit.
//!
//! | phase | takes | makes |
//! |---|---|---|
//! | `queue` | received objects, each an [`Item`](work::Item) | batches of items, each object with one worker at a time |
//! | `prepare` | an item | a `Write`, a `Rejection`, or a `Request` that has to come first |
//! | `commit` | the writes of a batch, in one transaction | an `Acknowledgement` for each stored object |
//! | `acknowledge` | an acknowledgement | finalizers removed, objects deleted |
//!
//! `decide` asks `lifecycle` for the next step of an object. `known` remembers each object, `packed` its uid in few bytes, and `evictions` the objects that were evicted
//! last. `choices` decides whether evictions by rules go on, `additions` adds our finalizer, `settling` gathers changes, `spool` keeps the objects of a
//! large fill in a temporary file, `left_out` keeps
//! rows that a changed filter would mark, `ghost` leaves objects alone that had left etcd, `ignored` reports annotations without effect.
//! Requests to the API server run concurrently with the batches: a slow request delays only its own object.
//!
//! # Guarantees
//! - SQL is committed before any finalizer is removed and any object is deleted: only a commit makes an acknowledgement. After a crash at
//!   any point, every step can be repeated.
//! - A request changes only the stored version: patches and deletions carry uid and resourceVersion.
//! - A tombstone is only written for an object that was looked up and is gone, and never over an evicted row: there it confirms the eviction.
//! - An object that a rule chose is evicted in the judged version, or in that version without our finalizer. If it has changed, it stays.
//! - Once the rules of a kind have changed, or the kind is being suspended, no further request is sent that takes an object out of etcd.
//! - If an object that had left the cluster exists there again, nothing changes: a person decides, see `ghost`.
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
mod packed;
mod prepare;
mod queue;
mod request;
mod settling;
mod spool;
mod work;

pub(crate) use evictions::{EvictedObject, Evictions, LossChanges};
pub(crate) use known::{KnownObject, ObjectMemory, RowState, UnlistedObjects};
pub(crate) use left_out::HOLDS;
pub(crate) use prepare::forgotten;
pub(crate) use queue::{Queue, TakenObjects};
pub(crate) use spool::may_block;
pub(crate) use work::{Arrival, Item, LookReason, ObjectRef, Work, bytes_of, uid_of};

use crate::unit::{Unit, UnitStopError};
use ingester_core::object::{Meta, owner_uids};
use left_out::WithheldRows;
use parking_lot::{Mutex, MutexGuard};
use request::Requests;
use settling::SettlingObjects;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, RwLock, Semaphore};

/// The most objects in one transaction, and in one portion that a round of rules hands on.
pub(crate) const MOST_OBJECTS: usize = 256;

/// Roughly the most bytes of objects in one transaction; a single object may have more.
const MOST_BYTES: usize = 2 << 20;

/// The number of objects that are looked at or acknowledged at a time. An object that was looked at counts until it is written.
const REQUESTS: usize = 16;

/// The queue and the workers of one unit, and what they remember.
pub(crate) struct Pipeline {
    pub(crate) unit: Unit,
    pub(crate) queue: Queue,
    known: Mutex<ObjectMemory>,
    evictions: Mutex<Evictions>,
    settling: Mutex<SettlingObjects>,
    withheld: Mutex<WithheldRows>,
    /// Wakes the task that judges whether the rows that a changed filter leaves out may be marked.
    pub(crate) filter_asked: Notify,
    /// Wakes the task that adds our finalizer: some objects lack it.
    pub(crate) finalizers_missing: Notify,
    /// Asks for another list: the cluster is behind the version that was observed, or an object was lost that a list had brought.
    pub(crate) relist: Notify,
    /// Counts how often the cluster went back to an earlier state.
    restores: AtomicU32,
    /// Held for reading by all tasks that write concurrently with the workers.
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
            relist: Notify::new(),
            restores: AtomicU32::new(0),
            writing: RwLock::default(),
            looks: Arc::new(Semaphore::new(REQUESTS)),
            acknowledgements: Semaphore::new(REQUESTS),
            unit,
        }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, ObjectMemory> {
        self.known.lock()
    }

    /// Remembers the owners of an object whose row does not show them.
    fn remember_owners(&self, uid: &str, text: &str) {
        // If parsing fails here, the probe of `Work::Broken` has already read as much of the text as possible.
        if let Ok(owners) = owner_uids(text) {
            self.known().owned_by(uid, owners);
        }
    }

    /// The objects that were evicted last.
    pub(crate) fn evictions(&self) -> MutexGuard<'_, Evictions> {
        self.evictions.lock()
    }

    /// The objects whose rows a changed filter leaves out.
    fn withheld(&self) -> MutexGuard<'_, WithheldRows> {
        self.withheld.lock()
    }

    /// Requests that our finalizer is soon added to the objects that lack it.
    pub(crate) fn request_finalizers(&self) {
        self.finalizers_missing.notify_one();
    }

    /// Returns how long the changes of one object are gathered.
    fn settling_time(&self) -> Duration {
        self.unit.config().ingester.settle_of(self.unit.kind.name())
    }

    /// Gathers a change of a stored object that arrives in a watch and may wait. Returns true if an earlier change was just written: then
    /// the object is looked at later, once for all changes until then.
    pub(crate) fn gather(&self, meta: &Meta) -> bool {
        let settle = self.settling_time();
        let delay = {
            let mut settling = self.settling.lock();
            settling.arrives(&meta.uid, settle)
        };
        delay.is_some_and(|delay| self.queue.gather(Item::look(ObjectRef::from_meta(meta), LookReason::Due, 0), delay))
    }

    /// Records that the cluster went back to an earlier state, which is listed next. Everything that was received before belongs to a lost
    /// past. It is not written any more, however long the database was away: the list brings the true state of the objects.
    pub(crate) fn went_back(&self) {
        self.restores.fetch_add(1, Ordering::Relaxed);
        let received = self.queue.withdraw();
        let mut known = self.known();
        received.iter().for_each(|uid| known.doubt(uid));
    }

    /// Returns true if the cluster has gone back since `restores` was read.
    fn is_outdated(&self, restores: u32) -> bool {
        self.restores.load(Ordering::Relaxed) != restores
    }

    /// Works until the unit stops; then finishes the work that has begun.
    pub(crate) async fn work(self: Arc<Self>) {
        let mut requests = Requests::new(self.clone());
        loop {
            let taken = tokio::select! {
                biased;
                () = self.unit.stop.cancelled() => break,
                () = requests.ended() => continue,
                taken = self.queue.take(MOST_OBJECTS, MOST_BYTES), if requests.has_room() => taken,
                // All requests that this worker has begun may be waiting for the permits of these objects.
                taken = self.queue.take_handed_back(MOST_OBJECTS, MOST_BYTES), if !requests.has_room() => taken,
            };
            if self.reconcile(taken, &mut requests).await.is_err() {
                break;
            }
        }
        // Drop no request halfway: nothing may take effect once a unit has stopped.
        requests.finish().await;
    }

    /// Does other work of the unit until the unit stops. A write in progress is finished first.
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

    /// Works until only delayed work is left.
    pub(crate) async fn settle(self: &Arc<Self>) {
        let mut requests = Requests::new(self.clone());
        while !self.queue.is_idle() {
            tokio::select! {
                biased;
                () = requests.ended() => {}
                taken = self.queue.take(MOST_OBJECTS, MOST_BYTES) => {
                    if self.reconcile(taken, &mut requests).await.is_err() {
                        return;
                    }
                }
            }
        }
        requests.finish().await;
    }

    async fn reconcile(&self, taken: TakenObjects, requests: &mut Requests) -> Result<(), UnitStopError> {
        let TakenObjects { mut items, spooled } = taken;
        let restores = self.restores.load(Ordering::Relaxed);
        if let Some(spooled) = spooled {
            items.extend(self.read_spooled(spooled).await);
        }
        let working = self.unit.metrics.work(items.len());
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
