//! Makes the object to create from the text of a row. Pure.
//!
//! The text is cut and put together again; the parts that stay are sent as they are stored. So every number keeps its spelling and its
//! value; a parser with 64-bit floats might change them.

use crate::answer::ShownState;
use crate::write::text::{json, object};
use ingester_core::Kind;
use ingester_core::json::{Error, Reader, TokenKind, from_str};
use ingester_core::marks::{Mark, Marks};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Fields that the API server sets: it gives the new object its own values.
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

/// Finalizers of the garbage collector. Like ours, they only show that the old object was being deleted.
const OF_GARBAGE_COLLECTOR: [&str; 2] = ["foregroundDeletion", "orphan"];

/// The members of an object: keys, and the texts of the values.
type Members = Vec<(String, String)>;

/// An object to create.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Restorable {
    /// The members of the object, except `metadata`, whose value is in the fields below.
    members: Members,
    metadata: Members,
    annotations: Members,
    owners: Vec<String>,
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
        let not_json = |error: Error| format!("the stored object is not JSON: {error}");
        let mut members = members_of(text).map_err(not_json)?;
        let mut metadata = members_of(value_of(&members, "metadata").unwrap_or("{}")).map_err(not_json)?;
        let text_of = |key: &str| value_of(&metadata, key).and_then(|value| from_str::<String>(value).ok());
        let namespace = text_of("namespace").unwrap_or_default();
        let name = text_of("name").ok_or("the stored object has no name")?;
        // The text may be stored in an older version of its kind.
        set(&mut members, "apiVersion", json(&kind.api_version()));
        set(&mut members, "metadata", "{}".to_owned());
        metadata.retain(|(key, _)| !GIVEN.contains(&&**key));
        let marks = kind.marks();
        if let Some(finalizers) = take(&mut metadata, "finalizers").filter(|list| list.starts_with('[')) {
            let kept = kept_finalizers(&finalizers, marks).map_err(not_json)?;
            if !kept.is_empty() {
                metadata.push(("finalizers".to_owned(), list(&kept)));
            }
        }
        let annotations = take(&mut metadata, "annotations").filter(|map| map.starts_with('{'));
        let mut annotations = members_of(annotations.as_deref().unwrap_or("{}")).map_err(not_json)?;
        let of_old = [Mark::Immutable, Mark::Deleting, Mark::RestoredBy, Mark::RestoredFrom, Mark::RestoreNonce];
        annotations.retain(|(key, _)| !of_old.iter().any(|mark| marks.is(*mark, key)) && !ShownState::is_shown_by(key));
        annotations.push((marks.name(Mark::RestoredFrom).to_string(), json(&from)));
        let owners = take(&mut metadata, "ownerReferences").filter(|list| list.starts_with('['));
        let owners = owners.map(|owners| elements_of(&owners)).transpose().map_err(not_json)?.unwrap_or_default();
        Ok(Restorable { members, metadata, annotations, owners, marks, from: from.into(), namespace, name })
    }

    /// Returns the references to owners, in their order. A reference that cannot be read is empty.
    pub(super) fn owners(&self) -> Vec<Owner> {
        self.owners.iter().map(|owner| serde_json::from_str(owner).unwrap_or_default()).collect()
    }

    /// Keeps only these references to owners. The garbage collector would delete an object at once if all its owners were gone.
    pub(super) fn keep_owners(&mut self, keep: &[bool]) {
        let mut keep = keep.iter();
        self.owners.retain(|_| keep.next().copied().unwrap_or(false));
    }

    /// Records the caller in the object.
    pub(super) fn asked_by(&mut self, user: &str) {
        self.annotate(Mark::RestoredBy, user);
    }

    /// Records the number of the restore in the object.
    pub(super) fn numbered(&mut self, nonce: &str) {
        self.annotate(Mark::RestoreNonce, nonce);
    }

    fn annotate(&mut self, mark: Mark, value: &str) {
        set(&mut self.annotations, &self.marks.name(mark).to_string(), json(&value));
    }

    /// Returns the stored status.
    pub(super) fn stored_status(&self) -> Option<&str> {
        value_of(&self.members, "status")
    }

    /// Returns the status; `None` if it is missing or empty.
    pub(super) fn status(&self) -> Option<&str> {
        self.stored_status().filter(|status| !is_empty(&parsed(status)))
    }

    /// Leaves out the status. Returns true if there was one.
    pub(super) fn without_status(&mut self) -> bool {
        take(&mut self.members, "status").is_some_and(|status| !is_empty(&parsed(&status)))
    }

    /// Returns the object's text.
    pub(super) fn to_text(&self) -> String {
        let mut metadata = self.metadata.clone();
        metadata.push(("annotations".to_owned(), object(&self.annotations)));
        if !self.owners.is_empty() {
            metadata.push(("ownerReferences".to_owned(), list(&self.owners)));
        }
        let mut members = self.members.clone();
        set(&mut members, "metadata", object(&metadata));
        object(&members)
    }
}

