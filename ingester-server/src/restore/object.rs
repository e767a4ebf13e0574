//! The object that is created from the text of a row. Pure.

use crate::answer::ShownState;
use ingester_core::Kind;
use ingester_core::marks::{Mark, Marks};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Fields that the API server sets: the new object gets its own.
const GIVEN: [&str; 8] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// Finalizers of the garbage collector, which, like ours, only show that the old object was being deleted.
const OF_GARBAGE_COLLECTOR: [&str; 2] = ["foregroundDeletion", "orphan"];

/// An object that is to be created.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Restorable {
    object: Map<String, Value>,
    marks: &'static Marks,
    /// The uid of the former object.
    pub(super) from: Box<str>,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// A reference to an owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Owner {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
}

impl Restorable {
    /// Reads the stored text of an object of a kind.
    pub(super) fn read(kind: &Kind, from: &str, text: &str) -> Result<Self, String> {
        let object: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| format!("the stored object is not JSON: {error}"))?;
        let part = |name: &str| object.get("metadata").and_then(|metadata| metadata[name].as_str());
        let namespace = part("namespace").unwrap_or_default().to_owned();
        let name = part("name").ok_or("the stored object has no name")?.to_owned();
        let mut restorable = Restorable { object, marks: kind.marks(), from: from.into(), namespace, name };
        restorable.clean(kind);
        Ok(restorable)
    }

    fn clean(&mut self, kind: &Kind) {
        let (from, marks) = (self.from.clone(), self.marks);
        // It may have been stored in an older version of its kind.
        self.object.insert("apiVersion".to_owned(), Value::String(kind.api_version()));
        let Some(metadata) = self.metadata() else { return };
        for name in GIVEN {
            metadata.remove(name);
        }
        if let Some(Value::Array(finalizers)) = metadata.get_mut("finalizers") {
            let is_old = |name: &str| marks.is(Mark::Finalizer, name) || OF_GARBAGE_COLLECTOR.contains(&name);
            finalizers.retain(|finalizer| !finalizer.as_str().is_some_and(is_old));
            if finalizers.is_empty() {
                metadata.remove("finalizers");
            }
        }
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        if !annotations.is_object() {
            *annotations = json!({});
        }
        if let Some(annotations) = annotations.as_object_mut() {
            let of_old = [Mark::Immutable, Mark::Deleting, Mark::RestoredBy, Mark::RestoredFrom];
            let is_old = |key: &str| of_old.iter().any(|mark| marks.is(*mark, key)) || ShownState::is_shown_by(key);
            annotations.retain(|key, _| !is_old(key));
            annotations.insert(marks.name(Mark::RestoredFrom).to_string(), Value::String(from.into()));
        }
    }

    fn metadata(&mut self) -> Option<&mut Map<String, Value>> {
        self.object.get_mut("metadata").and_then(Value::as_object_mut)
    }

    /// The references to owners, in their order. One that cannot be read is empty.
    pub(super) fn owners(&self) -> Vec<Owner> {
        let owners = self.object.get("metadata").and_then(|metadata| metadata["ownerReferences"].as_array());
        let read = |owner: &Value| Owner::deserialize(owner).unwrap_or_default();
        owners.into_iter().flatten().map(read).collect()
    }

    /// Keeps only these references to owners. An object whose owners are all gone would be collected as garbage at once.
    pub(super) fn keep_owners(&mut self, keep: &[bool]) {
        let Some(metadata) = self.metadata() else { return };
        let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") else { return };
        let mut keep = keep.iter();
        owners.retain(|_| keep.next().copied().unwrap_or(false));
        if owners.is_empty() {
            metadata.remove("ownerReferences");
        }
    }

    /// Records the caller in it.
    pub(super) fn asked_by(&mut self, user: &str) {
        let name = self.marks.name(Mark::RestoredBy).to_string();
        if let Some(Value::Object(annotations)) = self.metadata().and_then(|metadata| metadata.get_mut("annotations")) {
            annotations.insert(name, Value::String(user.to_owned()));
        }
    }

    /// The status as it is stored.
    pub(super) fn stored_status(&self) -> Option<&Value> {
        self.object.get("status")
    }

    /// The status; `None` if it is missing or empty.
    pub(super) fn status(&self) -> Option<&Value> {
        self.object.get("status").filter(|status| !is_empty(status))
    }

    /// Leaves out the status. Returns whether there was one.
    pub(super) fn without_status(&mut self) -> bool {
        self.object.remove("status").is_some_and(|status| !is_empty(&status))
    }

    /// The object.
    pub(super) fn value(&self) -> Value {
        Value::Object(self.object.clone())
    }
}

