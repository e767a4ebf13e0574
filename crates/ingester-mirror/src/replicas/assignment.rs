//! The units that this process may work on.

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Knows which units this process may work on. Clones share it.
#[derive(Clone, Debug)]
pub struct Assignment(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// No other process shares the work.
    alone: bool,
    state: Mutex<OwnUnits>,
    /// Other members write rows by other definitions.
    mixed: AtomicBool,
    /// The number of times that the allowed units changed, or that such members came or went. The waiters are woken in order.
    changes: AtomicU64,
    changed: Notify,
    /// Notified when a unit has been stopped.
    stopped: Notify,
    /// The origin for the times in `until`.
    begin: Instant,
    /// The time until which this process may write, in milliseconds.
    until: AtomicU64,
}

#[derive(Debug, Default)]
struct OwnUnits {
    allowed: BTreeSet<String>,
    running: HashSet<String>,
}

/// The right to work on a unit, until it is dropped. [`HeldUnit::revoked`] signals when to drop it.
#[derive(Debug)]
pub struct HeldUnit {
    assignment: Assignment,
    unit: String,
    changes: AssignmentChanges,
}

/// Changes of the units that a process may work on. No change is missed, even if it is awaited late.
#[derive(Debug)]
pub struct AssignmentChanges {
    assignment: Assignment,
    seen: u64,
}

impl AssignmentChanges {
    /// Waits until the allowed units have changed since this was created or last awaited, or until members with other definitions have come
    /// or gone.
    pub async fn next(&mut self) {
        let inner = &self.assignment.0;
        loop {
            // Changes after this line wake it.
            let changed = inner.changed.notified();
            let now = inner.changes.load(Ordering::Acquire);
            if now != self.seen {
                self.seen = now;
                return;
            }
            changed.await;
        }
    }
}

impl Assignment {
    /// Allows everything: no other process shares the work.
    pub fn alone() -> Self {
        Assignment::new(true)
    }

    /// Allows nothing, until a [`Membership`](super::Membership) allows more.
    pub fn of_members() -> Self {
        Assignment::new(false)
    }

    fn new(alone: bool) -> Self {
        Assignment(Arc::new(Inner {
            alone,
            state: Mutex::default(),
            mixed: AtomicBool::new(false),
            changes: AtomicU64::new(0),
            changed: Notify::new(),
            stopped: Notify::new(),
            begin: Instant::now(),
            until: AtomicU64::new(0),
        }))
    }

    /// Waits until this process may work on a unit.
    pub async fn hold(&self, unit: &str) -> HeldUnit {
        let mut changes = self.changes();
        loop {
            // A change of the allowed units finds the unit either not begun or running.
            let may = self.0.alone || {
                let mut state = self.state();
                let may = state.allowed.contains(unit);
                if may {
                    state.running.insert(unit.to_owned());
                }
                may
            };
            if may {
                return HeldUnit { assignment: self.clone(), unit: unit.to_owned(), changes };
            }
            changes.next().await;
        }
    }

    /// Returns true if this process may work on a unit now.
    pub fn holds(&self, unit: &str) -> bool {
        self.0.alone || self.state().allowed.contains(unit)
    }

    /// Returns the changes of the allowed units from now on.
    pub fn changes(&self) -> AssignmentChanges {
        AssignmentChanges { assignment: self.clone(), seen: self.0.changes.load(Ordering::Acquire) }
    }

    /// Returns true if this process may write now: no other member can have taken over its units. Call this before every write, because a
    /// process that was frozen does not know it.
    pub(crate) fn is_valid(&self) -> bool {
        self.0.alone || self.0.begin.elapsed() < Duration::from_millis(self.0.until.load(Ordering::Acquire))
    }

    /// Sets the time until which this process may write, unless its Lease is renewed.
    pub(super) fn valid_until(&self, until: Instant) {
        let millis = until.saturating_duration_since(self.0.begin).as_millis();
        self.0.until.store(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Release);
    }

