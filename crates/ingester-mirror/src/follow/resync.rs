//! Compares cluster, rows and memory from time to time: a watch may miss a change, and somebody may change rows by hand.

use super::metadata::MetadataEvent;
use super::{Follower, ROWS};
use crate::backoff::{API_SERVER, Backoff};
use crate::cluster::{ApiError, ApiErrorKind, PartialObjectMeta};
use crate::lifecycle::{LifecycleState, is_as_remembered};
use crate::pipeline::{Item, KnownObject, LookReason, ObjectRef, RowState};
use crate::unit::in_time;
use ingester_store::{EvictedRows, StoreError};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// The longest pause after a list whose sweep was refused, even if a longer one is configured: the limit may be raised, or the cluster
/// repaired.
const AFTER_REFUSAL: Duration = Duration::from_secs(1800);

/// The shortest pause before a comparison after the database has moved: it may move several times in a row.
const MOVING: Duration = Duration::from_secs(5);

/// The shortest pause before a comparison after an object that is gone was written late.
const WRITING: Duration = Duration::from_secs(5);

impl Follower {
    /// Records objects that a list lacks although older states of them wait to be written: they are compared after the write.
    pub(super) fn compare_after(&self, waiting: HashSet<Box<str>>) {
        if !waiting.is_empty() {
            *self.missed.uids() = waiting;
            self.missed.added.notify_one();
        }
    }

    /// Waits until an object that a list lacked has been written since then, and its row is live.
    async fn written_late(&self) {
        loop {
            if self.missed.uids().is_empty() {
                self.missed.added.notified().await;
            }
            tokio::time::sleep(WRITING).await;
            let mut missed = self.missed.uids();
            let written = missed.extract_if(|uid| !self.pipeline.queue.holds(uid));
            let is_live = |uid: Box<str>| {
                let state = self.pipeline.known().get(&uid).map(|entry| entry.state);
                state.is_some_and(|state| state == RowState::Stored(LifecycleState::Live) || state.is_leaving())
            };
            // Take out all that were written: one comparison covers them all.
            if written.map(is_live).fold(false, |any, live| any | live) {
                return;
            }
        }
    }

