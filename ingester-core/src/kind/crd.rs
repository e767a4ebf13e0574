//! The CustomResourceDefinition of a kind that kube derives, as the API server takes it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// The CRD of `K`, with a schema under which the API server stores what the client sent.
pub(super) fn crd<K: kube::CustomResourceExt>() -> CustomResourceDefinition {
    let mut crd = K::crd();
    for version in &mut crd.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            relax(schema);
        }
    }
    crd
}

/// Removes what would make the API server change or reject an object: defaults, required lists and `nullable` (without
/// it the server drops nulls, which read as absent anyway).
fn relax(schema: &mut JSONSchemaProps) {
    schema.default = None;
    schema.required = None;
    schema.nullable = None;
    if let Some(description) = &mut schema.description {
        // Descriptions are written for rustdoc. Its links mean nothing to readers of a CRD.
        *description = description.replace("[`", "`").replace("`]", "`");
    }
    if let Some(properties) = &mut schema.properties {
        for property in properties.values_mut() {
            relax(property);
        }
    }
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => relax(items),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(relax),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(more)) = &mut schema.additional_properties {
        relax(more);
    }
}
