//! Puts the objects of a large fill into a temporary file, from which they are written in the order of their uids.
//!
//! [`ingester_store::spool`] says why. A fill is large if its objects would take more bytes than the database has memory for tables. The
//! size of the objects is not known before the list, so its first objects are written as usual.

use super::Follower;
use crate::lifecycle::MayWait;
use crate::pipeline::{Item, Work, may_block};
use ingester_store::spool::SpoolFile;
use std::sync::Arc;

/// The number of objects by which the size of the others is estimated.
const FIRST: u64 = if cfg!(test) { 1 } else { 256 };

/// Objects of more bytes than this on average do not go to a file: most of such a row is in pages of its own anyway, and a batch that is read
/// from the file needs memory besides the budget.
const LARGEST: u64 = 64 << 10;

/// The way of the objects of one list.
pub(super) enum Spooling {
    /// All go to the workers at once.
    Off,
    /// The first ones do, and decide about the others.
    Undecided { objects: u64, pool: u64, seen: u64, bytes: u64 },
    /// Those that may wait go to the file.
    On(Arc<SpoolFile>),
}

impl Follower {
    /// Begins a list of about this many objects.
    pub(super) fn spooling(&self, objects: Option<u64>) -> Spooling {
        let unit = self.unit();
        // Objects of an immutable kind leave etcd as soon as they are stored.
        if unit.config().ingester.spool.limit == 0 || unit.kind.immutable() {
            return Spooling::Off;
        }
        match (objects, unit.rows.clustered_pool()) {
            (Some(objects), Some(pool)) => Spooling::Undecided { objects, pool, seen: 0, bytes: 0 },
            _ => Spooling::Off,
        }
    }

    /// Queues an object of the list, now or later.
    pub(super) async fn queue_listed(&self, item: Item, may_wait: MayWait, spooling: &mut Spooling) {
        self.learn_size(&item, spooling).await;
        let Spooling::On(file) = spooling else { return self.pipeline.queue.push(item) };
        let file = file.clone();
        let position = match &item.work {
            Work::Object { object, .. } if may_wait == MayWait::ForOrder => file.add(object.text()),
            _ => None,
        };
        if !position.is_some_and(|position| self.pipeline.queue.spool(&item.uid, &file, position)) {
            self.pipeline.queue.push(item);
        }
        self.write_spooled(&file, spooling).await;
    }

    /// Begins a file once the size of the objects is known, if they are too many for the memory.
    async fn learn_size(&self, item: &Item, spooling: &mut Spooling) {
        let Spooling::Undecided { objects, pool, seen, bytes } = spooling else { return };
        let Work::Object { object, .. } = &item.work else { return };
        *seen += 1;
        *bytes += object.text().len() as u64;
        if *seen < FIRST {
            return;
        }
        let size = *bytes / *seen;
        let objects = *objects;
        // The API server's number may be anything.
        let expected = objects.saturating_mul(size);
        *spooling = if expected > *pool && size <= LARGEST { self.create_file().await } else { Spooling::Off };
        if matches!(spooling, Spooling::On(_)) {
            tracing::info!(
                objects,
                bytes = expected,
                "The objects are larger than the database's memory for tables: they are collected in a temporary file, and then written in \
                 the order of their uids"
            );
        }
    }

    /// Ends a list: the objects in the file are written.
    pub(super) fn end_spooling(&self, spooling: Spooling) {
        if let Spooling::On(file) = spooling {
            let objects = self.pipeline.queue.seal();
            tracing::info!(
                objects,
                bytes = file.bytes(),
                "Writing the objects in the temporary file in the order of their uids"
            );
        }
    }

    /// Writes to the disk what the file holds in memory. If the file is full, its objects are written, and the next file begins.
    async fn write_spooled(&self, file: &Arc<SpoolFile>, spooling: &mut Spooling) {
        let limit = self.unit().config().ingester.spool.limit;
        if file.bytes() >= limit {
            self.end_spooling(std::mem::replace(spooling, Spooling::Off));
            self.pipeline.queue.drained().await;
            *spooling = self.create_file().await;
            return;
        }
        if !file.has_much() {
            return;
        }
        let writing = file.clone();
        if let Err(error) = may_block(move || writing.write_out()).await {
            self.end_spooling(std::mem::replace(spooling, Spooling::Off));
            self.unit().config().ingester.spool.place().warn(&error);
        }
    }

    /// Begins a file, unless the configuration has changed and wants none.
    async fn create_file(&self) -> Spooling {
        let place = self.unit().config().ingester.spool.place();
        if place.limit == 0 {
            return Spooling::Off;
        }
        let folder = place.folder.clone();
        match may_block(move || SpoolFile::create(&folder)).await {
            Ok(file) => Spooling::On(Arc::new(file)),
            Err(error) => {
                place.warn(&error);
                Spooling::Off
            }
        }
    }
}
