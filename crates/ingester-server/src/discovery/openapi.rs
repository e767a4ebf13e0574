//! Schemas of the kinds, for `kubectl explain`, and the operations that show if objects can be patched, for `kubectl edit`, `replace` and
//! `apply`. A kind without a CRD of ours has no schema: any object is valid. This server's own resources have schemas, too.

use super::own::{self, OwnResource};
use ingester_core::Kind;
use ingester_core::schema::BASE_COLUMNS;
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The name of the schema of every object's metadata.
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The description of an object's metadata.
const OF_METADATA: &str = "Standard object's metadata.";

/// The parts of a document.
#[derive(Default)]
struct Parts {
    schemas: Map<String, Json>,
    paths: Map<String, Json>,
}

/// Returns the documents of OpenAPI v3 by group and version: `apis/michelangelo.api/v2`.
pub(super) fn v3(kinds: &[Kind], writable: bool) -> BTreeMap<String, Json> {
    let mut documents: BTreeMap<String, Parts> = BTreeMap::new();
    for kind in kinds {
        let Parts { schemas, paths } = documents.entry(group_path(kind.group(), kind.version())).or_default();
        let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        let mut schema = schema(kind, json!({"allOf": [reference(METADATA)], "default": {}}));
        schema["x-kubernetes-selectable-fields"] = selectable(kind);
        schemas.insert(name(kind), schema);
        schemas.insert(METADATA.into(), metadata());
        let answer =
            |schema: Json| json!({"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}});
        let parameter =
            |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}});
        paths.extend(operations(&ServedResource::for_kind(kind, writable), &answer(reference(&name(kind))), parameter));
    }
    for own in own::all(kinds) {
        let served = ServedResource::own(&own);
        let Parts { schemas, paths } = documents.entry(group_path(own.group, own.version)).or_default();
        let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        let metadata = json!({"allOf": [reference(METADATA)], "default": {}, "description": OF_METADATA});
        schemas.insert(served.name(), own.schema(metadata));
        schemas.insert(METADATA.into(), self::metadata());
        let schema = reference(&served.name());
        let answer = json!({"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}});
        paths.extend(operations(&served, &answer, |_| Json::Null));
    }
    documents
        .into_iter()
        .map(|(path, Parts { schemas, paths })| {
            let document = json!({
                "openapi": "3.0.0", "info": info(), "paths": paths, "components": {"schemas": schemas},
            });
            (path, document)
        })
        .collect()
}

/// Returns the document of OpenAPI v2.
pub(super) fn v2(kinds: &[Kind], writable: bool) -> Json {
    let mut definitions = Map::new();
    let mut paths = Map::new();
    let reference = |name: &str| json!({"$ref": format!("#/definitions/{name}")});
    definitions.insert(METADATA.into(), metadata());
    for kind in kinds {
        let mut schema = schema(kind, reference(METADATA));
        relax(&mut schema);
        definitions.insert(name(kind), schema);
        let answer = json!({"200": {"description": "OK", "schema": reference(&name(kind))}});
        let parameter = |name: &str| json!({"name": name, "in": "query", "type": "string", "uniqueItems": true});
        paths.extend(operations(&ServedResource::for_kind(kind, writable), &answer, parameter));
    }
    for own in own::all(kinds) {
        let served = ServedResource::own(&own);
        let mut metadata = reference(METADATA);
        metadata["description"] = OF_METADATA.into();
        definitions.insert(served.name(), own.schema(metadata));
        let answer = json!({"200": {"description": "OK", "schema": reference(&served.name())}});
        paths.extend(operations(&served, &answer, |_| Json::Null));
    }
    json!({"swagger": "2.0", "info": info(), "paths": paths, "definitions": definitions})
}

fn info() -> Json {
    json!({"title": "Kubernetes objects from SQL", "version": env!("CARGO_PKG_VERSION")})
}

/// `apis/GROUP/VERSION`
fn group_path(group: &str, version: &str) -> String {
    match group {
        "" => format!("api/{version}"),
        group => format!("apis/{group}/{version}"),
    }
}

/// Returns the name of a kind's schema.
fn name(kind: &Kind) -> String {
    ServedResource::for_kind(kind, false).name()
}

/// A resource: of a kind, or this server's own.
struct ServedResource<'k> {
    group: &'k str,
    version: &'k str,
    kind: &'k str,
    plural: Cow<'k, str>,
    namespaced: bool,
    /// Its objects can be read, but not created.
    is_read: bool,
    /// Its objects can be patched.
    writable: bool,
}