/// Returns the members of an object. If a key occurs twice, the last value counts, as in every JSON decoder here.
fn members_of(text: &str) -> Result<Members, Error> {
    let mut reader = Reader::new(text);
    let mut members = Members::new();
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = reader.raw()?.to_owned();
        set(&mut members, &key, value);
    }
    reader.finish()?;
    Ok(members)
}

fn elements_of(text: &str) -> Result<Vec<String>, Error> {
    let mut reader = Reader::new(text);
    let mut elements = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        elements.push(reader.raw()?.to_owned());
    }
    reader.finish()?;
    Ok(elements)
}

fn value_of<'m>(members: &'m Members, key: &str) -> Option<&'m str> {
    members.iter().find(|(its, _)| its == key).map(|(_, value)| value.as_str())
}

fn set(members: &mut Members, key: &str, value: String) {
    match members.iter_mut().find(|(its, _)| its == key) {
        Some((_, old)) => *old = value,
        None => members.push((key.to_owned(), value)),
    }
}

fn take(members: &mut Members, key: &str) -> Option<String> {
    let place = members.iter().position(|(its, _)| its == key)?;
    Some(members.remove(place).1)
}

/// Returns the finalizers without our own and the garbage collector's.
fn kept_finalizers(finalizers: &str, marks: &Marks) -> Result<Vec<String>, Error> {
    let is_old = |name: &str| marks.is(Mark::Finalizer, name) || OF_GARBAGE_COLLECTOR.contains(&name);
    let mut kept = elements_of(finalizers)?;
    kept.retain(|finalizer| !from_str::<String>(finalizer).is_ok_and(|name| is_old(&name)));
    Ok(kept)
}

fn list(elements: &[String]) -> String {
    format!("[{}]", elements.join(","))
}

/// An object of the cluster, with its text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClusterObject {
    pub(super) text: String,
    value: Value,
}

impl ClusterObject {
    /// Reads the text that the API server sent.
    pub(super) fn read(text: String) -> Result<Self, String> {
        let value = from_str(&text).map_err(|error| format!("the API server's object is not JSON: {error}"))?;
        Ok(ClusterObject { text, value })
    }

    pub(super) fn uid(&self) -> &str {
        self.value["metadata"]["uid"].as_str().unwrap_or_default()
    }

    /// Returns true if it has this status, whatever the spelling of its numbers.
    pub(super) fn has_status(&self, status: &str) -> bool {
        self.value.get("status") == Some(&parsed(status))
    }

    /// Compares its status with this one. `managedFields` show who wrote which fields.
    pub(super) fn status_is(&self, wanted: &str, writer: &str) -> StatusIs {
        let status = &self.value["status"];
        let is_writer = |entry: &Value| entry["manager"] == writer;
        let managers = self.value["metadata"]["managedFields"].as_array();
        if *status == parsed(wanted) || managers.is_some_and(|all| all.iter().any(is_writer)) {
            StatusIs::Written
        } else if is_empty(status) {
            StatusIs::Missing
        } else {
            StatusIs::Anothers
        }
    }

    /// Returns the same object with another status.
    pub(super) fn with_status(&self, status: &str) -> Result<Self, String> {
        let mut members = members_of(&self.text).map_err(|error| error.to_string())?;
        set(&mut members, "status", status.to_owned());
        ClusterObject::read(object(&members))
    }

    /// Returns the uid of the row that it was restored from.
    pub(super) fn restored_from(&self, kind: &Kind) -> Option<&str> {
        self.annotation(kind, Mark::RestoredFrom)
    }

    /// Returns the number of the restore that created it. Releases before 0.3 wrote none.
    pub(super) fn nonce(&self, kind: &Kind) -> Option<&str> {
        self.annotation(kind, Mark::RestoreNonce)
    }

    fn annotation(&self, kind: &Kind, mark: Mark) -> Option<&str> {
        let annotations = &self.value["metadata"]["annotations"];
        kind.marks().names(mark).find_map(|name| annotations[name.to_string()].as_str())
    }

    /// Returns the text for readers: without `managedFields`.
    pub(super) fn render_for_readers(&self) -> String {
        let shown = || {
            let mut reader = Reader::new(&self.text);
            let mut members = Members::new();
            reader.begin_object()?;
            while let Some(key) = reader.next_key()? {
                let is_metadata = key == "metadata" && reader.peek()? == TokenKind::Object;
                let mut value = reader.raw()?.to_owned();
                if is_metadata {
                    let mut metadata = members_of(&value)?;
                    take(&mut metadata, "managedFields");
                    value = object(&metadata);
                }
                set(&mut members, &key, value);
            }
            Ok::<_, Error>(object(&members))
        };
        shown().unwrap_or_else(|_| self.text.clone())
    }
}

/// The status of an object in the cluster, compared with the status that the restore writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusIs {
    /// The status was written.
    Written,
    /// The status was not written.
    Missing,
    /// Another writer wrote a different status. Ours was never written, or all of its fields have been changed since.
    Anothers,
}

