//! The work queue: one entry per object, always its latest state, in the order of arrival. The [budget](crate::budget) bounds the objects
//! in it.
//!
//! # Guarantees
//! - At most one worker has an object at a time. Work that arrives for the object in the meantime waits until that worker is done.
//! - A newer state replaces an older one in the queue, never the other way round.
//! - Delayed work ([`Queue::push_later`]) is dropped if anything else arrives for that object first.
//! - A [spooled](super::spool) object is dropped if anything else arrives for it, before a worker has either.

use super::spool::{SpooledBatch, SpooledObjects};
use super::work::{Arrival, Item, LookReason, ObjectRef, Work};
use crate::metrics::ControllerMetrics;
use ingester_store::spool::{SpoolFile, SpoolPosition};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The shortest delay: failed work is tried again after a pause.
const SHORTEST: Duration = Duration::from_millis(100);

/// If more objects than this were handed back, forget the ones that no longer wait.
const MOST_HANDED: usize = 64;

pub(crate) struct Queue {
    contents: Arc<Mutex<Contents>>,
    /// Signals that an item may be ready to take.
    ready: Notify,
    /// Signals that a request has handed back an object.
    handed: Notify,
    /// Signals that work on an object has ended.
    worked: Notify,
    metrics: ControllerMetrics,
}

#[derive(Default)]
struct Contents {
    /// Items by uid. `order` has the uids that no worker has.
    waiting: HashMap<Box<str>, Item>,
    order: VecDeque<Box<str>>,
    /// The objects that were handed back with a permit; some of them may no longer wait.
    handed: Vec<Box<str>>,
    /// The objects that workers have, and the times since when they have waited.
    active: HashMap<Box<str>, Instant>,
    /// Delayed work, by its due time and a number that distinguishes equal times.
    later: BTreeMap<(Instant, u64), Item>,
    /// The key in `later` of each uid.
    due: HashMap<Box<str>, (Instant, u64)>,
    number: u64,
    bytes: usize,
    /// The objects that [`Queue::drained`] still waits for.
    undone: Option<HashSet<Box<str>>>,
    spooled: SpooledObjects,
}

/// The objects that a worker has taken from the queue.
#[derive(Debug, Default)]
pub(crate) struct TakenObjects {
    pub(crate) items: Vec<Item>,
    /// Objects whose texts are in the temporary file.
    pub(crate) spooled: Option<SpooledBatch>,
}

impl Queue {
    pub(crate) fn new(metrics: ControllerMetrics) -> Self {
        let contents = Arc::<Mutex<Contents>>::default();
        let of = Arc::downgrade(&contents);
        metrics.oldest(move || {
            let contents = of.upgrade()?;
            contents.lock().oldest().map(|since| since.elapsed())
        });
        Queue { contents, ready: Notify::new(), handed: Notify::new(), worked: Notify::new(), metrics }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // A panic under the lock leaves the data consistent.
        self.contents.lock()
    }

