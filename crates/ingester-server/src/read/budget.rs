//! The memory for lists that are read and sent: one budget for the process. Each user has at most half of it. Lists that find it in use
//! wait: the next one is the first list of the user who holds the least. Lists that read whole tables come after all others, and have at
//! most a quarter of it.

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The unit of the budget, in bytes.
const UNIT: usize = 1024;

/// The memory that all lists together may use.
pub(super) static LISTS: Budget = Budget::new(128 << 20);

/// The size in bytes at which a page ends, so that many pages fit.
pub(super) const PAGE: usize = 4 << 20;

/// The memory for reading a list. For a page: its rows, the rows that are read beyond its end, and its text. For a whole list: a portion's
/// rows or their text, a text that waits, and a text that is being sent.
pub(super) const READING: usize = 3 * PAGE;

/// The cost of a list for the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cost {
    /// A key leads to the rows.
    Keyed,
    /// It may read a whole table, its texts, or all rows that it counts.
    Whole,
}

/// A number of bytes that lists share.
#[derive(Debug)]
pub(super) struct Budget {
    units: usize,
    shares: Mutex<Shares>,
}

#[derive(Debug)]
struct Shares {
    /// Free units.
    free: usize,
    /// The units of each user who holds some.
    held: BTreeMap<Arc<str>, usize>,
    /// The units that lists of [`Cost::Whole`] hold.
    whole: usize,
    /// In order of arrival.
    waiting: Vec<WaitingRequest>,
}

#[derive(Debug)]
struct WaitingRequest {
    user: Arc<str>,
    cost: Cost,
    admitted: oneshot::Sender<Share>,
}

impl Budget {
    /// Creates a budget of this many bytes, at least [`READING`].
    pub(super) const fn new(bytes: usize) -> Self {
        let units = bytes / UNIT;
        Budget {
            units,
            shares: Mutex::new(Shares { free: units, held: BTreeMap::new(), whole: 0, waiting: Vec::new() }),
        }
    }

    /// Waits for the memory to read a list of this user.
    pub(super) async fn reading(&'static self, user: &str, cost: Cost) -> Share {
        let (admitted, share) = oneshot::channel();
        self.shares().waiting.push(WaitingRequest { user: user.into(), cost, admitted });
        self.admit();
        // Every waiter is admitted in the end, so this does not fail.
        share.await.unwrap_or_else(|_| Share { budget: self, user: user.into(), cost, units: 0 })
    }

    /// Admits the waiters that may go on.
    fn admit(&'static self) {
        loop {
            let (admitted, share) = {
                let mut shares = self.shares();
                shares.waiting.retain(|waiting| !waiting.admitted.is_closed());
                let Some(next) = shares.next(self.units) else { return };
                let WaitingRequest { user, cost, admitted } = shares.waiting.remove(next);
                shares.take(&user, cost, units(READING));
                (admitted, Share { budget: self, user, cost, units: units(READING) })
            };
            // If the waiter is gone, its share comes back and admits another waiter. That takes the lock, so it must happen outside of it.
            drop(admitted.send(share));
        }
    }

    /// The free bytes.
    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        self.shares().free * UNIT
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock()
    }
}

impl Shares {
    /// The index of the next waiter that may go on.
    fn next(&self, all: usize) -> Option<usize> {
        let reading = units(READING);
        if self.free < reading {
            return None;
        }
        let held = |user: &Arc<str>| self.held.get(user).copied().unwrap_or_default();
        // At least one list of each fits, even into a small budget.
        let most = (all / 2).max(reading);
        let most_whole = (all / 4).max(reading);
        let may = |waiting: &WaitingRequest| {
            let is_few = waiting.cost == Cost::Keyed || self.whole + reading <= most_whole;
            is_few && held(&waiting.user) + reading <= most
        };
        let places = self.waiting.iter().enumerate().filter(|(_, waiting)| may(waiting));
        places.min_by_key(|(place, waiting)| (waiting.cost, held(&waiting.user), *place)).map(|(place, _)| place)
    }

    fn take(&mut self, user: &Arc<str>, cost: Cost, units: usize) {
        self.free -= units;
        *self.held.entry(user.clone()).or_default() += units;
        self.whole += if cost == Cost::Whole { units } else { 0 };
    }

    fn give_back(&mut self, user: &Arc<str>, cost: Cost, units: usize) {
        self.free += units;
        if let Some(held) = self.held.get_mut(user) {
            *held = held.saturating_sub(units);
            if *held == 0 {
                self.held.remove(user);
            }
        }
        self.whole = self.whole.saturating_sub(if cost == Cost::Whole { units } else { 0 });
    }
}

