//! JSON patches (RFC 6902) and merge patches (RFC 7386), applied to an object.
//!
//! A JSON patch may test anything, but change only labels and annotations, a single value or all of them. So the size of its own text
//! limits its cost: copies are bounded, and nothing nests.

use crate::body::{media_type, unknown_format};
use crate::status::{Cause, Reason, Status};
use http::StatusCode;
use json_patch::jsonptr::Pointer;
use json_patch::{PatchOperation, merge};
use serde_json::Value;

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// The most operations of a JSON patch, as in the API server.
const MOST_OPERATIONS: usize = 10_000;

/// The most bytes that a JSON patch may copy, as in the API server.
const MOST_COPIED: usize = 3 << 20;

/// A patch.
#[derive(Debug)]
pub(super) enum Patch {
    Json(Vec<PatchOperation>),
    Merge(Value),
}

/// Reads a patch of this type.
pub(super) fn read(content_type: Option<&str>, body: &[u8]) -> Result<Patch, Status> {
    match content_type.map(media_type).as_deref() {
        Some(JSON_PATCH) => {
            let operations: Vec<PatchOperation> = serde_json::from_slice(body)
                .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
            if operations.len() > MOST_OPERATIONS {
                let message = format!(
                    "The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
                    operations.len()
                );
                let code = StatusCode::PAYLOAD_TOO_LARGE;
                return Err(Status::failure(code, Reason::RequestEntityTooLarge, message));
            }
            Ok(Patch::Json(operations))
        }
        Some(MERGE_PATCH) => {
            let patch: Value = serde_json::from_slice(body)
                .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
            if !patch.is_object() {
                return Err(Status::bad_request("error decoding patch: a merge patch is a JSON object"));
            }
            Ok(Patch::Merge(patch))
        }
        Some(APPLY_PATCH) => Err(Status::unsupported_media_type(format!(
            "server-side apply needs managed fields, which are not stored: apply on the client's side (kubectl without --server-side), or send {MERGE_PATCH}"
        ))),
        _ => Err(unknown_format(&[JSON_PATCH, MERGE_PATCH])),
    }
}

impl Patch {
    /// Returns the patched object.
    pub(super) fn apply(&self, object: &Value) -> Result<Value, Status> {
        let mut object = object.clone();
        match self {
            Patch::Merge(patch) => merge(&mut object, patch),
            Patch::Json(operations) => {
                let mut copied = 0;
                for (place, operation) in operations.iter().enumerate() {
                    let failed = |why: &dyn std::fmt::Display| unprocessable(place, operation, why);
                    allowed(&object, operation, &mut copied).map_err(|why| failed(&why))?;
                    json_patch::patch(&mut object, std::slice::from_ref(operation))
                        .map_err(|error| failed(&error.kind))?;
                }
            }
        }
        Ok(object)
    }
}

/// Returns the API server's answer to a patch that cannot be applied; the cause gives the reason.
fn unprocessable(place: usize, operation: &PatchOperation, why: &dyn std::fmt::Display) -> Status {
    let message = format!("operation {place} ({}): {why}", name(operation));
    let cause = Cause { reason: "UnexpectedServerResponse".to_owned(), message: message.clone(), field: String::new() };
    Status::invalid(format!("the server rejected our request due to an error in our request: {message}"), vec![cause])
}

fn name(operation: &PatchOperation) -> String {
    let word = match operation {
        PatchOperation::Add(_) => "add",
        PatchOperation::Remove(_) => "remove",
        PatchOperation::Replace(_) => "replace",
        PatchOperation::Move(_) => "move",
        PatchOperation::Copy(_) => "copy",
        PatchOperation::Test(_) => "test",
    };
    format!("{word} {}", operation.path())
}

/// Refuses an operation that changes anything except labels and annotations, or that turns them into anything except texts.
fn allowed(object: &Value, operation: &PatchOperation, copied: &mut usize) -> Result<(), &'static str> {
    match operation {
        PatchOperation::Test(_) => Ok(()),
        PatchOperation::Add(add) => takes(&add.path, &add.value),
        PatchOperation::Replace(replace) => takes(&replace.path, &replace.value),
        PatchOperation::Remove(remove) => place(&remove.path).map(drop),
        PatchOperation::Move(moved) => {
            place(&moved.from)?;
            let value = resolve(object, &moved.from)?;
            // Moved values are traversed each time, so they count like copies.
            *copied += bytes(value);
            if *copied > MOST_COPIED {
                return Err("the patch copies too much");
            }
            takes(&moved.path, value)
        }
        PatchOperation::Copy(copy) => {
            let value = resolve(object, &copy.from)?;
            takes(&copy.path, value)?;
            *copied += bytes(value);
            if *copied > MOST_COPIED { Err("the patch copies too much") } else { Ok(()) }
        }
    }
}

fn resolve<'v>(object: &'v Value, from: &Pointer) -> Result<&'v Value, &'static str> {
    from.resolve(object).map_err(|_| "\"from\" path is invalid")
}

/// The meaning of a path.
enum PathMeaning {
    /// All labels, or all annotations.
    Pairs,
    /// One of them, or the resourceVersion.
    Text,
}