    /// Compares every `resyncPeriod`, from the end of one comparison to the beginning of the next; soon after the database has moved to
    /// another server or was restarted, because that may have lost commits; and when an object that is gone was written late. The last two
    /// signals come only once, so their comparison is repeated until it is complete.
    pub(super) async fn resync(&self) {
        let unit = self.unit();
        let mut last = Instant::now();
        let mut moves = unit.rows.moves();
        let mut backoff = Backoff::new(API_SERVER);
        let mut again = None;
        loop {
            let period = unit.config().ingester.resync_period;
            let soonest = self.refused.load(Ordering::Relaxed).then_some(AFTER_REFUSAL);
            let next = period.into_iter().chain(soonest).min().map(|pause| last + pause);
            let due = async {
                match next.into_iter().chain(again).min() {
                    Some(next) => tokio::time::sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            let mut is_owed = again.is_some();
            let moved = async {
                if moves.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(MOVING).await;
            };
            tokio::select! {
                biased;
                () = unit.live.changed(&period, |config| config.ingester.resync_period) => continue,
                () = self.sweep_was_refused.notified(), if soonest.is_none() => continue,
                () = moved => {
                    is_owed = true;
                    self.pipeline.known().forget_ghosts();
                    tracing::warn!("The database has moved to another server, or was restarted: comparing rows with the cluster");
                }
                () = self.written_late() => {
                    is_owed = true;
                    tracing::debug!("An object that the last list lacks was written after it: comparing rows with the cluster");
                }
                () = due => {}
            }
            moves.borrow_and_update();
            let compared = self.resync_once().await;
            let is_complete = matches!(compared, Ok(Some(_)));
            match compared {
                Ok(Some(found)) if found > 0 => {
                    tracing::warn!(objects = found, "Resync found objects that differ from their rows");
                }
                Ok(_) => tracing::debug!(is_complete, "Resync found nothing"),
                Err(error) if error.kind() == ApiErrorKind::NotFound => {}
                Err(error) => {
                    unit.metrics.api_error(&error.code());
                    tracing::warn!(%error, is_owed, "Resync failed");
                }
            }
            again = (is_owed && !is_complete).then(|| Instant::now() + backoff.pause().max(MOVING));
            if is_complete {
                backoff.reset();
            }
            // A comparison that takes longer than the period must leave time for other work.
            last = Instant::now();
        }
    }

    /// Compares once. Returns the number of objects that differed; `None` if the comparison is not complete.
    async fn resync_once(&self) -> Result<Option<usize>, ApiError> {
        let _listing = self.listing.lock().await;
        if self.observed.load(Ordering::Relaxed) == 0 {
            return Ok(None);
        }
        let _ = self.learn_lost().await;
        let mut rows_compared = true;
        if let Err(error) = self.compare_rows().await {
            rows_compared = false;
            self.unit().metrics.database_error(error.class());
            tracing::warn!(%error, "Cannot compare the rows with the versions in memory");
        }
        self.begin_list();
        let mut found = 0;
        let observed = self.observed.load(Ordering::Relaxed);
        let asked = self.unit().cluster.position().await?.version;
        if asked < observed {
            self.remember_restore();
            self.pipeline.relist.notify_one();
            return Ok(None);
        }
        let version = self.metadata(None, |partial| {
            match partial {
                MetadataEvent::Begin { .. } => {
                    found = 0;
                    self.begin_list();
                }
                MetadataEvent::Object(partial) => found += usize::from(self.compare(partial, observed)),
                // The watch brings its deletion.
                MetadataEvent::Deleted(_) => {}
            }
            ControlFlow::Continue(())
        });
        // Do not interrupt the list.
        let Some(version) = version.await? else { return Ok(None) };
        if version < asked {
            self.remember_restore();
            self.pipeline.relist.notify_one();
            return Ok(None);
        }
        self.unit().metrics.list_ended();
        let found = found + self.sweep(version).await;
        Ok(rows_compared.then_some(found))
    }

    /// Corrects the memory of the live rows: somebody may have removed or changed a row by hand, or restored the whole database from a
    /// backup. The comparison with the cluster then finds the objects.
    async fn compare_rows(&self) -> Result<(), StoreError> {
        let unit = self.unit();
        self.pipeline.known().begin_rows();
        let mut after: Box<str> = "".into();
        loop {
            let rows = in_time("reading what is stored", unit.rows.live(EvictedRows::LeftOut, &after, ROWS)).await?;
            let whole = rows.len() == ROWS;
            if let Some(last) = rows.last() {
                after = last.uid.clone();
            }
            for row in rows {
                if !self.pipeline.queue.holds(&row.uid) {
                    self.pipeline.known().load(&row.uid, row.res_version, row.eviction);
                } else {
                    self.pipeline.known().seen(&row.uid);
                }
            }
            if !whole {
                break;
            }
        }
        let lost = self.pipeline.known().end_rows(|uid| self.pipeline.queue.holds(uid));
        if lost > 0 {
            tracing::warn!(
                rows = lost,
                "Rows that this process wrote are no longer live: comparing them with the cluster"
            );
        }
        Ok(())
    }

    /// Looks at an object whose version differs from the remembered one, unless the watch brings this version, or has brought a later one.
    /// `observed` is the version that the watch had reached before the list. Returns true if the object differs from the memory.
    fn compare(&self, partial: PartialObjectMeta, observed: u64) -> bool {
        let before = {
            let mut known = self.pipeline.known();
            known.seen(&partial.uid);
            known.get(&partial.uid)
        };
        if self.lacks_finalizer(&partial) {
            self.pipeline.request_finalizers();
        }
        let version = partial.version();
        let terminating = partial.terminating();
        // A rule may have purged the row of a ghost.
        let purges = self.unit().config().retention.purges_evicted_after(&self.unit().kind).is_some();
        let as_known = |entry: KnownObject| is_as_remembered(entry.remembered(), version, terminating, purges);
        // It changed since the list began, and the watch has delivered the change.
        let later = observed + 1..=self.observed.load(Ordering::Relaxed);
        let changed = before.is_some_and(|entry| later.contains(&entry.version));
        if version > observed || changed || self.pipeline.queue.holds(&partial.uid) || before.is_some_and(as_known) {
            return false;
        }
        // The kind's filter may leave the object out. Then this costs one read.
        let PartialObjectMeta { uid, namespace, name, .. } = partial;
        self.pipeline.queue.push(Item::look(ObjectRef { uid, namespace, name, version }, LookReason::Due, 0));
        before.is_none_or(|entry| entry.version != version)
    }
}
