//! Our finalizer, and the JSON patches (RFC 6902) that add and remove it. Pure.
//!
//! # Flow
//! A live object carries our finalizer, so that Kubernetes keeps a deleted object until its row records the deletion. Only this module
//! makes the patch that removes it.
//!
//! # Guarantees
//! - A patch either adds our entry to `metadata.finalizers`, or removes our entry and those with our former prefixes. It changes no other
//!   finalizer and no other field.
//! - A patch applies only to the version that it was made for, because it first tests uid and resourceVersion. On any other
//!   version the API server rejects the whole patch (422), and the caller reads the object again.

use ingester_core::marks::{Mark, Marks};
use ingester_core::object::Meta;
use serde_json::{Value, json};

/// Returns true if our finalizer is in the list.
pub(crate) fn is_there(finalizers: &[Box<str>], marks: &Marks) -> bool {
    let ours = marks.name(Mark::Finalizer);
    finalizers.iter().any(|finalizer| ours.is(finalizer))
}

/// Returns true if our finalizer, or one of a former prefix, holds the object.
pub(crate) fn holds(finalizers: &[Box<str>], marks: &Marks) -> bool {
    finalizers.iter().any(|finalizer| marks.is(Mark::Finalizer, finalizer))
}

/// Returns the patch that adds our finalizer; `None` if the object has it.
pub(crate) fn addition(meta: &Meta, marks: &Marks) -> Option<Value> {
    if is_there(&meta.finalizers, marks) {
        return None;
    }
    let ours = marks.name(Mark::Finalizer).to_string();
    let mut patch = tests_of_identity(meta);
    // This patch creates the list. It overwrites nobody's entry, because it tests the version, in which the list is absent.
    patch.push(if meta.finalizers.is_empty() {
        json!({"op": "add", "path": "/metadata/finalizers", "value": [ours]})
    } else {
        json!({"op": "add", "path": "/metadata/finalizers/-", "value": ours})
    });
    Some(Value::Array(patch))
}

/// Returns the patch that removes our finalizer and those with former prefixes; `None` if the object has none of them.
pub(crate) fn removal(meta: &Meta, marks: &Marks) -> Option<Value> {
    let ours = meta.finalizers.iter().enumerate().filter(|(_, finalizer)| marks.is(Mark::Finalizer, finalizer));
    // Remove from the last entry to the first, so that the entries before a removed one keep their index.
    let removals: Vec<Value> = ours
        .rev()
        .flat_map(|(index, finalizer)| {
            let path = format!("/metadata/finalizers/{index}");
            [json!({"op": "test", "path": path, "value": finalizer}), json!({"op": "remove", "path": path})]
        })
        .collect();
    if removals.is_empty() {
        return None;
    }
    let mut patch = tests_of_identity(meta);
    patch.extend(removals);
    Some(Value::Array(patch))
}

fn tests_of_identity(meta: &Meta) -> Vec<Value> {
    vec![
        json!({"op": "test", "path": "/metadata/uid", "value": meta.uid}),
        json!({"op": "test", "path": "/metadata/resourceVersion", "value": meta.resource_version.to_string()}),
    ]
}

#[cfg(test)]
mod tests {
    use super::{addition, removal};
    use ingester_core::marks::Marks;
    use ingester_core::object::Meta;
    use serde_json::json;

    const FINALIZER: &str = "michelangelo/Ingester";
    const MARKS: &Marks = &Marks::MICHELANGELO;

    fn object(finalizers: &[&str]) -> Meta {
        Meta {
            uid: "u".into(),
            resource_version: 7,
            finalizers: finalizers.iter().map(|finalizer| (*finalizer).into()).collect(),
            ..Meta::default()
        }
    }

    #[test]
    fn the_first_finalizer_creates_the_list_and_later_ones_are_appended() {
        let tests = [
            json!({"op": "test", "path": "/metadata/uid", "value": "u"}),
            json!({"op": "test", "path": "/metadata/resourceVersion", "value": "7"}),
        ];
        let first = json!({"op": "add", "path": "/metadata/finalizers", "value": [FINALIZER]});
        assert_eq!(addition(&object(&[]), MARKS), Some(json!([tests[0], tests[1], first])));
        let further = json!({"op": "add", "path": "/metadata/finalizers/-", "value": FINALIZER});
        assert_eq!(addition(&object(&["a/b"]), MARKS), Some(json!([tests[0], tests[1], further])));
        assert_eq!(addition(&object(&["a/b", FINALIZER]), MARKS), None);
    }

    #[test]
    fn our_finalizer_is_removed_at_any_position_and_no_other_is() {
        assert_eq!(removal(&object(&[]), MARKS), None);
        assert_eq!(removal(&object(&["a/b"]), MARKS), None);
        let patch = removal(&object(&["a/b", FINALIZER, "c/d"]), MARKS).unwrap();
        let expected = json!([
            {"op": "test", "path": "/metadata/uid", "value": "u"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "test", "path": "/metadata/finalizers/1", "value": FINALIZER},
            {"op": "remove", "path": "/metadata/finalizers/1"},
        ]);
        assert_eq!(patch, expected);
    }

    #[test]
    fn a_duplicate_finalizer_is_removed_twice_from_the_end() {
        let patch = removal(&object(&[FINALIZER, "a/b", FINALIZER]), MARKS).unwrap();
        let paths: Vec<&str> = patch.as_array().unwrap().iter().filter_map(|op| op["path"].as_str()).collect();
        assert_eq!(
            paths[2..],
            ["/metadata/finalizers/2", "/metadata/finalizers/2", "/metadata/finalizers/0", "/metadata/finalizers/0"]
        );
    }
    #[test]
    fn the_finalizer_of_a_former_prefix_is_removed_with_ours_and_never_added() {
        let marks = Marks::new("data.example.com", &["michelangelo"]).unwrap();
        let meta = object(&[FINALIZER, "a/b", "data.example.com/Ingester"]);
        let tested = |patch: &serde_json::Value| {
            let tests = patch.as_array().unwrap().iter().skip(2).filter(|operation| operation["op"] == "test");
            tests.map(|operation| operation["value"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(tested(&removal(&meta, &marks).unwrap()), ["data.example.com/Ingester", FINALIZER]);
        let added = addition(&object(&[FINALIZER]), &marks).unwrap();
        assert_eq!(added[2]["value"], "data.example.com/Ingester");
        assert_eq!(addition(&meta, &marks), None);
        let other = Marks::new("other.example.com", &[]).unwrap();
        assert_eq!(removal(&meta, &other), None);
    }
}
