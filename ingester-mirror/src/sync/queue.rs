//! What waits to be worked on: one entry an object, the latest of it, in the order of arrival; bounded in bytes.
//!
//! # Guarantees
//! - An object is with one worker at a time; what arrives for it meanwhile waits until that worker is done.
//! - A newer state replaces an older one that waits; a state is never lost to an older one.
//! - [`Queue::push`] waits while the queue is full, so that the watch is read no further. What workers put back never waits.
//! - What is to be looked at later ([`Queue::push_later`]) gives way to whatever arrives for that object before.

use super::work::{Item, Work};
use crate::metrics::ControllerMetrics;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) struct Queue {
    state: Mutex<State>,
    ready: Notify,
    room: Notify,
    drained: Notify,
    most_bytes: usize,
    metrics: ControllerMetrics,
}

#[derive(Default)]
struct State {
    /// By uid. Those that are with no worker stand in `order` too.
    waiting: HashMap<Box<str>, Item>,
    order: VecDeque<Box<str>>,
    active: HashSet<Box<str>>,
    /// By when it is due and a number that keeps equal times apart.
    later: BTreeMap<(Instant, u64), Item>,
    /// The place in `later` of each uid.
    due: HashMap<Box<str>, (Instant, u64)>,
    number: u64,
    bytes: usize,
    /// Who waits for [`Queue::drained`]: the objects that have not been worked on since.
    undone: HashSet<Box<str>>,
}

impl Queue {
    pub(crate) fn new(most_bytes: usize, metrics: ControllerMetrics) -> Self {
        Queue {
            state: Mutex::default(),
            ready: Notify::new(),
            room: Notify::new(),
            drained: Notify::new(),
            most_bytes,
            metrics,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A worker that panicked inside left a whole state: nothing in here is half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what was received; waits while the queue is full.
    pub(crate) async fn push(&self, item: Item) {
        loop {
            let room = self.room.notified();
            if self.lock().bytes < self.most_bytes {
                break;
            }
            room.await;
        }
        self.push_now(item);
    }

    /// Adds without waiting: for workers, whose waiting would stop the queue for good.
    pub(crate) fn push_now(&self, item: Item) {
        self.metrics.added();
        let mut state = self.lock();
        if let Some(place) = state.due.remove(&item.uid) {
            state.later.remove(&place);
        }
        state.add(item);
        self.tell(&state);
        drop(state);
        self.ready.notify_one();
    }

    /// Adds once `delay` has passed, unless something else arrives for the object before.
    pub(crate) fn push_later(&self, item: Item, delay: Duration) {
        let mut state = self.lock();
        if state.waiting.contains_key(&item.uid) {
            return;
        }
        state.number += 1;
        let place = (Instant::now() + delay, state.number);
        if let Some(old) = state.due.insert(item.uid.clone(), place) {
            state.later.remove(&old);
        }
        state.later.insert(place, item);
        drop(state);
        // Whoever waits for the next one that is due must learn of an earlier one.
        self.ready.notify_one();
    }

    /// Up to `most` objects of up to `most_bytes` in all, at least one; waits for it. They are the caller's until
    /// [`Queue::done`].
    pub(crate) async fn take(&self, most: usize, most_bytes: usize) -> Vec<Item> {
        loop {
            let ready = self.ready.notified();
            let next_due = {
                let mut state = self.lock();
                state.wake();
                let items = state.take(most, most_bytes);
                if !items.is_empty() {
                    self.tell(&state);
                    let more = !state.order.is_empty() || !state.later.is_empty();
                    drop(state);
                    if more {
                        self.ready.notify_one();
                    }
                    self.room.notify_one();
                    let now = Instant::now();
                    items.iter().for_each(|item| self.metrics.taken(now.duration_since(item.since)));
                    return items;
                }
                state.later.keys().next().map(|(due, _)| *due)
            };
            match next_due {
                Some(due) => drop(tokio::time::timeout_at(due, ready).await),
                None => ready.await,
            }
        }
    }

    /// The worker is done with these; what has arrived for them meanwhile is next.
    pub(crate) fn done<'u>(&self, uids: impl IntoIterator<Item = &'u str>) {
        let mut state = self.lock();
        let any_undone = !state.undone.is_empty();
        for uid in uids {
            state.undone.remove(uid);
            if let Some(uid) = state.active.take(uid)
                && state.waiting.contains_key(&uid)
            {
                state.order.push_back(uid);
            }
        }
        if any_undone && state.undone.is_empty() {
            self.drained.notify_one();
        }
        drop(state);
        self.ready.notify_one();
    }

    /// Waits until everything that is in the queue now has been worked on. One may wait at a time.
    pub(crate) async fn drained(&self) {
        let drained = {
            let mut state = self.lock();
            state.undone = state.waiting.keys().chain(&state.active).cloned().collect();
            if state.undone.is_empty() {
                return;
            }
            self.drained.notified()
        };
        drained.await;
    }

    /// Whether anything waits for this object, or a worker has it.
    pub(crate) fn holds(&self, uid: &str) -> bool {
        let state = self.lock();
        state.waiting.contains_key(uid) || state.active.contains(uid)
    }

    /// Whether nothing waits and no worker has anything; what is due later does not count.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.waiting.is_empty() && state.active.is_empty()
    }

