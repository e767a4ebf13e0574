//! Cuts a stream of JSON into single objects, in constant memory.
//!
//! [`Boundary`] finds the end of a value, by strings and brackets. The value is then checked as a whole by the reader of
//! JSON, which says what is wrong inside of it.
//!
//! A mistake that leaves the brackets in balance is a *flaw*: the object goes on to its closing bracket and fails alone.
//! Any other mistake is a *failure*: the cutter goes on at the next line that begins with `{`. If such a line lies inside
//! the text of the failed object (a line of NDJSON without its end swallows the lines after it), the cutter goes back
//! there. From then on, up to where it failed, a `{` in the first column begins a new document. So no byte is read a
//! third time.

use std::io;

use super::held::DocumentBuffer;
use super::list::{self, Head};
use super::source::{Position, Source};
use super::{DocumentError, Finding, Findings};
use ingester_core::json::{Boundary, Phase, Stop};

/// Where the cutter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Between documents.
    Between,
    /// After a failure, on the way to a line that begins with `{`.
    Lost,
    /// Between the elements of a root array or the items of a list.
    Elements(Phase),
    /// In a value.
    Value,
}

/// The container of the value that is being read.
#[derive(Debug)]
pub(super) enum EnclosingContainer {
    Nothing,
    /// A root array.
    Array,
    /// A list whose items are read one by one.
    List(Box<List>),
    /// Nothing: the value is a list again, after its items.
    RestOfList,
}

/// The text of a list up to its items.
#[derive(Debug)]
pub(super) struct List {
    text: DocumentBuffer,
    head: Head,
}

/// The state of the cutter.
#[derive(Debug)]
pub(super) struct Json {
    pub(super) mode: Mode,
    pub(super) around: EnclosingContainer,
    pub(super) boundary: Boundary,
    /// The value being read.
    pub(super) value: DocumentBuffer,
    /// The value has a member `items` that is an array.
    has_items: bool,
    /// Where the outermost document begins.
    pub(super) root: Position,
    /// Nothing since the last failure was JSON: another failure belongs to the same garbage and is not reported.
    pub(super) in_garbage: bool,
    /// Before this offset a `{` in the first column begins a document, even inside brackets.
    pub(super) strict_until: u64,
}

impl Default for Json {
    fn default() -> Json {
        Json {
            mode: Mode::Between,
            around: EnclosingContainer::Nothing,
            boundary: Boundary::default(),
            value: DocumentBuffer::default(),
            has_items: false,
            root: Position::START,
            in_garbage: false,
            strict_until: 0,
        }
    }
}

