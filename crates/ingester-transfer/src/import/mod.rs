//! Imports the objects of files into a store, in constant memory.
//!
//! A thread reads and decodes, and the caller's task writes. The short queue between them is bounded by bytes, so neither gets far ahead of
//! the other.
//!
//! May use: ingester-core, ingester-declare, ingester-store, moving.
//! Must not: print (the program does that).

mod found;
mod generated;
mod inputs;
mod namespace;
mod read;
mod spooled;
mod states;

pub use inputs::{Input, expand, is_of_objects};

pub use ingester_store::spool::SpoolPlace;

use crate::moving::put;
use found::{DocumentContent, LoadedDocument};
use ingester_core::kind::Kind;
use ingester_core::place::is_obeyed;
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_core::{RegistryError, check_registry};
use ingester_store::{Effect, Reject, Report, RowChange, Store, StoreError, latest_of_each, unless_stopped};
use spooled::SpooledDocuments;
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

/// The most rows of one kind that are written together. The number is high because objects do not come in the order of their uids: each
/// batch changes pages all over the indexes, and larger batches change fewer pages per row.
const BATCH_ROWS: usize = 4096;

/// About this many bytes of rows may wait to be written. Above that, the kind with the most bytes is written. This and the queue bound the
/// memory.
const WAITING_BYTES: usize = 16 * 1024 * 1024;

/// The origin of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, or `standard input`.
    pub input: Arc<str>,
    /// The number of its document, from 1; each item of a list counts. 0 for the file as a whole.
    pub document: u64,
    /// The line at which it begins, from 1; 0 for the file as a whole.
    pub line: u64,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.document {
            0 => f.write_str(&self.input),
            document => write!(f, "{}: document {document} (line {})", self.input, self.line),
        }
    }
}

/// An object that was not stored, or a part of a file that could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The origin of the object.
    pub origin: Origin,
    /// Kind, namespace and name as far as they could be read: `Model ml/churn`.
    pub object: String,
    /// The reason, for people.
    pub reason: String,
}

/// Writes one line of bounded length without control characters, whatever the input contains. A name or value in it can neither move the
/// cursor of the terminal, nor look like another line, nor fill the screen.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        one_line(&self.origin.to_string(), f)?;
        for text in [&self.object, &self.reason] {
            if !text.is_empty() {
                f.write_str(": ")?;
                one_line(text, f)?;
            }
        }
        Ok(())
    }
}

/// The most characters of a name or reason that are shown.
const SHOWN_CHARACTERS: usize = 1000;

/// Writes control characters as escapes.
fn one_line(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, c) in text.chars().enumerate() {
        match c {
            _ if index == SHOWN_CHARACTERS => return f.write_str("…"),
            c if is_obeyed(c) => write!(f, "{}", c.escape_default())?,
            c => f.write_char(c)?,
        }
    }
    Ok(())
}

/// The result of an import for one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects found.
    pub read: u64,
    /// Rows written.
    pub written: u64,
    /// Objects that were stored already in the same version.
    pub unchanged: u64,
    /// Objects with a later version in the store or in the same input.
    pub stale: u64,
    /// Objects that could not be stored.
    pub rejected: u64,
    /// Objects that the kind's predicate leaves out.
    pub left_out: u64,
    /// Values with NUL (U+0000) in rows that are stored now. The database has them as NULL or not at all, see [`Report::nul_values`].
    pub nul_values: u64,
    /// Values in rows that are stored now that do not fit their columns, which are NULL, see [`Report::unfit_values`].
    pub unfit_values: u64,
}

/// The result of an import.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The counts of each kind, in the order of the registry, including kinds without objects.
    pub kinds: Vec<(Kind, Counts)>,
    /// Files and parts of files that could not be read, and objects of kinds that are not in the registry.
    pub unknown: u64,
    /// Among `unknown`, the whole inputs, or the rest of one.
    pub unreadable: u64,
    /// Among the rejected objects, those with `generateName` and no name.
    pub nameless: u64,
    /// Objects of unknown kinds that were ignored, as the caller wanted. They count nowhere else.
    pub ignored: u64,
    /// True if the import was stopped. Rows that were not written by then have no count of their own.
    pub stopped: bool,
}

impl Summary {
    /// Returns the number of objects and unreadable parts.
    pub fn read(&self) -> u64 {
        self.unknown + self.kinds.iter().map(|(_, counts)| counts.read).sum::<u64>()
    }

    /// Returns true if there was nothing but unreadable inputs.
    pub fn is_unreadable(&self) -> bool {
        self.unreadable > 0 && self.read() == self.unreadable
    }