    fn tell(&self, state: &State) {
        self.metrics.waiting(state.waiting.len(), state.bytes);
    }
}

impl State {
    fn add(&mut self, item: Item) {
        match self.waiting.remove(&item.uid) {
            Some(old) => {
                self.bytes -= old.bytes();
                let item = merge(old, item);
                self.bytes += item.bytes();
                self.waiting.insert(item.uid.clone(), item);
            }
            None => {
                if !self.active.contains(&item.uid) {
                    self.order.push_back(item.uid.clone());
                }
                self.bytes += item.bytes();
                self.waiting.insert(item.uid.clone(), item);
            }
        }
    }

    /// Moves what has become due to what waits.
    fn wake(&mut self) {
        let now = Instant::now();
        while let Some(entry) = self.later.first_entry().filter(|entry| entry.key().0 <= now) {
            let mut item = entry.remove();
            self.due.remove(&item.uid);
            item.since = now;
            self.add(item);
        }
    }

    fn take(&mut self, most: usize, most_bytes: usize) -> Vec<Item> {
        let (mut items, mut bytes) = (Vec::new(), 0);
        while items.len() < most {
            let Some(size) = self.order.front().and_then(|uid| self.waiting.get(uid)).map(Item::bytes) else { break };
            if !items.is_empty() && bytes + size > most_bytes {
                break;
            }
            let Some(item) = self.order.pop_front().and_then(|uid| self.waiting.remove(&uid)) else { break };
            self.active.insert(item.uid.clone());
            self.bytes -= size;
            bytes += size;
            items.push(item);
        }
        items
    }
}

/// Of two things that wait for one object, what is to be done.
fn merge(old: Item, new: Item) -> Item {
    let since = old.since.min(new.since);
    let (keep, other) = match (&old.work, &new.work) {
        // A state says more than the wish to look at one.
        (Work::Object { .. } | Work::Broken { .. }, Work::Look { .. }) => (old, new),
        (Work::Object { .. }, Work::Object { .. }) if new.version() < old.version() => (old, new),
        _ => (new, old),
    };
    Item { since, overrule: keep.overrule || other.overrule, ..keep }
}

#[cfg(test)]
mod tests {
    use super::Queue;
    use crate::metrics::Metrics;
    use crate::sync::work::{Item, Origin, Work};
    use ingester_core::object::{ManagedFields, Object};
    use std::time::Duration;

    fn queue(most_bytes: usize) -> Queue {
        Queue::new(most_bytes, Metrics::new().unwrap().controller("Test"))
    }

