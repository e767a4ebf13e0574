//! Files of kinds as one declaration, with the mistakes in all of them.

use super::crd::CrdFiles;
use super::kinds::{SYNTAX, read_kind, read_prefix};
use super::{DeclaredKinds, KindsFile, views};
use crate::kept::kept;
use crate::text::{self, Content, Faults, Mistake, Tree, TreeNode};
use ingester_core::kind::Kind;
use ingester_core::{TakenNames, check_pair};
use std::collections::{HashMap, HashSet};

/// The keys of a document.
const KEYS: [&str; 5] = ["builtIn", "prefix", "formerPrefixes", "kinds", "views"];

/// A document of a file, and the mistakes in it.
struct Document<'t> {
    file: &'t KindsFile<'t>,
    root: TreeNode<'t>,
    built_in: Option<bool>,
    prefix: Option<(TreeNode<'t>, &'static str)>,
    former_prefixes: Vec<&'static str>,
    kinds: Option<TreeNode<'t>>,
    views: Option<TreeNode<'t>>,
    faults: Faults,
}

impl<'t> Document<'t> {
    fn read(file: &'t KindsFile<'t>, tree: &'t Tree) -> Self {
        let mut faults = Faults::new();
        let root = TreeNode::new("", tree, &SYNTAX);
        let [built_in, prefix, former, kinds, views] = root.fields(KEYS, &mut faults).unwrap_or_default();
        let built_in = built_in.and_then(|at| at.truth(&mut faults));
        let prefix = prefix.and_then(|at| read_prefix(&at, &mut faults).map(|prefix| (at, prefix)));
        let former = former.map(|list| list.elements(&mut faults)).unwrap_or_default();
        let former_prefixes = former.iter().filter_map(|at| read_prefix(at, &mut faults)).collect();
        Document { file, root, built_in, prefix, former_prefixes, kinds, views, faults }
    }
}

/// A kind, and the place where it is declared.
struct KindLocation<'t> {
    kind: Kind,
    file: &'t str,
    line: u64,
}

