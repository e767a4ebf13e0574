//! One YAML document as JSON text, straight from the events of the parser: no tree, no recursion.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use serde_saphyr::granit_parser::{self, Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use super::scalar::{self, Scalar};
use super::source::newlines;
use super::{DocumentError, Finding};
use ingester_core::json::{self, MAX_DEPTH, Reader, TokenKind};

/// Bytes which aliases and merge keys may add to one document, and bytes kept of anchored values.
const MAX_EXPANSION: usize = 16 * 1024 * 1024;

/// Why a document was not read, and the JSON text up to there.
#[derive(Debug)]
pub(super) struct BrokenDocument {
    pub(super) error: DocumentError,
    pub(super) fragment: String,
}

/// Anchored values by name, as JSON text: what later items of the same list may refer to.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    by_name: HashMap<String, Rc<str>>,
    bytes: usize,
}

impl Anchors {
    pub(super) fn clear(&mut self) {
        self.by_name.clear();
        self.bytes = 0;
    }

    fn keep(&mut self, name: &str, text: &Rc<str>) {
        // A million items with an anchor each must not fill the memory.
        if self.bytes > MAX_EXPANSION {
            self.clear();
        }
        self.bytes += name.len() + text.len();
        if let Some(old) = self.by_name.insert(name.to_owned(), Rc::clone(text)) {
            self.bytes -= name.len() + old.len();
        }
    }
}

impl From<DocumentError> for BrokenDocument {
    fn from(error: DocumentError) -> BrokenDocument {
        BrokenDocument { error, fragment: String::new() }
    }
}

impl BrokenDocument {
    /// The failure of the document that begins on this line.
    pub(super) fn at(self, line: u64) -> Finding {
        Finding { line, content: Err(self.error), fragment: self.fragment }
    }
}

/// The JSON text of the only document in `text`, whose first line is `first_line` of the file. `keys` are those that its
/// mapping has already, if it continues one.
pub(super) fn compose(
    text: &str,
    first_line: u64,
    keys: HashSet<String>,
    anchors: &mut Anchors,
) -> Result<String, BrokenDocument> {
    let mut composer = composer(text, first_line, keys, anchors);
    match composer.document(text, first_line) {
        Ok(()) => Ok(composer.out),
        Err(error) => Err(BrokenDocument { error, fragment: composer.out }),
    }
}

/// As [`compose`] for a text that is one document and begins on `first_line`, with the line of each value: places in the JSON text, in
/// their order, and the line of the value that begins there. A key that comes twice is there twice. With `texts`, every scalar but null is the text that is
/// written, anchors, aliases and tags are errors, and no error repeats a text.
pub(crate) fn compose_with_lines(
    text: &str,
    first_line: u64,
    texts: bool,
) -> Result<(String, Vec<(usize, u64)>), DocumentError> {
    let mut anchors = Anchors::default();
    let mut composer = composer(text, first_line, HashSet::new(), &mut anchors);
    composer.lines = Some(Vec::new());
    composer.texts = texts;
    composer.document(text, first_line)?;
    Ok((composer.out, composer.lines.unwrap_or_default()))
}

fn composer<'a>(text: &str, first_line: u64, keys: HashSet<String>, anchors: &'a mut Anchors) -> Composer<'a> {
    Composer {
        out: String::with_capacity(text.len()),
        lines: None,
        texts: false,
        frames: Vec::new(),
        keys,
        anchors,
        ids: HashMap::new(),
        names: HashMap::new(),
        expanded: 0,
        mark: Mark { line: first_line, column: 1 },
    }
}

fn scan_error(error: &ScanError, first_line: u64) -> DocumentError {
    use granit_parser::ErrorKind;
    let mark = Mark::from_marker(error.marker(), first_line);
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => DocumentError::TooDeep { line: mark.line },
        ErrorKind::UnexpectedCharacter { .. } => mark.syntax("no text may begin with this character; put it in quotes"),
        ErrorKind::UndeclaredTagHandle | ErrorKind::InvalidTagTerminator => {
            mark.syntax("this tag is not understood; quote a text that begins with `!`")
        }
        kind => {
            let message = kind.to_string();
            let is_tab = message.split(|c: char| !c.is_alphabetic()).any(|word| word == "tab" || word == "tabs");
            let remedy = match message.as_str() {
                _ if is_tab => "; indent YAML with spaces",
                text if text.starts_with("mapping values are not allowed") => "; put a text with `: ` in quotes",
                text if text.contains("block scalar") => "; put a text that begins with `|` or `>` in quotes",
                _ => "",
            };
            mark.syntax(message + remedy)
        }
    }
}

