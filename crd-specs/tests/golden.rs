//! Golden vectors: objects, and the columns that the reference system stores for them.

use crate::objects::{column, json, object, read, row, same};
use crate::places::Step;
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_core::kind::{DecodeError, find};
use ingester_core::row::RowError;
use ingester_core::schema::SqlType;
use ingester_core::value::Value;
use ingester_declare::documents::documents;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// Objects with the expected values of their indexed columns.
pub(crate) static VECTORS: LazyLock<Vec<Json>> =
    LazyLock::new(|| serde_json::from_str(include_str!("data/golden.json")).unwrap());

/// The indexed columns of each kind: type, source, and values for the sample.
pub(crate) static EXPECTED: LazyLock<Json> =
    LazyLock::new(|| serde_json::from_str(include_str!("data/expected_columns.json")).unwrap());

/// Columns that the reference system lacks, with their sources.
pub(crate) const EXTRA: [(&str, &str, &str); 2] =
    [("RayCluster", "ray_version", "spec.rayVersion"), ("RayJob", "entrypoint", "spec.entrypoint")];

/// A column and the path that it is read from, such as `spec.sourcePipelineRun.name`.
pub(crate) struct Source {
    pub(crate) column: String,
    pub(crate) path: String,
    pub(crate) nullable: bool,
}

/// Every indexed column of a kind with its source.
pub(crate) fn sources(kind: &Kind) -> Vec<Source> {
    let expected = EXPECTED["kinds"][kind.kind()]["columns"].as_array().unwrap().iter().map(|column| Source {
        column: column["column"].as_str().unwrap().to_owned(),
        path: camel(column["path"].as_str().unwrap()),
        nullable: column["nullable"].as_bool().unwrap(),
    });
    let extra = EXTRA.iter().filter(|(of, ..)| *of == kind.kind()).map(|(_, column, path)| Source {
        column: (*column).to_owned(),
        path: (*path).to_owned(),
        nullable: false,
    });
    expected.chain(extra).collect()
}

/// A path in JSON's names: `spec.source_pipeline_run.name` becomes `spec.sourcePipelineRun.name`.
pub(crate) fn camel(path: &str) -> String {
    let mut camel = String::new();
    let mut upper = false;
    for c in path.chars() {
        match c {
            '_' => upper = true,
            _ if std::mem::take(&mut upper) => camel.push(c.to_ascii_uppercase()),
            _ => camel.push(c),
        }
    }
    camel
}

pub(crate) fn kind_of(object: &Json) -> &'static Kind {
    let api_version = object["apiVersion"].as_str().unwrap();
    let kind = object["kind"].as_str().unwrap();
    find(KINDS, api_version, kind).unwrap_or_else(|| panic!("{api_version} {kind} is not in the manifest"))
}

/// The value at a path; null if there is none.
fn at<'j>(object: &'j Json, path: &str) -> &'j Json {
    path.split('.').fold(object, |value, name| &value[name])
}

fn pairs(map: &Json) -> Vec<(&str, &str)> {
    let map = map.as_object().into_iter().flatten();
    let mut pairs: Vec<_> = map.map(|(key, value)| (key.as_str(), value.as_str().unwrap())).collect();
    pairs.sort_unstable();
    pairs
}

fn borrowed(pairs: &[(Box<str>, Box<str>)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(key, value)| (&**key, &**value)).collect()
}

#[test]
fn every_vector_gives_exactly_the_columns_of_the_reference_system() {
    assert_eq!(VECTORS.len(), 29);
    for vector in VECTORS.iter() {
        let label = &vector["label"];
        let input = &vector["input"];
        let kind = kind_of(input);
        let row = row(kind, &input.to_string());
        let mut expected = vector["columns"].as_object().unwrap().clone();
        for (_, name, path) in EXTRA.iter().filter(|(of, ..)| *of == kind.kind()) {
            let value = at(input, path).as_str().unwrap_or_default();
            assert!(expected.insert((*name).to_owned(), value.into()).is_none(), "{label}: {name} is no extra");
        }
        let columns: BTreeSet<&str> = kind.table().indexed().iter().map(|column| column.name.as_str()).collect();
        assert_eq!(columns, expected.keys().map(String::as_str).collect(), "{label}");
        for (name, expected) in &expected {
            let value = column(kind, &row, name);
            assert!(same(value, expected), "{label}: {name} is {value}, not {expected}");
        }
    }
}

