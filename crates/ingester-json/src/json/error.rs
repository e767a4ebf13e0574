//! A mistake in a JSON text and its place, as a path for people. The path is found by scanning the text again.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Expected, Unexpected};

use super::{Reader, scan};
use crate::place::{beginning, shortened};

/// Why a JSON text could not be read.
///
/// Displays as `spec.workers[0].minInstances: expected a number, found string "abc"`. Text that is not JSON
/// has its line and column too: `spec: line 3 column 7: expected ...`. At the root there is no path.
///
/// Errors of [`from_str`](super::from_str) and [`Reader::decode`](super::Reader::decode) know their path. Errors of the single steps of a
/// [`Reader`](super::Reader) know only their offset, until [`Error::locate`].
// Boxed: every step of the decoder returns it, so its size should be one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    category: Category,
    reason: String,
    /// Absent while the error comes from a visitor, which does not know where it is.
    offset: Option<usize>,
    path: String,
    /// Line and column, both from 1, of a syntax error.
    position: Option<(usize, usize)>,
    located: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Category {
    /// The text is not JSON.
    Syntax,
    /// The text is JSON, but not of the wanted type.
    Value,
}

impl Error {
    #[cold]
    fn new(category: Category, offset: Option<usize>, reason: String) -> Self {
        Self(Box::new(Inner { category, reason, offset, path: String::new(), position: None, located: false }))
    }

    #[cold]
    pub(super) fn syntax(offset: usize, reason: impl Into<String>) -> Self {
        Self::new(Category::Syntax, Some(offset), reason.into())
    }

    #[cold]
    /// A value that is wrong in its place, at this offset of the text.
    pub fn value(offset: usize, reason: impl Into<String>) -> Self {
        Self::new(Category::Value, Some(offset), reason.into())
    }

    /// The value at `offset` has a key that its object has already.
    #[cold]
    pub fn duplicate(offset: usize, key: &str) -> Self {
        Self::value(offset, format!("the key `{}` appears twice in the same object", shortened(key)))
    }

    /// Gives an error from a visitor the offset of the value that was read. The innermost value wins.
    #[cold]
    pub fn place(mut self, offset: usize) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Byte offset in the text: of the value for a wrong type, of the first wrong byte otherwise.
    pub fn offset(&self) -> usize {
        self.0.offset.unwrap_or(0)
    }

    /// The reason without the place: `expected a number, found string "abc"`.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Returns the path of the wrong value: `spec.workers[0].minInstances`, `metadata.labels["a.b/c"]`; empty at the root.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Works out the path, and the line and column of a syntax error, from the text that was read.
    /// An error that has been located already stays as it is.
    #[must_use]
    pub fn locate(mut self, text: &str) -> Self {
        let inner = &mut *self.0;
        if inner.located {
            return self;
        }
        inner.located = true;
        let offset = inner.offset.unwrap_or(0);
        inner.path = join(&inner.path, &path_at(text, offset));
        if inner.category == Category::Syntax {
            inner.position = Some(position_at(text, offset));
        }
        self
    }

    /// Puts `prefix` before the path, for a caller that decoded only one field's text: `spec`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: &str) -> Self {
        self.0.path = join(prefix, &self.0.path);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_empty() {
            write!(f, "{}: ", self.0.path)?;
        }
        if let Some((line, column)) = self.0.position {
            write!(f, "line {line} column {column}: ")?;
        }
        f.write_str(&self.0.reason)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Category::Value, None, message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("expected {expected}, found {}", unexpected(found)))
    }

    // The same words as for a wrong type: the difference is serde's, not the user's.
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    // One field may have two names, so this names the field, not the key.
    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(format_args!("the field `{field}` appears twice in the same object"))
    }
}

/// A value in the words of this module, where serde would say ``integer `7` ``.
fn unexpected(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("boolean {value}"),
        Unexpected::Unsigned(value) => format!("number {value}"),
        Unexpected::Signed(value) => format!("number {value}"),
        Unexpected::Float(value) => format!("number {value}"),
        Unexpected::Str(value) => format!("string {}", quoted(value)),
        Unexpected::Unit | Unexpected::Option => "null".to_owned(),
        Unexpected::Map => "an object".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        other => other.to_string(),
    }
}

