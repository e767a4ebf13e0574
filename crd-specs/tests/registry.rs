//! Every declared kind is in `KINDS` and has a sample.

use crate::golden::samples;
use crd_specs::KINDS;
use ingester_core::kind::find;
use ingester_declare::documents::documents;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A kind that a source file declares: the type to list in `KINDS`, and the kind's name if `#[kube]` gives it.
#[derive(Debug, PartialEq)]
struct DeclaredKind {
    ty: String,
    kind: Option<String>,
}

/// Every struct in `source` that derives `Ingestable`.
fn declared(source: &str) -> Vec<DeclaredKind> {
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for (start, _) in code.match_indices("#[derive(") {
        let Some((derives, rest)) = code[start..].split_once(")]") else { continue };
        if !derives.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "Ingestable") {
            continue;
        }
        let Some((attributes, item)) = rest.split_once("struct ") else { continue };
        let name: String = item.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // kube generates the type of the whole object, named after the kind. Without kube the struct is that type.
        let kube = attributes.split_once("#[kube(").map(|(_, kube)| kube);
        let kind =
            kube.and_then(|kube| kube.split_once("kind = \"")?.1.split_once('"')).map(|(kind, _)| kind.to_owned());
        found.push(DeclaredKind { ty: kind.clone().unwrap_or(name), kind });
    }
    found
}

/// Every source file below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The module of a file: `src/gpu/node.rs` is `gpu::node`.
fn module(root: &Path, file: &Path) -> String {
    let path = file.strip_prefix(root).unwrap().with_extension("");
    let names: Vec<String> = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.into_iter().filter(|name| name != "mod").collect::<Vec<_>>().join("::")
}

/// The lines that `manifest`, the text of lib.rs, lacks to list the kinds that the file of `module` declares.
fn missing(manifest: &str, module: &str, source: &str) -> Vec<String> {
    let bare: String = manifest.split_whitespace().collect();
    let mut missing = Vec::new();
    for declared in declared(source) {
        let line = format!("Kind::of::<{module}::{}>(),", declared.ty);
        if !bare.contains(&line) {
            missing.push(format!("add `{line}` to KINDS in crd-specs/src/lib.rs"));
        }
    }
    let top = module.split("::").next().unwrap();
    if !missing.is_empty() && !bare.contains(&format!("pubmod{top};")) {
        missing.push(format!("and `pub mod {top};` above it"));
    }
    missing
}

#[test]
fn every_declared_kind_is_registered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let manifest = std::fs::read_to_string(root.join("lib.rs")).unwrap();
    let mut lacks = Vec::new();
    let mut count = 0;
    for file in sources(&root).iter().filter(|file| !file.ends_with("lib.rs")) {
        let source = std::fs::read_to_string(file).unwrap();
        lacks.extend(missing(&manifest, &module(&root, file), &source));
        let declared = declared(&source);
        count += declared.len();
        for kind in declared.iter().filter_map(|declared| declared.kind.as_deref()) {
            assert!(lacks.iter().any(|line| line.contains(kind)) || KINDS.iter().any(|known| known.kind() == kind));
        }
    }
    assert!(lacks.is_empty(), "\n{}", lacks.join("\n"));
    assert_eq!(count, KINDS.len(), "KINDS lists what no file declares, or one kind twice");
}

#[test]
fn an_unregistered_kind_is_found_however_it_is_formatted() {
    let source = r#"
        // #[derive(Ingestable)] struct Comment;
        #[derive(CustomResource, Ingestable, Clone)]
        #[kube(group = "example.com", version = "v1", kind = "Widget", namespaced)]
        #[serde(default)]
        pub struct WidgetSpec {}

        #[derive(Indexed)]
        pub struct WidgetStatus {}

        #[derive(
            Clone,
            ingester_core::Ingestable,
        )]
        #[ingest(version = "v1", kind = "Pod")]
        pub struct PodRecord { pub kind: String }
    "#;
    let declared = declared(source);
    assert_eq!(
        declared,
        [
            DeclaredKind { ty: "Widget".into(), kind: Some("Widget".into()) },
            DeclaredKind { ty: "PodRecord".into(), kind: None }
        ]
    );
    let listed = "pub mod widget; KINDS = [ Kind::of::<widget::Widget>(),\n Kind::of::<widget::PodRecord>(),]";
    assert_eq!(missing(listed, "widget", source), Vec::<String>::new());
    assert_eq!(
        missing("pub const KINDS: &[Kind] = &[];", "widget", source),
        [
            "add `Kind::of::<widget::Widget>(),` to KINDS in crd-specs/src/lib.rs",
            "add `Kind::of::<widget::PodRecord>(),` to KINDS in crd-specs/src/lib.rs",
            "and `pub mod widget;` above it",
        ]
    );
}

#[test]
fn every_kind_has_one_sample_and_every_sample_a_kind() {
    let mut found: BTreeMap<&str, Vec<String>> = KINDS.iter().map(|kind| (kind.kind(), Vec::new())).collect();
    for (name, text) in samples() {
        for document in documents(text.as_bytes()) {
            let object: Value = serde_json::from_str(&document.unwrap().content.unwrap()).unwrap();
            let kind = find(KINDS, object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
            let kind = kind.unwrap_or_else(|| panic!("samples/{name} holds a {}, which is no kind", object["kind"]));
            found.entry(kind.kind()).or_default().push(name.clone());
        }
    }
    for (kind, files) in found {
        assert_eq!(files.len(), 1, "samples of {kind}: {files:?}; add crd-specs/samples/<number>-<kind>.yaml");
        let stem = files[0].trim_end_matches(".yaml");
        assert_eq!(stem.split_once('-').map(|(_, name)| name), Some(&*kind.to_lowercase()), "samples/{}", files[0]);
    }
}
