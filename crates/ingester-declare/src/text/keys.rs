//! The keys of a map. Keys that were taken are known; those that are left are unknown.

use super::{Fault, Faults, TreeNode};
use ingester_core::nearest::nearest;

/// The keys of a map that were not taken yet.
#[derive(Debug, Default)]
pub struct Keys<'t> {
    left: Vec<(&'t str, TreeNode<'t>)>,
    known: Vec<&'static str>,
}

/// A key that its map may not have.
#[derive(Clone, Debug)]
pub struct UnknownKey {
    place: Fault,
    key: String,
    shown: String,
    hint: Option<&'static str>,
    known: Vec<&'static str>,
}

impl<'t> Keys<'t> {
    pub(super) fn new(left: Vec<(&'t str, TreeNode<'t>)>) -> Self {
        Keys { left, known: Vec::new() }
    }

    /// The value of a key, which is known from now on. Nothing (`null`) counts as absent.
    pub fn take(&mut self, key: &'static str) -> Option<TreeNode<'t>> {
        self.take_any(key).filter(|value| !value.is_null())
    }

    /// As [`Keys::take`], for a key for which `null` has a meaning.
    pub(crate) fn take_any(&mut self, key: &'static str) -> Option<TreeNode<'t>> {
        self.known.push(key);
        let place = self.left.iter().position(|(there, _)| *there == key)?;
        Some(self.left.remove(place).1)
    }

    /// Returns the same keys, where only these names are known; other keys are faults. A key that was probably meant to have one of the
    /// names is taken as that one, so that no second mistake follows from the first.
    pub(super) fn only(mut self, names: &[&'static str], faults: &mut Faults) -> Self {
        let taken = names.iter().filter_map(|name| Some((*name, self.take_any(name)?))).collect();
        let mut only = Keys { left: taken, known: Vec::new() };
        for (unknown, value) in self.unknown() {
            if let Some(meant) = unknown.meant()
                && only.left.iter().all(|(name, _)| *name != meant)
            {
                only.left.push((meant, value));
            }
            faults.push(unknown.fault(&[]));
        }
        only
    }

    /// The keys that are left, in the order of the file, with their values.
    pub fn unknown(self) -> Vec<(UnknownKey, TreeNode<'t>)> {
        let unknown = |(key, value): (&str, TreeNode<'t>)| {
            let place = value.fault("");
            let shown = value.syntax.render_key(key);
            let hint = (value.syntax.hint)(key);
            (UnknownKey { place, key: key.to_owned(), shown, hint, known: self.known.clone() }, value)
        };
        self.left.into_iter().map(unknown).collect()
    }
}

impl UnknownKey {
    /// The known key that is most likely meant.
    pub fn meant(&self) -> Option<&'static str> {
        nearest(&self.key, &self.known).filter(|_| self.hint.is_none())
    }

    /// The fault, with a remedy. `elsewhere` are the paths of keys that other maps of the file may have.
    pub fn fault(self, elsewhere: &[String]) -> Fault {
        let last = |path: &'_ String| path.rsplit_once('.').map_or(0, |(before, _)| before.len() + 1);
        let names: Vec<&str> = elsewhere.iter().map(|path| &path[last(path)..]).collect();
        let remedy = if let Some(hint) = self.hint {
            hint.to_owned()
        } else if self.key.contains(':') {
            "write a space after the colon".to_owned()
        } else if let Some(meant) = self.meant() {
            format!("did you mean `{meant}`?")
        } else if let Some(meant) = nearest(&self.key, &names) {
            let path = elsewhere.iter().find(|path| path[last(path)..] == *meant);
            format!("did you mean `{}`?", path.map_or(meant, String::as_str))
        } else {
            format!("known: {}", self.known.join(", "))
        };
        Fault { what: format!("unknown key `{}`; {remedy}", self.shown), ..self.place }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::{Faults, Syntax, TreeNode, read};

    const PLAIN: Syntax = Syntax { passwords: false, hint: |key| (key == "with").then_some("write `path`") };
    const PASSWORDS: Syntax = Syntax { passwords: true, hint: |_| None };

    fn said(text: &str, syntax: &'static Syntax) -> Vec<String> {
        let tree = read(text, syntax).unwrap();
        let mut faults = Faults::new();
        TreeNode::new("file", &tree, syntax).fields(["path", "column"], &mut faults);
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_unknown_key_has_one_wording_and_a_remedy() {
        for (text, expected) in [
            ("{pat: 1}", "line 1: file.pat: unknown key `pat`; did you mean `path`?"),
            ("{x: 1}", "line 1: file.x: unknown key `x`; known: path, column"),
            ("with: 1", "line 1: file.with: unknown key `with`; write `path`"),
            ("{\"a\":1,\n\"path:b\":}", "line 2: file.path:b: unknown key `path:b`; write a space after the colon"),
            (
                "path: 1\ncolumn: 2\npath: 3",
                "line 3: file.path: the key `path` is there twice, first on line 1; remove one of them",
            ),
            ("[path]", "line 1: file: expected a map, found a list"),
            ("path", "line 1: file: expected a map, found `path`"),
        ] {
            assert_eq!(said(text, &PLAIN).last().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_an_unknown_key_means_is_taken_unless_it_is_there_itself() {
        for (text, taken) in [("pat: a", Some(1)), ("pat: a\npath: b", Some(2)), ("with: a", None), ("path: ~", None)] {
            let tree = read(text, &PLAIN).unwrap();
            let mut faults = Faults::new();
            let [path, _] = TreeNode::new("", &tree, &PLAIN).fields(["path", "column"], &mut faults).unwrap();
            assert_eq!(path.map(|path| path.tree.line), taken, "{text}");
        }
    }

    #[test]
    fn no_fault_of_a_file_with_passwords_repeats_more_than_a_word_of_a_key() {
        for text in ["{path:hunter2: 1}", "path:hunter2", "{'path=hunter2': 1, 'path=hunter2': 2}", "[hunter2]"] {
            let said = said(text, &PASSWORDS);
            assert!(!said.is_empty() && !said.concat().contains("hunter2"), "{said:?}");
        }
        assert_eq!(
            said("{path:x: 1}", &PASSWORDS),
            ["line 1: file.path***: unknown key `path***`; write a space after the colon"]
        );
    }
}