    /// Adds work.
    pub(crate) fn push(&self, item: Item) {
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

    /// Adds work after `delay`, unless other work arrives for the object first.
    pub(crate) fn push_later(&self, item: Item, delay: Duration) {
        let delay = delay.max(SHORTEST);
        let mut contents = self.contents();
        if contents.waits(&item.uid) {
            return;
        }
        contents.add_later(item, Instant::now() + delay);
        drop(contents);
        // A worker may be waiting for an item that is due later than this item.
        self.ready.notify_one();
    }

    /// Adds work after `delay`, unless other work waits for the object: then it adds nothing and returns `false`. Earlier delayed work
    /// stays.
    pub(crate) fn gather(&self, item: Item, delay: Duration) -> bool {
        let mut contents = self.contents();
        if contents.waits(&item.uid) {
            return false;
        }
        let due = Instant::now() + delay.max(SHORTEST);
        if contents.due.get(&item.uid).is_none_or(|(sooner, _)| *sooner > due) {
            contents.add_later(item, due);
            drop(contents);
            self.ready.notify_one();
        }
        true
    }

    /// Adds an object of a large fill whose text is in a temporary file. No worker takes it before [`Queue::seal`]. Returns false, and adds
    /// nothing, if the queue has other work for the object.
    pub(crate) fn spool(&self, uid: &str, file: &Arc<SpoolFile>, position: SpoolPosition) -> bool {
        let mut contents = self.contents();
        let busy =
            contents.waiting.contains_key(uid) || contents.active.contains_key(uid) || contents.due.contains_key(uid);
        let added = !busy && contents.spooled.add(uid, file, position);
        if added {
            self.metrics.added();
            self.count(&contents);
        }
        added
    }

    /// Lets workers take the spooled objects, in the order of their uids. Returns how many there are.
    pub(crate) fn seal(&self) -> usize {
        let mut contents = self.contents();
        contents.spooled.seal();
        let objects = contents.spooled.len();
        drop(contents);
        self.ready.notify_one();
        objects
    }

    /// Forgets the spooled objects: the list that brought them does not end.
    pub(crate) fn discard_spooled(&self) {
        let mut contents = self.contents();
        contents.spooled = SpooledObjects::default();
        self.count(&contents);
    }

    /// Takes up to `most` objects of up to `most_bytes` in total, and at least one; waits for the first. No other worker
    /// gets them before [`Queue::done`]. Spooled objects come last, but at least half of a batch is theirs: they are older.
    pub(crate) async fn take(&self, most: usize, most_bytes: usize) -> TakenObjects {
        loop {
            let ready = self.ready.notified();
            let next_due = {
                let mut contents = self.contents();
                contents.wake();
                let share = if contents.spooled.is_ready() { 2 } else { 1 };
                let items = contents.take(most / share, most_bytes / share);
                let bytes: usize = items.iter().map(Item::bytes).sum();
                let spooled = contents.take_spooled(most - items.len(), most_bytes.saturating_sub(bytes));
                if !items.is_empty() || spooled.is_some() {
                    self.count(&contents);
                    let more = contents.is_ready() || !contents.later.is_empty();
                    drop(contents);
                    if more {
                        self.ready.notify_one();
                    }
                    let now = Instant::now();
                    items.iter().for_each(|item| self.metrics.taken(now.duration_since(item.trail.since)));
                    if let Some(batch) = &spooled {
                        batch.objects.iter().for_each(|_| self.metrics.taken(now.duration_since(batch.since)));
                    }
                    return TakenObjects { items, spooled };
                }
                contents.later.keys().next().map(|(due, _)| *due)
            };
            match next_due {
                Some(due) => drop(tokio::time::timeout_at(due, ready).await),
                None => ready.await,
            }
        }
    }

    /// As [`Queue::take`], but only objects that were handed back with a permit. A worker that begins no further requests takes these,
    /// because the requests that it has begun may wait for the permits.
    pub(crate) async fn take_handed_back(&self, most: usize, most_bytes: usize) -> TakenObjects {
        loop {
            let handed = self.handed.notified();
            let items = {
                let mut contents = self.contents();
                let items = contents.take_handed_back(most, most_bytes);
                self.count(&contents);
                items
            };
            if !items.is_empty() {
                let now = Instant::now();
                items.iter().for_each(|item| self.metrics.taken(now.duration_since(item.trail.since)));
                return TakenObjects { items, spooled: None };
            }
            handed.await;
        }
    }

    /// Ends a worker's work on these objects. Items that arrived for them in the meantime can be taken now.
    pub(crate) fn done<'u>(&self, uids: impl IntoIterator<Item = &'u str>) {
        let mut contents = self.contents();
        for uid in uids {
            if let Some(undone) = &mut contents.undone {
                undone.remove(uid);
            }
            if let Some((uid, _)) = contents.active.remove_entry(uid)
                && contents.waiting.contains_key(&uid)
            {
                contents.order.push_back(uid);
            }
        }
        let drained = contents.is_drained();
        let more = contents.is_ready();
        drop(contents);
        if drained {
            self.worked.notify_waiters();
        }
        // Without this check, another worker would wake in vain, just when this one sends its statement.
        if more {
            self.ready.notify_one();
        }
    }

