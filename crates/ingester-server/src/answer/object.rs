//! The object of a row, and parts of it.

use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_store::query::{FoundRow, ShownState};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// Returns the object of a row: the last text from the API server and, unless the object is live and whole, its state. The text and the
/// [places](super::STATE_PLACES) of the state must have been read.
pub fn object<'r>(kind: &Kind, row: &'r FoundRow) -> Cow<'r, str> {
    ShownState::from_row(kind, row).object(row.get_text(base::JSON))
}

#[derive(Deserialize)]
struct VersionedObject<'t> {
    #[serde(borrow)]
    metadata: Version<'t>,
}

#[derive(Deserialize)]
struct Version<'t> {
    #[serde(borrow, rename = "resourceVersion")]
    version: Cow<'t, str>,
}

/// Returns true if the object's text has this version.
pub(crate) fn has_version(text: &str, version: u64) -> bool {
    serde_json::from_str::<VersionedObject<'_>>(text).is_ok_and(|object| object.metadata.version.parse() == Ok(version))
}

/// Returns the object, with this version in its text.
pub(super) fn at_version(text: &str, version: u64) -> Value {
    let mut object: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".into(), version.to_string().into());
    }
    object
}

/// Returns the object without the fields at these paths (`spec.inputSchema`). A path applies to each item of a list.
pub(super) fn without(text: &str, paths: &[String]) -> String {
    let Ok(mut object) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    for path in paths {
        let names: Vec<&str> = path.split('.').collect();
        remove(&mut object, &names);
    }
    object.to_string()
}

fn remove(value: &mut Value, names: &[&str]) {
    match (value, names) {
        (Value::Array(items), names) => items.iter_mut().for_each(|item| remove(item, names)),
        (Value::Object(fields), [name]) => {
            fields.remove(*name);
        }
        (Value::Object(fields), [name, rest @ ..]) => {
            if let Some(field) = fields.get_mut(*name) {
                remove(field, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{at_version, has_version, without};

    const TEXT: &str =
        r#"{"kind":"A","metadata":{"name":"a", "labels":{"b":"c"}},"spec":{"x":1,"list":[{"y":1,"z":2},{"y":3}]}}"#;

    #[test]
    fn an_object_says_which_version_it_has() {
        let text = r#"{"kind":"A","metadata":{"name":"a","resourceVersion":"5"},"spec":{"resourceVersion":"7"}}"#;
        assert!(has_version(text, 5) && !has_version(text, 7) && !has_version(TEXT, 5) && !has_version("", 0));
        let other = at_version(text, 7);
        assert!(has_version(&other.to_string(), 7) && other["metadata"]["name"] == "a", "{other}");
        assert!(has_version(&at_version(TEXT, 9).to_string(), 9));
    }

    #[test]
    fn fields_are_left_out() {
        let paths = ["spec.list.y", "spec.x", "metadata.labels", "status.none"].map(str::to_owned);
        assert_eq!(without(TEXT, &paths), r#"{"kind":"A","metadata":{"name":"a"},"spec":{"list":[{"z":2},{}]}}"#);
    }
}
