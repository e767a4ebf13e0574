//! Takes the keys of a section one by one. The keys that were read are known; those that are left are unknown.

use super::error::Problem;
use super::secret::Secret;
use super::tree::{Content, MapEntry, YamlNode};
use ingester_core::nearest::nearest;
use std::collections::BTreeMap;

/// The mistakes that were found while reading, to be reported together.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    /// The full paths of all known keys.
    pub(super) known: Vec<String>,
    unknown: Vec<Unknown>,
}

/// A key that is not known.
#[derive(Debug)]
struct Unknown {
    line: usize,
    section: String,
    key: String,
    /// The known keys of the same section.
    siblings: Vec<&'static str>,
}

impl Findings {
    /// All mistakes. Unknown keys come last, because their hints need the keys of all sections.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let Findings { mut problems, known, unknown } = self;
        for unknown in unknown {
            let path = join(&unknown.section, &shown_key(&unknown.key));
            let elsewhere: Vec<&str> = known.iter().filter_map(|path| Some(path.rsplit_once('.')?.1)).collect();
            let hint = if unknown.key.contains(':') {
                "write a blank after the colon".to_owned()
            } else if let Some(key) = nearest(&unknown.key, &unknown.siblings) {
                format!("did you mean `{key}`?")
            } else if let Some(key) = nearest(&unknown.key, &elsewhere) {
                let path = known.iter().find(|path| path.rsplit_once('.').is_some_and(|(_, last)| last == key));
                format!("did you mean `{}`?", path.map_or(key, String::as_str))
            } else {
                let section = if unknown.section.is_empty() { "the file" } else { unknown.section.as_str() };
                format!("{section} may have {}", unknown.siblings.join(", "))
            };
            problems.push(Problem::at(unknown.line, format!("unknown key `{path}`; {hint}")));
        }
        problems
    }
}

/// A map with fixed keys.
pub(super) struct Section<'f> {
    path: String,
    entries: BTreeMap<String, MapEntry>,
    asked: Vec<&'static str>,
    findings: &'f mut Findings,
}

/// Reads `node`, the map at `path`, with `read`. All keys that `read` does not ask for are unknown.
pub(super) fn section(path: String, node: YamlNode, findings: &mut Findings, read: impl FnOnce(&mut Section<'_>)) {
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
    let mut section = Section { path, entries, asked: Vec::new(), findings };
    read(&mut section);
    let Section { path, entries, asked, findings } = section;
    findings.unknown.extend(entries.into_values().map(|entry| Unknown {
        line: entry.line,
        section: path.clone(),
        key: entry.key,
        siblings: asked.clone(),
    }));
}

/// The entries by key. A duplicate key is a mistake.
fn unique(path: &str, entries: Vec<MapEntry>, findings: &mut Findings) -> BTreeMap<String, MapEntry> {
    let mut by_key: BTreeMap<String, MapEntry> = BTreeMap::new();
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

impl Section<'_> {
    /// Takes the value of `key`, with its path, if it has one.
    fn take(&mut self, key: &'static str) -> Option<(String, YamlNode)> {
        let path = join(&self.path, key);
        self.asked.push(key);
        self.findings.known.push(path.clone());
        let node = self.entries.remove(key)?.value;
        if matches!(node.content, Content::Null) { None } else { Some((path, node)) }
    }

    fn wrong(&mut self, line: usize, message: String) {
        self.findings.problems.push(Problem::at(line, message));
    }

    /// Reads a section inside this one.
    pub(super) fn section(&mut self, key: &'static str, read: impl FnOnce(&mut Section<'_>)) {
        let path = join(&self.path, key);
        self.asked.push(key);
        let node = self.entries.remove(key).map_or(YamlNode { line: 0, content: Content::Null }, |entry| entry.value);
        section(path, node, self.findings, read);
    }

    /// Reads a single value into `into`, which is not changed if the key is absent or wrong. The error of `read` says what is
    /// allowed.
    pub(super) fn read<T>(&mut self, key: &'static str, into: &mut T, read: impl FnOnce(&str) -> Result<T, String>) {
        let Some((path, node)) = self.take(key) else { return };
        match single(&path, &node, read) {
            Ok(value) => *into = value,
            Err(message) => self.wrong(node.line, message),
        }
    }

    /// Reads a text that no message may repeat. An empty text counts as no value.
    pub(super) fn secret(&mut self, key: &'static str, into: &mut Option<Secret>) {
        let Some((path, node)) = self.take(key) else { return };
        match node.content {
            Content::Text(text) => *into = (!text.is_empty()).then(|| Secret::from(text)),
            other => self.wrong(node.line, format!("`{path}` is {}; use a text in quotes", other.described())),
        }
    }

    /// Reads a list of single values without duplicates.
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

    /// Reads a map from names, which `name` checks, to single values.
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
            return self.wrong(node.line, format!("`{path}` is {what}; use a map from names to values"));
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

/// Reads a single value, or returns a message that says what is wrong with it.
fn single<T>(path: &str, node: &YamlNode, read: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
    match &node.content {
        Content::Text(text) => read(text).map_err(|allowed| format!("`{path}` is `{}`; {allowed}", shown(text))),
        other => Err(format!("`{path}` is {}; use a single value", other.described())),
    }
}

fn join(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// A value for a message: one short line. The text before an `@` may contain a password.
pub(super) fn shown(text: &str) -> String {
    if let Some((_, host)) = text.rsplit_once('@') {
        return format!("***@{}", shown(host));
    }
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(64).collect();
    if line.len() < text.len() { line + "..." } else { line }
}

/// A key for a message. To YAML, `password:hunter2` without a space is a key, so only its first word is repeated.
fn shown_key(key: &str) -> String {
    let word = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let shown: String = key.chars().take_while(word).take(64).collect();
    if shown.len() < key.len() { shown + "***" } else { shown }
}
