//! Copies the rows of another database, made by the reference system or an ingester, with the states of their objects.
//!
//! A pass reads the first columns of all rows, compares them with the stored rows, and reads completely only the rows that are missing or
//! later. It compares uids, versions and states, so neither clocks nor the source's order of commits matter. A killed pass can simply be
//! run again, and a repeated one reads little. Nothing is written into the source.
//!
//! | file | what it does |
//! |---|---|
//! | `other` | the makers of the tables, their rows, and the rows' states |
//! | `names` | names that differ only in case |
//! | `row` | a row made again from its object's text |
//! | `put` | which rows replace stored ones |
//! | `verify` | a comparison of both sides, row by row |
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
pub use other::{OtherDatabase, OtherObject, UndeletedState};
pub(crate) use put::put;
pub(crate) use row::refuse_only_copy;
pub use unread::UnreadTable;
pub use verify::ComparisonCounts;

use futures::future::BoxFuture;
use ingester_core::kind::Kind;
use ingester_store::guard::{Eviction, Version};
use ingester_store::{Effect, Reject, Report, Store, StoreError, unless_stopped};
use other::{Fate, OtherRow, OtherTable};
use put::{PutAction, due};
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// The number of rows whose first columns are read at once.
const HEADS: usize = 1000;

/// The number of complete rows that are read and written at once. A row may have a megabyte.
const ROWS: usize = 64;

/// Knows which objects are in the cluster.
pub trait Cluster: Send + Sync {
    /// Returns true if exactly this object, by uid, is in the cluster now, or may appear there. For a row that is later than the known
    /// state of the cluster, it asks the cluster. The error is the reason why the answer is unknown.
    fn has<'a>(&'a self, kind: &'a Kind, object: &'a OtherObject) -> BoxFuture<'a, Result<bool, String>>;
}

/// The reason why rows cannot be moved. Rows that were written before stay, and the next pass continues.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The source database cannot be read.
    #[error("the source: {0}")]
    OtherDatabase(StoreError),
    /// The target database cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The cluster does not tell if an object exists.
    #[error("the cluster: {0}")]
    Cluster(String),
}

/// The result for the rows of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveCounts {
    /// Rows in the source.
    pub read: u64,
    /// Rows in the source whose objects are in the cluster.
    pub live: u64,
    /// Rows whose objects are leaving the cluster or have left it.
    pub evicted: u64,
    /// Rows whose objects are deleted.
    pub deleted: u64,
    /// Rows written.
    pub written: u64,
    /// Rows that were stored already.
    pub unchanged: u64,
    /// Rows that are stored in a later version.
    pub kept: u64,
    /// Live rows that are left to the mirror.
    pub left: u64,
    /// Objects that the kind's filter leaves out.
    pub left_out: u64,
    /// Objects that could not be stored.
    pub rejected: u64,
    /// Evicted rows that were read completely and have no mark that lets them leave the cluster.
    pub unmarked: u64,
    /// Rows that were read completely and whose `proto` in the source differs from the new one.
    pub proto_differs: u64,
    /// Rows that were read completely and whose `json` is NULL, so that the object was read from `proto`.
    pub from_proto: u64,
    /// Values with NUL (U+0000), like [`Report::nul_values`].
    pub nul_values: u64,
    /// Values that do not fit their columns, like [`Report::unfit_values`].
    pub unfit_values: u64,
}

/// A pass over a source.
pub struct Pass<'p> {
    /// The source of the rows.
    pub source: &'p OtherDatabase,
    /// The target of the rows; `None` for a database without tables, for which a pass can be tried.
    pub store: Option<&'p Store>,
    /// Selects between a real pass and a dry run, which does everything except the writing.
    pub effect: Effect,
    /// The state of the reference system's rows without `delete_time`.
    pub living: UndeletedState<'p>,
    /// Ends the pass after the rows that are being written.
    pub stop: CancellationToken,
}

/// The result of a pass.
#[derive(Debug, Default)]
pub struct PassResult {
    /// The result for the rows of each kind.
    pub kinds: Vec<(Kind, MoveCounts)>,
    /// True if it was stopped before its end.
    pub stopped: bool,
}

impl Pass<'_> {
    /// Copies the rows that are due. Calls `problem` for each object that cannot be stored, with kind, namespace and name, and the reason;
    /// and `progress` with the number of rows passed.
    ///
    /// # Errors
    /// If a database or the cluster does not answer.
    pub async fn run(
        &self,
        mut problem: impl FnMut(&str, &str),
        mut progress: impl FnMut(u64),
    ) -> Result<PassResult, MoveError> {
        let mut passed = PassResult::default();
        for table in &self.source.tables {
            let mut moved = MoveCounts::default();
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
        moved: &mut MoveCounts,
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
                    (_, PutAction::Nothing) => moved.unchanged += 1,
                    (_, PutAction::Keep) => moved.kept += 1,
                    (_, PutAction::Write | PutAction::Replace(_)) => {
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

    /// Reads complete rows and writes them.
    async fn copy_rows(
        &self,
        table: &OtherTable,
        uids: &[&str],
        asked: &HashMap<&str, Fate>,
        moved: &mut MoveCounts,
        problem: &mut impl FnMut(&str, &str),
    ) -> Result<(), MoveError> {
        let read = self.source.read_rows(table, uids).await.map_err(MoveError::OtherDatabase)?;
        let mut rows = Vec::with_capacity(read.len());
        let mut rejects = Vec::new();
        for source in &read {
            // The row may have changed since its first columns were read. The cluster's answer about its object has not, so it is used
            // again.
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
        moved.unfit_values += report.unfit_values as u64;
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
        // A uid that is longer than any uid of Kubernetes does not fit the table of rejects either.
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

/// The most bytes of a uid.
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

/// Returns the version that a row will have.
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

impl MoveCounts {
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