/// The documents of all files that declare something, each with its file. Objects of Kubernetes, such as the CRD of a kind in the same
/// folder, are passed over.
///
/// # Errors
/// The documents that are not YAML.
pub(super) fn trees<'f>(files: &'f [KindsFile<'f>]) -> Result<Vec<(&'f KindsFile<'f>, Tree)>, Vec<Mistake>> {
    let mut trees = Vec::new();
    let mut mistakes = Vec::new();
    for file in files {
        for tree in text::read_documents(file.text, &SYNTAX) {
            match tree {
                Ok(tree) => trees.push((file, tree)),
                Err(fault) => mistakes.push(Mistake { file: file.name.to_owned(), fault }),
            }
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    if trees.iter().any(|(_, tree)| !is_object(tree)) {
        trees.retain(|(_, tree)| !is_object(tree));
    }
    Ok(trees)
}

/// Returns true for an object of Kubernetes, or a list of them. A kind that is written without `kinds:` is none: passed over, it would be
/// lost without a word.
fn is_object(tree: &Tree) -> bool {
    let has_text = |key| matches!(tree.get(key), Some(Tree { content: Content::Text(_), .. }));
    let has_any = |keys: &[&str]| keys.iter().any(|key| tree.get(key).is_some());
    has_text("apiVersion")
        && has_text("kind")
        && has_any(&["metadata", "items"])
        && !has_any(&KEYS)
        && !has_any(&["columns"])
}

/// The kinds and views of all files.
///
/// # Errors
/// All mistakes, file by file, in the order of their lines.
pub(super) fn read(files: &[KindsFile<'_>]) -> Result<DeclaredKinds, Vec<Mistake>> {
    let trees = trees(files)?;
    let mut documents: Vec<Document<'_>> = trees.iter().map(|(file, tree)| Document::read(file, tree)).collect();
    check_any_kinds(&mut documents);
    let prefix = one_prefix(&mut documents);
    let mut kinds: Vec<KindLocation<'_>> = Vec::new();
    let mut silent = Vec::new();
    let mut names = TakenNames::default();
    // The files that they name are in their folder.
    let mut crds: HashMap<&str, CrdFiles> = HashMap::new();
    for document in &mut documents {
        let crds = crds.entry(document.file.name).or_default();
        read_kinds(document, (&mut kinds, &mut names), crds, &mut silent);
    }
    let kinds: Vec<Kind> = kinds.into_iter().map(|placed| placed.kind).collect();
    let mut views = Vec::new();
    // A column that a view lacks may belong to a kind that has a mistake.
    if documents.iter().all(|document| document.faults.is_empty()) {
        for document in &mut documents {
            if let Some(list) = &document.views {
                views::read(list, &kinds, &mut views, &mut document.faults);
            }
        }
    }
    let built_in = documents.iter().all(|document| document.built_in != Some(false));
    let former_prefixes = documents.iter().flat_map(|document| document.former_prefixes.clone()).collect();
    let mistakes: Vec<Mistake> = documents.into_iter().flat_map(mistakes).collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(DeclaredKinds { kinds, views: kept(views), built_in, prefix, former_prefixes, silent })
}

/// Checks that one of the documents has kinds. A document that is not a map has had its mistake.
fn check_any_kinds(documents: &mut [Document<'_>]) {
    if documents.iter().any(|document| document.kinds.is_some()) {
        return;
    }
    if let Some(first) = documents.iter_mut().find(|document| matches!(document.root.content(), Content::Map(_))) {
        let what = "there are no kinds: a file begins with `kinds:`, and each is an element of that list";
        first.faults.push(first.root.fault(what));
    }
}

/// The prefix of the names of finalizers and annotations, of which a program has one.
fn one_prefix(documents: &mut [Document<'_>]) -> Option<&'static str> {
    let mut first: Option<(&str, &'static str)> = None;
    for document in documents {
        match (&document.prefix, first) {
            (Some((at, own)), Some((file, other))) if *own != other => {
                let what = format!("`{own}`, but {file} says `{other}`: a program has one prefix");
                document.faults.push(at.fault(what));
            }
            (Some((_, own)), None) => first = Some((document.file.name, own)),
            _ => {}
        }
    }
    first.map(|(_, prefix)| prefix)
}

/// Reads the kinds of one document. Those that do not say what is stored for absent values are added to `silent`.
fn read_kinds<'t>(
    document: &mut Document<'t>,
    (kinds, names): (&mut Vec<KindLocation<'t>>, &mut TakenNames),
    crds: &mut CrdFiles,
    silent: &mut Vec<&'static str>,
) {
    let Document { file, kinds: list, faults, .. } = document;
    let Some(list) = list else { return };
    let nodes = list.elements(faults);
    if nodes.is_empty() && faults.is_empty() {
        faults.push(list.fault("there are no kinds: declare one, or leave the file out"));
    }
    for node in nodes {
        let Some((kind, says_absent)) = read_kind(&node, file.open, crds, faults) else { continue };
        if !says_absent {
            silent.push(kind.kind());
        }
        for earlier in names.sharing(&kind).into_iter().map(|place| &kinds[place]) {
            if let Err(error) = check_pair(&earlier.kind, &kind) {
                let error = error
                    .to_string()
                    .replace("`#[ingest(table = \"...\")]`", "`table`")
                    .replace("in the registry", "there");
                let of_file = if earlier.file == file.name { String::new() } else { format!(" in {}", earlier.file) };
                faults.push(node.fault(format!("{error} (the other one begins{of_file} on line {})", earlier.line)));
            }
        }
        names.take(&kind);
        kinds.push(KindLocation { kind, file: file.name, line: node.tree.line });
    }
}

/// The mistakes in a document, in the order of their lines.
fn mistakes(document: Document<'_>) -> Vec<Mistake> {
    let Document { file, mut faults, .. } = document;
    faults.sort_by_key(|fault| fault.line);
    // A mistake in what a view says of several kinds is found once for each.
    let mut said = HashSet::new();
    faults.retain(|fault| said.insert(fault.clone()));
    faults.into_iter().map(|fault| Mistake { file: file.name.to_owned(), fault }).collect()
}
