//! The requests to Kubernetes after the commit: they remove finalizers, delete objects and evict them. Failed requests are tried again.

use super::Pipeline;
use super::known::{RowState, Stage};
use super::work::{Arrival, Item, LookReason, ObjectRef, Work};
use crate::backoff::delay;
use crate::cluster::{ApiError, ApiErrorKind, Deletion};
use crate::events::Subject;
use crate::lifecycle::{Action, finalizer};
use crate::metrics::Outcome;
use crate::unit::{Unit, in_time};
use ingester_core::marks::Mark;
use ingester_core::object::{Meta, Object};
use ingester_core::row::{Eviction, Row};
use ingester_store::compare::differences;

/// After this many refusals in a row, a patch counts as refused. Fewer can have another cause: the object changes all the time.
pub(super) const REFUSALS: u32 = 3;

/// An object whose row is committed, for the next request about it.
#[derive(Debug)]
pub(super) struct StoredObject {
    /// The metadata of the version that the row has.
    pub(super) meta: Meta,
    /// The row that was written, if it is read back before the request.
    pub(super) row: Option<Box<Row>>,
}

/// The requests for one object whose row is committed.
#[derive(Debug)]
pub(super) struct Acknowledgement {
    pub(super) object: ObjectRef,
    pub(super) then: Action,
    pub(super) subject: StoredObject,
    pub(super) attempt: u32,
}

/// The reason why an eviction does not go on although its row is stored.
#[derive(Debug)]
pub(super) enum Halt {
    /// The unit stops, or its kind is being suspended.
    Stopping,
    /// The object stays: the rules that chose it have changed, or the object has.
    Withdrawn,
    /// The API server did not carry it out.
    Failed(ApiError),
}

impl From<ApiError> for Halt {
    fn from(error: ApiError) -> Self {
        Halt::Failed(error)
    }
}

impl ObjectRef {
    /// The subject of an Event.
    pub(crate) fn subject<'a>(&'a self, api_version: &'a str, resource_version: &'a str) -> Subject<'a> {
        let ObjectRef { uid, namespace, name, .. } = self;
        Subject { api_version, namespace, name, uid, resource_version }
    }
}

impl Pipeline {
    /// Sends the requests that follow a commit.
    pub(super) async fn acknowledge(&self, acknowledgement: Acknowledgement) {
        let Acknowledgement { object, then, subject, attempt } = acknowledgement;
        let StoredObject { meta, row } = subject;
        // Many may have waited for their turn. Suspending a kind does not wait for them.
        if !self.unit.may_begin() {
            return self.halted(object, attempt, &Halt::Stopping);
        }
        let result = match then {
            // The rounds that add finalizers send these.
            Action::Nothing | Action::AddFinalizer => Ok(()),
            Action::RemoveFinalizer => self.remove_finalizer(&meta).await.map(drop),
            Action::Delete => self.unit.cluster.delete(&meta).await.map(drop),
            Action::Evict => return self.evict_stored(object, &meta, row.as_deref(), attempt).await,
        };
        if let Err(error) = result {
            self.try_again(object, LookReason::Due, attempt, &error);
        }
    }

    /// Evicts an object whose row is committed, unless the object may stay again.
    async fn evict_stored(&self, object: ObjectRef, meta: &Meta, row: Option<&Row>, attempt: u32) {
        if let Err(halt) = self.may_evict(meta) {
            return self.halted(object, attempt, &halt);
        }
        let read_back = match row {
            Some(row) => self.read_back(row).await,
            None => Err("the written row was not kept".to_owned()),
        };
        if let Err(reason) = read_back {
            self.unit.metrics.eviction_failed();
            return self.not_stored(object, attempt, &reason);
        }
        if let Err(halt) = self.evict(meta).await {
            self.halted(object, attempt, &halt);
        }
    }

    /// Removes our finalizer. Returns the object without it.
    pub(super) async fn remove_finalizer(&self, meta: &Meta) -> Result<Option<Object>, ApiError> {
        let Some(patch) = finalizer::removal(meta, self.unit.kind.marks()) else { return Ok(None) };
        let text = self.unit.cluster.patch(&meta.namespace, &meta.name, &patch).await?;
        self.unit.metrics.finalizers_removed(1);
        let held = self.known().hold(&meta.uid, false);
        self.unit.metrics.held(held);
        let Ok(object) = self.unit.parse(text) else { return Ok(None) };
        // Without finalizers, the API server deletes a terminating object at once. Its DELETED event brings nothing new, unless it
        // confirms an eviction.
        let mut known = self.known();
        let evicted = known.get(&meta.uid).is_some_and(|entry| entry.state.is_leaving());
        if object.meta().finalizers.is_empty() && meta.deletion_timestamp.is_some() && !evicted {
            known.set(&meta.uid, meta.resource_version, RowState::Released, None);
        }
        drop(known);
        Ok(Some(object))
    }

