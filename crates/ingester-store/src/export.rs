//! Exports rows as files: JSON lines, compressed with gzip. Each line is an object with its state in the annotations that an import with
//! states reads.
//!
//! A file is complete and synced, with its folder, before [`Store::export`] returns. Then its rows may be purged. The name of a file
//! follows from its contents, so a repeat after a kill writes the same file again, or another one next to it. It never overwrites a file
//! with other contents. One object may be in several files, in the same version or in others: an import takes the latest.
//!
//! May use: ingester-core, ingester-sql, store, query.

use crate::query::{AskError, FoundRow, RequestedParts, STANDING_PLACES, ShownState};
use crate::store::Store;
use flate2::Compression;
use flate2::write::GzEncoder;
use ingester_core::Kind;
use ingester_core::row::Standing;
use ingester_core::schema::base;
use ingester_sql::query::{Query, States};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The reason why rows could not be exported. None of them may be purged then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A file cannot be written in the folder.
    #[error("cannot write into {}: {error}{}", folder.display(), remedy(error))]
    Folder {
        /// The folder of the export.
        folder: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The rows cannot be read.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// Returns the remedy for an error of a folder.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => ": make this folder, or mount the volume that has it",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ": let this process write there",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ": free space there",
        _ => "",
    }
}

impl Store {
    /// Writes the rows that have not changed their standing into a file in `folder`, which must exist, and syncs both. Returns the uids of
    /// these rows. If there are none, no file is written. Rows of `undeleted` are written without their deletion, which is only the mark of
    /// the rule that exports them.
    ///
    /// # Errors
    /// If the rows cannot be read, or the file cannot be written and synced. The file does not exist then.
    pub async fn export(
        &self,
        kind: &Kind,
        folder: &Path,
        rows: &[(&str, Standing)],
        undeleted: &HashSet<Box<str>>,
    ) -> Result<Vec<Box<str>>, ExportError> {
        let judged: HashMap<&str, Standing> = rows.iter().copied().collect();
        let uids = judged.keys().map(|uid| (*uid).to_owned()).collect();
        let query = Query { uids, states: States::ALL, ..Query::default() };
        let mut places = vec![base::JSON];
        places.extend(STANDING_PLACES);
        let asked = self.ask_about(kind, &query, self.limits()).map_err(AskError::from)?;
        let mut reader = asked.reader(&RequestedParts { places, labels: false }, None).map_err(AskError::from)?;
        let mut part = None;
        let mut exported = Vec::with_capacity(rows.len());
        loop {
            let found = reader.next().await?;
            if found.is_empty() {
                break;
            }
            let found: Vec<FoundRow> =
                found.into_iter().filter(|row| judged.get(row.uid()) == Some(&row.standing())).collect();
            let state = |row: &FoundRow| match undeleted.contains(row.uid()) {
                true => ShownState::from_row(kind, row).without_deletion(),
                false => ShownState::from_row(kind, row),
            };
            let line = |row: &FoundRow| state(row).object(row.get_text(base::JSON)).into_owned() + "\n";
            let lines: String = found.iter().map(line).collect();
            let Some(first) = found.first() else { continue };
            let name = name(kind, first);
            exported.extend(found.iter().map(|row| Box::from(row.uid())));
            part = Some(
                blocking(folder, move |folder| {
                    let mut part = part.map_or_else(|| Part::begin(folder, name), Ok)?;
                    part.add(&lines).map(|()| part)
                })
                .await?,
            );
        }
        if let Some(part) = part {
            blocking(folder, move |folder| part.end(folder)).await?;
        }
        Ok(exported)
    }
}

/// Runs work that waits for a disk.
async fn blocking<T: Send + 'static>(
    folder: &Path,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, ExportError> {
    let at = folder.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&at)).await;
    let done = done.unwrap_or_else(|ended| Err(io::Error::other(ended)));
    done.map_err(|error| ExportError::Folder { folder: folder.to_owned(), error })
}

/// Returns the beginning of a file's name: table, uid and version of its first row.
fn name(kind: &Kind, row: &FoundRow) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    let uid: String = row.uid().chars().map(plain).collect();
    format!("{}-{uid}-{}", kind.table().name, row.standing().version.res_version)
}

/// A file that is being written, under a name that no import reads.
struct Part {
    path: PathBuf,
    name: String,
    digest: Sha256,
    /// `None` once the file is finished.
    file: Option<GzEncoder<BufWriter<File>>>,
}

impl Part {
    fn begin(folder: &Path, name: String) -> io::Result<Self> {
        // Another process may write the same rows at the same time.
        let path = folder.join(format!(".{name}-{:016x}.part", RandomState::new().hash_one(())));
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let file = Some(GzEncoder::new(BufWriter::new(file), Compression::default()));
        Ok(Part { path, name, digest: Sha256::new(), file })
    }

    fn add(&mut self, lines: &str) -> io::Result<()> {
        self.digest.update(lines);
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(lines.as_bytes()))
    }

    fn end(mut self, folder: &Path) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let file = file.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        let digest: String = self.digest.clone().finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        fs::rename(&self.path, folder.join(format!("{}-{digest}.jsonl.gz", self.name)))?;
        // The folder holds the name, and has to be synced separately.
        File::open(folder)?.sync_all()
    }
}

impl Drop for Part {
    /// Removes an unfinished file.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
