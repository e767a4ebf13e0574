//! A pull tokenizer over JSON text: the caller says what it expects next and gets it, or an error.

use std::borrow::Cow;

use super::error::describe;
use super::grammar::{Nesting, Phase};
use super::number::Fault;
use super::{Error, MAX_DEPTH, scan};

/// The kinds of JSON values, as told by the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// A digit or a minus sign.
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

/// A position in JSON text, and what may come next there.
///
/// Values are taken with [`string`](Self::string), [`number`](Self::number), [`bool`](Self::bool),
/// [`null`](Self::null), [`skip`](Self::skip), [`raw`](Self::raw) or [`pass`](Self::pass); containers are opened with
/// [`begin_object`](Self::begin_object) and [`begin_array`](Self::begin_array) and then walked with
/// [`next_key`](Self::next_key) and [`next_element`](Self::next_element), which also take the brackets' ends.
/// Steps in a wrong order are errors, never panics. After an error the reader is of no further use. A clone is a
/// bookmark, and cheap.
///
/// # Errors
/// Every method fails on text that is not JSON; taking a value fails where another kind of value stands.
/// The errors carry an offset into the text, see [`Error::locate`].
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    text: &'a str,
    pos: usize,
    /// Never [`Phase::Key`] or [`Phase::Colon`] between two steps: a key is taken together with its comma and colon.
    phase: Phase,
    nesting: Nesting,
}

impl<'a> Reader<'a> {
    /// A reader of the whole text, which is one value with white space around it.
    pub fn new(text: &'a str) -> Self {
        let mut reader = Self { text, pos: 0, phase: Phase::Value, nesting: Nesting::default() };
        reader.white();
        reader
    }

    /// A reader of an object's members from `place` on, where another member of that object, the root, has ended.
    pub fn after_member(text: &'a str, place: usize) -> Self {
        Self { text, pos: place, phase: Phase::After, nesting: Nesting::of_object() }
    }

    /// Byte offset in the text. Before a value, the offset of the value's first byte.
    #[inline]
    pub fn offset(&self) -> usize {
        self.pos
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The kind of the value that comes next.
    #[inline]
    pub fn peek(&self) -> Result<TokenKind, Error> {
        self.at_value()?;
        match self.byte() {
            b'{' => Ok(TokenKind::Object),
            b'[' => Ok(TokenKind::Array),
            b'"' => Ok(TokenKind::String),
            b'-' | b'0'..=b'9' => Ok(TokenKind::Number),
            b't' | b'f' => Ok(TokenKind::Bool),
            b'n' => Ok(TokenKind::Null),
            _ => Err(self.expected(Phase::Value)),
        }
    }

    /// True if null comes next, as far as the first byte tells.
    #[inline]
    pub(super) fn at_null(&self) -> bool {
        self.phase == Phase::Value && self.byte() == b'n'
    }

    /// Opens an object. Fails also if it is nested deeper than [`MAX_DEPTH`].
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), Error> {
        self.begin(b'{', "an object")?;
        self.push(true)
    }

