//! The memory for objects that were read and are not written yet: one budget for the process, in which each kind has a quota.
//!
//! May use: nothing.
//!
//! # Guarantees
//! - All kinds together hold no more than the budget, plus one page of each kind, plus the objects that are looked at one by one, at most
//!   16 of each kind, plus a batch of each worker that reads objects from a temporary file.
//! - A kind whose table cannot be written does not stop other kinds: it holds at most its quota.
//! - A kind that holds nothing never waits. So every kind makes progress, if slowly, whatever the others hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Notify, Semaphore};

/// The unit of the budget, in bytes.
const UNIT: usize = 1024;

/// A kind may hold one in this many parts of the budget.
const QUOTA: usize = 4;

/// The budget of a process, in bytes.
pub(crate) struct Budget {
    units: Semaphore,
    total: usize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        let total = (bytes / UNIT).max(QUOTA);
        Arc::new(Budget { units: Semaphore::new(total), total })
    }

    /// The quota of one kind.
    pub(crate) fn quota(self: &Arc<Self>) -> Arc<Quota> {
        Arc::new(Quota { budget: self.clone(), held: AtomicUsize::new(0), less: Notify::new() })
    }
}

/// The part of a [`Budget`] that one kind holds.
pub(crate) struct Quota {
    budget: Arc<Budget>,
    /// Units, including those that the budget does not count.
    held: AtomicUsize,
    less: Notify,
}

impl Quota {
    /// Waits until the kind may hold this many more bytes. Concurrent waiters may exceed the quota by one hold.
    pub(crate) async fn take(self: &Arc<Self>, bytes: usize) -> MemoryReservation {
        let most = self.budget.total / QUOTA;
        let units = bytes.div_ceil(UNIT).clamp(1, most);
        loop {
            let less = self.less.notified();
            let held = self.held.load(Ordering::Acquire);
            if held == 0 {
                // Take them whatever the other kinds hold.
                let counted =
                    self.budget.units.try_acquire_many(narrow(units)).map(tokio::sync::SemaphorePermit::forget);
                return self.hold(units, counted.map_or(0, |()| units));
            }
            if held + units <= most {
                tokio::select! {
                    biased;
                    permit = self.budget.units.acquire_many(narrow(units)) => {
                        // The semaphore is never closed.
                        let counted = permit.map(tokio::sync::SemaphorePermit::forget).map_or(0, |()| units);
                        return self.hold(units, counted);
                    }
                    () = less => {}
                }
            } else {
                less.await;
            }
        }
    }

    /// Holds memory for objects that a worker reads. It does not wait: what the worker does frees memory.
    pub(crate) fn exceed(self: &Arc<Self>, bytes: usize) -> MemoryReservation {
        self.hold(bytes.div_ceil(UNIT), 0)
    }

    fn hold(self: &Arc<Self>, held: usize, counted: usize) -> MemoryReservation {
        self.held.fetch_add(held, Ordering::AcqRel);
        MemoryReservation { quota: self.clone(), held, counted }
    }

    /// Returns the bytes that the kind holds.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.held.load(Ordering::Acquire) * UNIT
    }
}

fn narrow(units: usize) -> u32 {
    u32::try_from(units).unwrap_or(u32::MAX)
}

/// Bytes that are held until this is dropped.
pub(crate) struct MemoryReservation {
    quota: Arc<Quota>,
    /// Units that the kind holds.
    held: usize,
    /// The number of these units that the budget counts.
    counted: usize,
}

impl MemoryReservation {
    /// Splits off the memory of one object. If this hold has too little, the rest is added without waiting, because the object is already
    /// in memory.
    pub(crate) fn split(&mut self, bytes: usize) -> MemoryReservation {
        let units = bytes.div_ceil(UNIT).max(1);
        let from_hold = units.min(self.held);
        let counted = from_hold.min(self.counted);
        self.held -= from_hold;
        self.counted -= counted;
        let more = units - from_hold;
        self.quota.held.fetch_add(more, Ordering::AcqRel);
        MemoryReservation { quota: self.quota.clone(), held: units, counted }
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        if self.counted > 0 {
            self.quota.budget.units.add_permits(self.counted);
        }
        if self.held > 0 {
            self.quota.held.fetch_sub(self.held, Ordering::AcqRel);
            self.quota.less.notify_one();
        }
    }
}

impl std::fmt::Debug for MemoryReservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} KiB", self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;
    use std::time::Duration;

    async fn waits<T>(future: impl Future<Output = T>) -> bool {
        tokio::time::timeout(Duration::from_secs(60), future).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_waits_at_its_quota_and_goes_on_when_something_is_written() {
        let budget = Budget::new(16 << 10);
        let quota = budget.quota();
        let first = quota.take(3 << 10).await;
        assert!(waits(quota.take(2 << 10)).await);
        let second = quota.take(1 << 10).await;
        assert_eq!(quota.bytes(), 4 << 10);
        let (third, ()) = tokio::join!(quota.take(2 << 10), async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            drop(first);
        });
        drop((second, third));
        assert_eq!((quota.bytes(), budget.units.available_permits()), (0, 16));
    }

    #[tokio::test(start_paused = true)]
    async fn kinds_wait_for_each_other_but_one_that_holds_nothing_does_not() {
        let budget = Budget::new(16 << 10);
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(budget.quota().take(4 << 10).await);
        }
        let late = budget.quota();
        let page = late.take(2 << 10).await;
        assert!(waits(late.take(1 << 10)).await, "it holds something now");
        held.pop();
        drop((late.take(1 << 10).await, page, held));
        assert_eq!(budget.units.available_permits(), 16);
    }

    #[tokio::test]
    async fn the_objects_of_a_page_hold_what_it_held() {
        let budget = Budget::new(64 << 10);
        let quota = budget.quota();
        let mut page = quota.take(4 << 10).await;
        let objects = [3 << 10, 2 << 10].map(|bytes| page.split(bytes));
        drop(page);
        assert_eq!((quota.bytes(), budget.units.available_permits()), (5 << 10, 60), "one is more than was asked for");
        drop(objects);
        assert_eq!((quota.bytes(), budget.units.available_permits()), (0, 64));
    }
}
