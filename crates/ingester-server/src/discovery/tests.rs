use super::{Documents, WriteScope};
use crate::request::accept::OtherForm;
use crate::request::path::{RequestTarget, parse};
use crd_specs::KINDS;
use ingester_core::kind::find;
use serde_json::Value as Json;
use std::collections::BTreeSet;

fn document(path: &str, aggregated: bool) -> Json {
    let documents = Documents::new(KINDS, WriteScope::All, true);
    let target = parse(path).unwrap();
    let document = documents.get(&target, aggregated.then_some(OtherForm::Aggregated));
    serde_json::from_slice(&document.unwrap_or_else(|| panic!("no {path}")).body).unwrap()
}

fn render_document(documents: &Documents, target: &RequestTarget<'_>, form: Option<OtherForm>) -> String {
    String::from_utf8(documents.get(target, form).unwrap().body.to_vec()).unwrap()
}

#[test]
fn both_discoveries_say_the_same() {
    let plain = document("/apis/michelangelo.api/v2", false);
    let plain: BTreeSet<(String, String)> = plain["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| (resource["name"].as_str().unwrap().to_owned(), resource["verbs"].to_string()))
        .collect();
    let aggregated = document("/apis", true);
    let group =
        aggregated["items"].as_array().unwrap().iter().find(|item| item["metadata"]["name"] == "michelangelo.api");
    let mut others = BTreeSet::new();
    for resource in group.unwrap()["versions"][0]["resources"].as_array().unwrap() {
        let name = resource["resource"].as_str().unwrap();
        others.insert((name.to_owned(), resource["verbs"].to_string()));
        for sub in resource["subresources"].as_array().unwrap() {
            others.insert((format!("{name}/{}", sub["subresource"].as_str().unwrap()), sub["verbs"].to_string()));
        }
    }
    assert_eq!(plain, others);
    assert!(
        plain.contains(&(
            "models".into(),
            r#"["delete","deletecollection","get","list","patch","update","watch"]"#.into()
        ))
    );
    assert!(plain.contains(&("models/restore".into(), r#"["create"]"#.into())));
    assert!(plain.contains(&("models/status".into(), r#"["get"]"#.into())));
}

#[test]
fn our_own_group_has_no_verb_that_deletes() {
    // The namespace controller would use this verb to delete.
    let own = document("/apis/mirror.michelangelo.api/v1", false);
    let resources = own["resources"].as_array().unwrap();
    assert_eq!(
        resources.iter().map(|resource| &resource["name"]).collect::<Vec<_>>(),
        ["counts", "parameters", "policies", "queries", "rejects", "units"]
    );
    assert!(resources.iter().all(|resource| resource["verbs"] == serde_json::json!(["get", "list"])), "{own}");
}

#[test]
fn a_schema_has_the_fields_by_which_objects_are_selected() {
    let document = document("/openapi/v3/apis/michelangelo.api/v2", false);
    let fields = &document["components"]["schemas"]["api.michelangelo.v2.Model"]["x-kubernetes-selectable-fields"];
    let fields: Vec<&str> = fields.as_array().unwrap().iter().filter_map(|field| field["fieldPath"].as_str()).collect();
    let table = find(KINDS, "michelangelo.api/v2", "Model").unwrap().table();
    assert!(fields.contains(&"spec.owner.name"), "{fields:?}");
    assert!(fields.iter().all(|field| table.place(field).is_some() || table.many(field).is_some()), "{fields:?}");
}

#[test]
fn the_callers_own_rights_and_namespaces_are_found() {
    for (path, expected) in [
        ("/api/v1", "namespaces [get,list]"),
        ("/apis/authentication.k8s.io/v1", "selfsubjectreviews [create]"),
        ("/apis/authorization.k8s.io/v1", "selfsubjectaccessreviews [create] selfsubjectrulesreviews [create]"),
    ] {
        let resources = document(path, false)["resources"].take();
        let shown = |resource: &Json| {
            let verbs: Vec<&str> = resource["verbs"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
            format!("{} [{}]", resource["name"].as_str().unwrap(), verbs.join(","))
        };
        let shown: Vec<String> = resources.as_array().unwrap().iter().map(shown).collect();
        assert_eq!(shown.join(" "), expected, "{path}");
    }
    assert_eq!(document("/api", true)["items"][0]["versions"][0]["resources"][0]["shortNames"][0], "ns");
    assert_eq!(document("/api", false)["versions"], serde_json::json!(["v1"]));
}

#[test]
fn kubectl_finds_that_objects_can_be_patched() {
    let path = "/apis/michelangelo.api/v2/namespaces/{namespace}/models/{name}";
    for (document_path, ty) in [("/openapi/v3/apis/michelangelo.api/v2", "schema"), ("/openapi/v2", "type")] {
        let patch = document(document_path, false)["paths"][path]["patch"].take();
        assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Model");
        let parameters = patch["parameters"].as_array().unwrap();
        let names: Vec<&Json> = parameters.iter().map(|parameter| &parameter["name"]).collect();
        assert_eq!(names, ["dryRun", "fieldValidation"]);
        assert!(parameters.iter().all(|parameter| !parameter[ty].is_null()), "{patch}");
    }
    let read_only = Documents::new(KINDS, WriteScope::Nothing, false);
    assert!(!render_document(&read_only, &RequestTarget::OpenApiV2, None).contains("\"patch\""));
}

#[test]
fn a_server_that_does_not_write_says_so() {
    let documents = Documents::new(KINDS, WriteScope::Nothing, false);
    let of_group = parse("/apis/michelangelo.api/v2").unwrap();
    for (target, form) in [(RequestTarget::Groups, Some(OtherForm::Aggregated)), (of_group, None)] {
        let text = render_document(&documents, &target, form);
        assert!(text.contains("\"list\"") && !text.contains("delete") && !text.contains("restore"), "{text}");
        assert!(!text.contains("\"watch\""), "{text}");
    }
}

#[test]
fn schemas_are_found_by_the_index_and_by_the_kind() {
    let index = document("/openapi/v3", false);
    let url = index["paths"]["apis/michelangelo.api/v2"]["serverRelativeURL"].as_str().unwrap();
    let (path, hash) = url.split_once("?hash=").unwrap();
    let documents = Documents::new(KINDS, WriteScope::All, true);
    let found = documents.get(&parse(path).unwrap(), None).unwrap();
    assert_eq!(found.etag.trim_matches('"'), hash);
    let schemas = document(path, false);
    let model = &schemas["components"]["schemas"]["api.michelangelo.v2.Model"];
    assert_eq!(model["x-kubernetes-group-version-kind"][0]["kind"], "Model");
    assert_eq!(model["properties"]["spec"]["properties"]["algorithm"]["type"], "string");
    let operation = &schemas["paths"]["/apis/michelangelo.api/v2/namespaces/{namespace}/models"]["get"];
    assert_eq!(operation["x-kubernetes-group-version-kind"]["kind"], "Model");
    let v2 = document("/openapi/v2", false);
    let of_v2 = &v2["definitions"]["api.michelangelo.v2.Model"]["properties"]["spec"];
    assert_eq!(of_v2["properties"]["algorithm"], model["properties"]["spec"]["properties"]["algorithm"]);
}

#[test]
fn every_resource_has_a_schema_that_explains_it() {
    let v2 = document("/openapi/v2", false);
    for group in document("/apis", true)["items"].as_array().unwrap() {
        let name = group["metadata"]["name"].as_str().unwrap();
        for resource in group["versions"][0]["resources"].as_array().unwrap() {
            let kind = &resource["responseKind"]["kind"];
            let version = group["versions"][0]["version"].as_str().unwrap();
            let v3 = document(&format!("/openapi/v3/apis/{name}/{version}"), false);
            for schemas in [&v2["definitions"], &v3["components"]["schemas"]] {
                let is_its = |schema: &&Json| {
                    let of = &schema["x-kubernetes-group-version-kind"][0];
                    of["kind"] == *kind && of["group"] == name && of["version"] == version
                };
                let schema = schemas.as_object().unwrap().values().find(is_its);
                assert!(schema.is_some_and(|schema| schema["properties"]["metadata"].is_object()), "{name} {kind}");
            }
        }
    }
    let own = document("/openapi/v3/apis/mirror.michelangelo.api/v1", false);
    let unit = &own["components"]["schemas"]["api.michelangelo.mirror.v1.Unit"]["properties"];
    assert!(unit["status"]["properties"]["lagSeconds"]["description"].as_str().unwrap().contains("oldest change"));
    assert!(own["paths"]["/apis/mirror.michelangelo.api/v1/units/{name}"]["get"].is_object());
    let core = document("/openapi/v3/api/v1", false);
    assert!(core["components"]["schemas"]["v1.Namespace"]["description"].is_string());
}

/// The keywords of a schema in Swagger 2.0 ("Schema Object"), as far as the API server uses them, in addition to `x-...`.
const OF_V2: &[&str] = &[
    "$ref",
    "additionalProperties",
    "default",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Collects the keywords of a schema that Swagger 2.0 does not allow, with their places.
fn not_of_v2(at: &str, schema: &Json, found: &mut Vec<String>) {
    let Some(object) = schema.as_object() else { return };
    let unknown = object.keys().filter(|key| !key.starts_with("x-") && !OF_V2.contains(&key.as_str()));
    found.extend(unknown.map(|key| format!("{at}: {key}")));
    let ty = &schema["type"];
    if ty == "array" && schema["items"].is_null()
        || ty.is_null() && !(schema["items"].is_null() && schema["properties"].is_null())
    {
        found.push(format!("{at}: items or properties and type do not agree"));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        not_of_v2(&format!("{at}.{name}"), property, found);
    }
    for inner in ["items", "additionalProperties"] {
        not_of_v2(&format!("{at}.{inner}"), &schema[inner], found);
    }
}

#[test]
fn schemas_of_v2_have_only_its_keywords() {
    let (v2, v3) = (document("/openapi/v2", false), document("/openapi/v3/apis/michelangelo.api/v2", false));
    let all = |schemas: &Json| {
        let mut found = Vec::new();
        schemas.as_object().unwrap().iter().for_each(|(name, schema)| not_of_v2(name, schema, &mut found));
        found
    };
    assert_eq!(all(&v2["definitions"]), Vec::<String>::new());
    assert!(!all(&v3["components"]["schemas"]).is_empty(), "the check finds nothing in v3");
}

#[test]
fn every_kind_has_its_place_in_the_root() {
    let root = document("/", false);
    let paths = root["paths"].as_array().unwrap();
    for path in ["/apis", "/apis/michelangelo.api/v2", "/openapi/v3", "/version", "/apis/mirror.michelangelo.api"] {
        assert!(paths.contains(&path.into()), "{path}: {paths:?}");
    }
    assert!(Documents::new(KINDS, WriteScope::All, true).get(&parse("/apis/none").unwrap(), None).is_none());
}

#[test]
fn get_all_finds_every_kind_if_none_has_the_category() {
    let groups = document("/apis", true);
    let versions = groups["items"].as_array().unwrap().iter().map(|item| &item["versions"][0]);
    let resources = versions.flat_map(|version| version["resources"].as_array().unwrap());
    let has = |resource: &&Json| resource["categories"] == serde_json::json!(["all"]);
    let of_all: Vec<&str> = resources.filter(has).map(|resource| resource["resource"].as_str().unwrap()).collect();
    assert_eq!(of_all.len(), KINDS.len(), "{of_all:?}");
}
