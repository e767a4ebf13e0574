//! SIGINT and SIGTERM during work that can stop at a suitable place.

use crate::ending::{Ending, Failure};
use crate::output::note;
use anyhow::anyhow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The first signal asks the work to stop, a second signal ends the process at once.
pub(super) struct Interrupt {
    /// Cancelled by the first signal.
    pub(super) stop: CancellationToken,
    /// The number of the signal, 0 before it.
    signal: Arc<AtomicU8>,
}

impl Interrupt {
    /// Listens from now on. `until` names the place where the work stops.
    pub(super) fn listen(until: &'static str) -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| anyhow!("cannot listen for signals: {error}"));
        let mut interrupt = listen(SignalKind::interrupt())?;
        let mut terminate = listen(SignalKind::terminate())?;
        let this = Interrupt { stop: CancellationToken::new(), signal: Arc::default() };
        let stop = this.stop.clone();
        let first = this.signal.clone();
        tokio::spawn(async move {
            loop {
                let number = tokio::select! {
                    _ = interrupt.recv() => 2,
                    _ = terminate.recv() => 15,
                };
                if first.swap(number, Ordering::Relaxed) != 0 {
                    std::process::exit(i32::from(Ending::code_of_signal(number)));
                }
                note(&format!("interrupted: ending {until}; once more ends at once"));
                stop.cancel();
            }
        });
        Ok(this)
    }

    /// The result of incomplete work.
    pub(super) fn ending(&self) -> Ending {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ending::Problem,
            signal => Ending::Interrupted(signal),
        }
    }
}
