//! The received objects of a large fill that are in a temporary file until they are written in the order of their uids. The
//! [queue](super::queue) owns them, so such an object counts as one that waits.
//!
//! Each takes 28 bytes in a tree whose nodes are two thirds full. Objects with uids in another form than Kubernetes' own are not spooled.

use super::Pipeline;
use super::packed::{pack, unpack};
use super::work::{Arrival, Item, Work, bytes_of};
use ingester_core::object::{ManagedFields, Object};
use ingester_store::spool::{SpoolFile, SpoolPosition};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::Instant;
use uuid::Uuid;

/// The most objects that a worker takes at a time. In tests few, so that much can happen while others are still in the file.
const MOST: usize = if cfg!(test) { 2 } else { super::MOST_OBJECTS };

/// The objects in the file.
#[derive(Default)]
pub(super) struct SpooledObjects {
    positions: BTreeMap<Uuid, SpoolPosition>,
    file: Option<Arc<SpoolFile>>,
    /// The time when the first of them arrived.
    since: Option<Instant>,
    /// The list has ended, or the file is full: workers take the objects.
    sealed: bool,
}

impl SpooledObjects {
    pub(super) fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(super) fn has(&self, uid: &str) -> bool {
        !self.is_empty() && pack(uid).is_some_and(|uid| self.positions.contains_key(&uid))
    }

    /// Returns when the oldest of them arrived.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }

    pub(super) fn uids(&self) -> impl Iterator<Item = Box<str>> {
        self.positions.keys().map(unpack)
    }

    /// Returns true if workers may take objects.
    pub(super) fn is_ready(&self) -> bool {
        self.sealed && !self.is_empty()
    }

    /// Adds an object, or a later state of one. Returns false, and adds nothing, if its uid has another form than Kubernetes' own.
    pub(super) fn add(&mut self, uid: &str, file: &Arc<SpoolFile>, position: SpoolPosition) -> bool {
        let Some(uid) = pack(uid) else { return false };
        if self.file.as_ref().is_none_or(|own| !Arc::ptr_eq(own, file)) {
            // A file is used up before the next one begins.
            *self =
                SpooledObjects { file: Some(file.clone()), since: Some(Instant::now()), ..SpooledObjects::default() };
        }
        self.positions.insert(uid, position);
        true
    }

    /// Forgets an object. Returns the time when it arrived, at the latest.
    pub(super) fn remove(&mut self, uid: &str) -> Option<Instant> {
        if self.is_empty() {
            return None;
        }
        self.positions.remove(&pack(uid)?)?;
        let since = self.since;
        self.close_if_empty();
        since
    }

    pub(super) fn seal(&mut self) {
        self.sealed = true;
        self.close_if_empty();
    }

    /// Takes out the first objects by uid: up to `most` of up to `most_bytes` in total, and at least one.
    pub(super) fn take(&mut self, most: usize, most_bytes: usize) -> Option<SpooledBatch> {
        let file = self.file.clone()?;
        let since = self.since?;
        let mut objects = Vec::new();
        let mut bytes = 0;
        while objects.len() < most.min(MOST)
            && let Some(first) = self.positions.first_entry()
        {
            bytes += bytes_of(first.get().length());
            if !objects.is_empty() && bytes > most_bytes {
                break;
            }
            let (uid, position) = first.remove_entry();
            objects.push((unpack(&uid), position));
        }
        self.close_if_empty();
        (!objects.is_empty()).then_some(SpooledBatch { file, since, objects })
    }

    /// Once the last object was taken out, the file is closed when it was read.
    fn close_if_empty(&mut self) {
        if self.sealed && self.is_empty() {
            *self = SpooledObjects::default();
        }
    }
}

/// Objects that a worker has taken out of the file.
#[derive(Debug)]
pub(crate) struct SpooledBatch {
    file: Arc<SpoolFile>,
    pub(super) since: Instant,
    pub(super) objects: Vec<(Box<str>, SpoolPosition)>,
}

impl Pipeline {
    /// Reads objects from the file. An object that cannot be read is listed again.
    pub(super) async fn read_spooled(&self, batch: SpooledBatch) -> Vec<Item> {
        let SpooledBatch { file, since, objects } = batch;
        let read = move || {
            let read = |(uid, position)| {
                let text = file.read(position).map_err(|error| error.to_string());
                // The text was parsed before, so its managedFields are removed already, if they must be.
                let object =
                    text.and_then(|text| Object::parse(text, ManagedFields::Keep).map_err(|error| error.to_string()));
                (uid, object)
            };
            objects.into_iter().map(read).collect::<Vec<(Box<str>, Result<Object, String>)>>()
        };
        let mut items = Vec::new();
        for (uid, object) in may_block(read).await {
            match object {
                Ok(object) => {
                    let hold = self.unit.memory.exceed(bytes_of(object.text().len()));
                    let arrival = Arrival::List { behind: false };
                    let mut item = Item::new(Work::Object { object: Box::new(object), arrival }).holding(hold);
                    item.trail.since = since;
                    items.push(item);
                }
                Err(reason) => {
                    tracing::error!(%uid, reason, "Cannot read an object in the temporary file: listing again");
                    self.queue.done([&*uid]);
                    self.relist.notify_one();
                }
            }
        }
        items
    }
}

/// Runs work that may wait for the disk on a thread for such work. In tests at once, so that a seed gives one history.
pub(crate) async fn may_block<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if cfg!(test) {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}
