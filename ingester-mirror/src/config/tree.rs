//! Parses the text of a configuration into a tree with line numbers. Values stay text: a password of digits is not a number,
//! and the key decides what a value means.

use super::error::Problem;
use serde_saphyr::granit_parser::{self, ErrorKind, Event, Parser, ScalarStyle, Tag};

/// The deepest nesting; no configuration needs more.
const MAX_DEPTH: usize = 32;

/// A value and the line where it begins, from 1.
#[derive(Debug)]
pub(super) struct YamlNode {
    pub(super) line: usize,
    pub(super) content: Content,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing, `~` or `null`.
    Null,
    /// A single value as it is written, with or without quotes.
    Text(String),
    List(Vec<YamlNode>),
    Map(Vec<MapEntry>),
}

/// One key of a map with its value.
#[derive(Debug)]
pub(super) struct MapEntry {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: YamlNode,
}

impl YamlNode {
    /// The value of a key; `None` if this is not a map, or does not have it.
    pub(super) fn get(&self, key: &str) -> Option<&YamlNode> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value),
            _ => None,
        }
    }
}

impl Content {
    /// What it is, for errors that must not repeat its text.
    pub(super) fn described(&self) -> &'static str {
        match self {
            Content::Null => "nothing",
            Content::Text(_) => "a single value",
            Content::List(_) => "a list",
            Content::Map(_) => "a map",
        }
    }
}

/// A list or map whose end was not read yet.
struct Open {
    line: usize,
    items: Items,
}

enum Items {
    List(Vec<YamlNode>),
    /// The entries, and the key whose value comes next.
    Map(Vec<MapEntry>, Option<(String, usize)>),
}

/// Reads `text`, which is one YAML document; an empty one is [`Content::Null`].
///
/// Errors never repeat the text, because it may be a password in a wrong place.
pub(super) fn read(text: &str) -> Result<YamlNode, Problem> {
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut documents = 0;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| Problem::at(error.marker().line(), wording(error.kind())))?;
        let line = span.start.line();
        let node = match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    return Err(Problem::at(line, "a second document begins here; a configuration is one document"));
                }
                continue;
            }
            Event::Scalar(text, style, anchor, tag) => {
                reject_anchor_and_tag(line, anchor, tag.as_deref())?;
                let null = style == ScalarStyle::Plain
                    && tag.is_none()
                    && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                if let Some(Open { items: Items::Map(_, key @ None), .. }) = open.last_mut() {
                    *key = Some((text.into_owned(), line));
                    continue;
                }
                YamlNode { line, content: if null { Content::Null } else { Content::Text(text.into_owned()) } }
            }
            Event::SequenceStart(_, anchor, tag) => {
                reject_anchor_and_tag(line, anchor, tag.as_deref())?;
                open.push(Open { line, items: Items::List(Vec::new()) });
                continue;
            }
            Event::MappingStart(_, anchor, tag) => {
                reject_anchor_and_tag(line, anchor, tag.as_deref())?;
                open.push(Open { line, items: Items::Map(Vec::new(), None) });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open { line, items: Items::List(items) }) => YamlNode { line, content: Content::List(items) },
                Some(Open { line, items: Items::Map(entries, _) }) => YamlNode { line, content: Content::Map(entries) },
                None => continue,
            },
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let message =
                    "an alias is not understood here; write the value itself, and quote a text that begins with `*`";
                return Err(Problem::at(line, message));
            }
            _ => continue,
        };
        match open.last_mut().map(|open| &mut open.items) {
            None => root = Some(node),
            Some(Items::List(items)) => items.push(node),
            Some(Items::Map(entries, key)) => match key.take() {
                Some((key, line)) => entries.push(MapEntry { key, line, value: node }),
                None => return Err(Problem::at(line, "a key must be a single word, neither a list nor a map")),
            },
        }
    }
    Ok(root.unwrap_or(YamlNode { line: 1, content: Content::Null }))
}

/// Rejects anchors and tags. A configuration does not need them, but a password without quotes may look like one.
fn reject_anchor_and_tag(line: usize, anchor: usize, tag: Option<&Tag>) -> Result<(), Problem> {
    if anchor != 0 {
        let message = "an anchor is not understood here; quote a text that begins with `&`";
        return Err(Problem::at(line, message));
    }
    if tag.is_some_and(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() != Some("str")) {
        let message = "a tag is not understood here; quote a text that begins with `!`";
        return Err(Problem::at(line, message));
    }
    Ok(())
}

/// The parser's message, without the character that it found.
fn wording(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::RecursionLimitExceeded => "values are nested too deeply".into(),
        ErrorKind::UnexpectedCharacter { .. } => "no text may begin with this character; put it in quotes".into(),
        ErrorKind::UndeclaredTagHandle | ErrorKind::InvalidTagTerminator => {
            "a tag is not understood here; quote a text that begins with `!`".into()
        }
        kind => format!("this is no YAML: {kind}"),
    }
}
