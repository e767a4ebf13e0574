//! What a watch does not report: objects that are gone (sweep), changes that were missed (resync), and older objects that lack
//! our finalizer.

use super::backoff::{API_SERVER, Backoff};
use super::controller::Controller;
use super::finalizer;
use super::known::{KnownObject, RowState};
use super::lifecycle::State;
use super::remote::{ApiError, ApiErrorKind, PartialObjectMeta};
use super::work::{Item, Origin, Work};
use crate::config::Finalizer;
use ingester_core::object::Meta;
use ingester_core::value::Micros;
use ingester_store::{RowChange, StoreError};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long after the start the finalizers of older objects may wait until the first list is in SQL: their patches would slow
/// the list down.
const FINALIZERS_WAIT: Duration = Duration::from_secs(300);

impl Controller {
    /// Refreshes everything that is stored and that the list, which has just ended, lacks. Returns how many.
    pub(super) async fn sweep(&self, version: u64) -> usize {
        let unseen: Vec<Box<str>> = {
            let unseen = self.known().unseen();
            unseen.into_iter().filter(|uid| !self.queue.holds(uid)).collect()
        };
        let table = self.kind.table();
        for uids in unseen.chunks(500) {
            let references: Vec<&str> = uids.iter().map(AsRef::as_ref).collect();
            let names = match self.store.names(table, &references).await {
                Ok(names) => names,
                Err(error) => {
                    // The next list finds them again.
                    self.metrics.database_error(error.class());
                    tracing::error!(kind = self.kind.kind(), %error, "Objects that are gone are not swept now");
                    break;
                }
            };
            let mut nameless: Vec<&Box<str>> = uids.iter().collect();
            for (uid, namespace, name) in names {
                nameless.retain(|other| **other != uid);
                let work = Work::Refresh { uid, namespace, name, version, swept: true };
                self.queue.push(Item::new(work, Origin::List)).await;
            }
            // Rejected objects that are gone and never had a row: their rejects are out of date.
            let forget: Vec<RowChange> = nameless
                .into_iter()
                .map(|uid| RowChange::Tombstone { uid: uid.clone(), res_version: version, delete_time: Micros::now() })
                .collect();
            for change in &forget {
                self.known().remove(change.uid());
            }
            if !forget.is_empty()
                && let Err(error) = self.store.write(table, forget).await
            {
                tracing::warn!(kind = self.kind.kind(), %error, "Rejects of objects that are gone are still recorded");
            }
        }
        if let Err(error) = self.forget_rejects().await {
            tracing::warn!(kind = self.kind.kind(), %error, "Rejects of objects that are gone are still recorded");
        }
        unseen.len()
    }

    /// Deletes the rejects of objects that the list, which has just ended, lacks: they were deleted while no ingester ran.
    async fn forget_rejects(&self) -> Result<(), StoreError> {
        let (api_version, kind) = (self.kind.api_version(), self.kind.kind());
        let rejects = self.store.rejects(&api_version, kind, self.namespace.as_deref()).await?;
        let gone: Vec<&str> = {
            let known = self.known();
            let is_gone = |uid: &&str| known.get(uid).is_none() && !self.queue.holds(uid);
            rejects.iter().map(|reject| reject.uid.as_ref()).filter(is_gone).collect()
        };
        self.store.forget_rejects(&gone).await
    }

    /// Compares the cluster's metadata with what is remembered, every `resync_period`, to find changes that the watch missed.
    pub(super) async fn resync(&self) {
        let Some(period) = self.settings.resync_period else { return std::future::pending().await };
        loop {
            tokio::time::sleep(period).await;
            match self.resync_once().await {
                Ok(found) if found > 0 => {
                    tracing::warn!(
                        kind = self.kind.kind(),
                        objects = found,
                        "Resync found objects that the watch had missed"
                    );
                }
                Ok(_) => tracing::debug!(kind = self.kind.kind(), "Resync found nothing"),
                Err(error) if error.kind() == ApiErrorKind::NotFound => {}
                Err(error) => {
                    self.metrics.api_error(&error.code());
                    tracing::warn!(kind = self.kind.kind(), %error, "Resync given up until the next");
                }
            }
        }
    }

    /// Compares once. Returns how many objects were missed.
    pub(super) async fn resync_once(&self) -> Result<usize, ApiError> {
        let _listing = self.listing.lock().await;
        if self.observed.load(Ordering::Relaxed) == 0 {
            return Ok(0);
        }
        self.known().begin_list();
        let (mut next, mut found) = (None, 0);
        let version = loop {
            let observed = self.observed.load(Ordering::Relaxed);
            let page = self.remote.list_metadata(next.as_deref()).await?;
            if next.is_none() && page.version < observed {
                self.relist.notify_one();
                return Ok(0);
            }
            for partial in page.items {
                found += usize::from(self.compare(partial, observed).await);
            }
            next = page.next;
            if next.is_none() {
                break page.version;
            }
        };
        Ok(found + self.sweep(version).await)
    }

