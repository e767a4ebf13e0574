//! The kinds have the tables of the reference system's generator, plus the documented extras.

use crate::golden::{EXPECTED, EXTRA};
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_core::schema::{Column, Companion, Key, SqlType};
use std::collections::BTreeSet;

/// Name, type, and whether the column may be NULL.
fn described(columns: &[Column]) -> Vec<(&str, String, bool)> {
    columns.iter().map(|column| (column.name.as_str(), column.ty.to_string(), column.nullable)).collect()
}

fn owned(columns: &[(&'static str, &str, bool)]) -> Vec<(&'static str, String, bool)> {
    columns.iter().map(|(name, ty, nullable)| (*name, (*ty).to_owned(), *nullable)).collect()
}

fn names<'t>(columns: &'t [Column], key: &Key) -> Vec<&'t str> {
    key.columns().iter().map(|place| columns[usize::from(*place)].name.as_str()).collect()
}

/// The columns of each key of the main table.
fn keys(kind: &Kind) -> BTreeSet<Vec<&'static str>> {
    kind.table().keys.iter().map(|key| names(kind.table().columns, key)).collect()
}

#[test]
fn there_are_thirteen_kinds_with_three_tables_each() {
    let kinds: BTreeSet<&str> = KINDS.iter().map(Kind::kind).collect();
    let expected = EXPECTED["kinds"].as_object().unwrap();
    assert_eq!(kinds, expected.keys().map(String::as_str).collect());
    assert_eq!(KINDS.len(), 13);
    let tables: BTreeSet<String> = KINDS
        .iter()
        .flat_map(|kind| {
            let table = kind.table();
            let name = table.name.to_string();
            assert_eq!(name, kind.kind().to_lowercase());
            assert_eq!(table.companion(Companion::Labels).as_str(), format!("{name}_labels"));
            assert_eq!(table.companion(Companion::Annotations).as_str(), format!("{name}_annotations"));
            let companions = Companion::OF_METADATA.map(|companion| table.companion(companion).to_string());
            [name].into_iter().chain(companions)
        })
        .collect();
    assert_eq!(tables.len(), 39, "no two tables have one name");
}

#[test]
fn every_main_table_begins_with_the_base_columns() {
    let base = owned(&[
        ("uid", "VARCHAR(64)", false),
        ("group_ver", "VARCHAR(128)", false),
        ("namespace", "VARCHAR(256)", false),
        ("name", "VARCHAR(256)", false),
        ("res_version", "BIGINT UNSIGNED", false),
        ("create_time", "DATETIME(6)", true),
        ("update_time", "DATETIME(6)", false),
        ("delete_time", "DATETIME(6)", true),
        ("evict_time", "DATETIME(6)", true),
        ("evict_confirmed", "BOOLEAN", true),
        ("ingest_version", "INT UNSIGNED", false),
        ("proto", "LONGBLOB", true),
        ("json", "JSON", false),
    ]);
    for kind in KINDS {
        assert_eq!(described(&kind.table().columns[..base.len()]), base, "{kind:?}");
        assert_eq!(kind.table().indexed().len(), kind.table().columns.len() - base.len(), "{kind:?}");
    }
}

#[test]
fn every_label_and_annotation_that_kubernetes_allows_fits_its_table() {
    let labels =
        owned(&[("obj_uid", "VARCHAR(64)", false), ("key", "VARCHAR(317)", false), ("value", "VARCHAR(63)", false)]);
    let annotations =
        owned(&[("obj_uid", "VARCHAR(64)", false), ("key", "VARCHAR(317)", false), ("value", "MEDIUMTEXT", false)]);
    assert_eq!(described(Companion::Labels.columns()), labels);
    assert_eq!(described(Companion::Annotations.columns()), annotations);
    let label_keys: Vec<_> =
        Companion::Labels.keys().iter().map(|key| names(Companion::Labels.columns(), key)).collect();
    assert_eq!(label_keys, [["key", "value"]]);
    assert!(Companion::Annotations.keys().is_empty());
}

