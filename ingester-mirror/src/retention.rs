//! Rows of objects that were deleted long ago are purged, while the mirror runs. Rows of evicted objects never are: nobody else has
//! these objects. Rejects of objects that are gone are forgotten by every list.
//!
//! May use: ingester-core, ingester-store, config, metrics, suspend.

use crate::config::Live;
use crate::metrics::Metrics;
use crate::suspend::Suspension;
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_store::{Store, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The longest pause between two rounds.
const LONGEST: Duration = Duration::from_secs(3600);

/// The shortest.
const SHORTEST: Duration = Duration::from_secs(1);

/// Purges rows of `kinds` until `stop` is cancelled, as the configuration says before each batch. Those of suspended kinds wait.
///
/// Batches are small, and between two of them is a pause as long as the first one took: so at least half of the time is the
/// mirror's. An error is logged, and the next round goes on.
pub async fn run(
    store: Arc<Store>,
    kinds: Vec<Kind>,
    live: Live,
    suspension: Suspension,
    metrics: Metrics,
    stop: CancellationToken,
) {
    while !stop.is_cancelled() {
        let configured = live.now().retention.clone();
        for kind in &kinds {
            let name = kind.kind();
            let mut rows = 0;
            let purged = purge(&store, kind, &live, &suspension, &stop, |purged| {
                rows += purged;
                metrics.retention(name).purged(purged);
            });
            if let Err(error) = purged.await {
                tracing::warn!(kind = name, %error, "Rows of deleted objects not purged, trying again later");
            }
            if rows > 0 {
                tracing::info!(kind = name, rows, "Rows of objects that were deleted long ago are purged");
            }
        }
        // A tenth of the shortest, so that no row stays much longer than it is meant to.
        let shortest = kinds.iter().filter_map(|kind| configured.of(kind.kind())).min().unwrap_or(LONGEST);
        let pause = (shortest / 10).clamp(SHORTEST, LONGEST);
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = live.changed(&configured, |config| config.retention.clone()) => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Purges a kind's rows, batch by batch.
async fn purge(
    store: &Store,
    kind: &Kind,
    live: &Live,
    suspension: &Suspension,
    stop: &CancellationToken,
    mut purged: impl FnMut(u64),
) -> Result<(), StoreError> {
    while let Some(age) = live.now().retention.of(kind.kind())
        && let Some(permit) = suspension.try_permit(kind.kind())
        && !stop.is_cancelled()
    {
        let begin = Instant::now();
        let batch = store.purge(kind, Micros::ago(age)).await?;
        drop(permit);
        purged(batch.rows);
        if !batch.more {
            return Ok(());
        }
        let _ = stop.run_until_cancelled(tokio::time::sleep(begin.elapsed())).await;
    }
    Ok(())
}