    /// Refreshes an object whose version is not the remembered one, unless the watch has yet to reach it. Returns whether the
    /// watch missed a change.
    pub(super) async fn compare(&self, partial: PartialObjectMeta, observed: u64) -> bool {
        let before = {
            let mut known = self.known();
            known.seen(&partial.uid);
            known.get(&partial.uid)
        };
        if self.lacks_finalizer(&partial) {
            self.request_finalizers();
        }
        let version = partial.version();
        // Rejected objects are retried: the database may accept them by now.
        let as_known = |entry: KnownObject| entry.version == version && entry.state != RowState::Rejected;
        if version > observed || self.queue.holds(&partial.uid) || before.is_some_and(as_known) {
            return false;
        }
        // The kind's predicate may leave the object out. Then this costs one read.
        let behind = before.filter(|entry| entry.version > version).map(|_| version);
        let PartialObjectMeta { uid, namespace, name, .. } = partial;
        let mut item = Item::new(Work::Refresh { uid, namespace, name, version, swept: false }, Origin::Watch);
        item.behind = behind;
        self.queue.push(item).await;
        before.is_some_and(|entry| entry.version != version)
    }

    /// Some objects lack our finalizer: add it soon.
    pub(super) fn request_finalizers(&self) {
        self.finalizers_missing.notify_one();
    }

    /// Adds our finalizer to objects that are older than this process, at a limited rate, whenever there are any.
    pub(super) async fn add_finalizers(&self) {
        let (mut backoff, start) = (Backoff::new(API_SERVER), tokio::time::Instant::now());
        loop {
            self.finalizers_missing.notified().await;
            // It goes on after the time-out, too. (The controller owns the sender, so waiting has no other end.)
            let mut listed = self.synced_once.subscribe();
            let _ = tokio::time::timeout_at(start + FINALIZERS_WAIT, listed.wait_for(|listed| *listed)).await;
            match self.add_finalizers_once().await {
                Ok(()) => backoff.reset(),
                // The round took longer than the API server keeps the list's version. That is no failure: start over.
                Err(error) if error.kind() == ApiErrorKind::Expired => {
                    backoff.reset();
                    tokio::time::sleep(backoff.pause()).await;
                    self.finalizers_missing.notify_one();
                }
                Err(error) => {
                    tracing::warn!(kind = self.kind.kind(), %error, "Finalizers not added now, trying again");
                    tokio::time::sleep(backoff.pause().min(self.settings.requeue_period)).await;
                    self.finalizers_missing.notify_one();
                }
            }
        }
    }

    /// One round over all objects. It fails only for what would affect the next object too.
    async fn add_finalizers_once(&self) -> Result<(), ApiError> {
        let mut pace = tokio::time::interval(Duration::from_secs(1) / self.settings.finalizer_rate.max(1));
        pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut next = None;
        loop {
            let page = self.remote.list_metadata(next.as_deref()).await?;
            for partial in page.items {
                if !self.lacks_finalizer(&partial) {
                    continue;
                }
                pace.tick().await;
                let meta = Meta { namespace: partial.namespace.clone(), name: partial.name.clone(), ..partial.meta() };
                match self.add_finalizer(&meta).await {
                    // The answer to the patch is written like an event, so the patch's own event finds it stored.
                    Ok(Some(object)) => {
                        let work = Work::Object { object: Box::new(object), gone: false };
                        self.queue.push(Item::new(work, Origin::Watch)).await;
                    }
                    Ok(None) => {}
                    Err(error) if error.kind() == ApiErrorKind::Transient => return Err(error),
                    // An admission webhook, for example, may reject the patch of this object. The next resync tries again.
                    Err(error) => {
                        tracing::warn!(kind = self.kind.kind(), namespace = %meta.namespace, name = %meta.name, %error,
                            "Finalizer not added; the object is mirrored anyway");
                    }
                }
            }
            next = page.next;
            if next.is_none() {
                return Ok(());
            }
        }
    }

    /// Whether an object lacks our finalizer, by its metadata and the state of its row.
    fn lacks_finalizer(&self, partial: &PartialObjectMeta) -> bool {
        self.rules.finalizer == Finalizer::Ensure
            && !partial.terminating()
            && finalizer::position(&partial.finalizers).is_none()
            && self.known().get(&partial.uid).is_some_and(|entry| entry.state == RowState::Stored(State::Live))
    }
}
