//! Objects out of files into a store, in constant memory however many there are.
//!
//! A thread reads and decodes; the caller's task writes. Between them lies a short queue bounded by bytes, so neither
//! runs away from the other.
//!
//! May use: ingester-core, store.
//! Must not: print (that is the program's).

mod read;
mod sources;

pub use sources::{Source, SourceError, expand};

use crate::store::{Reject, RowChange, Store, StoreError};
use ingester_core::kind::Kind;
use ingester_core::row::Row;
use read::{Found, Loaded};
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows of one kind that are written together, at most. Many: objects come in no order of their uids, so each batch
/// touches pages all over the indexes, and the more rows it has the fewer of them are touched for each.
const BATCH_ROWS: usize = 4096;

/// Bytes of all rows that wait to be written, about; over that, the kind with most of them is written. Together with the
/// queue it bounds the memory.
const WAITING_BYTES: usize = 16 * 1024 * 1024;

/// Where an object stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, or `standard input`.
    pub source: Arc<str>,
    /// Which document of it, from 1; items of a list count each. 0 where the file as a whole is meant.
    pub document: u64,
    /// The line where it begins, from 1; 0 where the file as a whole is meant.
    pub line: u64,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.document {
            0 => f.write_str(&self.source),
            document => write!(f, "{}: document {document} (line {})", self.source, self.line),
        }
    }
}

/// An object that was not stored, or a place in a file where none could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Where it stands.
    pub origin: Origin,
    /// Kind, namespace and name as far as they could be read: `Model ml/churn`.
    pub object: String,
    /// Why, in a person's words.
    pub reason: String,
}

/// One line, whatever the input holds: names and values that somebody else wrote neither move the cursor of the terminal
/// nor look like a line of their own, and none of them fills the screen.
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

/// More of a name or a reason is not shown.
const SHOWN_CHARACTERS: usize = 1000;

/// Control characters as escapes.
fn one_line(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (place, c) in text.chars().enumerate() {
        match c {
            _ if place == SHOWN_CHARACTERS => return f.write_str("…"),
            c if c.is_control() => write!(f, "{}", c.escape_default())?,
            c => f.write_char(c)?,
        }
    }
    Ok(())
}

/// What became of the objects of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects found.
    pub read: u64,
    /// Rows written.
    pub written: u64,
    /// Objects that were stored already, in the same version.
    pub unchanged: u64,
    /// Objects of which a later version is stored, or stands in the same input.
    pub stale: u64,
    /// Objects that could not be stored.
    pub rejected: u64,
    /// Objects that the kind's predicate leaves out.
    pub left_out: u64,
}

/// What became of everything.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// By kind, in the order of the manifest; kinds without objects are there too.
    pub kinds: Vec<(Kind, Counts)>,
    /// Files and places in files where no object could be read, and objects of kinds that are not in the manifest.
    pub unknown: u64,
}

impl Summary {
    /// How many objects, or places where none could be read, there were in all.
    pub fn read(&self) -> u64 {
        self.unknown + self.kinds.iter().map(|(_, counts)| counts.read).sum::<u64>()
    }

    /// How many objects or places were rejected in all.
    pub fn rejected(&self) -> u64 {
        self.unknown + self.kinds.iter().map(|(_, counts)| counts.rejected).sum::<u64>()
    }
}

/// How far an import is, for a progress bar; shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read.
    pub bytes: AtomicU64,
    /// Objects read.
    pub objects: AtomicU64,
}

/// Why an import stopped before its end. What had been written by then stays; running it again goes on.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread that reads ended without saying why.
    #[error("the reading thread ended early; this is a defect of the ingester")]
    Reader,
}

/// A row on its way, with what is needed to say what went wrong with it.
struct Pending {
    row: Row,
    origin: Origin,
    reject: Reject,
}

/// Imports `sources` into `store`; `problem` is told each object that was not stored, in the order in which that is found.
///
/// A source that cannot be read is such a problem too; the others are imported all the same.
///
/// # Errors
/// When the database cannot be written at all.
pub async fn import(
    store: &Store,
    kinds: &'static [Kind],
    sources: Vec<Source>,
    progress: Arc<Progress>,
    mut problem: impl FnMut(&Problem),
) -> Result<Summary, ImportError> {
    let mut summary = Summary { kinds: kinds.iter().map(|kind| (*kind, Counts::default())).collect(), unknown: 0 };
    let mut waiting: Vec<Vec<Pending>> = kinds.iter().map(|_| Vec::new()).collect();
    let mut bytes = vec![0; kinds.len()];
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<Vec<Loaded>>(4);
    let reader = tokio::task::spawn_blocking({
        let progress = progress.clone();
        move || read::read(sources, kinds, &progress, &sender)
    });

    while let Some(chunk) = receiver.recv().await {
        let mut rejects = Vec::new();
        for Loaded { origin, found } in chunk {
            progress.objects.fetch_add(1, Ordering::Relaxed);
            match found {
                Found::Row { place, row, reject } => {
                    summary.kinds[place].1.read += 1;
                    bytes[place] += row.total_bytes();
                    waiting[place].push(Pending { row, origin, reject });
                    let full = if waiting[place].len() >= BATCH_ROWS {
                        Some(place)
                    } else if bytes.iter().sum::<usize>() >= WAITING_BYTES {
                        (0..kinds.len()).max_by_key(|place| bytes[*place])
                    } else {
                        None
                    };
                    if let Some(place) = full {
                        bytes[place] = 0;
                        let batch = std::mem::take(&mut waiting[place]);
                        rejects.extend(write(store, &mut summary.kinds[place], batch, &mut problem).await?);
                    }
                }
                Found::LeftOut { place } => {
                    summary.kinds[place].1.read += 1;
                    summary.kinds[place].1.left_out += 1;
                }
                Found::Rejected { place, object, reason, reject } => {
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
        store.record_rejects(&rejects).await?;
    }
    for (place, batch) in waiting.into_iter().enumerate() {
        if !batch.is_empty() {
            let rejects = write(store, &mut summary.kinds[place], batch, &mut problem).await?;
            store.record_rejects(&rejects).await?;
        }
    }
    reader.await.map_err(|_| ImportError::Reader)?;
    Ok(summary)
}

/// Writes one batch; returns what is to be recorded as rejected.
async fn write(
    store: &Store,
    (kind, counts): &mut (Kind, Counts),
    batch: Vec<Pending>,
    problem: &mut impl FnMut(&Problem),
) -> Result<Vec<Reject>, StoreError> {
    let objects = batch.len();
    let mut known = HashMap::with_capacity(objects);
    let mut changes = Vec::with_capacity(objects);
    for Pending { row, origin, reject } in batch {
        known.insert(row.uid.clone(), (origin, reject));
        changes.push(RowChange::Row(row));
    }
    // What is left over has been dropped for a later version of the same object in the same batch.
    counts.stale += (objects - known.len()) as u64;
    let report = store.write(kind.table(), changes).await?;
    counts.written += report.written as u64;
    counts.unchanged += report.unchanged as u64;
    counts.stale += report.stale.len() as u64;
    counts.rejected += report.rejected.len() as u64;
    let mut rejects = Vec::new();
    for rejected in report.rejected {
        if let Some((origin, mut reject)) = known.remove(&rejected.uid) {
            reject.reason = rejected.reason.clone();
            problem(&Problem { origin, object: read::shown(&reject), reason: rejected.reason });
            rejects.push(reject);
        }
    }
    Ok(rejects)
}
