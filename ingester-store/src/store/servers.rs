//! What the connections of a pool have found out about the servers that they reach, which a fail-over may change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shared by a [`Store`](super::Store) and its connections.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Connections that were opened before are to be closed.
    stale: Mutex<Option<Instant>>,
    certifies: AtomicBool,
}

impl Servers {
    /// A connection turned out to be of no more use: all that are open now are closed, each when it is released or before it is used
    /// again. Every new connection looks up the host's name.
    pub(super) fn replace_connections(&self) {
        *self.stale.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a connection of this age is to be closed.
    pub(super) fn is_stale(&self, age: Duration) -> bool {
        self.stale.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|stale| stale.elapsed() <= age)
    }

    /// A server certifies transactions, as Galera does.
    pub(super) fn certify(&self) {
        self.certifies.store(true, Ordering::Relaxed);
    }

    /// Whether any server certifies transactions: it may end one between two statements of a text, and run the rest of the text without
    /// a transaction.
    pub(super) fn certifies(&self) -> bool {
        self.certifies.load(Ordering::Relaxed)
    }
}
