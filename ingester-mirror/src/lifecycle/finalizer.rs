//! Our finalizer, and the JSON patches (RFC 6902) that add and remove it. Pure.
//!
//! # Flow
//! A live object carries [`FINALIZER`], so that Kubernetes keeps a deleted object until its row says that it is deleted. The
//! patch that removes it is made here and nowhere else.
//!
//! # Guarantees
//! - A patch changes our entry of `metadata.finalizers` and nothing else: no other finalizer, and no field that we do not
//!   know.
//! - A patch applies only to the version that it was made for, because it first tests uid and resourceVersion. On any other
//!   version the API server rejects the whole patch (422), and the caller reads the object again.

use ingester_core::marks::FINALIZER;
use ingester_core::object::Meta;
use serde_json::{Value, json};

/// The index of ours among an object's finalizers.
pub(crate) fn position(finalizers: &[Box<str>]) -> Option<usize> {
    finalizers.iter().position(|finalizer| finalizer.as_ref() == FINALIZER)
}

/// The patch that adds ours; `None` if the object has it.
pub(crate) fn addition(meta: &Meta) -> Option<Value> {
    if position(&meta.finalizers).is_some() {
        return None;
    }
    let mut patch = tests_of_identity(meta);
    // The test of the version ensures that the list is still absent, so no other entry is overwritten.
    patch.push(if meta.finalizers.is_empty() {
        json!({"op": "add", "path": "/metadata/finalizers", "value": [FINALIZER]})
    } else {
        json!({"op": "add", "path": "/metadata/finalizers/-", "value": FINALIZER})
    });
    Some(Value::Array(patch))
}

/// The patch that removes every entry of ours; `None` if there is none.
pub(crate) fn removal(meta: &Meta) -> Option<Value> {
    let ours = meta.finalizers.iter().enumerate().filter(|(_, finalizer)| finalizer.as_ref() == FINALIZER);
    // From the last to the first: the entries before a removed one keep their index.
    let removals: Vec<Value> = ours
        .rev()
        .flat_map(|(index, _)| {
            let path = format!("/metadata/finalizers/{index}");
            [json!({"op": "test", "path": path, "value": FINALIZER}), json!({"op": "remove", "path": path})]
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
    use ingester_core::marks::FINALIZER;
    use ingester_core::object::Meta;
    use serde_json::json;

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
        assert_eq!(addition(&object(&[])), Some(json!([tests[0], tests[1], first])));
        let further = json!({"op": "add", "path": "/metadata/finalizers/-", "value": FINALIZER});
        assert_eq!(addition(&object(&["a/b"])), Some(json!([tests[0], tests[1], further])));
        assert_eq!(addition(&object(&["a/b", FINALIZER])), None);
    }

    #[test]
    fn our_finalizer_is_removed_at_any_position_and_no_other_is() {
        assert_eq!(removal(&object(&[])), None);
        assert_eq!(removal(&object(&["a/b"])), None);
        let patch = removal(&object(&["a/b", FINALIZER, "c/d"])).unwrap();
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
        let patch = removal(&object(&[FINALIZER, "a/b", FINALIZER])).unwrap();
        let paths: Vec<&str> = patch.as_array().unwrap().iter().filter_map(|op| op["path"].as_str()).collect();
        assert_eq!(
            paths[2..],
            ["/metadata/finalizers/2", "/metadata/finalizers/2", "/metadata/finalizers/0", "/metadata/finalizers/0"]
        );
    }
}
