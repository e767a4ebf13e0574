//! The events that wait for one watcher. No event is dropped: a watcher that is too slow is ended, and resumes where it was.

use super::entry::Entry;
use super::selection::SentEvent;
use crate::answer::has_version;
use crate::status::Status;
use ingester_core::schema::base;
use ingester_store::changes::Position;
use ingester_store::query::FoundRow;
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;

/// A change with the row after it. All watchers share it.
#[derive(Debug)]
pub(super) struct SettledChange {
    pub(super) entry: Entry,
    pub(super) row: Option<Arc<FoundRow>>,
    /// The version at which a client resumes after it.
    pub(super) version: u64,
    /// The stored text has a different version.
    pub(super) says_other: bool,
}

impl SettledChange {
    /// Pairs an entry with its row. An object from a file has no version, so the position of its entry becomes its version.
    pub(super) fn new(entry: Entry, row: Option<Arc<FoundRow>>) -> Self {
        let version = match entry.change.res_version {
            0 => entry.change.position.version(),
            version => version,
        };
        let says_other = row.as_ref().is_some_and(|row| !has_version(row.get_text(base::JSON), version));
        SettledChange { entry, row, version, says_other }
    }

    /// Returns roughly how many bytes it takes.
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.row.as_ref().map_or(0, |row| row.get_text(base::JSON).len())
    }
}

/// The reason why a watch ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EndReason {
    /// Its time is over.
    Time,
    /// The client does not take the events that are ready for it.
    Slow,
    /// The client has gone.
    Gone,
    /// The client gets this error.
    Told(Box<Status>),
}

impl From<Status> for EndReason {
    fn from(status: Status) -> Self {
        EndReason::Told(Box::new(status))
    }
}

/// The next item.
#[derive(Debug)]
pub(super) enum QueueItem {
    /// Everything up to the position that was [awaited](Queue::awaits) was added.
    Reached,
    Event(SentEvent, Arc<SettledChange>),
    End(EndReason),
}

/// The events that wait.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Mutex<PendingEvents>,
    changed: Notify,
}

#[derive(Debug)]
struct PendingEvents {
    events: VecDeque<(SentEvent, Arc<SettledChange>)>,
    bytes: usize,
    most: usize,
    /// Everything up to here is sent or waits.
    reached: Position,
    /// The task is notified once this position is reached.
    awaited: Option<Position>,
    end: Option<EndReason>,
}

impl PendingEvents {
    fn has_come(&self) -> bool {
        self.awaited.is_some_and(|awaited| awaited <= self.reached)
    }
}

impl Queue {
    /// Creates a queue for events after a position, with at most this many bytes.
    pub(super) fn new(reached: Position, most: usize) -> Self {
        let waiting = PendingEvents { events: VecDeque::new(), bytes: 0, most, reached, awaited: None, end: None };
        Queue { waiting: Mutex::new(waiting), changed: Notify::new() }
    }

    fn waiting(&self) -> MutexGuard<'_, PendingEvents> {
        self.waiting.lock()
    }

    /// Changes the most bytes that may wait.
    pub(super) fn limit(&self, most: usize) {
        self.waiting().most = most;
    }

    /// Adds an event. A single event always fits, however large it is.
    pub(super) fn push(&self, sent: SentEvent, settled: &Arc<SettledChange>) {
        let bytes = settled.bytes();
        let mut waiting = self.waiting();
        if waiting.end.is_some() {
            return;
        }
        if !waiting.events.is_empty() && waiting.bytes + bytes > waiting.most {
            drop(waiting);
            return self.end(EndReason::Slow);
        }
        waiting.bytes += bytes;
        waiting.events.push_back((sent, settled.clone()));
        drop(waiting);
        self.changed.notify_one();
    }

    /// Records that everything up to this position was added.
    pub(super) fn reach(&self, position: Position) {
        let mut waiting = self.waiting();
        waiting.reached = position;
        if waiting.has_come() {
            drop(waiting);
            self.changed.notify_one();
        }
    }

    /// Makes [`QueueItem::Reached`] the next item as soon as everything up to this position was added.
    pub(super) fn awaits(&self, position: Position) {
        self.waiting().awaited = Some(position);
    }

    /// Ends the queue. Waiting events are not sent: the client resumes before them.
    pub(super) fn end(&self, end: EndReason) {
        let mut waiting = self.waiting();
        waiting.end.get_or_insert(end);
        (waiting.events, waiting.bytes) = (VecDeque::new(), 0);
        drop(waiting);
        self.changed.notify_one();
    }

    /// Returns true if the queue has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.waiting().end.is_some()
    }

    /// Takes the next event, or the end.
    pub(super) async fn next(&self) -> QueueItem {
        loop {
            let changed = self.changed.notified();
            {
                let mut waiting = self.waiting();
                if waiting.has_come() {
                    waiting.awaited = None;
                    return QueueItem::Reached;
                }
                if let Some((sent, settled)) = waiting.events.pop_front() {
                    waiting.bytes -= settled.bytes();
                    return QueueItem::Event(sent, settled);
                }
                if let Some(end) = &waiting.end {
                    return QueueItem::End(end.clone());
                }
            }
            changed.await;
        }
    }

    /// Returns the position that its watcher has reached, if nothing waits.
    pub(super) fn idle_at(&self) -> Option<Position> {
        let waiting = self.waiting();
        (waiting.events.is_empty() && waiting.end.is_none()).then_some(waiting.reached)
    }
}