#[test]
fn base_columns_labels_and_annotations_come_from_the_metadata() {
    for vector in VECTORS.iter() {
        let label = &vector["label"];
        let input = &vector["input"];
        let kind = kind_of(input);
        let row = row(kind, &input.to_string());
        let metadata = &input["metadata"];
        let version: u64 = metadata["resourceVersion"].as_str().unwrap().parse().unwrap();
        for (name, expected) in [
            ("uid", &metadata["uid"]),
            ("group_ver", &input["apiVersion"]),
            ("namespace", &metadata["namespace"]),
            ("name", &metadata["name"]),
            ("res_version", &json!(version)),
            ("create_time", &metadata["creationTimestamp"]),
            ("update_time", &Json::Null),
            ("delete_time", &Json::Null),
            ("evict_time", &Json::Null),
        ] {
            let value = column(kind, &row, name);
            assert!(same(value, expected), "{label}: {name} is {value}, not {expected}");
        }
        assert_eq!(*row.uid, *metadata["uid"].as_str().unwrap(), "{label}");
        assert_eq!(row.res_version, version, "{label}");
        assert_eq!(borrowed(&row.labels), pairs(&metadata["labels"]), "{label}");
        assert_eq!(borrowed(&row.annotations), pairs(&metadata["annotations"]), "{label}");
    }
}

#[test]
fn the_json_column_is_the_text_as_received() {
    for vector in VECTORS.iter() {
        let input = &vector["input"];
        for text in [input.to_string(), serde_json::to_string_pretty(input).unwrap()] {
            assert_eq!(json(&row(kind_of(input), &text)), text, "{}", vector["label"]);
        }
    }
}

