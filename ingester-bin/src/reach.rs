//! Checks that a process's database answers, when a probe asks for it.
//!
//! May use: ingester-mirror, ingester-store.

use ingester_mirror::health::Health;
use ingester_store::Store;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// The time limit for the database's answer, and the time for which the answer is valid: anyone may ask a probe.
const ANSWER: Duration = Duration::from_secs(2);

/// The database of a process, once it is connected. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Reach {
    /// Weak, because the process closes the store at its end.
    store: Arc<Mutex<Weak<Store>>>,
    /// The time when it was last asked. The lock is held while asking, so that one probe asks at a time.
    asked: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

impl Reach {
    /// Records that the process has connected.
    pub(crate) fn connected(&self, store: &Arc<Store>) {
        *self.store.lock() = Arc::downgrade(store);
    }

    /// Asks the database, if it was not asked just now, and reports the answer to `health`.
    pub(crate) async fn report(&self, health: &Health) {
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|asked| asked.elapsed() < ANSWER) {
            return;
        }
        let store = self.store.lock().upgrade();
        let Some(store) = store else { return };
        match store.answers(ANSWER).await {
            Ok(()) => health.database_reached(),
            Err(error) => health.database_away(&error.to_string()),
        }
        *asked = Some(Instant::now());
    }
}
