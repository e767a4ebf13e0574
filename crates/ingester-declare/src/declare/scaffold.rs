//! A first file of kinds from CustomResourceDefinitions: the columns that `propose.rs` finds, as text.

use super::keywords::is_keyword;
use super::propose::{ColumnProposal, Columns, FieldProposals, columns, offers};
use crate::yaml::{quoted, scalar};
use ingester_core::place::is_obeyed;
use ingester_core::schema::limits;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use std::fmt::Write as _;

/// Characters of a description.
const SHOWN: usize = 100;

/// The text of a file of kinds for CRDs: each for its stored version, else for the first one that is served.
///
/// # Errors
/// Why no kind can be declared for one of them.
pub fn scaffold(crds: &[CustomResourceDefinition]) -> Result<String, String> {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# Kinds for `ingester run --kinds FILE`, and for every other command. docs/kinds-reference.md says what each key means."
    );
    let names: Vec<String> = crds.iter().map(|crd| escaped(&full_name(crd))).collect();
    let s = if names.len() > 1 { "s" } else { "" };
    let _ =
        writeln!(text, "# Written from the CustomResourceDefinition{s} {}: change it as you like.", names.join(", "));
    text.push_str("builtIn: false # the kinds that are built into the program are left out\nkinds:\n");
    let mut tables = Vec::new();
    for crd in crds {
        kind(&mut text, crd, &mut tables)?;
    }
    Ok(text)
}

/// `certificates.cert-manager.io`
fn full_name(crd: &CustomResourceDefinition) -> String {
    format!("{}.{}", crd.spec.names.plural, crd.spec.group)
}

/// Writes the kind of a CRD, and adds its table to those of the file.
fn kind(text: &mut String, crd: &CustomResourceDefinition, tables: &mut Vec<String>) -> Result<(), String> {
    let version = served(crd)?;
    let names = &crd.spec.names;
    let Columns { proposed, left_out } = columns(version);
    let FieldProposals { columns: offered, unlisted } = offers(version, &proposed);
    let _ = writeln!(
        text,
        "- group: {}\n  version: {}\n  kind: {}\n  plural: {}",
        scalar(&crd.spec.group),
        scalar(&version.name),
        scalar(&names.kind),
        scalar(&names.plural)
    );
    let _ = writeln!(text, "  namespaced: {}", crd.spec.scope == "Namespaced");
    let table = table(crd, tables);
    let mark = if table == names.kind.to_lowercase() { "# " } else { "" };
    let _ = writeln!(text, "  {mark}table: {}", scalar(&table));
    tables.push(table);
    text.push_str("  finalizer: never # `ensure`: no object leaves the cluster before its last state is in SQL\n");
    text.push_str("  evictable: false # the ingester deletes no object, whatever its annotations say, and needs no right to do so\n");
    text.push_str("  absent: null # what is stored where an object has no value; `empty`: an empty text, 0 or false\n");
    text.push_str("  # retention: 90d # rows of deleted objects go after that; without it they stay\n");
    text.push_str("  columns:\n");
    proposed.iter().for_each(|column| line(text, column, ""));
    for why in &left_out {
        let _ = writeln!(text, "  # No column for {}", escaped(why));
    }
    if !offered.is_empty() {
        text.push_str("  # More fields of the CRD:\n");
        offered.iter().for_each(|column| line(text, column, "# "));
    }
    if unlisted > 0 {
        let _ =
            writeln!(text, "  # Further fields, which are not listed: {unlisted}. Each can be a column by its path.");
    }
    Ok(())
}

/// The name of a kind's table, which no other kind of the file has.
pub(super) fn table(crd: &CustomResourceDefinition, others: &[String]) -> String {
    let fits = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let short = |text: &str| text.chars().filter(fits).take(limits::TABLE_BYTES).collect::<String>();
    let plain = short(&crd.spec.names.kind.to_lowercase().replace('-', "_"));
    let group = crd.spec.group.split('.').next().unwrap_or_default().replace('-', "_");
    let of_group = short(&format!("{group}_{plain}"));
    let numbered = (2..).map(|number| format!("table_{number}"));
    let mut names = [plain, of_group].into_iter().chain(numbered);
    names.find(|name| !others.contains(name)).unwrap_or_default()
}

