//! Moving in: the rows of another database, the reference system's or an ingester's, with the states of their objects.
//!
//! A pass reads the beginnings of all rows, compares them with what is stored, and reads only those rows whole that are missing or
//! later. So a pass that was killed is simply run again, a repeated one reads little, and no clock and no order of commits of the
//! source matters: uids, versions and states are compared. Nothing is written into the source.
//!
//! | file | what it does |
//! |---|---|
//! | `other` | whose tables there are, their rows, and the states of these |
//! | `names` | names that differ by case alone |
//! | `row` | a row made anew out of its object's text |
//! | `put` | which rows replace stored ones |
//! | `verify` | both sides compared, row by row |
//! | `unread` | tables that no kind of the program reads |
//!
//! May use: ingester-core, ingester-sql, ingester-store.
//! Must not: hold SQL text, know Kubernetes beyond whether an object is there.

mod names;
mod other;
mod put;
mod row;
mod unread;
mod verify;

pub use names::SameName;
pub use other::{Living, OtherDatabase, OtherObject};
pub(crate) use put::put;
pub(crate) use row::refuse_only_copy;
pub use unread::UnreadTable;
pub use verify::Verified;

use futures::future::BoxFuture;
use ingester_core::kind::Kind;
use ingester_store::guard::{Eviction, Version};
use ingester_store::{Effect, Reject, Report, Store, StoreError, unless_stopped};
use other::{Fate, OtherRow, OtherTable};
use put::{Due, due};
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// How many beginnings of rows are read at once.
const HEADS: usize = 1000;

/// How many whole rows are read and written at once; a row may have a megabyte.
const ROWS: usize = 64;

/// Whether objects are in the cluster.
pub trait Cluster: Send + Sync {
    /// Whether this very object, by its uid, is in the cluster now, or may appear there: rows that are later than what is known of
    /// the cluster are asked for. An error is why that is unknown.
    fn has<'a>(&'a self, kind: &'a Kind, object: &'a OtherObject) -> BoxFuture<'a, Result<bool, String>>;
}

/// Why rows cannot be moved. What was written before stays, and the next pass goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The database that is moved from cannot be read.
    #[error("the source: {0}")]
    OtherDatabase(StoreError),
    /// The database that is moved to cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The cluster does not say whether an object is there.
    #[error("the cluster: {0}")]
    Cluster(String),
}

/// What became of the rows of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moved {
    /// Rows in the source.
    pub read: u64,
    /// Of these, rows whose objects are in the cluster.
    pub live: u64,
    /// Rows whose objects are leaving the cluster or have left it.
    pub evicted: u64,
    /// Rows whose objects are deleted.
    pub deleted: u64,
    /// Rows written.
    pub written: u64,
    /// Rows that were there already.
    pub unchanged: u64,
    /// Rows that are stored in a later version.
    pub kept: u64,
    /// Live rows that are left to the mirror.
    pub left: u64,
    /// Objects that the kind's filter leaves out.
    pub left_out: u64,
    /// Objects that could not be stored.
    pub rejected: u64,
    /// Of the evicted rows that were read whole, those without a mark that lets them leave the cluster.
    pub unmarked: u64,
    /// Rows read whole whose `proto` in the source differs from the one that was made.
    pub proto_differs: u64,
    /// Rows read whole whose `json` is NULL, so that the object was read from `proto`.
    pub from_proto: u64,
    /// Values with NUL (U+0000), as [`Report::nul_values`].
    pub nul_values: u64,
}

/// A pass over a source.
pub struct Pass<'p> {
    /// Where the rows come from.
    pub source: &'p OtherDatabase,
    /// Where they go; `None` for a database that has no tables yet, into which a pass can be tried.
    pub store: Option<&'p Store>,
    /// Whether rows are written, or everything is done but that.
    pub effect: Effect,
    /// What rows of the reference system without `delete_time` are.
    pub living: Living<'p>,
    /// Ends the pass after the rows that are being written.
    pub stop: CancellationToken,
}

/// The result of a pass.
#[derive(Debug, Default)]
pub struct Passed {
    /// What became of the rows of each kind.
    pub kinds: Vec<(Kind, Moved)>,
    /// It was stopped before its end.
    pub stopped: bool,
}

