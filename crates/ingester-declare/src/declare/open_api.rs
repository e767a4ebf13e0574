//! A built-in type of an API server as a CRD, from the server's OpenAPI document: version 3, or 2 of servers before Kubernetes 1.23.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Map, Value as Json, json};

/// How deep a type is described: deeper than any field that is offered as a column.
const DEPTH: usize = 8;

/// Types whose values have two forms in JSON, by the ends of their names.
const QUANTITY: &str = ".api.resource.Quantity";
const INT_OR_STRING: &str = ".util.intstr.IntOrString";

/// The pattern of quantities in generated CRDs.
const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// A built-in type, as discovery has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltInType {
    /// Empty for the core group.
    pub group: String,
    /// The preferred version.
    pub version: String,
    /// As objects have it.
    pub kind: String,
    /// As API paths have it.
    pub plural: String,
    /// The names that kubectl also takes.
    pub short_names: Vec<String>,
    /// The objects live in namespaces.
    pub namespaced: bool,
}

/// Describes a built-in type as a CRD, by the OpenAPI document of its group and version, or of the whole server.
///
/// # Errors
/// If the document has no such type.
pub fn crd_of_built_in(found: &BuiltInType, document: &Json) -> Result<CustomResourceDefinition, String> {
    let BuiltInType { group, version, kind, plural, short_names, namespaced } = found;
    let schemas = document.get("definitions").unwrap_or(&document["components"]["schemas"]);
    let this = json!({"group": group, "version": version, "kind": kind});
    let is_this = |schema: &&Json| {
        let of = schema["x-kubernetes-group-version-kind"].as_array();
        of.is_some_and(|of| of.contains(&this))
    };
    let schema = schemas.as_object().and_then(|schemas| schemas.values().find(is_this));
    let schema =
        schema.ok_or_else(|| format!("the API server's OpenAPI does not describe {kind} of {group}/{version}"))?;
    let schema = resolved(schema, schemas, DEPTH);
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": if *namespaced { "Namespaced" } else { "Cluster" },
            "names": {"kind": kind, "plural": plural, "shortNames": short_names},
            "versions": [{"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    serde_json::from_value(crd).map_err(|error| format!("the schema of {kind} cannot be read: {error}"))
}

/// A schema without references. Below `depth` levels, and for values of several types, it says nothing.
fn resolved(schema: &Json, schemas: &Json, depth: usize) -> Json {
    // A reference with a description or a default is written as `allOf`.
    let reference = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str());
    if let Some(reference) = reference {
        return of_reference(reference, schemas, depth);
    }
    let mut out = Map::new();
    for key in ["type", "format", "description", "enum", "maxLength"] {
        if let Some(value) = schema.get(key) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    let below = depth.checked_sub(1);
    for key in ["items", "additionalProperties"] {
        if let (Some(inner @ Json::Object(_)), Some(below)) = (schema.get(key), below) {
            out.insert(key.to_owned(), resolved(inner, schemas, below));
        }
    }
    match (schema["properties"].as_object(), below) {
        (Some(properties), Some(below)) => {
            let inner = properties.iter().map(|(name, inner)| (name.clone(), resolved(inner, schemas, below)));
            out.insert("properties".to_owned(), Json::Object(inner.collect()));
        }
        (Some(_), None) => return json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        (None, _) => {}
    }
    Json::Object(out)
}

/// The schema that a reference names.
fn of_reference(reference: &str, schemas: &Json, depth: usize) -> Json {
    let name = reference.rsplit('/').next().unwrap_or_default();
    if name.ends_with(QUANTITY) {
        return json!({"x-kubernetes-int-or-string": true, "pattern": QUANTITY_PATTERN});
    }
    if name.ends_with(INT_OR_STRING) {
        return json!({"x-kubernetes-int-or-string": true});
    }
    resolved(&schemas[name], schemas, depth)
}

#[cfg(test)]
mod tests {
    use super::{BuiltInType, crd_of_built_in};
    use crate::declare::{kinds, scaffold};
    use serde_json::json;

    #[test]
    fn a_built_in_type_is_scaffolded_like_a_crd() {
        let of = |name: &str| json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}], "default": {}});
        let document = json!({"components": {"schemas": {
            "io.k8s.api.apps.v1.Deployment": {
                "type": "object",
                "x-kubernetes-group-version-kind": [{"group": "apps", "version": "v1", "kind": "Deployment"}],
                "properties": {
                    "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": of("Meta"),
                    "spec": of("Spec"), "status": {"$ref": "#/components/schemas/Status"},
                },
            },
            "Spec": {"type": "object", "properties": {
                "replicas": {"type": "integer", "format": "int32"}, "inner": of("Spec"),
                "surge": of("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
                "memory": of("io.k8s.apimachinery.pkg.api.resource.Quantity"),
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            }},
            "Status": {"type": "object", "properties": {
                "since": of("Time"),
                "conditions": {"type": "array", "items": of("Condition")},
            }},
            "Condition": {"type": "object", "properties": {"type": {"type": "string"}, "status": {"type": "string"}}},
            "Time": {"type": "string", "format": "date-time"},
            "Meta": {"type": "object"},
        }}});
        let found = BuiltInType {
            group: "apps".into(),
            version: "v1".into(),
            kind: "Deployment".into(),
            plural: "deployments".into(),
            short_names: vec!["deploy".into()],
            namespaced: true,
        };
        let crd = crd_of_built_in(&found, &document).unwrap();
        let text = scaffold(&[crd]).unwrap();
        let document_of_version_2 = json!({"definitions": &document["components"]["schemas"]});
        let crd = crd_of_built_in(&found, &document_of_version_2).unwrap();
        assert_eq!(scaffold(&[crd]).unwrap(), text);
        for line in [
            "- {column: since, path: '.status.since', type: DATETIME(6)}",
            "- {column: ready, path: '.status.conditions[type=\"Ready\"].status', type: VARCHAR(255)}",
            "- {column: replicas, path: '.spec.replicas', type: INT, key: false}",
            "- {column: surge, path: '.spec.surge | text', type: TEXT, key: false}",
            "- {column: memory, path: '.spec.memory | quantity', type: DOUBLE, key: false}",
            "- {column: inner_inner_replicas, path: '.spec.inner.inner.replicas', type: INT, key: false}",
        ] {
            assert!(text.contains(&format!("  # {line}\n")), "{line}: {text}");
        }
        let all = text.replace("  # - {", "  - {");
        for text in [text, all] {
            let file = kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()));
            let kind = file.unwrap_or_else(|error| panic!("{error}\n{text}")).kinds[0];
            assert_eq!((kind.group(), kind.kind(), &*kind.plural()), ("apps", "Deployment", "deployments"));
        }
        let error = crd_of_built_in(&BuiltInType { kind: "Other".into(), ..found }, &document).unwrap_err();
        assert!(error.contains("does not describe Other of apps/v1"), "{error}");
    }
}
