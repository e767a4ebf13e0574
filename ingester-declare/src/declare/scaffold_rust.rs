//! A first annotated struct out of a CustomResourceDefinition: the columns of [`scaffold`](super::scaffold) as a projection.

use super::crd;
use super::path::{Path, Step};
use super::scaffold::{Proposed, columns, first_sentence, served, snake};
use ingester_core::schema::SqlType;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::fmt::Write as _;

/// Words that cannot be names of fields.
const KEYWORDS: [&str; 38] = [
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn",
    "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self",
    "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while",
];

/// Fields of a struct, in the order in which they were needed.
#[derive(Default)]
struct Fields(Vec<Field>);

struct Field {
    /// As the JSON calls it.
    json: String,
    rust: String,
    /// `#[index(...)]` lines.
    indexes: Vec<String>,
    is: Is,
}

enum Is {
    /// A value of this type.
    Value(&'static str),
    /// A struct.
    Struct(Fields),
    /// A list of structs.
    List(Fields),
}

impl Fields {
    fn get(&mut self, json: &str, new: impl FnOnce() -> Is) -> &mut Field {
        let place = self.0.iter().position(|field| field.json == json).unwrap_or_else(|| {
            self.0.push(Field { json: json.to_owned(), rust: field_name(json), indexes: Vec::new(), is: new() });
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    /// Makes the fields of a path, with a value of this type at its end. False where something else is on the way.
    fn insert(&mut self, names: &[&str], ty: &'static str) -> bool {
        let Some((first, rest)) = names.split_first() else { return false };
        if rest.is_empty() {
            return matches!(self.get(first, || Is::Value(ty)).is, Is::Value(_));
        }
        match &mut self.get(first, || Is::Struct(Fields::default())).is {
            Is::Struct(fields) => fields.insert(rest, ty),
            _ => false,
        }
    }

    /// Makes the list at a path. `None` where something else is there.
    fn list(&mut self, names: &[&str]) -> Option<&mut Fields> {
        let (first, rest) = names.split_first()?;
        if rest.is_empty() {
            return match &mut self.get(first, || Is::List(Fields::default())).is {
                Is::List(fields) => Some(fields),
                _ => None,
            };
        }
        match &mut self.get(first, || Is::Struct(Fields::default())).is {
            Is::Struct(fields) => fields.list(rest),
            _ => None,
        }
    }
}

/// The text of a module with the struct of a CRD's kind.
///
/// # Errors
/// Why nothing can be written of it.
pub fn scaffold_rust(crd: &CustomResourceDefinition) -> Result<String, String> {
    let version = served(crd)?;
    let (group, names) = (&crd.spec.group, &crd.spec.names);
    let kind = &names.kind;
    let mut fields = Fields::default();
    let (mut on_struct, mut functions, mut left) = (Vec::new(), String::new(), Vec::new());
    for proposed in columns(version) {
        let done = match parts(&proposed.path) {
            Some(Parts::Names(names)) => plain(&mut fields, &names, &proposed),
            Some(Parts::Match(at, by, literal, rest)) => {
                let function = matched(&mut fields, kind, (&at, by, literal, &rest), &proposed);
                if let Some(function) = &function {
                    functions.push_str(function);
                    on_struct.push(format!(
                        "#[index(column = \"{0}\", with = {0}{1})]",
                        proposed.column,
                        options(&proposed)
                    ));
                }
                function.is_some()
            }
            None => false,
        };
        if !done {
            left.push(proposed);
        }
    }
    let mut text = String::new();
    let _ = writeln!(text, "//! The kind {kind} of {group}/{}, as far as its columns need it.", version.name);
    let _ = writeln!(
        text,
        "//!\n//! Written from the CustomResourceDefinition {}.{group}: change it as you like.\n",
        names.plural
    );
    let needs_time = functions.contains("Option<Time>") || uses_time(&fields);
    text.push_str("use ingester_core::Ingestable;\n");
    if needs_time {
        text.push_str("use ingester_core::wire::Time;\n");
    }
    text.push_str("use serde::Deserialize;\n\n");
    let described = crd::description(version).map(|text| first_sentence(&text)).filter(|text| !text.is_empty());
    let _ = writeln!(text, "/// {}.", described.unwrap_or_else(|| format!("A {kind}")));
    let scope = if crd.spec.scope == "Namespaced" { "namespaced" } else { "namespaced = false" };
    let _ = writeln!(
        text,
        "#[derive(Ingestable, Deserialize, Clone, Debug, Default)]\n#[ingest(group = \"{group}\", version = \"{}\", kind = \"{kind}\", plural = \"{}\", {scope})]\n#[ingest(absent = \"null\")]",
        version.name, names.plural
    );
    text.push_str("// No object waits for the ingester when it is deleted. The ingester deletes none, whatever its annotations say, and needs no right to\n");
    text.push_str("// do so.\n#[ingest(finalizer = \"never\", evictable = false)]\n");
    on_struct.iter().for_each(|index| {
        let _ = writeln!(text, "{index}");
    });
    for Proposed { column, path, .. } in &left {
        let _ = writeln!(
            text,
            "// Column `{column}` would be `{path}`: write a function that makes it, `#[index(column = \"{column}\", with = ...)]`."
        );
    }
    write_struct(&mut text, kind, &fields);
    text.push_str(&functions);
    Ok(text)
}

/// A path as structs can have it.
enum Parts<'p> {
    Names(Vec<&'p str>),
    /// A list, the first of whose elements is meant that has a text at a name, and the names from there.
    Match(Vec<&'p str>, &'p str, &'p str, Vec<&'p str>),
}

fn parts(path: &Path) -> Option<Parts<'_>> {
    if !path.functions.is_empty() || matches!(path.member(), Some("metadata")) {
        return None;
    }
    let place = path.steps.iter().position(|step| !matches!(step, Step::Name(_)));
    let all_names = |steps: &[Step]| steps.iter().all(|step| matches!(step, Step::Name(_)));
    match place {
        None if path.steps.len() > 1 => Some(Parts::Names(path.steps.iter().filter_map(name_of).collect())),
        Some(place) => match &path.steps[place] {
            Step::Match(by, literal, _) if by.len() == 1 && all_names(&path.steps[place + 1..]) && place > 0 => {
                Some(Parts::Match(
                    path.steps[..place].iter().filter_map(name_of).collect(),
                    &by[0],
                    literal,
                    path.steps[place + 1..].iter().filter_map(name_of).collect(),
                ))
            }
            _ => None,
        },
        None => None,
    }
}

fn name_of(step: &Step) -> Option<&str> {
    if let Step::Name(name) = step { Some(name) } else { None }
}

/// A column of a field below `spec`, `status` or another member.
fn plain(fields: &mut Fields, names: &[&str], proposed: &Proposed) -> bool {
    if !fields.insert(names, rust_type(proposed.ty)) {
        return false;
    }
    let (first, rest) = (names[0], &names[1..]);
    let path: Vec<String> = rest.iter().map(|name| field_name(name)).collect();
    let json = if path.iter().zip(rest).all(|(rust, json)| camel(rust) == **json) {
        String::new()
    } else {
        format!(", json = \"{}\"", rest.join("."))
    };
    let index =
        format!("#[index(column = \"{}\", path = \"{}\"{json}{})]", proposed.column, path.join("."), options(proposed));
    fields.get(first, || Is::Struct(Fields::default())).indexes.push(index);
    true
}

/// A column of an element of a list, with the function that finds it.
fn matched(
    fields: &mut Fields,
    kind: &str,
    (at, by, literal, rest): (&[&str], &str, &str, &[&str]),
    proposed: &Proposed,
) -> Option<String> {
    let element = fields.list(at)?;
    if !element.insert(&[by], "Option<String>") || !element.insert(rest, rust_type(proposed.ty)) {
        return None;
    }
    let way: Vec<String> = at.iter().map(|name| field_name(name)).collect();
    let value: Vec<String> = rest.iter().map(|name| field_name(name)).collect();
    let (column, ty) = (&proposed.column, rust_type(proposed.ty));
    let cloned = if ty == "Option<String>" { ".clone()" } else { "" };
    Some(format!(
        "\n/// `{}`\nfn {column}(object: &{kind}) -> {ty} {{\n    object.{}.iter().find(|element| element.{}.as_deref() == Some({literal:?}))?.{}{cloned}\n}}\n",
        proposed.path,
        way.join("."),
        field_name(by),
        value.join("."),
    ))
}

/// The options of a column beside where it comes from.
fn options(proposed: &Proposed) -> String {
    let mut options = String::new();
    match proposed.ty {
        SqlType::VarChar(255)
        | SqlType::Boolean
        | SqlType::Int
        | SqlType::BigInt
        | SqlType::Double
        | SqlType::DateTime => {}
        ty @ (SqlType::IntUnsigned
        | SqlType::BigIntUnsigned
        | SqlType::VarChar(_)
        | SqlType::Text
        | SqlType::MediumText
        | SqlType::LongBlob
        | SqlType::Json) => {
            let _ = write!(options, ", type = \"{ty}\"");
        }
    }
    if !proposed.key {
        options.push_str(", key = false");
    }
    options
}

fn rust_type(ty: SqlType) -> &'static str {
    match ty {
        SqlType::Boolean => "Option<bool>",
        SqlType::Int => "Option<i32>",
        SqlType::BigInt => "Option<i64>",
        SqlType::BigIntUnsigned | SqlType::IntUnsigned => "Option<u64>",
        SqlType::Double => "Option<f64>",
        SqlType::DateTime => "Option<Time>",
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText | SqlType::LongBlob | SqlType::Json => {
            "Option<String>"
        }
    }
}

fn uses_time(fields: &Fields) -> bool {
    fields.0.iter().any(|field| match &field.is {
        Is::Value(ty) => *ty == "Option<Time>",
        Is::Struct(fields) | Is::List(fields) => uses_time(fields),
    })
}

/// A struct with those that it needs, behind it.
fn write_struct(text: &mut String, name: &str, fields: &Fields) {
    let _ = writeln!(text, "#[serde(rename_all = \"camelCase\", default)]\npub struct {name} {{");
    let mut below = Vec::new();
    for Field { json, rust, indexes, is } in &fields.0 {
        for index in indexes {
            let _ = writeln!(text, "    {index}");
        }
        if camel(rust) != *json {
            let _ = writeln!(text, "    #[serde(rename = {json:?})]");
        }
        let ty = match is {
            Is::Value(ty) => (*ty).to_owned(),
            Is::Struct(fields) => {
                below.push((format!("{name}{}", pascal(rust)), fields));
                format!("{name}{}", pascal(rust))
            }
            Is::List(fields) => {
                below.push((format!("{name}{}", pascal(rust)), fields));
                format!("Vec<{name}{}>", pascal(rust))
            }
        };
        let _ = writeln!(text, "    pub {rust}: {ty},");
    }
    text.push_str("}\n");
    for (name, fields) in below {
        text.push_str("\n#[derive(Deserialize, Clone, Debug, Default)]\n");
        write_struct(text, &name, fields);
    }
}

fn field_name(json: &str) -> String {
    let name = snake(json);
    match name.as_bytes().first() {
        None => "field".into(),
        Some(first) if first.is_ascii_digit() => format!("field_{name}"),
        _ if KEYWORDS.contains(&name.as_str()) => format!("{name}_"),
        _ => name,
    }
}

/// What serde makes of a field's name by `rename_all = "camelCase"`.
fn camel(rust: &str) -> String {
    let mut camel = pascal(rust);
    if let Some(first) = camel.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    camel
}

fn pascal(rust: &str) -> String {
    let upper = |word: &str| {
        word.chars().enumerate().map(|(i, c)| if i == 0 { c.to_ascii_uppercase() } else { c }).collect::<String>()
    };
    rust.split('_').map(upper).collect()
}