    /// Returns how many objects are stored now, whichever writer has written them.
    pub fn count_stored(&self) -> u64 {
        self.kinds.iter().map(|(_, counts)| counts.written + counts.unchanged).sum()
    }

    /// Returns how many values the database has as NULL or not at all, because its text cannot contain NUL (U+0000).
    pub fn nul_values(&self) -> u64 {
        self.kinds.iter().map(|(_, counts)| counts.nul_values).sum()
    }

    /// Returns how many values do not fit their columns.
    pub fn unfit_values(&self) -> u64 {
        self.kinds.iter().map(|(_, counts)| counts.unfit_values).sum()
    }

    /// Returns how many objects were rejected.
    pub fn rejected(&self) -> u64 {
        self.unknown + self.kinds.iter().map(|(_, counts)| counts.rejected).sum::<u64>()
    }
}

/// The progress of an import, shared with a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read.
    pub bytes: AtomicU64,
    /// Objects read.
    pub objects: AtomicU64,
}

/// The reason why an import stopped early. The rows that it has written stay, and running it again continues.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Two kinds cannot be in one registry.
    #[error("the kinds: {0}")]
    Registry(#[from] RegistryError),
    /// The database cannot be written.
    #[error("{error}")]
    Store {
        /// The database's error.
        #[source]
        error: StoreError,
        /// The result up to the error.
        summary: Box<Summary>,
    },
    /// The reading thread panicked.
    #[error("the reading thread ended early; this is a defect of the ingester, please report it")]
    Reader,
}

/// A row that waits to be written, with the data for reporting a problem with it.
struct PendingRow {
    row: Row,
    origin: Origin,
    reject: Reject,
}

/// The rows that wait to be written, by the index of their kind in the registry.
struct PendingRows {
    rows: Vec<Vec<PendingRow>>,
    /// The bytes that the rows of each kind take.
    bytes: Vec<usize>,
}

impl PendingRows {
    fn new(kinds: usize) -> Self {
        PendingRows { rows: std::iter::repeat_with(Vec::new).take(kinds).collect(), bytes: vec![0; kinds] }
    }

    /// Adds a row. If a batch must be written before more rows are read, returns it with the index of its kind: a full batch, or the
    /// largest one if all together are too large.
    fn push(&mut self, place: usize, pending: PendingRow) -> Option<(usize, Vec<PendingRow>)> {
        self.bytes[place] += pending.row.total_bytes();
        self.rows[place].push(pending);
        let full = if self.rows[place].len() >= BATCH_ROWS {
            place
        } else if self.bytes.iter().sum::<usize>() >= WAITING_BYTES {
            (0..self.bytes.len()).max_by_key(|place| self.bytes[*place])?
        } else {
            return None;
        };
        self.bytes[full] = 0;
        Some((full, std::mem::take(&mut self.rows[full])))
    }
}

/// The destination of the objects.
#[derive(Clone, Copy)]
pub enum Destination<'s> {
    /// Into this store.
    Store(&'s Store),
    /// Nowhere. They are compared with the rows of this store, and counted as if they were written.
    Compared(&'s Store),
    /// Nowhere. They are counted as if the store were empty.
    Nowhere,
}

/// The source of objects' states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectStates {
    /// All objects are live.
    #[default]
    Live,
    /// Annotations that show the states of objects are read as states, and removed from the objects.
    Annotated,
    /// As [`ObjectStates::Annotated`], but an object without a state has left the cluster for good, and its eviction began at this time.
    Evicted(Micros),
}

impl ObjectStates {
    /// Returns true if a row may say something else than that its object is live.
    fn are_read(self) -> bool {
        self != ObjectStates::Live
    }
}

/// An import.
pub struct Import<'s> {
    /// The destination of the objects.
    pub destination: Destination<'s>,
    /// The known kinds.
    pub kinds: &'static [Kind],
    /// The inputs to read.
    pub inputs: Vec<Input>,
    /// The namespace for objects that have none. Objects of another namespace are rejected, but not recorded as rejects.
    pub namespace: Option<String>,
    /// The source of objects' states.
    pub states: ObjectStates,
    /// Objects with `generateName` and no name get a name. Otherwise they are rejected, and only counted.
    pub generate_names: bool,
    /// Objects of unknown kinds are counted, but are no problem.
    pub ignore_unknown: bool,
    /// The temporary file for an import of more bytes than the database has memory for tables; `None`: there is none.
    pub spool: Option<SpoolPlace>,
    /// The progress of the import.
    pub progress: Arc<Progress>,
    /// Stops the import after the batch that is being written, or after a few seconds without that batch.
    pub stop: CancellationToken,
}