    fn object(uid: &str, version: u64, gone: bool) -> Item {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"K","metadata":{{"name":"n","uid":"{uid}","resourceVersion":"{version}"}}}}"#
        );
        let object = Object::parse(text, ManagedFields::Prune).unwrap();
        Item::new(Work::Object { object: Box::new(object), gone }, Origin::Watch)
    }

    fn look(uid: &str) -> Item {
        Item::new(
            Work::Look { uid: uid.into(), namespace: "".into(), name: "n".into(), version: 0, swept: false },
            Origin::Watch,
        )
    }

    async fn take(queue: &Queue) -> Vec<(String, u64)> {
        let items = queue.take(10, usize::MAX).await;
        items.iter().map(|item| (item.uid.to_string(), item.version())).collect()
    }

    fn pairs(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
        expected.iter().map(|(uid, version)| ((*uid).to_owned(), *version)).collect()
    }

    #[tokio::test]
    async fn each_object_is_taken_once_in_order_with_its_latest_version() {
        let queue = queue(usize::MAX);
        for item in [object("a", 1, false), object("b", 2, false), object("a", 4, false), object("a", 3, false)] {
            queue.push(item).await;
        }
        assert_eq!(take(&queue).await, pairs(&[("a", 4), ("b", 2)]));
    }

    #[tokio::test]
    async fn a_queued_state_is_not_replaced_by_a_refresh() {
        let queue = queue(usize::MAX);
        queue.push(object("a", 1, true)).await;
        queue.push(look("a")).await;
        queue.push(look("b")).await;
        queue.push(object("b", 2, false)).await;
        assert_eq!(take(&queue).await, pairs(&[("a", 1), ("b", 2)]));
    }

    #[tokio::test]
    async fn an_object_is_with_one_worker_at_a_time() {
        let queue = queue(usize::MAX);
        queue.push(object("a", 1, false)).await;
        assert_eq!(take(&queue).await, pairs(&[("a", 1)]));
        queue.push(object("a", 2, false)).await;
        queue.push(object("b", 3, false)).await;
        assert_eq!(take(&queue).await, pairs(&[("b", 3)]));
        assert!(queue.holds("a"));
        queue.done(["a"]);
        assert_eq!(take(&queue).await, pairs(&[("a", 2)]));
        queue.done(["a", "b"]);
        assert!(queue.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn delayed_work_comes_later_and_is_replaced_by_newer_states() {
        let queue = queue(usize::MAX);
        queue.push_later(look("a"), Duration::from_secs(10));
        queue.push_later(look("b"), Duration::from_secs(5));
        queue.push(object("a", 7, false)).await;
        assert_eq!(take(&queue).await, pairs(&[("a", 7)]));
        let begin = tokio::time::Instant::now();
        assert_eq!(take(&queue).await, pairs(&[("b", 0)]));
        assert_eq!(begin.elapsed().as_secs(), 5);
        let nothing = tokio::time::timeout(Duration::from_secs(60), take(&queue)).await;
        assert!(nothing.is_err(), "{nothing:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_blocks_the_watch_but_never_a_worker() {
        let queue = queue(1);
        queue.push(object("a", 1, false)).await;
        let blocked = tokio::time::timeout(Duration::from_secs(60), queue.push(object("b", 2, false))).await;
        assert!(blocked.is_err());
        queue.push_now(object("c", 3, false));
        assert_eq!(take(&queue).await, pairs(&[("a", 1), ("c", 3)]));
        queue.push(object("b", 2, false)).await;
        assert_eq!(take(&queue).await, pairs(&[("b", 2)]));
    }

    #[tokio::test]
    async fn earlier_entries_are_drained_whatever_is_queued_later() {
        let queue = std::sync::Arc::new(queue(usize::MAX));
        queue.drained().await;
        for uid in ["a", "b"] {
            queue.push(object(uid, 1, false)).await;
        }
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.drained().await }
        });
        assert_eq!(take(&queue).await.len(), 2);
        tokio::task::yield_now().await;
        queue.done(["a"]);
        queue.push(object("c", 2, false)).await;
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        queue.done(["b"]);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn a_batch_keeps_to_its_bytes_but_has_at_least_one_object() {
        let queue = queue(usize::MAX);
        for uid in ["a", "b", "c"] {
            queue.push(object(uid, 1, false)).await;
        }
        assert_eq!(queue.take(10, 1).await.len(), 1);
        assert_eq!(queue.take(1, usize::MAX).await.len(), 1);
        assert_eq!(queue.take(10, usize::MAX).await.len(), 1);
    }
}