/// The stored version, else the first one that is served.
///
/// # Errors
/// When none is served.
pub(super) fn served(crd: &CustomResourceDefinition) -> Result<&CustomResourceDefinitionVersion, String> {
    let versions = &crd.spec.versions;
    let stored = versions.iter().find(|version| version.storage && version.served);
    stored
        .or_else(|| versions.iter().find(|version| version.served))
        .ok_or_else(|| format!("the CRD {} serves no version", full_name(crd)))
}

/// A column as a line, with its description above it.
fn line(text: &mut String, proposed: &ColumnProposal, mark: &str) {
    let ColumnProposal { column, path, ty, key, description, printing } = proposed;
    let description = first_sentence(description);
    if mark.is_empty() && !description.is_empty() {
        let _ = writeln!(text, "  # {description}");
    }
    let many = if path.has_each() && path.functions.is_empty() { ", many: true" } else { "" };
    let path = quoted(&path.to_string());
    let key = if *key { "" } else { ", key: false" };
    let hint = if is_keyword(column) { " # a keyword of SQL: quote it in queries" } else { "" };
    let header = printing.header.as_ref().map(|header| format!(", header: {}", scalar(header))).unwrap_or_default();
    let wide = if printing.wide { ", wide: true" } else { "" };
    let age = if printing.age { ", age: true" } else { "" };
    let options = format!("{key}{many}{header}{wide}{age}");
    let _ = writeln!(text, "  {mark}- {{column: {}, path: {path}, type: {ty}{options}}}{hint}", scalar(column));
}

/// The first sentence on one line, cut where it is long.
pub(super) fn first_sentence(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    let sentence = text.get(..end).unwrap_or(&text);
    let sentence = match sentence.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &sentence[..at]),
        None => sentence.trim_end_matches('.').to_owned(),
    };
    escaped(&sentence)
}

