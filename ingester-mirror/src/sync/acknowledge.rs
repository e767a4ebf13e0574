//! Tells Kubernetes what the plan says, once SQL has it: finalizers on and off, deletions, evictions; and what is tried again.
//!
//! # Guarantees
//! - What Kubernetes is told holds for the very version that is stored: patches and deletions carry uid and resourceVersion.
//! - Before an object is evicted its row is read back, every column of it.

use super::controller::Controller;
use super::finalizer;
use super::job::{Job, Place};
use super::known::Standing;
use super::lifecycle::{State, Then};
use super::remote::{Refusal, RemoteError};
use super::work::{Item, Origin};
use crate::metrics::Outcome;
use ingester_core::object::{Meta, Object};
use ingester_core::row::Row;
use ingester_store::Change;
use ingester_store::compare::differences;
use std::time::Duration;

/// Why an object stays in etcd for now.
enum NotEvicted {
    Refused(RemoteError),
    /// Its row is not there as it should be. `overrule`: it is of the right version all the same.
    NotStored {
        reason: String,
        overrule: bool,
    },
}

impl NotEvicted {
    fn once_more(reason: String) -> Self {
        NotEvicted::NotStored { reason, overrule: false }
    }
}

impl From<RemoteError> for NotEvicted {
    fn from(error: RemoteError) -> Self {
        NotEvicted::Refused(error)
    }
}

impl Controller {
    /// Tells Kubernetes what the plan says; SQL has been committed.
    pub(super) async fn acknowledge(&self, job: &Job) {
        if let Some(delay) = job.again {
            self.look_later(job, delay);
        }
        let Some(meta) = &job.meta else { return };
        let result = match job.then {
            Then::Nothing => return,
            Then::Adopt => return self.adoption_wanted(),
            Then::Release => self.release(meta).await,
            Then::Delete => self.delete(meta).await,
            Then::Evict => match self.evict(job, meta).await {
                Ok(()) => Ok(()),
                Err(NotEvicted::Refused(error)) => Err(error),
                Err(NotEvicted::NotStored { reason, overrule }) => return self.not_stored(job, &reason, overrule),
            },
        };
        if let Err(error) = result {
            self.refused(job, &error);
        }
    }

    pub(super) async fn release(&self, meta: &Meta) -> Result<(), RemoteError> {
        let Some(patch) = finalizer::removal(meta) else { return Ok(()) };
        let text = self.remote.patch(&meta.namespace, &meta.name, &patch).await?;
        self.metrics.finalizers_removed(1);
        // Without any finalizer left the API server deletes it at once: what its DELETED event says is stored.
        let last = self.parse(text).is_ok_and(|object| object.meta().finalizers.is_empty());
        if last && meta.deletion_timestamp.is_some() {
            self.known().set(&meta.uid, meta.resource_version, Standing::Released, None);
        }
        Ok(())
    }

    pub(super) async fn delete(&self, meta: &Meta) -> Result<(), RemoteError> {
        self.remote.delete(&meta.namespace, &meta.name, &meta.uid, meta.resource_version).await
    }

    /// Reads the row back, takes our finalizer off, stores the state without it, reads that back, deletes.
    async fn evict(&self, job: &Job, meta: &Meta) -> Result<(), NotEvicted> {
        let Some(row) = &job.wanted else { return Ok(()) };
        self.read_back(row).await?;
        let mut last = meta.clone();
        if let Some(patch) = finalizer::removal(meta) {
            let text = self.remote.patch(&meta.namespace, &meta.name, &patch).await?;
            self.metrics.finalizers_removed(1);
            let object = self.parse(text).map_err(|(_, reason)| NotEvicted::once_more(reason))?;
            let Some(without) = self.row(&object).map_err(NotEvicted::once_more)? else { return Ok(()) };
            let without = Row { evict_time: row.evict_time, ..without };
            let written = self.store.write(self.kind.table(), vec![Change::Row(without.clone())]).await;
            self.count(&written.map_err(|error| NotEvicted::once_more(error.to_string()))?);
            self.read_back(&without).await?;
            last = object.meta().clone();
            self.known().set(&last.uid, last.resource_version, Standing::Stored(State::Evicted), None);
        }
        self.delete(&last).await?;
        self.metrics.evicted(1);
        tracing::info!(kind = self.kind.kind(), namespace = %last.namespace, name = %last.name, "Immutable object evicted from etcd");
        Ok(())
    }

