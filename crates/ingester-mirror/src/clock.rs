//! The time of day, behind a trait: the clocks of nodes differ, and jump.
//!
//! May use: ingester-core, ingester-store.
//!
//! It is the database's time: if one clock dated rows and another one judged them, they would be purged early, or late. Pauses and
//! time-outs do not depend on it: they use tokio's clock, which only goes forward.

use ingester_core::value::Micros;
use ingester_store::Store;
use std::sync::Arc;

/// The time of day that all rows share.
pub(crate) trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Micros;
}

/// The database's clock.
pub(crate) struct DatabaseClock(pub(crate) Arc<Store>);

impl Clock for DatabaseClock {
    fn now(&self) -> Micros {
        self.0.now()
    }
}

/// The operating system's clock.
#[cfg(test)]
pub(crate) struct SystemClock;

#[cfg(test)]
impl Clock for SystemClock {
    fn now(&self) -> Micros {
        Micros::now()
    }
}