    /// Hands back an object after its request has ended, to be worked on now, merged with items that arrived in the meantime.
    pub(crate) fn hand_back(&self, item: Item) {
        let mut contents = self.contents();
        let uid = item.uid.clone();
        // An item that arrived in the meantime is later than the answer.
        let item = match contents.waiting.remove(&uid) {
            Some(arrived) => {
                contents.bytes -= arrived.bytes();
                item.merge(arrived)
            }
            None => item,
        };
        contents.bytes += item.bytes();
        contents.active.remove(&uid);
        contents.order.push_back(uid.clone());
        if item.holds_a_permit() {
            contents.hand_back(uid.clone());
        }
        contents.waiting.insert(uid, item);
        self.count(&contents);
        drop(contents);
        self.ready.notify_one();
        self.handed.notify_one();
    }

    /// Takes out the received objects that wait, also spooled ones. Returns their uids.
    pub(crate) fn withdraw(&self) -> Vec<Box<str>> {
        let mut contents = self.contents();
        let Contents { waiting, order, active, bytes, undone, spooled, .. } = &mut *contents;
        let mut received = Vec::new();
        waiting.retain(|uid, item| {
            let stays = !matches!(item.work, Work::Object { .. });
            if !stays {
                *bytes -= item.bytes();
                received.push(uid.clone());
            }
            stays
        });
        order.retain(|uid| waiting.contains_key(uid));
        received.extend(spooled.uids());
        *spooled = SpooledObjects::default();
        if let Some(undone) = undone {
            undone.retain(|uid| waiting.contains_key(uid) || active.contains_key(uid));
        }
        self.count(&contents);
        received
    }

    /// Waits until everything that is in the queue now was processed. Spooled objects must be sealed. Only one task may wait at a time.
    pub(crate) async fn drained(&self) {
        {
            let mut contents = self.contents();
            contents.undone = Some(contents.busy_uids());
        }
        loop {
            // It receives everything from here on.
            let worked = self.worked.notified();
            if self.contents().is_drained() {
                break;
            }
            worked.await;
        }
        self.contents().undone = None;
    }

    /// Returns the objects that wait, and those that workers have.
    pub(crate) fn uids(&self) -> HashSet<Box<str>> {
        self.contents().uids()
    }

    /// Returns true if this object waits, or a worker has it.
    pub(crate) fn holds(&self, uid: &str) -> bool {
        let contents = self.contents();
        contents.waits(uid) || contents.active.contains_key(uid)
    }

    /// Returns true if delayed work is due for this object later.
    pub(crate) fn is_due(&self, uid: &str) -> bool {
        self.contents().due.contains_key(uid)
    }

    /// Returns true if nothing waits and no worker has anything. Delayed work does not count.
    pub(crate) fn is_idle(&self) -> bool {
        let contents = self.contents();
        contents.waiting.is_empty() && contents.active.is_empty() && contents.spooled.is_empty()
    }

    fn count(&self, contents: &Contents) {
        self.metrics.waiting(contents.waiting.len(), contents.spooled.len(), contents.bytes);
    }
}

impl Contents {
    fn uids(&self) -> HashSet<Box<str>> {
        let mut uids = self.busy_uids();
        uids.extend(self.spooled.uids());
        uids
    }

    /// Returns the objects that wait in memory, and those that workers have.
    fn busy_uids(&self) -> HashSet<Box<str>> {
        self.waiting.keys().chain(self.active.keys()).cloned().collect()
    }

    /// Returns true if this object waits, in memory or in the temporary file.
    fn waits(&self, uid: &str) -> bool {
        self.waiting.contains_key(uid) || self.spooled.has(uid)
    }

    /// Returns true if a worker can take an object now.
    fn is_ready(&self) -> bool {
        !self.order.is_empty() || self.spooled.is_ready()
    }

    /// Returns true if everything was processed that [`Queue::drained`] waits for. The spooled objects are not among the undone ones before
    /// a worker takes them, so that they need no more memory.
    fn is_drained(&self) -> bool {
        self.undone.as_ref().is_none_or(HashSet::is_empty) && self.spooled.is_empty()
    }

    /// Returns when the oldest unfinished object arrived. Delayed work does not count.
    fn oldest(&self) -> Option<Instant> {
        let waiting = self.waiting.values().map(|item| item.trail.since);
        waiting.chain(self.active.values().copied()).chain(self.spooled.since()).min()
    }

