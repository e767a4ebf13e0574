//! A password that may change while the program runs: it is read again when the database refuses it.

use super::interface::{Driver, Target};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// Reads a password; returns the one of now, or why it cannot be read.
type Read = dyn Fn() -> Result<String, String> + Send + Sync;

/// Where a password comes from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) read: Arc<Read>,
    /// The database without a password.
    pub(super) without: Arc<dyn Target>,
}

impl Source {
    /// Reads it, which may block.
    pub(super) async fn password(&self) -> Result<String, String> {
        let read = self.read.clone();
        tokio::task::spawn_blocking(move || read()).await.map_err(|error| error.to_string())?
    }
}

/// The password of a pool's connections.
pub(super) struct Password {
    source: Source,
    current: Mutex<String>,
    /// How often it has changed.
    changes: AtomicU64,
}

impl Password {
    pub(super) fn new(source: Source, text: String) -> Self {
        Password { source, current: Mutex::new(text), changes: AtomicU64::new(0) }
    }

    /// How often it has changed, for [`Password::renew`].
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Reads it again, unless it has changed since it was `tried`. If it is another one, new connections use it. Returns whether they use
    /// another one than was tried.
    pub(super) async fn renew(&self, driver: &dyn Driver, tried: u64) -> bool {
        let mut current = self.current.lock().await;
        if self.changes() != tried {
            return true;
        }
        match self.source.password().await {
            Ok(text) if text == *current => false,
            Ok(text) => {
                driver.use_password(&text).await;
                *current = text;
                self.changes.store(tried + 1, Ordering::Release);
                tracing::info!("The password of the database has changed: new connections use the new one");
                true
            }
            Err(reason) => {
                tracing::warn!(reason, "Cannot read the password of the database again");
                false
            }
        }
    }
}
