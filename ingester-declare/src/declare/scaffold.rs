//! A first file of kinds from a CustomResourceDefinition.
//!
//! Columns are what the CRD's author considers worth searching and showing: `selectableFields` and `additionalPrinterColumns`. The
//! ones that are often queried have keys: the first ones, times (by ranges) and `ready`. The rest of the schema is there as comments.

use super::crd;
use super::path::{Path, Step};
use ingester_core::place::is_obeyed;
use ingester_core::schema::{BASE_COLUMNS, Ident, SqlType, limits};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps,
    JSONSchemaPropsOrArray,
};
use std::borrow::Cow;
use std::fmt::Write as _;

/// How deep fields are offered as comments, and how many.
const DEPTH: usize = 4;
const OFFERED: usize = 60;

/// Characters of a description.
const SHOWN: usize = 100;

/// A column that is proposed.
pub(super) struct Proposed {
    pub(super) column: String,
    pub(super) path: Path,
    pub(super) ty: SqlType,
    pub(super) key: bool,
    /// The schema's description.
    description: String,
}

/// The text of a file of kinds for a CRD, for its stored version, else for the first one that is served.
///
/// # Errors
/// Why no kind can be declared for it.
pub fn scaffold(crd: &CustomResourceDefinition) -> Result<String, String> {
    let version = served(crd)?;
    let names = &crd.spec.names;
    let proposed = columns(version);
    let offered = offered(version, &proposed);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# Kinds for `ingester run --kinds FILE`, and for every other command. docs/kinds-reference.md says what each key means."
    );
    let _ = writeln!(
        text,
        "# Written from the CustomResourceDefinition {}: change it as you like.",
        escaped(&format!("{}.{}", names.plural, crd.spec.group))
    );
    text.push_str("builtIn: false # the kinds that are built into the program are left out\nkinds:\n");
    let _ = writeln!(
        text,
        "- group: {}\n  version: {}\n  kind: {}\n  plural: {}",
        name(&crd.spec.group),
        name(&version.name),
        name(&names.kind),
        name(&names.plural)
    );
    let _ = writeln!(text, "  namespaced: {}", crd.spec.scope == "Namespaced");
    let table = names.kind.to_lowercase();
    let longest = limits::TABLE_BYTES;
    if table.len() > longest {
        let short: String = table.chars().filter(char::is_ascii).take(longest).collect();
        let _ = writeln!(text, "  table: {short}");
    } else {
        let _ = writeln!(text, "  # table: {}", escaped(&table));
    }
    text.push_str("  finalizer: never # `ensure`: no object leaves the cluster before its last state is in SQL\n");
    text.push_str("  evictable: false # the ingester deletes no object, whatever its annotations say, and needs no right to do so\n");
    text.push_str("  absent: null # what is stored where an object has no value; `empty`: an empty text, 0 or false\n");
    text.push_str("  # retention: 90d # rows of deleted objects go after that; without it they stay\n");
    text.push_str("  columns:\n");
    proposed.iter().for_each(|column| line(&mut text, column, ""));
    if !offered.is_empty() {
        text.push_str("  # More fields of the CRD:\n");
        offered.iter().for_each(|column| line(&mut text, column, "# "));
    }
    Ok(text)
}

/// The stored version, else the first one that is served.
///
/// # Errors
/// When none is served.
pub(super) fn served(crd: &CustomResourceDefinition) -> Result<&CustomResourceDefinitionVersion, String> {
    let versions = &crd.spec.versions;
    let stored = versions.iter().find(|version| version.storage && version.served);
    stored.or_else(|| versions.iter().find(|version| version.served)).ok_or_else(|| "the CRD serves no version".into())
}

/// A column as a line, with its description above it.
fn line(text: &mut String, proposed: &Proposed, mark: &str) {
    let Proposed { column, path, ty, key, description } = proposed;
    if mark.is_empty() && !description.is_empty() {
        let _ = writeln!(text, "  # {description}");
    }
    let path = quoted(&path.to_string());
    let key = if *key { "" } else { ", key: false" };
    let _ = writeln!(text, "  {mark}- {{column: {column}, path: {path}, type: {ty}{key}}}");
}

/// The columns that the CRD selects and prints.
pub(super) fn columns(version: &CustomResourceDefinitionVersion) -> Vec<Proposed> {
    let schema = crd::schema(version);
    let mut proposed: Vec<Proposed> = Vec::new();
    let selectable = version.selectable_fields.iter().flatten().map(|field| (field.json_path.as_str(), None));
    let printed =
        version.additional_printer_columns.iter().flatten().map(|column| (column.json_path.as_str(), Some(column)));
    for (json_path, column) in selectable.chain(printed) {
        let Some(path) = of_json_path(json_path) else { continue };
        if is_base(&path) || proposed.iter().any(|other| other.path.steps == path.steps) {
            continue;
        }
        let found = schema.and_then(|schema| crd::at(schema, &path.steps).ok().flatten());
        let Some((path, ty)) = typed(path, found, column) else { continue };
        let said = column
            .and_then(|column| column.description.clone())
            .or_else(|| found.and_then(|found| found.description.clone()));
        let is_selectable = column.is_none();
        let column = unused(&path, &proposed);
        let is_asked_for = is_selectable || ty == SqlType::DateTime || column == "ready";
        let key = is_asked_for && ty.key_bytes().is_some();
        proposed.push(Proposed { column, path, ty, key, description: first_sentence(&said.unwrap_or_default()) });
    }
    proposed
}

