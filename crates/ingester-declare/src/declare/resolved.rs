//! Files of kinds as one file that needs no CRD: each column has the type that its CRD gave, and the files that it still names have names
//! without folders.

use super::{DeclareError, KindsFile, files};
use crate::text::{Content, Fault, Mistake, Tree};
use crate::yaml;
use ingester_core::kind::Kind;
use ingester_core::schema::Column;
use std::collections::BTreeMap;
use std::io;

/// A resolved file of kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedFile {
    /// Its text.
    pub text: String,
    /// The files that it names, by name: descriptors. No name has a folder, and each is a valid key of a ConfigMap.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Resolves files of kinds. The result declares the same kinds, with the same definitions. It has no comments.
///
/// # Errors
/// Those of [`kinds_of`](super::kinds_of), and if a kind of the result has another definition.
pub fn resolved(files: &[KindsFile<'_>]) -> Result<ResolvedFile, DeclareError> {
    resolve(files).map_err(|mistakes| DeclareError { mistakes })
}

fn resolve(files: &[KindsFile<'_>]) -> Result<ResolvedFile, Vec<Mistake>> {
    let declared = files::read(files)?.kinds;
    let mut named = BTreeMap::new();
    let mut root = Tree { line: 0, content: Content::Map(Vec::new()) };
    // Each element of a valid file is a kind.
    let mut of_trees = declared.iter();
    for (file, mut tree) in files::trees(files)? {
        for tree in list_mut(&mut tree, "kinds") {
            let Some(kind) = of_trees.next() else { continue };
            if take(tree, "crd").is_some() {
                resolve_kind(tree, kind);
            }
            if let Some(protobuf) = get_mut(tree, "protobuf") {
                resolve_descriptors(protobuf, file, &mut named)?;
            }
        }
        merge(&mut root, tree);
    }
    let text = yaml::to_string(&root).map_err(|error| mistakes(files, error.to_string()))?;
    let open = |name: &str| named.get(name).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    let again = files::read(&[KindsFile { name: "the resolved file", text: &text, open: &open }])?.kinds;
    // Another definition would fill all rows again.
    for (kind, again) in declared.iter().zip(&again) {
        if kind.definition().fingerprint != again.definition().fingerprint {
            let what = "a default has more digits than 64 bits hold: write it with an exponent, such as 1e23";
            return Err(mistakes(files, format!("{}: {what}", kind.kind())));
        }
    }
    Ok(ResolvedFile { text, files: named })
}

/// A mistake that is in no single place, of the first file.
fn mistakes(files: &[KindsFile<'_>], what: String) -> Vec<Mistake> {
    let file = files.first().map(|file| file.name.to_owned()).unwrap_or_default();
    vec![Mistake { file, fault: Fault::somewhere(what) }]
}

/// Adds a document to those before it: lists are joined, and `builtIn: false` counts for all.
fn merge(root: &mut Tree, document: Tree) {
    let (Some(merged), Content::Map(map)) = (map_mut(root), document.content) else { return };
    for (key, tree) in map {
        let Some((_, there)) = merged.iter_mut().find(|(its, _)| *its == key) else {
            merged.push((key, tree));
            continue;
        };
        match (&mut there.content, tree.content) {
            (_, Content::Null) => {}
            (Content::List(list), Content::List(more)) => list.extend(more),
            (content @ (Content::Null | Content::Truth(true)), other) => *content = other,
            _ => {}
        }
    }
}

/// Adds to a kind everything that its CRD said.
fn resolve_kind(tree: &mut Tree, kind: &Kind) {
    set_missing(tree, "plural", "kind", Content::Text(kind.plural().into_owned()));
    set_missing(tree, "namespaced", "plural", Content::Truth(kind.namespaced()));
    let short_names = kind.short_names();
    if !short_names.is_empty() {
        set_missing(tree, "shortNames", "plural", texts(&short_names));
    }
    for column in list_mut(tree, "columns") {
        let Some(Content::Text(name)) = column.get("column").map(|name| name.content.clone()) else { continue };
        let table = kind.table();
        let plain: Option<&Column> = table.indexed().iter().find(|column| column.name.as_str() == name);
        let many = table.many.iter().find(|many| many.name.as_str() == name);
        let Some(ty) = plain.map(|column| column.ty).or(many.map(|many| many.ty())) else { continue };
        set_missing(column, "type", "path", Content::Text(ty.to_string()));
        if let Some(names) = plain.map(|column| column.names).filter(|names| !names.is_empty()) {
            set_missing(column, "enum", "type", texts(names));
        }
    }
}

/// Reads the descriptors of a kind of a file, and gives them a name without folders.
fn resolve_descriptors(
    protobuf: &mut Tree,
    file: &KindsFile<'_>,
    named: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), Vec<Mistake>> {
    let Some(Tree { content: Content::Text(path), .. }) = get_mut(protobuf, "descriptors") else { return Ok(()) };
    let unread = |error| mistakes(std::slice::from_ref(file), format!("cannot read {path}: {error}"));
    let bytes = (file.open)(path).map_err(unread)?;
    let base = flat(path);
    let mut name = base.clone();
    let mut number = 1;
    while named.get(&name).is_some_and(|other| *other != bytes) {
        number += 1;
        name = format!("{number}-{base}");
    }
    path.clone_from(&name);
    named.insert(name, bytes);
    Ok(())
}

/// The last part of a path, as the key of a ConfigMap.
fn flat(path: &str) -> String {
    const LONGEST: usize = 200;
    let last = path.rsplit('/').next().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = last.chars().take(LONGEST).map(|c| if fits(c) { c } else { '-' }).collect();
    // `..` is no file, and the file of kinds itself is beside it.
    format!("descriptors-{name}")
}

fn texts(texts: &[impl AsRef<str>]) -> Content {
    let tree = |text| Tree { line: 0, content: Content::Text(String::from(text)) };
    Content::List(texts.iter().map(AsRef::as_ref).map(tree).collect())
}

fn map_mut(tree: &mut Tree) -> Option<&mut Vec<(String, Tree)>> {
    match &mut tree.content {
        Content::Map(map) => Some(map),
        _ => None,
    }
}

fn get_mut<'t>(tree: &'t mut Tree, key: &str) -> Option<&'t mut Tree> {
    map_mut(tree)?.iter_mut().find(|(there, _)| there == key).map(|(_, tree)| tree)
}

fn list_mut<'t>(tree: &'t mut Tree, key: &str) -> &'t mut [Tree] {
    match get_mut(tree, key) {
        Some(Tree { content: Content::List(list), .. }) => list,
        _ => &mut [],
    }
}

