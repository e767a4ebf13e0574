//! Selects the files that an import reads, and returns their text.

use flate2::bufread::MultiGzDecoder;
use ingester_store::files::{self, FileKind};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// The extensions of files that are read in a folder, each also with `.gz`. A file that the user names is read whatever its extension.
const EXTENSIONS: [&str; 5] = ["yaml", "yml", "json", "jsonl", "ndjson"];

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File {
        /// Its path.
        path: PathBuf,
        /// Its size in bytes; 0 if it is not a regular file.
        bytes: u64,
    },
    /// Standard input.
    Stdin,
    /// A path that does not exist, a folder that cannot be listed, or a device.
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
}

impl Input {
    /// Returns its name in messages.
    pub fn name(&self) -> String {
        match self {
            Input::File { path, .. } | Input::Unreadable { path, .. } => path.display().to_string(),
            Input::Stdin => "standard input".into(),
        }
    }

    /// Returns the number of bytes that will be read, if known.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Input::File { path, .. } if is_gzip(path) => None,
            Input::File { bytes, .. } => Some(*bytes),
            Input::Unreadable { .. } => Some(0),
            Input::Stdin => None,
        }
    }

    pub(super) fn open(&self) -> io::Result<Box<dyn BufRead>> {
        match self {
            Input::File { path, .. } => plain(BufReader::with_capacity(BUFFER, File::open(path)?)),
            Input::Stdin => plain(BufReader::with_capacity(BUFFER, io::stdin())),
            Input::Unreadable { reason, .. } => Err(io::Error::other(reason.clone())),
        }
    }
}

/// Expands paths to inputs: a folder to all YAML and JSON files below it in the order of their names, `-` to standard input. Paths that
/// cannot be read stay in the result, so that the others are imported.
pub fn expand(paths: &[PathBuf]) -> Vec<Input> {
    let mut inputs = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            inputs.push(Input::Stdin);
            continue;
        }
        let about = match path.metadata() {
            Ok(about) => about,
            Err(error) => {
                inputs.push(unreadable(path, &error));
                continue;
            }
        };
        match FileKind::from_metadata(&about) {
            FileKind::Folder => add_folder(path, &mut inputs),
            FileKind::Regular => inputs.push(Input::File { path: path.clone(), bytes: about.len() }),
            // A pipe is read like a file, such as the one from the shell's `<(command)`.
            FileKind::Pipe => inputs.push(Input::File { path: path.clone(), bytes: 0 }),
            FileKind::Null | FileKind::Device => {
                let reason = format!("{}; `-` reads standard input", files::device());
                inputs.push(Input::Unreadable { path: path.clone(), reason });
            }
        }
    }
    inputs
}

fn unreadable(path: &Path, error: &io::Error) -> Input {
    Input::Unreadable { path: path.to_owned(), reason: error.to_string() }
}

fn add_folder(folder: &Path, inputs: &mut Vec<Input>) {
    let entries = folder
        .read_dir()
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return inputs.push(unreadable(folder, &error)),
    };
    entries.sort();
    for entry in entries {
        let is_link = entry.is_symlink();
        match entry.metadata() {
            // Links to folders are not followed, because they may lead to a folder above.
            Ok(about) if about.is_dir() && !is_link => add_folder(&entry, inputs),
            Ok(about) if about.is_file() && is_of_objects(&entry) => {
                inputs.push(Input::File { path: entry, bytes: about.len() });
            }
            Ok(_) => {}
            // A dangling link is reported when it is read; the rest of the folder is imported.
            Err(_) if is_of_objects(&entry) => inputs.push(Input::File { path: entry, bytes: 0 }),
            Err(_) => {}
        }
    }
}

/// The number of bytes that are read at once.
const BUFFER: usize = 128 * 1024;

/// The number of bytes that identify the format of a stream.
const MAGIC: usize = 6;

/// Returns the text of a stream, decompressed if it is gzip, in constant memory.
///
/// # Errors
/// If it cannot be read, or if its compression or encoding is not supported.
fn plain(mut reader: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    let head = head(&mut reader)?;
    let is_gzip = head.starts_with(&[0x1f, 0x8b]);
    let whole = Cursor::new(head).chain(reader);
    if !is_gzip {
        return check_text(whole);
    }
    // Several gzip files in a row count as one, as in gzip itself.
    check_text(BufReader::with_capacity(BUFFER, Gzip(MultiGzDecoder::new(whole))))
}

/// A decompressed stream whose errors contain the remedy.
struct Gzip<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.raw_os_error() {
            // The file itself cannot be read.
            Some(_) => error,
            None if error.kind() == io::ErrorKind::Interrupted => error,
            None => {
                let what = format!("its gzip data is broken or ends too early ({error}): copy the file once more");
                io::Error::new(io::ErrorKind::InvalidData, what)
            }
        })
    }
}

/// Returns the stream, if it may be UTF-8.
fn check_text(mut reader: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    let head = head(&mut reader)?;
    match what_it_is(&head) {
        Some(what) => Err(io::Error::new(io::ErrorKind::InvalidData, what)),
        None => Ok(Box::new(Cursor::new(head).chain(reader))),
    }
}

/// Returns the first bytes; fewer only at the end of the stream.
fn head(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(MAGIC);
    reader.take(MAGIC as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the format of a text with this beginning that is neither YAML nor JSON, with the remedy.
fn what_it_is(head: &[u8]) -> Option<&'static str> {
    Some(match head {
        // With a byte order mark, or with a zero as the other half of an ASCII character.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=127, ..] | [1..=127, 0, ..] => {
            "it is UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE > FILE.utf8"
        }
        [0x1f, 0x8b, ..] => "it is gzip in gzip; decompress it with gunzip",
        [b'P', b'K', 3, 4, ..] => "it is a zip archive; unpack it",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "it is compressed by zstd; decompress it with unzstd",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "it is compressed by xz; decompress it with unxz",
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', ..] => "it is compressed by bzip2; decompress it with bunzip2",
        _ => return None,
    })
}

/// Returns true if the name is one of a gzip file.
fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Returns true if a file in a folder is read. Only the name decides.
pub fn is_of_objects(path: &Path) -> bool {
    let inner = if is_gzip(path) { path.with_extension("") } else { path.to_owned() };
    let extension = inner.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}
