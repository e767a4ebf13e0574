//! Checks the changes in a new state of an evicted object: only labels and annotations may change.

use super::text::{Changeable, Pairs};
use crate::answer::ShownState;
use crate::status::{Cause, Resource, Status};
use ingester_core::Kind;
use ingester_core::labels::{check_annotation_key, check_label_key, check_label_value};
use ingester_core::marks::Mark;
use ingester_core::object::{ManagedFields, Object};
use serde_json::{Map, Value};

/// The most bytes of all annotations of an object, keys and values, as in the API server.
const MOST_ANNOTATIONS: usize = 256 << 10;

/// The most fields that an error names.
const MOST_CAUSES: usize = 16;

/// Metadata fields that the server keeps: a client may leave them out.
const SERVERS_OWN: [&str; 6] =
    ["uid", "creationTimestamp", "generation", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"];

/// Fields with their own comparison, or without one.
const NOT_COMPARED: [&str; 7] =
    ["labels", "annotations", "resourceVersion", "managedFields", "uid", "name", "namespace"];

const IMMUTABLE: &str = "the object was evicted from the cluster: only its labels and annotations can be changed";

/// Checks that the body of a PUT is an object of the kind.
pub(super) fn is_object_of(kind: &Kind, object: &Value) -> Result<(), Status> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    for field in ["apiVersion", "kind"] {
        if text(field).is_empty() {
            return Err(Status::bad_request(format!("the body is not an object: it has no {field}")));
        }
    }
    let group = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    if text("kind") != kind.kind() || group != kind.group() {
        let message = format!(
            "the body is a {} of {}, this path takes a {} of {}",
            text("kind"),
            text("apiVersion"),
            kind.kind(),
            kind.api_version()
        );
        return Err(Status::bad_request(message));
    }
    Ok(())
}

/// Returns the object of a PUT, completed with the fields that its client may leave out.
pub(super) fn completed(object: &Value, stored: &Value) -> Value {
    let mut object = object.clone();
    if is_absent(object.get("status"))
        && let (Some(members), Some(status)) = (object.as_object_mut(), stored.get("status"))
    {
        members.insert("status".to_owned(), status.clone());
    }
    with_metadata(object, stored, SERVERS_OWN.into_iter().chain(["name", "namespace"]))
}

/// Returns the patched object with the metadata fields that the server keeps, if the patch removed them: `kubectl apply` does so when a
/// manifest once contained them.
pub(super) fn with_own_metadata(object: Value, stored: &Value) -> Value {
    with_metadata(object, stored, SERVERS_OWN)
}

fn with_metadata(mut object: Value, stored: &Value, names: impl IntoIterator<Item = &'static str>) -> Value {
    let own = stored.get("metadata").and_then(Value::as_object);
    if let (Some(metadata), Some(own)) = (object.get_mut("metadata").and_then(Value::as_object_mut), own) {
        for name in names.into_iter().filter(|name| own.contains_key(*name)) {
            if is_absent(metadata.get(name)) {
                metadata.insert(name.to_owned(), own[name].clone());
            }
        }
    }
    object
}

/// Returns the new labels and annotations; `None` if they did not change.
pub(super) fn changed(
    kind: &Kind,
    resource: Resource<'_>,
    name: &str,
    version: u64,
    stored: &Value,
    wanted: &Value,
) -> Result<Option<Changeable>, Status> {
    let none = Map::new();
    let metadata = |object: &Value| object.get("metadata").and_then(Value::as_object).cloned();
    let before = metadata(stored).unwrap_or(none);
    let Some(after) = metadata(wanted) else { return Err(Status::bad_request("metadata: it is not an object")) };
    is_the_same(resource, name, &before, &after)?;
    is_of_version(resource, name, version, &after)?;

    let mut causes = Causes(Vec::new());
    let mut old = pairs(&before);
    let mut new =
        Changeable { labels: causes.pairs(&after, "labels"), annotations: causes.pairs(&after, "annotations") };
    // Clients send back what they received.
    for annotations in [&mut old.annotations, &mut new.annotations] {
        annotations.retain(|key, _| !ShownState::is_shown_by(key));
    }
    keep_marks(kind, &Mark::KEPT, &old, &mut new);
    causes.names(&new);
    causes.differences(kind, stored, wanted, &before, &after);
    causes.refuse(kind, name)?;
    Ok((new != old).then_some(new))
}

