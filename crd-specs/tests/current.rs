//! The committed generated files match the code.

use crd_specs::KINDS;
use ingester_declare::documents::documents;
use ingester_declare::yaml;
use ingester_store::migrate::{Folder, LockFile};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const CRDS: &str = "run `cargo run -- crds --out crd-specs/crds` and commit what it writes";
const SQL: &str = "run `cargo run -- schema generate` and commit what it writes";

fn crds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crds")
}

fn generated_sql() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated-sql")
}

/// The CRD of each kind, by file name.
fn expected() -> BTreeMap<String, String> {
    let name = |kind: &ingester_core::Kind| format!("{}.{}.yaml", kind.plural(), kind.group());
    KINDS.iter().filter_map(|kind| Some((name(kind), yaml::to_string(&kind.crd()?).unwrap()))).collect()
}

/// Every file below `folder`, with its path relative to it.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).iter().map(|below| format!("{name}/{below}")));
        } else {
            found.insert(name);
        }
    }
    found
}

#[test]
fn the_crds_are_current() {
    let expected = expected();
    for (name, text) in &expected {
        let committed = std::fs::read_to_string(crds().join(name)).unwrap_or_default();
        assert!(committed == *text, "crd-specs/crds/{name} is not what the code gives: {CRDS}");
    }
    let names: BTreeSet<String> = expected.into_keys().collect();
    let found = files(&crds());
    let stray: Vec<_> = found.difference(&names).collect();
    assert!(stray.is_empty(), "no kind has the CRD of crd-specs/crds/{stray:?}: delete it");
}

#[test]
fn a_crd_survives_the_round_trip_through_yaml() {
    for kind in KINDS {
        let crd = kind.crd().unwrap();
        let text = yaml::to_string(&crd).unwrap();
        let value = serde_json::to_value(&crd).unwrap();
        assert_eq!(serde_saphyr::from_str::<Value>(&text).unwrap(), value, "{kind:?}");
        // Also through the reader that objects go through.
        let found: Vec<_> = documents(text.as_bytes()).map(|document| document.unwrap().content.unwrap()).collect();
        assert_eq!(found.len(), 1, "{kind:?}");
        assert_eq!(serde_json::from_str::<Value>(&found[0]).unwrap(), value, "{kind:?}");
    }
}

#[test]
fn the_generated_sql_is_current() {
    let outcome = Folder::new(generated_sql()).check(KINDS).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.changed.is_empty(), "generated-sql is not what the code gives, see {:?}: {SQL}", outcome.changed);
    assert_eq!(outcome.migrations, Vec::<String>::new(), "{SQL}");
}

#[test]
fn the_generated_sql_has_no_stray_file() {
    let lock = std::fs::read_to_string(generated_sql().join("schema.lock.json"));
    let lock: LockFile = serde_json::from_str(&lock.unwrap_or_else(|error| panic!("{error}: {SQL}"))).unwrap();
    let migrations = lock.migrations.iter().flat_map(|migration| migration.files.keys().cloned());
    let others = ["mysql/schema.sql", "postgres/schema.sql", "sqlite/schema.sql", "schema.lock.json", ".gitattributes"];
    let expected: BTreeSet<String> = migrations.chain(others.map(str::to_owned)).collect();
    assert_eq!(files(&generated_sql()), expected, "delete what is too much; {SQL}");
}

#[test]
fn the_lock_file_has_the_tables_of_every_kind() {
    let lock = std::fs::read_to_string(generated_sql().join("schema.lock.json")).unwrap();
    let lock: LockFile = serde_json::from_str(&lock).unwrap();
    let tables: BTreeSet<&str> = lock.tables.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!((tables.len(), lock.tables.tables.len()), (39, 39));
    assert!(KINDS.iter().all(|kind| tables.contains(kind.table().name.as_str())));
}
