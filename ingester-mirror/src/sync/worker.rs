//! Takes batches from the queue: reads what is to be looked at, decodes, writes one transaction, and then tells Kubernetes.
//!
//! # Guarantees
//! - SQL is committed before Kubernetes is told; every step may be repeated after a crash at any point.
//! - What Kubernetes is told holds for the very version that is stored: patches and deletions carry uid and resourceVersion.
//! - One object that cannot be read, decoded, stored or acknowledged holds up no other.

use super::commit::Stopped;
use super::controller::Controller;
use super::job::{Job, Place};
use super::known::Standing;
use super::lifecycle::{Circumstances, Plan, State, Then, asks_for_deletion, plan};
use super::work::{Item, Origin, Work};
use crate::metrics::Skip;
use futures::{FutureExt as _, StreamExt as _};
use ingester_core::object::{Identity, Meta, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::Change;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Objects in one transaction, at most.
const MOST_OBJECTS: usize = 256;

/// Bytes of objects in one transaction, about, unless one alone has more.
const MOST_BYTES: usize = 4 << 20;

/// Up to so many objects in a batch are logged one by one at level info; of more, the batch is.
pub(super) const LOGGED_SINGLY: usize = 3;

/// Requests to the API server that one batch has under way at a time.
const REQUESTS: usize = 16;

impl Controller {
    /// Works until told to stop; the batch in hand is finished.
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

    /// Works until nothing waits.
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
            let telling: Vec<_> = waiting.map(|job| self.acknowledge(job).boxed()).collect();
            futures::stream::iter(telling).buffer_unordered(REQUESTS).collect::<()>().await;
        }
        self.queue.done(uids.iter().map(AsRef::as_ref));
        drop(working);
        Ok(())
    }

    /// One line an object, as the reference system's: at level info while few change, at debug where a line says it of a batch.
    pub(super) fn log(&self, singly: bool, namespace: &str, name: &str, message: &'static str) {
        let kind = self.kind.kind();
        if singly {
            tracing::info!(kind, namespace, name, "{message}");
        } else {
            tracing::debug!(kind, namespace, name, "{message}");
        }
    }

    /// Turns an item into what is to be written; `None` where it is to be looked at again later.
    async fn prepare(&self, item: Item) -> Option<Job> {
        let Item { uid, work, origin, since, attempt, overrule, behind } = item;
        let mut job = Job {
            place: Place { uid, namespace: "".into(), name: "".into(), version: 0 },
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
            // While it waited, another worker has stored the answer to our own patch, of which this is the echo.
            Work::Object { object, gone } if !overrule && self.is_echo(object.meta(), gone) => {
                self.metrics.skipped(Skip::Unchanged, 1);
                return None;
            }
            Work::Object { object, gone } => self.prepare_object(&mut job, *object, gone).await,
            Work::Broken { identity, reason } => job.reject = Some(self.reject_of(&job.place.uid, &identity, reason)),
            Work::Look { namespace, name, version, swept, .. } => {
                job.place = Place { namespace, name, version, ..job.place };
                let before = self.known().get(&job.place.uid);
                match self.remote.get(&job.place.namespace, &job.place.name).await {
                    Ok(text) => match text.map(|text| self.parse(text)) {
                        Some(Ok(object)) if object.meta().uid == job.place.uid => {
                            let version = object.meta().resource_version;
                            // The API server has just said what it is at: what is stored beyond that is of a past that is gone.
                            job.overrule |= behind.is_some_and(|behind| version <= behind)
                                || before.is_some_and(|entry| entry.version > version);
                            self.prepare_object(&mut job, object, false).await;
                        }
                        Some(Err((identity, reason))) => {
                            job.reject = Some(self.reject_of(&job.place.uid, &identity, reason));
                        }
                        // There is none of the name, or another one by now.
                        _ => {
                            let known = before.map(|entry| entry.version).unwrap_or_default();
                            job.place.version = version.max(known);
                            job.swept = swept;
                            job.change = Some(job.tombstone());
                        }
                    },
                    Err(error) => {
                        self.refused(&job, &error);
                        return None;
                    }
                }
            }
        }
        Some(job)
    }

    /// Reads a text; where it is no object, what can be told of it and why.
    pub(super) fn parse(&self, text: Box<str>) -> Result<Object, (Box<Identity>, String)> {
        match self.parse_as_it_is(text) {
            Ok(object) => Ok(object),
            Err((text, reason)) => Err((Box::new(Identity::probe(&text)), reason)),
        }
    }

    async fn prepare_object(&self, job: &mut Job, object: Object, gone: bool) {
        let meta = object.meta();
        job.place = Place {
            uid: meta.uid.clone(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            version: meta.resource_version,
        };
        let plan = self.plan(meta, gone);
        let row = self.row(&object);
        let mut object = object;
        let (plan, row) = match (plan.then, row) {
            // It appeared while the process runs: its finalizer first, so that what is written is its last state.
            (Then::Adopt, Ok(Some(row))) if job.origin == Origin::Watch => match self.adopt_new(object.meta()).await {
                Some(adopted) => {
                    let (plan, row) = (self.plan(adopted.meta(), false), self.row(&adopted));
                    job.place.version = adopted.meta().resource_version;
                    object = adopted;
                    (plan, row)
                }
                // Refused: the row is written all the same.
                None => (Plan { then: Then::Nothing, ..plan }, Ok(Some(row))),
            },
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
                job.pairs = Some(row.pairs_hash());
                row.believed = self.known().believed(&job.place.uid);
                job.wanted = (plan.then == Then::Evict).then(|| row.clone());
                job.change = Some(Change::Row(row));
            }
            // The kind's predicate leaves it out: where it has a row, that is of a time when it did not.
            Ok(None) => {
                job.left_out = !gone;
                job.state = None;
                job.again = None;
                if !matches!(job.then, Then::Release | Then::Delete) {
                    job.then = Then::Nothing;
                }
                let known = self.known().get(&job.place.uid);
                if known.is_some_and(|entry| entry.standing == Standing::Stored(State::Live)) {
                    job.change = Some(job.tombstone());
                }
            }
            Err(reason) => match self.kind.bare_row(&object) {
                // It goes for good: its text is kept, whatever its columns would have been.
                Ok(row) if plan.state == State::Deleted => {
                    tracing::warn!(kind = self.kind.kind(), namespace = %job.place.namespace, name = %job.place.name, reason,
                        "Object that cannot be decoded is deleted: stored without its indexed columns");
                    job.change = Some(Change::Row(stored(row)));
                }
                _ => {
                    job.then = Then::Nothing;
                    job.reject = Some(self.reject_at(&job.place, reason));
                }
            },
        }
        job.meta = Some(object.meta().clone());
    }

    fn plan(&self, meta: &Meta, gone: bool) -> Plan {
        let mut known = self.known();
        let deleted = matches!(known.get(&meta.uid), Some(entry) if entry.standing == Standing::Stored(State::Deleted));
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

    /// Whether what was heard of an object says nothing new. An end that does not is forgotten.
    pub(super) fn is_echo(&self, meta: &Meta, gone: bool) -> bool {
        let Some(entry) = self.known().get(&meta.uid) else { return false };
        if gone {
            let said = matches!(entry.standing, Standing::Released | Standing::Stored(State::Evicted));
            if said {
                self.known().remove(&meta.uid);
            }
            return said;
        }
        entry.version == meta.resource_version && self.settled(meta)
    }

    /// Whether SQL and Kubernetes already are as this version, the known one, asks.
    pub(super) fn settled(&self, meta: &Meta) -> bool {
        let Some(entry) = self.known().get(&meta.uid) else { return false };
        let state = match entry.standing {
            // Tried again when it changes; on its way out; left out.
            Standing::Rejected | Standing::Released | Standing::LeftOut => return true,
            Standing::Stored(state) => state,
        };
        let plan = self.plan(meta, false);
        state == plan.state && plan.again.is_none() && plan.then == Then::Nothing
    }

    /// Whether only our finalizer is missing.
    pub(super) fn lacks_finalizer_only(&self, meta: &Meta) -> bool {
        let stored = self.known().get(&meta.uid).is_some_and(|entry| {
            entry.version == meta.resource_version && entry.standing == Standing::Stored(State::Live)
        });
        stored && self.plan(meta, false).then == Then::Adopt
    }

    /// The row; a decoder that panics is its object's fault, as any other error of it.
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
