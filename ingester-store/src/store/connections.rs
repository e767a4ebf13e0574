//! What the connections of a pool do, and how long statements wait for one.

use super::Store;
use super::driver::on_driver;
use super::transaction::Drivers;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The connections of a [`Store`] at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Connections that somebody uses.
    pub used: u32,
    /// Open connections that nobody uses.
    pub idle: u32,
    /// The most that may be open.
    pub limit: u32,
    /// How many wait for one.
    pub waiting: u32,
    /// How often one was taken for a transaction.
    pub taken: u64,
    /// How long those who took one had waited, all added up.
    pub waited: Duration,
}

/// Counts who waits for a connection.
#[derive(Debug, Default)]
pub(super) struct Waits {
    waiting: AtomicU32,
    taken: AtomicU64,
    nanos: AtomicU64,
}

impl Waits {
    /// Waits for a connection.
    pub(super) async fn count<C>(&self, connection: impl Future<Output = C>) -> C {
        let begin = Instant::now();
        self.waiting.fetch_add(1, Relaxed);
        let _waiting = Waiting(self);
        let connection = connection.await;
        self.taken.fetch_add(1, Relaxed);
        self.nanos.fetch_add(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX), Relaxed);
        connection
    }
}

/// Somebody waits, until this is dropped.
struct Waiting<'w>(&'w Waits);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
    }
}

impl Store {
    /// What the connections do now.
    pub fn connections(&self) -> Connections {
        let (size, idle, limit) = on_driver!(Drivers, &self.pool.open, |pool, driver| {
            (pool.size(), pool.num_idle(), pool.options().get_max_connections())
        });
        let idle = u32::try_from(idle).unwrap_or(u32::MAX);
        let waits = &self.pool.waits;
        Connections {
            used: size.saturating_sub(idle),
            idle,
            limit,
            waiting: waits.waiting.load(Relaxed),
            taken: waits.taken.load(Relaxed),
            waited: Duration::from_nanos(waits.nanos.load(Relaxed)),
        }
    }
}
