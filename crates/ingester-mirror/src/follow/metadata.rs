//! Reads the metadata of all objects: as a stream, or page by page.

use super::Follower;
use crate::budget::{MemoryReservation, Quota};
use crate::cluster::{ApiError, ApiErrorKind, ListEvent, ListStream, PartialObjectMeta};
use futures::StreamExt as _;
use std::ops::ControlFlow;
use std::sync::Arc;

/// An event of reading the metadata.
pub(super) enum MetadataEvent {
    /// A list begins, perhaps for the second time: the events before it do not count. `ahead`: it began before the rows were read.
    Begin { ahead: bool },
    /// The object exists.
    Object(PartialObjectMeta),
    /// The object was deleted while the list was read.
    Deleted(PartialObjectMeta),
}

/// A streamed list that began before the rows were read, with the events that it has delivered since.
pub(super) struct EarlyList {
    /// The cluster's version before the list.
    pub(super) asked: u64,
    read: Vec<Result<ListEvent<PartialObjectMeta>, ApiError>>,
    stream: ListStream<PartialObjectMeta>,
    memory: Vec<MemoryReservation>,
}

/// The number of objects for which memory is reserved at a time, and the approximate memory for each.
const PORTION: usize = 1000;
const BYTES: usize = 300;

impl EarlyList {
    /// Reads while `work` runs, as far as the memory allows.
    pub(super) async fn read_during<E>(
        mut self,
        work: impl Future<Output = Result<(), E>>,
        memory: &Arc<Quota>,
    ) -> Result<Self, E> {
        let reading = async {
            loop {
                if self.read.len() == self.memory.len() * PORTION {
                    self.memory.push(memory.take(PORTION * BYTES).await);
                }
                match self.stream.next().await {
                    Some(listed) => self.read.push(listed),
                    None => break,
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            done = work => done?,
            () = reading => {}
        }
        Ok(self)
    }

    /// Returns the stream from its beginning, with the memory that the events read from it hold.
    fn into_stream(self) -> (ListStream<PartialObjectMeta>, Vec<MemoryReservation>) {
        (futures::stream::iter(self.read).chain(self.stream).boxed(), self.memory)
    }
}

impl Follower {
    /// Begins a streamed list of metadata; `None` if that is not possible now.
    pub(super) async fn begin_ahead(&self) -> Option<EarlyList> {
        let cluster = &self.unit().cluster;
        let asked = cluster.position().await.ok()?.version;
        let stream = cluster.stream_metadata().await.ok()??;
        let stream = stream.fuse().boxed();
        Some(EarlyList { asked, read: Vec::new(), stream, memory: Vec::new() })
    }

    /// Passes the metadata of all objects to `each`, until `each` breaks off. Returns the list's version; `None` if `each` broke off. If a
    /// stream fails, pages are read instead: a proxy may cut long answers.
    pub(super) async fn metadata(
        &self,
        mut ahead: Option<EarlyList>,
        mut each: impl FnMut(MetadataEvent) -> ControlFlow<()>,
    ) -> Result<Option<u64>, ApiError> {
        let cluster = &self.unit().cluster;
        loop {
            let began = ahead.is_some();
            let stream = match ahead.take().map(EarlyList::into_stream) {
                Some(stream) => Ok(Some(stream)),
                None => cluster.stream_metadata().await.map(|stream| stream.map(|stream| (stream, Vec::new()))),
            };
            let read = match stream {
                Ok(None) => break,
                Ok(Some((stream, _memory))) => {
                    let _ = each(MetadataEvent::Begin { ahead: began });
                    self.metadata_of(stream, &mut each).await
                }
                Err(error) => Err(error),
            };
            match read {
                Err(error) if error.kind() == ApiErrorKind::Transient => {
                    tracing::debug!(%error, "A list of metadata was cut off");
                    if !began {
                        break;
                    }
                }
                read => return read,
            }
        }
        let _ = each(MetadataEvent::Begin { ahead: false });
        let mut next: Option<String> = None;
        loop {
            let page = cluster.list_metadata(next.as_deref()).await?;
            for partial in page.items {
                if each(MetadataEvent::Object(partial)).is_break() {
                    return Ok(None);
                }
            }
            next = page.next;
            if next.is_none() {
                return Ok(Some(page.version));
            }
        }
    }

    async fn metadata_of(
        &self,
        mut stream: ListStream<PartialObjectMeta>,
        each: &mut impl FnMut(MetadataEvent) -> ControlFlow<()>,
    ) -> Result<Option<u64>, ApiError> {
        while let Some(listed) = stream.next().await {
            let given = match listed? {
                ListEvent::Object(partial) => each(MetadataEvent::Object(partial)),
                ListEvent::Deleted(partial) => each(MetadataEvent::Deleted(partial)),
                ListEvent::End(version) => return Ok(Some(version)),
            };
            if given.is_break() {
                return Ok(None);
            }
        }
        Err(self.without_end())
    }

    /// The error of a stream that ended before its list was complete.
    pub(super) fn without_end(&self) -> ApiError {
        let doing = format!("listing {}", self.unit().kind.plural());
        ApiError::new(doing, "the stream ended before the list", ApiErrorKind::Transient)
    }
}
