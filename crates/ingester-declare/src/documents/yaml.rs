//! A line scanner which finds the boundaries of YAML documents, and of the items of a list in block style.
//!
//! A document ends at a line that begins with `---` or `...`, whatever is open in it (YAML 1.2, 9.1.2: no scalar may
//! contain such a line), so a broken document spoils no other. Within a document whose first lines are plain
//! `key: value` pairs up to `items:` and a block sequence, as kubectl prints lists, the items are cut by their
//! indentation: YAML demands that everything inside an item is indented deeper than its dash. The dash of an item is
//! replaced by a blank, which leaves all columns as they are. Every other document is read whole.

use std::collections::HashSet;
use std::io;

use super::compose::{self, Anchors, BrokenDocument};
use super::list::{self, Head};
use super::source::{Position, Source};
use super::{DocumentError, Finding, Findings, MAX_DOCUMENT};

/// How the current document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// So far, only lines with which a list in block style may begin.
    Head,
    /// `items:` was the last of them.
    Items,
    /// In the items of a list; their dashes are indented by this many blanks.
    Item(usize),
    /// After the items.
    Tail,
    /// Not such a list: the document is held whole.
    Whole,
}

/// The state of the scanner.
#[derive(Debug)]
pub(super) struct Yaml {
    line: Vec<u8>,
    /// The document or the item being read.
    text: Vec<u8>,
    /// Where `text` begins.
    start: Position,
    /// Where the first line begins that has content: neither blank, comment, directive nor marker.
    content: Option<u64>,
    /// The document begins with a `---` line.
    marked: bool,
    mode: Mode,
    /// The lines before `items`.
    head: Head,
    /// The keys of a list that stand before its items, and `items` itself.
    keys: HashSet<String>,
    anchors: Anchors,
    too_large: bool,
}

impl Default for Yaml {
    fn default() -> Yaml {
        Yaml {
            line: Vec::new(),
            text: Vec::new(),
            start: Position::START,
            content: None,
            marked: false,
            mode: Mode::Head,
            head: Head::default(),
            keys: HashSet::new(),
            anchors: Anchors::default(),
            too_large: false,
        }
    }
}

