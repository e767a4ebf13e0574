//! JSON schemas for fields whose form the API server must leave alone, for `#[schemars(schema_with = "...")]`.
//! May use: nothing.

use schemars::{Schema, SchemaGenerator, json_schema};

/// Any JSON value, kept as it is.
pub fn open(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
}

/// A JSON object, kept as it is.
pub fn open_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// A list of JSON objects, kept as they are.
pub fn open_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "type": "object", "x-kubernetes-preserve-unknown-fields": true }
    })
}

/// An integer or a string, as for Kubernetes' quantities and protobuf's 64-bit integers.
pub(crate) fn int_or_string(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-int-or-string": true })
}
