//! README.md and the pages of `docs/`: every block without a mark is run in its order, in a folder of the page with the repository's samples
//! and saved queries, on SQLite and without a cluster. Every block of YAML is read by what would read it. `ingester_tests::book` says what a
//! mark is; `tests/tests/documents.rs` checks that what marks name exists.

use anyhow::{Context as _, Result, bail, ensure};
use ingester_config::{Config, Environment};
use ingester_core::KindNames;
use ingester_declare::declare;
use ingester_tests::Page;
use ingester_tests::book::{Block, blocks, pages};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What a page's folder has of the repository.
const FILES: [&str; 3] = ["crd-specs/samples", "queries", "examples/cert-manager"];

/// A kind that configurations name and that the program does not have.
const OTHER: &str =
    "kinds: [{group: '', version: v1, kind: Pod, namespaced: true, columns: [{column: a, path: .a, type: INT}]}]";

#[test]
fn every_block_of_the_pages_without_a_mark_is_run() -> Result<()> {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, text) in pages()? {
        match check(&text) {
            Ok(number) => checked += number,
            Err(error) => wrong.push(format!("{name} {error:#}")),
        }
    }
    ensure!(wrong.is_empty(), "correct these blocks, or mark them (see tests/src/book.rs):\n{}", wrong.join("\n\n"));
    ensure!(checked > 50, "only {checked} blocks are checked: how pages are read is wrong");
    Ok(())
}

/// Runs and reads the blocks of a page; returns how many there are without a mark.
fn check(text: &str) -> Result<usize> {
    let mut page = Page::new(Path::new(env!("CARGO_BIN_EXE_ingester")))?;
    page.cargo_run(Path::new(env!("CARGO_BIN_EXE_ingester")))?;
    page.set("HOME", page.folder());
    page.set("KUBECONFIG", "/there/is/no/cluster");
    for name in FILES {
        page.copy_as(&Path::new(ROOT).join(name), name)?;
    }
    let mut unmarked = blocks(text)?;
    let mut marked = false;
    unmarked.retain(|block| {
        // An output belongs to the block before it.
        marked = block.mark.is_some() || (marked && block.language == "text");
        !marked
    });
    let runs: Vec<Block> =
        unmarked.iter().filter(|block| block.language != "yaml" || is_file(block)).cloned().collect();
    page.run_all(&runs)?;
    for block in unmarked.iter().filter(|block| block.language == "yaml") {
        yaml(&block.text, &page.folder()).with_context(|| format!("line {}:\n{}", block.line, block.text))?;
    }
    Ok(unmarked.len())
}

/// Whether the first line is the name of the file.
fn is_file(block: &Block) -> bool {
    let first = block.text.lines().next().and_then(|line| line.strip_prefix("# "));
    first.is_some_and(|name| name.ends_with(".yaml") && !name.contains(' '))
}

/// Reads a block of YAML as what it is: a configuration, a file of kinds, a part of a kind there, or objects of Kubernetes.
fn yaml(text: &str, folder: &Path) -> Result<()> {
    for document in text.split("\n---\n") {
        let value: Json = serde_saphyr::from_str(document)?;
        let has = |key: &str| value.get(key).is_some();
        if value.is_array() || document.starts_with(' ') {
            kinds(&part_of_a_kind(document, &value), folder)?;
        } else if has("apiVersion") && has("kind") {
            object(&value)?;
        } else if has("kinds") || has("views") {
            kinds(document, folder)?;
        } else {
            // It refuses keys that it does not know.
            configuration(document)?;
        }
    }
    Ok(())
}

/// A file of kinds around a part of one: its columns, or some of its keys.
fn part_of_a_kind(part: &str, value: &Json) -> String {
    let mut file = "kinds:\n- group: example.com\n  version: v1\n  kind: Page\n  namespaced: true\n".to_owned();
    if value.is_array() {
        let indent = if part.starts_with(' ') { "" } else { "  " };
        file += "  columns:\n";
        file.extend(part.lines().map(|line| format!("{indent}{line}\n")));
    } else {
        file += part;
        if value.get("columns").is_none() {
            // The columns that rules of the pages select by.
            file += "\n  columns:\n  - {column: state, path: .status.state, type: VARCHAR(64)}\n\
                     \x20 - {column: ended, path: .status.endTime, type: DATETIME(6)}\n\
                     \x20 - {column: pipeline, path: .spec.pipeline.name, type: VARCHAR(255)}\n";
        }
    }
    file
}

fn kinds(text: &str, folder: &Path) -> Result<()> {
    declare::kinds("the file of kinds", text, &|name| std::fs::read(folder.join(name)))?;
    Ok(())
}

fn configuration(text: &str) -> Result<()> {
    let mut kinds = crd_specs::KINDS.to_vec();
    kinds.extend(declare::kinds("", OTHER, &|name| Err(std::io::Error::other(name.to_owned())))?.kinds);
    Config::parse(text, &Environment::read(|_| None), &KindNames::of(&kinds)).context("read as a configuration")?;
    Ok(())
}

/// Kubernetes' types keep every field of an object; of a custom resource, of its metadata.
fn object(value: &Json) -> Result<()> {
    match value["kind"].as_str() {
        Some("Secret") => kept::<Secret>(value),
        Some("ConfigMap") => kept::<ConfigMap>(value),
        Some(_) => kept::<ObjectMeta>(&value["metadata"]),
        None => bail!("`kind` is not a text"),
    }
}

fn kept<T: DeserializeOwned + Serialize>(value: &Json) -> Result<()> {
    let back = serde_json::to_value(serde_json::from_value::<T>(value.clone())?)?;
    let fields = value.as_object().context("it is not a map")?;
    let unknown: Vec<&String> = fields.keys().filter(|key| back.get(key).is_none()).collect();
    ensure!(unknown.is_empty(), "unknown fields: {unknown:?}");
    Ok(())
}
