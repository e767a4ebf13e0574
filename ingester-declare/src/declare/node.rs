//! A place in a file of kinds, and what is wrong there.

use crate::documents::{Located, Tree};
use ingester_core::nearest::nearest;

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: u64,
    pub(super) path: String,
    pub(super) what: String,
}

/// What is wrong in a file, in the order in which it was found.
pub(super) type Faults = Vec<Fault>;

/// A value, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Node<'t> {
    pub(super) located: &'t Located,
    pub(super) path: String,
}

impl<'t> Node<'t> {
    /// The whole file.
    pub(super) fn root(located: &'t Located) -> Self {
        Node { located, path: String::new() }
    }

    pub(super) fn tree(&self) -> &'t Tree {
        &self.located.tree
    }

    pub(super) fn fault(&self, what: impl Into<String>) -> Fault {
        Fault { line: self.located.line, path: self.path.clone(), what: what.into() }
    }

    /// The fault that it is not what is expected.
    pub(super) fn expected(&self, what: &str) -> Fault {
        let found = match self.tree() {
            Tree::Null => "nothing".into(),
            Tree::Truth(truth) => format!("`{truth}`"),
            Tree::Number(text) | Tree::Text(text) => format!("`{}`", shortened(text)),
            Tree::List(_) => "a list".into(),
            Tree::Map(_) => "a map".into(),
        };
        self.fault(format!("expected {what}, found {found}"))
    }

    /// The values of these keys. Other keys are faults; nothing is as good as absent.
    pub(super) fn fields<const N: usize>(
        &self,
        names: [&str; N],
        faults: &mut Faults,
    ) -> Option<[Option<Node<'t>>; N]> {
        let Tree::Map(entries) = self.tree() else {
            faults.push(self.expected("a map"));
            return None;
        };
        let mut fields = [const { None }; N];
        for (key, located) in entries {
            let child = Node { located, path: joined(&self.path, key) };
            let Some(place) = names.iter().position(|name| key == name) else {
                let meant = match nearest(key, &names) {
                    Some(meant) => format!(", did you mean `{meant}`?"),
                    None => format!("; there are: {}", names.join(", ")),
                };
                let hint = hint(key);
                // What was meant is taken, so that no second mistake follows from the first.
                if hint.is_none()
                    && let Some(place) =
                        nearest(key, &names).and_then(|meant| names.iter().position(|name| *name == meant))
                {
                    fields[place].get_or_insert(child.clone());
                }
                let hint = hint.map_or(meant, |hint| format!(": {hint}"));
                faults.push(child.fault(format!("the key `{}` is unknown{hint}", shortened(key))));
                continue;
            };
            if located.tree != Tree::Null {
                fields[place] = Some(child);
            }
        }
        Some(fields)
    }

    /// The elements of a list; anything else is a fault.
    pub(super) fn elements(&self, faults: &mut Faults) -> Vec<Node<'t>> {
        match self.tree() {
            Tree::List(list) => self.items(list),
            _ => {
                faults.push(self.expected("a list"));
                Vec::new()
            }
        }
    }

    /// The elements of a list; `None` after a fault.
    pub(super) fn list(&self, faults: &mut Faults) -> Option<Vec<Node<'t>>> {
        let before = faults.len();
        Some(self.elements(faults)).filter(|_| faults.len() == before)
    }

    /// The elements of a list, or the value itself.
    pub(super) fn one_or_more(&self) -> Vec<Node<'t>> {
        match self.tree() {
            Tree::List(list) => self.items(list),
            _ => vec![self.clone()],
        }
    }

    fn items(&self, list: &'t [Located]) -> Vec<Node<'t>> {
        let item = |(place, located)| Node { located, path: format!("{}[{place}]", self.path) };
        list.iter().enumerate().map(item).collect()
    }

    pub(super) fn text(&self, faults: &mut Faults) -> Option<&'t str> {
        match self.tree() {
            Tree::Text(text) => Some(text),
            Tree::Number(_) => {
                faults.push(self.expected("a text (in quotes)"));
                None
            }
            Tree::Truth(_) => {
                faults.push(
                    self.expected("a text (in quotes: `y`, `n`, `on`, `off`, `yes` and `no` are truths in YAML)"),
                );
                None
            }
            _ => {
                faults.push(self.expected("a text"));
                None
            }
        }
    }

    pub(super) fn truth(&self, faults: &mut Faults) -> Option<bool> {
        match self.tree() {
            Tree::Truth(truth) => Some(*truth),
            _ => {
                faults.push(self.expected("true or false"));
                None
            }
        }
    }
}

/// What people write here who know it from elsewhere.
fn hint(key: &str) -> Option<&'static str> {
    match key {
        "apiVersion" => Some("write `group: example.com` and `version: v1`"),
        "with" => Some(
            "a function of Rust needs a kind that is built in; here a path has functions, such as `.status.phase | lower`",
        ),
        "scope" => Some("write `namespaced: true` or `namespaced: false`"),
        "name" => Some("a column's name is its `column`"),
        _ => None,
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The beginning of a text, as an error repeats it.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", text[..at].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}
