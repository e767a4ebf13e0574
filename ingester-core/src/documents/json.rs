//! A byte scanner which finds the boundaries of JSON documents.
//!
//! It knows strings and brackets, and enough of the grammar to tell where a value may begin; nesting is a stack of
//! bytes, not of calls. A mistake which leaves the brackets in balance is a *flaw*: the document goes on to its
//! closing bracket and fails alone. One that does not is a *failure*: the scanner goes on at the next line that
//! begins with `{`. When such a line lies inside the text of the failed document (a line of NDJSON that lost its
//! end swallows the lines after it), it goes back there and from then on takes `{` in the first column for a new
//! document, up to where it failed; no byte is read a third time.

use std::io;

use super::grammar::{Expect, Field, is_word, plain_run, syntax, unexpected};
use super::list::{self, Head, Items};
use super::source::{Position, Source};
use super::{DocumentError, Found, MAX_DEPTH, MAX_DOCUMENT};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Between documents.
    Between,
    /// Behind a failure, on the way to a line that begins with `{`.
    Lost,
    /// Inside brackets.
    Inside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    None,
    Text,
    /// Behind a backslash.
    Escape,
    /// A number, `true`, `false` or `null`.
    Word,
}

/// The state of the scanner. Objects are read at a *base*: the depth of the brackets around them, which is 0 for a
/// document, 1 for an element of a root array and 2 for an item of a list.
#[derive(Debug)]
pub(super) struct Json {
    pub(super) place: Place,
    pub(super) token: Token,
    pub(super) expect: Expect,
    /// The open brackets.
    pub(super) open: Vec<u8>,
    pub(super) base: usize,
    /// The root of the list that is being streamed; its remaining keys too are read into it.
    pub(super) list: Option<Head>,
    pub(super) head: Head,
    pub(super) field: Field,
    /// The string being read, when it is a key or a value directly below the base. The longest that matter are kinds.
    pub(super) word: Option<Vec<u8>>,
    /// The object being read, when `holding`.
    pub(super) text: Vec<u8>,
    pub(super) holding: bool,
    pub(super) too_large: bool,
    pub(super) flaw: Option<DocumentError>,
    /// Where the object being read begins, and where the document around it does.
    pub(super) start: Position,
    pub(super) root: Position,
    /// Nothing made sense since the last failure: what fails now is part of the same garbage.
    pub(super) in_garbage: bool,
    /// Before this offset `{` in the first column begins a document, whatever is open.
    pub(super) strict_until: u64,
}

const LONGEST_WORD: usize = 512;

impl Default for Json {
    fn default() -> Json {
        let nowhere = Position::START;
        Json {
            place: Place::Between,
            token: Token::None,
            expect: Expect::Value,
            open: Vec::new(),
            base: 0,
            list: None,
            head: Head::default(),
            field: Field::Other,
            word: None,
            text: Vec::new(),
            holding: false,
            too_large: false,
            flaw: None,
            start: nowhere,
            root: nowhere,
            in_garbage: false,
            strict_until: 0,
        }
    }
}