/// A value, given as its JSON text, in the words of an error: `string "abc"`, `number 7`, `an object`.
pub(super) fn describe(raw: &str) -> String {
    let short = beginning(raw).map(|head| format!("{head}…"));
    let shown = short.as_deref().unwrap_or(raw);
    match raw.as_bytes().first() {
        Some(b'{') => "an object".to_owned(),
        Some(b'[') => "an array".to_owned(),
        // As it is written, with its escapes; the cut took the closing quote too.
        Some(b'"') if short.is_some() => format!("string {shown}\""),
        Some(b'"') => format!("string {shown}"),
        Some(b't' | b'f') => format!("boolean {shown}"),
        Some(b'n') => "null".to_owned(),
        _ => format!("number {shown}"),
    }
}

/// `"text"`, cut where it is long.
fn quoted(text: &str) -> String {
    beginning(text).map_or_else(|| format!("{text:?}"), |head| format!("{:?}", format!("{head}…")))
}

fn join(prefix: &str, path: &str) -> String {
    let dot = if prefix.is_empty() || path.is_empty() || path.starts_with('[') { "" } else { "." };
    format!("{prefix}{dot}{path}")
}

/// Line and column, both from 1; a column counts characters.
fn position_at(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
    (line, column)
}

/// One container around the offset, and which of its members is being read.
enum Step {
    Field { key: Option<Range<usize>>, done: bool },
    Item { index: usize, done: bool },
}

/// The path of the value that starts at or contains `offset`. Up to there the text is known to be JSON, so
/// this only has to follow brackets, commas and strings.
fn path_at(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let mut steps: Vec<Step> = Vec::new();
    let mut at = 0;
    while at < offset {
        let Some(&byte) = bytes.get(at) else { break };
        at += 1;
        match byte {
            b'{' => steps.push(Step::Field { key: None, done: false }),
            b'[' => steps.push(Step::Item { index: 0, done: false }),
            b'}' | b']' => {
                steps.pop();
                finish_member(&mut steps);
            }
            b',' => match steps.last_mut() {
                Some(Step::Field { key, done }) => {
                    *key = None;
                    *done = false;
                }
                Some(Step::Item { index, done }) => {
                    *index += 1;
                    *done = false;
                }
                None => {}
            },
            b'"' => {
                let start = at - 1;
                match scan::string_end(bytes, at) {
                    Some(end) if end <= offset => at = end,
                    _ => break,
                }
                match steps.last_mut() {
                    Some(Step::Field { key: key @ None, .. }) => *key = Some(start..at),
                    _ => finish_member(&mut steps),
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' | b':' => {}
            _ => {
                at = scan::word_end(bytes, at);
                // The offset lies inside of this word: the error is here.
                if at > offset {
                    break;
                }
                finish_member(&mut steps);
            }
        }
    }
    let mut path = String::new();
    for step in &steps {
        match step {
            Step::Field { key: Some(key), done: false } => {
                push_key(&mut path, text.get(key.clone()).unwrap_or_default())
            }
            Step::Item { index, done: false } => path.push_str(&format!("[{index}]")),
            Step::Field { .. } | Step::Item { .. } => {}
        }
    }
    path
}

/// A mistake between a value and the comma after it belongs to the container, not to the member.
fn finish_member(steps: &mut [Step]) {
    if let Some(Step::Field { done, .. } | Step::Item { done, .. }) = steps.last_mut() {
        *done = true;
    }
}

/// Adds a key, given as its JSON text with the quotes.
fn push_key(path: &mut String, token: &str) {
    push_name(path, &Reader::new(token).string().unwrap_or_default());
}

/// Adds a key to a path: `spec.name`, `metadata.labels["a.b/c"]`.
pub fn push_name(path: &mut String, key: &str) {
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && key.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
        && beginning(key).is_none();
    if !plain {
        path.push_str(&format!("[{}]", quoted(key)));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}