/// Returns the labels and annotations that the object had in a version, with its present marks.
pub(super) fn pairs_of_version(kind: &Kind, stored: &Value, version: &Value) -> Changeable {
    let of = |object: &Value| {
        let mut pairs = object.get("metadata").and_then(Value::as_object).map(pairs).unwrap_or_default();
        pairs.annotations.retain(|key, _| !ShownState::is_shown_by(key));
        pairs
    };
    let mut new = of(version);
    // The object was evicted since then, and stays evicted.
    let marks: Vec<Mark> = Mark::KEPT.into_iter().chain([Mark::Immutable]).collect();
    keep_marks(kind, &marks, &of(stored), &mut new);
    new
}

/// Returns the labels and annotations of the stored object. If they have errors, these cannot be fixed here.
fn pairs(metadata: &Map<String, Value>) -> Changeable {
    let pairs = |name| Causes(Vec::new()).pairs(metadata, name);
    Changeable { labels: pairs("labels"), annotations: pairs("annotations") }
}

/// Keeps the previous annotations with these marks.
fn keep_marks(kind: &Kind, marks: &[Mark], old: &Changeable, new: &mut Changeable) {
    let kept = |key: &str| marks.iter().any(|mark| kind.marks().is(*mark, key));
    new.annotations.retain(|key, _| !kept(key));
    new.annotations
        .extend(old.annotations.iter().filter(|(key, _)| kept(key)).map(|(key, value)| (key.clone(), value.clone())));
}

/// Returns warnings for a client about a changed object.
pub(super) fn warnings(kind: &Kind, text: &str) -> Vec<String> {
    let object = Object::parse(text, ManagedFields::Keep).ok();
    let asked = object.and_then(|object| kind.marks().asked(&object.meta().annotations, Mark::Deleting));
    let warning = |name| format!("the annotation {name} has no effect on an evicted object: delete the object");
    asked.map(warning).into_iter().collect()
}

fn is_absent(value: Option<&Value>) -> bool {
    value.is_none_or(Value::is_null)
}

fn read_text<'v>(metadata: &'v Map<String, Value>, field: &str) -> &'v str {
    metadata.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Checks that it is the same object.
fn is_the_same(
    resource: Resource<'_>,
    name: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Result<(), Status> {
    if read_text(after, "name") != read_text(before, "name") {
        let message = format!(
            "the name of the object ({}) does not match the name on the URL ({name})",
            read_text(after, "name")
        );
        return Err(Status::bad_request(message));
    }
    if read_text(after, "namespace") != read_text(before, "namespace") {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Status::bad_request(message));
    }
    let wanted = read_text(after, "uid");
    let uid = read_text(before, "uid");
    if wanted != uid {
        let why = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}");
        return Err(Status::conflict(resource, name, &why));
    }
    Ok(())
}

/// Checks that the writer saw the stored version, if the request names one.
fn is_of_version(resource: Resource<'_>, name: &str, version: u64, after: &Map<String, Value>) -> Result<(), Status> {
    let seen = match after.get("resourceVersion") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::String(seen)) if seen.is_empty() => return Ok(()),
        Some(Value::String(seen)) => seen.as_str(),
        Some(_) => return Err(Status::bad_request("metadata.resourceVersion: it is a number as text")),
    };
    let number: Option<u64> =
        Some(seen).filter(|seen| seen.bytes().all(|b| b.is_ascii_digit())).and_then(|seen| seen.parse().ok());
    let Some(number) = number else {
        return Err(Status::bad_request(format!(
            "metadata.resourceVersion: Invalid value: {seen:?}: it is not a number"
        )));
    };
    if version != number {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        return Err(Status::conflict(resource, name, why));
    }
    Ok(())
}

/// The errors of an object, field by field.
struct Causes(Vec<Cause>);

impl Causes {
    fn add(&mut self, field: &str, reason: &str, message: String) {
        if self.0.len() < MOST_CAUSES {
            self.0.push(Cause { reason: reason.to_owned(), message, field: field.to_owned() });
        }
    }

    fn invalid(&mut self, field: &str, value: &str, why: &str) {
        let shown: String = value.chars().take(100).collect();
        self.add(field, "FieldValueInvalid", format!("Invalid value: {shown:?}: {why}"));
    }

