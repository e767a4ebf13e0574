//! What a watch does not tell: what is gone (sweep), what was missed (resync), and which older objects lack our finalizer
//! (adoption).

use super::controller::{Controller, pause};
use super::finalizer;
use super::known::{Entry, Standing};
use super::lifecycle::State;
use super::remote::{Refusal, RemoteError, Stub};
use super::work::{Item, Origin, Work};
use crate::config::Finalizer;
use ingester_core::object::Meta;
use ingester_core::value::Micros;
use ingester_store::Change;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// For how long after the start older objects may wait for their finalizers until the first list is in SQL: their patches
/// would compete with it for the API server.
const UNADOPTED: Duration = Duration::from_secs(300);

impl Controller {
    /// Has everything looked at that is stored and was not in the list that has just ended. Returns how many.
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
                let work = Work::Look { uid, namespace, name, version, swept: true };
                self.queue.push(Item::new(work, Origin::List)).await;
            }
            // Rejected ones that are gone, and never had a row: what is recorded of them is no longer true.
            let forget: Vec<Change> = nameless
                .into_iter()
                .map(|uid| Change::Tombstone { uid: uid.clone(), res_version: version, delete_time: Micros::now() })
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
        unseen.len()
    }

    /// Compares the cluster's metadata with what is known, once in a while: what a watch has missed is found here.
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
                Err(error) if error.refusal() == Refusal::NotFound => {}
                Err(error) => {
                    self.metrics.api_error(&error.code());
                    tracing::warn!(kind = self.kind.kind(), %error, "Resync given up until the next");
                }
            }
        }
    }

    pub(super) async fn resync_once(&self) -> Result<usize, RemoteError> {
        let _listing = self.listing.lock().await;
        if self.heard.load(Ordering::Relaxed) == 0 {
            return Ok(0);
        }
        self.known().begin_list();
        let (mut next, mut found) = (None, 0);
        let version = loop {
            let heard = self.heard.load(Ordering::Relaxed);
            let page = self.remote.list_metadata(next.as_deref()).await?;
            if next.is_none() && page.version < heard {
                self.relist.notify_one();
                return Ok(0);
            }
            for stub in page.items {
                found += usize::from(self.compare(stub, heard).await);
            }
            next = page.next;
            if next.is_none() {
                break page.version;
            }
        };
        Ok(found + self.sweep(version).await)
    }

    /// Whether an object is to be looked at: it is at another version than the one that is known, and nothing that was
    /// heard says so.
    pub(super) async fn compare(&self, stub: Stub, heard: u64) -> bool {
        let before = {
            let mut known = self.known();
            known.seen(&stub.uid);
            known.get(&stub.uid)
        };
        if self.lacks_finalizer(&stub) {
            self.adoption_wanted();
        }
        let version = stub.version();
        // What was rejected is tried again: somebody may have mended the database.
        let as_known = |entry: Entry| entry.version == version && entry.standing != Standing::Rejected;
        if version > heard || self.queue.holds(&stub.uid) || before.is_some_and(as_known) {
            return false;
        }
        // Left out by the kind's predicate, perhaps: then looking at it costs a read.
        let behind = before.filter(|entry| entry.version > version).map(|_| version);
        let Stub { uid, namespace, name, .. } = stub;
        let mut item = Item::new(Work::Look { uid, namespace, name, version, swept: false }, Origin::Watch);
        item.behind = behind;
        self.queue.push(item).await;
        before.is_some_and(|entry| entry.version != version)
    }

    /// Some objects lack our finalizer.
    pub(super) fn adoption_wanted(&self) {
        self.unadopted.notify_one();
    }

    /// Puts our finalizer on objects that are older than this process, at a bounded rate, whenever there are any.
    pub(super) async fn adopt_all(&self) {
        let (mut failures, began) = (0, tokio::time::Instant::now());
        loop {
            self.unadopted.notified().await;
            // Whether it has come or was given up: the sender is this controller's own and cannot be gone.
            let mut listed = self.synced_once.subscribe();
            let _ = tokio::time::timeout_at(began + UNADOPTED, listed.wait_for(|listed| *listed)).await;
            match self.adopt_once().await {
                Ok(()) => failures = 0,
                // It took longer than the API server remembers a list: on from a new one.
                Err(error) if error.refusal() == Refusal::Expired => self.unadopted.notify_one(),
                Err(error) => {
                    failures += 1;
                    tracing::warn!(kind = self.kind.kind(), %error, "Finalizers not added now, trying again");
                    tokio::time::sleep(self.settings.requeue_period.min(pause(failures))).await;
                    self.unadopted.notify_one();
                }
            }
        }
    }

    /// One round over all objects. An error is one that the next object would meet as well.
    async fn adopt_once(&self) -> Result<(), RemoteError> {
        let mut pace = tokio::time::interval(Duration::from_secs(1) / self.settings.finalizer_rate.max(1));
        pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut next = None;
        loop {
            let page = self.remote.list_metadata(next.as_deref()).await?;
            for stub in page.items {
                if !self.lacks_finalizer(&stub) {
                    continue;
                }
                pace.tick().await;
                let meta = Meta { namespace: stub.namespace.clone(), name: stub.name.clone(), ..stub.meta() };
                match self.adopt(&meta).await {
                    // What the patch answers is written as if it had been watched, and so its own event finds it stored.
                    Ok(Some(object)) => {
                        let work = Work::Object { object: Box::new(object), gone: false };
                        self.queue.push(Item::new(work, Origin::Watch)).await;
                    }
                    Ok(None) => {}
                    Err(error) if error.refusal() == Refusal::Transient => return Err(error),
                    // Somebody's admission webhook, say, has something against this one. The next resync asks again.
                    Err(error) => {
                        tracing::warn!(kind = self.kind.kind(), namespace = %meta.namespace, name = %meta.name, %error,
                            "Finalizer not added; the object is mirrored all the same");
                    }
                }
            }
            next = page.next;
            if next.is_none() {
                return Ok(());
            }
        }
    }

    /// Whether our finalizer is to be on an object, by its metadata and by how it stands, and is not.
    fn lacks_finalizer(&self, stub: &Stub) -> bool {
        self.rules.finalizer == Finalizer::Ensure
            && !stub.terminating()
            && finalizer::position(&stub.finalizers).is_none()
            && self.known().get(&stub.uid).is_some_and(|entry| entry.standing == Standing::Stored(State::Live))
    }
}