/// Removes a key. Nothing is not a value.
fn take(tree: &mut Tree, key: &str) -> Option<Tree> {
    let map = map_mut(tree)?;
    let place = map.iter().position(|(there, _)| there == key)?;
    Some(map.remove(place).1).filter(|tree| tree.content != Content::Null)
}

/// Sets a key that has no value yet, after another one.
fn set_missing(tree: &mut Tree, key: &str, after: &str, content: Content) {
    if get_mut(tree, key).is_some_and(|tree| tree.content != Content::Null) {
        return;
    }
    take(tree, key);
    let Some(map) = map_mut(tree) else { return };
    let place = map.iter().position(|(there, _)| there == after).map_or(map.len(), |place| place + 1);
    map.insert(place, (key.to_owned(), Tree { line: 0, content }));
}

#[cfg(test)]
mod tests {
    use super::{ResolvedFile, flat};
    use crate::declare::tests::crd_of;
    use crate::declare::{DeclareError, KindsFile, Open, kinds_of};
    use crate::declare::{crds, kinds, scaffold};
    use crate::documents::documents;
    use ingester_core::kind::Kind;
    use ingester_core::object::{ManagedFields, Object};
    use std::io;

    const CRDS: [(&str, &str); 4] = [
        (
            include_str!("../../../../tests/crds/certificates.cert-manager.io.yaml"),
            include_str!("../../../../tests/crds/objects/certificate.yaml"),
        ),
        (
            include_str!("../../../../tests/crds/applications.argoproj.io.yaml"),
            include_str!("../../../../tests/crds/objects/application.yaml"),
        ),
        (
            include_str!("../../../../tests/crds/prometheuses.monitoring.coreos.com.yaml"),
            include_str!("../../../../tests/crds/objects/prometheus.yaml"),
        ),
        (
            include_str!("../../../../tests/crds/destinationrules.networking.istio.io.yaml"),
            include_str!("../../../../tests/crds/objects/destinationrule.yaml"),
        ),
    ];