    /// Evicts an object whose row of this version is known to be stored correctly. If the object still has our finalizer, this removes it,
    /// and the state without it is written and read back before the object is deleted: so the row is the last state in etcd.
    async fn evict(&self, meta: &Meta) -> Result<(), Halt> {
        self.may_evict(meta)?;
        if let Some(object) = self.remove_finalizer(meta).await? {
            self.known().choices.succeed(&meta.uid, meta.resource_version, object.meta().resource_version);
            // If the object stays after all, it gets our finalizer again.
            let arrival = Arrival::Patch { again: true };
            self.queue.push(Item::new(Work::Object { object: Box::new(object), arrival }));
            return Ok(());
        }
        self.may_evict(meta)?;
        self.delete_evicted(meta).await?;
        self.unit.metrics.evicted(1);
        Ok(())
    }

    /// Deletes the object of an evicted row. If that removes the object, the row must record it.
    pub(super) async fn delete_evicted(&self, meta: &Meta) -> Result<(), ApiError> {
        let uid = &meta.uid;
        let version = meta.resource_version;
        let before = self.known().choices.sending(uid, version);
        let deletion = self.unit.cluster.delete(meta).await.inspect_err(|error| {
            // Without a Lease, nothing was sent.
            if let (ApiErrorKind::Lease, Some(before)) = (error.kind(), before) {
                self.known().choices.reach(uid, version, before);
            }
        })?;
        self.known().choices.reach(uid, version, Stage::Requested);
        // Tests that create objects remove the rows themselves.
        let is_test = meta.labels.iter().any(|(key, _)| self.unit.kind.marks().is(Mark::Validate, key));
        if !is_test {
            self.evictions().add(meta);
        }
        tracing::info!(namespace = %meta.namespace, name = %meta.name, ?deletion,
            "Immutable object evicted from etcd");
        if deletion == Deletion::Gone {
            self.known().set(&meta.uid, meta.resource_version, RowState::Left, None);
            self.queue.push(Item::new(Work::Gone { object: ObjectRef::from_meta(meta), swept: false }));
        }
        Ok(())
    }

    /// Checks that every column of a row is stored correctly, before its object is deleted. An error is the reason why not.
    async fn read_back(&self, wanted: &Row) -> Result<(), String> {
        let uids = [&*wanted.uid];
        let stored = in_time("reading an evicted row back", self.unit.rows.read_stored(&uids)).await;
        let stored = stored.map_err(|error| error.to_string())?;
        let Some(stored) = stored.first() else { return Err("there is no such row".into()) };
        // Another replica has finished this eviction, and users may have changed the row since.
        if stored.eviction == Eviction::Confirmed {
            return Ok(());
        }
        match differences(self.unit.kind.table(), wanted, stored).first() {
            None => Ok(()),
            Some(difference) => Err(difference.to_string()),
        }
    }

    /// Keeps the object in etcd and writes its row again.
    fn not_stored(&self, object: ObjectRef, attempt: u32, reason: &str) {
        let metrics = &self.unit.metrics;
        metrics.reconciled(Outcome::Error, 1);
        metrics.retried(1);
        tracing::error!(namespace = %object.namespace, name = %object.name, reason, attempt,
            "Object not evicted: its row, read back, is not what it should be");
        let pause = delay(attempt, self.unit.requeue_period());
        self.queue.push_later(Item::look(object, LookReason::Rewrite, attempt.saturating_add(1)), pause);
    }

    /// Looks at the object again, some time after an error of the API server.
    pub(super) fn try_again(&self, object: ObjectRef, why: LookReason, attempt: u32, error: &ApiError) {
        let Unit { kind, metrics, .. } = &self.unit;
        let pause = delay(attempt, self.unit.requeue_period());
        let namespace = &object.namespace;
        let name = &object.name;
        self.known().wait_for(&object.uid);
        // The next round judges an object that a rule chose again.
        let why = if why == LookReason::Judged { LookReason::Due } else { why };
        let pause = match error.kind() {
            // The object is gone, and its DELETED event follows; or the kind is not served now, and the object may exist.
            ApiErrorKind::NotFound => pause,
            ApiErrorKind::Conflict | ApiErrorKind::Expired if attempt < REFUSALS => pause / 10,
            ApiErrorKind::Conflict => {
                // The version was current, and the patch was refused anyway: by an admission webhook, for example.
                metrics.api_error(&error.code());
                metrics.reconciled(Outcome::Error, 1);
                tracing::warn!(%namespace, %name, %error, attempt, "The API server refuses a change of this object");
                let api_version = kind.api_version();
                let version = object.version.to_string();
                self.unit.publisher.held(kind, object.subject(&api_version, &version), &error.to_string());
                pause
            }
            ApiErrorKind::Transient
            | ApiErrorKind::Forbidden
            | ApiErrorKind::Other
            | ApiErrorKind::Expired
            | ApiErrorKind::Lease => {
                metrics.api_error(&error.code());
                metrics.reconciled(Outcome::Error, 1);
                tracing::warn!(%namespace, %name, %error, attempt, "Reconciler error");
                pause
            }
        };
        metrics.retried(1);
        self.queue.push_later(Item::look(object, why, attempt.saturating_add(1)), pause);
    }
}