/// Imports `inputs` into `store`. Calls `problem` for each object that was not stored, and for each input that cannot be read;
/// the other objects and inputs are imported anyway.
///
/// # Errors
/// If the database cannot be written at all.
pub async fn import(
    store: &Store,
    kinds: &'static [Kind],
    inputs: Vec<Input>,
    progress: Arc<Progress>,
    problem: impl FnMut(&Problem),
) -> Result<Summary, ImportError> {
    let destination = Destination::Store(store);
    let stop = CancellationToken::new();
    let namespace = None;
    let states = ObjectStates::Live;
    let generate_names = false;
    let ignore_unknown = false;
    let spool = None;
    let import =
        Import { destination, kinds, inputs, namespace, states, generate_names, ignore_unknown, spool, progress, stop };
    import.run(problem).await
}

impl Import<'_> {
    /// Reads everything. Calls `problem` as [`import`] does.
    ///
    /// # Errors
    /// If two kinds have one table, or the database cannot be read or written at all.
    pub async fn run(self, problem: impl FnMut(&Problem)) -> Result<Summary, ImportError> {
        check_registry(self.kinds)?;
        let counts = self.kinds.iter().map(|kind| (*kind, Counts::default())).collect();
        let mut summary = Summary { kinds: counts, ..Summary::default() };
        match run(self, &mut summary, problem).await {
            Ok(Ok(())) => Ok(summary),
            Ok(Err(_)) => Err(ImportError::Reader),
            Err(error) => Err(ImportError::Store { error, summary: Box::new(summary) }),
        }
    }
}

/// Reads everything, and writes it. The inner result comes from the reading thread.
async fn run(
    import: Import<'_>,
    summary: &mut Summary,
    mut problem: impl FnMut(&Problem),
) -> Result<Result<(), JoinError>, StoreError> {
    let Import { destination, kinds, inputs, namespace, states, generate_names, ignore_unknown, spool, progress, stop } =
        import;
    let spooled = match (destination, spool) {
        // Generated names depend on the names before them.
        (Destination::Store(store), Some(at)) if !generate_names => {
            SpooledDocuments::new(at, inputs.iter().map(Input::bytes).sum(), store.clustered_pool())
        }
        _ => None,
    };
    let mut waiting = PendingRows::new(kinds.len());
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<Vec<LoadedDocument>>(4);
    let reader = tokio::task::spawn_blocking({
        let progress = progress.clone();
        move || {
            let namespace = namespace.as_deref();
            let asked = read::ReadOptions { namespace, states, generate_names, ignore_unknown };
            read::read(inputs, kinds, asked, spooled, &progress, &sender);
        }
    });

    'reading: while let Some(chunk) = stop.run_until_cancelled(receiver.recv()).await.flatten() {
        let mut rejects = Vec::new();
        for LoadedDocument { origin, found } in chunk {
            progress.objects.fetch_add(1, Ordering::Relaxed);
            match found {
                DocumentContent::Row { place, row, reject } => {
                    summary.kinds[place].1.read += 1;
                    if let Some((place, batch)) = waiting.push(place, PendingRow { row, origin, reject }) {
                        let writing =
                            write((destination, states.are_read()), &mut summary.kinds[place], batch, &mut problem);
                        match unless_stopped(&stop, writing).await {
                            Some(written) => rejects.extend(written?),
                            None => break 'reading,
                        }
                    }
                }
                DocumentContent::LeftOut { place } => {
                    summary.kinds[place].1.read += 1;
                    summary.kinds[place].1.left_out += 1;
                }
                DocumentContent::Nameless { place } => {
                    summary.kinds[place].1.read += 1;
                    summary.kinds[place].1.rejected += 1;
                    summary.nameless += 1;
                }
                DocumentContent::Ignored => summary.ignored += 1,
                DocumentContent::Unreadable { reason } => {
                    problem(&Problem { origin, object: String::new(), reason });
                    summary.unknown += 1;
                    summary.unreadable += 1;
                }
                DocumentContent::Rejected { place, object, reason, reject } => {
                    problem(&Problem { origin, object, reason });
                    match place {
                        Some(place) => {
                            summary.kinds[place].1.read += 1;
                            summary.kinds[place].1.rejected += 1;
                        }
                        None => summary.unknown += 1,
                    }
                    rejects.extend(reject);
                }
            }
        }
        match unless_stopped(&stop, destination.record(&rejects)).await {
            Some(recorded) => recorded?,
            None => break,
        }
    }
    for (place, batch) in waiting.rows.into_iter().enumerate() {
        if !batch.is_empty() && !stop.is_cancelled() {
            let writing = async {
                let rejects =
                    write((destination, states.are_read()), &mut summary.kinds[place], batch, &mut problem).await?;
                destination.record(&rejects).await
            };
            if let Some(written) = unless_stopped(&stop, writing).await {
                written?;
            }
        }
    }
    summary.stopped = stop.is_cancelled();
    // After a stop, the reading thread may still wait for standard input, so do not wait for it.
    Ok(if summary.stopped { Ok(()) } else { reader.await })
}