impl<'k> ServedResource<'k> {
    fn for_kind(kind: &'k Kind, writable: bool) -> Self {
        ServedResource {
            group: kind.group(),
            version: kind.version(),
            kind: kind.kind(),
            plural: kind.plural(),
            namespaced: kind.namespaced(),
            is_read: true,
            writable,
        }
    }

    fn own(own: &OwnResource) -> Self {
        let OwnResource { group, version, kind, plural, is_read, .. } = *own;
        ServedResource { group, version, kind, plural: plural.into(), namespaced: false, is_read, writable: false }
    }

    /// Returns the name of its schema: the group backwards, version and kind.
    fn name(&self) -> String {
        let mut parts: Vec<&str> = self.group.split('.').filter(|part| !part.is_empty()).rev().collect();
        parts.extend([self.version, self.kind]);
        parts.join(".")
    }
}

/// The parameters of a patch. kubectl edits, replaces and applies only objects of kinds whose patch has both.
const OF_PATCH: [&str; 2] = ["dryRun", "fieldValidation"];

/// Returns the paths of a resource's objects. Clients use them to find its schema and to see if its objects can be changed.
fn operations(served: &ServedResource<'_>, answer: &Json, parameter: impl Fn(&str) -> Json) -> Vec<(String, Json)> {
    let group = group_path(served.group, served.version);
    let plural = &served.plural;
    let place = if served.namespaced { "namespaces/{namespace}/" } else { "" };
    let operation = |action: &str| {
        json!({
            "responses": answer,
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {"group": served.group, "version": served.version, "kind": served.kind},
        })
    };
    if !served.is_read {
        return vec![(format!("/{group}/{plural}"), json!({"post": operation("post")}))];
    }
    let mut one = json!({"get": operation("get")});
    if served.writable {
        one["patch"] = operation("patch");
        one["patch"]["parameters"] = OF_PATCH.map(parameter).into_iter().collect();
    }
    let mut paths = vec![
        (format!("/{group}/{place}{plural}"), json!({"get": operation("list")})),
        (format!("/{group}/{place}{plural}/{{name}}"), one),
    ];
    if served.namespaced {
        paths.push((format!("/{group}/{plural}"), json!({"get": operation("list")})));
    }
    paths
}

/// Returns the schema of a kind's objects. `metadata` is the schema of their metadata.
fn schema(kind: &Kind, mut metadata: Json) -> Json {
    let of_version =
        kind.crd().and_then(|crd| crd.spec.versions.into_iter().find(|version| version.name == kind.version()));
    let schema = of_version.and_then(|version| version.schema).and_then(|schema| schema.open_api_v3_schema);
    let mut schema = match schema.map(serde_json::to_value) {
        Some(Ok(schema)) => schema,
        _ => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
    };
    let text = |description: &str| json!({"type": "string", "description": description});
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    let properties = &mut schema["properties"];
    properties["apiVersion"] = text("The API group and version of this object.");
    properties["kind"] = text("The kind of this object.");
    metadata["description"] = OF_METADATA.into();
    properties["metadata"] = metadata;
    schema["x-kubernetes-group-version-kind"] =
        json!([{"group": kind.group(), "version": kind.version(), "kind": kind.kind()}]);
    schema
}

/// Returns the fields that a field selector can use in addition to names, uids and times: the fields that have a column, by their paths;
/// where a selector cannot write the path, by the column's name.
fn selectable(kind: &Kind) -> Json {
    let table = kind.table();
    let columns = table.columns.iter().enumerate().skip(BASE_COLUMNS.len()).map(|(place, column)| {
        let path = column.path.map(|path| path.to_string());
        path.filter(|path| table.place(path) == Some(place)).unwrap_or_else(|| column.name.to_string())
    });
    let many = table.many.iter().map(|many| {
        let path = many.path.map(|path| path.to_string());
        path.filter(|path| table.many(path).is_some_and(|(found, _)| found.place == many.place))
            .unwrap_or_else(|| many.name.to_string())
    });
    columns.chain(many).map(|field| json!({"fieldPath": field})).collect()
}

