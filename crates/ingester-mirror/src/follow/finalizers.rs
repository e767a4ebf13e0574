//! Adds our finalizer to objects that are older than this process, at a limited rate.

use super::Follower;
use crate::backoff::{API_SERVER, Backoff};
use crate::cluster::{ApiError, ApiErrorKind, PartialObjectMeta};
use crate::lifecycle::finalizer;
use crate::pipeline::{Arrival, Item, Work, bytes_of};
use ingester_config::Finalizer;
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior};

/// The longest time after the start that the rounds wait for the first list to be in SQL: their patches would slow the list down.
const WAIT: Duration = Duration::from_secs(300);

/// After this many transient errors in a row, a round ends: the cause is the API server, not an object.
const TROUBLE: u32 = 5;

/// Returns an interval of this many ticks per second; missed ticks are not made up for.
fn pace_of(rate: u32) -> Interval {
    let mut pace = tokio::time::interval(Duration::from_secs(1) / rate.max(1));
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pace
}

impl Follower {
    /// Adds our finalizer whenever objects lack it.
    pub(super) async fn add_finalizers(&self) {
        let mut backoff = Backoff::new(API_SERVER);
        let start = tokio::time::Instant::now();
        loop {
            self.pipeline.finalizers_missing.notified().await;
            // After the time-out, continue anyway. (The follower owns the sender, so waiting has no other end.)
            let mut listed = self.synced_once.subscribe();
            let _ = tokio::time::timeout_at(start + WAIT, listed.wait_for(|listed| *listed)).await;
            let pause = match self.add_finalizers_once().await {
                Ok(0) => {
                    backoff.reset();
                    continue;
                }
                Ok(objects) => {
                    tracing::warn!(objects, "Cannot add the finalizer to some objects, trying again");
                    backoff.pause()
                }
                // The round took longer than the API server keeps the list's version. That is not a failure: start over.
                Err(error) if error.kind() == ApiErrorKind::Expired => {
                    backoff.reset();
                    backoff.pause()
                }
                Err(error) => {
                    tracing::warn!(%error, "Cannot add finalizers, trying again");
                    backoff.pause()
                }
            };
            tokio::time::sleep(pause).await;
            self.pipeline.request_finalizers();
        }
    }

    /// Does one round over all objects. Returns how many objects the next round must try again. Fails only for errors that would affect the
    /// next object, too.
    async fn add_finalizers_once(&self) -> Result<usize, ApiError> {
        let unit = self.unit();
        let mut rate = unit.config().ingester.finalizer_rate;
        let mut pace = pace_of(rate);
        let mut next = None;
        let mut left = 0;
        let mut in_a_row = 0;
        loop {
            let now = unit.config().ingester.finalizer_rate;
            if now != rate {
                rate = now;
                pace = pace_of(rate);
            }
            let page = unit.cluster.list_metadata(next.as_deref()).await?;
            for partial in page.items {
                if !self.lacks_finalizer(&partial) {
                    continue;
                }
                pace.tick().await;
                let meta = partial.into_meta();
                let writing = self.pipeline.writing.read().await;
                let added = self.pipeline.add_finalizer(&meta).await;
                drop(writing);
                match added {
                    // The answer to the patch is written like an event, so the patch's own event finds the object stored.
                    Ok(Some(object)) => {
                        in_a_row = 0;
                        let hold = unit.memory.take(bytes_of(object.text().len())).await;
                        let arrival = Arrival::Patch { again: false };
                        self.pipeline
                            .queue
                            .push(Item::new(Work::Object { object: Box::new(object), arrival }).holding(hold));
                    }
                    Ok(None) => in_a_row = 0,
                    // The object is gone.
                    Err(error) if error.kind() == ApiErrorKind::NotFound => in_a_row = 0,
                    Err(error) if error.may_pass() => {
                        // An admission webhook may fail for one object; the other objects do not wait for it.
                        (left, in_a_row) = (left + 1, in_a_row + 1);
                        if in_a_row == TROUBLE {
                            return Err(error);
                        }
                    }
                    // An admission webhook, for example, may reject the patch of this object. The next resync tries again.
                    Err(error) => {
                        tracing::warn!(namespace = %meta.namespace, name = %meta.name, %error,
                            "Finalizer not added; the object is mirrored anyway");
                    }
                }
            }
            next = page.next;
            if next.is_none() {
                return Ok(left);
            }
        }
    }

    /// Returns true if an object lacks our finalizer, according to its metadata, and has a live row to wait for.
    pub(super) fn lacks_finalizer(&self, partial: &PartialObjectMeta) -> bool {
        if self.unit().rules().finalizer != Finalizer::Ensure
            || partial.terminating()
            || finalizer::is_there(&partial.finalizers, self.unit().kind.marks())
        {
            return false;
        }
        let known = self.pipeline.known();
        known.live_version(&partial.uid).is_some() && !known.is_left(&partial.uid, partial.version())
    }
}
