//! The smallest object that a CRD's schema accepts: only the fields that it requires. Pure.

use serde_json::{Map, Value, json};

/// Returns an object's content in addition to its type and metadata. `schema` is the `openAPIV3Schema` of its version; null if unknown.
///
/// # Errors
/// The field for which no value can be invented, and the reason.
pub(super) fn members(schema: &Value) -> Result<Map<String, Value>, String> {
    let mut members = Map::new();
    let required = names(schema).filter(|name| !["apiVersion", "kind", "metadata", "status"].contains(name));
    let spec = (!schema["properties"]["spec"].is_null() || schema.is_null()).then_some("spec");
    for name in required.chain(spec) {
        let value = match &schema["properties"][name] {
            Value::Null => json!({}),
            schema => value(schema, &format!(".{name}"))?,
        };
        members.insert(name.to_owned(), value);
    }
    Ok(members)
}

fn names(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the smallest value that the schema accepts.
fn value(schema: &Value, path: &str) -> Result<Value, String> {
    if !schema["default"].is_null() {
        return Ok(schema["default"].clone());
    }
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return Ok(first.clone());
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return Ok(json!(1));
    }
    let count = |name: &str| usize::try_from(schema[name].as_u64().unwrap_or_default()).unwrap_or_default();
    match schema["type"].as_str() {
        Some("array") => {
            let items = (0..count("minItems")).map(|place| value(&schema["items"], &format!("{path}[{place}]")));
            items.collect::<Result<Vec<Value>, String>>().map(Value::Array)
        }
        Some("string") => make_text(schema, path, count("minLength")),
        Some("boolean") => Ok(json!(false)),
        Some("integer" | "number") => Ok(number(schema)),
        _ => {
            if count("minProperties") > names(schema).count() {
                return Err(format!("{path} needs members that its schema does not name"));
            }
            let members = names(schema).map(|name| {
                let value = value(&schema["properties"][name], &format!("{path}.{name}"))?;
                Ok((name.to_owned(), value))
            });
            members.collect::<Result<Map<String, Value>, String>>().map(Value::Object)
        }
    }
}

fn make_text(schema: &Value, path: &str, least: usize) -> Result<Value, String> {
    if let Some(pattern) = schema["pattern"].as_str() {
        return Err(format!("{path} is a text of the pattern `{pattern}`"));
    }
    match schema["format"].as_str() {
        Some("date-time") => Ok(json!("2026-01-01T00:00:00Z")),
        Some("date") => Ok(json!("2026-01-01")),
        Some("duration") => Ok(json!("1s")),
        Some(format) if format != "byte" && format != "password" => {
            Err(format!("{path} is a text of the format `{format}`"))
        }
        _ => Ok(json!("a".repeat(least))),
    }
}

fn number(schema: &Value) -> Value {
    let bound = |name: &str| schema[name].as_i64().or_else(|| schema[name].as_f64().map(|bound| bound.ceil() as i64));
    let least = bound("minimum").map(|least| least + i64::from(schema["exclusiveMinimum"] == true));
    let most = bound("maximum").map(|most| most - i64::from(schema["exclusiveMaximum"] == true));
    let number = 0.max(least.unwrap_or(0)).min(most.unwrap_or(i64::MAX));
    match schema["multipleOf"].as_i64().filter(|of| *of > 1) {
        Some(of) => json!((number + of - 1) / of * of),
        None => json!(number),
    }
}

#[cfg(test)]
mod tests {
    use super::members;
    use serde_json::{Value, json};

    fn made(schema: Value) -> Result<Value, String> {
        members(&schema).map(Value::Object)
    }

    #[test]
    fn an_object_has_what_its_schema_requires_and_no_more() {
        let spec = json!({"type": "object", "required": ["name", "size", "mode", "tags", "when", "owner", "port", "step", "ratio"],
            "properties": {
                "name": {"type": "string", "minLength": 3}, "size": {"type": "integer", "minimum": 1},
                "mode": {"type": "string", "enum": ["FAST", "SLOW"]}, "note": {"type": "string"},
                "tags": {"type": "array", "minItems": 2, "items": {"type": "string", "default": "t"}},
                "when": {"type": "string", "format": "date-time"}, "port": {"x-kubernetes-int-or-string": true},
                "owner": {"type": "object", "required": ["id"], "properties": {"id": {"type": "boolean"}, "x": {"type": "string"}}},
                "step": {"type": "integer", "multipleOf": 5, "minimum": 6}, "ratio": {"type": "number", "maximum": -1, "exclusiveMaximum": true}}});
        let root = json!({"type": "object", "required": ["spec", "metadata", "data"],
            "properties": {"spec": spec, "metadata": {"type": "object"}, "data": {"type": "object"}, "status": {"type": "object"}}});
        let expected = json!({"data": {}, "spec": {"name": "aaa", "size": 1, "mode": "FAST", "tags": ["t", "t"], "when": "2026-01-01T00:00:00Z",
            "port": 1, "owner": {"id": false}, "step": 10, "ratio": -2}});
        assert_eq!(made(root), Ok(expected));
        // A spec is created even if it is not required, or the schema is unknown.
        let optional = json!({"properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}});
        assert_eq!(made(optional), Ok(json!({"spec": {}})));
        assert_eq!(made(Value::Null), Ok(json!({"spec": {}})));
        assert_eq!(made(json!({"properties": {"data": {"type": "object"}}})), Ok(json!({})));
    }

    #[test]
    fn a_field_that_cannot_be_made_up_is_named() {
        let of = |field: Value| {
            made(json!({"properties": {"spec": {"type": "object", "required": ["f"], "properties": {"f": field}}}}))
                .unwrap_err()
        };
        assert!(of(json!({"type": "string", "pattern": "^x"})).starts_with(".spec.f is a text of the pattern `^x`"));
        assert!(of(json!({"type": "string", "format": "uuid"})).contains("`uuid`"));
        assert!(of(json!({"type": "object", "minProperties": 1})).contains("needs members"));
    }
}
