//! The work queue: one entry per object, always its latest state, in the order of arrival. Bounded in bytes.
//!
//! # Guarantees
//! - At most one worker has an object at a time. What arrives for the object meanwhile waits until that worker is done.
//! - A newer state replaces an older one in the queue, never the other way round.
//! - [`Queue::push`] waits while the queue is full, so the watch is read no further. What workers put back never waits.
//! - Delayed work ([`Queue::push_later`]) is dropped if anything else arrives for that object first.

use super::work::{Item, Work};
use crate::metrics::ControllerMetrics;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) struct Queue {
    contents: Mutex<Contents>,
    /// There may be something to take.
    ready: Notify,
    /// There may be room for more.
    room: Notify,
    /// Everything that [`Queue::drained`] waited for was worked on.
    drained: Notify,
    most_bytes: usize,
    metrics: ControllerMetrics,
}

#[derive(Default)]
struct Contents {
    /// By uid. `order` has the uids of those that no worker has.
    waiting: HashMap<Box<str>, Item>,
    order: VecDeque<Box<str>>,
    /// The objects that workers have.
    active: HashSet<Box<str>>,
    /// Delayed work, by when it is due and a number that tells equal times apart.
    later: BTreeMap<(Instant, u64), Item>,
    /// The key in `later` of each uid.
    due: HashMap<Box<str>, (Instant, u64)>,
    number: u64,
    bytes: usize,
    /// The objects that [`Queue::drained`] still waits for.
    undone: HashSet<Box<str>>,
}

impl Queue {
    pub(crate) fn new(most_bytes: usize, metrics: ControllerMetrics) -> Self {
        Queue {
            contents: Mutex::default(),
            ready: Notify::new(),
            room: Notify::new(),
            drained: Notify::new(),
            most_bytes,
            metrics,
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // A panic under the lock leaves nothing half done.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds received work; waits while the queue is full.
    pub(crate) async fn push(&self, item: Item) {
        loop {
            let room = self.room.notified();
            if self.contents().bytes < self.most_bytes {
                break;
            }
            room.await;
        }
        self.push_now(item);
    }

    /// Adds without waiting: for workers. If they waited for room, nobody would make any.
    pub(crate) fn push_now(&self, item: Item) {
        self.metrics.added();
        let mut contents = self.contents();
        if let Some(due) = contents.due.remove(&item.uid) {
            contents.later.remove(&due);
        }
        contents.add(item);
        self.count(&contents);
        drop(contents);
        self.ready.notify_one();
    }

    /// Adds after `delay`, unless something else arrives for the object first.
    pub(crate) fn push_later(&self, item: Item, delay: Duration) {
        let mut contents = self.contents();
        if contents.waiting.contains_key(&item.uid) {
            return;
        }
        contents.number += 1;
        let due = (Instant::now() + delay, contents.number);
        if let Some(old) = contents.due.insert(item.uid.clone(), due) {
            contents.later.remove(&old);
        }
        contents.later.insert(due, item);
        drop(contents);
        // A worker may be waiting for an item that is due later than this one.
        self.ready.notify_one();
    }

    /// Takes up to `most` objects of up to `most_bytes` in total, and at least one; waits for the first. No other worker
    /// gets them before [`Queue::done`].
    pub(crate) async fn take(&self, most: usize, most_bytes: usize) -> Vec<Item> {
        loop {
            let ready = self.ready.notified();
            let next_due = {
                let mut contents = self.contents();
                contents.wake();
                let items = contents.take(most, most_bytes);
                if !items.is_empty() {
                    self.count(&contents);
                    let more = !contents.order.is_empty() || !contents.later.is_empty();
                    drop(contents);
                    if more {
                        self.ready.notify_one();
                    }
                    self.room.notify_one();
                    let now = Instant::now();
                    items.iter().for_each(|item| self.metrics.taken(now.duration_since(item.since)));
                    return items;
                }
                contents.later.keys().next().map(|(due, _)| *due)
            };
            match next_due {
                Some(due) => drop(tokio::time::timeout_at(due, ready).await),
                None => ready.await,
            }
        }
    }

    /// The worker is done with these. What arrived for them meanwhile can be taken now.
    pub(crate) fn done<'u>(&self, uids: impl IntoIterator<Item = &'u str>) {
        let mut contents = self.contents();
        let any_undone = !contents.undone.is_empty();
        for uid in uids {
            contents.undone.remove(uid);
            if let Some(uid) = contents.active.take(uid)
                && contents.waiting.contains_key(&uid)
            {
                contents.order.push_back(uid);
            }
        }
        if any_undone && contents.undone.is_empty() {
            self.drained.notify_one();
        }
        drop(contents);
        self.ready.notify_one();
    }

    /// Waits until everything that is in the queue now was worked on. Only one task may wait at a time.
    pub(crate) async fn drained(&self) {
        let drained = {
            let mut contents = self.contents();
            contents.undone = contents.waiting.keys().chain(&contents.active).cloned().collect();
            if contents.undone.is_empty() {
                return;
            }
            self.drained.notified()
        };
        drained.await;
    }

    /// Whether this object waits, or a worker has it.
    pub(crate) fn holds(&self, uid: &str) -> bool {
        let contents = self.contents();
        contents.waiting.contains_key(uid) || contents.active.contains(uid)
    }

    /// Whether nothing waits and no worker has anything. Delayed work does not count.
    pub(crate) fn is_idle(&self) -> bool {
        let contents = self.contents();
        contents.waiting.is_empty() && contents.active.is_empty()
    }

    fn count(&self, contents: &Contents) {
        self.metrics.waiting(contents.waiting.len(), contents.bytes);
    }
}

impl Contents {
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

    /// Moves delayed work that is due now to `waiting`.
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

/// Which of two pieces of work for one object remains.
fn merge(old: Item, new: Item) -> Item {
    let since = old.since.min(new.since);
    let (keep, other) = match (&old.work, &new.work) {
        // A received state makes reading it unnecessary.
        (Work::Object { .. } | Work::Broken { .. }, Work::Refresh { .. }) => (old, new),
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

    fn refresh(uid: &str) -> Item {
        Item::new(
            Work::Refresh { uid: uid.into(), namespace: "".into(), name: "n".into(), version: 0, swept: false },
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
        queue.push(refresh("a")).await;
        queue.push(refresh("b")).await;
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
        queue.push_later(refresh("a"), Duration::from_secs(10));
        queue.push_later(refresh("b"), Duration::from_secs(5));
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
