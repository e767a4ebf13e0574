//! Which files an import reads.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Endings of the files that are read in a folder; a file named itself is read whatever its ending.
const ENDINGS: [&str; 5] = ["yaml", "yml", "json", "jsonl", "ndjson"];

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File {
        /// Its path, as it is shown.
        path: PathBuf,
        /// Its size in bytes; 0 for what is no regular file.
        bytes: u64,
    },
    /// Standard input.
    Stdin,
}

/// A path that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {source}")]
pub struct SourceError {
    path: String,
    source: io::Error,
}

impl SourceError {
    pub(super) fn read(path: &str, source: io::Error) -> Self {
        SourceError { path: path.to_owned(), source }
    }
}

impl Source {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Source::File { path, .. } => path.display().to_string(),
            Source::Stdin => "standard input".into(),
        }
    }

    /// Its size in bytes, where it is known.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Source::File { bytes, .. } => Some(*bytes),
            Source::Stdin => None,
        }
    }

    pub(super) fn open(&self) -> Result<Box<dyn BufRead>, SourceError> {
        match self {
            Source::File { path, .. } => match File::open(path) {
                Ok(file) => Ok(Box::new(BufReader::with_capacity(128 * 1024, file))),
                Err(error) => Err(SourceError::read(&self.name(), error)),
            },
            Source::Stdin => Ok(Box::new(BufReader::with_capacity(128 * 1024, io::stdin()))),
        }
    }
}

/// The files that paths stand for: a file is itself, a folder all YAML and JSON files below it in the order of their
/// names, `-` standard input.
///
/// # Errors
/// When a path does not exist or a folder cannot be listed.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<Source>, SourceError> {
    let mut sources = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            sources.push(Source::Stdin);
        } else {
            add(path, false, &mut sources).map_err(|error| SourceError::read(&path.display().to_string(), error))?;
        }
    }
    Ok(sources)
}

fn add(path: &Path, in_folder: bool, sources: &mut Vec<Source>) -> io::Result<()> {
    let about = path.metadata()?;
    if !about.is_dir() {
        let known = path.extension().and_then(|e| e.to_str()).is_some_and(|e| ENDINGS.contains(&e.to_ascii_lowercase().as_str()));
        if known || !in_folder {
            sources.push(Source::File { path: path.to_owned(), bytes: if about.is_file() { about.len() } else { 0 } });
        }
        return Ok(());
    }
    let mut entries = path.read_dir()?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        // A link that points nowhere is no reason to leave the rest of the folder unread, and neither is a link that
        // leads back up: links to folders are not followed.
        let Ok(about) = entry.symlink_metadata() else { continue };
        if about.is_symlink() && !entry.is_file() {
            continue;
        }
        add(&entry, true, sources)?;
    }
    Ok(())
}
