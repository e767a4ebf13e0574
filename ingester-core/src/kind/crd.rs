//! The CustomResourceDefinition of a kind that kube derives, as the API server takes it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// The CRD of `K`, with a schema under which the API server stores what the client sent.
pub(super) fn relaxed<K: kube::CustomResourceExt>() -> CustomResourceDefinition {
    changed::<K>(|schema| {
        // These would make the API server change or reject an object. Without `nullable` it drops nulls, which read as absent anyway.
        schema.default = None;
        schema.required = None;
        schema.nullable = None;
    })
}

/// Returns the CRD of `K` as kube derives it, with the struct's required fields, defaults and nulls. It also has the struct's ranges of
/// integers, which some API servers derive from the formats only in part, and others not at all.
pub(super) fn strict<K: kube::CustomResourceExt>() -> CustomResourceDefinition {
    changed::<K>(|schema| {
        if schema.type_.as_deref() == Some("string") && schema.format.is_some() {
            // API servers (1.20 and 1.36 were tried) accept a list as a text with a format. No text matches this pattern, and every value
            // that is not a text passes it.
            let text = JSONSchemaProps { pattern: Some(String::from("$.")), ..JSONSchemaProps::default() };
            schema.not.get_or_insert_with(|| Box::new(text));
        }
        let (least, most) = match schema.format.as_deref() {
            Some("int8") => (i8::MIN.into(), i8::MAX.into()),
            Some("int16") => (i16::MIN.into(), i16::MAX.into()),
            Some("int32") => (i32::MIN.into(), i32::MAX.into()),
            Some("uint8") => (0.0, u8::MAX.into()),
            Some("uint16") => (0.0, u16::MAX.into()),
            Some("uint32") => (0.0, u32::MAX.into()),
            _ => return,
        };
        schema.minimum.get_or_insert(least);
        schema.maximum.get_or_insert(most);
    })
}

fn changed<K: kube::CustomResourceExt>(change: fn(&mut JSONSchemaProps)) -> CustomResourceDefinition {
    let mut crd = K::crd();
    for version in &mut crd.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            walk(schema, change);
        }
    }
    crd
}

/// Changes a schema and all that is in it.
fn walk(schema: &mut JSONSchemaProps, change: fn(&mut JSONSchemaProps)) {
    change(schema);
    if let Some(values) = &mut schema.enum_ {
        // Kubernetes 1.20 refuses a CRD with a null among them, nullable or not. Where a field is not nullable, API servers drop a null
        // before they look at the values: an `Option` of an enum reads it as absent.
        values.retain(|value| !value.0.is_null());
        schema.nullable = None;
    }
    if let Some(description) = &mut schema.description {
        // Descriptions are written for rustdoc. Its links mean nothing to readers of a CRD.
        *description = description.replace("[`", "`").replace("`]", "`");
    }
    if let Some(properties) = &mut schema.properties {
        for property in properties.values_mut() {
            walk(property, change);
        }
    }
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => walk(items, change),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(|items| walk(items, change)),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(more)) = &mut schema.additional_properties {
        walk(more, change);
    }
}

#[cfg(test)]
mod tests {
    use crate::{ColumnValue, Ingestable, Kind};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value as Json, json};

    crate::wire_enum! {
        /// How bright.
        enum Light {
            /// Off.
            Off = 0 => "LIGHT_OFF",
            /// On.
            On = 1 => "LIGHT_ON",
        }
    }

    /// What colour.
    #[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
    enum Colour {
        Red,
        Blue,
    }

    macro_rules! kind {
        ($spec:ident, $kind:literal $(, $strict:meta)?) => {
            /// What is wanted.
            #[derive(kube::CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
            #[kube(group = "example.com", version = "v1", kind = $kind)]
            #[ingest(handles = false)]
            $(#[ingest($strict)])?
            struct $spec {
                #[index]
                colour: Option<Colour>,
                light: Option<Light>,
                colours: Vec<Option<Colour>>,
                #[index]
                time: Option<Time>,
                times: Vec<Time>,
                count: Option<i32>,
            }
        };
    }

    kind!(RelaxedLampSpec, "RelaxedLamp");
    kind!(StrictLampSpec, "StrictLamp", crd = "strict");

    /// The faults of a schema and all that is in it, as Kubernetes 1.20 sees them.
    fn faults(schema: &Json, place: &str, found: &mut Vec<String>) {
        if let Json::Array(elements) = schema {
            elements.iter().enumerate().for_each(|(at, element)| faults(element, &format!("{place}/{at}"), found));
        }
        let Json::Object(fields) = schema else { return };
        if let Some(Json::Array(values)) = fields.get("enum")
            && (values.contains(&Json::Null) || fields.contains_key("nullable"))
        {
            found.push(format!("{place}: an enum that may be null"));
        }
        for (least, most) in [("minItems", "maxItems"), ("minLength", "maxLength"), ("minimum", "maximum")] {
            if let (Some(least), Some(most)) = (fields.get(least), fields.get(most))
                && least.as_f64() > most.as_f64()
            {
                found.push(format!("{place}: from {least} to {most}"));
            }
        }
        for (name, value) in fields {
            faults(value, &format!("{place}/{name}"), found);
        }
    }

    #[test]
    fn a_schema_contradicts_itself_in_no_form() {
        for kind in [Kind::of::<RelaxedLamp>(), Kind::of::<StrictLamp>()] {
            let crd = serde_json::to_value(kind.crd().unwrap()).unwrap();
            let mut found = Vec::new();
            faults(&crd, "", &mut found);
            assert!(found.is_empty(), "{}: {found:#?}", kind.kind());
        }
        let mut found = Vec::new();
        faults(&json!({"a": [{"enum": ["x", null]}], "b": {"minItems": 1, "maxItems": 0}}), "", &mut found);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn an_enum_has_its_names_and_a_strict_time_its_format() {
        let spec = |kind: Kind| {
            let crd = serde_json::to_value(kind.crd().unwrap()).unwrap();
            crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].clone()
        };
        let relaxed = spec(Kind::of::<RelaxedLamp>());
        let strict = spec(Kind::of::<StrictLamp>());
        for spec in [&relaxed, &strict] {
            assert_eq!(spec["colour"]["enum"], json!(["Red", "Blue"]));
            assert_eq!(spec["colours"]["items"]["enum"], json!(["Red", "Blue"]));
            assert_eq!(spec["light"]["enum"], json!(["LIGHT_OFF", "LIGHT_ON"]));
        }
        assert_eq!((&strict["time"]["nullable"], &relaxed["time"]["nullable"]), (&json!(true), &Json::Null));
        // Lists are refused in another way.
        assert_eq!((&strict["time"]["type"], &strict["time"]["format"]), (&json!("string"), &json!("date-time")));
        assert!(strict["time"]["not"].is_object() && relaxed["time"]["not"].is_null());
    }
}