    fn add(&mut self, item: Item) {
        let item = self.replace_spooled(item);
        match self.waiting.remove(&item.uid) {
            Some(old) => {
                self.bytes -= old.bytes();
                let item = old.merge(item);
                self.bytes += item.bytes();
                self.waiting.insert(item.uid.clone(), item);
            }
            None => {
                if !self.active.contains_key(&item.uid) {
                    self.order.push_back(item.uid.clone());
                }
                self.bytes += item.bytes();
                self.waiting.insert(item.uid.clone(), item);
            }
        }
    }

    /// Drops the spooled state of an object for which other work arrives, and returns that work.
    fn replace_spooled(&mut self, mut item: Item) -> Item {
        let Some(since) = self.spooled.remove(&item.uid) else { return item };
        if let Some(undone) = &mut self.undone {
            undone.insert(item.uid.clone());
        }
        if let Work::Object { object, arrival } = &item.work
            && !matches!(arrival, Arrival::Watch | Arrival::Deletion)
        {
            // Only events are certainly later than the list. A look is always right.
            item = Item::look(ObjectRef::from_meta(object.meta()), LookReason::Due, 0);
        }
        item.trail.since = since;
        item
    }

    /// Takes spooled objects, if workers may have them.
    fn take_spooled(&mut self, most: usize, most_bytes: usize) -> Option<SpooledBatch> {
        if most == 0 || !self.spooled.is_ready() {
            return None;
        }
        let batch = self.spooled.take(most, most_bytes)?;
        for (uid, _) in &batch.objects {
            self.active.insert(uid.clone(), batch.since);
            if let Some(undone) = &mut self.undone {
                undone.insert(uid.clone());
            }
        }
        Some(batch)
    }

    /// Adds delayed work, and replaces older delayed work for the same object.
    fn add_later(&mut self, item: Item, at: Instant) {
        self.number += 1;
        let due = (at, self.number);
        if let Some(old) = self.due.insert(item.uid.clone(), due) {
            self.later.remove(&old);
        }
        self.later.insert(due, item);
    }

    /// Moves delayed work that is due now to `waiting`.
    fn wake(&mut self) {
        let now = Instant::now();
        while let Some(entry) = self.later.first_entry().filter(|entry| entry.key().0 <= now) {
            let mut item = entry.remove();
            self.due.remove(&item.uid);
            item.trail.since = now;
            self.add(item);
        }
    }

    fn hand_back(&mut self, uid: Box<str>) {
        // There are few permits, so few remain.
        if self.handed.len() >= MOST_HANDED {
            let waiting = &self.waiting;
            self.handed.retain(|uid| waiting.get(uid).is_some_and(Item::holds_a_permit));
        }
        self.handed.push(uid);
    }

    fn take_handed_back(&mut self, most: usize, most_bytes: usize) -> Vec<Item> {
        let mut handed: HashSet<Box<str>> = std::mem::take(&mut self.handed).into_iter().collect();
        handed.retain(|uid| self.waiting.get(uid).is_some_and(Item::holds_a_permit));
        if handed.is_empty() {
            return Vec::new();
        }
        let (first, rest) = std::mem::take(&mut self.order).into_iter().partition(|uid| handed.contains(uid));
        self.order = first;
        let items = self.take(most, most_bytes);
        self.handed.extend(self.order.iter().cloned());
        self.order.extend::<VecDeque<_>>(rest);
        items
    }