    /// Takes the next key of the object with its colon; its value comes next. `None` at the end of the object, which is
    /// left.
    #[inline]
    pub fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        if !self.next_member(true)? {
            return Ok(None);
        }
        if self.byte() != b'"' {
            return Err(self.expected(Phase::Key));
        }
        self.pos += 1;
        let key = self.string_body()?;
        self.colon()?;
        Ok(Some(key))
    }

    /// Opens an array. Fails also if it is nested deeper than [`MAX_DEPTH`].
    #[inline]
    pub fn begin_array(&mut self) -> Result<(), Error> {
        self.begin(b'[', "an array")?;
        self.push(false)
    }

    /// Returns true if the array has one more element, which comes next. Returns false at the end of the array and leaves it.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, Error> {
        let more = self.next_member(false)?;
        if more {
            self.phase = Phase::Value;
        }
        Ok(more)
    }

    /// A string; borrowed from the text unless it has escapes. Half of a surrogate pair is an error.
    #[inline]
    pub fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        self.begin(b'"', "a string")?;
        self.pos += 1;
        let value = self.string_body()?;
        self.phase = Phase::After;
        Ok(value)
    }

    /// The text of a number, in JSON's grammar: no plus sign, no leading zeros, digits around a point. One that is beyond a 64-bit
    /// float is an error.
    #[inline]
    pub fn number(&mut self) -> Result<&'a str, Error> {
        self.at_value()?;
        if !matches!(self.byte(), b'-' | b'0'..=b'9') {
            return Err(self.mismatch("a number"));
        }
        let start = self.pos;
        self.skip_number()?;
        self.phase = Phase::After;
        Ok(self.since(start))
    }

    /// A boolean.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, Error> {
        self.at_value()?;
        let value = match self.byte() {
            b't' => true,
            b'f' => false,
            _ => return Err(self.mismatch("a boolean")),
        };
        self.literal(if value { "true" } else { "false" })?;
        self.phase = Phase::After;
        Ok(value)
    }

    /// A null.
    #[inline]
    pub fn null(&mut self) -> Result<(), Error> {
        self.begin(b'n', "null")?;
        self.literal("null")?;
        self.phase = Phase::After;
        Ok(())
    }

    /// Passes over a value of any kind, checking all of it. Fails also if it is nested deeper than
    /// [`MAX_DEPTH`], counted from the root.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.at_value()?;
        let outside = self.nesting.depth();
        loop {
            match self.byte() {
                b'"' => {
                    self.pos += 1;
                    self.skip_string_body()?;
                }
                b'{' => {
                    self.push(true)?;
                    self.white();
                    if self.byte() != b'}' {
                        self.skip_key()?;
                        continue;
                    }
                    self.pop();
                }
                b'[' => {
                    self.push(false)?;
                    self.white();
                    if self.byte() != b']' {
                        continue;
                    }
                    self.pop();
                }
                b'-' | b'0'..=b'9' => self.skip_number()?,
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                _ => return Err(self.expected(Phase::Value)),
            }
            // A value is over; so may be the containers that it was the last member of.
            loop {
                if self.nesting.depth() == outside {
                    self.phase = Phase::After;
                    return Ok(());
                }
                self.white();
                let in_object = self.nesting.in_object();
                match (self.byte(), in_object) {
                    (b',', _) => {
                        self.pos += 1;
                        self.white();
                        if in_object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => self.pop(),
                    _ => return Err(self.expected(Phase::After)),
                }
            }
        }
    }

    /// Passes over a value of any kind like [`skip`](Self::skip) and gives its text, without white space around.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a str, Error> {
        let start = self.pos;
        self.skip()?;
        Ok(self.since(start))
    }

    /// Takes a value of any kind, as kubectl prints it: a string without quotes and escapes, a number or a truth as it is written, an array
    /// or an object without white space between its parts.
    pub fn printed(&mut self) -> Result<Cow<'a, str>, Error> {
        match self.peek()? {
            TokenKind::String => self.string(),
            TokenKind::Number | TokenKind::Bool | TokenKind::Null => self.raw().map(Cow::Borrowed),
            TokenKind::Object | TokenKind::Array => self.raw().map(|raw| without_white_space(raw).into()),
        }
    }

    /// Passes over a value of any kind and of any depth and gives its text, without white space around. Only strings and
    /// brackets are looked at: the text is checked when it is read itself. Fails where the value does not end.
    pub fn pass(&mut self) -> Result<&'a str, Error> {
        self.peek()?;
        let start = self.pos;
        let Some(end) = scan::value_end(self.text.as_bytes(), start) else {
            self.pos = self.text.len();
            return Err(self.unexpected("the end of the value"));
        };
        self.pos = end;
        self.phase = Phase::After;
        Ok(self.since(start))
    }

    /// Checks that the value of the root was read to its end and only white space follows.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.phase != Phase::After || self.nesting.depth() != 0 {
            return Err(Error::syntax(self.pos, "the value was not read to its end"));
        }
        self.white();
        if self.pos == self.text.len() { Ok(()) } else { Err(self.unexpected("the end of the text")) }
    }

    /// The text from `start`, which like the current position must be next to an ASCII character.
    #[inline]
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.pos).unwrap_or_default()
    }

    /// An error for the value that comes next: `expected a string, found number 7`.
    #[cold]
    pub fn mismatch(&self, wanted: &str) -> Error {
        let mut rest = self.clone();
        // Text that is not JSON is the more basic mistake.
        match rest.raw() {
            Ok(raw) => Error::value(self.pos, format!("expected {wanted}, found {}", describe(raw))),
            Err(error) => error,
        }
    }

    /// A syntax error at the current position, where the grammar allows `phase`.
    #[cold]
    fn expected(&self, phase: Phase) -> Error {
        self.unexpected(phase.wanted(self.nesting.in_object()))
    }

    /// A syntax error at the current position, where the grammar wants something else.
    #[cold]
    fn unexpected(&self, wanted: &str) -> Error {
        let found = match self.text.get(self.pos..).and_then(|rest| rest.chars().next()) {
            Some(char) => format!("{char:?}"),
            None => "the end of the text".to_owned(),
        };
        Error::syntax(self.pos, format!("expected {wanted}, found {found}"))
    }

    /// The current byte, or 0 at the end of the text: no token starts with it.
    #[inline]
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    #[inline]
    fn white(&mut self) {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.pos += 1;
        }
    }

    #[inline]
    fn at_value(&self) -> Result<(), Error> {
        if self.phase == Phase::Value { Ok(()) } else { Err(Error::syntax(self.pos, "no value can be read here")) }
    }

    /// Checks that the value that comes next starts with `first`.
    #[inline]
    fn begin(&self, first: u8, wanted: &str) -> Result<(), Error> {
        self.at_value()?;
        if self.byte() == first { Ok(()) } else { Err(self.mismatch(wanted)) }
    }

    /// Takes an opening bracket.
    #[inline]
    fn push(&mut self, object: bool) -> Result<(), Error> {
        if !self.nesting.push(object) {
            return Err(Error::syntax(self.pos, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.pos += 1;
        self.phase = Phase::Open;
        Ok(())
    }

    /// Takes a closing bracket.
    #[inline]
    fn pop(&mut self) {
        self.pos += 1;
        self.nesting.pop();
        self.phase = Phase::After;
    }

    /// Goes to the next key or element, or leaves the container at its end.
    #[inline]
    fn next_member(&mut self, object: bool) -> Result<bool, Error> {
        if self.phase == Phase::Value || self.nesting.depth() == 0 || self.nesting.in_object() != object {
            return Err(Error::syntax(self.pos, "no member can be read here"));
        }
        self.white();
        let byte = self.byte();
        if byte == if object { b'}' } else { b']' } {
            self.pop();
            return Ok(false);
        }
        if self.phase == Phase::After {
            if byte != b',' {
                return Err(self.expected(Phase::After));
            }
            self.pos += 1;
            self.white();
        }
        Ok(true)
    }

    /// Takes the colon after a key, up to the value.
    #[inline]
    fn colon(&mut self) -> Result<(), Error> {
        self.white();
        if self.byte() != b':' {
            return Err(self.expected(Phase::Colon));
        }
        self.pos += 1;
        self.white();
        self.phase = Phase::Value;
        Ok(())
    }

    #[inline]
    fn skip_key(&mut self) -> Result<(), Error> {
        if self.byte() != b'"' {
            return Err(self.expected(Phase::Key));
        }
        self.pos += 1;
        self.skip_string_body()?;
        self.colon()
    }

    #[inline]
    fn literal(&mut self, word: &str) -> Result<(), Error> {
        let rest = self.text.as_bytes().get(self.pos..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(Error::syntax(self.pos, format!("expected {word}")));
        }
        self.pos += word.len();
        Ok(())
    }

    #[inline]
    fn skip_number(&mut self) -> Result<(), Error> {
        match scan::number_end(self.text.as_bytes(), self.pos) {
            Ok(end) => {
                let start = std::mem::replace(&mut self.pos, end);
                let number = self.since(start);
                if scan::may_be_infinite(number) && number.parse().is_ok_and(f64::is_infinite) {
                    return Err(Fault::Range.into_error::<f64>(start, number));
                }
                Ok(())
            }
            // Reported at the start of the number, so that the path is the number's.
            Err(wrong) => {
                let start = std::mem::replace(&mut self.pos, wrong);
                Err(Error::syntax(start, self.unexpected("a digit").reason()))
            }
        }
    }

    /// The rest of a string after its opening quote.
    #[inline]
    fn string_body(&mut self) -> Result<Cow<'a, str>, Error> {
        let start = self.pos;
        self.pos = scan::plain_end(self.text.as_bytes(), start);
        if self.byte() == b'"' {
            let body = self.since(start);
            self.pos += 1;
            return Ok(Cow::Borrowed(body));
        }
        self.unescape(start).map(Cow::Owned)
    }

    /// The rest of a string that is plain from `start` up to the current position.
    fn unescape(&mut self, mut start: usize) -> Result<String, Error> {
        let mut value = String::new();
        loop {
            value.push_str(self.since(start));
            match self.byte() {
                b'"' => {
                    self.pos += 1;
                    return Ok(value);
                }
                b'\\' => value.push(self.escape()?),
                _ => return Err(self.bad_character()),
            }
            start = self.pos;
            self.pos = scan::plain_end(self.text.as_bytes(), start);
        }
    }

    #[inline]
    fn skip_string_body(&mut self) -> Result<(), Error> {
        loop {
            self.pos = scan::plain_end(self.text.as_bytes(), self.pos);
            match self.byte() {
                b'"' => {
                    self.pos += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.escape()?;
                }
                _ => return Err(self.bad_character()),
            }
        }
    }

    #[cold]
    fn bad_character(&self) -> Error {
        match self.byte() {
            _ if self.pos == self.text.len() => self.unexpected("a closing quote"),
            // A forgotten quote, most likely.
            b'\n' | b'\r' => Error::syntax(self.pos, "expected a closing quote, found the end of the line"),
            _ => self.unexpected("no control character in a string"),
        }
    }

    /// Takes an escape, from its backslash.
    fn escape(&mut self) -> Result<char, Error> {
        let (char, end) = scan::escape(self.text.as_bytes(), self.pos)
            .ok_or_else(|| Error::syntax(self.pos, "invalid escape in a string"))?;
        let half = || {
            Error::value(
                self.pos,
                "a string has half of a surrogate pair (`\\ud800` to `\\udfff` alone), which is not a character",
            )
        };
        let char = char.ok_or_else(half)?;
        self.pos = end;
        Ok(char)
    }
}

/// JSON text without the white space outside of its strings.
fn without_white_space(json: &str) -> String {
    let mut in_string = false;
    let mut is_escaped = false;
    let keeps = |c: &char| {
        let stays = in_string || !c.is_ascii_whitespace();
        in_string ^= *c == '"' && !is_escaped;
        is_escaped = in_string && *c == '\\' && !is_escaped;
        stays
    };
    json.chars().filter(keeps).collect()
}
