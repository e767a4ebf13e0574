//! The type of a column by the schema of a CRD.

use super::Open;
use super::path::Step;
use crate::documents::documents;
use ingester_core::json;
use ingester_core::schema::SqlType;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps, JSONSchemaPropsOrArray,
    JSONSchemaPropsOrBool,
};
use serde::Deserialize;
use std::collections::HashMap;
use std::rc::Rc;

/// The `kind` of any object.
#[derive(Default, Deserialize)]
struct ObjectKind {
    #[serde(default)]
    kind: String,
}

/// The CRDs in a file, YAML or JSON, at least one. Objects of other kinds, such as the Namespace before them, are passed over.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<CustomResourceDefinition>, String> {
    const WANTED: &str = "CustomResourceDefinition";
    let mut crds = Vec::new();
    let mut others = Vec::new();
    for document in documents(bytes) {
        let document = document.map_err(|error| error.to_string())?;
        let line = document.line;
        let text = document.content.map_err(|error| error.to_string())?;
        let kind = json::from_str::<ObjectKind>(&text).unwrap_or_default().kind;
        if kind != WANTED {
            others.push(kind);
            continue;
        }
        let crd: CustomResourceDefinition = json::from_str(&text)
            .map_err(|error| format!("line {line}: it is not a {WANTED} of apiextensions.k8s.io/v1: {error}"))?;
        if crd.spec.names.kind.is_empty() {
            return Err(format!("line {line}: it is not a {WANTED}: it names no kind"));
        }
        crds.push(crd);
    }
    match (&crds[..], &others[..]) {
        ([], []) => Err("it is empty".into()),
        ([], [one]) => Err(format!("it is not a {WANTED}, but of kind `{one}`")),
        ([], several) => Err(format!("none of its {} objects is a {WANTED}", several.len())),
        _ => Ok(crds),
    }
}

/// The files with CRDs that a file of kinds names. Each is read once: a bundle may have the CRDs of thousands of kinds.
#[derive(Default)]
pub(super) struct CrdFiles(HashMap<String, Result<Bundle, String>>);

/// The CRDs of a file.
pub(super) type Bundle = Rc<[Rc<CustomResourceDefinition>]>;

impl CrdFiles {
    /// The CRDs of a file.
    ///
    /// # Errors
    /// Why there are none; it names the file.
    pub(super) fn read(&mut self, name: &str, open: Open<'_>) -> Result<Bundle, String> {
        if let Some(read) = self.0.get(name) {
            return read.clone();
        }
        let crds = open(name)
            .map_err(|error| format!("cannot read {name}: {error}"))
            .and_then(|bytes| parse(&bytes).map_err(|error| format!("{name}: {error}")))
            .map(|crds| crds.into_iter().map(Rc::new).collect());
        self.0.insert(name.to_owned(), crds.clone());
        crds
    }
}

/// A version of a CRD.
pub(super) fn version<'c>(
    crd: &'c CustomResourceDefinition,
    name: &str,
) -> Option<&'c CustomResourceDefinitionVersion> {
    crd.spec.versions.iter().find(|version| version.name == name)
}

/// The schema of a version's objects.
pub(super) fn schema(version: &CustomResourceDefinitionVersion) -> Option<&JSONSchemaProps> {
    version.schema.as_ref()?.open_api_v3_schema.as_ref()
}

/// Returns the CRD's description of its objects.
pub(super) fn description(version: &CustomResourceDefinitionVersion) -> Option<String> {
    schema(version)?.description.clone()
}

/// The schema of what is at these steps.
///
/// # Errors
/// The steps that lead to what the schema does not have, and the names that exist there.
pub(super) fn at<'s>(schema: &'s JSONSchemaProps, steps: &[Step]) -> Result<Option<&'s JSONSchemaProps>, String> {
    let mut here = schema;
    let mut way = String::new();
    for step in steps {
        if here.x_kubernetes_preserve_unknown_fields == Some(true)
            && here.properties.as_ref().is_none_or(|its| its.is_empty())
        {
            return Ok(None);
        }
        let next = match step {
            // Every object of Kubernetes has these, also one within another.
            Step::Name(name)
                if here.x_kubernetes_embedded_resource == Some(true)
                    && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") =>
            {
                return Ok(None);
            }
            Step::Name(name) => {
                let free = match &here.additional_properties {
                    Some(JSONSchemaPropsOrBool::Schema(schema)) => Some(&**schema),
                    Some(JSONSchemaPropsOrBool::Bool(true)) => return Ok(None),
                    _ => None,
                };
                here.properties.as_ref().and_then(|properties| properties.get(name)).or(free)
            }
            Step::Index(_) | Step::Match(..) => items(here),
            Step::Each => items(here).or(match &here.additional_properties {
                Some(JSONSchemaPropsOrBool::Schema(schema)) => Some(&**schema),
                _ => None,
            }),
        };
        let Some(next) = next else {
            if here.x_kubernetes_preserve_unknown_fields == Some(true) {
                return Ok(None);
            }
            let known: Vec<&str> = here.properties.iter().flatten().map(|(name, _)| name.as_str()).collect();
            let there = match (step, known.is_empty()) {
                (Step::Name(name), false) => match ingester_core::nearest::nearest(name, &known) {
                    Some(meant) => format!(", did you mean `.{meant}`?"),
                    None => format!("; there are: {}", known.join(", ")),
                },
                _ => String::new(),
            };
            let way = if way.is_empty() { "the object".to_owned() } else { format!("`{way}`") };
            return Err(format!("by the CRD, {way} has no `{step}`{there}"));
        };
        way += &step.to_string();
        here = next;
    }
    Ok(Some(here))
}

fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match &schema.items {
        Some(JSONSchemaPropsOrArray::Schema(schema)) => Some(schema),
        Some(JSONSchemaPropsOrArray::Schemas(_)) | None => None,
    }
}

/// The schema of the values of a map.
///
/// # Errors
/// Why it is not a map, and the remedy.
pub(super) fn values(schema: &JSONSchemaProps) -> Result<Option<&JSONSchemaProps>, String> {
    match (&schema.additional_properties, schema.type_.as_deref()) {
        (Some(JSONSchemaPropsOrBool::Schema(values)), _) => Ok(Some(values)),
        (_, Some("array")) => Err("by the CRD, it is a list: write `[*]` after it".into()),
        (_, Some("object") | None) => Ok(None),
        (_, Some(_)) => Err("by the CRD, it is a single value: leave `many` out".into()),
    }
}

/// The type of a column with such values; `None` if they are not single values.
pub(super) fn column_type(schema: &JSONSchemaProps) -> Option<SqlType> {
    if schema.x_kubernetes_int_or_string == Some(true) {
        return None;
    }
    match (schema.type_.as_deref()?, schema.format.as_deref()) {
        ("string", Some("date-time")) => Some(SqlType::DateTime),
        ("string", _) => Some(match schema.max_length {
            Some(most @ 1..=768) => SqlType::VarChar(u16::try_from(most).unwrap_or(255)),
            _ => SqlType::VarChar(255),
        }),
        ("integer", Some("int32")) => Some(SqlType::Int),
        ("integer", _) => Some(SqlType::BigInt),
        ("number", _) => Some(SqlType::Double),
        ("boolean", _) => Some(SqlType::Boolean),
        _ => None,
    }
}

/// Returns true for a quantity such as 500m or 2Gi, by the pattern that generators of CRDs write for one.
pub(super) fn is_quantity(schema: &JSONSchemaProps) -> bool {
    let has_suffixes = |pattern: &String| pattern.contains("KMGTPE");
    schema.x_kubernetes_int_or_string == Some(true) && schema.pattern.as_ref().is_some_and(has_suffixes)
}

/// Why a column of this type never holds what the schema says, and the remedy; `None` where it may.
pub(super) fn contradiction(schema: &JSONSchemaProps, ty: SqlType) -> Option<String> {
    use SqlType::{BigInt, BigIntUnsigned, Boolean, DateTime, Double, Int, MediumText, Text, VarChar};
    // It may be a plain number. A value that a column of numbers does not read, such as 500m, is reported with its remedy.
    if schema.x_kubernetes_int_or_string == Some(true) {
        return None;
    }
    let said = schema.type_.as_deref()?;
    let (holds, remedy) = match (said, schema.format.as_deref()) {
        // Protobuf's JSON has 64-bit integers in quotes.
        ("string", Some("int64" | "uint64" | "int32")) => return None,
        ("string", _) => (matches!(ty, VarChar(_) | Text | MediumText | DateTime), "use VARCHAR(n)"),
        ("integer", _) => {
            (matches!(ty, Int | BigInt | BigIntUnsigned | Double), "use INT or BIGINT, or end the path with `| text`")
        }
        ("number", _) => {
            (matches!(ty, Int | BigInt | BigIntUnsigned | Double), "use DOUBLE, or end the path with `| text`")
        }
        ("boolean", _) => (ty == Boolean, "use BOOLEAN, or end the path with `| text`"),
        _ => return None,
    };
    (!holds)
        .then(|| format!("by the CRD, it is of type {said}, which {ty} does not hold: {remedy}, or leave `type` out"))
}

/// Why a column cannot have the values of a schema, and the remedy.
pub(super) fn no_type(schema: &JSONSchemaProps) -> String {
    if is_quantity(schema) {
        return "by the CRD, it is a quantity such as 500m or 2Gi: end the path with `| quantity` or `| text`".into();
    }
    if schema.x_kubernetes_int_or_string == Some(true) {
        return "by the CRD, it is a number or a text: end the path with `| text`, or give `type`".into();
    }
    match schema.type_.as_deref() {
        Some("array") => {
            "by the CRD, it is a list: say which element, such as `[0]`, or make one value of all with `[*]`".into()
        }
        Some("object") => "by the CRD, it is an object: name a field of it".into(),
        _ => "the CRD does not say which type it has: give `type`".into(),
    }
}

/// The type of what every object has, whatever its CRD says.
pub(super) fn metadata_type(steps: &[Step]) -> Option<SqlType> {
    let names: Vec<&str> = steps
        .iter()
        .map(|step| match step {
            Step::Name(name) => Some(name.as_str()),
            _ => None,
        })
        .collect::<Option<_>>()?;
    match names[..] {
        ["apiVersion" | "kind"] => Some(SqlType::VarChar(255)),
        ["metadata", "name" | "namespace" | "generateName" | "uid" | "resourceVersion"] => Some(SqlType::VarChar(255)),
        ["metadata", "generation"] => Some(SqlType::BigInt),
        ["metadata", "creationTimestamp" | "deletionTimestamp"] => Some(SqlType::DateTime),
        ["metadata", "labels", _] => Some(SqlType::VarChar(63)),
        _ => None,
    }
}