    fn nothing(_: &str) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn resolved(name: &str, text: &str, open: Open<'_>) -> Result<ResolvedFile, DeclareError> {
        super::resolved(&[KindsFile { name, text, open }])
    }

    /// Everything of a kind except for the text that it has in its file.
    fn render_kind(kind: &Kind) -> String {
        format!("{:?} {} {:?} {:?}", kind.definition(), kind.plural(), kind.short_names(), kind.evict())
    }

    /// Checks that a file and its resolved form declare the same kind. Returns both, and the text of the latter.
    fn same(text: &str, crd: &str) -> ([Kind; 2], String) {
        let open = |name: &str| if name == "../crds/x.yaml" { Ok(crd.as_bytes().to_vec()) } else { nothing(name) };
        let before = kinds("kinds.yaml", text, &open).unwrap().kinds[0];
        let file = resolved("kinds.yaml", text, &open).unwrap();
        assert!(file.files.is_empty() && !file.text.contains("crd:"), "{}", file.text);
        let after = kinds("kinds.yaml", &file.text, &nothing).unwrap().kinds[0];
        assert_eq!(render_kind(&before), render_kind(&after), "{}", file.text);
        assert_eq!(resolved("kinds.yaml", &file.text, &nothing).unwrap(), file, "it is resolved already");
        ([before, after], file.text)
    }

    /// A scaffolded file as a person shortens it: with the CRD, and without the types that the CRD gives.
    fn with_crd(scaffolded: &str, kind: &str) -> String {
        let without_type = |line: &str| match line.split_once(", type: ") {
            Some((before, after)) => format!("{before}{}", &after[after.find([',', '}']).unwrap_or(after.len())..]),
            None => line.to_owned(),
        };
        let lines = scaffolded.lines().filter(|line| !line.trim_start().starts_with('#'));
        let text = lines.map(without_type).collect::<Vec<_>>().join("\n");
        let kind = format!("  kind: {kind}\n");
        let text = text.replacen(&kind, &format!("{kind}  crd: ../crds/x.yaml\n"), 1);
        assert!(text.contains("../crds/x.yaml"), "{text}");
        text
    }