/// Writes one batch. Returns the rejects to record.
async fn write(
    (destination, states): (Destination<'_>, bool),
    (kind, counts): &mut (Kind, Counts),
    batch: Vec<PendingRow>,
    problem: &mut impl FnMut(&Problem),
) -> Result<Vec<Reject>, StoreError> {
    let objects = batch.len();
    let mut known = HashMap::with_capacity(objects);
    let mut changes = Vec::with_capacity(objects);
    for PendingRow { row, origin, reject } in batch {
        known.insert(row.uid.clone(), (origin, reject));
        changes.push(RowChange::Row(row));
    }
    // Of several versions of an object in one batch, only the latest is written.
    counts.stale += (objects - known.len()) as u64;
    let report = destination.write(kind, latest_of_each(changes), states).await?;
    counts.written += report.written as u64;
    counts.unchanged += report.unchanged as u64;
    counts.stale += report.stale.len() as u64;
    counts.nul_values += report.nul_values as u64;
    counts.unfit_values += report.unfit_values as u64;
    // Nothing writes an object again after an import, so the reader of the report decides.
    let rejected = [report.rejected, report.postponed].concat();
    counts.rejected += rejected.len() as u64;
    let mut rejects = Vec::new();
    for rejected in rejected {
        if let Some((origin, mut reject)) = known.remove(&rejected.uid) {
            reject.reason = rejected.reason.clone();
            problem(&Problem { origin, object: found::render_reject(&reject), reason: rejected.reason });
            rejects.push(reject);
        }
    }
    Ok(rejects)
}

impl Destination<'_> {
    /// Writes the latest change of each object, with its state if `states` is true.
    async fn write(self, kind: &Kind, changes: Vec<RowChange>, states: bool) -> Result<Report, StoreError> {
        let (store, effect) = match self {
            Destination::Store(store) => (store, Effect::Written),
            Destination::Compared(store) => (store, Effect::Tried),
            Destination::Nowhere => return Ok(Report { written: changes.len(), ..Report::default() }),
        };
        if states {
            let rows = changes.into_iter().filter_map(|change| match change {
                RowChange::Row(row) => Some(row),
                _ => None,
            });
            return put(store, kind, rows.collect(), effect).await;
        }
        match effect {
            Effect::Written => store.write_latest(kind.table(), &changes).await,
            Effect::Tried => store.try_write(kind.table(), &changes).await,
        }
    }

    async fn record(self, rejects: &[Reject]) -> Result<(), StoreError> {
        match self {
            Destination::Store(store) => store.record_rejects(rejects).await,
            Destination::Compared(_) | Destination::Nowhere => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Destination, Import, ObjectStates};
    use ingester_core::Kind;
    use ingester_core::kind::Definition;
    use std::sync::Arc;
    use tokio_util::sync::CancellationToken;

    const fn kind(kind: &'static str) -> Kind {
        let refused = Kind::refused();
        Kind::new(Definition { version: "v1", kind, ..*refused.definition() }, *refused.functions())
    }

    #[tokio::test]
    async fn nothing_is_read_for_two_kinds_with_one_table() {
        const KINDS: &[Kind] = &[kind("ConfigMap"), kind("Secret")];
        let destination = Destination::Nowhere;
        let stop = CancellationToken::new();
        let import = Import {
            destination,
            kinds: KINDS,
            inputs: Vec::new(),
            namespace: None,
            states: ObjectStates::Live,
            generate_names: false,
            ignore_unknown: false,
            spool: None,
            progress: Arc::default(),
            stop,
        };
        let error = import.run(|_| ()).await.unwrap_err().to_string();
        assert!(error.contains("kinds `v1 ConfigMap` and `v1 Secret` have one table"), "{error}");
    }
}