    /// Makes sure that a row is stored as it should be, every column of it, before its object goes.
    async fn read_back(&self, wanted: &Row) -> Result<(), NotEvicted> {
        let table = self.kind.table();
        let stored = self.store.stored(table, &[&wanted.uid]).await;
        let stored = stored.map_err(|error| NotEvicted::once_more(error.to_string()))?;
        let Some(stored) = stored.first() else { return Err(NotEvicted::once_more("there is no such row".into())) };
        match differences(table, wanted, stored).first() {
            None => Ok(()),
            // Of this very version, and with other content: only what does not ask for the version can put it right.
            Some(difference) => Err(NotEvicted::NotStored { reason: difference.to_string(), overrule: true }),
        }
    }

    /// The object stays in etcd, and its row is written again.
    fn not_stored(&self, job: &Job, reason: &str, overrule: bool) {
        let Place { namespace, name, .. } = &job.place;
        self.metrics.reconciled(Outcome::Error, 1);
        self.metrics.retried(1);
        tracing::error!(kind = self.kind.kind(), %namespace, %name, reason, attempt = job.attempt,
            "Object not evicted: its row, read back, is not what it should be");
        let mut item = Item::new(job.place.look(), Origin::Watch);
        item.attempt = job.attempt.saturating_add(1);
        item.overrule = overrule;
        self.queue.push_later(item, self.pause(job.attempt));
    }

    /// What the API server has refused is tried again, sooner or later.
    pub(super) fn refused(&self, job: &Job, error: &RemoteError) {
        let Place { namespace, name, .. } = &job.place;
        match error.refusal() {
            // It is gone: its DELETED event says the rest.
            Refusal::NotFound => {}
            Refusal::Conflict | Refusal::Expired => self.look_later(job, self.pause(job.attempt) / 10),
            Refusal::Transient | Refusal::Forbidden | Refusal::Other => {
                self.metrics.api_error(&error.code());
                self.metrics.reconciled(Outcome::Error, 1);
                tracing::warn!(kind = self.kind.kind(), %namespace, %name, %error, attempt = job.attempt, "Reconciler error");
                self.look_later(job, self.pause(job.attempt));
            }
        }
    }

    /// From a second on, twice as long each time, up to the kind's requeuePeriod.
    pub(super) fn pause(&self, attempt: u32) -> Duration {
        Duration::from_secs(1).saturating_mul(1 << attempt.min(16)).min(self.settings.requeue_period)
    }

    pub(super) fn look_later(&self, job: &Job, delay: Duration) {
        let mut item = Item::new(job.place.look(), Origin::Watch);
        // Being looked at again because it is due is no failure.
        if job.again.is_none() {
            item.attempt = job.attempt.saturating_add(1);
            self.metrics.retried(1);
        }
        self.queue.push_later(item, delay);
    }

    /// What is stored is ahead of what was to be stored: another ingester was faster, or the cluster went back.
    pub(super) fn look_behind(&self, job: &Job) {
        let mut item = Item::new(job.place.look(), Origin::Watch);
        item.behind = Some(job.place.version);
        self.queue.push_now(item);
    }

    /// Puts our finalizer on an object that has just appeared; `None` where the API server does not, for whatever reason.
    pub(super) async fn adopt_new(&self, meta: &Meta) -> Option<Object> {
        let error = match self.adopt(meta).await {
            Ok(adopted) => return adopted,
            Err(error) => error,
        };
        tracing::warn!(kind = self.kind.kind(), namespace = %meta.namespace, name = %meta.name, %error,
            "Finalizer not added; the object is mirrored all the same");
        if error.refusal() == Refusal::Transient {
            self.adoption_wanted();
        }
        None
    }

    /// Puts our finalizer on; `None` where the object has changed since or is gone, so that news of it is on its way.
    pub(super) async fn adopt(&self, meta: &Meta) -> Result<Option<Object>, RemoteError> {
        let Some(patch) = finalizer::addition(meta) else { return Ok(None) };
        match self.remote.patch(&meta.namespace, &meta.name, &patch).await {
            Ok(text) => {
                self.metrics.finalizers_added(1);
                Ok(self.parse(text).ok())
            }
            Err(error) if matches!(error.refusal(), Refusal::NotFound | Refusal::Conflict) => Ok(None),
            Err(error) => {
                self.metrics.api_error(&error.code());
                Err(error)
            }
        }
    }
}
