//! The rules of `List` objects: which object is one, what its items inherit, and unpacking one that is held whole.

use std::collections::HashSet;

use super::source::newlines;
use super::{DocumentError, Finding, Findings};
use ingester_core::json::{self, Reader, TokenKind};

/// The parts of an object's root that decide whether it is a list.
#[derive(Debug, Default, Clone)]
pub(super) struct Head {
    /// Empty if it is not a string.
    pub(super) kind: Option<String>,
    pub(super) api_version: Option<String>,
    pub(super) items: Items,
}

/// The value of `items`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    #[default]
    Absent,
    Null,
    Array,
    Other,
}

impl Head {
    /// Reads the head of an object's text, which may break off.
    pub(super) fn parse(text: &str) -> Head {
        let mut head = Head::default();
        // Everything that was read before a mistake stays.
        let _ = head.read(&mut Reader::new(text));
        head
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), json::Error> {
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match key.as_ref() {
                "kind" => self.kind = read_text(reader)?,
                "apiVersion" => self.api_version = read_text(reader)?,
                "items" => {
                    self.items = match reader.peek()? {
                        TokenKind::Array => Items::Array,
                        TokenKind::Null => Items::Null,
                        _ => Items::Other,
                    };
                    reader.skip()?;
                }
                _ => reader.skip()?,
            }
            // The items of an object that is not a list are not needed.
            if self.api_version.is_some() && !self.may_be_list() {
                break;
            }
        }
        Ok(())
    }

    /// Returns true if `items` of this object would be the items of a list, as far as `kind` is known.
    pub(super) fn may_be_list(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind.ends_with("List"))
    }

    fn is_list(&self) -> bool {
        self.kind.is_some() && self.may_be_list()
    }

    /// The kind of the items, when the list is a typed one: `Pod` for `PodList`, none for `List`.
    fn item_kind(&self) -> Option<&str> {
        self.kind.as_deref()?.strip_suffix("List").filter(|kind| !kind.is_empty())
    }
}

/// A string; `None` for null. Anything else reads as empty: the consumer reports it.
fn read_text(reader: &mut Reader<'_>) -> Result<Option<String>, json::Error> {
    match reader.peek()? {
        TokenKind::String => reader.string().map(|text| Some(text.into_owned())),
        TokenKind::Null => reader.null().map(|()| None),
        _ => reader.skip().map(|()| Some(String::new())),
    }
}

/// The keys of an object's text.
pub(super) fn keys(text: &str) -> HashSet<String> {
    let mut keys = HashSet::new();
    let mut reader = Reader::new(text);
    if reader.begin_object().is_ok() {
        while let Ok(Some(key)) = reader.next_key() {
            keys.insert(key.into_owned());
            if reader.skip().is_err() {
                break;
            }
        }
    }
    keys
}

/// Returns the type of a JSON value, judged from its first byte, with its article.
pub(super) fn type_name(first: u8) -> &'static str {
    match first {
        b'{' => "an object",
        b'[' => "a list",
        b'"' => "a string",
        b't' | b'f' => "a boolean",
        b'n' => "null",
        _ => "a number",
    }
}

/// Hands out an object: as itself, as the items of a list, or not at all if it is an empty list.
///
/// `parent` is the list that the object was streamed out of. An item counts as a list only because of its kind; at the root `items` without
/// any `kind` is enough.
pub(super) fn settle(text: &str, head: &Head, parent: Option<&Head>, line: u64, found: &mut Findings) {
    let unpacks = head.is_list() || (parent.is_none() && head.kind.is_none());
    match head.items {
        Items::Array if unpacks => {
            let level = u32::from(parent.is_some());
            settled(unpack(text, head, level, line, found), line, found);
        }
        Items::Null if head.is_list() => {}
        _ => found.push_back(Finding::object(line, complete(text, head, parent))),
    }
}

/// Hands out the elements of an array held whole.
pub(super) fn unpack_array(text: &str, line: u64, found: &mut Findings) {
    settled(each(&mut Reader::new(text), None, 0, line, found), line, found);
}

/// The text is JSON, but aliases of YAML may nest it deeper than [`MAX_DEPTH`](json::MAX_DEPTH).
fn settled(result: Result<(), json::Error>, line: u64, found: &mut Findings) {
    if let Err(error) = result {
        let message = error.reason().to_owned();
        found.push_back(Finding::failure(line, DocumentError::Syntax { line, column: 1, message }));
    }
}

fn unpack(text: &str, list: &Head, level: u32, line: u64, found: &mut Findings) -> Result<(), json::Error> {
    let mut reader = Reader::new(text);
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        match key.as_ref() {
            "items" => each(&mut reader, Some(list), level, line, found)?,
            _ => reader.skip()?,
        }
    }
    Ok(())
}

/// Hands out the elements of the array that comes next; the reader's text begins on `line`.
fn each(
    reader: &mut Reader<'_>,
    list: Option<&Head>,
    level: u32,
    mut line: u64,
    found: &mut Findings,
) -> Result<(), json::Error> {
    let text = reader.text().as_bytes();
    let mut counted = 0;
    reader.begin_array()?;
    while reader.next_element()? {
        let start = reader.offset();
        line += newlines(&text[counted..start]);
        counted = start;
        let item = reader.raw()?;
        let first = text[start];
        if first != b'{' {
            found.push_back(Finding::failure(line, DocumentError::NotAnObject { what: type_name(first) }));
            continue;
        }
        let head = Head::parse(item);
        match head.items {
            Items::Array if head.is_list() && level == 0 => unpack(item, &head, level + 1, line, found)?,
            Items::Array if head.is_list() => found.push_back(Finding::failure(line, DocumentError::NestedList)),
            _ => found.push_back(Finding::object(line, complete(item, &head, list))),
        }
    }
    Ok(())
}

/// The text of an item with the `apiVersion` and `kind` that a typed list states once for all of its items.
fn complete(text: &str, head: &Head, list: Option<&Head>) -> String {
    let Some((list, kind)) = list.and_then(|list| Some((list, list.item_kind()?))) else {
        return text.to_owned();
    };
    let mut added = String::new();
    let missing_version = list.api_version.as_deref().filter(|_| head.api_version.is_none());
    let missing_kind = Some(kind).filter(|_| head.kind.is_none());
    for (key, value) in [("\"apiVersion\":", missing_version), ("\"kind\":", missing_kind)] {
        if let Some(value) = value {
            added.push_str(key);
            super::compose::push_string(&mut added, value);
            added.push(',');
        }
    }
    let rest = text.strip_prefix('{').unwrap_or(text);
    if rest.trim_start().starts_with('}') {
        added.pop();
    }
    format!("{{{added}{rest}")
}