/// Turns a schema of OpenAPI v3 into one of v2, which has fewer keywords, as the API server does for CRDs: constraints that v2 cannot
/// express are not checked. kubectl cannot read a value without a type that has `items` or `properties`, nor an array without `items`.
fn relax(schema: &mut Json) {
    let Some(object) = schema.as_object_mut() else { return };
    for keyword in ["allOf", "anyOf", "oneOf", "not"] {
        object.remove(keyword);
    }
    let is = |object: &Map<String, Json>, keyword: &str| object.get(keyword) == Some(&Json::Bool(true));
    let nullable = is(object, "nullable");
    let open = is(object, "x-kubernetes-preserve-unknown-fields");
    // A field that may be null counts as one that may be missing.
    let may_be_null = |property: &Json| property["nullable"] == true;
    let optional: Vec<String> = match object.get("properties") {
        Some(Json::Object(properties)) => {
            properties.iter().filter(|(_, property)| may_be_null(property)).map(|(name, _)| name.clone()).collect()
        }
        _ => Vec::new(),
    };
    if let Some(Json::Array(required)) = object.get_mut("required") {
        required.retain(|name| !optional.iter().any(|other| name == other));
        if required.is_empty() {
            object.remove("required");
        }
    }
    object.remove("nullable");
    if nullable {
        object.remove("type");
    }
    // An object at the top keeps its fields, because they show that it is an object.
    if (nullable || open) && !object.contains_key("x-kubernetes-group-version-kind") {
        object.remove("items");
        object.remove("properties");
    }
    if object.get("type").is_some_and(|ty| ty == "array") && !object.contains_key("items") {
        object.remove("type");
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(keyword) {
            relax(inner);
        }
    }
    if let Some(Json::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(relax);
    }
}

/// Returns the schema of the fields of every object's metadata that are useful in SQL.
fn metadata() -> Json {
    let text = |description: &str| json!({"type": "string", "description": description});
    let texts = |description: &str| json!({"type": "object", "additionalProperties": {"type": "string"}, "description": description});
    let time = |description: &str| json!({"type": "string", "format": "date-time", "description": description});
    json!({
        "type": "object",
        "description": "ObjectMeta is the metadata that every object has.",
        "properties": {
            "name": text("The name, unique within a namespace among the objects that exist."),
            "namespace": text("The namespace."),
            "uid": text("The identity, unique over time: the key of the object's row."),
            "resourceVersion": text("The version. It changes whenever the object does."),
            "creationTimestamp": time("When the object was created."),
            "deletionTimestamp": time("When the object's deletion was requested."),
            "labels": texts("Labels. They can be changed in evicted objects."),
            "annotations": texts("Annotations. They can be changed in evicted objects."),
            "finalizers": {"type": "array", "items": {"type": "string"}, "description": "What must be done before the object is deleted."},
            "ownerReferences": {"type": "array", "items": {"type": "object"}, "description": "The objects that this one depends on."},
            "generation": {"type": "integer", "format": "int64", "description": "Counts the changes of what is desired."},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_v2_cannot_say_is_relaxed_as_the_api_server_does() {
        for (v3, v2) in [
            (json!({"type": "string", "nullable": true}), json!({})),
            (json!({"type": "string", "nullable": false}), json!({"type": "string"})),
            (
                json!({"anyOf": [{"type": "integer"}], "not": {}, "x-kubernetes-int-or-string": true}),
                json!({"x-kubernetes-int-or-string": true}),
            ),
            (json!({"type": "array", "nullable": true, "items": {"type": "string"}}), json!({})),
            (
                json!({"type": "array", "items": {"type": "string", "nullable": true}}),
                json!({"type": "array", "items": {}}),
            ),
            (
                json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": {}}),
                json!({"x-kubernetes-preserve-unknown-fields": true}),
            ),
            (
                json!({"type": "object", "additionalProperties": {"oneOf": [], "type": "string"}}),
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
            ),
            (
                json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "nullable": true}}}),
                json!({"type": "object", "properties": {"a": {}}}),
            ),
            // A field of this name is not a keyword.
            (
                json!({"type": "object", "required": ["nullable", "a"], "properties": {"nullable": {"type": "boolean"}, "a": {"nullable": true}}}),
                json!({"type": "object", "required": ["nullable"], "properties": {"nullable": {"type": "boolean"}, "a": {}}}),
            ),
        ] {
            let mut relaxed = v3.clone();
            relax(&mut relaxed);
            assert_eq!(relaxed, v2, "{v3}");
        }
    }
}
