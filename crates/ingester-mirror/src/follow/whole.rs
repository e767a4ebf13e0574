//! Reads all objects: as a stream, or in pages that fit into the budget.

use super::spooling::Spooling;
use super::{Follower, Memory};
use crate::budget::MemoryReservation;
use crate::cluster::{ApiError, ApiErrorKind, ListEvent, ListStream, Page};
use crate::metrics::ListMethod;
use crate::pipeline::Arrival;
use futures::StreamExt as _;

/// The intended size of a page in bytes: two pages are in memory at a time, as text and as parsed objects.
const PAGE_BYTES: usize = 1 << 20;

/// The most objects in a page. (kubectl asks for 500.)
const MOST: u32 = 500;

/// The number of objects in the first page, whose size is not known yet. Ten of the largest objects that a cluster takes are 15 MB.
const FIRST: u32 = 10;

/// The size of a unit's objects so far, and the number to request at a time.
#[derive(Debug)]
pub(super) struct Pages {
    /// The mean size of the objects in the last page, in bytes.
    object: usize,
    limit: u32,
}

impl Default for Pages {
    fn default() -> Self {
        Pages { object: PAGE_BYTES / FIRST as usize, limit: FIRST }
    }
}

impl Pages {
    /// The number of bytes that the next page will probably take.
    fn bytes(&self) -> usize {
        self.object * self.limit as usize
    }

    /// Expects the next page to be about as large as this one.
    fn learn(&mut self, page: &Page) {
        let bytes: usize = page.items.iter().map(|text| text.len()).sum();
        if page.items.is_empty() {
            return;
        }
        self.object = (bytes / page.items.len()).max(1);
        let limit = u32::try_from(PAGE_BYTES / self.object).unwrap_or(MOST);
        // Later objects may be larger than those so far.
        self.limit = limit.clamp(1, MOST.min(self.limit.saturating_mul(8)));
    }

    /// Requests smaller pages, because the API server was too slow. Returns true if that is possible.
    fn shrink(&mut self) -> bool {
        let before = self.limit;
        self.limit = (self.limit / 2).max(1);
        self.limit < before
    }
}

impl Follower {
    /// Receives all objects, about `expected`; `behind` as in [`Arrival::List`]. Returns the list's version and the number of objects.
    pub(super) async fn whole(
        &self,
        pages: &mut Pages,
        behind: bool,
        expected: Option<u64>,
    ) -> Result<(u64, usize), ApiError> {
        let mut spooling = self.spooling(expected);
        let read = match self.unit().cluster.stream().await {
            Ok(Some(stream)) => self.whole_as_stream(stream, behind, &mut spooling).await.map(Some),
            other => other.map(|_| None),
        };
        match read {
            Ok(Some(listed)) => {
                self.end_spooling(spooling);
                return Ok(listed);
            }
            Ok(None) => {}
            // The API server cuts off a reader that waits for the database while objects change; it does not do that with pages. Objects
            // that were already received are skipped.
            Err(error) if error.kind() == ApiErrorKind::Transient => {
                tracing::info!(%error, "The streamed list ended early: reading the rest page by page");
                // The pages bring these objects again.
                self.pipeline.queue.discard_spooled();
                spooling = self.spooling(expected);
                self.received_is_written().await;
                self.begin_list();
            }
            Err(error) => {
                self.pipeline.queue.discard_spooled();
                return Err(error);
            }
        }
        let listed = self.whole_in_pages(pages, behind, &mut spooling).await;
        match &listed {
            Ok(_) => self.end_spooling(spooling),
            Err(_) => self.pipeline.queue.discard_spooled(),
        }
        listed
    }

    /// Receives an object of a list.
    async fn receive_listed(&self, text: Box<str>, behind: bool, memory: Memory<'_>, spooling: &mut Spooling) {
        let (_, received) = self.sort_in(text, Arrival::List { behind }, memory).await;
        if let Some((item, may_wait)) = received {
            self.queue_listed(item, may_wait, spooling).await;
        }
    }

