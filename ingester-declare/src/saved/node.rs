//! A place in a file, and what is wrong there.

use ingester_core::nearest::nearest;
use ingester_core::place::shortened;
use serde_json::Value as Json;

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) path: String,
    pub(super) what: String,
}

/// What is wrong in a file, in the order in which it was found.
pub(super) type Faults = Vec<Fault>;

/// A value, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Node<'j> {
    pub(super) json: &'j Json,
    path: String,
}

impl<'j> Node<'j> {
    /// The whole file.
    pub(super) fn root(json: &'j Json) -> Self {
        Node { json, path: String::new() }
    }

    pub(super) fn fault(&self, what: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), what: what.into() }
    }

    /// The fault that it is not what is expected.
    pub(super) fn expected(&self, what: &str) -> Fault {
        let found = match self.json {
            Json::Null => "nothing".into(),
            Json::Bool(_) | Json::Number(_) => format!("`{}`", self.json),
            Json::String(text) => format!("`{}`", shortened(text)),
            Json::Array(_) => "a list".into(),
            Json::Object(_) => "a map".into(),
        };
        self.fault(format!("expected {what}, found {found}"))
    }

    /// The values of these keys. Other keys are faults; nothing is as good as absent.
    pub(super) fn fields<const N: usize>(
        &self,
        names: [&str; N],
        faults: &mut Faults,
    ) -> Option<[Option<Node<'j>>; N]> {
        let Json::Object(entries) = self.json else {
            faults.push(self.expected("a map"));
            return None;
        };
        let mut fields = [const { None }; N];
        for (key, json) in entries {
            let Some(i) = names.iter().position(|name| key == name) else {
                let meant = match nearest(key, &names) {
                    Some(meant) => format!(", did you mean `{meant}`?"),
                    None => format!("; there are: {}", names.join(", ")),
                };
                faults.push(self.fault(format!("the key `{}` is unknown{meant}", shortened(key))));
                continue;
            };
            if !json.is_null() {
                fields[i] = Some(self.child(key, json));
            }
        }
        Some(fields)
    }

    fn child(&self, key: &str, json: &'j Json) -> Self {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Node { json, path }
    }

    /// The elements, if it is a list.
    pub(super) fn elements(&self) -> Option<Vec<Node<'j>>> {
        let element = |(i, json)| Node { json, path: format!("{}[{i}]", self.path) };
        Some(self.json.as_array()?.iter().enumerate().map(element).collect())
    }

    pub(super) fn text(&self, faults: &mut Faults) -> Option<&'j str> {
        let text = self.json.as_str();
        if text.is_none() {
            let quoted = if self.json.is_number() || self.json.is_boolean() { " (in quotes)" } else { "" };
            faults.push(self.expected(&format!("a text{quoted}")));
        }
        text
    }

    pub(super) fn truth(&self, faults: &mut Faults) -> Option<bool> {
        let truth = self.json.as_bool();
        if truth.is_none() {
            faults.push(self.expected("true or false"));
        }
        truth
    }
}
