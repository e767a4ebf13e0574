//! Which files an import reads.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The extensions of files that are read in a folder. A file that is named itself is read whatever its extension.
const EXTENSIONS: [&str; 5] = ["yaml", "yml", "json", "jsonl", "ndjson"];

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File {
        /// Its path.
        path: PathBuf,
        /// Its size in bytes; 0 if it is not a regular file.
        bytes: u64,
    },
    /// Standard input.
    Stdin,
}

/// A path that does not exist, or a folder that cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {source}")]
pub struct SourceError {
    path: String,
    source: io::Error,
}

impl SourceError {
    fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| SourceError { path: path.display().to_string(), source }
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

    /// Its size in bytes, if known.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Source::File { bytes, .. } => Some(*bytes),
            Source::Stdin => None,
        }
    }

    pub(super) fn open(&self) -> io::Result<Box<dyn BufRead>> {
        Ok(match self {
            Source::File { path, .. } => Box::new(BufReader::with_capacity(128 * 1024, File::open(path)?)),
            Source::Stdin => Box::new(BufReader::with_capacity(128 * 1024, io::stdin())),
        })
    }
}

/// Expands paths to sources: a folder to all YAML and JSON files below it in the order of their names, `-` to standard input.
///
/// # Errors
/// If a path does not exist, or a folder cannot be listed.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<Source>, SourceError> {
    let mut sources = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            sources.push(Source::Stdin);
            continue;
        }
        let about = path.metadata().map_err(SourceError::at(path))?;
        if about.is_dir() {
            add_folder(path, &mut sources)?;
        } else {
            // A named file may be anything, for example a pipe.
            sources.push(Source::File { path: path.clone(), bytes: if about.is_file() { about.len() } else { 0 } });
        }
    }
    Ok(sources)
}

fn add_folder(folder: &Path, sources: &mut Vec<Source>) -> Result<(), SourceError> {
    let failed = SourceError::at(folder);
    let entries = folder.read_dir().map_err(&failed)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>().map_err(&failed)?;
    entries.sort();
    for entry in entries {
        let is_link = entry.is_symlink();
        match entry.metadata() {
            // Links to folders are not followed, because they may lead to a folder above.
            Ok(about) if about.is_dir() && !is_link => add_folder(&entry, sources)?,
            Ok(about) if about.is_file() && has_extension(&entry) => {
                sources.push(Source::File { path: entry, bytes: about.len() });
            }
            Ok(_) => {}
            // A dangling link is reported when it is read; the rest of the folder is imported.
            Err(_) if has_extension(&entry) => sources.push(Source::File { path: entry, bytes: 0 }),
            Err(_) => {}
        }
    }
    Ok(())
}

/// Whether a file in a folder is read: it is called as files of objects are.
pub fn is_of_objects(path: &Path) -> bool {
    has_extension(path)
}

fn has_extension(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}