    /// Returns how long this process may write, unless its Lease is renewed.
    #[cfg(test)]
    pub(super) fn valid_for(&self) -> Duration {
        Duration::from_millis(self.0.until.load(Ordering::Acquire)).saturating_sub(self.0.begin.elapsed())
    }

    /// Allows these units and no others.
    pub(crate) fn allow(&self, units: BTreeSet<String>) {
        let mut state = self.state();
        if state.allowed != units {
            state.allowed = units;
            drop(state);
            self.tell();
        }
    }

    /// Returns true if members of the group write rows by other definitions of a kind than this one, as during a rolling update.
    pub(crate) fn is_mixed(&self) -> bool {
        self.0.mixed.load(Ordering::Acquire)
    }

    /// Records whether there are such members.
    pub(crate) fn mix(&self, mixed: bool) {
        if self.0.mixed.swap(mixed, Ordering::AcqRel) != mixed {
            self.tell();
        }
    }

    /// Wakes all tasks that wait for changes.
    fn tell(&self) {
        self.0.changes.fetch_add(1, Ordering::AcqRel);
        self.0.changed.notify_waiters();
    }

    /// Returns the units that are worked on.
    pub(crate) fn running(&self) -> BTreeSet<String> {
        self.state().running.iter().cloned().collect()
    }

    /// Waits until a unit has been stopped.
    pub(super) async fn stopped(&self) {
        self.0.stopped.notified().await;
    }

    fn state(&self) -> parking_lot::MutexGuard<'_, OwnUnits> {
        self.0.state.lock()
    }
}

impl HeldUnit {
    /// Waits until the unit must be stopped. The holder may finish work that has begun, but must not begin new work.
    pub async fn revoked(&mut self) {
        while self.assignment.holds(&self.unit) {
            self.changes.next().await;
        }
    }
}

impl Drop for HeldUnit {
    fn drop(&mut self) {
        self.assignment.state().running.remove(&self.unit);
        self.assignment.0.stopped.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::Assignment;
    use std::time::Duration;
    use tokio::time::{Instant, sleep, timeout};

    async fn waits<T>(future: impl Future<Output = T>) -> bool {
        timeout(Duration::from_secs(60), future).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn a_unit_is_worked_on_while_it_is_allowed() {
        let assignment = Assignment::of_members();
        assert!(waits(assignment.hold("Model")).await);
        assignment.allow(["Model".to_owned()].into());
        let mut held = assignment.hold("Model").await;
        assert!(waits(held.revoked()).await && waits(assignment.hold("Project")).await);
        assignment.allow(["Project".to_owned()].into());
        assert!(!waits(held.revoked()).await);
        assert_eq!(assignment.running(), ["Model".to_owned()].into(), "it is still being stopped");
        drop(held);
        assert!(assignment.running().is_empty() && !waits(assignment.stopped()).await);
        assert!(!waits(assignment.hold("Project")).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_seen_however_late_it_is_waited_for() {
        let assignment = Assignment::of_members();
        let mut changes = assignment.changes();
        assignment.allow(["Model".to_owned()].into());
        assert!(!waits(changes.next()).await && waits(changes.next()).await);
        assignment.allow(["Model".to_owned()].into());
        assert!(waits(changes.next()).await, "nothing has changed");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_written_after_the_time_that_was_given() {
        let assignment = Assignment::of_members();
        assert!(!assignment.is_valid());
        assignment.valid_until(Instant::now() + Duration::from_secs(10));
        sleep(Duration::from_secs(9)).await;
        assert!(assignment.is_valid());
        sleep(Duration::from_secs(1)).await;
        assert!(!assignment.is_valid());
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_member_may_do_everything() {
        let assignment = Assignment::alone();
        let mut held = assignment.hold("Model").await;
        assert!(assignment.is_valid() && assignment.holds("anything") && waits(held.revoked()).await);
    }
}