    #[test]
    fn a_resolved_file_declares_the_same_kind_for_every_crd() {
        for (text, object) in CRDS {
            let crds = crds(text.as_bytes()).unwrap();
            let file = with_crd(&scaffold(&crds).unwrap(), &crds[0].spec.names.kind);
            let (both, _) = same(&file, text);
            let object = documents(object.as_bytes()).next().unwrap().unwrap().content.unwrap();
            let object = Object::parse(object, ManagedFields::Prune).unwrap();
            let [before, after] = both.map(|kind| kind.row(&object).unwrap());
            assert!(before.is_some() && before == after, "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_resolved_file_has_what_the_crd_said() {
        let properties = r"
          spec:
            type: object
            properties:
              phase: {type: string, enum: [Running, 'No', '1']}
              start: {type: string, format: date-time}
              ports: {type: array, items: {type: integer}}
              replicas: {type: integer, format: int32}
";
        let crd = crd_of("Job", properties).replacen("kind: Job", "kind: Job, shortNames: [jb]", 1);
        let columns = [
            "{column: phase, path: .spec.phase}",
            "{column: either, path: [.spec.phase, .metadata.name]}",
            "{column: start, path: .spec.start, type: DATETIME(6)}",
            "{column: port, path: '.spec.ports[*]', many: true}",
            "{column: replicas, path: .spec.replicas, default: 1, absent: null}",
            "{column: 'on', path: .metadata.labels.on, default: 'off'}",
        ];
        let text = format!(
            "kinds:\n- group: example.com\n  version: v1\n  kind: Job\n  crd: ../crds/x.yaml\n  columns:\n  - {}\n",
            columns.join("\n  - ")
        );
        let (_, text) = same(&text, &crd);
        for part in [
            "  plural: jobs\n",
            "  shortNames:\n  - jb\n",
            "  namespaced: true\n",
            "    path: .spec.phase\n    type: VARCHAR(255)\n    enum:\n    - Running\n",
            "    type: BIGINT\n    many: true\n",
            "    type: INT\n    default: 1\n",
            "    type: VARCHAR(63)\n",
        ] {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
        assert_eq!(text.matches("enum:").count(), 1, "{text}");
    }

    #[test]
    fn several_files_become_one() {
        let kind = |kind: &str| {
            format!(
                "kinds: [{{group: a.b, version: v1, kind: {kind}, namespaced: true, protobuf: {{message: a.B, descriptors: d.pb}}}}]\n"
            )
        };
        let view = "views: [{name: both, columns: [{column: name}]}]\n";
        let first =
            format!("builtIn: true\n{}---\nprefix: a.example.com\nbuiltIn: false\n{}", kind("One"), kind("Two"));
        let second = format!("prefix: a.example.com\nviews:\n{}", kind("Three"));
        let descriptors = |of: &'static [u8]| move |_: &str| Ok(of.to_vec());
        // A message `a.B` in files of two names.
        let one = descriptors(b"\x0a\x0b\x0a\x01x\x12\x01a\"\x03\x0a\x01B");
        let two = descriptors(b"\x0a\x0b\x0a\x01y\x12\x01a\"\x03\x0a\x01B");
        let files = [
            KindsFile { name: "first", text: &first, open: &one },
            KindsFile { name: "second", text: &second, open: &two },
            KindsFile { name: "third", text: view, open: &nothing },
        ];
        let before = kinds_of(&files).unwrap();
        let ResolvedFile { text, files } = super::resolved(&files).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["2-descriptors-d.pb", "descriptors-d.pb"]);
        let after = kinds("kinds.yaml", &text, &|name| Ok(files[name].clone())).unwrap();
        let shown = |kinds: &[Kind]| kinds.iter().map(render_kind).collect::<Vec<_>>();
        assert_eq!(shown(&before.kinds), shown(&after.kinds), "{text}");
        assert_eq!((after.views.len(), after.built_in, after.prefix), (1, false, Some("a.example.com")), "{text}");
        assert_eq!(after.kinds.len(), 3);
    }

    #[test]
    fn a_default_that_would_change_the_definition_is_refused() {
        let text = |default: &str| {
            format!(
                "kinds:\n- {{group: a.b, version: v1, kind: Job, namespaced: true, columns: [{{column: a, path: .spec.a, type: DOUBLE, default: {default}}}]}}\n"
            )
        };
        assert!(resolved("kinds.yaml", &text("1.50"), &nothing).is_ok());
        let error = resolved("kinds.yaml", &text(&"9".repeat(23)), &nothing).unwrap_err().to_string();
        assert!(error.contains("Job: a default has more digits"), "{error}");
    }

    #[test]
    fn a_name_without_folders_is_a_key_of_a_config_map() {
        for (path, name) in [
            ("../../a b.bin", "descriptors-a-b.bin"),
            ("/etc/é:x", "descriptors---x"),
            ("..", "descriptors-.."),
            ("kinds.yaml", "descriptors-kinds.yaml"),
        ] {
            assert_eq!(flat(path), name);
        }
    }
}
