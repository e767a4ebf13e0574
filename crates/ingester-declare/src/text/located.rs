//! A value of a file, and the checks of its type.

use super::{Content, Fault, Faults, Keys, Syntax, Tree, without_password};
use ingester_core::place::shortened;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A value, and where it is.
#[derive(Clone, Debug)]
pub struct TreeNode<'t> {
    /// The value.
    pub tree: &'t Tree,
    /// The path from the file's root, which is empty.
    pub path: String,
    pub(super) syntax: &'static Syntax,
    /// Its key has no password, so faults repeat it also in a file with passwords.
    is_public: bool,
}

impl<'t> TreeNode<'t> {
    /// The value at this path of a file.
    pub fn new(path: impl Into<String>, tree: &'t Tree, syntax: &'static Syntax) -> Self {
        TreeNode { tree, path: path.into(), syntax, is_public: false }
    }

    /// Returns the same value, marked as free of passwords: faults repeat it and its contents.
    #[must_use]
    pub fn public(self) -> Self {
        TreeNode { is_public: true, ..self }
    }

    /// Returns the value's content.
    pub fn content(&self) -> &'t Content {
        &self.tree.content
    }

    /// True if the value is null.
    pub fn is_null(&self) -> bool {
        *self.content() == Content::Null
    }

    /// A fault in it.
    pub fn fault(&self, what: impl Into<String>) -> Fault {
        Fault { line: Some(self.tree.line), path: self.path.clone(), what: what.into() }
    }

    /// The fault that it is not what is expected.
    pub fn expected(&self, what: &str) -> Fault {
        self.fault(format!("expected {what}, found {}", self.found()))
    }

    /// The value as faults repeat it.
    pub fn found(&self) -> String {
        match self.content() {
            Content::Null => "nothing".into(),
            Content::List(_) => "a list".into(),
            Content::Map(_) => "a map".into(),
            _ if self.syntax.passwords && !self.is_public => "a single value".into(),
            Content::Text(text) if self.syntax.passwords => format!("`{}`", without_password(text)),
            Content::Truth(truth) => format!("`{truth}`"),
            Content::Number(text) | Content::Text(text) => format!("`{}`", shortened(text)),
        }
    }

    fn part(&self, path: String, tree: &'t Tree) -> Self {
        TreeNode { tree, path, ..*self }
    }

    /// The value of a key of this map.
    pub fn child(&self, key: &str, tree: &'t Tree) -> Self {
        let path = &self.path;
        let key = self.syntax.render_key(key);
        self.part(if path.is_empty() { key } else { format!("{path}.{key}") }, tree)
    }

    /// The entries of a map, each key once, in the order of the file. A key that comes twice is a fault; so is a value
    /// that is not a map: then `what` says what is expected, and the result is `None`.
    pub fn entries(&self, what: &str, faults: &mut Faults) -> Option<Vec<(&'t str, TreeNode<'t>)>> {
        let Content::Map(map) = self.content() else {
            faults.push(self.expected(what));
            return None;
        };
        let mut entries: Vec<(&str, TreeNode<'t>)> = Vec::with_capacity(map.len());
        let mut lines = HashMap::with_capacity(map.len());
        for (key, tree) in map {
            let child = self.child(key, tree);
            match lines.entry(key) {
                Entry::Vacant(first) => {
                    first.insert(tree.line);
                    entries.push((key, child));
                }
                Entry::Occupied(first) => faults.push(child.fault(format!(
                    "the key `{}` is there twice, first on line {}; remove one of them",
                    self.syntax.render_key(key),
                    first.get()
                ))),
            }
        }
        Some(entries)
    }

    /// The keys of a map; `None` after a fault.
    pub fn keys(&self, faults: &mut Faults) -> Option<Keys<'t>> {
        self.entries("a map", faults).map(Keys::new)
    }

    /// The keys of a map that may have these; others are faults. `None` if it is not a map.
    pub fn keys_of(&self, names: &[&'static str], faults: &mut Faults) -> Option<Keys<'t>> {
        self.keys(faults).map(|keys| keys.only(names, faults))
    }

    /// The values of these keys. Other keys are faults; null counts as absent.
    pub fn fields<const N: usize>(
        &self,
        names: [&'static str; N],
        faults: &mut Faults,
    ) -> Option<[Option<TreeNode<'t>>; N]> {
        let mut keys = self.keys_of(&names, faults)?;
        Some(names.map(|name| keys.take(name)))
    }

    /// The value of a key of this map, which has to be there, and its text, which must not be empty. `what` says what it is.
    pub fn required(
        &self,
        name: &str,
        value: Option<TreeNode<'t>>,
        what: &str,
        faults: &mut Faults,
    ) -> Option<(TreeNode<'t>, &'t str)> {
        let Some(value) = value else {
            faults.push(self.fault(format!("`{name}` is missing: {what}")));
            return None;
        };
        let text = value.read_text(faults)?;
        if text.is_empty() {
            faults.push(value.fault(format!("`{name}` is empty: {what}")));
            return None;
        }
        Some((value, text))
    }

    /// The elements, if it is a list.
    pub fn items(&self) -> Option<Vec<TreeNode<'t>>> {
        let Content::List(list) = self.content() else { return None };
        let item = |(place, tree)| self.part(format!("{}[{place}]", self.path), tree);
        Some(list.iter().enumerate().map(item).collect())
    }

    /// The elements of a list; `None` after a fault.
    pub fn list(&self, faults: &mut Faults) -> Option<Vec<TreeNode<'t>>> {
        let items = self.items();
        if items.is_none() {
            faults.push(self.expected("a list"));
        }
        items
    }

    /// The elements of a list; none after a fault.
    pub fn elements(&self, faults: &mut Faults) -> Vec<TreeNode<'t>> {
        self.list(faults).unwrap_or_default()
    }

    /// The elements of a list, or the value itself.
    pub fn one_or_more(&self) -> Vec<TreeNode<'t>> {
        self.items().unwrap_or_else(|| vec![self.clone()])
    }

    /// The text; `None` after a fault.
    pub fn read_text(&self, faults: &mut Faults) -> Option<&'t str> {
        let what = match self.content() {
            Content::Text(text) => return Some(text),
            Content::Number(_) => "a text (in quotes)",
            Content::Truth(_) => "a text (in quotes: `y`, `n`, `on`, `off`, `yes` and `no` are booleans in YAML)",
            _ => "a text",
        };
        faults.push(self.expected(what));
        None
    }

    /// True or false; `None` after a fault.
    pub fn truth(&self, faults: &mut Faults) -> Option<bool> {
        let Content::Truth(truth) = self.content() else {
            faults.push(self.expected("true or false"));
            return None;
        };
        Some(*truth)
    }
}
