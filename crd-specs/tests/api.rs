//! The CRDs and the decoders know every field of the API, and nothing else.

use crate::golden::camel;
use crate::objects::{object, read};
use crate::places::{self, API, Field, FieldPath, Shape, Step, Type, fields, path, places};
use crd_specs::{
    KINDS, cluster, common, deployment, inference_server, job, model, pipeline, pipeline_run, project, ray_cluster,
    ray_job, revision, schema, trigger_run,
};
use ingester_core::Kind;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn crd(kind: &Kind) -> Value {
    serde_json::to_value(kind.crd().unwrap()).unwrap()
}

fn root(crd: &Value) -> &Value {
    &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

#[test]
fn crds_have_the_names_version_and_scope_of_the_api() {
    for kind in KINDS {
        let crd = crd(kind);
        let api = places::kind(kind);
        assert_eq!(crd["apiVersion"], "apiextensions.k8s.io/v1");
        assert_eq!(crd["kind"], "CustomResourceDefinition");
        assert_eq!(crd["metadata"], json!({ "name": api["crd_name"] }), "{kind:?}");
        let (spec, names) = (&crd["spec"], &crd["spec"]["names"]);
        assert_eq!(spec["group"], api["group"], "{kind:?}");
        assert_eq!(spec["scope"], api["scope"], "{kind:?}");
        assert_eq!(names["kind"], api["kind"], "{kind:?}");
        assert_eq!(names["plural"], api["plural"], "{kind:?}");
        assert_eq!(names["singular"], api["singular"], "{kind:?}");
        // Without a list kind, the API server appends `List` to the kind.
        assert_eq!(names.get("listKind").unwrap_or(&json!(format!("{}List", kind.kind()))), &api["list_kind"]);
        for (ours, theirs) in [("shortNames", "short_names"), ("categories", "categories")] {
            assert_eq!(names.get(ours).unwrap_or(&json!([])), &api[theirs], "{kind:?}");
        }
        assert!(spec.get("conversion").is_none() && spec.get("preserveUnknownFields").is_none(), "{kind:?}");
        let versions = spec["versions"].as_array().unwrap();
        assert_eq!(versions.len(), 1, "{kind:?}");
        assert_eq!(versions[0]["name"], api["version"], "{kind:?}");
        assert_eq!(versions[0]["served"], api["served"], "{kind:?}");
        assert_eq!(versions[0]["storage"], api["storage"], "{kind:?}");
        assert_eq!(api["status_subresource"], true, "{kind:?}");
        assert_eq!(versions[0]["subresources"], json!({ "status": {} }), "{kind:?}");
        assert!(versions[0].get("additionalPrinterColumns").is_none(), "{kind:?}");

        assert_eq!(kind.group(), api["group"], "{kind:?}");
        assert_eq!(kind.version(), api["version"], "{kind:?}");
        assert_eq!(kind.plural(), *api["plural"].as_str().unwrap(), "{kind:?}");
        assert_eq!(kind.namespaced(), api["scope"] == "Namespaced", "{kind:?}");
        assert_eq!(kind.table().name.as_str(), api["table_runtime"], "{kind:?}");
    }
}

#[test]
fn every_ingested_kind_of_the_api_is_registered() {
    let api = API["kinds"].as_object().unwrap().values().filter(|kind| kind["ingested"] == true);
    let api: BTreeSet<&str> = api.map(|kind| kind["kind"].as_str().unwrap()).collect();
    assert_eq!(KINDS.iter().map(Kind::kind).collect::<BTreeSet<_>>(), api);
}

#[test]
fn every_crd_has_exactly_the_fields_of_the_api() {
    let mut problems = Vec::new();
    let mut seen = 0;
    for kind in KINDS {
        let crd = crd(kind);
        let root = root(&crd);
        compare_names(root, &["spec", "status"], kind.kind(), &mut problems);
        assert_eq!(root["type"], "object", "{kind:?}");
        for name in ["spec", "status"] {
            let message = places::section(kind, name);
            let path = format!("{}.{name}", kind.kind());
            compare(&root["properties"][name], message, &path, &mut vec![message], &mut problems, &mut seen);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(seen > 500, "only {seen} fields were compared");
}

/// Checks that a schema has exactly the properties `names`.
fn compare_names(node: &Value, names: &[&str], path: &str, problems: &mut Vec<String>) {
    let names: BTreeSet<&str> = names.iter().copied().collect();
    let found = node["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    problems.extend(names.difference(&found).map(|name| format!("{path}.{name} is not in the CRD")));
    problems.extend(found.difference(&names).map(|name| format!("{path}.{name} is not in the API")));
}

/// Compares a schema with a message of the API, field by field.
fn compare(
    node: &Value,
    message: &'static str,
    path: &str,
    within: &mut Vec<&'static str>,
    problems: &mut Vec<String>,
    seen: &mut usize,
) {
    if node["type"] != "object" || node.get("x-kubernetes-preserve-unknown-fields").is_some() {
        problems.push(format!("{path} is the message {message}, not {}", headed(node)));
        return;
    }
    let fields = fields(message);
    compare_names(node, &fields.iter().map(|field| field.json).collect::<Vec<_>>(), path, problems);
    for field in fields {
        let Some(node) = node["properties"].get(field.json) else { continue };
        let path = format!("{path}.{}", field.json);
        *seen += 1;
        let value = match (field.shape, node["type"].as_str()) {
            (Shape::One, _) => node,
            (Shape::List, Some("array")) => &node["items"],
            (Shape::Map, Some("object")) => &node["additionalProperties"],
            (shape, _) => {
                problems.push(format!("{path} is a {shape:?}, not {}", headed(node)));
                continue;
            }
        };
        if field.ty == Type::Message && !within.contains(&field.of) {
            within.push(field.of);
            compare(value, field.of, &path, within, problems, seen);
            within.pop();
        } else if headed(value) != expected(&field) {
            problems.push(format!("{path} is {:?}, {}, not {}", field.ty, expected(&field), headed(value)));
        }
    }
}

/// A schema without its descriptions and its children. The names of an enum are sorted.
fn headed(node: &Value) -> Value {
    let Value::Object(node) = node else { return Value::Null };
    let mut head = node.clone();
    head.retain(|name, _| name != "description");
    if let Some(names) = head.get_mut("enum").and_then(Value::as_array_mut) {
        names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    Value::Object(head)
}

/// The expected schema of one value of a field, in the form of [`headed`].
fn expected(field: &Field) -> Value {
    match field.ty {
        Type::Text => json!({ "type": "string" }),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Int32 => json!({ "type": "integer", "format": "int32" }),
        Type::Int64 => json!({ "x-kubernetes-int-or-string": true }),
        Type::Float => json!({ "type": "number", "format": "float" }),
        Type::Double => json!({ "type": "number", "format": "double" }),
        Type::Enum => {
            let mut names: Vec<&str> = numbers(field.of).into_iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            json!({ "type": "string", "enum": names })
        }
        Type::Timestamp => json!({ "type": "string", "format": "date-time" }),
        Type::Time => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        Type::Duration => json!({ "type": "string" }),
        // A message that contains itself. A schema cannot be recursive, so it stays open.
        Type::Opaque | Type::Message => json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
    }
}

/// The names and numbers of an enum of the API, ordered by number.
fn numbers(name: &str) -> Vec<(&'static str, i32)> {
    let values = API["enums"][name]["values"].as_object().unwrap();
    let mut numbers: Vec<_> =
        values.iter().map(|(name, number)| (name.as_str(), i32::try_from(number.as_i64().unwrap()).unwrap())).collect();
    numbers.sort_by_key(|(_, number)| *number);
    numbers
}

#[test]
fn every_enum_has_the_names_and_numbers_of_the_api() {
    let enums = [
        ("michelangelo.api.ConditionStatus", common::ConditionStatus::NAMES),
        ("michelangelo.api.v2.BackendType", inference_server::BackendType::NAMES),
        ("michelangelo.api.v2.ClusterSpec.SLAType", cluster::SlaType::NAMES),
        ("michelangelo.api.v2.DCType", cluster::DcType::NAMES),
        ("michelangelo.api.v2.DataType", schema::DataType::NAMES),
        ("michelangelo.api.v2.DeployableModelPackageType", model::DeployableModelPackageType::NAMES),
        ("michelangelo.api.v2.DeploymentStage", deployment::DeploymentStage::NAMES),
        ("michelangelo.api.v2.DeploymentState", deployment::DeploymentState::NAMES),
        ("michelangelo.api.v2.DeviceIntegrityLevel", deployment::DeviceIntegrityLevel::NAMES),
        ("michelangelo.api.v2.InferenceServerState", inference_server::InferenceServerState::NAMES),
        ("michelangelo.api.v2.ModelKind", model::ModelKind::NAMES),
        ("michelangelo.api.v2.Notification.EventType", common::NotificationEventType::NAMES),
        ("michelangelo.api.v2.Notification.NotificationType", common::NotificationType::NAMES),
        ("michelangelo.api.v2.Notification.ResourceType", common::NotificationResourceType::NAMES),
        ("michelangelo.api.v2.NotificationControl", project::NotificationControl::NAMES),
        ("michelangelo.api.v2.PipelineManifest.Type", pipeline::PipelineManifestType::NAMES),
        ("michelangelo.api.v2.PipelineRunExceptionType", pipeline_run::PipelineRunExceptionType::NAMES),
        ("michelangelo.api.v2.PipelineRunState", pipeline_run::PipelineRunState::NAMES),
        ("michelangelo.api.v2.PipelineRunStepState", pipeline_run::PipelineRunStepState::NAMES),
        ("michelangelo.api.v2.PipelineState", pipeline::PipelineState::NAMES),
        ("michelangelo.api.v2.PipelineType", pipeline::PipelineType::NAMES),
        ("michelangelo.api.v2.ProjectPhase", project::ProjectPhase::NAMES),
        ("michelangelo.api.v2.ProjectState", project::ProjectState::NAMES),
        ("michelangelo.api.v2.RayClusterState", ray_cluster::RayClusterState::NAMES),
        ("michelangelo.api.v2.RayJobState", ray_job::RayJobState::NAMES),
        ("michelangelo.api.v2.RevisionState", revision::RevisionState::NAMES),
        ("michelangelo.api.v2.ShadowMetricThresholdCondition", deployment::ShadowMetricThresholdCondition::NAMES),
        ("michelangelo.api.v2.ShadowMetricType", deployment::ShadowMetricType::NAMES),
        ("michelangelo.api.v2.TargetType", deployment::TargetType::NAMES),
        ("michelangelo.api.v2.TenancyType", inference_server::TenancyType::NAMES),
        ("michelangelo.api.v2.TerminationType", job::TerminationType::NAMES),
        ("michelangelo.api.v2.TriggerRunAction", trigger_run::TriggerRunAction::NAMES),
        ("michelangelo.api.v2.TriggerRunState", trigger_run::TriggerRunState::NAMES),
    ];
    let used = KINDS.iter().flat_map(places).filter(|place| place.field.ty == Type::Enum).map(|place| place.field.of);
    assert_eq!(used.collect::<BTreeSet<_>>(), enums.iter().map(|(name, _)| *name).collect());
    for (name, ours) in enums {
        let mut ours = ours.to_vec();
        ours.sort_by_key(|(_, number)| *number);
        assert_eq!(ours, numbers(name), "{name}");
    }
}

/// Calls `look` with every node of a schema and its path.
fn walk(node: &Value, path: &str, look: &mut impl FnMut(&Value, &str)) {
    look(node, path);
    for (name, property) in node["properties"].as_object().into_iter().flatten() {
        walk(property, &format!("{path}.{name}"), look);
    }
    if let Some(items) = node.get("items") {
        walk(items, &format!("{path}[]"), look);
    }
    if let Some(more) = node.get("additionalProperties") {
        walk(more, &format!("{path}.*"), look);
    }
}

// Kubernetes documentation, "Specifying a structural schema". A node with `x-kubernetes-int-or-string` or
// `x-kubernetes-preserve-unknown-fields` needs no type.
#[test]
fn every_crd_is_structural_and_keeps_objects_as_sent() {
    for kind in KINDS {
        let crd = crd(kind);
        walk(root(&crd), kind.kind(), &mut |node, path| {
            let object = node.as_object().unwrap_or_else(|| panic!("{path} is {node}, not a schema"));
            for name in object.keys() {
                // Everything else is out: `default` and `nullable` change what is stored, `required` and value
                // validation reject what the reference system's CRDs accept, and the rest is not structural.
                let allowed = [
                    "type",
                    "format",
                    "description",
                    "properties",
                    "items",
                    "additionalProperties",
                    "enum",
                    "x-kubernetes-int-or-string",
                    "x-kubernetes-preserve-unknown-fields",
                ];
                let titled = name == "title" && path == kind.kind();
                assert!(allowed.contains(&name.as_str()) || titled, "{path} has `{name}`");
            }
            let open = ["x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"];
            for name in open {
                assert!(node.get(name).is_none_or(|value| *value == true), "{path}: {name}");
            }
            match node["type"].as_str() {
                None => assert!(open.iter().any(|name| node.get(name).is_some()), "{path} has no type"),
                Some("object") => {
                    assert!(
                        node.get("properties").is_none() || node.get("additionalProperties").is_none(),
                        "{path} has properties and additional ones"
                    );
                    assert!(node.get("x-kubernetes-int-or-string").is_none(), "{path}");
                }
                Some("array") => assert!(node["items"].is_object(), "{path} has no items"),
                Some("string" | "integer" | "number" | "boolean") => {
                    assert!(open.iter().all(|name| node.get(name).is_none()), "{path} is open and has a type");
                }
                Some(other) => panic!("{path} has type {other}"),
            }
            let has = |name| node.get(name).is_some();
            assert!(!has("items") || node["type"] == "array", "{path} has items");
            assert!(!(has("properties") || has("additionalProperties")) || node["type"] == "object", "{path}");
        });
    }
}

#[test]
fn every_property_of_a_crd_has_a_description_for_its_users() {
    let mut problems = BTreeSet::new();
    for kind in KINDS {
        let crd = crd(kind);
        let mut names = BTreeSet::new();
        walk(root(&crd), kind.kind(), &mut |node, _| {
            names.extend(node["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
        });
        walk(root(&crd), kind.kind(), &mut |node, path| {
            let Some(description) = node.get("description") else {
                // The description of a list or map covers its items and entries.
                if !path.ends_with("[]") && !path.ends_with(".*") {
                    problems.insert(format!("{path} has no description"));
                }
                return;
            };
            let description = description.as_str().unwrap();
            if !description.ends_with('.') {
                problems.insert(format!("not a sentence: {description}"));
            }
            if description.contains("[`") || description.contains("::") {
                problems.insert(format!("words for readers of Rust: {description}"));
            }
            for word in description.split('`').skip(1).step_by(2).filter(|word| names.contains(&camel(word))) {
                if word.contains('_') {
                    problems.insert(format!("`{word}` is `{}` here: {description}", camel(word)));
                }
            }
        });
    }
    assert!(problems.is_empty(), "\n{}", problems.into_iter().collect::<Vec<_>>().join("\n"));
}

/// JSON values that a field accepts.
fn right(field: &Field) -> Vec<String> {
    let texts: &[&str] = match field.ty {
        Type::Text => &[r#""""#, r#""text""#, r#""17""#, r#""a \"quote\" \u00e9 \ud83e\udd80""#],
        Type::Bool => &["true", "false"],
        Type::Int32 => &["0", "7", "-7", "2147483647", "-2147483648", r#""7""#, r#""-7""#],
        Type::Int64 => &["0", "7", "-7", r#""7""#, r#""9223372036854775807""#, "-9223372036854775808"],
        Type::Float | Type::Double => &["0", "7", "-0.5", "1e+21", r#""0.5""#, r#""NaN""#, r#""-Infinity""#],
        Type::Enum => {
            let (name, number) = *numbers(field.of).last().unwrap();
            return vec![
                format!("{name:?}"),
                number.to_string(),
                "0".to_owned(),
                "98765".to_owned(),
                r#""NAME_OF_NEXT_YEAR""#.to_owned(),
            ];
        }
        Type::Timestamp => &[r#""2026-03-09T20:36:46Z""#, r#""2026-03-09T20:36:46.123456789+05:30""#],
        Type::Time => {
            &[r#""2026-03-09T20:36:46Z""#, r#"{"seconds":"1773088606","nanos":5}"#, r#"{"seconds":1773088606}"#, "{}"]
        }
        Type::Duration => &[r#""3600s""#, r#""90.500s""#, r#""1h30m""#, r#""0s""#, r#""-1.5h""#],
        Type::Opaque => &["{}", r#"{"a":[1,null,{"b":1.5}]}"#, r#"{"@type":"type.googleapis.com/a.B","value":"CgVo"}"#],
        Type::Message => &["{}", r#"{"unknownField":{"a":[1]}}"#],
    };
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// JSON values that a field rejects.
fn wrong(field: &Field) -> &'static [&'static str] {
    match field.ty {
        Type::Text => &["17", "true", "{}", r#"["text"]"#],
        Type::Bool => &["1", r#""true""#, "{}", "[]"],
        Type::Int32 => &["3.5", "2147483648", r#""seven""#, "true", "{}"],
        Type::Int64 => &["3.5", "9223372036854775808", r#""seven""#, "true", "{}"],
        Type::Float | Type::Double => &[r#""half""#, "true", "{}", "[]"],
        Type::Enum => &["true", "1.5", "{}", "[]"],
        Type::Timestamp | Type::Time => &[r#""yesterday""#, "17", "true", "[]"],
        Type::Duration => &[r#""soon""#, "17", "{}"],
        // Stored without being decoded, so no value is wrong.
        Type::Opaque => &[],
        Type::Message => &[r#""text""#, "17", "true"],
    }
}

fn for_every_field(mut look: impl FnMut(&FieldPath)) {
    let mut count = 0;
    for place in KINDS.iter().flat_map(places) {
        look(&place);
        count += 1;
    }
    assert!(count > 500, "only {count} fields were looked at");
}

fn assert_reads(place: &FieldPath, steps: &[Step], value: &str) {
    let text = object(place.kind, steps, value);
    if let Err(refusal) = read(place.kind, &text) {
        panic!("{:?} with {value} at {} ({:?}): {refusal}", place.kind, path(steps), place.field);
    }
}

fn assert_refuses(place: &FieldPath, steps: &[Step], value: &str) {
    let text = object(place.kind, steps, value);
    match read(place.kind, &text) {
        Ok(_) => panic!("{:?} takes {value} at {} ({:?})", place.kind, path(steps), place.field),
        Err(refusal) => assert_eq!(refusal.path(), Some(&*path(steps)), "{:?} with {value}: {refusal}", place.kind),
    }
}

#[test]
fn every_field_reads_the_values_of_its_type() {
    for_every_field(|place| {
        for value in right(&place.field) {
            assert_reads(place, &place.value(), &value);
        }
    });
}

#[test]
fn null_counts_as_absent_in_every_field_item_and_entry() {
    for_every_field(|place| {
        assert_reads(place, &place.steps, "null");
        assert_reads(place, &place.value(), "null");
    });
}

// Unknown fields are ignored, so a struct field with a misspelt name would accept any value. This test finds it.
#[test]
fn every_field_rejects_values_of_other_types_with_its_path() {
    for_every_field(|place| {
        for value in wrong(&place.field) {
            assert_refuses(place, &place.value(), value);
        }
        let containers: &[&str] = match place.field.shape {
            Shape::One => &[],
            Shape::List => &["{}", "17", r#""text""#],
            Shape::Map => &["[]", "17", r#""text""#],
        };
        for value in containers {
            assert_refuses(place, &place.steps, value);
        }
    });
}