/// Line and column in the file, for errors.
#[derive(Debug, Clone, Copy)]
struct Mark {
    line: u64,
    column: u64,
}

impl Mark {
    fn from_marker(marker: &Marker, first_line: u64) -> Mark {
        Mark { line: first_line + (marker.line() as u64).saturating_sub(1), column: marker.col() as u64 + 1 }
    }

    fn syntax(self, message: impl Into<String>) -> DocumentError {
        DocumentError::Syntax { line: self.line, column: self.column, message: message.into() }
    }
}

/// An open collection.
#[derive(Debug)]
struct Frame {
    mapping: bool,
    /// Where its text begins.
    start: usize,
    /// The parser's number of its anchor, 0 for none.
    anchor: usize,
    empty: bool,
    /// In a mapping: a value comes next, not a key.
    value_next: bool,
    /// In a mapping: the value that comes next belongs to a merge key.
    merging: bool,
    merges: Vec<String>,
    keys: HashSet<String>,
}

struct Composer<'a> {
    out: String,
    /// Where values begin in `out`, and on which line of the file, if the caller asks for lines.
    lines: Option<Vec<(usize, u64)>>,
    /// All scalars are texts, without anchors and tags.
    texts: bool,
    frames: Vec<Frame>,
    /// Keys that the root has already.
    keys: HashSet<String>,
    anchors: &'a mut Anchors,
    /// Anchored values of this text by the parser's number.
    ids: HashMap<usize, Rc<str>>,
    names: HashMap<usize, String>,
    /// Bytes which aliases, anchors and merges copied so far.
    expanded: usize,
    mark: Mark,
}

