//! Watches from a version, and opens the watch again whenever it ends.

use super::{Follower, Memory};
use crate::backoff::{API_SERVER, Backoff};
use crate::cluster::{ApiError, ApiErrorKind, RemoteEvent};
use crate::metrics::Restart;
use crate::pipeline::Arrival;
use futures::StreamExt as _;
use ingester_core::object::Identity;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// A shorter watch counts as failed, so that it is not opened again at once without end.
const SHORT: Duration = Duration::from_secs(5);

/// The watch cannot continue, for this reason: list again.
pub(super) struct WatchEnd(pub(super) Restart);

/// The reason why a watch ended.
enum EndReason {
    /// The API server failed, or the connection to it.
    Api(ApiError),
    /// The watch cannot continue, for this reason.
    Relist(Restart),
}

impl Follower {
    /// Watches from `version`, and opens the watch again whenever the API server ends it.
    pub(super) async fn watch(&self, mut version: u64) -> WatchEnd {
        let metrics = &self.unit().metrics;
        let mut backoff = Backoff::new(API_SERVER);
        let mut first = true;
        loop {
            let begin = Instant::now();
            let ended = tokio::select! {
                biased;
                () = self.pipeline.relist.notified() => return WatchEnd(Restart::Behind),
                ended = self.watch_once(&mut version, first) => ended,
            };
            first = false;
            self.currency.ended(ended.is_err());
            if begin.elapsed() >= SHORT {
                backoff.reset();
                if ended.is_ok() {
                    continue;
                }
            }
            match ended {
                // The watch ended at once, without an error.
                Ok(()) => {}
                Err(EndReason::Relist(reason)) => return WatchEnd(reason),
                Err(EndReason::Api(error)) => {
                    match error.kind() {
                        ApiErrorKind::Expired => return WatchEnd(Restart::Expired),
                        ApiErrorKind::NotFound => return WatchEnd(Restart::NotInstalled),
                        _ => {}
                    }
                    metrics.api_error(&error.code());
                    if backoff.failures() == 3 {
                        tracing::warn!(%error, "Watch lost, trying again");
                    }
                }
            }
            metrics.watch_restarted(Restart::Connection);
            tokio::time::sleep(backoff.pause()).await;
        }
    }

    /// Opens the watch and reads it to its end. A watch that is opened again needs a cluster that has reached its version.
    async fn watch_once(&self, version: &mut u64, first: bool) -> Result<(), EndReason> {
        let cluster = &self.unit().cluster;
        let mut reached = None;
        if !first {
            let now = cluster.position().await.map_err(EndReason::Api)?.version;
            if now < *version {
                self.remember_restore();
                return Err(EndReason::Relist(Restart::Behind));
            }
            reached = Some(now);
        }
        let mut events = cluster.watch(*version).await.map_err(EndReason::Api)?;
        self.currency.opened(*version, reached);
        while let Some(event) = events.next().await {
            let event = event.map_err(EndReason::Api)?;
            self.unit().metrics.event_received();
            let observed = match event {
                RemoteEvent::Applied(text) => self.receive(text, Arrival::Watch, Memory::Taken).await,
                RemoteEvent::Deleted(text) => self.deleted(text).await.map_err(EndReason::Api)?,
                RemoteEvent::Bookmark(version) => Some(version),
            };
            *version = (*version).max(observed.unwrap_or_default());
            self.observed.store(*version, Ordering::Relaxed);
            self.currency.heard();
        }
        Ok(())
    }

    /// Handles the DELETED event of an object: it was deleted, or it was changed and is not selected any more, which the API server reports
    /// in the same way. Returns the version of the event.
    pub(super) async fn deleted(&self, text: Box<str>) -> Result<Option<u64>, ApiError> {
        if !self.unit().selection.is_all() {
            let Identity { uid, namespace, name, .. } = Identity::probe(&text);
            if let Some(name) = name {
                let found = self.unit().cluster.look(namespace.as_deref().unwrap_or_default(), &name).await?;
                if let Some(found) = found.filter(|found| Identity::probe(found).uid == uid) {
                    return Ok(self.receive(found, Arrival::Watch, Memory::Taken).await);
                }
            }
        }
        Ok(self.receive(text, Arrival::Deletion, Memory::Taken).await)
    }
}
