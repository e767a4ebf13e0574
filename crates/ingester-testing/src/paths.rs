//! Checks that columns are filled from their paths.
//!
//! May use: ingester-core, ingester-declare.

use ingester_core::nearest::nearest;
use ingester_core::schema::Path;
use ingester_core::{Kind, json};
use ingester_declare::declare::has_path;
use ingester_declare::documents::documents;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The fields that every object may have in `metadata`.
const METADATA: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Fails unless the value of each column is at the column's path: a struct that lacks `rename_all` reads a field that no object has, and
/// its column is NULL, or has the field's default, in every row.
///
/// For a kind with a CRD, the path must be in the CRD's schema. For a projection, some sample must have a value there: `samples` are texts
/// with any number of objects each, YAML or JSON, as [`rows`](crate::rows) accepts them; objects of other kinds are skipped. Columns whose
/// path is not known (`with = function` without `json`) are not checked.
///
/// # Panics
/// Reports every kind, column and wrong path, with the most similar name. Also if a sample cannot be read.
#[track_caller]
pub fn assert_paths<T: AsRef<str>>(kinds: &[Kind], samples: impl IntoIterator<Item = T>) {
    let samples = match read(samples) {
        Ok(samples) => samples,
        Err(error) => panic!("{error}"),
    };
    let mut wrong = Vec::new();
    for kind in kinds {
        let table = kind.table();
        let columns = table.indexed().iter().map(|column| (column.name, column.path));
        let many = table.many.iter().map(|many| (many.name, many.path));
        for (column, path) in columns.chain(many) {
            if let Some(path) = path
                && let Err(why) = check(kind, &path, &samples)
            {
                wrong.push(format!("\n  {} `{column}` at `{path}`: {why}", kind.kind()));
            }
        }
    }
    assert!(wrong.is_empty(), "columns whose paths lead nowhere:{}", wrong.concat());
}

/// The objects of all texts.
fn read<T: AsRef<str>>(samples: impl IntoIterator<Item = T>) -> Result<Vec<Json>, String> {
    let mut objects = Vec::new();
    for (place, text) in samples.into_iter().enumerate() {
        // Reading from memory does not fail.
        for document in documents(text.as_ref().as_bytes()).map_while(Result::ok) {
            let of = |error: String| format!("sample {}, line {}: {error}", place + 1, document.line);
            let content = document.content.map_err(|error| of(error.to_string()))?;
            objects.push(json::from_str(&content).map_err(|error| of(error.to_string()))?);
        }
    }
    Ok(objects)
}

fn check(kind: &Kind, path: &Path, samples: &[Json]) -> Result<(), String> {
    let mut steps = path.steps();
    if steps.next() == Some("metadata") {
        // A CRD does not describe it, and few samples have all of it.
        return match steps.next() {
            Some(name) if !METADATA.contains(&name) => {
                Err(format!("`metadata` has no `{name}`{}", meant(name, &METADATA)))
            }
            _ => Ok(()),
        };
    }
    match kind.crd() {
        Some(crd) => has_path(&crd, kind.version(), path),
        None => some_has(kind, path, samples),
    }
}

/// Checks that a sample has a value at the path.
fn some_has(kind: &Kind, path: &Path, samples: &[Json]) -> Result<(), String> {
    let version = kind.api_version();
    let mut here: Vec<&Json> = samples
        .iter()
        .filter(|object| object["kind"] == kind.kind() && object["apiVersion"] == version.as_str())
        .collect();
    if here.is_empty() {
        return Err(format!("there is no sample of {version} {}", kind.kind()));
    }
    let mut way = String::from("the object");
    for step in path.steps() {
        let inner: Vec<&Json> =
            here.iter().filter_map(|value| value.get(step)).filter(|value| !value.is_null()).collect();
        if inner.is_empty() {
            let members = here.iter().filter_map(|value| value.as_object()).flatten();
            let known: BTreeSet<&str> =
                members.filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str()).collect();
            let known: Vec<&str> = known.into_iter().collect();
            return Err(format!("in no sample, {way} has a `{step}`{}", meant(step, &known)));
        }
        here = inner;
        way = format!("`{step}`");
    }
    Ok(())
}

fn meant(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!(", did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; there are: {}", known.join(", ")),
    }
}
