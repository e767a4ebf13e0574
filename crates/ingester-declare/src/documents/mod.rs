//! Streams of Kubernetes objects as kubectl prints them, cut into single objects.
//! May use: ingester-core.
//!
//! [`documents`] finds where one object ends and the next begins, reads YAML, and unpacks `List` objects. It gives the
//! JSON text of each object, in which no key comes twice; the consumer finds out whether the object is of a known kind.
//!
//! Memory holds one object at a time, of at most [`MAX_DOCUMENT`] bytes. Nothing here opens files or knows tables, kinds
//! or schemas.
//!
//! | file | what it does |
//! |---|---|
//! | `source.rs` | the bytes with their positions; goes back over bytes already read |
//! | `json.rs`, `recover.rs` | cut JSON into documents and list items; find the next document after a broken one |
//! | `held.rs` | the text of the JSON value that is being read |
//! | `yaml.rs` | a line scanner which finds the boundaries of YAML documents and list items |
//! | `compose.rs`, `scalar.rs` | one YAML document as JSON text |
//! | `list.rs` | the rules of `List` objects, the same for both formats |

mod compose;
mod held;
mod json;
mod list;
mod recover;
mod scalar;
mod source;
mod yaml;

#[cfg(test)]
mod tests;

use ingester_core::json::MAX_DEPTH;
use json::Json;
use std::collections::VecDeque;
use std::io;

pub(crate) use compose::compose_with_lines;
use source::Source;
use yaml::Yaml;
pub(crate) use yaml::split;

/// The largest single object, in bytes as written in the file: 64 MiB, far above the 1.5 MiB which etcd accepts.
///
/// It bounds memory, not files: a list of a million objects is a million small documents.
pub const MAX_DOCUMENT: usize = 64 * 1024 * 1024;

/// One object found in a file, or the reason why this place of the file holds none.
#[derive(Debug)]
pub struct Document {
    /// Counts from 1 within the source. Items of a list and failures count each on their own.
    pub number: u64,
    /// The line where it starts, counted from 1. Items of a list which YAML writes in flow style
    /// (`items: [{...}]`) carry the line of their list.
    pub line: u64,
    /// JSON text of one object in which no key comes twice. From a JSON source these are the bytes of the file; from a
    /// YAML source it is JSON in the order of the file.
    pub content: Result<String, DocumentError>,
    /// If `content` is an error: the JSON text that was read of the object. It may break off or be wrong anywhere, but tells
    /// which object failed. Empty if nothing was read.
    pub fragment: String,
}

/// The reason why a place of the file holds no object. Lines and columns are positions in the file and count from 1.
///
/// Columns count bytes in JSON and characters in YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The text breaks the rules of its format.
    #[error("line {line} column {column}: {message}")]
    Syntax {
        /// Where the rule is broken.
        line: u64,
        /// Where the rule is broken.
        column: u64,
        /// The reason, without the place.
        message: String,
    },
    /// The bytes are not text.
    #[error("not valid UTF-8 at byte {byte}; convert it: iconv -f LATIN1 -t UTF-8 FILE > FILE.utf8")]
    InvalidUtf8 {
        /// Offset of the first wrong byte from the start of the file, counted from 0.
        byte: u64,
    },
    /// A well-formed value which cannot be a Kubernetes object.
    #[error("the document is not an object but {what}")]
    NotAnObject {
        /// With its article: `a string`, `a list`, `a number`, `a boolean`, `null`.
        what: &'static str,
    },
    /// A single object above [`MAX_DOCUMENT`]; its bytes were skipped.
    #[error("larger than 64 MiB")]
    TooLarge,
    /// The file, or the next document, came before the end of this one.
    #[error("brackets opened on line {line} are never closed")]
    Unclosed {
        /// Where the document opens.
        line: u64,
    },
    /// Nested deeper than [`MAX_DEPTH`]. Depth counts from the object; in a list that is not streamed, from the list.
    #[error("line {line}: nested deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Where the level too many opens.
        line: u64,
    },
    /// An object has a key twice.
    #[error("line {line} column {column}: the key `{key}` appears twice in the same object")]
    DuplicateKey {
        /// Where the key appears again.
        line: u64,
        /// Where the key appears again.
        column: u64,
        /// The key as JSON would have it.
        key: String,
    },
    /// `.inf` or `.nan`, which JSON cannot express.
    #[error("line {line} column {column}: `{text}` is a number which JSON does not have")]
    NotFinite {
        /// Where it stands.
        line: u64,
        /// Where it stands.
        column: u64,
        /// As written.
        text: String,
    },
    /// A YAML alias whose anchor is not before it in the document (or is still open around it).
    #[error("line {line} column {column}: `*{name}` refers to an anchor that is not defined before it")]
    UnknownAnchor {
        /// Where the alias stands.
        line: u64,
        /// Where the alias stands.
        column: u64,
        /// Without the `*`.
        name: String,
    },
    /// Aliases and merge keys which multiply the document: an "alias bomb".
    #[error("line {line}: aliases expand this document to more than 16 MiB")]
    AliasBomb {
        /// Where the limit was passed.
        line: u64,
    },
    /// `items` came before `kind`, its elements were read as objects, and then `kind` named no list.
    #[error(
        "kind `{kind}` is not a list, but its `items` came first and were read as objects; write `kind` before `items`"
    )]
    NotAList {
        /// The value of `kind`.
        kind: String,
    },
    /// A `List` in a `List` in a `List`.
    #[error("lists are nested more than two deep")]
    NestedList,
}