impl Yaml {
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.line.capacity() + self.text.capacity()
    }

    /// Reads one line. `false` at the end.
    pub(super) fn step<R: io::BufRead>(&mut self, source: &mut Source<R>, found: &mut Findings) -> io::Result<bool> {
        // An interrupted read left the beginning of the line here.
        let mut at = source.position();
        at = at.back(self.line.len());
        if !source.read_line(&mut self.line, MAX_DOCUMENT + 1)? {
            self.document_ends(found);
            return Ok(false);
        }
        let line = std::mem::take(&mut self.line);
        self.line(&line, at, found);
        // The buffer is used again, unless a very long line made it large.
        if line.capacity() <= 1 << 20 {
            self.line = line;
            self.line.clear();
        }
        Ok(true)
    }

    fn line(&mut self, line: &[u8], at: Position, found: &mut Findings) {
        match marker(line) {
            Some(Marker::End) => {
                self.document_ends(found);
                return;
            }
            Some(Marker::Start) => {
                // Directives and comments belong to the document which this line opens; another `---` without
                // content behind it was a blank document.
                if self.content.is_some() || self.marked {
                    self.document_ends(found);
                }
                self.marked = true;
                self.append(line, at);
                if !is_blank(&line[3..]) {
                    self.mode = Mode::Whole;
                    self.content = Some(at.line);
                }
                return;
            }
            None => {}
        }
        if is_blank(line) {
            self.append(line, at);
            return;
        }
        if self.content.is_none() {
            if line.starts_with(b"%") && !self.marked {
                // Directives concern every item: such a list is not taken apart.
                self.mode = Mode::Whole;
                self.append(line, at);
                return;
            }
            self.content = Some(at.line);
            if line.starts_with(b" ") {
                self.mode = Mode::Whole;
            }
        }
        match self.mode {
            Mode::Head => {
                self.mode = self.head_line(line);
                self.append(line, at);
            }
            Mode::Items => match dash(line) {
                Some(indent) => {
                    self.head_ends(found);
                    self.item(line, indent, at);
                }
                None => {
                    self.mode = Mode::Whole;
                    self.append(line, at);
                }
            },
            Mode::Item(indent) => self.item_line(line, indent, at, found),
            Mode::Tail | Mode::Whole => self.append(line, at),
        }
    }

    /// Reads a line before the items, and tells how the document goes on.
    fn head_line(&mut self, line: &[u8]) -> Mode {
        let Some((key, value)) = plain_pair(line) else { return Mode::Whole };
        if line.starts_with(b" ") {
            return Mode::Head;
        }
        let field = match key {
            "items" if value.is_empty() && self.head.may_be_list() => return Mode::Items,
            "items" => return Mode::Whole,
            "kind" => &mut self.head.kind,
            "apiVersion" => &mut self.head.api_version,
            _ => return Mode::Head,
        };
        // A repeated key, or not a string: the parser reports it.
        if value.is_empty() || field.replace(value.to_owned()).is_some() { Mode::Whole } else { Mode::Head }
    }

    /// Checks the lines before the items. The items are read even if there are mistakes in them.
    fn head_ends(&mut self, found: &mut Findings) {
        match self.compose() {
            Ok(document) => {
                self.head = Head::parse(&document);
                self.keys = list::keys(&document);
            }
            Err(broken) => found.push_back(broken.at(self.content.unwrap_or(self.start.line))),
        }
        self.keys.insert("items".to_owned());
    }

    fn item_line(&mut self, line: &[u8], indent: usize, at: Position, found: &mut Findings) {
        let blanks = line.iter().take_while(|&&byte| byte == b' ').count();
        if dash(line) == Some(indent) {
            self.item_ends(found);
            self.item(line, indent, at);
        } else if blanks == 0 {
            self.item_ends(found);
            self.mode = Mode::Tail;
            self.append(line, at);
        } else {
            // Indented deeper, or a mistake that the parser will find.
            self.append(line, at);
        }
    }

    /// An item begins with this line.
    fn item(&mut self, line: &[u8], indent: usize, at: Position) {
        self.mode = Mode::Item(indent);
        self.text.clear();
        self.too_large = false;
        self.append(line, at);
        if let Some(dash) = self.text.get_mut(indent) {
            *dash = b' ';
        }
    }

    fn append(&mut self, line: &[u8], at: Position) {
        if self.too_large {
            return;
        }
        if self.text.is_empty() {
            self.start = at;
        }
        if self.text.len() + line.len() > MAX_DOCUMENT {
            self.too_large = true;
            // Empty until the next item or document begins.
            self.text = Vec::new();
            return;
        }
        self.text.extend_from_slice(line);
    }

    /// Returns the document or item in `text` as JSON. Afterwards `text` is empty.
    fn compose(&mut self) -> Result<String, BrokenDocument> {
        if std::mem::take(&mut self.too_large) {
            return Err(DocumentError::TooLarge.into());
        }
        // The lines after the items continue the mapping before them.
        let keys = if self.mode == Mode::Tail { std::mem::take(&mut self.keys) } else { HashSet::new() };
        let composed = match std::str::from_utf8(&self.text) {
            Ok(text) => compose::compose(text, self.start.line, keys, &mut self.anchors),
            Err(error) => {
                Err(DocumentError::InvalidUtf8 { byte: self.start.offset + error.valid_up_to() as u64 }.into())
            }
        };
        self.text.clear();
        composed
    }

    fn item_ends(&mut self, found: &mut Findings) {
        let line = self.start.line;
        match self.compose() {
            Ok(item) => match item.as_bytes().first() {
                Some(b'{') => list::settle(&item, &Head::parse(&item), Some(&self.head), line, found),
                first => {
                    let what = list::type_name(first.copied().unwrap_or(b'n'));
                    found.push_back(Finding::failure(line, DocumentError::NotAnObject { what }));
                }
            },
            Err(broken) => found.push_back(broken.at(line)),
        }
    }

    fn document_ends(&mut self, found: &mut Findings) {
        match (self.content, self.mode) {
            (None, _) => {}
            (Some(_), Mode::Item(_)) => self.item_ends(found),
            (Some(_), Mode::Tail) => self.list_ends(found),
            (Some(line), Mode::Head | Mode::Items | Mode::Whole) => match self.compose() {
                Ok(document) => match document.as_bytes().first() {
                    Some(b'{') => list::settle(&document, &Head::parse(&document), None, line, found),
                    Some(b'[') => list::unpack_array(&document, line, found),
                    Some(b'n') | None => {}
                    Some(&first) => {
                        let what = list::type_name(first);
                        found.push_back(Finding::failure(line, DocumentError::NotAnObject { what }));
                    }
                },
                Err(broken) => found.push_back(broken.at(line)),
            },
        }
        self.text.clear();
        self.too_large = false;
        self.content = None;
        self.marked = false;
        self.mode = Mode::Head;
        self.head = Head::default();
        self.keys.clear();
        self.anchors.clear();
    }

    /// Checks the lines after the items.
    fn list_ends(&mut self, found: &mut Findings) {
        let line = self.start.line;
        let tail = match self.compose() {
            Ok(tail) => tail,
            Err(broken) => return found.push_back(broken.at(line)),
        };
        let head = Head::parse(&tail);
        let error = if !tail.starts_with('{') {
            DocumentError::Syntax { line, column: 1, message: "expected a key, or the dash of another item".to_owned() }
        } else if !head.may_be_list() {
            DocumentError::NotAList { kind: head.kind.unwrap_or_default() }
        } else {
            return;
        };
        found.push_back(Finding::failure(line, error));
    }
}