impl Json {
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.text.capacity() + self.open.capacity() + self.word.as_ref().map_or(0, Vec::capacity)
    }

    /// Reads up to the next document, or what is at hand. `false` at the end.
    pub(super) fn step<R: io::BufRead>(&mut self, source: &mut Source<R>, found: &mut Found) -> io::Result<bool> {
        let mut at = source.position();
        let chunk = source.chunk()?;
        if chunk.is_empty() {
            if self.place != Place::Inside {
                return Ok(false);
            }
            let back = self.fail(DocumentError::Unclosed { line: self.start.line }, at, found);
            return Ok(self.go_back(back, source));
        }
        let mut used = 0;
        let mut back = None;
        while used < chunk.len() && found.is_empty() && back.is_none() {
            let rest = &chunk[used..];
            let skimmed = self.skim(rest, &mut at);
            if skimmed > 0 {
                used += skimmed;
                continue;
            }
            used += match (self.place, self.token) {
                (Place::Between, _) => self.between(rest[0], &mut at, found),
                (Place::Lost, _) => self.lost(rest, &mut at),
                (Place::Inside, Token::Text) => self.string(rest, &mut at, found),
                (Place::Inside, Token::Escape) => {
                    self.token = Token::Text;
                    // A line feed is never escaped: the string sees it and ends.
                    let escaped = usize::from(rest[0] >= b' ');
                    self.keep(&rest[..escaped]);
                    at.pass_run(escaped);
                    escaped
                }
                (Place::Inside, Token::Word) => self.scalar(rest, &mut at, found),
                (Place::Inside, Token::None) => match self.mark(rest[0], at, found) {
                    Ok(()) => {
                        at.pass(rest[0]);
                        1
                    }
                    Err(error) => {
                        back = Some(self.fail(error, at, found));
                        0
                    }
                },
            };
        }
        source.consume(used, at);
        if let Some(back) = back {
            self.go_back(back, source);
        }
        Ok(true)
    }

    fn between(&mut self, byte: u8, at: &mut Position, found: &mut Found) -> usize {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'{' | b'[' => {
                self.root = *at;
                self.base = usize::from(byte == b'[');
                self.open.push(byte);
                self.expect = Expect::behind(byte);
                self.place = Place::Inside;
                if byte == b'{' {
                    self.begin(*at);
                    self.keep(b"{");
                }
            }
            _ => {
                if !std::mem::replace(&mut self.in_garbage, true) {
                    found.push_back((at.line, Err(unexpected("an object", byte, *at))));
                }
                self.place = Place::Lost;
                // Not taken: when it is the first of its line, no `{`, `Lost` passes over it.
                return 0;
            }
        }
        at.pass(byte);
        1
    }

    /// An object or a stray value begins at the base.
    fn begin(&mut self, at: Position) {
        self.start = at;
        self.text.clear();
        self.holding = true;
        self.too_large = false;
        self.flaw = None;
        self.head = Head::default();
        self.field = Field::Other;
    }

    pub(super) fn keep(&mut self, bytes: &[u8]) {
        if !self.holding {
            return;
        }
        if self.text.len() + bytes.len() > MAX_DOCUMENT {
            self.holding = false;
            self.too_large = true;
            self.text = Vec::new();
            return;
        }
        self.text.extend_from_slice(bytes);
    }

    /// Whether the scanner is inside an object of the base, not between those of a list or an array.
    pub(super) fn in_object(&self) -> bool {
        self.open.len() > self.base
    }

    /// Whether keys and values seen now are those of the object itself, or of the list around the items.
    fn at_head(&self) -> bool {
        self.open.len() == self.base + 1 && self.open.last() == Some(&b'{')
    }

    /// Notes a mistake inside an object; between objects it is a failure.
    fn complain(&mut self, error: DocumentError) -> Result<(), DocumentError> {
        if !self.in_object() {
            return Err(error);
        }
        self.flaw.get_or_insert(error);
        Ok(())
    }

    fn string(&mut self, rest: &[u8], at: &mut Position, found: &mut Found) -> usize {
        let run = plain_run(rest);
        if let Some(word) = &mut self.word {
            word.extend_from_slice(&rest[..run.min(LONGEST_WORD.saturating_sub(word.len()))]);
        }
        self.keep(&rest[..run]);
        at.pass_run(run);
        let Some(&byte) = rest.get(run) else { return run };
        match byte {
            b'"' => {
                self.keep(b"\"");
                at.pass(byte);
                self.token = Token::None;
                self.string_ends(found);
            }
            b'\\' => {
                self.keep(b"\\");
                at.pass(byte);
                self.token = Token::Escape;
                // An escaped key or kind is not looked into: the backslash keeps it from meaning anything.
                if let Some(word) = &mut self.word {
                    word.push(byte);
                }
            }
            b'\n' | b'\r' => {
                self.flaw.get_or_insert(syntax("a string is not closed on its line", *at));
                self.token = Token::None;
                self.string_ends(found);
                return run;
            }
            _ => {
                self.flaw.get_or_insert(syntax("a control character inside a string", *at));
                self.keep(&[byte]);
                at.pass(byte);
            }
        }
        run + 1
    }

    fn string_ends(&mut self, found: &mut Found) {
        let word = self.word.take();
        if matches!(self.expect, Expect::Key | Expect::KeyOrEnd) {
            self.expect = Expect::Colon;
            if let Some(word) = word {
                self.field = Field::of(&word);
            }
            return;
        }
        if let Some(word) = word.and_then(|word| String::from_utf8(word).ok()) {
            let head = if self.base == 0 { self.list.as_mut().unwrap_or(&mut self.head) } else { &mut self.head };
            match self.field {
                Field::Kind => head.kind = Some(word),
                Field::ApiVersion => head.api_version = Some(word),
                Field::Items | Field::Other => {}
            }
        }
        self.value_ends(found);
    }

    fn scalar(&mut self, rest: &[u8], at: &mut Position, found: &mut Found) -> usize {
        let run = rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
        self.keep(&rest[..run]);
        at.pass_run(run);
        if run < rest.len() {
            self.token = Token::None;
            self.value_ends(found);
        }
        run
    }

    /// A byte outside of strings and words. An error is a failure: the byte is not taken.
    fn mark(&mut self, byte: u8, at: Position, found: &mut Found) -> Result<(), DocumentError> {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b',' => {
                if self.expect != Expect::CommaOrEnd {
                    self.complain(unexpected(self.expect.name(&self.open), byte, at))?;
                }
                let object = self.open.last() == Some(&b'{');
                self.expect = if object { Expect::Key } else { Expect::Value };
            }
            b':' => {
                if self.expect != Expect::Colon {
                    self.complain(unexpected(self.expect.name(&self.open), byte, at))?;
                }
                self.expect = Expect::Value;
                self.in_garbage &= self.flaw.is_some();
            }
            b'}' | b']' => return self.close(byte, at, found),
            b'"' | b'{' | b'[' => self.value(byte, at)?,
            _ if is_word(byte) => self.value(byte, at)?,
            _ => self.complain(unexpected(self.expect.name(&self.open), byte, at))?,
        }
        self.keep(&[byte]);
        Ok(())
    }

    /// The first byte of a value or of a key.
    fn value(&mut self, byte: u8, at: Position) -> Result<(), DocumentError> {
        let key = byte == b'"' && matches!(self.expect, Expect::Key | Expect::KeyOrEnd);
        let allowed = key || matches!(self.expect, Expect::Value | Expect::ValueOrEnd);
        let begins_line = byte == b'{' && at.column() == 1;
        if begins_line && (!allowed || self.flaw.is_some() || at.offset < self.strict_until) {
            return Err(DocumentError::Unclosed { line: self.start.line });
        }
        if !allowed {
            self.complain(unexpected(self.expect.name(&self.open), byte, at))?;
        } else if !self.in_object() {
            self.begin(at);
        }
        // Behind the items of a list, its head is complete but for the kind.
        let in_tail = self.base == 0 && self.list.is_some();
        let items = allowed && !key && self.at_head() && !in_tail && self.field == Field::Items;
        if items {
            self.head.items = Items::of(byte);
        }
        match byte {
            b'"' => {
                self.token = Token::Text;
                self.word = (allowed && self.at_head()).then(Vec::new);
            }
            b'{' | b'[' => {
                if self.open.len() == MAX_DEPTH {
                    return Err(DocumentError::TooDeep { line: at.line });
                }
                let streams = items && byte == b'[' && self.base == 0 && self.holding && self.flaw.is_none();
                if streams && self.head.may_be_list() {
                    self.list = Some(std::mem::take(&mut self.head));
                    self.base = 2;
                    self.holding = false;
                    self.text.clear();
                }
                self.open.push(byte);
                self.expect = Expect::behind(byte);
            }
            _ => self.token = Token::Word,
        }
        Ok(())
    }

    fn close(&mut self, byte: u8, at: Position, found: &mut Found) -> Result<(), DocumentError> {
        let opened = if byte == b'}' { b'{' } else { b'[' };
        if self.open.last() != Some(&opened) {
            return Err(unexpected(self.expect.name(&self.open), byte, at));
        }
        if !self.expect.may_end() {
            let error = unexpected(self.expect.name(&self.open), byte, at);
            if self.in_object() {
                self.flaw.get_or_insert(error);
            } else {
                // A comma too many behind the last item harms nobody else.
                found.push_back((at.line, Err(error)));
            }
        }
        let container = !self.in_object();
        self.open.pop();
        if container {
            // The end of the items, or of a root array: what follows is not held.
            self.base = 0;
            self.expect = Expect::CommaOrEnd;
            if self.open.is_empty() {
                self.place = Place::Between;
            }
            self.field = Field::Other;
            return Ok(());
        }
        self.keep(&[byte]);
        self.value_ends(found);
        Ok(())
    }

    fn value_ends(&mut self, found: &mut Found) {
        self.expect = Expect::CommaOrEnd;
        if self.open.len() != self.base {
            return;
        }
        if self.base == 0 {
            self.place = Place::Between;
            if let Some(list) = self.list.take() {
                return self.list_ends(&list, found);
            }
        }
        self.object_ends(found);
    }

    /// The root of a streamed list is closed.
    fn list_ends(&mut self, list: &Head, found: &mut Found) {
        let error = match (self.flaw.take(), &list.kind) {
            (Some(flaw), _) => flaw,
            (None, Some(kind)) if !list.may_be_list() => DocumentError::NotAList { kind: kind.clone() },
            _ => return,
        };
        found.push_back((self.root.line, Err(error)));
    }

    fn object_ends(&mut self, found: &mut Found) {
        self.holding = false;
        let line = self.start.line;
        let first = self.text.first().copied().unwrap_or(b'{');
        let error = if self.too_large {
            DocumentError::TooLarge
        } else if let Some(flaw) = self.flaw.take() {
            if std::mem::replace(&mut self.in_garbage, self.base == 0) {
                return;
            }
            flaw
        } else if first != b'{' {
            DocumentError::NotAnObject { what: list::type_name(first) }
        } else {
            match std::str::from_utf8(&self.text) {
                Ok(text) => {
                    let parent = self.list.as_ref().filter(|_| self.base == 2);
                    // An element of a root array is an item of a list without a kind.
                    let array = Head::default();
                    let parent = parent.or((self.base == 1).then_some(&array));
                    list::settle(text, &self.head, parent, line, found);
                    self.in_garbage = false;
                    return;
                }
                Err(error) => DocumentError::InvalidUtf8 { byte: self.start.offset + error.valid_up_to() as u64 },
            }
        };
        found.push_back((line, Err(error)));
    }
}
