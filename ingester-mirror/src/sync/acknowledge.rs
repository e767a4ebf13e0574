//! The requests to Kubernetes after the commit: adding and removing finalizers, deletions, evictions; and their retries.
//!
//! # Guarantees
//! - A request changes only the version that is stored: patches and deletions carry uid and resourceVersion.
//! - Before an object is evicted, its row is read back, column by column.

use super::backoff::delay;
use super::controller::Controller;
use super::finalizer;
use super::job::{Job, ObjectRef};
use super::known::RowState;
use super::lifecycle::{State, Then};
use super::remote::{ApiError, ApiErrorKind};
use super::work::{Item, Origin};
use crate::metrics::Outcome;
use ingester_core::object::{Meta, Object};
use ingester_core::row::Row;
use ingester_store::RowChange;
use ingester_store::compare::differences;
use std::time::Duration;

/// Why an object stays in etcd for now.
enum NotEvicted {
    Api(ApiError),
    /// Its row is missing or wrong. `overrule`: the row has the object's version, so the guard would not let it be rewritten.
    NotStored {
        reason: String,
        overrule: bool,
    },
}

impl NotEvicted {
    fn not_stored(reason: String) -> Self {
        NotEvicted::NotStored { reason, overrule: false }
    }
}

impl From<ApiError> for NotEvicted {
    fn from(error: ApiError) -> Self {
        NotEvicted::Api(error)
    }
}

impl Controller {
    /// Sends the requests that the plan requires, after the commit.
    pub(super) async fn acknowledge(&self, job: &Job) {
        if let Some(delay) = job.again {
            self.refresh_later(job, delay);
        }
        let Some(meta) = &job.meta else { return };
        let result = match job.then {
            Then::Nothing => return,
            Then::AddFinalizer => return self.request_finalizers(),
            Then::RemoveFinalizer => self.remove_finalizer(meta).await,
            Then::Delete => self.delete(meta).await,
            Then::Evict => match self.evict(job, meta).await {
                Ok(()) => Ok(()),
                Err(NotEvicted::Api(error)) => Err(error),
                Err(NotEvicted::NotStored { reason, overrule }) => return self.not_stored(job, &reason, overrule),
            },
        };
        if let Err(error) = result {
            self.retry(job, &error);
        }
    }

    pub(super) async fn remove_finalizer(&self, meta: &Meta) -> Result<(), ApiError> {
        let Some(patch) = finalizer::removal(meta) else { return Ok(()) };
        let text = self.remote.patch(&meta.namespace, &meta.name, &patch).await?;
        self.metrics.finalizers_removed(1);
        // Without finalizers, the API server deletes a terminating object at once. Its DELETED event brings nothing new.
        let last = self.parse(text).is_ok_and(|object| object.meta().finalizers.is_empty());
        if last && meta.deletion_timestamp.is_some() {
            self.known().set(&meta.uid, meta.resource_version, RowState::Released, None);
        }
        Ok(())
    }

    pub(super) async fn delete(&self, meta: &Meta) -> Result<(), ApiError> {
        self.remote.delete(&meta.namespace, &meta.name, &meta.uid, meta.resource_version).await
    }

    /// Reads the row back, removes our finalizer, stores the state without it, reads that back, deletes the object.
    async fn evict(&self, job: &Job, meta: &Meta) -> Result<(), NotEvicted> {
        let Some(row) = &job.wanted else { return Ok(()) };
        self.read_back(row).await?;
        let mut last = meta.clone();
        if let Some(patch) = finalizer::removal(meta) {
            let text = self.remote.patch(&meta.namespace, &meta.name, &patch).await?;
            self.metrics.finalizers_removed(1);
            let object = self.parse(text).map_err(|(_, reason)| NotEvicted::not_stored(reason))?;
            let Some(without) = self.row(&object).map_err(NotEvicted::not_stored)? else { return Ok(()) };
            let without = Row { evict_time: row.evict_time, ..without };
            let written = self.store.write(self.kind.table(), vec![RowChange::Row(without.clone())]).await;
            self.count(&written.map_err(|error| NotEvicted::not_stored(error.to_string()))?);
            self.read_back(&without).await?;
            last = object.meta().clone();
            self.known().set(&last.uid, last.resource_version, RowState::Stored(State::Evicted), None);
        }
        self.delete(&last).await?;
        self.metrics.evicted(1);
        tracing::info!(kind = self.kind.kind(), namespace = %last.namespace, name = %last.name, "Immutable object evicted from etcd");
        Ok(())
    }

