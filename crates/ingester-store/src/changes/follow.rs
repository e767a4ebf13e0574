//! The changes of a kind as a stream, in the order in which they are committed.

use super::{Change, Position};
use crate::driver::StoreError;
use crate::store::Store;
use futures::stream::{self, Stream};
use ingester_core::schema::Table;
use std::time::Duration;

/// The pause before the log is read again after its end was reached.
const PAUSE: Duration = Duration::from_millis(250);

/// The number of entries that are read at once.
const AT_ONCE: usize = 1000;

/// The reason why a stream of changes ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// Entries behind the position may be missing: they were purged, or the database was restored or has lost commits.
    #[error(
        "the log of changes of `{table}` cannot be read from {} on: read all rows again, and follow from the position that Store::number_changes gave before",
        position.version()
    )]
    Unknown {
        /// The table.
        table: String,
        /// The position.
        position: Position,
    },
    /// The database cannot be read, or cannot be written to, which numbering needs.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Returns an endless stream of the changes of a table behind a position, in their order, each as soon as it is committed. To get all
    /// rows as well, call [`Store::number_changes`] first, then read the rows, and follow from that position. The stream may repeat a
    /// change that the rows have already, but it misses none. At a [reset](super::ChangeKind::Reset), do all of this again.
    ///
    /// # Errors
    /// If the log cannot be read on from there. The stream ends with its first error.
    pub fn follow_changes(
        &self,
        table: &'static Table,
        after: Position,
    ) -> impl Stream<Item = Result<Change, FollowError>> + '_ {
        stream::try_unfold((after, Vec::new().into_iter()), move |(at, mut read)| async move {
            loop {
                if let Some(change) = read.next() {
                    let change: Change = change;
                    let at = change.position;
                    return Ok(Some((change, (at, read))));
                }
                read = self.more_changes(table, at).await?.into_iter();
                if read.len() == 0 {
                    tokio::time::sleep(PAUSE).await;
                }
            }
        })
    }

    async fn more_changes(&self, table: &'static Table, at: Position) -> Result<Vec<Change>, FollowError> {
        self.number_changes(table).await?;
        let changes = self.changes_after(table, at, AT_ONCE).await?;
        match self.is_known(table, at).await? {
            true => Ok(changes),
            false => Err(FollowError::Unknown { table: table.name.to_string(), position: at }),
        }
    }
}