    fn take(&mut self, most: usize, most_bytes: usize) -> Vec<Item> {
        let mut items = Vec::new();
        let mut bytes = 0;
        while items.len() < most {
            let Some(size) = self.order.front().and_then(|uid| self.waiting.get(uid)).map(Item::bytes) else { break };
            if !items.is_empty() && bytes + size > most_bytes {
                break;
            }
            let Some(item) = self.order.pop_front().and_then(|uid| self.waiting.remove(&uid)) else { break };
            self.active.insert(item.uid.clone(), item.trail.since);
            self.bytes -= size;
            bytes += size;
            items.push(item);
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::{Queue, TakenObjects};
    use crate::metrics::Metrics;
    use crate::pipeline::work::{Arrival, Item, LookReason, ObjectRef, Work};
    use ingester_core::object::{ManagedFields, Object};
    use ingester_store::spool::SpoolFile;
    use std::sync::Arc;
    use std::time::Duration;

    fn queue() -> Queue {
        Queue::new(Metrics::new().unwrap().controller("Test"))
    }

    fn received(uid: &str, version: u64, arrival: Arrival) -> Item {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"K","metadata":{{"name":"n","uid":"{uid}","resourceVersion":"{version}"}}}}"#
        );
        let object = Object::parse(text, ManagedFields::Prune).unwrap();
        Item::new(Work::Object { object: Box::new(object), arrival })
    }

    fn object(uid: &str, version: u64) -> Item {
        received(uid, version, Arrival::Watch)
    }

    fn look_because(uid: &str, version: u64, why: LookReason) -> Item {
        Item::look(ObjectRef { uid: uid.into(), namespace: "".into(), name: "n".into(), version }, why, 0)
    }

    fn look(uid: &str) -> Item {
        look_because(uid, 0, LookReason::Due)
    }

    /// Takes items, and returns each item's uid with its version, or with the reason to look at it.
    async fn take(queue: &Queue) -> Vec<(String, String)> {
        let items = queue.take(10, usize::MAX).await.items;
        let what = |item: &Item| match &item.work {
            Work::Object { object, .. } => object.meta().resource_version.to_string(),
            Work::Look { why, .. } => format!("{why:?}"),
            other => format!("{other:?}"),
        };
        items.iter().map(|item| (item.uid.to_string(), what(item))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(uid, what)| ((*uid).to_owned(), (*what).to_owned())).collect()
    }

    #[tokio::test]
    async fn each_object_is_taken_once_in_order_with_its_latest_version() {
        let queue = queue();
        for item in [object("a", 1), object("b", 2), object("a", 4), object("a", 3)] {
            queue.push(item);
        }
        assert_eq!(take(&queue).await, pairs(&[("a", "4"), ("b", "2")]));
    }

    #[tokio::test]
    async fn a_received_state_is_not_replaced_by_a_look() {
        let queue = queue();
        queue.push(received("a", 1, Arrival::Deletion));
        queue.push(look("a"));
        queue.push(look("b"));
        queue.push(object("b", 2));
        assert_eq!(take(&queue).await, pairs(&[("a", "1"), ("b", "2")]));
    }

    #[tokio::test]
    async fn a_row_to_be_written_again_is_looked_at_unless_a_later_state_comes() {
        let queue = queue();
        queue.push(look_because("a", 5, LookReason::Rewrite));
        queue.push(object("a", 5));
        queue.push(look_because("b", 5, LookReason::Rewrite));
        queue.push(object("b", 6));
        queue.push(object("c", 5));
        queue.push(look_because("c", 5, LookReason::Rewrite));
        queue.push(look_because("d", 5, LookReason::Rewrite));
        queue.push(look("d"));
        let expected = [("a", "Rewrite"), ("b", "6"), ("c", "Rewrite"), ("d", "Rewrite")];
        assert_eq!(take(&queue).await, pairs(&expected));
    }

    #[tokio::test]
    async fn a_list_that_is_behind_what_waits_makes_both_be_looked_at() {
        let queue = queue();
        queue.push(received("a", 9, Arrival::Deletion));
        queue.push(received("a", 3, Arrival::List { behind: true }));
        queue.push(object("b", 9));
        queue.push(received("b", 3, Arrival::Patch { again: false }));
        assert_eq!(take(&queue).await, pairs(&[("a", "Due"), ("b", "9")]));
    }

    #[tokio::test]
    async fn what_was_received_is_withdrawn_and_what_is_to_be_looked_at_stays() {
        let queue = queue();
        for item in [object("a", 1), look("b"), received("c", 2, Arrival::Deletion)] {
            queue.push(item);
        }
        assert_eq!(take(&queue).await.len(), 3);
        queue.push(object("a", 3));
        queue.done(["b", "c"]);
        queue.push(object("d", 4));
        queue.push(look("b"));
        let mut withdrawn = queue.withdraw();
        withdrawn.sort();
        assert_eq!(withdrawn, ["a".into(), "d".into()]);
        assert!(queue.holds("a") && !queue.holds("d"), "a worker has one of them");
        queue.done(["a"]);
        queue.push(object("a", 5));
        assert_eq!(take(&queue).await, pairs(&[("b", "Due"), ("a", "5")]));
    }

    #[tokio::test]
    async fn an_object_is_with_one_worker_at_a_time() {
        let queue = queue();
        queue.push(object("a", 1));
        assert_eq!(take(&queue).await, pairs(&[("a", "1")]));
        queue.push(object("a", 2));
        queue.push(object("b", 3));
        assert_eq!(take(&queue).await, pairs(&[("b", "3")]));
        assert!(queue.holds("a"));
        queue.done(["a"]);
        assert_eq!(take(&queue).await, pairs(&[("a", "2")]));
        queue.done(["a", "b"]);
        assert!(queue.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn delayed_work_comes_later_and_is_replaced_by_newer_states() {
        let queue = queue();
        queue.push_later(look("a"), Duration::from_secs(10));
        queue.push_later(look("b"), Duration::from_secs(5));
        queue.push(object("a", 7));
        assert_eq!(take(&queue).await, pairs(&[("a", "7")]));
        let begin = tokio::time::Instant::now();
        assert_eq!(take(&queue).await, pairs(&[("b", "Due")]));
        assert_eq!(begin.elapsed().as_secs(), 5);
        let nothing = tokio::time::timeout(Duration::from_secs(60), take(&queue)).await;
        assert!(nothing.is_err(), "{nothing:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn no_work_is_delayed_by_less_than_a_pause() {
        let queue = queue();
        queue.push_later(look("a"), Duration::ZERO);
        let begin = tokio::time::Instant::now();
        assert_eq!(take(&queue).await, pairs(&[("a", "Due")]));
        assert!(begin.elapsed() >= Duration::from_millis(100));
    }

    #[tokio::test]
    async fn earlier_entries_are_drained_whatever_is_queued_later() {
        let queue = std::sync::Arc::new(queue());
        queue.drained().await;
        for uid in ["a", "b"] {
            queue.push(object(uid, 1));
        }
        // A waiter that gave up does not affect the next one.
        assert!(tokio::time::timeout(Duration::from_millis(1), queue.drained()).await.is_err());
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.drained().await }
        });
        assert_eq!(take(&queue).await.len(), 2);
        tokio::task::yield_now().await;
        queue.done(["a"]);
        queue.push(object("c", 2));
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        queue.done(["b"]);
        waiting.await.unwrap();
        let begin = tokio::time::timeout(Duration::from_millis(1), queue.drained()).await;
        assert!(begin.is_err(), "\"c\" still waits");
    }

    /// A uid that a file can have.
    fn uuid(number: u32) -> String {
        format!("{number:08x}-0000-4000-8000-000000000000")
    }

    /// Spools objects of version 1.
    fn spool(queue: &Queue, numbers: &[u32]) -> Arc<SpoolFile> {
        let file = Arc::new(SpoolFile::create(&std::env::temp_dir()).unwrap());
        for number in numbers {
            let item = object(&uuid(*number), 1);
            let Work::Object { object, .. } = &item.work else { panic!("{item:?}") };
            let position = file.add(object.text()).unwrap();
            assert!(queue.spool(&item.uid, &file, position));
        }
        file
    }

    /// Takes a batch: the uids of objects in memory, and of those in the file, which come in twos in tests.
    async fn taken(queue: &Queue) -> (Vec<String>, Vec<String>) {
        let TakenObjects { items, spooled } = queue.take(10, usize::MAX).await;
        let spooled = spooled.into_iter().flat_map(|batch| batch.objects).map(|(uid, _)| uid.to_string());
        (items.iter().map(|item| item.uid.to_string()).collect(), spooled.collect())
    }

    #[tokio::test(start_paused = true)]
    async fn spooled_objects_wait_until_they_are_sealed_and_come_in_order() {
        let queue = queue();
        spool(&queue, &[7, 3, 9, 5]);
        assert!(!queue.is_idle() && queue.holds(&uuid(7)) && !queue.holds(&uuid(1)));
        assert_eq!(queue.uids().len(), 4);
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(queue.contents().oldest().map(|since| since.elapsed().as_secs()), Some(3));
        queue.push(object("a", 2));
        assert_eq!(taken(&queue).await, (vec!["a".into()], vec![]));
        assert_eq!(queue.seal(), 4);
        let draining = tokio::time::timeout(Duration::from_secs(1), queue.drained()).await;
        assert!(draining.is_err());
        queue.push(object("b", 2));
        assert_eq!(taken(&queue).await, (vec!["b".into()], [3, 5].map(uuid).to_vec()));
        assert!(queue.holds(&uuid(3)), "a worker has it");
        assert_eq!(taken(&queue).await, (vec![], [7, 9].map(uuid).to_vec()));
        queue.done(["a", "b"]);
        queue.done([3, 5, 7, 9].map(uuid).iter().map(String::as_str));
        assert!(queue.is_idle());
        queue.drained().await;
    }

    #[tokio::test]
    async fn whatever_arrives_for_a_spooled_object_replaces_it() {
        let queue = queue();
        let file = spool(&queue, &[1, 2, 3, 4, 5, 6]);
        queue.push(object(&uuid(1), 2));
        queue.push(received(&uuid(2), 2, Arrival::Deletion));
        queue.push(look(&uuid(3)));
        queue.push(received(&uuid(4), 1, Arrival::List { behind: false }));
        queue.push_later(look(&uuid(5)), Duration::from_secs(1));
        assert!(!queue.is_due(&uuid(5)), "the object itself comes before a delayed look");
        assert!(!queue.gather(look(&uuid(6)), Duration::from_secs(1)));
        queue.push(object("other", 1));
        let position = file.add("{}").unwrap();
        assert!(!queue.spool("other", &file, position), "it waits already, and is no UUID");
        queue.seal();
        let TakenObjects { items, spooled } = queue.take(20, usize::MAX).await;
        let told: Vec<String> = items.iter().map(|item| format!("{:?}", std::mem::discriminant(&item.work))).collect();
        assert_eq!(items.len(), 5, "{told:?}");
        assert!(matches!(&items[3].work, Work::Look { why: LookReason::Due, .. }), "a list may be older than the file");
        let left: Vec<Box<str>> = spooled.unwrap().objects.into_iter().map(|(uid, _)| uid).collect();
        assert_eq!(left, [5, 6].map(|number| uuid(number).into_boxed_str()));
        let position = file.add("{}").unwrap();
        assert!(!queue.spool(&uuid(5), &file, position), "a worker has it");
    }

    #[tokio::test]
    async fn spooled_objects_are_withdrawn_or_discarded() {
        let queue = queue();
        spool(&queue, &[2, 1]);
        assert_eq!(queue.withdraw(), [1, 2].map(|number| uuid(number).into_boxed_str()));
        assert!(queue.is_idle());
        spool(&queue, &[3]);
        queue.discard_spooled();
        assert!(queue.is_idle() && !queue.holds(&uuid(3)));
        queue.drained().await;
        assert_eq!(queue.seal(), 0);
    }

    #[tokio::test]
    async fn the_last_spooled_object_that_is_replaced_ends_the_wait() {
        let queue = Arc::new(queue());
        spool(&queue, &[1]);
        queue.seal();
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.drained().await }
        });
        tokio::task::yield_now().await;
        queue.push(object(&uuid(1), 2));
        assert_eq!(taken(&queue).await, (vec![uuid(1)], vec![]));
        assert!(!waiting.is_finished());
        queue.done([&*uuid(1)]);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn a_batch_keeps_to_its_bytes_but_has_at_least_one_object() {
        let queue = queue();
        for uid in ["a", "b", "c"] {
            queue.push(object(uid, 1));
        }
        assert_eq!(queue.take(10, 1).await.items.len(), 1);
        assert_eq!(queue.take(1, usize::MAX).await.items.len(), 1);
        assert_eq!(queue.take(10, usize::MAX).await.items.len(), 1);
    }
}
