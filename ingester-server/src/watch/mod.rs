//! Watches: changes of a kind's objects as they happen, from the log of changes.
//!
//! | file | what it has |
//! |---|---|
//! | `reader.rs` | the one task a kind that reads the log, for all watchers |
//! | `find.rs` | what it asks the database about changed objects |
//! | `entry.rs` | what an entry says of an object beside its row |
//! | `selection.rs` | what a watcher selects, and what it is sent of what was seen |
//! | `queue.rs` | what waits for one watcher |
//! | `watcher.rs` | one watch from its begin to its end |
//!
//! May use: ingester-core, ingester-sql, ingester-store, status, metrics, request, answer, body, places, read, former.
//!
//! # Guarantees
//! - A client that resumes at the version of any event that it was sent, or at a list's or a bookmark's, misses nothing. Events that it is sent
//!   twice are harmless.
//! - A selected object is sent by the entry that has its present row. Entries are read before rows, from the same
//!   database: if a row is later than an entry, a later entry brings it.
//! - An object that is not selected now is sent as deleted by the first entry after which that may be so, whatever the row is: a client
//!   that resumes between two entries gets only what the later ones say.
//! - A watcher may have more objects than were selected at its position: a list reads rows after its position, and a version
//!   may belong to several entries. So up to a position (`is_certain_from`), an object that is not selected is sent as deleted wherever it
//!   may have been selected before, not only if the reader remembers it.
//! - That position is the log's last one at a moment when the reader has passed everything that the watcher can have read by itself. Each row at
//!   which the reader had looked was committed by then: so an object that the watcher has is remembered, or has left by an entry up to that
//!   position, which sends it as deleted. The end of what the watcher has read would not suffice: the reader comes to the entries before that
//!   end later, may find the row as an entry after that end left it, and then remembers nothing that the later entry could end.
//! - No object is sent as deleted before the bookmark that ends initial events, because clients do not expect that. If one was withheld,
//!   everything since the list is sent after it, and the bookmark's version lies before that.
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

pub(crate) use watcher::{Request, Standing};

use crate::metrics::Metrics;
use crate::places::Places;
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
    /// The most bytes that wait for one of them.
    pub bytes: usize,
    /// How often a bookmark is sent.
    pub bookmarks: Duration,
    /// How often the caller's right to watch is checked again.
    pub rights: Duration,
    /// How long a watch without its own time limit lasts: at least this long, and at most twice as long.
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
pub struct Hub(Arc<Shared>);

struct Shared {
    log: Log,
    limits: WatchLimits,
    places: Places,
    metrics: Metrics,
    /// The readers that run, by the names of their tables.
    readers: Mutex<HashMap<&'static str, Running>>,
}

struct Running {
    joins: UnboundedSender<Join>,
    _task: AbortOnDropHandle<()>,
}

impl Hub {
    /// Watches over this log.
    pub fn new(log: Log, limits: WatchLimits, metrics: Metrics) -> Self {
        let places = Places::of_watches(limits.watches);
        Hub(Arc::new(Shared { log, limits, places, metrics, readers: Mutex::default() }))
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.0.log
    }
}

impl Shared {
    /// Gives a new watcher to the reader of its kind, which is started if there is none.
    fn join(self: &Arc<Self>, kind: &Kind, limits: Limits, join: Join) {
        let mut readers = self.readers.lock();
        let name = kind.table().name.as_str();
        let join = match readers.get(name) {
            None => join,
            Some(running) => match running.joins.send(join) {
                Ok(()) => return,
                // Its task has died.
                Err(refused) => refused.0,
            },
        };
        let (joins, joining) = mpsc::unbounded_channel();
        let reader = Reader::new(self, *kind, limits, joining);
        // The channel is open: the reader has its other end.
        let _ = joins.send(join);
        let task = AbortOnDropHandle::new(tokio::spawn(reader.run()));
        readers.insert(name, Running { joins, _task: task });
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

/// The version of a row.
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
