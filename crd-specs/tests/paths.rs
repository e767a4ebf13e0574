//! Each column knows where in its object the value is.

use crate::golden::sources;
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_core::schema::{Column, Path};
use serde_json::Value as Json;

/// The schema of the kind's objects, as its CRD has it.
fn schema(kind: &Kind) -> Json {
    let crd = serde_json::to_value(kind.crd().unwrap()).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

/// The step of a path that the schema does not have, if there is one. A CRD says nothing of the fields of the metadata.
fn missing(schema: &Json, path: Path) -> Option<&'static str> {
    let mut at = schema;
    for step in path.steps() {
        at = &at["properties"][step];
        if !at.is_object() {
            return Some(step);
        }
    }
    None
}

#[test]
fn the_path_of_each_column_is_in_the_kinds_schema() {
    let mut walked = 0;
    for kind in KINDS {
        let schema = schema(kind);
        for Column { name, path, computed, .. } in kind.table().indexed() {
            let path = path.unwrap_or_else(|| panic!("{kind:?}: {name} has no path"));
            assert!(!computed, "{kind:?}: {name}");
            if path.steps().next() != Some("metadata") {
                assert_eq!(missing(&schema, path), None, "{kind:?}: {name} at {path}");
                walked += 1;
            }
        }
    }
    assert!(walked > 60, "{walked} paths");
    // A wrong guess would be found.
    assert_eq!(missing(&schema(&KINDS[2]), Path::new("spec.sourcePipelineRun.nam")), Some("nam"));
}

#[test]
fn the_path_of_each_column_is_the_one_that_its_value_comes_from() {
    for kind in KINDS {
        let table = kind.table();
        for source in sources(kind) {
            let place = table.by_name(&source.column).unwrap();
            assert_eq!(table.columns[place].path.unwrap().to_string(), source.path, "{kind:?}: {}", source.column);
            assert_eq!(table.by_path(&source.path), Some(place), "{kind:?}: {}", source.path);
        }
        for (column, path) in [
            ("uid", "metadata.uid"),
            ("group_ver", "apiVersion"),
            ("namespace", "metadata.namespace"),
            ("name", "metadata.name"),
            ("res_version", "metadata.resourceVersion"),
            ("create_time", "metadata.creationTimestamp"),
        ] {
            assert_eq!(table.by_path(path), table.by_name(column), "{kind:?}: {path}");
        }
        for column in ["update_time", "delete_time", "evict_time", "ingest_version", "proto", "json"] {
            assert_eq!(table.columns[table.by_name(column).unwrap()].path, None, "{kind:?}: {column}");
        }
        assert_eq!((table.by_path("spec.nothing"), table.by_path(""), table.by_name("nothing")), (None, None, None));
    }
}
