//! Taking the keys of a stanza one by one: what was asked for is known, what is left over is unknown.

use super::error::Problem;
use super::secret::Secret;
use super::tree::{Content, Entry, Node};
use ingester_core::nearest::nearest;
use std::collections::BTreeMap;

/// What was found while reading, to be reported together.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    /// Full paths of every key that was asked for.
    pub(super) known: Vec<String>,
    unknown: Vec<Unknown>,
}

#[derive(Debug)]
struct Unknown {
    line: usize,
    stanza: String,
    key: String,
    /// The keys of the same stanza.
    beside: Vec<&'static str>,
}

impl Findings {
    /// Everything that is wrong. Unknown keys are named last, when the keys of all stanzas are known.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let Findings { mut problems, known, unknown } = self;
        for unknown in unknown {
            let path = join(&unknown.stanza, &shown_key(&unknown.key));
            let elsewhere: Vec<&str> = known.iter().filter_map(|path| Some(path.rsplit_once('.')?.1)).collect();
            let hint = if unknown.key.contains(':') {
                "write a blank after the colon".to_owned()
            } else if let Some(key) = nearest(&unknown.key, &unknown.beside) {
                format!("did you mean `{key}`?")
            } else if let Some(key) = nearest(&unknown.key, &elsewhere) {
                let path = known.iter().find(|path| path.rsplit_once('.').is_some_and(|(_, last)| last == key));
                format!("did you mean `{}`?", path.map_or(key, String::as_str))
            } else {
                let place = if unknown.stanza.is_empty() { "the file" } else { unknown.stanza.as_str() };
                format!("{place} may have {}", unknown.beside.join(", "))
            };
            problems.push(Problem::at(unknown.line, format!("unknown key `{path}`; {hint}")));
        }
        problems
    }
}

/// A map of the configuration whose keys are fixed.
pub(super) struct Stanza<'f> {
    path: String,
    entries: BTreeMap<String, Entry>,
    asked: Vec<&'static str>,
    findings: &'f mut Findings,
}