    /// Makes sure that every column of a row is stored correctly, before its object is deleted.
    async fn read_back(&self, wanted: &Row) -> Result<(), NotEvicted> {
        let table = self.kind.table();
        let stored = self.store.stored(table, &[&wanted.uid]).await;
        let stored = stored.map_err(|error| NotEvicted::not_stored(error.to_string()))?;
        let Some(stored) = stored.first() else { return Err(NotEvicted::not_stored("there is no such row".into())) };
        match differences(table, wanted, stored).first() {
            None => Ok(()),
            // The same version with other content: only a write that ignores the version can correct it.
            Some(difference) => Err(NotEvicted::NotStored { reason: difference.to_string(), overrule: true }),
        }
    }

    /// Keeps the object in etcd and writes its row again.
    fn not_stored(&self, job: &Job, reason: &str, overrule: bool) {
        let ObjectRef { namespace, name, .. } = &job.object;
        self.metrics.reconciled(Outcome::Error, 1);
        self.metrics.retried(1);
        tracing::error!(kind = self.kind.kind(), %namespace, %name, reason, attempt = job.attempt,
            "Object not evicted: its row, read back, is not what it should be");
        let mut item = Item::new(job.object.refresh(), Origin::Watch);
        item.attempt = job.attempt.saturating_add(1);
        item.overrule = overrule;
        self.queue.push_later(item, delay(job.attempt, self.settings.requeue_period));
    }

    /// Retries after an error of the API server.
    pub(super) fn retry(&self, job: &Job, error: &ApiError) {
        let ObjectRef { namespace, name, .. } = &job.object;
        let delay = delay(job.attempt, self.settings.requeue_period);
        match error.kind() {
            // The object is gone; its DELETED event follows.
            ApiErrorKind::NotFound => {}
            ApiErrorKind::Conflict | ApiErrorKind::Expired => self.refresh_later(job, delay / 10),
            ApiErrorKind::Transient | ApiErrorKind::Forbidden | ApiErrorKind::Other => {
                self.metrics.api_error(&error.code());
                self.metrics.reconciled(Outcome::Error, 1);
                tracing::warn!(kind = self.kind.kind(), %namespace, %name, %error, attempt = job.attempt, "Reconciler error");
                self.refresh_later(job, delay);
            }
        }
    }

    /// Reads the object again after `delay`.
    pub(super) fn refresh_later(&self, job: &Job, delay: Duration) {
        let mut item = Item::new(job.object.refresh(), Origin::Watch);
        // A planned refresh is not a failure.
        if job.again.is_none() {
            item.attempt = job.attempt.saturating_add(1);
            self.metrics.retried(1);
        }
        self.queue.push_later(item, delay);
    }

    /// A later version is stored than the one that was written: another ingester was faster, or the cluster was restored to
    /// an earlier state. Reading the object again tells which.
    pub(super) fn refresh_stale(&self, job: &Job) {
        let mut item = Item::new(job.object.refresh(), Origin::Watch);
        item.behind = Some(job.object.version);
        self.queue.push_now(item);
    }

    /// Adds our finalizer to a new object; `None` if the API server did not accept it, for whatever reason.
    pub(super) async fn add_finalizer_to_new(&self, meta: &Meta) -> Option<Object> {
        let error = match self.add_finalizer(meta).await {
            Ok(patched) => return patched,
            Err(error) => error,
        };
        tracing::warn!(kind = self.kind.kind(), namespace = %meta.namespace, name = %meta.name, %error,
            "Finalizer not added; the object is mirrored anyway");
        if error.kind() == ApiErrorKind::Transient {
            self.request_finalizers();
        }
        None
    }

    /// Adds our finalizer; `None` if the object changed meanwhile or is gone, so that an event of it follows.
    pub(super) async fn add_finalizer(&self, meta: &Meta) -> Result<Option<Object>, ApiError> {
        let Some(patch) = finalizer::addition(meta) else { return Ok(None) };
        match self.remote.patch(&meta.namespace, &meta.name, &patch).await {
            Ok(text) => {
                self.metrics.finalizers_added(1);
                Ok(self.parse(text).ok())
            }
            Err(error) if matches!(error.kind(), ApiErrorKind::NotFound | ApiErrorKind::Conflict) => Ok(None),
            Err(error) => {
                self.metrics.api_error(&error.code());
                Err(error)
            }
        }
    }
}