/// Cuts a stream into objects. See [`Documents`].
pub fn documents<R: io::BufRead>(reader: R) -> Documents<R> {
    Documents {
        source: Source::new(reader),
        format: Format::Unknown(Sniff::default()),
        found: VecDeque::new(),
        number: 0,
    }
}

/// Iterator over the objects of a stream, in constant memory.
///
/// # Format
///
/// The first byte which is neither blank nor part of a `#` comment (nor of a UTF-8 byte order mark) decides: `{` and
/// `[` mean JSON, all else YAML. File names play no part. Empty input, blank documents and documents of comments
/// only yield nothing.
///
/// JSON may be one document, many in a row with or without white space between them, one a line, or arrays of
/// objects. YAML may be many documents separated by `---` or ended by `...`; `null` documents are skipped as
/// kubectl does.
///
/// # Lists
///
/// An object with an array `items` is a list, and its items come out one by one, unless a `kind` that does not end
/// in `List` was seen before. Lists of block-style YAML and of JSON are streamed: they may be larger than memory.
/// When the list is typed (`PodList`, before `items`), items without `kind` or `apiVersion` get them from the list,
/// as the API server leaves them out there. A list in a list is unpacked too, a third level is an error.
///
/// # YAML scalars
///
/// They mean what they mean to kubectl: unquoted `yes`, `on` and `y` are true, as values and as keys, `0644` is octal,
/// keys that are numbers become strings. Timestamps stay as written and integers above 64 bits keep their digits.
/// Anchors, aliases and merge keys (`<<`) are resolved; in a streamed list an alias reaches into earlier items. `.inf`
/// and `.nan` are errors.
///
/// # Keys that come twice
///
/// In both formats an object that has a key twice, at any depth, is an error that names the key. An entry from a YAML merge key is not a
/// duplicate: the mapping's own entry wins.
///
/// # Recovery
///
/// After a broken JSON document whose brackets match, reading goes on behind it; otherwise at the next line that begins
/// with `{`. A broken YAML document or list item spoils nothing else. Consecutive garbage makes one error, at the line
/// where it begins.
///
/// # Errors
///
/// Mistakes in the text are values ([`Document::content`]). The iterator itself fails only if the reader fails, or gives 1 GiB
/// without the end of a document, and ends after that.
#[derive(Debug)]
pub struct Documents<R> {
    source: Source<R>,
    format: Format,
    found: Findings,
    number: u64,
}

/// Documents found but not handed out yet.
type Findings = VecDeque<Finding>;

/// A [`Document`] without its number.
#[derive(Debug)]
struct Finding {
    line: u64,
    content: Result<String, DocumentError>,
    fragment: String,
}

impl Finding {
    fn object(line: u64, text: String) -> Finding {
        Finding { line, content: Ok(text), fragment: String::new() }
    }

    fn failure(line: u64, error: DocumentError) -> Finding {
        Finding { line, content: Err(error), fragment: String::new() }
    }

    /// Adds the text that was read of the failed object.
    fn with_fragment(self, fragment: &str) -> Finding {
        Finding { fragment: fragment.to_owned(), ..self }
    }
}

