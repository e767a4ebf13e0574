//! The memory for lists that are read and sent: one budget for the process. Whoever finds it in use waits.

use bytes::Bytes;
use tokio::sync::{Semaphore, SemaphorePermit};

/// The unit of the budget, in bytes.
const UNIT: usize = 1024;

/// What all lists together may have in memory.
pub(super) static LISTS: Budget = Budget::new(128 << 20);

/// The bytes with which a page ends, so that many fit.
pub(super) const PAGE: usize = 4 << 20;

/// What reading a list takes. For a page: its rows, those read beyond its end, its text. For a whole list: a portion's rows or their
/// text, a text that waits, a text that is being sent.
pub(super) const READING: usize = 3 * PAGE;

/// A number of bytes that lists share.
#[derive(Debug)]
pub(super) struct Budget(Semaphore);

impl Budget {
    /// A budget of so many bytes, at least [`READING`].
    pub(super) const fn new(bytes: usize) -> Self {
        Budget(Semaphore::const_new(bytes / UNIT))
    }

    /// Waits for what reading a list takes. Who came first is first.
    pub(super) async fn reading(&'static self) -> Share {
        // It is never closed.
        Share(self.0.acquire_many(units(READING)).await.ok())
    }

    /// The bytes that nobody holds.
    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        self.0.available_permits() * UNIT
    }
}

/// What a list holds of a [`Budget`] while this is there.
#[derive(Debug)]
pub(super) struct Share(Option<SemaphorePermit<'static>>);

impl Share {
    /// Gives back all but this.
    pub(super) fn shrink(&mut self, bytes: usize) {
        if let Some(permit) = &mut self.0 {
            let more = permit.num_permits().saturating_sub(units(bytes) as usize);
            drop(permit.split(more));
        }
    }

    /// A text that holds its length until the last part of it is gone.
    pub(super) fn hold(mut self, text: String) -> Bytes {
        let text = text.into_boxed_str();
        self.shrink(text.len());
        Bytes::from_owner(Held { text, _share: self })
    }
}

struct Held {
    text: Box<str>,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}
