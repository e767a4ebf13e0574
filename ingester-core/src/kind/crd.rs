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

/// The CRD of `K` as kube derives it: required fields, defaults and nulls are those of the struct. So are the ranges of integers, which API
/// servers do not read from their formats, or only from some.
pub(super) fn strict<K: kube::CustomResourceExt>() -> CustomResourceDefinition {
    changed::<K>(|schema| {
        if schema.type_.as_deref() == Some("string") && schema.format.is_some() {
            // API servers (1.20 and 1.36 were tried) take a list for a text with a format. No list has these two.
            schema.min_items.get_or_insert(1);
            schema.max_items.get_or_insert(0);
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