/// Parses a value for a comparison; an invalid one counts as null.
fn parsed(text: &str) -> Value {
    from_str(text).unwrap_or_default()
}

fn is_empty(status: &Value) -> bool {
    status.is_null() || status.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests {
    use super::{ClusterObject, Owner, Restorable, StatusIs};
    use ingester_core::Kind;
    use ingester_core::marks::Marks;
    use serde_json::{Value, json};
    use std::sync::LazyLock;

    fn model() -> &'static Kind {
        crd_specs::KINDS.iter().find(|kind| kind.kind() == "Model").unwrap()
    }

    fn value(restorable: &Restorable) -> Value {
        serde_json::from_str(&restorable.to_text()).unwrap()
    }

    fn restored_from(kind: &Kind, object: &Value) -> Option<String> {
        ClusterObject::read(object.to_string()).unwrap().restored_from(kind).map(str::to_owned)
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
                "michelangelo/RestoredBy": "eve", "michelangelo/RestoreNonce": "0f", "note": "kept",
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
        assert_eq!(value(&restorable), expected);
        assert_eq!(restored_from(model(), &expected).as_deref(), Some("old"));
        assert_eq!(restorable.status(), Some(r#"{"state":"READY"}"#));
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
        restorable.numbered("1e");
        let value = value(&restorable);
        assert_eq!(value["metadata"]["finalizers"], json!(["example.com/Ingester"]));
        let annotations = json!({
            "data.example.com/RestoredFrom": "old", "data.example.com/RestoredBy": "ada",
            "data.example.com/RestoreNonce": "1e", "example.com/Deleting": "true",
        });
        assert_eq!(value["metadata"]["annotations"], annotations);
        assert_eq!(restored_from(&kind, &value).as_deref(), Some("old"));
        assert_eq!(restored_from(&kind, &object).as_deref(), Some("older"), "by the program of before");
        assert_eq!(restored_from(model(), &value), None);
    }

    #[test]
    fn lists_that_become_empty_are_left_out() {
        let mut restorable = restorable(&json!({
            "finalizers": ["michelangelo/Ingester"], "annotations": null,
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}],
        }));
        restorable.keep_owners(&[false]);
        let metadata = value(&restorable)["metadata"].take();
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
        assert_eq!(value(&restorable)["metadata"]["ownerReferences"], json!([owner]));
    }

    #[test]
    fn the_writer_of_a_status_is_in_the_managed_fields() {
        let wanted = json!({"state": "READY"});
        let of = |status: Value, managers: &[&str]| {
            let managers: Vec<Value> = managers.iter().map(|name| json!({ "manager": name })).collect();
            let there = json!({"metadata": {"managedFields": managers}, "status": status});
            ClusterObject::read(there.to_string()).unwrap().status_is(&wanted.to_string(), "ours")
        };
        assert_eq!(of(wanted.clone(), &[]), StatusIs::Written);
        assert_eq!(of(json!({"state": "LATER"}), &["a", "ours"]), StatusIs::Written);
        assert_eq!(of(Value::Null, &["a"]), StatusIs::Missing);
        assert_eq!(of(json!({}), &[]), StatusIs::Missing);
        assert_eq!(of(json!({"state": "LATER"}), &["a"]), StatusIs::Anothers);
        let without = ClusterObject::read(json!({"metadata": {}}).to_string()).unwrap();
        assert_eq!(without.status_is(&wanted.to_string(), "ours"), StatusIs::Missing);
    }

    #[test]
    fn every_number_is_sent_as_it_is_stored() {
        let mut dice = fastrand::Rng::with_seed(53);
        let doubles = std::iter::repeat_with(|| f64::from_bits(dice.u64(..))).filter(|double| double.is_finite());
        let mut numbers: Vec<String> = doubles.take(1000).map(|double| format!("{double:e}")).collect();
        let others =
            ["123456789.12345679", "18446744073709551617", "123456789012345678901234567890", "1.50", "1E3", "-0.0"];
        numbers.extend(others.map(str::to_owned));
        let list = numbers.join(", ");
        let text = format!(
            r#"{{"kind":"Model","metadata":{{"name":"a","x":[{list}]}},"spec":{{"numbers":[{list}]}},"status":{{"x":[{list}]}}}}"#
        );
        let mut restorable = Restorable::read(model(), "old", &text).unwrap();
        restorable.numbered("0f");
        assert_eq!(restorable.to_text().matches(&list).count(), 3);
        assert_eq!(restorable.status(), Some(format!(r#"{{"x":[{list}]}}"#).as_str()));
        let there = ClusterObject::read(restorable.to_text()).unwrap();
        assert!(there.has_status(restorable.status().unwrap()));
        assert_eq!(there.render_for_readers().matches(&list).count(), 3);
        let other = there.with_status(&format!("[{list}]")).unwrap();
        assert_eq!((other.render_for_readers().matches(&list).count(), other.has_status("[1]")), (3, false));
        // An adjacent double is a different number.
        assert!(!there.with_status("0.30000000000000004").unwrap().has_status("0.3"));
    }
}
