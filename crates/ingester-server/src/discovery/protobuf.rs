//! OpenAPI v2 in protobuf, the only form in which kubectl reads it: the message `openapi.v2.Document` of gnostic-models,
//! `openapiv2/OpenAPIv2.proto`. A keyword without a field in that message (`nullable`, `anyOf`) is left out, as the API server does.

use serde_json::Value as Json;

/// A message: the fields that it takes from an object of the JSON document.
struct Message {
    /// By their numbers.
    fields: &'static [Field],
    /// The number of the list of vendor extensions, such as `x-kubernetes-group-version-kind`.
    extensions: Option<u32>,
}

/// A field of a message: its name in JSON, its number, and its content.
type Field = (&'static str, u32, FieldContent);

#[derive(Clone, Copy)]
enum FieldContent {
    Text,
    Texts,
    Flag,
    Integer,
    Number,
    /// Anything, as a text of JSON.
    Any,
    /// One message or several, each within messages whose only field has these numbers, from the outside to the inside.
    Messages(&'static [u32], &'static Message),
    /// An object as a message with a list of named values, which has this number; each value is within messages as above.
    Named(u32, &'static [u32], &'static Message),
    /// `type`: a text or several, in a message.
    Types,
    /// `additionalProperties`
    SchemaOrFlag,
}

static DOCUMENT: Message = Message {
    fields: &[
        ("swagger", 1, FieldContent::Text),
        ("info", 2, FieldContent::Messages(&[], &INFO)),
        ("paths", 8, FieldContent::Named(2, &[], &PATH)),
        ("definitions", 9, FieldContent::Named(1, &[], &SCHEMA)),
    ],
    extensions: None,
};
static INFO: Message =
    Message { fields: &[("title", 1, FieldContent::Text), ("version", 2, FieldContent::Text)], extensions: None };
static PATH: Message = Message {
    fields: &[
        ("get", 2, FieldContent::Messages(&[], &OPERATION)),
        ("patch", 7, FieldContent::Messages(&[], &OPERATION)),
    ],
    extensions: None,
};
static OPERATION: Message = Message {
    fields: &[
        // Parameter, NonBodyParameter, QueryParameterSubSchema
        ("parameters", 8, FieldContent::Messages(&[1, 2, 3], &PARAMETER)),
        ("responses", 9, FieldContent::Named(1, &[1], &RESPONSE)),
    ],
    extensions: Some(13),
};
static PARAMETER: Message = Message {
    fields: &[
        ("in", 2, FieldContent::Text),
        ("name", 4, FieldContent::Text),
        ("type", 6, FieldContent::Text),
        ("uniqueItems", 20, FieldContent::Flag),
    ],
    extensions: None,
};
static RESPONSE: Message = Message {
    fields: &[("description", 1, FieldContent::Text), ("schema", 2, FieldContent::Messages(&[1], &SCHEMA))],
    extensions: None,
};
static SCHEMA: Message = Message {
    fields: &[
        ("$ref", 1, FieldContent::Text),
        ("format", 2, FieldContent::Text),
        ("title", 3, FieldContent::Text),
        ("description", 4, FieldContent::Text),
        ("default", 5, FieldContent::Any),
        ("multipleOf", 6, FieldContent::Number),
        ("maximum", 7, FieldContent::Number),
        ("exclusiveMaximum", 8, FieldContent::Flag),
        ("minimum", 9, FieldContent::Number),
        ("exclusiveMinimum", 10, FieldContent::Flag),
        ("maxLength", 11, FieldContent::Integer),
        ("minLength", 12, FieldContent::Integer),
        ("pattern", 13, FieldContent::Text),
        ("maxItems", 14, FieldContent::Integer),
        ("minItems", 15, FieldContent::Integer),
        ("uniqueItems", 16, FieldContent::Flag),
        ("maxProperties", 17, FieldContent::Integer),
        ("minProperties", 18, FieldContent::Integer),
        ("required", 19, FieldContent::Texts),
        ("additionalProperties", 21, FieldContent::SchemaOrFlag),
        ("type", 22, FieldContent::Types),
        ("items", 23, FieldContent::Messages(&[1], &SCHEMA)),
        ("properties", 25, FieldContent::Named(1, &[], &SCHEMA)),
        ("example", 30, FieldContent::Any),
    ],
    extensions: Some(31),
};

/// Returns the bytes of a document of OpenAPI v2.
pub(super) fn document(json: &Json) -> Vec<u8> {
    message(json, &DOCUMENT)
}

fn message(json: &Json, Message { fields, extensions }: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, number, has) in *fields {
        if let Some(value) = json.get(name) {
            put(&mut out, *number, *has, value);
        }
    }
    if let (Some(number), Some(object)) = (extensions, json.as_object()) {
        for (name, value) in object.iter().filter(|(name, _)| name.starts_with("x-")) {
            put_bytes(&mut out, *number, &named(name, &any(value)));
        }
    }
    out
}

