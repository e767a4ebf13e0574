//! The deadline of the running statement, for databases that run in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// No deadline.
const NEVER: u64 = u64::MAX;

/// The statement no longer has a caller.
const NOW: u64 = 0;

/// The deadline of the statement that runs on a connection. The database checks it again and again while it works, so setting it needs no
/// call to the database.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    origin: Instant,
    /// Milliseconds since `origin`.
    at: Arc<AtomicU64>,
    /// True if all queries of a store share this deadline, because the store has one connection.
    is_shared: bool,
}

impl Default for Deadline {
    fn default() -> Self {
        Deadline { origin: Instant::now(), at: Arc::new(AtomicU64::new(NEVER)), is_shared: true }
    }
}

/// Keeps the deadline while it lives. If it is dropped before [`Set::end`], the statement ends at once.
pub(super) struct Set<'d>(&'d Deadline);

impl Set<'_> {
    /// Records that the statement has ended.
    pub(super) fn end(self) {
        self.0.forget();
        std::mem::forget(self);
    }
}

impl Deadline {
    /// Returns the deadline of a store with this many connections.
    pub(super) fn for_connections(connections: u32) -> Self {
        Deadline { is_shared: connections == 1, ..Deadline::default() }
    }

    /// Returns true if it belongs to a store's only connection. With several connections, each query has its own.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Makes the next statement end after `time`, or when the returned value is dropped.
    pub(super) fn set(&self, time: Duration) -> Set<'_> {
        let at = u64::try_from(self.origin.elapsed().saturating_add(time).as_millis()).unwrap_or(NEVER);
        self.at.store(at, Ordering::Relaxed);
        Set(self)
    }

    /// Removes the deadline. After an abandoned statement, no other one may begin before this is called.
    pub(super) fn forget(&self) {
        self.at.store(NEVER, Ordering::Relaxed);
    }

    /// Returns true if the statement may go on.
    pub(super) fn is_ahead(&self) -> bool {
        let at = self.at.load(Ordering::Relaxed);
        at == NEVER || at != NOW && self.origin.elapsed().as_millis() < u128::from(at)
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        self.0.at.store(NOW, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Deadline;
    use std::time::Duration;

    #[test]
    fn a_statement_ends_at_its_deadline_or_with_its_caller() {
        let deadline = Deadline::default();
        assert!(deadline.is_ahead(), "none is set");
        let asked = deadline.clone();
        let set = deadline.set(Duration::ZERO);
        assert!(!asked.is_ahead(), "a copy has the same one");
        set.end();
        assert!(asked.is_ahead());
        let set = deadline.set(Duration::MAX);
        assert!(asked.is_ahead(), "far in the future");
        drop(set);
        assert!(!asked.is_ahead(), "its caller is gone");
        deadline.forget();
        assert!(asked.is_ahead(), "the next statement");
    }
}