/// Reads `node`, the map at `path`, with `read`; then whatever `read` did not ask for is unknown.
pub(super) fn stanza(path: String, node: Node, findings: &mut Findings, read: impl FnOnce(&mut Stanza<'_>)) {
    let entries = match node.content {
        Content::Null => BTreeMap::new(),
        Content::Map(entries) => unique(&path, entries, findings),
        other => {
            let what = if path.is_empty() { "the configuration".to_owned() } else { format!("`{path}`") };
            let message = format!("{what} is {}; use a map of keys and values", other.described());
            findings.problems.push(Problem::at(node.line, message));
            BTreeMap::new()
        }
    };
    let mut stanza = Stanza { path, entries, asked: Vec::new(), findings };
    read(&mut stanza);
    let Stanza { path, entries, asked, findings } = stanza;
    findings.unknown.extend(entries.into_values().map(|entry| Unknown {
        line: entry.line,
        stanza: path.clone(),
        key: entry.key,
        beside: asked.clone(),
    }));
}

/// The entries by key; a key that stands twice is a mistake.
fn unique(path: &str, entries: Vec<Entry>, findings: &mut Findings) -> BTreeMap<String, Entry> {
    let mut by_key: BTreeMap<String, Entry> = BTreeMap::new();
    for entry in entries {
        if let Some(first) = by_key.get(&entry.key) {
            let path = join(path, &shown_key(&entry.key));
            let message = format!("`{path}` stands twice, first in line {}; remove one of them", first.line);
            findings.problems.push(Problem::at(entry.line, message));
            continue;
        }
        by_key.insert(entry.key.clone(), entry);
    }
    by_key
}

impl Stanza<'_> {
    /// Takes the value of `key`, if it has one.
    fn take(&mut self, key: &'static str) -> Option<(String, Node)> {
        let path = join(&self.path, key);
        self.asked.push(key);
        self.findings.known.push(path.clone());
        let node = self.entries.remove(key)?.value;
        if matches!(node.content, Content::Null) { None } else { Some((path, node)) }
    }

    fn wrong(&mut self, line: usize, message: String) {
        self.findings.problems.push(Problem::at(line, message));
    }

    /// Reads a stanza in this one.
    pub(super) fn stanza(&mut self, key: &'static str, read: impl FnOnce(&mut Stanza<'_>)) {
        let path = join(&self.path, key);
        self.asked.push(key);
        let node = self.entries.remove(key).map_or(Node { line: 0, content: Content::Null }, |entry| entry.value);
        stanza(path, node, self.findings, read);
    }

    /// Reads a single value into `into`, which keeps what it has where the key is absent or wrong. `read` returns what
    /// is allowed where it cannot take the text.
    pub(super) fn read<T>(&mut self, key: &'static str, into: &mut T, read: impl FnOnce(&str) -> Result<T, String>) {
        let Some((path, node)) = self.take(key) else { return };
        match single(&path, &node, read) {
            Ok(value) => *into = value,
            Err(message) => self.wrong(node.line, message),
        }
    }

    /// Reads a text that no message may repeat; an empty one is none.
    pub(super) fn secret(&mut self, key: &'static str, into: &mut Option<Secret>) {
        let Some((path, node)) = self.take(key) else { return };
        match node.content {
            Content::Text(text) => *into = (!text.is_empty()).then(|| Secret::from(text)),
            other => self.wrong(node.line, format!("`{path}` is {}; use a text in quotes", other.described())),
        }
    }

    /// Reads a list of single values, each of them once.
    pub(super) fn list(
        &mut self,
        key: &'static str,
        into: &mut Vec<String>,
        read: impl Fn(&str) -> Result<String, String>,
    ) {
        let Some((path, node)) = self.take(key) else { return };
        let Content::List(items) = node.content else {
            return self.wrong(node.line, format!("`{path}` is {}; use a list", node.content.described()));
        };
        into.clear();
        for (number, item) in items.iter().enumerate() {
            match single(&format!("{path}[{number}]"), item, &read) {
                Ok(value) if into.contains(&value) => {
                    self.wrong(item.line, format!("`{path}` has `{value}` twice; remove one of them"));
                }
                Ok(value) => into.push(value),
                Err(message) => self.wrong(item.line, message),
            }
        }
    }

    /// Reads a map from names that `name` knows to single values.
    pub(super) fn map<T>(
        &mut self,
        key: &'static str,
        into: &mut BTreeMap<String, T>,
        name: impl Fn(&str) -> Result<String, String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) {
        let Some((path, node)) = self.take(key) else { return };
        let Content::Map(entries) = node.content else {
            let what = node.content.described();
            return self.wrong(node.line, format!("`{path}` is {what}; use a map from kinds to values"));
        };
        for entry in unique(&path, entries, self.findings).into_values() {
            let path = join(&path, &shown_key(&entry.key));
            match name(&entry.key) {
                Err(message) => self.wrong(entry.line, format!("`{path}`: {message}")),
                Ok(name) => match single(&path, &entry.value, &read) {
                    Ok(value) => drop(into.insert(name, value)),
                    Err(message) => self.wrong(entry.value.line, message),
                },
            }
        }
    }
}

/// Reads one single value, or says what is wrong with it.
fn single<T>(path: &str, node: &Node, read: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
    match &node.content {
        Content::Text(text) => read(text).map_err(|allowed| format!("`{path}` is `{}`; {allowed}", shown(text))),
        other => Err(format!("`{path}` is {}; use a single value", other.described())),
    }
}

fn join(stanza: &str, key: &str) -> String {
    if stanza.is_empty() { key.to_owned() } else { format!("{stanza}.{key}") }
}

/// A value in a message: one line of bearable length. What stands before an `@` may be a user's password.
pub(super) fn shown(text: &str) -> String {
    if let Some((_, host)) = text.rsplit_once('@') {
        return format!("***@{}", shown(host));
    }
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(64).collect();
    if line.len() < text.len() { line + "..." } else { line }
}

/// A key in a message. `password:hunter2` without a blank is a key to YAML: what follows the word is not repeated.
fn shown_key(key: &str) -> String {
    let word = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let shown: String = key.chars().take_while(word).take(64).collect();
    if shown.len() < key.len() { shown + "***" } else { shown }
}