#[test]
fn the_json_column_leaves_out_only_managed_fields() {
    let managed = json!([{"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {"f:tier": {}}}}]);
    for vector in VECTORS.iter() {
        let input = &vector["input"];
        let mut with = input.clone();
        with["metadata"]["managedFields"] = managed.clone();
        for text in [with.to_string(), serde_json::to_string_pretty(&with).unwrap()] {
            let row = row(kind_of(input), &text);
            assert_eq!(serde_json::from_str::<Json>(json(&row)).unwrap(), *input, "{}", vector["label"]);
        }
    }
}

#[test]
fn the_samples_give_the_columns_of_the_reference_system() {
    let mut kinds = BTreeSet::new();
    for (name, text) in samples() {
        let found: Vec<_> = documents(text.as_bytes()).map(|document| document.unwrap().content.unwrap()).collect();
        assert_eq!(found.len(), 1, "{name}");
        let kind = kind_of(&serde_json::from_str(&found[0]).unwrap());
        let row = row(kind, &found[0]);
        let expected = EXPECTED["kinds"][kind.kind()]["sample_values"]["created"].as_object().unwrap();
        assert_eq!(expected.len() + EXTRA.iter().filter(|(of, ..)| *of == kind.kind()).count(), sources(kind).len());
        for (column_name, expected) in expected {
            let value = column(kind, &row, column_name);
            assert!(same(value, expected), "{name}: {column_name} is {value}, not {expected}");
        }
        kinds.insert(kind.kind());
    }
    assert_eq!(kinds.len(), 13, "one sample a kind");
}

/// The files of `samples/`, as name and text.
pub(crate) fn samples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// The steps of `spec.owner.name`.
fn steps(path: &str) -> Vec<Step> {
    path.split('.').map(|name| Step::Field(name.to_owned().leak())).collect()
}

/// A non-zero value for a column, in JSON.
fn some_value(ty: SqlType) -> Json {
    match ty {
        SqlType::VarChar(_) => json!("some text"),
        SqlType::Int => json!(7),
        SqlType::Boolean => json!(true),
        SqlType::DateTime => json!("2026-03-10T01:02:03.456789+02:00"),
        other => panic!("no kind has an indexed column of type {other}: say here what goes into one"),
    }
}

fn zero(ty: SqlType) -> Value {
    match ty {
        SqlType::Int => Value::Int(0),
        SqlType::Boolean => Value::Bool(false),
        _ => Value::text(""),
    }
}

#[test]
fn each_column_is_read_from_its_own_path_alone() {
    for kind in KINDS {
        let empty = row(kind, &object(kind, &[Step::Field("spec")], "{}"));
        for source in sources(kind) {
            let ty = type_of(kind, &source.column);
            let value = some_value(ty);
            let row = row(kind, &object(kind, &steps(&source.path), &value.to_string()));
            let found = column(kind, &row, &source.column);
            assert!(same(found, &value), "{kind:?}: {} from {} is {found}", source.column, source.path);
            // The parent message is present now, so its other fields have zero values. Everything else is unchanged.
            let parent = source.path.rsplit_once('.').unwrap().0;
            for other in sources(kind).iter().filter(|other| other.column != source.column) {
                let found = column(kind, &row, &other.column);
                let ty = type_of(kind, &other.column);
                let beside = other.path.rsplit_once('.').unwrap().0 == parent;
                // A time is itself a message, so it stays absent.
                let expected = if beside && other.nullable && ty != SqlType::DateTime {
                    zero(ty)
                } else {
                    column(kind, &empty, &other.column).clone()
                };
                assert_eq!(*found, expected, "{kind:?}: {} beside {}", other.column, source.path);
            }
        }
    }
}

fn type_of(kind: &Kind, name: &str) -> SqlType {
    kind.table().indexed().iter().find(|column| column.name.as_str() == name).unwrap().ty
}

#[test]
fn an_absent_parent_gives_null_and_an_absent_value_zero() {
    for kind in KINDS {
        let absent = row(kind, &object(kind, &[Step::Field("spec")], "{}"));
        // Spec and status may be empty, null, or absent.
        for (section, text) in [("spec", "null"), ("status", "{}"), ("status", "null")] {
            assert_eq!(row(kind, &object(kind, &[Step::Field(section)], text)).values[13..], absent.values[13..]);
        }
        for source in sources(kind) {
            let value = column(kind, &absent, &source.column);
            let ty = type_of(kind, &source.column);
            match (source.nullable, value) {
                (true, Value::Null) => {}
                // The zero value of an enum is its first name.
                (false, Value::Text(name)) if name.ends_with("_INVALID") => assert_eq!(ty, SqlType::VarChar(255)),
                (false, value) => assert_eq!(*value, zero(ty), "{kind:?}: {}", source.column),
                (true, value) => panic!("{kind:?}: {} is {value}, not NULL", source.column),
            }
        }
    }
}

#[test]
fn text_is_rejected_one_character_beyond_its_columns_length() {
    for kind in KINDS {
        for source in sources(kind) {
            let SqlType::VarChar(length) = type_of(kind, &source.column) else { continue };
            // Four bytes each: the limit counts characters, not bytes.
            let full = "🦀".repeat(length.into());
            let text = object(kind, &steps(&source.path), &json!(full).to_string());
            assert_eq!(*column(kind, &row(kind, &text), &source.column), Value::text(full.as_str()));
            let text = object(kind, &steps(&source.path), &json!(full + "x").to_string());
            match read(kind, &text) {
                Err(crate::objects::Refusal::Decode(DecodeError::Row(RowError::TooLong {
                    column,
                    characters,
                    ..
                }))) => {
                    assert_eq!((column, characters), (source.column, usize::from(length) + 1));
                }
                other => panic!("{kind:?}: {} of {length} characters and one more gives {other:?}", source.column),
            }
        }
    }
}