    /// Reads labels or annotations.
    fn pairs(&mut self, metadata: &Map<String, Value>, which: &str) -> Pairs {
        let field = format!("metadata.{which}");
        let mut pairs = Pairs::new();
        match metadata.get(which) {
            None | Some(Value::Null) => {}
            Some(Value::Object(found)) => {
                for (key, value) in found {
                    match value {
                        Value::String(value) => {
                            pairs.insert(key.clone(), value.clone());
                        }
                        _ => self.invalid(&format!("{field}.{key}"), &value.to_string(), "it is not a string"),
                    }
                }
            }
            Some(other) => self.invalid(&field, &other.to_string(), "it is not a map of strings"),
        }
        pairs
    }

    /// Checks keys and values by Kubernetes' rules.
    fn names(&mut self, new: &Changeable) {
        for (key, value) in &new.labels {
            if let Err((_, why)) = check_label_key(key) {
                self.invalid("metadata.labels", key, &why);
            }
            if let Err((_, why)) = check_label_value(value) {
                self.invalid("metadata.labels", value, &why);
            }
        }
        for key in new.annotations.keys() {
            // Keys of annotations may have capital letters in every part.
            if let Err((_, why)) = check_annotation_key(key) {
                self.invalid("metadata.annotations", key, &why);
            }
        }
        let bytes: usize = new.annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
        if bytes > MOST_ANNOTATIONS {
            let what = format!("Too long: must have at most {MOST_ANNOTATIONS} bytes");
            self.add("metadata.annotations", "FieldValueTooLong", what);
        }
    }

    /// Collects every field that differs but must not.
    fn differences(
        &mut self,
        kind: &Kind,
        stored: &Value,
        wanted: &Value,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) {
        // An object that was stored in an older version of its kind may be written back in this one.
        let same_version = wanted.get("apiVersion").and_then(Value::as_str) == Some(&kind.api_version());
        let empty = Map::new();
        let top = |object: &Value, other: &Map<String, Value>| -> Map<String, Value> {
            let members = object.as_object().unwrap_or(other).iter();
            let compared = |name: &str| name != "metadata" && !(name == "apiVersion" && same_version);
            members.filter(|(name, _)| compared(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        self.compare("", &Value::Object(top(stored, &empty)), &Value::Object(top(wanted, &empty)));
        let rest = |metadata: &Map<String, Value>| -> Map<String, Value> {
            let others = metadata.iter().filter(|(name, _)| !NOT_COMPARED.contains(&name.as_str()));
            others.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        self.compare("metadata", &Value::Object(rest(before)), &Value::Object(rest(after)));
    }

    fn compare(&mut self, path: &str, stored: &Value, wanted: &Value) {
        if self.0.len() == MOST_CAUSES || same(stored, wanted) {
            return;
        }
        let (Value::Object(old), Value::Object(new)) = (stored, wanted) else {
            return self.add(path, "FieldValueForbidden", format!("Forbidden: {IMMUTABLE}"));
        };
        for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            self.compare(&path, old.get(key).unwrap_or(&Value::Null), new.get(key).unwrap_or(&Value::Null));
        }
    }

    fn refuse(self, kind: &Kind, name: &str) -> Result<(), Status> {
        if self.0.is_empty() {
            return Ok(());
        }
        let group = Resource { group: kind.group(), plural: kind.kind() };
        let told: Vec<String> = self.0.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let told = if let [one] = told.as_slice() { one.clone() } else { format!("[{}]", told.join(", ")) };
        Err(Status::invalid(format!("{group} {name:?} is invalid: {told}"), self.0).about(group, name))
    }
}

/// Returns true if two values mean the same. Typed clients write zero values where nothing is stored, and format numbers in their own way;
/// spec and status keep their stored form anyway.
fn same(stored: &Value, wanted: &Value) -> bool {
    match (stored, wanted) {
        (Value::Object(old), Value::Object(new)) => {
            let all_of_old = old.iter().all(|(key, value)| same(value, new.get(key).unwrap_or(&Value::Null)));
            all_of_old && new.iter().all(|(key, value)| old.contains_key(key) || is_zero(value))
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same(old, new))
        }
        (Value::Number(old), Value::Number(new)) => {
            old == new || (old.is_f64() || new.is_f64()) && old.as_f64() == new.as_f64()
        }
        (Value::Null, value) | (value, Value::Null) => is_zero(value),
        _ => stored == wanted,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_zero),
    }
}