/// A text for a comment, in which nothing is obeyed by those who show it.
pub(super) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_obeyed(c) {
            true => shown.extend(c.escape_debug()),
            false => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{first_sentence, scaffold};
    use crate::declare::{crd, kinds};
    use ingester_core::object::{ManagedFields, Object};
    use ingester_core::value::Value;

    const CRDS: [(&str, &str); 4] = [
        ("certificate", include_str!("../../../../tests/crds/certificates.cert-manager.io.yaml")),
        ("application", include_str!("../../../../tests/crds/applications.argoproj.io.yaml")),
        ("prometheus", include_str!("../../../../tests/crds/prometheuses.monitoring.coreos.com.yaml")),
        ("destinationrule", include_str!("../../../../tests/crds/destinationrules.networking.istio.io.yaml")),
    ];

    #[test]
    fn a_description_is_a_comment_that_no_terminal_obeys() {
        for (text, comment) in [
            ("Red \u{1b}[31m,\u{7} and back.\r\nMore.", "Red \\u{1b}[31m,\\u{7} and back"),
            ("From the right \u{202e}tfel", "From the right \\u{202e}tfel"),
            ("é 語", "é 語"),
        ] {
            assert_eq!(first_sentence(text), comment);
        }
    }

    /// A CRD with characters in its names that a terminal obeys.
    const HOSTILE: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "runs.a.b"},
        "spec": {"group": "a.b", "scope": "Namespaced", "names": {"kind": "Run", "plural": "runs"}, "versions": [{
            "name": "v1", "served": true, "storage": true,
            "additionalPrinterColumns": [{"name": "x", "type": "string", "jsonPath": ".spec.c\u202ed"}],
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "a\u001b[31m'\"\\b": {"type": "string"}, "c\u202ed": {"type": "string"}, "e\u0085f": {"type": "array", "items": {"type": "string"}}
            }}}}}
        }]}}"#;

    #[test]
    fn names_of_fields_are_written_without_characters_that_a_terminal_obeys() {
        let crds = crd::parse(HOSTILE.as_bytes()).unwrap();
        let file = scaffold(&crds).unwrap();
        let rust = super::super::scaffold_rust(&crds[0]).unwrap();
        for text in [&file, &rust] {
            assert!(!text.contains(|c| super::is_obeyed(c) && c != '\n'), "{text:?}");
        }
        let all = file.replace("  # - {", "  - {");
        let read = kinds("kinds.yaml", &all, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
        let paths: Vec<String> = read.kinds[0]
            .table()
            .columns
            .iter()
            .filter_map(|column| column.path)
            .map(|path| path.to_string())
            .collect();
        assert!(paths.iter().any(|path| path.contains("c\u{202e}d")), "{paths:?}");
        assert!(paths.iter().any(|path| path.contains("a\u{1b}[31m'\"\\b")), "{paths:?}");
    }

    #[test]
    fn a_scaffold_is_a_file_of_kinds_as_it_is_and_with_all_that_it_offers() {
        for (name, text) in CRDS {
            let scaffolded = scaffold(&crd::parse(text.as_bytes()).unwrap()).unwrap();
            insta::assert_snapshot!(format!("scaffold_{name}"), scaffolded);
            for text in [scaffolded.clone(), scaffolded.replace("  # - {", "  - {")] {
                let file = kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()));
                let file = file.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
                assert!(!file.built_in && file.kinds.len() == 1);
            }
        }
    }

    /// A CRD of a kind and group with one printer column.
    fn crd_of(kind: &str, group: &str) -> String {
        format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {{"name": "x"}}, "spec": {{"group": "{group}",
            "scope": "Cluster", "names": {{"kind": "{kind}", "plural": "on"}}, "versions": [{{"name": "y", "served": true, "storage": true,
            "additionalPrinterColumns": [{{"name": "Null", "type": "string", "jsonPath": ".spec.null"}}],
            "schema": {{"openAPIV3Schema": {{"type": "object", "properties": {{"spec": {{"type": "object", "properties": {{
                "null": {{"type": "string", "maxLength": 9}}, "y": {{"type": "string"}}, "on": {{"type": "integer"}}
            }}}}}}}}}}}}]}}}}"#
        )
    }

    #[test]
    fn all_crds_of_a_file_become_kinds_with_tables_of_their_own() {
        const NAMESPACE: &str = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}"#;
        let [one, same_name, lower, dashes] = [("Job", "a.b"), ("Job", "c-d.e"), ("widget", "a.b"), ("my-Kind", "a.b")]
            .map(|(kind, group)| crd_of(kind, group));
        for text in [
            format!("---\n{NAMESPACE}\n---\n{one}\n---\n{same_name}\n---\n{lower}\n---\n{dashes}\n"),
            format!(
                r#"{{"apiVersion": "v1", "kind": "List", "items": [{NAMESPACE}, {one}, {same_name}, {lower}, {dashes}]}}"#
            ),
        ] {
            let scaffolded = scaffold(&crd::parse(text.as_bytes()).unwrap()).unwrap();
            for text in [scaffolded.clone(), scaffolded.replace("  # - {", "  - {")] {
                let read = kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()));
                let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
                let shown: Vec<String> =
                    read.kinds.iter().map(|kind| format!("{} {}", kind.kind(), kind.table().name)).collect();
                assert_eq!(shown, ["Job job", "Job c_d_job", "widget widget", "my-Kind my_kind"]);
            }
        }
        for (text, what) in [
            ("", "it is empty"),
            (NAMESPACE, "it is not a CustomResourceDefinition, but of kind `Namespace`"),
            (&format!("{NAMESPACE}\n{NAMESPACE}"), "none of its 2 objects is a CustomResourceDefinition"),
            (&format!("{NAMESPACE}\n{}", one.replace("k8s.io/v1", "k8s.io/v1beta1")), "line 2: it is not a Custom"),
        ] {
            let error = crd::parse(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(what), "{error}");
        }
    }

    #[test]
    fn a_bundle_of_crds_has_the_types_of_each_kind_of_a_file() {
        let bundle = format!("{}\n{}", crd_of("Other", "a.b"), crd_of("Job", "a.b"));
        let file = "kinds:\n- {group: a.b, version: 'y', kind: Job, crd: all.yaml, columns: [{column: a, path: .spec.null}]}\n";
        let open = |_: &str| Ok(bundle.clone().into_bytes());
        let kind = kinds("kinds.yaml", file, &open).unwrap().kinds[0];
        assert_eq!(kind.table().indexed()[0].ty.to_string(), "VARCHAR(9)");
        let said =
            |file: &str, open: crate::declare::Open<'_>| kinds("kinds.yaml", file, open).unwrap_err().to_string();
        for (from, to, says) in [
            ("kind: Job", "kind: Jub", "all.yaml has no CRD of Jub in `a.b`; did you mean Job in `a.b`?"),
            ("kind: Job", "kind: Workflow", "all.yaml has no CRD of Workflow in `a.b`, but of 2 other kinds"),
            ("version: 'y'", "version: v9", "the CRD has no version `v9`; there are: y"),
        ] {
            let error = said(&file.replace(from, to), &open);
            assert_eq!(error, format!("kinds.yaml line 2: kinds[0]: {says}"), "one mistake has one message");
        }
        let alone = |_: &str| Ok(crd_of("Other", "a.b").into_bytes());
        assert!(said(file, &alone).ends_with("the CRD is of Other in `a.b`, not of Job in `a.b`"));
    }

    #[test]
    fn a_file_of_crds_is_read_once_for_all_of_its_kinds() {
        let names: Vec<String> = (0..20).map(|number| format!("Job{number}")).collect();
        let bundle: Vec<String> = names.iter().map(|name| crd_of(name, "a.b")).collect();
        let kind = |name: &String| {
            format!(
                "kinds: [{{group: a.b, version: 'y', kind: {name}, crd: all.yaml, columns: [{{column: a, path: .spec.null}}]}}]\n"
            )
        };
        let file: Vec<String> = names.iter().map(kind).collect();
        let opened = std::cell::Cell::new(0);
        let open = |_: &str| {
            opened.set(opened.get() + 1);
            Ok(bundle.join("\n").into_bytes())
        };
        assert_eq!(kinds("kinds.yaml", &file.join("---\n"), &open).unwrap().kinds.len(), 20);
        assert_eq!(opened.get(), 1);
    }

    /// The API server prints these values for these objects.
    #[test]
    fn a_column_has_what_the_api_server_prints() {
        const META: &str =
            r#""labels": {"example.com/region": "eu-1", "example.com/kit.type": "platform", "team": "x"}"#;
        for (json_path, object, value) in [
            (r".metadata.labels['example\\.com/region']", "", "eu-1"),
            (r".metadata.labels.example\\.com\\/kit\\.type", "", "platform"),
            (".metadata.labels['team']", "", "x"),
            (".metadata.labels", "", r#"{"example.com/region":"eu-1","example.com/kit.type":"platform","team":"x"}"#),
            (".status.count", r#", "status": {"count": 5}"#, "5"),
            (".status.a", r#", "status": {"a": {"b": [1, "c \" d", {}]}}"#, r#"{"b":[1,"c \" d",{}]}"#),
            (".status.hosts[*]", r#", "status": {"hosts": ["h1", "h2"]}"#, "h1"),
            (".status.hosts", r#", "status": {"hosts": ["h1", "h2"]}"#, r#"["h1","h2"]"#),
            (".status.x[-1:].name", r#", "status": {"x": [{"name": "c1"}, {"name": "c2"}]}"#, "c2"),
            (
                ".status.x[?(@.name=='c2')].a",
                r#", "status": {"x": [{"name": "c1"}, {"name": "c2", "a": true}]}"#,
                "true",
            ),
        ] {
            let text = crd_of("Job", "a.b").replace(".spec.null", json_path).replace(
                r#""properties": {"spec""#,
                r#""properties": {"status": {"x-kubernetes-preserve-unknown-fields": true}, "spec""#,
            );
            let file = scaffold(&crd::parse(text.as_bytes()).unwrap()).unwrap();
            let kind = kinds("kinds.yaml", &file, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap().kinds[0];
            let text = format!(
                r#"{{"apiVersion": "a.b/y", "kind": "Job", "metadata": {{"name": "a", "uid": "u", {META}}}{object}}}"#
            );
            let row = kind.row(&Object::parse(text, ManagedFields::Prune).unwrap()).unwrap().unwrap();
            assert_eq!(row.values.last(), Some(&Value::text(value)), "{json_path}\n{file}");
        }
    }
}