impl Json {
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let around = if let EnclosingContainer::List(list) = &self.around { list.text.capacity() } else { 0 };
        self.value.capacity() + around
    }

    /// Reads up to the next document, or what is at hand. `false` at the end.
    pub(super) fn step<R: io::BufRead>(&mut self, source: &mut Source<R>, found: &mut Findings) -> io::Result<bool> {
        let mut at = source.position();
        let chunk = source.chunk()?;
        if chunk.is_empty() {
            if matches!(self.mode, Mode::Between | Mode::Lost) {
                return Ok(false);
            }
            let back = self.fail(DocumentError::Unclosed { line: self.begins().line }, at, found);
            return Ok(self.go_back(back, source));
        }
        let mut used = 0;
        let mut failure = None;
        while used < chunk.len() && found.is_empty() && failure.is_none() {
            let rest = &chunk[used..];
            let taken = match self.mode {
                Mode::Between => self.between(rest[0], at, found),
                Mode::Lost => self.lost(rest, at),
                Mode::Elements(phase) => self.element(phase, rest[0], at, found, &mut failure),
                Mode::Value => {
                    used += self.value(rest, &mut at, found, &mut failure);
                    continue;
                }
            };
            at.pass_all(&rest[..taken]);
            used += taken;
        }
        source.consume(used, at);
        if let Some(error) = failure {
            let back = self.fail(error, at, found);
            self.go_back(back, source);
        }
        Ok(true)
    }

    fn between(&mut self, byte: u8, at: Position, found: &mut Findings) -> usize {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => 1,
            b'{' => {
                self.root = at;
                self.begin(at);
                0
            }
            b'[' => {
                self.root = at;
                self.around = EnclosingContainer::Array;
                self.mode = Mode::Elements(Phase::Open);
                1
            }
            _ => {
                if !std::mem::replace(&mut self.in_garbage, true) {
                    found.push_back(Finding::failure(at.line, unexpected("an object", byte, at)));
                }
                // Not taken: `Lost` passes over it.
                self.mode = Mode::Lost;
                0
            }
        }
    }

    /// A value begins.
    fn begin(&mut self, at: Position) {
        self.mode = Mode::Value;
        self.boundary = Boundary::default();
        self.value.begin(at);
        self.has_items = false;
    }

    /// Reads a byte between the elements of an array. A failure does not take it.
    fn element(
        &mut self,
        phase: Phase,
        byte: u8,
        at: Position,
        found: &mut Findings,
        failure: &mut Option<DocumentError>,
    ) -> usize {
        let begins_line = byte == b'{' && at.column() == 1;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b',' if phase == Phase::After => self.mode = Mode::Elements(Phase::Value),
            b']' => {
                if phase == Phase::Value {
                    // A comma after the last item does not spoil an item.
                    found.push_back(Finding::failure(at.line, unexpected(phase.wanted(false), byte, at)));
                }
                self.elements_end(at);
            }
            _ if begins_line && (phase == Phase::After || at.offset < self.strict_until) => {
                *failure = Some(DocumentError::Unclosed { line: self.root.line });
                return 0;
            }
            _ if phase != Phase::After && Boundary::may_begin(byte) => {
                self.begin(at);
                return 0;
            }
            _ => {
                *failure = Some(unexpected(phase.wanted(false), byte, at));
                return 0;
            }
        }
        1
    }

    fn elements_end(&mut self, at: Position) {
        match std::mem::replace(&mut self.around, EnclosingContainer::Nothing) {
            EnclosingContainer::List(list) => {
                self.value = list.text;
                self.value.resume(at);
                self.value.keep(b"]");
                self.boundary = Boundary::after_member();
                self.around = EnclosingContainer::RestOfList;
                self.mode = Mode::Value;
            }
            EnclosingContainer::Nothing | EnclosingContainer::Array | EnclosingContainer::RestOfList => {
                self.mode = Mode::Between
            }
        }
    }

    /// Reads on in a value, as far as the bytes go.
    fn value(
        &mut self,
        rest: &[u8],
        at: &mut Position,
        found: &mut Findings,
        failure: &mut Option<DocumentError>,
    ) -> usize {
        let strict = usize::try_from(self.strict_until.saturating_sub(at.offset)).unwrap_or(usize::MAX);
        let (taken, stop) = self.boundary.advance(rest, at.column() == 1, strict);
        self.value.keep(&rest[..taken]);
        at.pass_all(&rest[..taken]);
        match stop {
            Stop::Piece => {}
            Stop::End => self.value_ends(found),
            Stop::Array => self.array_begins(),
            Stop::Document => *failure = Some(DocumentError::Unclosed { line: self.begins().line }),
            Stop::Bracket { wanted } => *failure = Some(unexpected(wanted, rest[taken], *at)),
            Stop::Depth => *failure = Some(DocumentError::TooDeep { line: at.line }),
        }
        taken
    }

    /// An array begins that is a member of the value. If it is the `items` of a list, they are read one by one.
    fn array_begins(&mut self) {
        let root =
            matches!(self.around, EnclosingContainer::Nothing) && !self.boundary.flawed() && !self.value.too_large();
        if !root || self.has_items || !ends_with_items(self.value.bytes()) {
            return;
        }
        self.has_items = true;
        let head = Head::parse(self.value.fragment());
        if head.may_be_list() {
            self.around = EnclosingContainer::List(Box::new(List { text: std::mem::take(&mut self.value), head }));
            self.mode = Mode::Elements(Phase::Open);
            self.in_garbage = false;
        }
    }

    fn value_ends(&mut self, found: &mut Findings) {
        match self.around {
            EnclosingContainer::Nothing => {
                self.mode = Mode::Between;
                self.object_ends(found);
            }
            EnclosingContainer::Array | EnclosingContainer::List(_) => {
                self.mode = Mode::Elements(Phase::After);
                self.object_ends(found);
            }
            EnclosingContainer::RestOfList => {
                self.mode = Mode::Between;
                self.around = EnclosingContainer::Nothing;
                self.list_ends(found);
            }
        }
    }

    /// The end of a list whose items were read one by one.
    fn list_ends(&mut self, found: &mut Findings) {
        let error = match self.value.checked() {
            Ok(text) => match Head::parse(text) {
                head if head.may_be_list() => return,
                head => DocumentError::NotAList { kind: head.kind.unwrap_or_default() },
            },
            Err(error) => error,
        };
        found.push_back(Finding::failure(self.root.line, error).with_fragment(self.value.fragment()));
    }

    fn object_ends(&mut self, found: &mut Findings) {
        // An element of a root array is an item of a list without a kind.
        let array = Head::default();
        let parent = match &self.around {
            EnclosingContainer::List(list) => Some(&list.head),
            EnclosingContainer::Array => Some(&array),
            EnclosingContainer::Nothing | EnclosingContainer::RestOfList => None,
        };
        let line = self.value.start().line;
        let error = match self.value.checked() {
            Ok(text) => match text.as_bytes().first() {
                Some(b'{') => {
                    self.in_garbage = false;
                    return list::settle(text, &Head::parse(text), parent, line, found);
                }
                first => DocumentError::NotAnObject { what: list::type_name(first.copied().unwrap_or(b'n')) },
            },
            Err(error) if self.boundary.flawed() => {
                let more_garbage = self.in_garbage && !self.value.makes_sense();
                self.in_garbage = matches!(self.around, EnclosingContainer::Nothing);
                if more_garbage {
                    return;
                }
                error
            }
            Err(error) => {
                self.in_garbage = false;
                error
            }
        };
        found.push_back(Finding::failure(line, error).with_fragment(self.value.fragment()));
    }

    /// Where the value being read begins; the document around it, if the value is not an object or array.
    pub(super) fn begins(&self) -> Position {
        let in_container = self.mode == Mode::Value && self.boundary.in_container();
        if in_container { self.value.start() } else { self.root }
    }
}

/// Returns true if a text that ends at an array's bracket has the key `items` before it.
fn ends_with_items(text: &[u8]) -> bool {
    let key = text.strip_suffix(b"[").map(<[u8]>::trim_ascii_end).and_then(|text| text.strip_suffix(b":"));
    let key = key.map(<[u8]>::trim_ascii_end).unwrap_or_default();
    // After an escaped quote it is the end of a longer key.
    key.ends_with(b"\"items\"") && !key.ends_with(b"\\\"items\"")
}

/// A byte that the grammar does not allow.
fn unexpected(wanted: &str, byte: u8, at: Position) -> DocumentError {
    // The rest of a longer character may not have been read yet.
    let found = if byte.is_ascii() { format!("{:?}", char::from(byte)) } else { format!("the byte 0x{byte:02X}") };
    DocumentError::Syntax { line: at.line, column: at.column(), message: format!("expected {wanted}, found {found}") }
}
