//! Objects as JSON text, and their rows.

use crate::places::{ENTRY, Step};
use ingester_core::Kind;
use ingester_core::kind::DecodeError;
use ingester_core::object::{ManagedFields, Object, ObjectError};
use ingester_core::row::Row;
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_core::wire::Timestamp;
use std::fmt;

/// Why an object has no row.
#[derive(Debug)]
pub(crate) enum Refusal {
    Object(ObjectError),
    Decode(DecodeError),
}

impl Refusal {
    /// The path of the wrong field, if the error names one.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Refusal::Object(ObjectError::Json(error)) | Refusal::Decode(DecodeError::Json(error)) => Some(error.path()),
            Refusal::Object(ObjectError::Missing(path)) => Some(path),
            Refusal::Object(ObjectError::ResourceVersion(_)) => Some("metadata.resourceVersion"),
            Refusal::Object(_) | Refusal::Decode(_) => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Object(error) => error.fmt(f),
            Refusal::Decode(error) => error.fmt(f),
        }
    }
}

/// The row of an object, made as `run` and `import` make it.
pub(crate) fn read(kind: &Kind, text: &str) -> Result<Row, Refusal> {
    let object = Object::parse(text, ManagedFields::Prune).map_err(Refusal::Object)?;
    let row = kind.row(&object).map_err(Refusal::Decode)?;
    Ok(row.unwrap_or_else(|| panic!("{kind:?} leaves objects out")))
}

/// Like [`read`], but the object must have a row.
pub(crate) fn row(kind: &Kind, text: &str) -> Row {
    read(kind, text).unwrap_or_else(|refusal| panic!("{kind:?}: {refusal}\n{text}"))
}

/// The value of a column.
pub(crate) fn column<'r>(kind: &Kind, row: &'r Row, name: &str) -> &'r Value {
    let place = kind.table().columns.iter().position(|column| column.name.as_str() == name);
    &row.values[place.unwrap_or_else(|| panic!("{kind:?} has no column {name}"))]
}

/// The text of the `json` column.
pub(crate) fn json(row: &Row) -> &str {
    match &row.values[base::JSON] {
        Value::Text(text) => text,
        other => panic!("the json column holds {other}"),
    }
}

/// Returns true if a column's value equals `expected`, which is JSON. Times compare as instants.
pub(crate) fn same(value: &Value, expected: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (value, expected) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(value), Json::Bool(expected)) => value == expected,
        (Value::Int(value), Json::Number(expected)) => expected.as_i64() == Some(*value),
        (Value::UInt(value), Json::Number(expected)) => expected.as_u64() == Some(*value),
        (Value::Text(value), Json::String(expected)) => **value == **expected,
        (Value::Time(value), Json::String(_)) => {
            serde_json::from_value::<Timestamp>(expected.clone()).is_ok_and(|expected| expected.micros() == *value)
        }
        _ => false,
    }
}

/// An object of `kind` with the fields that every object needs, and `value` at the end of `steps`.
pub(crate) fn object(kind: &Kind, steps: &[Step], value: &str) -> String {
    let mut members = vec![
        ("apiVersion", format!("{:?}", kind.api_version())),
        ("kind", format!("{:?}", kind.kind())),
        ("metadata", r#"{"name":"a","namespace":"b","uid":"c","resourceVersion":"1"}"#.to_owned()),
    ];
    let (Step::Field(top), inner) = (steps[0], &steps[1..]) else { panic!("an object has fields") };
    let value = match (top, inner.first()) {
        // Keep the name: every object needs one.
        ("metadata", Some(Step::Field(field))) if *field != "name" => {
            format!(r#"{{"name":"a",{:?}:{}}}"#, field, within(&inner[1..], value))
        }
        _ => within(inner, value),
    };
    members.retain(|(name, _)| *name != top);
    members.push((top, value));
    let members: Vec<String> = members.into_iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn within(steps: &[Step], value: &str) -> String {
    steps.iter().rev().fold(value.to_owned(), |value, step| match step {
        Step::Field(name) => format!("{{{name:?}:{value}}}"),
        Step::Item => format!("[{value}]"),
        Step::Entry => format!("{{{ENTRY:?}:{value}}}"),
    })
}