impl Pass<'_> {
    /// Copies what is due. Calls `problem` with each object that cannot be stored: the kind, namespace and name, and the reason; and
    /// `progress` with the number of rows passed.
    ///
    /// # Errors
    /// If a database or the cluster does not answer.
    pub async fn run(
        &self,
        mut problem: impl FnMut(&str, &str),
        mut progress: impl FnMut(u64),
    ) -> Result<Passed, MoveError> {
        let mut passed = Passed::default();
        for table in &self.source.tables {
            let mut moved = Moved::default();
            let copied = self.copy(table, &mut moved, &mut problem, &mut progress);
            let ended = unless_stopped(&self.stop, copied).await.transpose()?;
            passed.kinds.push((table.kind, moved));
            if ended.is_none() || self.stop.is_cancelled() {
                passed.stopped = true;
                break;
            }
        }
        Ok(passed)
    }

    async fn copy(
        &self,
        table: &OtherTable,
        moved: &mut Moved,
        problem: &mut impl FnMut(&str, &str),
        progress: &mut impl FnMut(u64),
    ) -> Result<(), MoveError> {
        let mut after = String::new();
        while !self.stop.is_cancelled() {
            let heads = self.source.heads(table, &after, HEADS).await.map_err(MoveError::OtherDatabase)?;
            let Some(last) = heads.last() else { break };
            after = last.object().uid.into();
            progress(heads.len() as u64);
            let states = self.states(table, &heads).await?;
            let objects: Vec<OtherObject> = heads.iter().map(OtherRow::object).collect();
            let uids: Vec<&str> = objects.iter().map(|object| &*object.uid).collect();
            let stored = match self.store {
                Some(store) => store.versions(table.kind.table(), &uids).await?,
                None => HashMap::new(),
            };
            let mut asked = HashMap::new();
            for (object, state) in objects.iter().zip(states) {
                moved.count(state);
                match (state, due(stored.get(&object.uid).copied(), version(object, state))) {
                    (Fate::Left, _) => moved.left += 1,
                    (_, Due::Nothing) => moved.unchanged += 1,
                    (_, Due::Keep) => moved.kept += 1,
                    (_, Due::Write | Due::Replace(_)) => {
                        asked.insert(&*object.uid, state);
                    }
                }
            }
            let due: Vec<&str> = uids.into_iter().filter(|uid| asked.contains_key(uid)).collect();
            for uids in due.chunks(ROWS) {
                if self.stop.is_cancelled() {
                    return Ok(());
                }
                self.copy_rows(table, uids, &asked, moved, problem).await?;
            }
        }
        Ok(())
    }

    async fn states(&self, table: &OtherTable, rows: &[OtherRow]) -> Result<Vec<Fate>, MoveError> {
        let mut states = Vec::with_capacity(rows.len());
        for row in rows {
            states.push(table.state(row, self.living).await.map_err(MoveError::Cluster)?);
        }
        Ok(states)
    }

    /// Reads rows whole and writes them.
    async fn copy_rows(
        &self,
        table: &OtherTable,
        uids: &[&str],
        asked: &HashMap<&str, Fate>,
        moved: &mut Moved,
        problem: &mut impl FnMut(&str, &str),
    ) -> Result<(), MoveError> {
        let read = self.source.rows(table, uids).await.map_err(MoveError::OtherDatabase)?;
        let (mut rows, mut rejects) = (Vec::with_capacity(read.len()), Vec::new());
        for source in &read {
            // It may have changed since its beginning was read; whether its object was in the cluster has not.
            let object = source.object();
            let state = match asked.get(&*object.uid) {
                Some(Fate::Assumed) if !source.is_deleted() => Fate::Assumed,
                Some(Fate::Of { delete: None, evict }) if !source.is_deleted() && table.is_of_reference() => {
                    Fate::Of { delete: None, evict: *evict }
                }
                _ => table.state(source, self.living).await.map_err(MoveError::Cluster)?,
            };
            match table.made(source, state) {
                Ok(Some(made)) => {
                    moved.proto_differs += u64::from(made.proto_differs);
                    let is_evicted = matches!(state, Fate::Of { delete: None, evict: Some(_) });
                    moved.from_proto += u64::from(made.from_proto);
                    moved.unmarked += u64::from(made.unmarked && is_evicted && table.is_of_reference());
                    rows.push(made.row);
                }
                Ok(None) => moved.left_out += 1,
                Err(reason) => rejects.push(reject(table, &object, reason)),
            }
        }
        let report = match self.store {
            Some(store) if self.effect == Effect::Written => put(store, &table.kind, rows, Effect::Written).await?,
            _ => Report { written: rows.len(), ..Report::default() },
        };
        moved.written += report.written as u64;
        moved.unchanged += report.unchanged as u64;
        moved.kept += report.stale.len() as u64;
        moved.nul_values += report.nul_values as u64;
        for rejected in [report.rejected, report.postponed].concat() {
            if let Some(source) = read.iter().map(OtherRow::object).find(|object| object.uid == rejected.uid) {
                rejects.push(reject(table, &source, rejected.reason));
            }
        }
        moved.rejected += rejects.len() as u64;
        for reject in &rejects {
            problem(
                &format!("{} {}/{} (uid {})", reject.kind, reject.namespace, reject.name, reject.uid),
                &reject.reason,
            );
        }
        // A uid that is longer than any of Kubernetes does not fit the table of rejects either.
        rejects.retain(|reject| reject.uid.len() <= LONGEST_UID);
        if let Some(store) = self.store
            && self.effect == Effect::Written
            && !rejects.is_empty()
        {
            store.record_rejects(&rejects).await?;
        }
        Ok(())
    }
}

/// How many bytes a uid has at most.
const LONGEST_UID: usize = 64;

fn reject(table: &OtherTable, object: &OtherObject, reason: String) -> Reject {
    Reject {
        uid: object.uid.to_string(),
        group_ver: table.kind.api_version(),
        kind: table.kind.kind().to_owned(),
        namespace: object.namespace.to_string(),
        name: object.name.to_string(),
        res_version: object.res_version.to_string(),
        reason,
    }
}

/// The version that a row will have.
fn version(object: &OtherObject, state: Fate) -> Version {
    let (res_version, deleted, eviction) = match state {
        Fate::Left | Fate::Assumed => (0, false, Eviction::None),
        Fate::Of { delete, evict } => {
            let eviction = match evict {
                None => Eviction::None,
                Some((_, false)) => Eviction::Intended,
                Some((_, true)) => Eviction::Confirmed,
            };
            (object.res_version, delete.is_some(), eviction)
        }
    };
    Version { res_version, ingest_version: 0, deleted, eviction }
}

impl Moved {
    fn count(&mut self, state: Fate) {
        self.read += 1;
        match state {
            Fate::Left | Fate::Assumed | Fate::Of { delete: None, evict: None } => self.live += 1,
            Fate::Of { delete: Some(_), .. } => self.deleted += 1,
            Fate::Of { evict: Some(_), .. } => self.evicted += 1,
        }
    }
}

impl OtherRow {
    fn is_deleted(&self) -> bool {
        self.time(ingester_core::schema::base::DELETE_TIME).is_some()
    }
}

impl OtherTable {
    fn is_of_reference(&self) -> bool {
        self.layout == other::Layout::Reference
    }
}
