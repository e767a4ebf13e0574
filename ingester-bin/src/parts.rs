//! The parts of `ingester run` that run concurrently with the mirror: the server of probes, the publisher of Events, the backfill. Nothing
//! restarts them, so a part that ends too early, or panics, makes `/healthz` fail, and the kubelet restarts the process.
//!
//! May use: ingester-mirror.

use ingester_mirror::health::Health;
use tokio::task::{AbortHandle, JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

/// The time for which a part must work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartLifetime {
    /// Until the program stops.
    Stop,
    /// Until it has done its work.
    Done,
}

/// A part that runs.
#[derive(Debug)]
pub(crate) struct Part {
    work: AbortHandle,
    watcher: JoinHandle<()>,
}

impl Part {
    /// Starts `work`. If it panics, fails, or ends too early, `health` reports that `name` is dead.
    pub(crate) fn spawn(
        name: &'static str,
        until: PartLifetime,
        health: &Health,
        stop: &CancellationToken,
        work: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    ) -> Self {
        let task = tokio::spawn(work);
        let health = health.clone();
        let stop = stop.clone();
        let work = task.abort_handle();
        let watcher = tokio::spawn(async move {
            let reason = match task.await {
                Ok(Ok(())) if until == PartLifetime::Done || stop.is_cancelled() => return,
                Ok(Ok(())) => "it ended by itself".to_owned(),
                Ok(Err(error)) => error.to_string(),
                Err(error) if error.is_cancelled() => return,
                Err(error) => format!("it panicked: {}", panic_of(error)),
            };
            tracing::error!(
                part = name,
                reason,
                "A background task has died: only a restart of the process starts it again"
            );
            health.dead(name, &reason);
        });
        Part { work, watcher }
    }

    /// Ends the work where it is.
    pub(crate) fn abort(self) {
        self.work.abort();
    }

    /// Waits until the work has ended. `health` reports its outcome.
    pub(crate) async fn ended(self) {
        // The watcher does not panic.
        let _ = self.watcher.await;
    }
}

/// Work that cannot fail, for [`Part::spawn`].
pub(crate) async fn without_error(work: impl Future<Output = ()>) -> anyhow::Result<()> {
    work.await;
    Ok(())
}

/// The message of the panic.
fn panic_of(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else { return String::new() };
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

#[cfg(test)]
mod tests {
    use super::{Part, PartLifetime};
    use ingester_mirror::health::Health;
    use tokio_util::sync::CancellationToken;

    /// Returns the failed checks of liveness after this work has ended, with or without a requested stop.
    async fn dead(
        until: PartLifetime,
        stopping: bool,
        work: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    ) -> Vec<String> {
        let health = Health::new([]);
        let stop = CancellationToken::new();
        if stopping {
            stop.cancel();
        }
        Part::spawn("publisher", until, &health, &stop, work).ended().await;
        health.liveness().iter().filter(|check| !check.ok).map(ToString::to_string).collect()
    }

    #[tokio::test]
    async fn a_part_that_ends_too_early_fails_the_liveness_probe() {
        assert_eq!(dead(PartLifetime::Stop, false, async { Ok(()) }).await, ["[-]publisher ended: it ended by itself"]);
        let failed = async { anyhow::bail!("no socket") };
        assert_eq!(dead(PartLifetime::Stop, false, failed).await, ["[-]publisher ended: no socket"]);
    }

    #[tokio::test]
    async fn a_part_that_panics_fails_the_liveness_probe() {
        for until in [PartLifetime::Stop, PartLifetime::Done] {
            let panics = async { panic!("at {}", "x") };
            assert_eq!(dead(until, false, panics).await, ["[-]publisher ended: it panicked: at x"]);
        }
    }

    #[tokio::test]
    async fn a_part_that_ends_in_its_time_is_not_dead() {
        assert!(dead(PartLifetime::Stop, true, async { Ok(()) }).await.is_empty(), "stopped");
        assert!(dead(PartLifetime::Done, false, async { Ok(()) }).await.is_empty(), "done");
        let health = Health::new([]);
        let stop = CancellationToken::new();
        let part = Part::spawn("publisher", PartLifetime::Stop, &health, &stop, std::future::pending());
        part.work.abort();
        part.ended().await;
        assert!(health.liveness().iter().all(|check| check.ok), "aborted by us");
    }
}
