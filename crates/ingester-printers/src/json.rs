//! JSON as kubectl writes it: sorted keys, four spaces, and the escapes of Go's `encoding/json`, with more of them.
//!
//! May use: number, obeyed, tree.

use crate::Tree;
use crate::number;
use crate::obeyed::is_obeyed;

/// The text that begins a `List`; its items follow, each by [`item`], and then [`LIST_END`] or [`EMPTY_LIST_END`].
pub const LIST_BEGIN: &str = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [";

/// The text after the items.
pub const LIST_END: &str =
    "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n";

/// The text of the end without items.
pub const EMPTY_LIST_END: &str =
    "],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n";

/// An object on its own, with a line's end.
pub fn pretty(tree: &Tree) -> String {
    let mut out = String::new();
    write(tree, Some(0), &mut out);
    out.push('\n');
    out
}

/// An item of a `List`, the `first` one or a later one.
pub fn item(tree: &Tree, first: bool) -> String {
    let mut out = String::from(if first { "" } else { "," });
    line(2, &mut out);
    write(tree, Some(2), &mut out);
    out
}

/// A value in one line, without spaces.
pub fn compact(tree: &Tree) -> String {
    let mut out = String::new();
    write(tree, None, &mut out);
    out
}

fn line(depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("    ", depth));
}

/// Writes a value; with a depth, each entry on its own line.
fn write(tree: &Tree, depth: Option<usize>, out: &mut String) {
    let separate = |depth: Option<usize>, first: bool, out: &mut String| {
        if !first {
            out.push(',');
        }
        if let Some(depth) = depth {
            line(depth + 1, out);
        }
    };
    let inner = depth.map(|depth| depth + 1);
    match tree {
        Tree::Null => out.push_str("null"),
        Tree::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Tree::Int(value) => out.push_str(&value.to_string()),
        Tree::UInt(value) => out.push_str(&value.to_string()),
        Tree::Whole(digits) => out.push_str(digits),
        Tree::Float(value) => out.push_str(&number::json(*value)),
        Tree::Text(text) => quote(text, out),
        Tree::List(values) => {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                separate(depth, i == 0, out);
                write(value, inner, out);
            }
            if let (Some(depth), false) = (depth, values.is_empty()) {
                line(depth, out);
            }
            out.push(']');
        }
        Tree::Map(entries) => {
            out.push('{');
            for (i, (key, value)) in entries.iter().enumerate() {
                separate(depth, i == 0, out);
                quote(key, out);
                out.push_str(if depth.is_some() { ": " } else { ":" });
                write(value, inner, out);
            }
            if let (Some(depth), false) = (depth, entries.is_empty()) {
                line(depth, out);
            }
            out.push('}');
        }
    }
}

/// A text in quotes. Go escapes characters that have a meaning in HTML and JavaScript; characters that a terminal obeys are escaped, too.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ if is_obeyed(character) => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}