#[derive(Debug)]
enum Format {
    Unknown(Sniff),
    // Boxed because the scanners are large and the other states are not.
    Json(Box<Json>),
    Yaml(Box<Yaml>),
    Ended,
}

impl<R: io::BufRead> Documents<R> {
    /// Bytes taken from the reader so far, for a progress bar. Comes to the size of the file at its end.
    pub fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    /// Bytes of memory which the buffers hold between two documents.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.source.held()
            + match &self.format {
                Format::Json(json) => json.held(),
                Format::Yaml(yaml) => yaml.held(),
                Format::Unknown(_) | Format::Ended => 0,
            }
    }

    /// Reads a little further; `false` at the end.
    fn step(&mut self) -> io::Result<bool> {
        match &mut self.format {
            Format::Ended => Ok(false),
            Format::Json(json) => json.step(&mut self.source, &mut self.found),
            Format::Yaml(yaml) => yaml.step(&mut self.source, &mut self.found),
            Format::Unknown(sniff) => {
                self.format = match sniff.step(&mut self.source)? {
                    StreamFormat::Nothing => return Ok(true),
                    StreamFormat::Json => Format::Json(Box::default()),
                    StreamFormat::Yaml => Format::Yaml(Box::default()),
                    StreamFormat::Empty => Format::Ended,
                };
                Ok(true)
            }
        }
    }
}

impl<R: io::BufRead> Iterator for Documents<R> {
    type Item = Result<Document, io::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(Finding { line, content, fragment }) = self.found.pop_front() {
                self.source.found();
                self.number += 1;
                return Some(Ok(Document { number: self.number, line, content, fragment }));
            }
            if matches!(self.format, Format::Ended) {
                return None;
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) => self.format = Format::Ended,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.format = Format::Ended;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// Looks for the first byte that tells JSON from YAML.
#[derive(Debug, Default)]
struct Sniff {
    /// Bytes of a byte order mark seen; 3 or more when it is over or there was none.
    mark: usize,
    comment: bool,
    /// Blanks before the first text of its line: indentation, which YAML needs back.
    blanks: Vec<u8>,
}

enum StreamFormat {
    Nothing,
    Json,
    Yaml,
    Empty,
}

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl Sniff {
    fn step<R: io::BufRead>(&mut self, source: &mut Source<R>) -> io::Result<StreamFormat> {
        let mut position = source.position();
        let chunk = source.chunk()?;
        let mut used = 0;
        let mut sniffed = if chunk.is_empty() { StreamFormat::Empty } else { StreamFormat::Nothing };
        for &byte in chunk {
            if self.mark < BYTE_ORDER_MARK.len() {
                if byte == BYTE_ORDER_MARK[self.mark] {
                    self.mark += 1;
                    self.blanks.push(byte);
                    if self.mark == BYTE_ORDER_MARK.len() {
                        self.blanks.clear();
                    }
                    position.pass(byte);
                    used += 1;
                    continue;
                }
                self.mark = BYTE_ORDER_MARK.len();
                if !self.blanks.is_empty() {
                    // Part of a mark and then something else: not text at all, which YAML will report.
                    sniffed = StreamFormat::Yaml;
                    break;
                }
            }
            match byte {
                b'\n' => {
                    self.comment = false;
                    self.blanks.clear();
                }
                _ if self.comment => {}
                b' ' | b'\t' | b'\r' => {
                    // A mebibyte of blanks is not indentation: do not let it grow with the file.
                    if self.blanks.len() < 1 << 20 {
                        self.blanks.push(byte);
                    }
                }
                b'#' => self.comment = true,
                b'{' | b'[' => {
                    sniffed = StreamFormat::Json;
                    break;
                }
                _ => {
                    sniffed = StreamFormat::Yaml;
                    break;
                }
            }
            position.pass(byte);
            used += 1;
        }
        if matches!(sniffed, StreamFormat::Empty)
            && !self.blanks.is_empty()
            && self.mark < BYTE_ORDER_MARK.len()
            && self.mark > 0
        {
            sniffed = StreamFormat::Yaml;
            self.mark = BYTE_ORDER_MARK.len();
        }
        source.consume(used, position);
        if matches!(sniffed, StreamFormat::Yaml) {
            let blanks = std::mem::take(&mut self.blanks);
            let back = position.back(blanks.len());
            source.rewind(blanks, back);
        }
        Ok(sniffed)
    }
}