fn put(out: &mut Vec<u8>, number: u32, has: FieldContent, value: &Json) {
    match has {
        FieldContent::Text | FieldContent::Texts => {
            each(value).iter().filter_map(Json::as_str).for_each(|text| put_bytes(out, number, text.as_bytes()));
        }
        FieldContent::Flag => value.as_bool().into_iter().for_each(|flag| put_varint(out, number, flag.into())),
        // A negative integer is written in its 64-bit form.
        FieldContent::Integer => {
            value.as_i64().into_iter().for_each(|value| put_varint(out, number, value.cast_unsigned()))
        }
        FieldContent::Number => {
            if let Some(value) = value.as_f64() {
                varint(out, u64::from(number) << 3 | 1);
                out.extend(value.to_le_bytes());
            }
        }
        FieldContent::Any => put_bytes(out, number, &any(value)),
        FieldContent::Messages(within, of) => {
            each(value).iter().for_each(|value| put_bytes(out, number, &wrapped(within, message(value, of))));
        }
        FieldContent::Named(entry, within, of) => {
            let mut all = Vec::new();
            for (name, value) in value.as_object().into_iter().flatten() {
                put_bytes(&mut all, entry, &named(name, &wrapped(within, message(value, of))));
            }
            put_bytes(out, number, &all);
        }
        FieldContent::Types => {
            let mut types = Vec::new();
            put(&mut types, 1, FieldContent::Texts, value);
            put_bytes(out, number, &types);
        }
        FieldContent::SchemaOrFlag => {
            let mut item = Vec::new();
            match value.as_bool() {
                Some(flag) => put_varint(&mut item, 2, flag.into()),
                None => put_bytes(&mut item, 1, &message(value, &SCHEMA)),
            }
            put_bytes(out, number, &item);
        }
    }
}

/// Returns the values of a list, or the only value.
fn each(value: &Json) -> &[Json] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// Wraps a message in others.
fn wrapped(within: &[u32], message: Vec<u8>) -> Vec<u8> {
    within.iter().rev().fold(message, |inner, number| {
        let mut outer = Vec::new();
        put_bytes(&mut outer, *number, &inner);
        outer
    })
}

/// Returns an entry of a list of named values.
fn named(name: &str, value: &[u8]) -> Vec<u8> {
    let mut entry = Vec::new();
    put_bytes(&mut entry, 1, name.as_bytes());
    put_bytes(&mut entry, 2, value);
    entry
}

/// Returns the message `Any`, with YAML. JSON is YAML.
fn any(value: &Json) -> Vec<u8> {
    let mut any = Vec::new();
    put_bytes(&mut any, 2, value.to_string().as_bytes());
    any
}

fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    varint(out, u64::from(number) << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_varint(out: &mut Vec<u8>, number: u32, value: u64) {
    varint(out, u64::from(number) << 3);
    varint(out, value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the fields of a message: numbers and contents.
    fn read_fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let next = |bytes: &mut &[u8]| {
            let mut value = 0_u64;
            let mut shift = 0;
            loop {
                let (first, rest) = bytes.split_first().unwrap();
                *bytes = rest;
                value |= u64::from(first & 0x7f) << shift;
                shift += 7;
                if first & 0x80 == 0 {
                    return value;
                }
            }
        };
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = next(&mut bytes);
            let content = match key & 7 {
                0 => next(&mut bytes).to_le_bytes().to_vec(),
                1 => bytes.split_off(..8).unwrap().to_vec(),
                2 => {
                    let length = usize::try_from(next(&mut bytes)).unwrap();
                    bytes.split_off(..length).unwrap().to_vec()
                }
                other => panic!("wire type {other}"),
            };
            fields.push((key >> 3, content));
        }
        fields
    }

    /// Returns the content at these numbers, one within the other; if a field occurs several times, the last one.
    fn at(bytes: &[u8], numbers: &[u64]) -> Vec<u8> {
        numbers.iter().fold(bytes.to_vec(), |bytes, number| {
            let found = read_fields(&bytes).into_iter().rfind(|(of, _)| of == number);
            found.unwrap_or_else(|| panic!("no {number} of {numbers:?}")).1
        })
    }

    fn read_text(bytes: &[u8], numbers: &[u64]) -> String {
        String::from_utf8(at(bytes, numbers)).unwrap()
    }

    #[test]
    fn every_field_has_its_number() {
        let long = "d".repeat(300);
        let schema = json!({
            "type": "object", "description": long, "nullable": true, "required": ["a", "b"], "minimum": 0.5, "minLength": -1,
            "additionalProperties": false, "default": {"a": [1]}, "items": {"$ref": "#/definitions/M"},
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}],
            "properties": {"spec": {"properties": {"deep": {"type": "string"}}}},
        });
        let response = json!({"description": "OK", "schema": {"$ref": "#/definitions/Pod"}});
        let patch = json!({
            "parameters": [{"name": "dryRun", "in": "query", "type": "string", "uniqueItems": true}],
            "responses": {"200": response}, "x-kubernetes-action": "patch",
        });
        let whole = json!({"swagger": "2.0", "definitions": {"Pod": schema}, "paths": {"/p": {"patch": patch}}});
        let bytes = document(&whole);
        assert_eq!(read_text(&bytes, &[1]), "2.0");
        assert_eq!(read_text(&bytes, &[9, 1, 1]), "Pod");
        let pod = at(&bytes, &[9, 1, 2]);
        assert_eq!(read_text(&pod, &[22, 1]), "object");
        assert_eq!(read_text(&pod, &[4]), long);
        assert_eq!(read_fields(&pod).iter().filter(|(number, _)| *number == 19).count(), 2);
        assert_eq!(at(&pod, &[9]), 0.5_f64.to_le_bytes());
        assert_eq!(at(&pod, &[12]), (-1_i64).to_le_bytes());
        assert_eq!(at(&pod, &[21, 2]), 0_u64.to_le_bytes());
        assert_eq!(read_text(&pod, &[5, 2]), r#"{"a":[1]}"#);
        assert_eq!(read_text(&pod, &[23, 1, 1]), "#/definitions/M");
        assert_eq!(read_text(&pod, &[31, 1]), "x-kubernetes-group-version-kind");
        assert_eq!(read_text(&pod, &[31, 2, 2]), r#"[{"group":"","kind":"Pod","version":"v1"}]"#);
        assert_eq!(read_text(&pod, &[25, 1, 2, 25, 1, 1]), "deep");
        assert!(read_fields(&pod).iter().all(|(number, _)| [4, 5, 9, 12, 19, 21, 22, 23, 25, 31].contains(number)));
        assert_eq!(read_text(&bytes, &[8, 2, 1]), "/p");
        let patch = at(&bytes, &[8, 2, 2, 7]);
        assert_eq!(read_text(&patch, &[8, 1, 2, 3, 4]), "dryRun");
        assert_eq!(at(&patch, &[8, 1, 2, 3, 20]), 1_u64.to_le_bytes());
        assert_eq!(read_text(&patch, &[9, 1, 2, 1, 2, 1, 1]), "#/definitions/Pod");
        assert_eq!(read_text(&patch, &[13, 2, 2]), "\"patch\"");
    }
}
