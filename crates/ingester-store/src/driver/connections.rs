//! The state of a pool's connections, and the time that statements wait for one.

use super::interface::Usage;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The connections of a [`Store`](crate::Store) at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Connections in use.
    pub used: u32,
    /// Open connections that are not in use.
    pub idle: u32,
    /// The most that may be open.
    pub limit: u32,
    /// Number of callers that wait for one.
    pub waiting: u32,
    /// Number of times that one was taken for a transaction.
    pub taken: u64,
    /// The sum of all waits for a connection.
    pub waited: Duration,
}

/// Counts the waiters for a connection.
#[derive(Debug, Default)]
pub(super) struct WaitCounters {
    waiting: AtomicU32,
    taken: AtomicU64,
    nanos: AtomicU64,
}

impl WaitCounters {
    /// Waits for a connection.
    pub(super) async fn count<C>(&self, connection: impl Future<Output = C>) -> C {
        let begin = Instant::now();
        self.waiting.fetch_add(1, Relaxed);
        let _waiting = Waiter(self);
        let connection = connection.await;
        self.taken.fetch_add(1, Relaxed);
        self.nanos.fetch_add(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX), Relaxed);
        connection
    }

    /// Adds these counts to the pool's report about its connections.
    pub(super) fn beside(&self, usage: Usage) -> Connections {
        Connections {
            used: usage.open.saturating_sub(usage.idle),
            idle: usage.idle,
            limit: usage.limit,
            waiting: self.waiting.load(Relaxed),
            taken: self.taken.load(Relaxed),
            waited: Duration::from_nanos(self.nanos.load(Relaxed)),
        }
    }
}

/// One waiter, until this is dropped.
struct Waiter<'w>(&'w WaitCounters);

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
    }
}