/// The documents of a text that have content, and the line on which each begins. A text without content is one document.
pub(crate) fn split(text: &str) -> Vec<(u64, &str)> {
    let mut documents = Vec::new();
    // The current document: its line, its first byte, and what it has.
    let mut first_line = 1;
    let mut start = 0;
    let mut has_content = false;
    let mut is_marked = false;
    let mut offset = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let after = offset + line.len();
        let bytes = line.as_bytes();
        let marker = marker(bytes);
        let next = match marker {
            // Comments and directives belong to the document that this line opens.
            Some(Marker::Start) if has_content || is_marked => Some((number, offset)),
            Some(Marker::End) => Some((number + 1, after)),
            Some(Marker::Start) | None => None,
        };
        if let Some((next_line, next_start)) = next {
            documents.extend(has_content.then(|| (first_line, &text[start..offset])));
            (first_line, start) = (next_line, next_start);
            has_content = false;
            is_marked = false;
        }
        match marker {
            Some(Marker::Start) => {
                is_marked = true;
                has_content |= !is_blank(&bytes[3..]);
            }
            Some(Marker::End) => {}
            None => has_content |= !is_blank(bytes) && !bytes.starts_with(b"%"),
        }
        offset = after;
    }
    documents.extend(has_content.then(|| (first_line, &text[start..])));
    if documents.is_empty() { vec![(1, "")] } else { documents }
}

enum Marker {
    Start,
    End,
}

/// Markers stand in the first column, before white space or the end of the line.
fn marker(line: &[u8]) -> Option<Marker> {
    let marker = match line.get(..3)? {
        b"---" => Marker::Start,
        b"..." => Marker::End,
        _ => return None,
    };
    matches!(line.get(3), None | Some(b' ' | b'\t' | b'\r' | b'\n')).then_some(marker)
}

/// Blank, or a comment.
fn is_blank(line: &[u8]) -> bool {
    matches!(line.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n')), None | Some(b'#'))
}

/// How far the dash of a sequence is indented, if the line begins with one.
fn dash(line: &[u8]) -> Option<usize> {
    let indent = line.iter().take_while(|&&byte| byte == b' ').count();
    (line.get(indent) == Some(&b'-') && matches!(line.get(indent + 1), None | Some(b' ' | b'\t' | b'\r' | b'\n')))
        .then_some(indent)
}

/// The key and the value of a line that can only be a whole `key: value` pair: no anchor, no tag, nothing left open
/// that could reach into the next line. Quotes are taken off the value, unless there is nothing in them.
fn plain_pair(line: &[u8]) -> Option<(&str, &str)> {
    let line = std::str::from_utf8(line).ok()?.trim_matches([' ', '\t', '\r', '\n']);
    let (key, value) = line.split_once(':')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'/');
    if !key.starts_with(|first: char| first.is_ascii_alphabetic()) || !key.bytes().all(plain) {
        return None;
    }
    if !value.is_empty() && !value.starts_with([' ', '\t']) {
        return None;
    }
    let value = value.trim_start_matches([' ', '\t']);
    // A comment goes to the end of the line. No value accepted below can contain a `#`.
    let comment = if value.starts_with('#') { Some(0) } else { value.find(" #") };
    let value = value[..comment.unwrap_or(value.len())].trim_end_matches([' ', '\t']);
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    match quoted('"').or_else(|| quoted('\'')) {
        _ if matches!(value, "" | "{}" | "[]" | "\"\"" | "''") => Some((key, value)),
        Some(inner) => inner.bytes().all(|byte| plain(byte) || byte == b' ').then_some((key, inner)),
        None => value.bytes().all(plain).then_some((key, value)),
    }
}