/// The type of a column, and the path with what that type needs.
fn typed(
    mut path: Path,
    found: Option<&JSONSchemaProps>,
    column: Option<&CustomResourceColumnDefinition>,
) -> Option<(Path, SqlType)> {
    let prose = matches!(path.steps.last(), Some(Step::Name(name)) if matches!(name.as_str(), "message" | "description" | "summary"));
    match found {
        Some(found) if found.x_kubernetes_int_or_string == Some(true) => {
            path.functions.push(super::path::Function::Text);
            Some((path, SqlType::VarChar(255)))
        }
        Some(found) => match crd::column_type(found)? {
            SqlType::VarChar(_) if prose => Some((path, SqlType::Text)),
            // The API server enforces the schema; a printer column of dates may be a text there.
            ty => Some((path, ty)),
        },
        // Below `x-kubernetes-preserve-unknown-fields`, only the printer column says what it is.
        None => {
            let ty = match column.map(|column| column.type_.as_str()) {
                Some("integer") => SqlType::BigInt,
                Some("number") => SqlType::Double,
                Some("boolean") => SqlType::Boolean,
                Some("date") => SqlType::DateTime,
                _ if prose => SqlType::Text,
                _ => SqlType::VarChar(255),
            };
            Some((path, ty))
        }
    }
}

/// A path of kubectl's JSONPath, if it is one of ours.
fn of_json_path(text: &str) -> Option<Path> {
    let text = text.trim().trim_start_matches('{').trim_end_matches('}');
    let mut ours = String::new();
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once("[?(@.") {
        // `[?(@.type=="Ready")]`
        let (condition, behind) = behind.split_once(")]")?;
        let (name, value) = condition.split_once("==")?;
        let value = value.trim().trim_matches(['"', '\'']);
        let _ = write!(ours, "{front}[{}={value:?}]", name.trim());
        rest = behind;
    }
    ours.push_str(rest);
    // `\.` is a point within a name.
    let ours = escaped_points(&ours)?;
    Path::parse(&ours).ok()
}

/// `.metadata.labels.app\.kubernetes\.io/name` as `.metadata.labels["app.kubernetes.io/name"]`.
fn escaped_points(text: &str) -> Option<String> {
    if !text.contains("\\.") {
        return Some(text.replace('\'', "\""));
    }
    let mut steps = String::new();
    let marked = text.strip_prefix('.')?.replace("\\.", "\u{0}");
    for name in marked.split('.') {
        let _ = write!(steps, "[{:?}]", name.replace('\u{0}', "."));
    }
    Some(steps)
}

/// Returns true if every table has the value anyway.
fn is_base(path: &Path) -> bool {
    path.names().is_some_and(|names| {
        let joined = names.join(".");
        BASE_COLUMNS.iter().any(|column| column.path.is_some_and(|its| its.is(&joined)))
    })
}

/// A name for a column that is still unused.
fn unused(path: &Path, others: &[Proposed]) -> String {
    let mut words: Vec<String> = Vec::new();
    for step in &path.steps {
        match step {
            Step::Name(name) => words.push(snake(name)),
            Step::Match(_, literal, _) => {
                // `conditions[type=Ready].status` is `ready`.
                words.pop();
                words.push(snake(literal));
            }
            Step::Index(_) | Step::Each => {}
        }
    }
    let root = if words.len() > 1 { words.remove(0) } else { String::new() };
    if matches!(path.steps.iter().rev().nth(1), Some(Step::Match(..)))
        && words.last().is_some_and(|word| word == "status")
    {
        words.pop();
    }
    let short = words.join("_");
    let taken = |name: &str| {
        BASE_COLUMNS.iter().any(|base| base.name.same_as(name))
            || others.iter().any(|other| other.column.eq_ignore_ascii_case(name))
    };
    let long = format!("{root}_{short}");
    let name = if !taken(&short) && !short.is_empty() { short } else { long };
    // A key of this name has the name of its table before it on SQLite.
    let name: String = name.chars().take(50).collect();
    match Ident::parse(&name) {
        Ok(_) if !taken(&name) => name,
        _ => (2..).map(|number| format!("column_{number}")).find(|name| !taken(name)).unwrap_or_default(),
    }
}

/// `secretName` and `Sync Status` as `secret_name` and `sync_status`.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut before = '_';
    let chars: Vec<char> = name.chars().collect();
    for (place, c) in chars.iter().enumerate() {
        let next_is_lower = chars.get(place + 1).is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && next_is_lower))
        {
            snake.push('_');
        }
        match c {
            c if c.is_ascii_alphanumeric() => snake.push(c.to_ascii_lowercase()),
            _ if snake.ends_with('_') || snake.is_empty() => {}
            _ => snake.push('_'),
        }
        before = *c;
    }
    snake.trim_end_matches('_').to_owned()
}