impl Composer<'_> {
    fn document(&mut self, text: &str, first_line: u64) -> Result<(), DocumentError> {
        if let Some(at) = text.find('\0') {
            let before = &text[..at];
            let line_start = before.rfind('\n').map_or(0, |feed| feed + 1);
            self.mark.line += newlines(before.as_bytes());
            self.mark.column = text[line_start..at].chars().count() as u64 + 1;
            return Err(self.syntax("a NUL byte, which no YAML text has"));
        }
        let options = granit_parser::options! {
            emit_comments: false,
            emit_anchor_events: true,
            emit_unresolved_aliases: true,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        let mut documents = 0;
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.map_err(|error| scan_error(&error, first_line))?;
            self.mark = Mark::from_marker(&span.start, first_line);
            if let Event::DocumentStart(..) = event {
                documents += 1;
                if documents > 1 {
                    return Err(self.syntax(match self.lines {
                        None => "a second document begins here without a `---` line",
                        Some(_) => "a second document begins here; a file has one",
                    }));
                }
            }
            self.event(event)?;
        }
        Ok(())
    }

    fn syntax(&self, message: impl Into<String>) -> DocumentError {
        self.mark.syntax(message)
    }

    fn event(&mut self, event: Event<'_>) -> Result<(), DocumentError> {
        if self.texts {
            self.refuse(&event)?;
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = self.resolve(&text, style, tag.as_deref())?;
                if self.key_next() {
                    return self.key(scalar, &text, style, tag.as_deref(), anchor);
                }
                let start = self.begin();
                self.push(&scalar, &text)?;
                self.end(start, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.open(false, anchor),
            Event::MappingStart(_, anchor, _) => self.open(true, anchor),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Anchor(id, name) => {
                if let Some(text) = self.ids.get(&id) {
                    self.anchors.keep(&name, text);
                }
                self.names.insert(id, name.into_owned());
                Ok(())
            }
            Event::Alias(id) => {
                let text = self.ids.get(&id).cloned();
                self.alias(text, self.names.get(&id).cloned().unwrap_or_default())
            }
            Event::UnresolvedAlias(name) => {
                let text = self.anchors.by_name.get(&*name).cloned();
                self.alias(text, name.into_owned())
            }
            _ => Ok(()),
        }
    }

    /// Refuses what an unquoted password may look like.
    fn refuse(&self, event: &Event<'_>) -> Result<(), DocumentError> {
        let tag = match event {
            Event::Anchor(..) => {
                return Err(self.syntax("an anchor is not understood here; quote a text that begins with `&`"));
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                return Err(self.syntax("an alias is not understood here; quote a text that begins with `*`"));
            }
            Event::Scalar(.., tag) | Event::SequenceStart(.., tag) | Event::MappingStart(.., tag) => tag.as_deref(),
            _ => None,
        };
        match tag.is_some_and(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() != Some("str")) {
            true => Err(self.syntax("a tag is not understood here; quote a text that begins with `!`")),
            false => Ok(()),
        }
    }

    fn resolve<'t>(&self, text: &'t str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Scalar<'t>, DocumentError> {
        let Some(tag) = tag else {
            return Ok(match scalar::resolve(text) {
                _ if style != ScalarStyle::Plain => Scalar::Text(text),
                Scalar::Null => Scalar::Null,
                _ if self.texts => Scalar::Text(text),
                scalar => scalar,
            });
        };
        let name = tag.suffix_in_namespace("tag:yaml.org,2002:");
        let scalar = scalar::resolve(text);
        match (name.as_deref(), scalar) {
            (Some("null"), scalar @ Scalar::Null)
            | (Some("bool"), scalar @ Scalar::Bool(_))
            | (Some("int" | "float"), scalar @ Scalar::Number(_))
            | (Some("float"), scalar @ Scalar::NotFinite) => Ok(scalar),
            (Some(name @ ("null" | "bool" | "int" | "float" | "map" | "seq")), _) => {
                Err(self.syntax(format!("`{text}` cannot be read as !!{name}")))
            }
            (Some("binary"), _) => Err(self.syntax("!!binary has no form in JSON; write base64 text without the tag")),
            // `!!str`, timestamps, and tags of applications, which kubectl ignores.
            _ => Ok(Scalar::Text(text)),
        }
    }

    /// True if the next node is a key of the innermost mapping.
    fn key_next(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.mapping && !frame.value_next)
    }

    /// Writes what separates a value from the one before, and returns where it begins.
    fn begin(&mut self) -> usize {
        if let Some(frame) = self.frames.last_mut().filter(|frame| !frame.mapping) {
            if !frame.empty {
                self.out.push(',');
            }
            frame.empty = false;
        }
        self.note();
        self.out.len()
    }

    /// Notes the line of what is written next.
    fn note(&mut self) {
        if let Some(lines) = &mut self.lines {
            lines.push((self.out.len(), self.mark.line));
        }
    }

    /// Ends a value, and keeps it if an anchor or a merge key wants it.
    fn end(&mut self, start: usize, anchor: usize) -> Result<(), DocumentError> {
        if anchor != 0 {
            let text: Rc<str> = Rc::from(&self.out[start..]);
            self.anchored(anchor, text)?;
        }
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        frame.value_next = false;
        if std::mem::take(&mut frame.merging) {
            let merged = self.out.split_off(start);
            // A merged value gets another place, and then has the line of its mapping.
            if let Some(lines) = &mut self.lines {
                lines.retain(|(place, _)| *place < start);
            }
            let bytes = merged.len();
            frame.merges.push(merged);
            return self.expand(bytes);
        }
        Ok(())
    }

    fn anchored(&mut self, id: usize, text: Rc<str>) -> Result<(), DocumentError> {
        self.expand(text.len())?;
        if let Some(name) = self.names.get(&id) {
            self.anchors.keep(name, &text);
        }
        self.ids.insert(id, text);
        Ok(())
    }

    fn expand(&mut self, bytes: usize) -> Result<(), DocumentError> {
        self.expanded += bytes;
        if self.expanded > MAX_EXPANSION {
            return Err(DocumentError::AliasBomb { line: self.mark.line });
        }
        Ok(())
    }

    fn open(&mut self, mapping: bool, anchor: usize) -> Result<(), DocumentError> {
        if self.key_next() {
            return Err(self.syntax("a key must be a single value, not an object or a list"));
        }
        if self.frames.len() == MAX_DEPTH {
            return Err(DocumentError::TooDeep { line: self.mark.line });
        }
        let start = self.begin();
        self.out.push(if mapping { '{' } else { '[' });
        self.frames.push(Frame {
            mapping,
            start,
            anchor,
            empty: true,
            value_next: false,
            merging: false,
            merges: Vec::new(),
            keys: std::mem::take(&mut self.keys),
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), DocumentError> {
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        for merged in std::mem::take(&mut frame.merges) {
            self.merge(&mut frame, &merged)?;
        }
        self.out.push(if frame.mapping { '}' } else { ']' });
        self.end(frame.start, frame.anchor)
    }

    /// Adds the keys of a merged mapping, or of a list of them, which the frame does not have itself.
    fn merge(&mut self, frame: &mut Frame, merged: &str) -> Result<(), DocumentError> {
        let Ok(mappings) = mappings(merged) else {
            return Err(self.syntax("`<<` merges a mapping or a list of mappings, nothing else"));
        };
        for (key, value) in mappings.into_iter().flatten() {
            if !frame.keys.contains(key.as_ref()) {
                self.push_key(frame.empty, &key);
                self.out.push_str(value);
                frame.empty = false;
                frame.keys.insert(key.into_owned());
            }
        }
        Ok(())
    }

    fn key(
        &mut self,
        scalar: Scalar<'_>,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        anchor: usize,
    ) -> Result<(), DocumentError> {
        let merges = tag.map_or(style == ScalarStyle::Plain, |tag| {
            tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() == Some("merge")
        });
        if merges && text == "<<" {
            if let Some(frame) = self.frames.last_mut() {
                frame.value_next = true;
                frame.merging = true;
            }
            return Ok(());
        }
        let key = match scalar {
            Scalar::Null => return Err(self.syntax("null cannot be a key")),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Number(number) => number.into_owned(),
            Scalar::Text(text) => text.to_owned(),
            Scalar::NotFinite => return Err(self.not_finite(text)),
        };
        if anchor != 0 {
            let mut json = String::new();
            push_string(&mut json, &key);
            self.anchored(anchor, json.into())?;
        }
        self.insert_key(key)
    }

    fn insert_key(&mut self, key: String) -> Result<(), DocumentError> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if self.lines.is_none() && frame.keys.contains(&key) {
            return Err(DocumentError::DuplicateKey { line: self.mark.line, column: self.mark.column, key });
        }
        let first = frame.empty;
        frame.empty = false;
        frame.value_next = true;
        frame.keys.insert(key.clone());
        self.push_key(first, &key);
        Ok(())
    }

    fn push_key(&mut self, first: bool, key: &str) {
        if !first {
            self.out.push(',');
        }
        self.note();
        push_string(&mut self.out, key);
        self.out.push(':');
    }

    fn alias(&mut self, text: Option<Rc<str>>, name: String) -> Result<(), DocumentError> {
        let Some(text) = text else {
            return Err(DocumentError::UnknownAnchor { line: self.mark.line, column: self.mark.column, name });
        };
        self.expand(text.len())?;
        if self.key_next() {
            return match text.as_bytes().first() {
                Some(b'"') => match json::from_str(&text) {
                    Ok(key) => self.insert_key(key),
                    Err(error) => Err(self.syntax(error.to_string())),
                },
                Some(b'{' | b'[' | b'n') | None => {
                    Err(self.syntax(format!("`*{name}` is not a single value and cannot be a key")))
                }
                Some(_) => self.insert_key(text.to_string()),
            };
        }
        let start = self.begin();
        self.out.push_str(&text);
        self.end(start, 0)
    }

    fn push(&mut self, scalar: &Scalar<'_>, text: &str) -> Result<(), DocumentError> {
        match scalar {
            Scalar::Null => self.out.push_str("null"),
            Scalar::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Scalar::Number(number) => self.out.push_str(number),
            Scalar::Text(text) => push_string(&mut self.out, text),
            Scalar::NotFinite => return Err(self.not_finite(text)),
        }
        Ok(())
    }

    fn not_finite(&self, text: &str) -> DocumentError {
        DocumentError::NotFinite { line: self.mark.line, column: self.mark.column, text: text.to_owned() }
    }
}

/// The entries of a mapping, or of each of a list of them.
fn mappings(text: &str) -> Result<Vec<BTreeMap<Cow<'_, str>, &str>>, json::Error> {
    let mut reader = Reader::new(text);
    if reader.peek()? != TokenKind::Array {
        return Ok(vec![mapping(&mut reader)?]);
    }
    let mut mappings = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        mappings.push(mapping(&mut reader)?);
    }
    Ok(mappings)
}

fn mapping<'t>(reader: &mut Reader<'t>) -> Result<BTreeMap<Cow<'t, str>, &'t str>, json::Error> {
    let mut mapping = BTreeMap::new();
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        mapping.insert(key, reader.raw()?);
    }
    Ok(mapping)
}

/// Appends a JSON string.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        let at = json::plain_end(rest.as_bytes());
        out.push_str(&rest[..at]);
        let Some(&byte) = rest.as_bytes().get(at) else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            byte => out.push_str(&format!("\\u{byte:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push('"');
}
