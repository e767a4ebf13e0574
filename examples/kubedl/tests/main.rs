//! KubeDL's kinds twice, declared in `kinds.yaml` and compiled: the same tables, views and rows.
#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

mod mutation;
mod resources;
mod rows;
mod schema;

use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_declare::declare::{DeclaredKinds, kinds};
use ingester_declare::documents::documents;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The kinds and views that the file declares.
static DECLARED: LazyLock<DeclaredKinds> = LazyLock::new(|| {
    let text = std::fs::read_to_string(folder().join("kinds.yaml")).unwrap();
    let file = kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()));
    file.unwrap_or_else(|error| panic!("{error}"))
});

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of objects.
fn files() -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder().join("objects")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found
}

/// All objects in all their states, as JSON.
fn states() -> Vec<String> {
    let texts = files().into_iter().map(|file| std::fs::read(file).unwrap());
    texts
        .flat_map(|text| {
            documents(text.as_slice()).map(|one| one.unwrap().content.unwrap().to_string()).collect::<Vec<_>>()
        })
        .collect()
}

/// The kind of an object, compiled and declared.
fn both_of(object: &Object) -> [&'static Kind; 2] {
    let find = |all: &'static [Kind]| {
        all.iter().find(|kind| kind.kind() == object.kind()).unwrap_or_else(|| panic!("{}", object.kind()))
    };
    [find(kubedl_specs::KINDS), find(&DECLARED.kinds)]
}

/// The result of both forms for an object: its row, nothing if it is left out, or the reason of its rejection.
fn read(text: &str) -> Result<[Result<Option<Row>, String>; 2], String> {
    let object = Object::parse(text, ManagedFields::Prune).map_err(|error| error.to_string())?;
    Ok(both_of(&object).map(|kind| kind.row(&object).map_err(|error| error.to_string())))
}
