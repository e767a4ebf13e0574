//! Positions in the log of changes, which are the versions of lists.

use super::of_store;
use crate::status::Status;
use ingester_core::Kind;
use ingester_core::schema::Table;
use ingester_core::value::Micros;
use ingester_store::changes::{Change, Position};
use ingester_store::{Store, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The time that a request waits for a position that does not exist yet, as in an API server, and the interval between its checks.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(100);

/// The log of changes of a server's database. Clones share its connections.
#[derive(Clone)]
pub struct Log {
    /// The store where entries and rows are read.
    pub(crate) reads: Arc<Store>,
    /// The store where entries are numbered.
    writes: Arc<Store>,
}

impl Log {
    /// The log of a database. `writes` is the store where writers write; `reads` may be a replica of it.
    pub fn new(reads: Arc<Store>, writes: Arc<Store>) -> Self {
        Log { reads, writes }
    }

    /// Returns true if the database has a log now.
    ///
    /// # Errors
    /// 503 if the database does not answer.
    pub async fn is_there(&self) -> Result<bool, Status> {
        self.reads.has_changes().await.map_err(failed)
    }

    /// Returns the last committed position.
    pub(crate) async fn number(&self, table: &'static Table) -> Result<Position, Status> {
        self.writes.number_changes(table).await.map_err(failed)
    }

    /// Returns the last readable position; if there is none, the beginning of the log.
    pub(crate) async fn head(&self, table: &'static Table) -> Result<Position, Status> {
        match self.reads.last_position(table).await.map_err(failed)? {
            Some(position) => Ok(position),
            None => self.number(table).await,
        }
    }

    /// Returns the entries after a position, at most this many. They are complete if the position [is known](Log::knows) afterwards.
    pub(crate) async fn changes(
        &self,
        table: &'static Table,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Change>, Status> {
        self.reads.changes_after(table, after, limit).await.map_err(failed)
    }

    /// Returns true if all commits can be read, at the latest after a moment.
    pub(crate) async fn is_whole(&self, table: &'static Table) -> Result<bool, Status> {
        let last = self.number(table).await?;
        let begin = Instant::now();
        while self.head(table).await? < last {
            if begin.elapsed() >= PATIENCE {
                return Ok(false);
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(true)
    }

    /// Returns true if the log can be read from this position on.
    pub(crate) async fn knows(&self, table: &'static Table, position: Position) -> Result<bool, Status> {
        self.reads.is_known(table, position).await.map_err(failed)
    }

    /// Waits for a moment until a position can be read. A version that is not a position was served as an object's version, so it exists.
    ///
    /// # Errors
    /// 504 if it cannot, as in an API server; 503 if the database does not answer.
    pub(crate) async fn reached(&self, table: &'static Table, version: Option<u64>) -> Result<(), Status> {
        let Some(wanted) = version.and_then(Position::of_version) else { return Ok(()) };
        // Usually the position can be read at once.
        if self.head(table).await? < wanted {
            self.is_whole(table).await?;
            let last = self.head(table).await?;
            if last < wanted {
                return Err(Status::too_large_version(wanted.version(), last.version()));
            }
        }
        Ok(())
    }

    /// Returns the position at which a watch begins from a version that its client has seen; `None` if it is not in the log any more. For
    /// an object's version, this is after the lowest entry with it: a client that was sent an event with this version was also sent the
    /// entries before that entry, and that entry itself, unless a later one repeats it.
    pub(crate) async fn seen(&self, table: &'static Table, version: u64) -> Result<Option<Position>, Status> {
        if let Some(found) = self.find(table, version).await? {
            return Ok(Some(found));
        }
        // It may be committed but not readable yet.
        self.is_whole(table).await?;
        self.find(table, version).await
    }

    async fn find(&self, table: &'static Table, version: u64) -> Result<Option<Position>, Status> {
        match Position::of_version(version) {
            Some(position) => Ok(self.knows(table, position).await?.then_some(position)),
            None => self.behind(table, version).await,
        }
    }

    /// Returns the position of the lowest entry with this version. If its transaction recorded two entries about the object, returns the
    /// later one: no client is sent both, so a client that knows the version was sent everything that either entry would tell it.
    async fn behind(&self, table: &'static Table, version: u64) -> Result<Option<Position>, Status> {
        let Some(before) = self.reads.position_of(table, version).await.map_err(failed)? else { return Ok(None) };
        let entries = self.changes(table, before, 2).await?;
        // The entry may have been purged in between.
        let Some(lowest) = entries.first().filter(|lowest| lowest.res_version == version) else { return Ok(None) };
        let of_lowest =
            |entry: &&Change| (entry.res_version, &entry.uid, entry.at) == (version, &lowest.uid, lowest.at);
        Ok(entries.iter().take_while(of_lowest).last().map(|last| last.position))
    }
}

fn failed(error: StoreError) -> Status {
    of_store(&error)
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Log")
    }
}

/// The time that all pages of a list share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ListTime {
    /// The present. With a log, the position that is the version of all pages.
    Now(Option<Position>),
    /// This moment, even if the client gave it as a time span before now.
    At(Micros),
}

impl ListTime {
    /// Returns the version of the list.
    pub(super) fn version(self) -> Option<u64> {
        match self {
            ListTime::Now(position) => position.map(Position::version),
            ListTime::At(_) => None,
        }
    }

    /// Returns the token of the next page, after the version or moment and a dot.
    pub(super) fn in_token(self, token: &str) -> String {
        match self {
            ListTime::Now(Some(position)) => format!("{:x}.{token}", position.version()),
            ListTime::Now(None) => token.to_owned(),
            ListTime::At(at) => format!("@{}.{token}", at.0),
        }
    }
}

/// Returns the moment of a list, and the token of its next page.
pub(super) fn of_moment(at: Micros, token: Option<String>) -> (ListTime, Option<String>) {
    if let Some((pinned, rest)) = token.as_deref().and_then(|token| token.strip_prefix('@')?.split_once('.'))
        && let Ok(pinned) = pinned.parse()
    {
        return (ListTime::At(Micros(pinned)), Some(rest.to_owned()));
    }
    (ListTime::At(at), token)
}

/// Returns the version of a list, and the token of its next page: all pages have the same version.
pub(super) async fn of_list(
    log: Option<&Log>,
    kind: &Kind,
    token: Option<String>,
    version: Option<u64>,
) -> Result<(ListTime, Option<String>), Status> {
    if let Some((position, rest)) = token.as_deref().and_then(|token| token.split_once('.'))
        && let Some(position) = u64::from_str_radix(position, 16).ok().and_then(Position::of_version)
    {
        return Ok((ListTime::Now(Some(position)), Some(rest.to_owned())));
    }
    match log {
        Some(log) if token.is_none() => {
            log.reached(kind.table(), version).await?;
            // Take this before the rows are read: later changes are in the rows, or in a later entry.
            Ok((ListTime::Now(Some(log.head(kind.table()).await?)), None))
        }
        _ => Ok((ListTime::Now(None), token)),
    }
}
