//! JSON patches (RFC 6902) and merge patches (RFC 7386), applied to an object.
//!
//! A JSON patch may test anything, and change only labels and annotations, one value or all of them. So its cost is that of its own
//! text: what it copies is bounded, and nothing nests.

use super::options::{media_type, unknown_format};
use crate::status::{Cause, Reason, Status};
use http::StatusCode;
use json_patch::jsonptr::Pointer;
use json_patch::{PatchOperation, merge};
use serde_json::Value;

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// The most operations of a JSON patch, as of the API server.
const MOST_OPERATIONS: usize = 10_000;

/// The most bytes that a JSON patch may copy, as of the API server.
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
        _ => Err(unknown_format(&[JSON_PATCH, MERGE_PATCH])),
    }
}

impl Patch {
    /// The patched object.
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

/// As the API server answers a patch that does not apply; the cause says why.
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

/// Refuses an operation that changes anything but labels and annotations, or makes something else of them than texts.
fn allowed(object: &Value, operation: &PatchOperation, copied: &mut usize) -> Result<(), &'static str> {
    match operation {
        PatchOperation::Test(_) => Ok(()),
        PatchOperation::Add(add) => takes(&add.path, &add.value),
        PatchOperation::Replace(replace) => takes(&replace.path, &replace.value),
        PatchOperation::Remove(remove) => place(&remove.path).map(drop),
        PatchOperation::Move(moved) => {
            place(&moved.from)?;
            takes(&moved.path, resolve(object, &moved.from)?)
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

/// What a path means.
enum Place {
    /// All labels, or all annotations.
    Pairs,
    /// One of them, or the resourceVersion.
    Text,
}

fn place(path: &Pointer) -> Result<Place, &'static str> {
    let tokens: Vec<String> = path.tokens().map(|token| token.decoded().into_owned()).collect();
    match tokens.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["metadata", "labels" | "annotations"] => Ok(Place::Pairs),
        ["metadata", "labels" | "annotations", _] | ["metadata", "resourceVersion"] => Ok(Place::Text),
        _ => Err("the object was evicted from the cluster: only its labels and annotations can be changed"),
    }
}

fn takes(path: &Pointer, value: &Value) -> Result<(), &'static str> {
    let texts = |value: &Value| value.as_object().is_some_and(|pairs| pairs.values().all(Value::is_string));
    match place(path)? {
        Place::Pairs if texts(value) => Ok(()),
        Place::Text if value.is_string() => Ok(()),
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
