//! Versions of an object, and the differences between two of them.

use super::spelled::{ObjectPatch, spelled};
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_store::query::{ObjectVersion, ShownState};
use json_patch::jsonptr::Pointer;
use serde_json::Value;

/// Fields that the API server or its field managers change with every write.
const ALWAYS: [&str; 3] = [".metadata.resourceVersion", ".metadata.generation", ".metadata.managedFields"];

/// Returns the object of a version, with the time of its validity, and with the paths that differ from the previous version. Its text and
/// the [places](super::STATE_PLACES) of its state must have been read.
pub fn version(kind: &Kind, version: &ObjectVersion, changed: &[String]) -> String {
    let shown = ShownState::of_version(kind, version);
    shown.object_with(version.row.get_text(base::JSON), changed).into_owned()
}

/// Returns the JSON patch (RFC 6902) that turns one object into the other. A text that is not JSON counts as null. Numbers are compared by
/// their spelling.
pub fn patch(from: &str, to: &str) -> ObjectPatch {
    ObjectPatch(json_patch::diff(&parsed(from), &parsed(to)))
}

/// Returns the paths that differ between two objects: `.spec.replicas`, `.metadata.labels["example.com/team"]`, `.spec.list[0]`. Each path
/// occurs once.
pub fn changed(from: &str, to: &str) -> Vec<String> {
    let from = parsed(from);
    let to = parsed(to);
    let patch = json_patch::diff(&from, &to);
    let mut paths: Vec<String> = patch.0.iter().map(|step| path(step.path(), [&from, &to])).collect();
    // Several items that are removed from a list are removed at the same index, one after the other.
    paths.dedup();
    paths
}

/// Returns true if the field at a path changes with every write.
pub fn changes_always(path: &str) -> bool {
    ALWAYS
        .iter()
        .any(|always| path.strip_prefix(always).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])))
}

fn parsed(text: &str) -> Value {
    spelled(text).unwrap_or_default()
}

/// Returns a path in the notation of kind files. A number is an index if either object has a list there.
fn path(pointer: &Pointer, within: [&Value; 2]) -> String {
    let mut path = String::new();
    let mut at = within.map(Some);
    for token in pointer.tokens() {
        let name = token.decoded();
        let is_index = at.iter().flatten().any(|value| value.is_array());
        let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        path.push_str(&match (is_index, is_plain) {
            (true, _) => format!("[{name}]"),
            (false, true) => format!(".{name}"),
            (false, false) => format!("[{}]", Value::from(&*name)),
        });
        at = at.map(|value| match value {
            Some(Value::Array(items)) => name.parse::<usize>().ok().and_then(|place| items.get(place)),
            Some(Value::Object(fields)) => fields.get(&*name),
            _ => None,
        });
    }
    if path.is_empty() { ".".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::{changed, changes_always, patch};
    use json_patch::Patch;
    use serde_json::{Value, json};

    #[test]
    fn paths_of_what_differs_are_written_as_files_write_them() {
        let from = json!({
            "metadata": {"resourceVersion": "1", "labels": {"team": "a", "example.com/b": "c"}},
            "spec": {"list": [1, 2, 3, 4], "map": {"0": "x"}, "gone": true},
        });
        let to = json!({
            "metadata": {"resourceVersion": "2", "labels": {"team": "b"}},
            "spec": {"list": [9], "map": {"0": "y"}},
            "status": {"phase": "Ready"},
        });
        let paths = changed(&from.to_string(), &to.to_string());
        assert_eq!(
            paths,
            [
                ".metadata.labels.team",
                r#".metadata.labels["example.com/b"]"#,
                ".metadata.resourceVersion",
                ".spec.list[0]",
                ".spec.list[1]",
                r#".spec.map["0"]"#,
                ".spec.gone",
                ".status",
            ]
        );
        let not_always: Vec<&String> = paths.iter().filter(|path| !changes_always(path)).collect();
        assert_eq!(not_always.len(), paths.len() - 1);
        assert!(changes_always(".metadata.managedFields[0].time") && !changes_always(".metadata.generations"));
        assert!(changed(&from.to_string(), &from.to_string()).is_empty());
    }

    #[test]
    fn a_patch_makes_one_of_the_other() {
        let from = json!({"a": [1, {"b": 2}], "c": 1});
        let to = json!({"a": [{"b": 3}], "d/e": null});
        let mut patched: Value = from.clone();
        let patch = serde_json::to_string(&patch(&from.to_string(), &to.to_string())).unwrap();
        json_patch::patch(&mut patched, &serde_json::from_str::<Patch>(&patch).unwrap()).unwrap();
        assert_eq!(patched, to);
    }

    #[test]
    fn numbers_of_a_patch_are_spelled_as_the_objects_have_them() {
        let mut dice = fastrand::Rng::with_seed(53);
        let doubles = std::iter::repeat_with(|| f64::from_bits(dice.u64(..))).filter(|double| double.is_finite());
        let mut numbers: Vec<String> = doubles.take(1000).map(|double| format!("{double:e}")).collect();
        numbers.extend(["123456789.12345679", "18446744073709551617", "1.50", "-0.0"].map(str::to_owned));
        let list = numbers.join(",");
        let from = r#"{"a":0.30000000000000004,"b":"n1","c":["s"]}"#;
        let to = format!(r#"{{"a":0.3,"b":"1","c":[18446744073709551616],"d":[{list}]}}"#);
        let patch = serde_json::to_string(&patch(from, &to)).unwrap();
        let expected = [
            r#"{"op":"replace","path":"/a","value":0.3}"#,
            r#"{"op":"replace","path":"/b","value":"1"}"#,
            r#"{"op":"replace","path":"/c/0","value":18446744073709551616}"#,
            &format!(r#"{{"op":"add","path":"/d","value":[{list}]}}"#),
        ];
        assert_eq!(patch, format!("[{}]", expected.join(",")));
        assert_eq!(changed(from, &to), [".a", ".b", ".c[0]", ".d"]);
    }
}
