//! An object of the API server's model, and the effect of a patch.

use super::kinds::{Flavour, MODEL};
use ingester_core::value::Micros;
use serde_json::{Value, json};
use tokio::time::Instant;

/// The names that control objects of the program.
pub(super) const FINALIZER: &str = "michelangelo/Ingester";
pub(super) const DELETING: &str = "michelangelo/Deleting";
pub(super) const IMMUTABLE: &str = "michelangelo/Immutable";
const RESTORED_FROM: &str = "michelangelo/RestoredFrom";
const RESTORE_NONCE: &str = "michelangelo/RestoreNonce";

/// An object.
#[derive(Clone, Debug)]
pub(super) struct FakeObject {
    pub(super) uid: String,
    pub(super) name: String,
    pub(super) version: u64,
    pub(super) flavour: Flavour,
    pub(super) owner: u32,
    pub(super) label: Option<u32>,
    /// Its annotations.
    pub(super) deleting: bool,
    pub(super) immutable: bool,
    /// The annotations have an effect.
    pub(super) evictable: bool,
    pub(super) finalizers: Vec<String>,
    pub(super) created: i64,
    pub(super) deletion: Option<i64>,
    /// The status with which the API server refuses every patch of it: an admission webhook fails, or a right is missing.
    pub(super) unpatchable: Option<u16>,
    /// The status with which it refuses its deletion by an ingester.
    pub(super) undeletable: Option<u16>,
    pub(super) namespace: &'static str,
    /// The uid of its owner. Without the owner it is deleted as garbage.
    pub(super) owned_by: Option<String>,
    /// It stays for a while after it was deleted, whatever its finalizers, like a Pod that is being stopped.
    pub(super) lingers: bool,
    /// The uid of the row that it was restored from, and the number of that restore.
    pub(super) origin: Option<(String, String)>,
    /// When it was created or changed last.
    pub(super) changed: Option<Instant>,
}

impl FakeObject {
    pub(super) fn metadata(&self) -> Value {
        let seconds = |micros: i64| Micros(micros - micros.rem_euclid(1_000_000)).rfc3339();
        let mut annotations = serde_json::Map::new();
        for (is, key) in [(self.deleting, DELETING), (self.immutable, IMMUTABLE)] {
            if is {
                annotations.insert(key.into(), "true".into());
            }
        }
        if let Some((from, nonce)) = &self.origin {
            annotations.insert(RESTORED_FROM.into(), from.as_str().into());
            annotations.insert(RESTORE_NONCE.into(), nonce.as_str().into());
        }
        let mut metadata = json!({
            "uid": self.uid,
            "namespace": self.namespace,
            "name": self.name,
            "resourceVersion": self.version.to_string(),
            "creationTimestamp": seconds(self.created),
        });
        if let Some(label) = self.label {
            metadata["labels"] = json!({ "label": label.to_string() });
        }
        if !annotations.is_empty() {
            metadata["annotations"] = annotations.into();
        }
        if !self.finalizers.is_empty() {
            metadata["finalizers"] = json!(self.finalizers);
        }
        if let Some(owner) = &self.owned_by {
            let owner =
                json!({ "apiVersion": MODEL.api_version(), "kind": MODEL.kind(), "name": "owner", "uid": owner });
            metadata["ownerReferences"] = json!([owner]);
        }
        if let Some(deletion) = self.deletion {
            metadata["deletionTimestamp"] = seconds(deletion).into();
        }
        metadata
    }

    pub(super) fn render_json(&self) -> Box<str> {
        let object = json!({
            "apiVersion": MODEL.api_version(),
            "kind": MODEL.kind(),
            "metadata": self.metadata(),
            "spec": { "owner": self.owner.to_string(), "flavour": self.flavour.as_str() },
        });
        object.to_string().into()
    }

    pub(super) fn is_ours(&self) -> bool {
        self.finalizers.iter().any(|finalizer| finalizer == FINALIZER)
    }

    /// Returns true if its annotation requests its deletion.
    pub(super) fn deletes(&self) -> bool {
        self.deleting && self.evictable
    }

    /// Returns true if its eviction is requested.
    pub(super) fn evicts(&self) -> bool {
        self.immutable && self.evictable
    }

    /// Returns true if the rule covers it: its condition holds.
    pub(super) fn is_done(&self) -> bool {
        is_done(&self.owner.to_string())
    }

    /// Returns true if its row must be live while nothing changes.
    pub(super) fn stays(&self) -> bool {
        self.deletion.is_none() && !self.deletes() && self.flavour != Flavour::LeftOut
    }

    /// Returns true if the only work left is writing its row.
    pub(super) fn needs_nothing(&self) -> bool {
        self.stays() && !self.evicts() && self.unpatchable.is_none() && self.flavour == Flavour::Plain
    }

    /// Returns its state for the history.
    pub(super) fn told(&self) -> String {
        let mut text = format!("{} {} v{}", self.name, self.uid, self.version);
        for (is, word) in [
            (self.deletion.is_some(), "terminating"),
            (self.deleting, "deleting"),
            (self.immutable, "immutable"),
            (self.unpatchable.is_some(), "unpatchable"),
            (self.undeletable.is_some(), "undeletable"),
            (self.lingers, "lingering"),
            (self.flavour != Flavour::Plain, self.flavour.as_str()),
        ] {
            if is {
                text.push(' ');
                text.push_str(word);
            }
        }
        format!("{text} {:?}", self.finalizers)
    }
}

/// Returns true if the rule covers objects with this text in the column `owner`.
pub(super) fn is_done(owner: &str) -> bool {
    owner.ends_with(['2', '3', '7'])
}

/// Returns the finalizers after a patch; `None` if a test of the patch fails.
pub(super) fn patched(metadata: &Value, patch: &Value) -> Option<Vec<String>> {
    let mut object = json!({ "metadata": metadata });
    for operation in patch.as_array()? {
        let path = operation["path"].as_str()?;
        let (parent, last) = path.rsplit_once('/')?;
        match operation["op"].as_str()? {
            "test" => {
                if object.pointer(path)? != &operation["value"] {
                    return None;
                }
            }
            "add" => match object.pointer_mut(parent)? {
                Value::Array(values) if last == "-" => values.push(operation["value"].clone()),
                Value::Object(values) => drop(values.insert(last.to_owned(), operation["value"].clone())),
                _ => return None,
            },
            "remove" => {
                let values = object.pointer_mut(parent)?.as_array_mut()?;
                let index: usize = last.parse().ok().filter(|index| *index < values.len())?;
                values.remove(index);
            }
            _ => return None,
        }
    }
    let Value::Array(finalizers) = object.pointer("/metadata/finalizers").cloned().unwrap_or(json!([])) else {
        return None;
    };
    finalizers.into_iter().map(|finalizer| finalizer.as_str().map(str::to_owned)).collect()
}