#[test]
fn the_indexed_columns_are_those_of_the_generator_and_the_extras() {
    for kind in KINDS {
        let expected = EXPECTED["kinds"][kind.kind()]["columns"].as_array().unwrap();
        let mut expected: BTreeSet<(&str, &str)> = expected
            .iter()
            .map(|column| {
                let ty = match column["generator"].as_str().unwrap() {
                    // We store times with microseconds.
                    "DATETIME" => "DATETIME(6)",
                    other => other,
                };
                (column["column"].as_str().unwrap(), ty)
            })
            .collect();
        expected.extend(match kind.kind() {
            "RayCluster" => Some(("ray_version", "VARCHAR(255)")),
            "RayJob" => Some(("entrypoint", "VARCHAR(768)")),
            _ => None,
        });
        let found = described(kind.table().indexed());
        let columns: BTreeSet<(&str, &str)> = found.iter().map(|(name, ty, _)| (*name, ty.as_str())).collect();
        assert_eq!(columns, expected, "{kind:?}");
        assert_eq!(found.len(), expected.len(), "{kind:?}: a column twice");
        assert!(found.iter().all(|(.., nullable)| *nullable), "{kind:?}: a column added later is NULL at first");
    }
    // Every type must occur, or the comparison above proves less than it seems to.
    let types: BTreeSet<String> =
        KINDS.iter().flat_map(|kind| kind.table().indexed()).map(|column| column.ty.to_string()).collect();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    assert_eq!(types, ["BOOLEAN", "DATETIME(6)", "INT", "VARCHAR(255)", "VARCHAR(768)"]);
}

#[test]
fn the_keys_are_those_of_the_contract_and_of_the_generator() {
    for kind in KINDS {
        let mut expected: BTreeSet<Vec<&str>> =
            [vec!["namespace", "name"], vec!["create_time"], vec!["update_time"], vec!["delete_time"]].into();
        // For the newest objects of a namespace, beyond the contract.
        expected.insert(vec!["namespace", "create_time"]);
        // For what is read of all rows at a restart.
        let narrow = "uid res_version ingest_version delete_time evict_time evict_confirmed namespace group_ver";
        expected.insert(narrow.split(' ').collect());
        for (name, columns) in EXPECTED["kinds"][kind.kind()]["keys"]["generator"].as_object().unwrap() {
            let columns = columns.as_array().unwrap().iter().map(|column| column.as_str().unwrap()).collect();
            assert!(expected.insert(columns), "{kind:?}: {name}");
        }
        expected.extend(EXTRA.iter().filter(|(of, ..)| *of == kind.kind()).map(|(_, column, _)| vec![*column]));
        assert_eq!(keys(kind), expected, "{kind:?}");
        assert_eq!(kind.table().keys.len(), expected.len(), "{kind:?}: no two keys over the same columns");
    }
}

#[test]
fn every_indexed_column_is_in_a_key() {
    for kind in KINDS {
        let keys = keys(kind);
        for column in kind.table().indexed() {
            assert!(keys.iter().any(|key| key.contains(&column.name.as_str())), "{kind:?}: {}", column.name);
        }
    }
}

// MySQL Reference Manual, "InnoDB Limits", "Identifier Length Limits" and "Limits on Table Column Count and Row Size".
// The derives reject what exceeds them. This test adds the sizes up independently, from the names of the types.
#[test]
fn every_table_keeps_to_the_limits_of_innodb() {
    let bytes = |ty: SqlType| -> usize {
        let name = ty.to_string();
        match name.strip_prefix("VARCHAR(").and_then(|rest| rest.strip_suffix(')')) {
            Some(characters) => characters.parse::<usize>().unwrap() * 4,
            None => 12,
        }
    };
    for kind in KINDS {
        let table = kind.table();
        assert!(table.keys.len() <= 64, "{kind:?}: {} keys", table.keys.len());
        assert!(table.columns.len() <= 1017, "{kind:?}: {} columns", table.columns.len());
        let row: usize = table.columns.iter().map(|column| bytes(column.ty) + 2).sum();
        assert!(row <= 65_535, "{kind:?}: rows of {row} bytes");
        let companions = Companion::OF_METADATA.map(|companion| (companion.columns(), companion.keys()));
        for (columns, keys) in [(table.columns, table.keys)].into_iter().chain(companions) {
            for key in keys {
                let key_bytes: usize = key.columns().iter().map(|place| bytes(columns[usize::from(*place)].ty)).sum();
                assert!(key_bytes <= 3072, "{kind:?}: key {} of {key_bytes} bytes", key.name);
                assert!(key.columns().len() <= 16 && key.name.as_str().len() <= 64, "{kind:?}: {}", key.name);
            }
        }
        let names: BTreeSet<&str> = table.keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names.len(), table.keys.len(), "{kind:?}: no two keys of one name");
        for name in table.columns.iter().map(|column| column.name) {
            assert!(name.as_str().len() <= 64, "{kind:?}: {name}");
        }
    }
}

#[test]
fn no_kind_is_immutable_and_each_names_its_protobuf_message() {
    for kind in KINDS {
        assert!(!kind.immutable(), "{kind:?}");
        assert_eq!(
            kind.protobuf().map(|protobuf| protobuf.message),
            crate::places::kind(kind)["message"].as_str(),
            "{kind:?}"
        );
    }
}
