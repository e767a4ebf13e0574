//! Rows of objects that were deleted long ago are purged, while the mirror runs, and old entries of the log of changes. Rows of evicted
//! objects never are: they are the only copies of these objects. Rejects of objects that are gone are forgotten by every list.
//!
//! May use: ingester-core, ingester-store, config, metrics, replicas, suspend, unit.

use crate::config::{Config, Live};
use crate::metrics::Metrics;
use crate::replicas::Assignment;
use crate::suspend::Suspension;
use crate::unit::{in_time, leads};
use futures::FutureExt as _;
use ingester_core::Kind;
use ingester_store::{Store, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The longest pause between two rounds.
const LONGEST: Duration = Duration::from_secs(3600);

/// The shortest.
const SHORTEST: Duration = Duration::from_secs(1);

/// Purges the rows of some kinds and the former versions of their objects, as `retention` of the configuration says, and their entries in the log,
/// as `changes.retention` does.
///
/// Ages are judged by the database's clock, which has written the times. Batches are small, and between two of them is a pause as long as the first one took: so at least half of the time is the mirror's.
/// An error is logged, and the next round goes on. A suspended kind keeps all of its rows.
pub struct RetentionTask {
    /// The database.
    pub store: Arc<Store>,
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// The configuration, which may change.
    pub live: Live,
    /// Which kinds are suspended.
    pub suspension: Suspension,
    /// Which kinds are this process's own.
    pub assignment: Assignment,
    /// Where purged rows are counted.
    pub metrics: Metrics,
}

impl RetentionTask {
    /// Purges until `stop` is cancelled.
    pub async fn run(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            for kind in &self.kinds {
                let name = kind.name();
                let mut rows = 0;
                if let Err(error) = self.purge(kind, &mut rows, &stop).await {
                    tracing::warn!(kind = name, %error, "Rows of deleted objects not purged, trying again later");
                }
                if rows > 0 {
                    tracing::info!(kind = name, rows, "Rows of objects that were deleted long ago are purged");
                }
                if let Err(error) = self.purge_history(kind, &stop).await {
                    tracing::warn!(kind = name, %error, "Old versions not purged, trying again later");
                }
                if let Err(error) = self.purge_changes(kind, &stop).await {
                    tracing::warn!(kind = name, %error, "Old changes not purged, trying again later");
                }
            }
            let ages = |config: &Config| (config.retention.clone(), config.changes.retention);
            let before = ages(&self.live.now());
            let (retention, changes) = &before;
            // A tenth of the shortest, so that nothing stays much longer than it is meant to.
            let of_kinds = self.kinds.iter().flat_map(|kind| [retention.of(kind), retention.of_history(kind)]);
            // Without a history there is none to wait for.
            let shortest = of_kinds.flatten().filter(|age| !age.is_zero()).fold(*changes, Duration::min);
            let pause = (shortest / 10).clamp(SHORTEST, LONGEST);
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
                () = self.live.changed(&before, ages) => {}
            }
        }
    }

    /// Purges a kind's rows, batch by batch, and counts them.
    async fn purge(&self, kind: &Kind, rows: &mut u64, stop: &CancellationToken) -> Result<(), StoreError> {
        let metrics = self.metrics.retention(kind.name());
        while !stop.is_cancelled() {
            let config = self.live.now();
            let Some(age) = config.retention.of(kind).filter(|_| leads(kind, &config, &self.assignment)) else { break };
            // There is none while the kind is suspended.
            let Some(permit) = self.suspension.permit(kind.name()).now_or_never().flatten() else { break };
            let begin = Instant::now();
            // A database that is silent must not keep the permit: the kind could not be suspended.
            let batch = in_time("purging rows", self.store.purge_older(kind, age)).await?;
            drop(permit);
            *rows += batch.rows;
            metrics.purged(batch.rows);
            if !batch.more {
                break;
            }
            let _ = stop.run_until_cancelled(tokio::time::sleep(begin.elapsed())).await;
        }
        Ok(())
    }

    /// Purges former versions of a kind's objects, batch by batch.
    async fn purge_history(&self, kind: &Kind, stop: &CancellationToken) -> Result<(), StoreError> {
        while kind.history().is_some() && !stop.is_cancelled() {
            let config = self.live.now();
            if !leads(kind, &config, &self.assignment) {
                break;
            }
            let Some(permit) = self.suspension.permit(kind.name()).now_or_never().flatten() else { break };
            let begin = Instant::now();
            let purged = self.store.purge_history(kind, config.retention.of_history(kind));
            let batch = in_time("purging former versions", purged).await?;
            drop(permit);
            if !batch.more {
                break;
            }
            let _ = stop.run_until_cancelled(tokio::time::sleep(begin.elapsed())).await;
        }
        Ok(())
    }

    /// Purges a kind's old entries in the log of changes, batch by batch.
    async fn purge_changes(&self, kind: &Kind, stop: &CancellationToken) -> Result<(), StoreError> {
        while !stop.is_cancelled() {
            let config = self.live.now();
            if !leads(kind, &config, &self.assignment) {
                break;
            }
            let begin = Instant::now();
            let purged = self.store.purge_changes(kind.table(), config.changes.retention);
            if !in_time("purging changes", purged).await?.more {
                break;
            }
            let _ = stop.run_until_cancelled(tokio::time::sleep(begin.elapsed())).await;
        }
        Ok(())
    }
}