    /// Waits until all received objects are written. An object of a list that was broken off may be gone before the next list: the next
    /// list notices its absence only if it knows of its row.
    pub(super) async fn received_is_written(&self) {
        self.pipeline.queue.drained().await;
    }

    /// Reads a stream, which waits until there is memory for the next object.
    async fn whole_as_stream(
        &self,
        mut stream: ListStream<Box<str>>,
        behind: bool,
        spooling: &mut Spooling,
    ) -> Result<(u64, usize), ApiError> {
        let mut objects = 0;
        while let Some(listed) = stream.next().await {
            match listed? {
                ListEvent::Object(text) => {
                    objects += 1;
                    self.unit().metrics.objects_listed(ListMethod::Stream, 1);
                    self.receive_listed(text, behind, Memory::Taken, spooling).await;
                }
                ListEvent::Deleted(text) => {
                    self.deleted(text).await?;
                }
                ListEvent::End(version) => return Ok((version, objects)),
            }
        }
        Err(self.without_end())
    }

    /// Reads pages. The API server prepares the next page while this one is received.
    async fn whole_in_pages(
        &self,
        pages: &mut Pages,
        behind: bool,
        spooling: &mut Spooling,
    ) -> Result<(u64, usize), ApiError> {
        let mut objects = 0;
        let (mut page, mut hold) = self.page(pages, None).await?;
        loop {
            objects += page.items.len();
            self.unit().metrics.objects_listed(ListMethod::Pages, page.items.len());
            let Page { version, next, items, .. } = page;
            let received = async {
                for text in items {
                    self.receive_listed(text, behind, Memory::Of(&mut hold), spooling).await;
                }
                drop(hold);
            };
            let Some(token) = next else {
                received.await;
                return Ok((version, objects));
            };
            let ((), following) = tokio::join!(received, self.page(pages, Some(&token)));
            (page, hold) = following?;
        }
    }

    /// Returns a page and the memory that it takes. If a page takes too long, a smaller one is requested instead.
    async fn page(&self, pages: &mut Pages, next: Option<&str>) -> Result<(Page, MemoryReservation), ApiError> {
        loop {
            let hold = self.unit().memory.take(pages.bytes()).await;
            match self.unit().cluster.list(pages.limit, next).await {
                Ok(page) => {
                    pages.learn(&page);
                    return Ok((page, hold));
                }
                Err(error) if error.kind() == ApiErrorKind::Transient && error.is_timeout() && pages.shrink() => {
                    tracing::warn!(%error, objects = pages.limit, "Asking for a smaller page");
                }
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pages;
    use crate::cluster::Page;

    fn page(objects: usize, bytes: usize) -> Page {
        let text = "x".repeat(bytes).into_boxed_str();
        Page { items: vec![text; objects], ..Page::default() }
    }

    #[test]
    fn pages_grow_for_small_objects_and_stay_small_for_large_ones() {
        let mut pages = Pages::default();
        assert_eq!(pages.limit, 10);
        pages.learn(&page(10, 4800));
        assert_eq!(pages.limit, 80);
        pages.learn(&page(80, 4800));
        assert_eq!((pages.limit, pages.bytes()), (218, 218 * 4800));
        pages.learn(&page(218, 900_000));
        assert_eq!(pages.limit, 1);
        pages.learn(&page(1, 100));
        assert_eq!(pages.limit, 8, "the next ones may be large again");
        pages.learn(&page(0, 0));
        assert_eq!(pages.limit, 8);
    }

    #[test]
    fn a_slow_page_is_asked_for_smaller_until_it_is_one_object() {
        let mut pages = Pages::default();
        let limits: Vec<u32> = std::iter::from_fn(|| pages.shrink().then_some(pages.limit)).collect();
        assert_eq!(limits, [5, 2, 1]);
    }
}
