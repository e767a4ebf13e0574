//! Takes batches from the queue: reads objects again where needed, decodes, writes one transaction, then sends the requests
//! to Kubernetes.
//!
//! # Guarantees
//! - SQL is committed before any finalizer is removed and any object is deleted. Every step can be repeated after a crash at
//!   any point.
//! - A request changes only the version that is stored: patches and deletions carry uid and resourceVersion.
//! - An object that cannot be read, decoded, stored or acknowledged never blocks others.

use super::commit::Stopped;
use super::controller::Controller;
use super::job::{Job, ObjectRef};
use super::known::RowState;
use super::lifecycle::{Circumstances, Plan, State, Then, asks_for_deletion, plan};
use super::work::{Item, Origin, Work};
use crate::metrics::Skip;
use futures::{FutureExt as _, StreamExt as _};
use ingester_core::object::{Identity, Meta, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::RowChange;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The most objects in one transaction.
const MOST_OBJECTS: usize = 256;

/// Roughly the most bytes of objects in one transaction; a single object may have more.
const MOST_BYTES: usize = 4 << 20;

/// A batch of up to this many objects is logged object by object at level info, a larger one as a whole.
pub(super) const LOGGED_SINGLY: usize = 3;

/// How many requests to the API server one batch has in flight.
const REQUESTS: usize = 16;

impl Controller {
    /// Works until `stop` is cancelled; then the current batch is finished.
    pub(super) async fn work(&self, stop: &CancellationToken) {
        loop {
            let items = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                items = self.queue.take(MOST_OBJECTS, MOST_BYTES) => items,
            };
            if self.reconcile(items, stop).await.is_err() {
                return;
            }
        }
    }

    /// Works until the queue is idle.
    pub(super) async fn settle(&self, stop: &CancellationToken) {
        while !self.queue.is_idle() {
            let items = self.queue.take(MOST_OBJECTS, MOST_BYTES).await;
            if self.reconcile(items, stop).await.is_err() {
                return;
            }
        }
    }

    async fn reconcile(&self, items: Vec<Item>, stop: &CancellationToken) -> Result<(), Stopped> {
        let working = self.metrics.work(items.len());
        let uids: Vec<Box<str>> = items.iter().map(|item| item.uid.clone()).collect();
        let singly = items.len() <= LOGGED_SINGLY;
        items.iter().for_each(|item| {
            let (namespace, name) = item.names();
            self.log(singly, namespace, name, "Reconciling object");
        });
        let preparing: Vec<_> = items.into_iter().map(|item| self.prepare(item).boxed()).collect();
        let prepared: Vec<Option<Job>> = futures::stream::iter(preparing).buffered(REQUESTS).collect().await;
        let mut jobs: Vec<Job> = prepared.into_iter().flatten().collect();
        if !jobs.is_empty() {
            self.commit(&mut jobs, stop).await?;
            let waiting = jobs.iter().filter(|job| job.then != Then::Nothing || job.again.is_some());
            let requests: Vec<_> = waiting.map(|job| self.acknowledge(job).boxed()).collect();
            futures::stream::iter(requests).buffer_unordered(REQUESTS).collect::<()>().await;
        }
        self.queue.done(uids.iter().map(AsRef::as_ref));
        drop(working);
        Ok(())
    }

    /// One log line per object, as in the reference system: at level info for small batches, at debug for large ones, which
    /// have a line of their own.
    pub(super) fn log(&self, singly: bool, namespace: &str, name: &str, message: &'static str) {
        let kind = self.kind.kind();
        if singly {
            tracing::info!(kind, namespace, name, "{message}");
        } else {
            tracing::debug!(kind, namespace, name, "{message}");
        }
    }

    /// Turns an item into a job; `None` if there is nothing to do now.
    async fn prepare(&self, item: Item) -> Option<Job> {
        let Item { uid, work, origin, since, attempt, overrule, behind } = item;
        let mut job = Job {
            object: ObjectRef { uid, namespace: "".into(), name: "".into(), version: 0 },
            meta: None,
            change: None,
            wanted: None,
            pairs: None,
            state: None,
            then: Then::Nothing,
            again: None,
            overrule,
            origin,
            since,
            attempt,
            left_out: false,
            swept: false,
            reject: None,
        };
        match work {
            // While it waited, another worker stored the answer to our own patch. This is the event of that patch.
            Work::Object { object, gone } if !overrule && self.is_echo(object.meta(), gone) => {
                self.metrics.skipped(Skip::Unchanged, 1);
                return None;
            }
            Work::Object { object, gone } => self.prepare_object(&mut job, *object, gone).await,
            Work::Broken { identity, reason } => job.reject = Some(self.reject_of(&job.object.uid, &identity, reason)),
            Work::Refresh { namespace, name, version, swept, .. } => {
                job.object = ObjectRef { namespace, name, version, ..job.object };
                let before = self.known().get(&job.object.uid);
                match self.remote.get(&job.object.namespace, &job.object.name).await {
                    Ok(text) => match text.map(|text| self.parse(text)) {
                        Some(Ok(object)) if object.meta().uid == job.object.uid => {
                            let version = object.meta().resource_version;
                            // This is the API server's current version. If a later one is stored, the cluster was restored to
                            // an earlier state.
                            job.overrule |= behind.is_some_and(|behind| version <= behind)
                                || before.is_some_and(|entry| entry.version > version);
                            self.prepare_object(&mut job, object, false).await;
                        }
                        Some(Err((identity, reason))) => {
                            job.reject = Some(self.reject_of(&job.object.uid, &identity, reason));
                        }
                        // No object has this name, or another one has it by now.
                        _ => {
                            let known = before.map(|entry| entry.version).unwrap_or_default();
                            job.object.version = version.max(known);
                            job.swept = swept;
                            job.change = Some(job.tombstone());
                        }
                    },
                    Err(error) => {
                        self.retry(&job, &error);
                        return None;
                    }
                }
            }
        }
        Some(job)
    }

    /// Parses an object. An error has as much of its identity as can be read, and the reason.
    pub(super) fn parse(&self, text: Box<str>) -> Result<Object, (Box<Identity>, String)> {
        match self.parse_text(text) {
            Ok(object) => Ok(object),
            Err((text, reason)) => Err((Box::new(Identity::probe(&text)), reason)),
        }
    }

    async fn prepare_object(&self, job: &mut Job, object: Object, gone: bool) {
        let meta = object.meta();
        job.object = ObjectRef {
            uid: meta.uid.clone(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            version: meta.resource_version,
        };
        let plan = self.plan(meta, gone);
        let row = self.row(&object);
        let mut object = object;
        let (plan, row) = match (plan.then, row) {
            // A new object: the finalizer comes first, so that the version with it is the one that is written.
            (Then::AddFinalizer, Ok(Some(row))) if job.origin == Origin::Watch => {
                match self.add_finalizer_to_new(object.meta()).await {
                    Some(patched) => {
                        let (plan, row) = (self.plan(patched.meta(), false), self.row(&patched));
                        job.object.version = patched.meta().resource_version;
                        object = patched;
                        (plan, row)
                    }
                    // Not added: the row is written anyway.
                    None => (Plan { then: Then::Nothing, ..plan }, Ok(Some(row))),
                }
            }
            (_, row) => (plan, row),
        };
        job.then = plan.then;
        job.again = plan.again;
        job.state = if gone { None } else { Some(plan.state) };
        let stored = |mut row: Row| {
            match plan.state {
                State::Live => {}
                State::Deleted => row.delete_time = Some(Micros::now()),
                State::Evicted => row.evict_time = Some(Micros::now()),
            }
            row
        };
        match row {
            Ok(Some(row)) => {
                let mut row = stored(row);
                job.pairs = Some(row.companions_hash());
                row.expected = self.known().expected(&job.object.uid);
                job.wanted = (plan.then == Then::Evict).then(|| row.clone());
                job.change = Some(RowChange::Row(row));
            }
            // The kind's predicate leaves the object out. A row that it has is from before that.
            Ok(None) => {
                job.left_out = !gone;
                job.state = None;
                job.again = None;
                if !matches!(job.then, Then::RemoveFinalizer | Then::Delete) {
                    job.then = Then::Nothing;
                }
                let known = self.known().get(&job.object.uid);
                if known.is_some_and(|entry| entry.state == RowState::Stored(State::Live)) {
                    job.change = Some(job.tombstone());
                }
            }
            Err(reason) => match self.kind.bare_row(&object) {
                // The object is about to be gone, so its text is stored without indexed columns.
                Ok(row) if plan.state == State::Deleted => {
                    tracing::warn!(kind = self.kind.kind(), namespace = %job.object.namespace, name = %job.object.name, reason,
                        "Object that cannot be decoded is deleted: stored without its indexed columns");
                    job.change = Some(RowChange::Row(stored(row)));
                }
                _ => {
                    job.then = Then::Nothing;
                    job.reject = Some(self.reject_at(&job.object, reason));
                }
            },
        }
        job.meta = Some(object.meta().clone());
    }

    fn plan(&self, meta: &Meta, gone: bool) -> Plan {
        let mut known = self.known();
        let deleted = matches!(known.get(&meta.uid), Some(entry) if entry.state == RowState::Stored(State::Deleted));
        let deleting_for = if asks_for_deletion(meta) {
            Some(known.deleting_since(&meta.uid).elapsed())
        } else {
            known.not_deleting(&meta.uid);
            None
        };
        drop(known);
        let terminating_for = meta.deletion_timestamp.as_ref().map(|time| {
            let passed = Micros::now().0.saturating_sub(time.micros().0);
            Duration::from_micros(u64::try_from(passed).unwrap_or_default())
        });
        plan(meta, self.rules, Circumstances { gone, deleted, deleting_for, terminating_for })
    }

    /// Whether an event brings nothing new. A deletion echo also drops the remembered entry.
    pub(super) fn is_echo(&self, meta: &Meta, gone: bool) -> bool {
        let Some(entry) = self.known().get(&meta.uid) else { return false };
        if gone {
            let echo = matches!(entry.state, RowState::Released | RowState::Stored(State::Evicted));
            if echo {
                self.known().remove(&meta.uid);
            }
            return echo;
        }
        entry.version == meta.resource_version && self.settled(meta)
    }

    /// Whether SQL and Kubernetes already have what this version, the remembered one, requires.
    pub(super) fn settled(&self, meta: &Meta) -> bool {
        let Some(entry) = self.known().get(&meta.uid) else { return false };
        let state = match entry.state {
            // Retried when it changes; about to be deleted; left out.
            RowState::Rejected | RowState::Released | RowState::LeftOut => return true,
            RowState::Stored(state) => state,
        };
        let plan = self.plan(meta, false);
        state == plan.state && plan.again.is_none() && plan.then == Then::Nothing
    }

    /// Whether only our finalizer is missing.
    pub(super) fn lacks_finalizer_only(&self, meta: &Meta) -> bool {
        let stored = self.known().get(&meta.uid).is_some_and(|entry| {
            entry.version == meta.resource_version && entry.state == RowState::Stored(State::Live)
        });
        stored && self.plan(meta, false).then == Then::AddFinalizer
    }

    /// The object's row. A decoder that panics is an error of this object, like any other.
    pub(super) fn row(&self, object: &Object) -> Result<Option<Row>, String> {
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.kind.row(object))) {
            Ok(row) => {
                if let Ok(Some(row)) = &row
                    && !row.lost.is_nothing()
                {
                    let (meta, lost) = (object.meta(), row.lost);
                    self.metrics.lost(lost);
                    tracing::debug!(kind = self.kind.kind(), namespace = %meta.namespace, name = %meta.name,
                        fields = lost.fields, enums = lost.enums, values = lost.values,
                        "The message of this kind has no place for a part of the object: it is in `json` only");
                }
                row.map_err(|error| error.to_string())
            }
            Err(_) => Err("the decoder of this kind panicked; please report it with the object".into()),
        }
    }
}