/// Whether an object in the cluster has the status that it is to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusIs {
    /// It was written.
    Written,
    /// It was not.
    Missing,
    /// It has a different one, from another writer. Ours was never written, or all of its fields were changed since.
    Anothers,
}

/// Whether an object has this status. `managedFields` say who wrote which fields.
pub(super) fn status_of(there: &Value, wanted: &Value, writer: &str) -> StatusIs {
    let status = &there["status"];
    let is_writer = |entry: &Value| entry["manager"] == writer;
    let managers = there["metadata"]["managedFields"].as_array();
    if status == wanted || managers.is_some_and(|all| all.iter().any(is_writer)) {
        StatusIs::Written
    } else if is_empty(status) {
        StatusIs::Missing
    } else {
        StatusIs::Anothers
    }
}

fn is_empty(status: &Value) -> bool {
    status.is_null() || status.as_object().is_some_and(Map::is_empty)
}

/// The uid of the object that this one was restored from.
pub(super) fn restored_from<'o>(kind: &Kind, object: &'o Value) -> Option<&'o str> {
    let annotations = &object["metadata"]["annotations"];
    kind.marks().names(Mark::RestoredFrom).find_map(|name| annotations[name.to_string()].as_str())
}

#[cfg(test)]
mod tests {
    use super::{Owner, Restorable, StatusIs, restored_from, status_of};
    use ingester_core::Kind;
    use ingester_core::marks::Marks;
    use serde_json::{Value, json};
    use std::sync::LazyLock;