/// The share of a [`Budget`] that a list holds while this exists.
#[derive(Debug)]
pub(crate) struct Share {
    budget: &'static Budget,
    user: Arc<str>,
    cost: Cost,
    units: usize,
}

impl Share {
    /// Gives back all except this many bytes.
    pub(super) fn shrink(&mut self, bytes: usize) {
        let more = self.units.saturating_sub(units(bytes));
        if more > 0 {
            self.units -= more;
            self.budget.shares().give_back(&self.user, self.cost, more);
            self.budget.admit();
        }
    }

    /// A text that holds its length in the budget until its last part is dropped.
    pub(super) fn hold(mut self, text: String) -> Bytes {
        let text = text.into_boxed_str();
        self.shrink(text.len());
        Bytes::from_owner(BudgetedText { text, _share: self })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

struct BudgetedText {
    text: Box<str>,
    _share: Share,
}

impl AsRef<[u8]> for BudgetedText {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT)
}

#[cfg(test)]
mod tests {
    use super::{Budget, Cost, READING, Share};
    use futures::FutureExt as _;
    use std::pin::Pin;

    /// A budget of ten lists.
    fn ten() -> &'static Budget {
        Box::leak(Box::new(Budget::new(10 * READING)))
    }

    type ShareRequest = Pin<Box<dyn Future<Output = Share>>>;

    fn ask(budget: &'static Budget, user: &'static str, cost: Cost) -> ShareRequest {
        Box::pin(budget.reading(user, cost))
    }

    /// Returns the lists that are admitted at once, and the others, which wait.
    fn admitted(
        budget: &'static Budget,
        user: &'static str,
        cost: Cost,
        lists: usize,
    ) -> (Vec<Share>, Vec<ShareRequest>) {
        let mut shares = Vec::new();
        let mut waiting = Vec::new();
        for _ in 0..lists {
            let mut list = ask(budget, user, cost);
            match list.as_mut().now_or_never() {
                Some(share) => shares.push(share),
                None => waiting.push(list),
            }
        }
        (shares, waiting)
    }

    #[test]
    fn one_user_leaves_a_half_for_others_and_whole_tables_three_quarters() {
        let budget = ten();
        let (greedy, waiting) = admitted(budget, "greedy", Cost::Keyed, 30);
        assert_eq!((greedy.len(), waiting.len()), (5, 25));
        let (whole, waiting_whole) = admitted(budget, "scans", Cost::Whole, 30);
        assert_eq!((whole.len(), waiting_whole.len()), (2, 28));
        let (other, _) = admitted(budget, "other", Cost::Keyed, 1);
        assert_eq!(other.len(), 1, "it does not wait");
        drop((greedy, waiting, whole, waiting_whole, other));
        assert_eq!(budget.left(), 10 * READING);
    }

    #[test]
    fn the_user_who_holds_the_least_is_next_and_whole_tables_are_last() {
        let budget = ten();
        let (mut first, _first) = admitted(budget, "a", Cost::Keyed, 5);
        let (second, _second) = admitted(budget, "b", Cost::Keyed, 5);
        assert_eq!(first.len() + second.len(), 10);
        let mut whole = ask(budget, "c", Cost::Whole);
        assert!(whole.as_mut().now_or_never().is_none());
        let mut again = ask(budget, "a", Cost::Keyed);
        assert!(again.as_mut().now_or_never().is_none());
        let mut new = ask(budget, "d", Cost::Keyed);
        assert!(new.as_mut().now_or_never().is_none());
        drop(first.pop());
        let _new = new.as_mut().now_or_never().expect("it came last and holds nothing");
        assert!(again.as_mut().now_or_never().is_none() && whole.as_mut().now_or_never().is_none());
        drop(first.pop());
        let _again = again.as_mut().now_or_never().expect("a key leads to its rows");
        assert!(whole.as_mut().now_or_never().is_none());
        drop(first.pop());
        assert!(whole.as_mut().now_or_never().is_some());
    }

    #[test]
    fn a_waiter_that_gave_up_is_passed_over() {
        let budget = ten();
        let (held, waiting) = admitted(budget, "a", Cost::Keyed, 6);
        drop(waiting);
        drop(held);
        assert_eq!(budget.left(), 10 * READING);
        // Admitted, but dropped before it notices.
        let (held, mut waiting) = admitted(budget, "a", Cost::Keyed, 6);
        assert!(waiting[0].as_mut().now_or_never().is_none());
        drop(held);
        drop(waiting);
        assert_eq!(budget.left(), 10 * READING);
    }
}
