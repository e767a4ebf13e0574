//! Watches: changes of a kind's objects as they happen, from the log of changes.
//!
//! | file | what it has |
//! |---|---|
//! | `reader.rs` | the one task per kind that reads the log, for all watchers |
//! | `find.rs` | the task's questions to the database about changed objects |
//! | `entry.rs` | the facts that an entry adds to an object's row |
//! | `selection.rs` | the selection of a watcher, and the decision which event it is sent |
//! | `queue.rs` | the events that wait for one watcher |
//! | `watcher.rs` | one watch from its beginning to its end |
//!
//! May use: ingester-core, ingester-sql, ingester-store, status, metrics, request, answer, body, places, read, former.
//!
//! # Guarantees
//! - A client that resumes at the version of an event that it was sent, of a list or of a bookmark misses nothing. Events that it is sent
//!   twice are harmless.
//! - A selected object is sent by the entry that has its present row. Entries are read before rows, from the same
//!   database: if a row is later than an entry, a later entry brings it.
//! - If an object is not selected now, the first entry after which this may be so sends it as deleted, whatever the row is: a client that
//!   resumes between two entries learns only from the later ones.
//! - A watcher may have more objects than were selected at its position: a list reads rows after its position, and a version may belong to
//!   several entries. So up to a position (`is_certain_from`), an object that is not selected is sent as deleted wherever it may have been
//!   selected before, even if the reader does not remember it.
//! - That position is the log's last one at a time when the reader has passed everything that the watcher can have read by itself. All rows
//!   that the reader had looked at were committed by then. So an object that the watcher has is remembered, or it has left by an entry up
//!   to that position, which sends it as deleted. The end of the watcher's own reading would be too early: the reader comes to the entries
//!   before that end later, may find a row in the state after an entry behind that end, and then remembers nothing that this entry could
//!   end.
//! - No object is sent as deleted before the bookmark that ends initial events, because clients do not expect that. If a deletion was
//!   withheld, everything since the list is sent after the bookmark, whose version then lies before all of it.
//! - A watcher that is too slow is ended; until then it gets everything.

mod entry;
mod find;
#[cfg(test)]
mod fixture;
mod queue;
mod reader;
mod selection;
#[cfg(test)]
mod tests;
mod watcher;

pub(crate) use watcher::{Request, WatchRightCheck};

use crate::metrics::Metrics;
use crate::places::RequestSlots;
use crate::read::Log;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_store::query::{FoundRow, Limits};
use parking_lot::Mutex;
use reader::{Join, Reader};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio_util::task::AbortOnDropHandle;

/// The limits of watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchLimits {
    /// The most watches at a time. One user has at most half of them.
    pub watches: usize,
    /// The most bytes that wait for one watch.
    pub bytes: usize,
    /// The interval between bookmarks.
    pub bookmarks: Duration,
    /// The interval between checks of the caller's right to watch.
    pub rights: Duration,
    /// The duration of a watch without its own time limit: at least this long, and at most twice as long.
    pub time: Duration,
    /// The pause between reads of the log while nothing happens.
    pub poll: Duration,
    /// The most entries that are read at a time.
    pub batch: usize,
}

impl Default for WatchLimits {
    /// 500 watches of 16 MiB, a bookmark a minute, rights twice a minute, 30 to 60 minutes; 200 entries, ten times a second.
    fn default() -> Self {
        WatchLimits {
            watches: 500,
            bytes: 16 << 20,
            bookmarks: Duration::from_secs(60),
            rights: Duration::from_secs(30),
            time: Duration::from_secs(30 * 60),
            poll: Duration::from_millis(100),
            batch: 200,
        }
    }
}

/// The watches of a server. Clones share them.
#[derive(Clone)]
pub struct Hub(Arc<HubState>);

struct HubState {
    log: Log,
    limits: WatchLimits,
    places: RequestSlots,
    metrics: Metrics,
    /// The readers that run, by the names of their tables.
    readers: Mutex<HashMap<&'static str, RunningReader>>,
}

struct RunningReader {
    joins: UnboundedSender<Join>,
    _task: AbortOnDropHandle<()>,
}

impl Hub {
    /// Creates a hub of watches over this log.
    pub fn new(log: Log, limits: WatchLimits, metrics: Metrics) -> Self {
        let places = RequestSlots::of_watches(limits.watches);
        Hub(Arc::new(HubState { log, limits, places, metrics, readers: Mutex::default() }))
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.0.log
    }
}

impl HubState {
    /// Passes a new watcher to the reader of its kind, and starts the reader if there is none.
    fn join(self: &Arc<Self>, kind: &Kind, limits: Limits, join: Join) {
        let mut readers = self.readers.lock();
        let name = kind.table().name.as_str();
        let join = match readers.get(name) {
            None => join,
            Some(running) => match running.joins.send(join) {
                Ok(()) => return,
                // The reader's task has died.
                Err(refused) => refused.0,
            },
        };
        let (joins, joining) = mpsc::unbounded_channel();
        let reader = Reader::new(self, *kind, limits, joining);
        // The channel is open, because the reader has its other end.
        let _ = joins.send(join);
        let task = AbortOnDropHandle::new(tokio::spawn(reader.run()));
        readers.insert(name, RunningReader { joins, _task: task });
    }

    /// Forgets the reader of a kind, unless a watcher has just joined it.
    fn leave(&self, kind: &Kind, joining: &UnboundedReceiver<Join>) -> bool {
        let mut readers = self.readers.lock();
        let leaves = joining.is_empty();
        if leaves {
            readers.remove(kind.table().name.as_str());
        }
        leaves
    }
}

/// Returns the version of a row.
fn version(row: &FoundRow) -> u64 {
    match row.get(base::RES_VERSION) {
        Some(Value::UInt(version)) => *version,
        _ => 0,
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hub")
    }
}