    fn model() -> &'static Kind {
        crd_specs::KINDS.iter().find(|kind| kind.kind() == "Model").unwrap()
    }

    fn restorable(metadata: &Value) -> Restorable {
        let mut object = json!({
            "apiVersion": "michelangelo.api/v1", "kind": "Model",
            "metadata": {"namespace": "ml", "name": "a", "uid": "old"},
            "spec": {"algorithm": "xgboost"}, "status": {"state": "READY"}, "more": 1,
        });
        let all = object["metadata"].as_object_mut().unwrap();
        all.extend(metadata.as_object().unwrap().clone());
        Restorable::read(model(), "old", &object.to_string()).unwrap()
    }

    #[test]
    fn what_the_api_server_gave_and_what_ended_the_object_are_left_out() {
        let restorable = restorable(&json!({
            "resourceVersion": "5", "generation": 2, "creationTimestamp": "2026-03-09T20:36:46Z",
            "deletionTimestamp": "2026-03-09T20:36:46Z", "deletionGracePeriodSeconds": 0, "selfLink": "/apis",
            "managedFields": [], "labels": {"team": "pricing"},
            "finalizers": ["michelangelo/Ingester", "example.com/keep", "foregroundDeletion"],
            "annotations": {
                "michelangelo/Immutable": "true", "michelangelo/Deleting": "true", "michelangelo/RestoredFrom": "older",
                "michelangelo/RestoredBy": "eve", "note": "kept",
            },
        }));
        let expected = json!({
            "apiVersion": "michelangelo.api/v2", "kind": "Model",
            "metadata": {
                "namespace": "ml", "name": "a", "labels": {"team": "pricing"}, "finalizers": ["example.com/keep"],
                "annotations": {"note": "kept", "michelangelo/RestoredFrom": "old"},
            },
            "spec": {"algorithm": "xgboost"}, "status": {"state": "READY"}, "more": 1,
        });
        assert_eq!(restorable.value(), expected);
        assert_eq!(restored_from(model(), &expected), Some("old"));
        assert_eq!(restorable.status(), Some(&json!({"state": "READY"})));
        assert_eq!((restorable.namespace.as_str(), restorable.name.as_str()), ("ml", "a"));
    }

    #[test]
    fn a_server_with_a_name_of_its_own_writes_that_and_takes_off_what_was_written_before() {
        static MARKS: LazyLock<Marks> = LazyLock::new(|| Marks::new("data.example.com", &["michelangelo"]).unwrap());
        let object = json!({
            "apiVersion": "michelangelo.api/v2", "kind": "Model",
            "metadata": {
                "namespace": "ml", "name": "a", "uid": "old",
                "finalizers": ["michelangelo/Ingester", "data.example.com/Ingester", "example.com/Ingester"],
                "annotations": {"michelangelo/Immutable": "true", "michelangelo/RestoredFrom": "older", "example.com/Deleting": "true"},
            },
        });
        let kind = model().marked(&MARKS);
        let mut restorable = Restorable::read(&kind, "old", &object.to_string()).unwrap();
        restorable.asked_by("ada");
        let value = restorable.value();
        assert_eq!(value["metadata"]["finalizers"], json!(["example.com/Ingester"]));
        let annotations = json!({
            "data.example.com/RestoredFrom": "old", "data.example.com/RestoredBy": "ada", "example.com/Deleting": "true",
        });
        assert_eq!(value["metadata"]["annotations"], annotations);
        assert_eq!(restored_from(&kind, &value), Some("old"));
        assert_eq!(restored_from(&kind, &object), Some("older"), "by the program of before");
        assert_eq!(restored_from(model(), &value), None);
    }

    #[test]
    fn lists_that_become_empty_are_left_out() {
        let mut restorable = restorable(&json!({
            "finalizers": ["michelangelo/Ingester"], "annotations": null,
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}],
        }));
        restorable.keep_owners(&[false]);
        let metadata = restorable.value()["metadata"].take();
        assert_eq!(
            metadata,
            json!({"namespace": "ml", "name": "a", "annotations": {"michelangelo/RestoredFrom": "old"}})
        );
    }

    #[test]
    fn owners_that_are_there_are_kept_as_they_are_written() {
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u", "controller": true});
        let mut restorable = restorable(&json!({"ownerReferences": [owner, {"kind": 7}, {"uid": "v"}]}));
        let owners = restorable.owners();
        let first = Owner { api_version: "v1".into(), kind: "ConfigMap".into(), name: "o".into(), uid: "u".into() };
        assert_eq!((&owners[0], &owners[1], owners[2].uid.as_str()), (&first, &Owner::default(), "v"));
        restorable.keep_owners(&[true, false, false]);
        assert_eq!(restorable.value()["metadata"]["ownerReferences"], json!([owner]));
    }

    #[test]
    fn the_writer_of_a_status_is_in_the_managed_fields() {
        let wanted = json!({"state": "READY"});
        let of = |status: Value, managers: &[&str]| {
            let managers: Vec<Value> = managers.iter().map(|name| json!({ "manager": name })).collect();
            status_of(&json!({"metadata": {"managedFields": managers}, "status": status}), &wanted, "ours")
        };
        assert_eq!(of(wanted.clone(), &[]), StatusIs::Written);
        assert_eq!(of(json!({"state": "LATER"}), &["a", "ours"]), StatusIs::Written);
        assert_eq!(of(Value::Null, &["a"]), StatusIs::Missing);
        assert_eq!(of(json!({}), &[]), StatusIs::Missing);
        assert_eq!(of(json!({"state": "LATER"}), &["a"]), StatusIs::Anothers);
        assert_eq!(status_of(&json!({"metadata": {}}), &wanted, "ours"), StatusIs::Missing);
    }
}