/// The rest of the schema, as far as it makes columns.
fn offered(version: &CustomResourceDefinitionVersion, proposed: &[Proposed]) -> Vec<Proposed> {
    let mut offered: Vec<Proposed> = Vec::new();
    let Some(schema) = crd::schema(version) else { return offered };
    for (name, below) in schema.properties.iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            offer(&mut vec![Step::Name(name.clone())], below, proposed, &mut offered);
        }
    }
    offered
}

fn offer(steps: &mut Vec<Step>, schema: &JSONSchemaProps, proposed: &[Proposed], offered: &mut Vec<Proposed>) {
    if offered.len() == OFFERED {
        return;
    }
    let mut add = |steps: Vec<Step>, functions: Vec<super::path::Function>, ty: SqlType| {
        if proposed.iter().any(|other| other.path.steps == steps) || offered.len() == OFFERED {
            return;
        }
        let path = Path { steps, functions };
        let mut column = unused(&path, proposed);
        if offered.iter().any(|other| other.column == column) {
            column = unused(&path, offered);
        }
        offered.push(Proposed { column, path, ty, key: ty.key_bytes().is_some(), description: String::new() });
    };
    if schema.x_kubernetes_int_or_string == Some(true) {
        return add(steps.clone(), vec![super::path::Function::Text], SqlType::VarChar(255));
    }
    if let Some(ty) = crd::column_type(schema) {
        return add(steps.clone(), Vec::new(), ty);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
        let has = |name: &str| items.properties.as_ref().is_some_and(|its| its.contains_key(name));
        if has("type") && has("status") {
            // Conditions: the usual one is proposed, the others are as many as there are types.
            let of_ready = [Step::Match(vec!["type".into()], "Ready".into(), None), Step::Name("status".into())];
            add(steps.iter().cloned().chain(of_ready).collect(), Vec::new(), SqlType::VarChar(32));
        } else {
            let each = steps.iter().cloned().chain([Step::Each]).collect();
            match crd::column_type(items) {
                Some(SqlType::VarChar(_)) => add(each, vec![super::path::Function::Join(", ".into())], SqlType::Text),
                _ => add(each, vec![super::path::Function::Count], SqlType::Int),
            }
        }
        return;
    }
    if steps.len() == DEPTH {
        return;
    }
    for (name, below) in schema.properties.iter().flatten() {
        steps.push(Step::Name(name.clone()));
        offer(steps, below, proposed, offered);
        steps.pop();
    }
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

/// A name, which Kubernetes checks; but a file may have any text in its place.
fn name(text: &str) -> Cow<'_, str> {
    if text.contains(is_obeyed) { Cow::Owned(quoted(text)) } else { Cow::Borrowed(text) }
}

/// A text in quotes: in double ones if it has characters that are obeyed by those who show it, because only these have escapes.
fn quoted(text: &str) -> String {
    if !text.contains(is_obeyed) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            c if is_obeyed(c) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            '"' | '\\' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted + "\""
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
    use super::{first_sentence, of_json_path, scaffold, snake};
    use crate::declare::{crd, kinds};

    const CRDS: [(&str, &str); 4] = [
        ("certificate", include_str!("../../../tests/crds/certificates.cert-manager.io.yaml")),
        ("application", include_str!("../../../tests/crds/applications.argoproj.io.yaml")),
        ("prometheus", include_str!("../../../tests/crds/prometheuses.monitoring.coreos.com.yaml")),
        ("destinationrule", include_str!("../../../tests/crds/destinationrules.networking.istio.io.yaml")),
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
        let crd = crd::parse(HOSTILE.as_bytes()).unwrap();
        let file = scaffold(&crd).unwrap();
        let rust = super::super::scaffold_rust(&crd).unwrap();
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

    #[test]
    fn names_are_words_with_underscores() {
        for (name, wanted) in [
            ("secretName", "secret_name"),
            ("HTTPRoute", "http_route"),
            ("Sync Status", "sync_status"),
            ("clusterIPs", "cluster_i_ps"),
            ("v1beta1Name", "v1beta1_name"),
            ("a-b.c", "a_b_c"),
        ] {
            assert_eq!(snake(name), wanted);
        }
    }

    #[test]
    fn paths_of_kubectl_become_ours_or_nothing() {
        for (theirs, ours) in [
            (".spec.a", Some(".spec.a")),
            (".status.conditions[?(@.type == \"Ready\")].status", Some(".status.conditions[type=\"Ready\"].status")),
            (".status.conditions[?(@.type=='Ready')].status", Some(".status.conditions[type=\"Ready\"].status")),
            (".metadata.labels.app\\.kubernetes\\.io/name", Some(".metadata.labels[\"app.kubernetes.io/name\"]")),
            (".spec.list[0].x", Some(".spec.list[0].x")),
            (".spec.list[*].x", None),
            (".spec..x", None),
        ] {
            assert_eq!(of_json_path(theirs).map(|path| path.to_string()).as_deref(), ours, "{theirs}");
        }
    }
}
