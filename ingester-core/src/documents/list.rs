//! The rules of `List` objects: which object is one, what its items inherit, and unpacking one that is held whole.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{DocumentError, Found};

/// What the root of an object says about it.
#[derive(Debug, Default, Clone)]
pub(super) struct Head {
    pub(super) kind: Option<String>,
    pub(super) api_version: Option<String>,
    pub(super) items: Items,
}

/// What stands under `items`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    #[default]
    Absent,
    Null,
    Array,
    Other,
}

impl Items {
    /// By the first byte of the JSON value.
    pub(super) fn of(first: u8) -> Items {
        match first {
            b'[' => Items::Array,
            b'n' => Items::Null,
            _ => Items::Other,
        }
    }
}

impl Head {
    /// Whether `items` of this object would be those of a list, as far as `kind` is known.
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

/// The type of a JSON value by its first byte, with its article.
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

/// Hands out one object as what it is: itself, the items of a list, or nothing when that list is empty.
///
/// `parent` is the list that the object was streamed out of. An item counts as a list by its kind only; at the root
/// `items` without any `kind` is enough.
pub(super) fn settle(text: &str, head: &Head, parent: Option<&Head>, line: u64, found: &mut Found) {
    let unpacks = head.is_list() || (parent.is_none() && head.kind.is_none());
    match head.items {
        Items::Array if unpacks => unpack(text, head, u32::from(parent.is_some()), line, found),
        Items::Null if head.is_list() => {}
        _ => found.push_back((line, Ok(complete(text, head, parent)))),
    }
}

/// Hands out the elements of an array held whole.
pub(super) fn unpack_array(text: &str, line: u64, found: &mut Found) {
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(items) => each(text, &items, None, 0, line, found),
        Err(error) => found.push_back((line, Err(syntax(&error, line)))),
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// What an item says about itself. Raw, because a `kind` of the wrong type is the consumer's to complain about.
#[derive(Deserialize)]
struct RawHead<'a> {
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, rename = "apiVersion")]
    api_version: Option<&'a RawValue>,
    #[serde(borrow)]
    items: Option<&'a RawValue>,
}

fn unpack(text: &str, head: &Head, level: u32, line: u64, found: &mut Found) {
    match serde_json::from_str::<Body<'_>>(text) {
        Ok(body) => each(text, &body.items, Some(head), level, line, found),
        Err(error) => found.push_back((line, Err(syntax(&error, line)))),
    }
}

fn each(text: &str, items: &[&RawValue], list: Option<&Head>, level: u32, line: u64, found: &mut Found) {
    let mut line = line;
    let mut before = text.as_bytes();
    for raw in items {
        // The item is a slice of `text`: what lies between it and the item before may hold line feeds.
        let start = (raw.get().as_ptr() as usize).saturating_sub(before.as_ptr() as usize).min(before.len());
        line += newlines(&before[..start]);
        before = &before[start..];
        let json = raw.get();
        let first = json.as_bytes().first().copied().unwrap_or(b'n');
        if first != b'{' {
            found.push_back((line, Err(DocumentError::NotAnObject { what: type_name(first) })));
            continue;
        }
        match serde_json::from_str::<RawHead<'_>>(json) {
            Ok(raw) => {
                let text_of = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
                let first = |raw: &RawValue| raw.get().as_bytes().first().copied().unwrap_or(b'n');
                let head = Head {
                    kind: text_of(raw.kind),
                    api_version: text_of(raw.api_version),
                    items: raw.items.map_or(Items::Absent, |items| Items::of(first(items))),
                };
                match head.items {
                    Items::Array if head.is_list() && level == 0 => unpack(json, &head, level + 1, line, found),
                    Items::Array if head.is_list() => found.push_back((line, Err(DocumentError::NestedList))),
                    _ => found.push_back((line, Ok(complete(json, &head, list)))),
                }
            }
            Err(error) => found.push_back((line, Err(syntax(&error, line)))),
        }
    }
}

pub(super) fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

fn syntax(error: &serde_json::Error, line: u64) -> DocumentError {
    // `serde_json` ends its message with the place inside this text; the place in the file replaces it.
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what).to_owned();
    let below = (error.line() as u64).saturating_sub(1);
    DocumentError::Syntax { line: line + below, column: error.column() as u64, message }
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
