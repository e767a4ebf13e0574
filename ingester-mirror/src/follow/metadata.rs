//! Reads the metadata of all objects: as a stream, or page by page.

use super::Follower;
use crate::cluster::{ApiError, ApiErrorKind, Listed, PartialObjectMeta};
use crate::mistakes::{self, Mistake};
use futures::StreamExt as _;
use std::ops::ControlFlow;

/// What is read of one object.
pub(super) enum Partial {
    /// It is there.
    Object(PartialObjectMeta),
    /// It was deleted while the list was read.
    Deleted(PartialObjectMeta),
}

impl Follower {
    /// Gives the metadata of all objects to `each`, until that breaks off. Returns the list's version; `None` if it was broken off.
    pub(super) async fn metadata(
        &self,
        mut each: impl FnMut(Partial) -> ControlFlow<()>,
    ) -> Result<Option<u64>, ApiError> {
        let cluster = &self.unit().cluster;
        if let Some(mut stream) = cluster.stream_metadata().await? {
            while let Some(listed) = stream.next().await {
                let given = match listed? {
                    Listed::Object(partial) => each(Partial::Object(partial)),
                    Listed::Deleted(partial) => each(Partial::Deleted(partial)),
                    Listed::End(version) => return Ok(Some(version)),
                };
                if given.is_break() {
                    return Ok(None);
                }
            }
            return self.without_end().await.map(Some);
        }
        let mut next: Option<String> = None;
        loop {
            let page = cluster.list_metadata(next.as_deref()).await?;
            for partial in page.items {
                if each(Partial::Object(partial)).is_break() {
                    return Ok(None);
                }
            }
            next = page.next;
            if next.is_none() {
                return Ok(Some(page.version));
            }
        }
    }

    /// A stream ended before its list: there was none.
    pub(super) async fn without_end(&self) -> Result<u64, ApiError> {
        if mistakes::made(Mistake::StreamWithoutEnd) {
            return self.unit().cluster.version().await;
        }
        let doing = format!("listing {}", self.unit().kind.plural());
        Err(ApiError::new(doing, "the stream ended before the list", ApiErrorKind::Transient))
    }
}
