//! When the statement that runs is to end, for databases that run in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// No deadline.
const NEVER: u64 = u64::MAX;

/// The deadline of the statement that runs on a connection. The database asks it again and again while it works, so it is set
/// without a word to the database.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    origin: Instant,
    /// Milliseconds since `origin`.
    at: Arc<AtomicU64>,
}

impl Default for Deadline {
    fn default() -> Self {
        Deadline { origin: Instant::now(), at: Arc::new(AtomicU64::new(NEVER)) }
    }
}

/// While it lives, there is a deadline.
pub(super) struct Set<'d>(&'d Deadline);

impl Deadline {
    /// The statements that run until the answer is dropped are to end after `time`.
    pub(super) fn set(&self, time: Duration) -> Set<'_> {
        let at = u64::try_from(self.origin.elapsed().saturating_add(time).as_millis()).unwrap_or(NEVER);
        self.at.store(at, Ordering::Relaxed);
        Set(self)
    }

    /// Whether the statement may go on.
    pub(super) fn is_ahead(&self) -> bool {
        let at = self.at.load(Ordering::Relaxed);
        at == NEVER || self.origin.elapsed().as_millis() < u128::from(at)
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        self.0.at.store(NEVER, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Deadline;
    use std::time::Duration;

    #[test]
    fn a_deadline_ends_with_whoever_set_it() {
        let deadline = Deadline::default();
        assert!(deadline.is_ahead(), "none is set");
        let asked = deadline.clone();
        let set = deadline.set(Duration::ZERO);
        assert!(!asked.is_ahead(), "a copy has the same one");
        drop(set);
        assert!(asked.is_ahead());
        let _set = deadline.set(Duration::MAX);
        assert!(asked.is_ahead(), "far in the future");
    }
}