fn place(path: &Pointer) -> Result<PathMeaning, &'static str> {
    let tokens: Vec<String> = path.tokens().map(|token| token.decoded().into_owned()).collect();
    match tokens.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["metadata", "labels" | "annotations"] => Ok(PathMeaning::Pairs),
        ["metadata", "labels" | "annotations", _] | ["metadata", "resourceVersion"] => Ok(PathMeaning::Text),
        _ => Err("the object was evicted from the cluster: only its labels and annotations can be changed"),
    }
}

fn takes(path: &Pointer, value: &Value) -> Result<(), &'static str> {
    let texts = |value: &Value| value.as_object().is_some_and(|pairs| pairs.values().all(Value::is_string));
    match place(path)? {
        PathMeaning::Pairs if texts(value) => Ok(()),
        PathMeaning::Text if value.is_string() => Ok(()),
        _ => Err("the values of labels and annotations are strings"),
    }
}

fn bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Object(pairs) => pairs.iter().map(|(key, value)| key.len() + bytes(value)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::changed;
    use super::super::text::rewritten;
    use super::{JSON_PATCH, MERGE_PATCH, read};
    use crate::status::Resource;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn object() -> Value {
        json!({
            "apiVersion": "michelangelo.api/v2", "kind": "Model",
            "metadata": {"name": "a", "resourceVersion": "5", "labels": {"a": "b", "~/": ""}, "annotations": {"a": "c"}},
            "spec": {"a": [1, {"b": null}], "labels": {"a": {"b": "c"}}},
        })
    }

    /// Paths within the object, and paths that do not exist.
    fn path() -> impl Strategy<Value = String> {
        let token = prop::sample::select(vec![
            "metadata",
            "labels",
            "annotations",
            "resourceVersion",
            "name",
            "spec",
            "a",
            "b",
            "~0~1",
            "0",
            "1",
            "-",
            "",
        ]);
        prop::collection::vec(token, 0..5).prop_map(|tokens| tokens.iter().map(|token| format!("/{token}")).collect())
    }

    fn value() -> impl Strategy<Value = Value> {
        prop::sample::select(vec![
            json!(null),
            json!("x"),
            json!(1),
            json!([]),
            json!({}),
            json!({"a": "b"}),
            json!({"a": {"b": "c"}}),
            json!({"a": null}),
        ])
    }

    fn operation() -> impl Strategy<Value = Value> {
        let word = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test"]);
        (word, path(), path(), value())
            .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
    }

    /// The parts that a patch must not change.
    fn fixed(mut object: Value) -> Value {
        let metadata = object["metadata"].as_object_mut().unwrap();
        for name in ["labels", "annotations", "resourceVersion"] {
            metadata.remove(name);
        }
        object
    }

    proptest! {
        #[test]
        fn a_json_patch_changes_labels_and_annotations_or_nothing(
            operations in prop::collection::vec(operation(), 1..8)
        ) {
            // Apply operations one by one, so that more of them succeed.
            let mut object = object();
            for operation in operations {
                let patch = read(Some(JSON_PATCH), json!([operation]).to_string().as_bytes()).unwrap();
                let Ok(patched) = patch.apply(&object) else { continue };
                prop_assert_eq!(fixed(patched.clone()), fixed(self::object()));
                for name in ["labels", "annotations"] {
                    let pairs = patched["metadata"].get(name).map(|pairs| pairs.as_object().unwrap());
                    prop_assert!(pairs.into_iter().flatten().all(|(_, value)| value.is_string()), "{}", patched);
                }
                object = patched;
            }
        }

        #[test]
        fn whatever_a_client_sends_all_else_stays(patch in anything()) {
            let stored = object();
            let read = read(Some(MERGE_PATCH), patch.to_string().as_bytes());
            let Ok(wanted) = read.and_then(|patch| patch.apply(&stored)) else { return Ok(()) };
            let resource = Resource { group: "michelangelo.api", plural: "models" };
            let Ok(Some(pairs)) = changed(&crd_specs::KINDS[0], resource, "a", 5, &stored, &wanted) else { return Ok(()) };
            let new: Value = serde_json::from_str(&rewritten(&stored.to_string(), 6, &pairs).unwrap()).unwrap();
            prop_assert_eq!(&new["metadata"]["resourceVersion"], "6");
            prop_assert_eq!(fixed(new), fixed(stored));
        }
    }

    /// Any JSON, with the names that have a meaning here.
    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![value(), Just(json!("5")), Just(json!(""))];
        let key = prop::sample::select(vec![
            "metadata",
            "labels",
            "annotations",
            "resourceVersion",
            "name",
            "spec",
            "a",
            "kind",
            "-",
        ]);
        let inner = leaf.prop_recursive(4, 24, 4, move |inner| {
            prop::collection::btree_map(key.clone(), inner, 0..4).prop_map(|members| json!(members))
        });
        // Half of them are typical of clients.
        let labels = prop::collection::btree_map("[a-c]", prop::sample::select(vec![json!("x"), json!(null)]), 0..3);
        prop_oneof![inner, labels.prop_map(|labels| json!({"metadata": {"labels": labels, "name": "a"}}))]
    }
}
