//! A file of kinds that needs no CRD: each column has the type that its CRD gave, and the files that it still names are beside it.

use super::kinds::{self, SYNTAX};
use super::{DeclareError, Open};
use crate::text::{self, Content, Fault, Faults, Tree};
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

/// Resolves a file of kinds. The result declares the same kinds, with the same definitions. It has no comments.
///
/// # Errors
/// Those of [`kinds`](super::kinds()), and if a kind of the result has another definition.
pub fn resolved(file: &str, text: &str, open: Open<'_>) -> Result<ResolvedFile, DeclareError> {
    resolve(text, open).map_err(|faults| DeclareError::of(file, faults))
}

fn resolve(text: &str, open: Open<'_>) -> Result<ResolvedFile, Faults> {
    let declared = kinds::read(text, open)?.kinds;
    let mut root = text::read(text, &SYNTAX).map_err(|fault| vec![fault])?;
    let mut files = BTreeMap::new();
    // Each element of a valid file is a kind.
    for (tree, kind) in list_mut(&mut root, "kinds").iter_mut().zip(&declared) {
        if take(tree, "crd").is_some() {
            resolve_kind(tree, kind);
        }
        if let Some(protobuf) = get_mut(tree, "protobuf") {
            resolve_descriptors(protobuf, open, &mut files)?;
        }
    }
    let text = yaml::to_string(&root).map_err(|error| vec![Fault::somewhere(error.to_string())])?;
    let open_resolved = |name: &str| files.get(name).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    let again = kinds::read(&text, &open_resolved)?.kinds;
    // Another definition would fill all rows again.
    for (kind, again) in declared.iter().zip(&again) {
        if kind.definition().fingerprint != again.definition().fingerprint {
            let what = "a default has more digits than 64 bits hold: write it with an exponent, such as 1e23";
            return Err(vec![Fault::somewhere(format!("{}: {what}", kind.kind()))]);
        }
    }
    Ok(ResolvedFile { text, files })
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

/// Reads the descriptors of a kind, and gives them a name without folders.
fn resolve_descriptors(
    protobuf: &mut Tree,
    open: Open<'_>,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), Faults> {
    let Some(Tree { content: Content::Text(file), .. }) = get_mut(protobuf, "descriptors") else { return Ok(()) };
    let bytes = open(file).map_err(|error| vec![Fault::somewhere(format!("cannot read {file}: {error}"))])?;
    let base = flat(file);
    let mut name = base.clone();
    let mut number = 1;
    while files.get(&name).is_some_and(|other| *other != bytes) {
        number += 1;
        name = format!("{number}-{base}");
    }
    file.clone_from(&name);
    files.insert(name, bytes);
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
    use super::{flat, resolved};
    use crate::declare::tests::crd_of;
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

    /// Everything of a kind except for the text that it has in its file.
    fn shown(kind: &Kind) -> String {
        format!("{:?} {} {:?} {:?}", kind.definition(), kind.plural(), kind.short_names(), kind.evict())
    }

    /// Checks that a file and its resolved form declare the same kind. Returns both, and the text of the latter.
    fn same(text: &str, crd: &str) -> ([Kind; 2], String) {
        let open = |name: &str| if name == "../crds/x.yaml" { Ok(crd.as_bytes().to_vec()) } else { nothing(name) };
        let before = kinds("kinds.yaml", text, &open).unwrap().kinds[0];
        let file = resolved("kinds.yaml", text, &open).unwrap();
        assert!(file.files.is_empty() && !file.text.contains("crd:"), "{}", file.text);
        let after = kinds("kinds.yaml", &file.text, &nothing).unwrap().kinds[0];
        assert_eq!(shown(&before), shown(&after), "{}", file.text);
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
