//! Reads the keys of a section one by one. Keys that no reader asks for are unknown.

use super::secret::Secret;
use super::tree::{Content, SYNTAX};
use ingester_declare::text::{Fault, Faults, Keys, Tree, TreeNode, UnknownKey, without_password};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The value of a section that is absent.
const ABSENT: Tree = Tree { line: 1, content: Content::Null };

/// The mistakes that were found while reading. They are reported together.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Faults,
    /// The full paths of all known keys.
    pub(super) known: Vec<String>,
    unknown: Vec<UnknownKey>,
}

impl Findings {
    /// Returns all mistakes. Unknown keys come last, because their remedies need the keys of all sections.
    pub(super) fn into_problems(self) -> Faults {
        let Findings { mut problems, known, unknown } = self;
        problems.extend(unknown.into_iter().map(|unknown| unknown.fault(&known)));
        problems
    }
}

/// A map with fixed keys.
pub(super) struct Section<'f> {
    at: TreeNode<'f>,
    keys: Keys<'f>,
    pub(super) findings: &'f mut Findings,
}

/// Reads `tree`, the map at `path`, with `read`. All keys that `read` does not take are unknown.
pub(super) fn section(path: String, tree: Tree, findings: &mut Findings, read: impl FnOnce(&mut Section<'_>)) {
    read_section(TreeNode::new(path, &tree, &SYNTAX), findings, read);
}

fn read_section(at: TreeNode<'_>, findings: &mut Findings, read: impl FnOnce(&mut Section<'_>)) {
    let keys = if at.is_null() { None } else { at.keys(&mut findings.problems) };
    let mut section = Section { at, keys: keys.unwrap_or_default(), findings };
    read(&mut section);
    let Section { keys, findings, .. } = section;
    findings.unknown.extend(keys.unknown().into_iter().map(|(unknown, _)| unknown));
}

impl<'f> Section<'f> {
    /// Takes the value of `key`, if it has one, for a key that never holds a password.
    pub(super) fn take(&mut self, key: &'static str) -> Option<TreeNode<'f>> {
        self.take_hidden(key).map(TreeNode::public)
    }

    /// Takes the value of `key`, if it has one, which no message may repeat.
    fn take_hidden(&mut self, key: &'static str) -> Option<TreeNode<'f>> {
        self.findings.known.push(self.at.child(key, &ABSENT).path);
        self.keys.take(key)
    }

    fn wrong(&mut self, fault: Fault) {
        self.findings.problems.push(fault);
    }

    /// Reads a section inside this one.
    pub(super) fn section(&mut self, key: &'static str, read: impl FnOnce(&mut Section<'_>)) {
        let at = self.keys.take(key).unwrap_or_else(|| self.at.child(key, &ABSENT));
        read_section(at, self.findings, read);
    }

    /// Reads a single value into `into`, which is not changed if the key is absent or wrong. The error of `read` says what is
    /// allowed.
    pub(super) fn read<T>(&mut self, key: &'static str, into: &mut T, read: impl FnOnce(&str) -> Result<T, String>) {
        match self.take(key).map(|at| single(&at, read)) {
            Some(Ok(value)) => *into = value,
            Some(Err(fault)) => self.wrong(fault),
            None => {}
        }
    }

    /// Reads a text that no message may repeat. An empty text counts as no value.
    pub(super) fn secret(&mut self, key: &'static str, into: &mut Option<Secret>) {
        let Some(at) = self.take_hidden(key) else { return };
        if let Some(text) = at.read_text(&mut self.findings.problems) {
            *into = (!text.is_empty()).then(|| Secret::from(text));
        }
    }

    /// Reads a list of single values without duplicates.
    pub(super) fn list(
        &mut self,
        key: &'static str,
        into: &mut Vec<String>,
        read: impl Fn(&str) -> Result<String, String>,
    ) {
        let Some(items) = self.take(key).and_then(|at| at.list(&mut self.findings.problems)) else { return };
        into.clear();
        for at in items {
            match single(&at, &read) {
                Ok(value) if into.contains(&value) => {
                    self.wrong(at.fault(format!("`{value}` is in this list already; remove one of them")));
                }
                Ok(value) => into.push(value),
                Err(fault) => self.wrong(fault),
            }
        }
    }

    /// Reads a list of texts, which may have duplicates. One of them may be a password.
    pub(super) fn texts(
        &mut self,
        key: &'static str,
        into: &mut Vec<String>,
        read: impl Fn(&str) -> Result<String, String>,
    ) {
        let Some(items) = self.take_hidden(key).and_then(|at| at.list(&mut self.findings.problems)) else { return };
        into.clear();
        for at in items {
            match single(&at, &read) {
                Ok(value) => into.push(value),
                Err(fault) => self.wrong(fault),
            }
        }
    }

    /// Reads a path, or a list of paths. An empty text counts as no path.
    pub(super) fn paths(
        &mut self,
        key: &'static str,
        into: &mut Vec<PathBuf>,
        read: impl Fn(&str) -> Result<Option<PathBuf>, String>,
    ) {
        let Some(at) = self.take(key) else { return };
        into.clear();
        for at in at.one_or_more() {
            match single(&at, &read) {
                Ok(path) => into.extend(path),
                Err(fault) => self.wrong(fault),
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
        let at = self.take(key);
        self.map_at(at, into, name, read);
    }

    /// Does the same for values of which one may be a password.
    pub(super) fn hidden_map<T>(
        &mut self,
        key: &'static str,
        into: &mut BTreeMap<String, T>,
        name: impl Fn(&str) -> Result<String, String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) {
        let at = self.take_hidden(key);
        self.map_at(at, into, name, read);
    }

    fn map_at<T>(
        &mut self,
        at: Option<TreeNode<'f>>,
        into: &mut BTreeMap<String, T>,
        name: impl Fn(&str) -> Result<String, String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) {
        let what = "a map from names to values";
        let entries = at.and_then(|at| at.entries(what, &mut self.findings.problems));
        for (key, at) in entries.unwrap_or_default() {
            let name = name(key).map_err(|message| at.fault(message));
            match name.and_then(|name| single(&at, &read).map(|value| (name, value))) {
                Ok((name, value)) => drop(into.insert(name, value)),
                Err(fault) => self.wrong(fault),
            }
        }
    }
}

/// Reads a single value, or returns the mistake in it.
pub(super) fn single<T>(at: &TreeNode<'_>, read: impl FnOnce(&str) -> Result<T, String>) -> Result<T, Fault> {
    match at.content() {
        Content::Text(text) => {
            read(text).map_err(|allowed| at.fault(format!("found `{}`; {allowed}", without_password(text))))
        }
        _ => Err(at.expected("a single value")),
    }
}
