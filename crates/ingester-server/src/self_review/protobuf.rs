//! A review in Kubernetes' protobuf. Its few fields are texts and messages of texts; everything else is skipped.

use crate::request::path::SelfReview;
use serde_json::{Map, Value as Json, json};

/// The prefix of Kubernetes' protobuf. A message `runtime.Unknown` follows: type and raw text of the object.
const MAGIC: &[u8] = b"k8s\0";

const NOT_PROTOBUF: &str = "it is not Kubernetes' protobuf";

/// A field to read from a message: its number, its name in JSON, and its content.
type Field = (u64, &'static str, FieldContent);

#[derive(Clone, Copy)]
enum FieldContent {
    Text,
    Message(&'static [Field]),
    /// A field that would change the question, so it cannot be skipped.
    Unreadable,
}

const OF_RESOURCE: &[Field] = &[
    (1, "namespace", FieldContent::Text),
    (2, "verb", FieldContent::Text),
    (3, "group", FieldContent::Text),
    (4, "version", FieldContent::Text),
    (5, "resource", FieldContent::Text),
    (6, "subresource", FieldContent::Text),
    (7, "name", FieldContent::Text),
    (8, "fieldSelector", FieldContent::Unreadable),
    (9, "labelSelector", FieldContent::Unreadable),
];
const OF_PATH: &[Field] = &[(1, "path", FieldContent::Text), (2, "verb", FieldContent::Text)];
const OF_ACCESS: &[Field] = &[
    (1, "resourceAttributes", FieldContent::Message(OF_RESOURCE)),
    (2, "nonResourceAttributes", FieldContent::Message(OF_PATH)),
];
const OF_RULES: &[Field] = &[(1, "namespace", FieldContent::Text)];
const OF_UNKNOWN: &[Field] = &[(1, "typeMeta", FieldContent::Message(&[(2, "kind", FieldContent::Text)]))];

/// The number of the object's text in `runtime.Unknown`.
const RAW: u64 = 2;

/// Reads a review into its JSON: `kind` and `spec`.
///
/// # Errors
/// The reason why it cannot be read.
pub(super) fn read(review: SelfReview, bytes: &[u8]) -> Result<Json, String> {
    let unknown = bytes.strip_prefix(MAGIC).ok_or(NOT_PROTOBUF)?;
    let kind = message(unknown, OF_UNKNOWN)?["typeMeta"]["kind"].take();
    let raw = fields(unknown)?.into_iter().filter(|(number, _)| *number == RAW).map(|(_, raw)| raw).next_back();
    let of_spec = match review {
        SelfReview::Access => OF_ACCESS,
        SelfReview::Rules => OF_RULES,
        SelfReview::User => &[],
    };
    let mut object = message(raw.unwrap_or_default(), &[(2, "spec", FieldContent::Message(of_spec))])?;
    object["kind"] = kind;
    Ok(object)
}

fn message(bytes: &[u8], known: &[Field]) -> Result<Json, String> {
    let mut object = Map::new();
    for (number, value) in fields(bytes)? {
        let Some((_, name, has)) = known.iter().find(|(known, ..)| *known == number) else { continue };
        let value = match has {
            FieldContent::Text => json!(std::str::from_utf8(value).map_err(|_| format!("{name} is not UTF-8"))?),
            FieldContent::Message(known) => message(value, known)?,
            FieldContent::Unreadable => return Err(format!("{name} is only read from JSON: send the review as JSON")),
        };
        object.insert((*name).to_owned(), value);
    }
    Ok(object.into())
}

/// Returns the fields of a message that have a length, by their numbers.
fn fields(mut bytes: &[u8]) -> Result<Vec<(u64, &[u8])>, &'static str> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let length = match key & 7 {
            0 => {
                varint(&mut bytes)?;
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes)?,
            5 => 4,
            _ => return Err(NOT_PROTOBUF),
        };
        let length = usize::try_from(length).map_err(|_| NOT_PROTOBUF)?;
        let (value, rest) = bytes.split_at_checked(length).ok_or(NOT_PROTOBUF)?;
        bytes = rest;
        if key & 7 == 2 {
            found.push((key >> 3, value));
        }
    }
    Ok(found)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or(NOT_PROTOBUF)?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(NOT_PROTOBUF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a field with this number.
    fn field(number: u8, value: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, value.len().try_into().unwrap()], value].concat()
    }

    fn review(kind: &str, spec: &[u8]) -> Vec<u8> {
        let types = [field(1, b"authorization.k8s.io/v1"), field(2, kind.as_bytes())].concat();
        // Metadata come first; a number and a double are skipped.
        let raw =
            [field(1, b""), field(2, spec), vec![3 << 3, 0xac, 0x02], [&[4 << 3 | 1][..], &[0; 8]].concat()].concat();
        [MAGIC.to_vec(), field(1, &types), field(2, &raw), field(3, b""), field(4, b"")].concat()
    }

    #[test]
    fn a_review_is_what_it_is_in_json() {
        let resource = [field(1, b"ml"), field(2, b"get"), field(3, b"g"), field(5, b"models"), field(6, b"")].concat();
        let expected = json!({
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "namespace": "ml", "verb": "get", "group": "g", "resource": "models", "subresource": "",
            }},
        });
        assert_eq!(read(SelfReview::Access, &review("SelfSubjectAccessReview", &field(1, &resource))), Ok(expected));
        let path = [field(1, b"/healthz"), field(2, b"get")].concat();
        let read_path = read(SelfReview::Access, &review("X", &field(2, &path))).unwrap();
        assert_eq!(read_path["spec"]["nonResourceAttributes"], json!({"path": "/healthz", "verb": "get"}));
        assert_eq!(
            read(SelfReview::Rules, &review("X", &field(1, b"ml"))).unwrap()["spec"],
            json!({"namespace": "ml"})
        );
    }

    #[test]
    fn a_selector_is_not_left_out_of_a_question() {
        let resource = [field(2, b"list"), field(9, b"")].concat();
        let error = read(SelfReview::Access, &review("X", &field(1, &resource))).unwrap_err();
        assert!(error.contains("labelSelector is only read from JSON"), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let whole = [MAGIC, &bytes].concat();
            for review in SelfReview::ALL {
                let _ = read(review, &whole);
            }
            let mut broken = review("SelfSubjectAccessReview", b"");
            broken.truncate(bytes.len());
            let _ = read(SelfReview::Access, &broken);
        }
    }
}
