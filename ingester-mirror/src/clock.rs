//! The time of day, behind a trait: the clocks of nodes differ, and jump.
//!
//! May use: ingester-core.
//!
//! Pauses and time-outs do not depend on it: they count on tokio's clock, which only goes forward.

use ingester_core::value::Micros;

/// The time of day on this node.
pub(crate) trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Micros;
}

/// The operating system's clock.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Micros {
        Micros::now()
    }
}
