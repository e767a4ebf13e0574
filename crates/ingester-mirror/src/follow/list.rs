//! Reads new objects, and finds those that are gone.
//!
//! A process that starts on an empty table reads all objects. A process that knows rows reads the metadata of all objects, which costs the
//! API server a fraction of the work, and then the changed objects: one by one if they are few, otherwise all objects.

use super::Follower;
use super::metadata::{EarlyList, MetadataEvent};
use crate::cluster::{ApiError, ApiErrorKind, ListPosition};
use crate::metrics::ListMethod;
use crate::pipeline::{Arrival, Item, LookReason, ObjectRef};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// Changed objects are read one by one if they are at most one in this many: a single read takes the API server about as long as ten
/// objects in a stream.
const FEW: usize = 10;

/// This many are always few, and this many never are: the changed objects are held in memory until they are read.
const FEWEST: usize = if cfg!(test) { 2 } else { 200 };
const MOST: usize = 10_000;

impl Follower {
    /// Lists all objects, and looks at the objects that are stored but not listed. Returns the list's version. A list that began `ahead` of
    /// the rows may be behind them: where it contradicts a row, the object is looked at.
    pub(super) async fn list(&self, ahead: Option<EarlyList>) -> Result<u64, ApiError> {
        let mut pages = self.listing.lock().await;
        let unit = self.unit();
        let rejected = self.rejected().await;
        let begin = tokio::time::Instant::now();
        // All objects that are known now were in the cluster before its version is requested. So a version that is behind comes from a
        // cluster that was restored to an earlier state. A stream sends its version only at its end, which is too late.
        let newest = self.pipeline.known().newest();
        let ListPosition { version: asked, objects: expected } = unit.cluster.position().await?;
        unit.metrics.installed(true);
        let went_back = asked < self.observed.load(Ordering::Relaxed);
        if went_back {
            self.pipeline.went_back();
        }
        self.received_is_written().await;
        if went_back || newest > asked {
            self.remember_restore();
        }
        let behind = self.restored.load(Ordering::Relaxed);
        if behind {
            tracing::warn!(
                stored = newest,
                cluster = asked,
                "The cluster is behind the stored rows, as after a restore from a backup: the rows follow the cluster"
            );
        }
        self.begin_list();
        let by_metadata = !behind && self.pipeline.known().live() > 0;
        // Drop a list that began ahead and is not needed, with its memory.
        let ahead = ahead.filter(|ahead| by_metadata && ahead.asked <= asked);
        let list = if by_metadata { self.changes(ahead, asked).await? } else { None };
        let list = match list {
            Some(list) => list,
            None => {
                self.begin_list();
                let (version, objects) = self.whole(&mut pages, behind, expected).await?;
                List { asked, version, objects, read: objects }
            }
        };
        let List { version, objects, read, .. } = list;
        if version < list.asked {
            self.remember_restore();
            let doing = format!("listing {}", unit.kind.plural());
            return Err(ApiError::new(doing, "the cluster went back meanwhile", ApiErrorKind::Transient));
        }
        unit.metrics.listed();
        unit.metrics.list_ended();
        let unseen = self.sweep(version).await;
        self.forget_rejects(&rejected).await;
        if behind {
            self.restored.store(false, Ordering::Relaxed);
        }
        let seconds = begin.elapsed().as_secs_f32();
        tracing::info!(objects, read, unseen, version, seconds, "Listed");
        Ok(version)
    }

    /// Records that the cluster went back, as after a restore from a backup: the next list takes its objects even if their versions are
    /// stored.
    pub(super) fn remember_restore(&self) {
        self.restored.store(true, Ordering::Relaxed);
    }

    /// Begins a list, or begins it again: a list that was broken off may have seen objects that this one lacks. The objects in the queue
    /// were received before this list.
    pub(super) fn begin_list(&self) {
        let waiting = self.pipeline.queue.uids();
        self.pipeline.known().begin_list(waiting);
    }

    /// Finds changed objects by their metadata, and queues them. Returns `None` if they are too many.
    async fn changes(&self, ahead: Option<EarlyList>, asked: u64) -> Result<Option<List>, ApiError> {
        let before = ahead.as_ref().map_or(asked, |ahead| ahead.asked);
        let Some(MetadataList { ahead, version, objects, items }) = self.changed(ahead).await? else { return Ok(None) };
        let read = items.len();
        items.into_iter().for_each(|item| self.pipeline.queue.push(item));
        Ok(Some(List { asked: if ahead { before } else { asked }, version, objects, read }))
    }

    /// Compares the metadata of all objects with the memory. Returns `None` if too many have changed for single reads.
    async fn changed(&self, ahead: Option<EarlyList>) -> Result<Option<MetadataList>, ApiError> {
        let most = (self.pipeline.known().live() / FEW).clamp(FEWEST, MOST);
        let mut began_ahead = false;
        let mut objects = 0;
        let mut items = Vec::new();
        let version = self.metadata(ahead, |partial| {
            let meta = match partial {
                MetadataEvent::Begin { ahead } => {
                    (began_ahead, objects) = (ahead, 0);
                    items.clear();
                    self.begin_list();
                    return ControlFlow::Continue(());
                }
                MetadataEvent::Object(partial) => partial.into_meta(),
                MetadataEvent::Deleted(partial) => {
                    // The look finds out that the object is gone.
                    items.push(Item::look(ObjectRef::from_meta(&partial.into_meta()), LookReason::Due, 0));
                    return ControlFlow::Continue(());
                }
            };
            objects += 1;
            if self.sift(&meta, Arrival::List { behind: false }).is_some() {
                items.push(Item::look(ObjectRef::from_meta(&meta), LookReason::Due, 0));
            }
            if items.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let version = version.await;
        self.unit().metrics.objects_listed(ListMethod::Metadata, objects);
        let version = version?;
        if version.is_none() {
            tracing::info!(objects, "Many objects have changed: reading all of them");
        }
        Ok(version.map(|version| MetadataList { ahead: began_ahead, version, objects, items }))
    }
}

/// A list that was read to its end.
struct List {
    /// The cluster's version before the list.
    asked: u64,
    version: u64,
    objects: usize,
    /// The number of objects that are read whole.
    read: usize,
}

/// The result of a list of metadata.
struct MetadataList {
    /// The list began before the rows were read.
    ahead: bool,
    version: u64,
    objects: usize,
    /// The objects to read.
    items: Vec<Item>,
}
