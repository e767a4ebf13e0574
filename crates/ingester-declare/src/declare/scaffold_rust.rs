//! A first annotated struct, a projection: from a CustomResourceDefinition with the columns of [`scaffold`](super::scaffold), or from a kind of
//! a file with all that it says.

use super::column::Column;
use super::crd;
use super::kinds::{self, read_columns, read_keys};
use super::path::{Condition, Function, GuardedPath, Path, Step};
use super::propose::{ColumnProposal, Columns, PrintOptions, columns, snake};
use super::scaffold::{escaped, first_sentence, served, table};
use super::spelled::duration;
use crate::text::{self, TreeNode};
use ingester_core::Kind;
use ingester_core::kind::{Decode, Finalizer};
use ingester_core::schema::{Absent, EvictionRule, Form, Printed, SqlType, Unit};
use ingester_core::value::Value;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Words that cannot be names of fields: those of the language, and those that it reserves.
const KEYWORDS: [&str; 51] = [
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn",
    "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self",
    "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while", "abstract", "become",
    "box", "do", "final", "macro", "override", "priv", "try", "typeof", "unsized", "virtual", "yield",
];

/// Types that the module may use, so that no struct in it may have such a name.
const TYPES: [&str; 15] = [
    "BTreeMap",
    "Clone",
    "Debug",
    "Default",
    "Deserialize",
    "IgnoredAny",
    "Ingestable",
    "Opaque",
    "Option",
    "Quantity",
    "Self",
    "String",
    "StringMap",
    "Time",
    "Vec",
];

/// A column that the struct will have.
struct StructColumn {
    column: String,
    /// The first that finds something gives the value.
    paths: Vec<GuardedPath>,
    /// The default, if it is not NULL.
    default: Option<Value>,
    ty: SqlType,
    key: bool,
    many: Option<Form>,
    unit: Option<Unit>,
    /// The options of `#[index]` that are the same wherever the value comes from.
    options: String,
}

impl StructColumn {
    fn of_crd(ColumnProposal { column, path, ty, key, printing, .. }: ColumnProposal) -> Self {
        let paths = vec![GuardedPath::always(path)];
        let PrintOptions { header, wide, age } = printing;
        let options = printed(header.as_deref(), wide.then_some(true), age);
        StructColumn { column, paths, default: None, ty, key, many: None, unit: None, options }
    }

    /// A column of a file; `None` without a type, which no kind that was read lacks.
    fn of_file(column: Column<'_>, ty: SqlType, of_kind: Absent) -> Self {
        let mut options = String::new();
        if !column.stays.is_none() {
            let _ = write!(options, ", {}", column.stays.word());
        }
        if column.absent != of_kind && column.many.is_none() {
            let _ = write!(options, ", absent = \"{}\"", column.absent.word());
        }
        if let Some((_, was)) = &column.was {
            let _ = write!(options, ", was = {was:?}");
        }
        if column.revision > 1 {
            let _ = write!(options, ", revision = {}", column.revision);
        }
        let Printed { header, wide, age, .. } = column.printed;
        options += &printed(header, wide, age);
        StructColumn {
            column: column.name.to_owned(),
            paths: column.paths,
            default: Some(column.default).filter(|default| *default != Value::Null),
            ty,
            key: column.key || column.many.is_some(),
            many: column.many,
            unit: column.unit,
            options,
        }
    }

    /// The options of `#[index]`, without where the value comes from.
    fn options(&self) -> String {
        let mut options = match (self.ty, self.unit) {
            (SqlType::BigInt, Some(unit)) => format!(", unit = \"{}\"", unit.word()),
            (SqlType::VarChar(255), None)
            | (SqlType::Boolean | SqlType::Int | SqlType::BigInt | SqlType::Double | SqlType::DateTime, _) => {
                String::new()
            }
            // The type of its field.
            (SqlType::BigIntUnsigned, _) => String::new(),
            (ty, _) => format!(", type = \"{ty}\""),
        };
        if self.many.is_some() {
            options.push_str(", many");
        }
        if !self.key {
            options.push_str(", key = false");
        }
        options + &self.options
    }

    fn rust_type(&self) -> &'static str {
        if self.unit.is_some() { "Option<Quantity>" } else { rust_type(self.ty) }
    }

    /// The type of the field: that of its value, or of the list or map of its values.
    fn type_of_all(&self) -> String {
        let one = self.rust_type();
        let value = one.trim_start_matches("Option<").trim_end_matches('>');
        match self.many {
            None => one.to_owned(),
            Some(Form::List) => format!("Vec<{value}>"),
            Some(Form::Map) => format!("BTreeMap<String, {value}>"),
        }
    }

    /// The steps that lead to its field.
    fn steps<'p>(&self, path: &'p Path) -> &'p [Step] {
        match self.many {
            Some(Form::List) => path.steps.strip_suffix(&[Step::Each]).unwrap_or(&path.steps),
            Some(Form::Map) | None => &path.steps,
        }
    }

    /// Its path, if only one gives a value, and that one always counts.
    fn only_path(&self) -> Option<&Path> {
        match &self.paths[..] {
            [GuardedPath { path, guards, .. }] if guards.is_empty() && self.default.is_none() => Some(path),
            _ => None,
        }
    }

    /// The parts of it that cannot be written.
    fn left(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| format!("`{}`", path.path)).collect();
        let guard = if self.paths.iter().any(|path| path.guards.is_empty()) { "" } else { " under a condition" };
        format!(
            "column `{0}` of {1}{guard}; a function can make it, `#[index(column = \"{0}\", with = ...{2})]`",
            self.column,
            paths.join(" or "),
            self.options()
        )
    }
}

/// The options of `#[index]` that say how tables of objects print a column.
fn printed(header: Option<&str>, wide: Option<bool>, age: bool) -> String {
    let header = header.map(|header| format!(", header = {header:?}"));
    let wide = wide.map(|wide| format!(", wide = {wide}"));
    let age = age.then(|| ", age".to_owned());
    [header, wide, age].into_iter().flatten().collect()
}

/// An `#[index(...)]`, and the column that it makes; `None` for one of many values, which no table prints.
#[derive(Clone)]
struct Index {
    column: Option<String>,
    attribute: String,
}

impl Index {
    fn of(wanted: &StructColumn, attribute: String) -> Self {
        Index { column: wanted.many.is_none().then(|| wanted.column.clone()), attribute }
    }
}

/// Fields of a struct, in the order in which they were needed.
#[derive(Clone, Default)]
struct Fields(Vec<Field>);

#[derive(Clone)]
struct Field {
    /// As the JSON calls it.
    json: String,
    rust: String,
    indexes: Vec<Index>,
    is: FieldType,
}

#[derive(Clone)]
enum FieldType {
    /// A value of this type.
    Value(String),
    /// A struct.
    Struct(Fields),
    /// A list of structs.
    List(Fields),
}

impl Fields {
    fn get(&mut self, json: &str, new: impl FnOnce() -> FieldType) -> &mut Field {
        let place = self.0.iter().position(|field| field.json == json).unwrap_or_else(|| {
            let rust = unused(&field_name(json), |name| self.0.iter().any(|field| field.rust == name));
            self.0.push(Field { json: json.to_owned(), rust, indexes: Vec::new(), is: new() });
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    /// Makes the fields of a path, with a value of this type at its end, and gives their names. `None` where something else is there.
    fn insert(&mut self, names: &[&str], ty: &str) -> Option<Vec<String>> {
        let (first, rest) = names.split_first()?;
        if rest.is_empty() {
            let field = self.get(first, || FieldType::Value(ty.to_owned()));
            return matches!(&field.is, FieldType::Value(its) if its == ty).then(|| vec![field.rust.clone()]);
        }
        let field = self.get(first, || FieldType::Struct(Fields::default()));
        let FieldType::Struct(fields) = &mut field.is else { return None };
        let inner = fields.insert(rest, ty)?;
        Some(std::iter::once(field.rust.clone()).chain(inner).collect())
    }

    /// Makes the list at a path, and gives the names that lead to it. `None` where something else is there.
    fn list(&mut self, names: &[&str]) -> Option<(Vec<String>, &mut Fields)> {
        let (first, rest) = names.split_first()?;
        let new =
            || if rest.is_empty() { FieldType::List(Fields::default()) } else { FieldType::Struct(Fields::default()) };
        let Field { rust, is, .. } = self.get(first, new);
        match is {
            FieldType::List(fields) if rest.is_empty() => Some((vec![rust.clone()], fields)),
            FieldType::Struct(fields) if !rest.is_empty() => {
                let (inner, fields) = fields.list(rest)?;
                Some((std::iter::once(rust.clone()).chain(inner).collect(), fields))
            }
            _ => None,
        }
    }

    /// The expression that takes what the steps lead to out of a value with these fields: an `Option`, after `?` for elements of lists.
    /// `None` if no struct has it.
    fn expression(&mut self, steps: &[Step], ty: &str) -> Option<String> {
        let names: Vec<&str> = steps.iter().map_while(name_of).collect();
        let Some(step) = steps.get(names.len()) else {
            let way = self.insert(&names, ty)?;
            let taken = match ty {
                "Option<Opaque>" => ".as_ref()",
                "Option<String>" => ".clone()",
                // The other values are `Copy`.
                _ if ty.starts_with("Option<") => "",
                _ => ".clone()",
            };
            return Some(format!(".{}{taken}", way.join(".")));
        };
        if let (Step::Index(place), [_]) = (step, &steps[names.len()..]) {
            let value = ty.strip_prefix("Option<")?.strip_suffix('>')?;
            let way = self.insert(&names, &format!("Vec<{value}>"))?;
            return Some(format!(".{}.{}.cloned()", way.join("."), element_at(*place)));
        }
        let (way, element) = self.list(&names)?;
        let found = match step {
            Step::Match(by, literal, None) => {
                let by: Vec<&str> = by.iter().map(String::as_str).collect();
                match literal.as_str() {
                    "true" | "false" => {
                        let by = element.insert(&by, "Option<bool>")?.join(".");
                        format!("iter().find(|element| element.{by} == Some({literal}))")
                    }
                    number if number.parse::<f64>().is_ok() => return None,
                    text => {
                        let by = element.insert(&by, "Option<String>")?.join(".");
                        format!("iter().find(|element| element.{by}.as_deref() == Some({text:?}))")
                    }
                }
            }
            Step::Index(place) => element_at(*place),
            Step::Match(..) | Step::Each | Step::Name(_) => return None,
        };
        let inner = element.expression(&steps[names.len() + 1..], ty)?;
        Some(format!(".{}.{found}?{inner}", way.join(".")))
    }
}

/// The call that gives the element of a list at a place, from the end if that is negative.
fn element_at(place: i64) -> String {
    match place {
        0 => "first()".to_owned(),
        -1 => "last()".to_owned(),
        1.. => format!("get({place})"),
        _ => format!("iter().rev().nth({})", place.unsigned_abs() - 1),
    }
}

/// A struct under construction.
struct Struct {
    kind: String,
    fields: Fields,
    /// The columns that functions of the struct make.
    computed: Vec<Index>,
    /// The columns of the metadata.
    metadata: Vec<Index>,
    functions: String,
    /// The names of the functions.
    names: Vec<String>,
    /// The columns that tables of objects print, in their order.
    printed: Vec<String>,
    /// The parts that cannot be written.
    left: Vec<String>,
    /// Two attributes of the struct have the same option.
    repeats: bool,
}

impl Struct {
    /// A struct for a kind, whose name may be in lower case and have dashes.
    fn new(kind: &str) -> Self {
        let kind = pascal(&kind.replace('-', "_"));
        Struct {
            kind: if TYPES.contains(&kind.as_str()) { kind + "Kind" } else { kind },
            fields: Fields::default(),
            computed: Vec::new(),
            metadata: Vec::new(),
            functions: String::new(),
            // The filter's.
            names: vec!["has_row".to_owned()],
            printed: Vec::new(),
            left: Vec::new(),
            repeats: false,
        }
    }

    /// The name of a column's function, which no other one has.
    fn function_name(&mut self, column: &str) -> String {
        let name = unused(&field_name(column), |name| self.names.iter().any(|other| other == name));
        self.names.push(name.clone());
        name
    }

    fn column(&mut self, wanted: &StructColumn) {
        let done = self.of_metadata(wanted).or_else(|| self.of_field(wanted));
        let done = done.or_else(|| self.of_function(wanted)).or_else(|| self.of_path_function(wanted));
        match done {
            Some(()) if wanted.many.is_none() => self.printed.push(wanted.column.clone()),
            Some(()) => {}
            None => self.left.push(wanted.left()),
        }
    }

    /// The columns that tables of objects must print before the others, so that they print all of them in their order.
    fn printed_first(&self) -> &[String] {
        let of_fields = self.fields.0.iter().flat_map(|field| &field.indexes);
        let declared: Vec<&String> =
            of_fields.chain(&self.computed).chain(&self.metadata).filter_map(|index| index.column.as_ref()).collect();
        let is_enough = |first: &[String]| {
            let others = declared.iter().copied().filter(|column| !first.contains(column));
            first.iter().chain(others).eq(&self.printed)
        };
        let firsts = (0..=self.printed.len()).map(|number| &self.printed[..number]);
        firsts.into_iter().find(|first| is_enough(first)).unwrap_or_default()
    }

    /// A column of the metadata, which no struct has.
    fn of_metadata(&mut self, wanted: &StructColumn) -> Option<()> {
        let path = wanted.only_path()?;
        let column = &wanted.column;
        let options = wanted.options();
        if !path.functions.is_empty() || wanted.many.is_some() {
            return None;
        }
        let names: Vec<&str> = path.steps.iter().map(name_of).collect::<Option<_>>()?;
        match (&names[..], wanted.ty) {
            (["metadata", "generation"], SqlType::BigInt) => self.of_leaf(wanted, "generation"),
            (["metadata", "deletionTimestamp"], SqlType::DateTime) => {
                self.of_leaf(wanted, "deletion_timestamp");
            }
            (["metadata", map @ ("labels" | "annotations"), key], _) if wanted.rust_type() == "Option<String>" => {
                let function = self.function_name(column);
                let attribute =
                    format!("#[index(path = \"metadata.{map}\", column = \"{column}\", with = {function}{options})]");
                self.metadata.push(Index::of(wanted, attribute));
                let _ = write!(
                    self.functions,
                    "\n/// `{path}`\nfn {function}({map}: &StringMap) -> Option<String> {{\n    {map}.iter().find(|(key, _)| **key == *{key:?}).map(|(_, value)| value.to_string())\n}}\n"
                );
            }
            _ => return None,
        }
        Some(())
    }

    fn of_leaf(&mut self, wanted: &StructColumn, leaf: &str) {
        let column = &wanted.column;
        let options = wanted.options();
        let attribute = format!("#[index(path = \"metadata.{leaf}\", column = \"{column}\"{options})]");
        self.repeats |= self.metadata.iter().any(|index| index.attribute.contains(&format!("\"metadata.{leaf}\"")));
        self.metadata.push(Index::of(wanted, attribute));
    }

    /// A column of a field, below `spec`, `status` or another member.
    fn of_field(&mut self, wanted: &StructColumn) -> Option<()> {
        let path = wanted.only_path().filter(|path| path.member() != Some("metadata"))?;
        let quantity = [Function::Quantity];
        let functions: &[Function] = if wanted.unit.is_some() { &quantity } else { &[] };
        if path.functions != functions || wanted.unit.is_some() && wanted.ty != SqlType::BigInt {
            return None;
        }
        let ty = wanted.type_of_all();
        let names: Vec<&str> = wanted.steps(path).iter().map(name_of).collect::<Option<_>>()?;
        // `json = "..."` has dots between names, and takes no blanks.
        let is_plain = |name: &&str| !name.is_empty() && !name.contains(|c: char| c == '.' || c.is_whitespace());
        if wanted.many.is_some() && wanted.unit.is_some() || !names[1..].iter().all(is_plain) {
            return None;
        }
        let way = self.added(|fields| fields.insert(&names, &ty))?;
        let column = &wanted.column;
        let options = wanted.options();
        let rest = &way[1..];
        let json = &names[1..];
        let path = match rest {
            [] => String::new(),
            _ if rest.iter().zip(json).all(|(rust, json)| camel(rust) == **json) => {
                format!(", path = \"{}\"", rest.join("."))
            }
            _ => format!(", path = \"{}\", json = \"{}\"", rest.join("."), json.join(".")),
        };
        let index = format!("#[index(column = \"{column}\"{path}{options})]");
        self.fields.get(names[0], || FieldType::Struct(Fields::default())).indexes.push(Index::of(wanted, index));
        Some(())
    }

    /// A column that a function of the struct makes: of elements of lists, of the first of several paths, with a default.
    fn of_function(&mut self, wanted: &StructColumn) -> Option<()> {
        if wanted.unit.is_some() {
            return None;
        }
        let ty = &wanted.type_of_all();
        let is_plain = |GuardedPath { path, guards, .. }: &GuardedPath| {
            // Of elements of lists, a function returns one value.
            let is_one = wanted.many.is_none() || wanted.steps(path).iter().all(|step| name_of(step).is_some());
            guards.is_empty() && path.functions.is_empty() && path.member() != Some("metadata") && is_one
        };
        if wanted.many.is_some() && wanted.only_path().is_none() {
            return None;
        }
        if !wanted.paths.iter().all(is_plain)
            || wanted.default.as_ref().is_some_and(|default| literal(default).is_none())
        {
            return None;
        }
        let ways: Vec<String> = self.added(|fields| {
            let way = |path: &GuardedPath| Some(format!("object{}", fields.expression(wanted.steps(&path.path), ty)?));
            wanted.paths.iter().map(way).collect()
        })?;
        let body = match (&ways[..], &wanted.default) {
            ([way], None) => format!("    {way}\n"),
            (ways, default) => {
                let mut body = String::new();
                for (number, way) in (1..).zip(ways) {
                    let _ = writeln!(body, "    let value_{number} = || {way};");
                }
                let others: String = (2..=ways.len()).map(|number| format!(".or_else(value_{number})")).collect();
                let default = match default {
                    Some(text @ Value::Text(_)) => format!(".or_else(|| Some({}))", literal(text)?),
                    Some(default) => format!(".or(Some({}))", literal(default)?),
                    None => String::new(),
                };
                format!("{body}    value_1(){others}{default}\n")
            }
        };
        self.add_function(wanted, ty, &body);
        Some(())
    }

    /// A column that a function of the struct makes with a function of the path. Of several values it takes only their number.
    fn of_path_function(&mut self, wanted: &StructColumn) -> Option<()> {
        let path = wanted.only_path().filter(|path| path.member() != Some("metadata") && wanted.many.is_none())?;
        let [function] = &path.functions[..] else { return None };
        let steps = path.steps.strip_suffix(&[Step::Each]);
        let is_text = matches!(wanted.ty, SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText);
        let (field, steps, ty, end) = match (function, wanted.ty, steps) {
            (Function::Lower, _, None) if is_text => {
                ("Option<String>", &path.steps[..], "Option<String>", ".map(|text| text.to_lowercase())")
            }
            (Function::Text, _, None) if is_text => {
                ("Option<Opaque>", &path.steps[..], "Option<String>", ".map(|value| value.text().into_owned())")
            }
            (Function::Exists, SqlType::Boolean, None) => {
                ("Option<IgnoredAny>", &path.steps[..], "Option<bool>", ".is_some()")
            }
            (Function::Count, SqlType::Int, Some(steps)) => {
                ("Option<Opaque>", steps, "Option<i32>", ".map_or(Some(0), |all| i32::try_from(all.count()?).ok())")
            }
            (Function::Count, SqlType::BigInt, Some(steps)) => {
                ("Option<Opaque>", steps, "Option<i64>", ".map_or(Some(0), |all| i64::try_from(all.count()?).ok())")
            }
            _ => return None,
        };
        let way = self.added(|fields| fields.expression(steps, field))?;
        let body = match (function, way.contains('?')) {
            (Function::Exists, false) => format!("    Some(object{way}{end})\n"),
            (Function::Exists, true) => format!("    let value = || object{way};\n    Some(value(){end})\n"),
            (Function::Count, true) => format!("    let value = || object{way};\n    value(){end}\n"),
            _ => format!("    object{way}{end}\n"),
        };
        self.add_function(wanted, ty, &body);
        Some(())
    }

    /// Adds the function that makes a column, and the column's attribute.
    fn add_function(&mut self, wanted: &StructColumn, ty: &str, body: &str) {
        let function = self.function_name(&wanted.column);
        let column = &wanted.column;
        let options = wanted.options();
        let attribute = format!("#[index(column = \"{column}\", with = {function}{options})]");
        self.computed.push(Index::of(wanted, attribute));
        let paths: Vec<String> = wanted.paths.iter().map(|path| format!("`{}`", path.path)).collect();
        let paths = paths.join(", or ");
        let kind = &self.kind;
        let _ = write!(self.functions, "\n/// {paths}\nfn {function}(object: &{kind}) -> {ty} {{\n{body}}}\n");
    }

    /// Adds fields; if that fails, none of them.
    fn added<T>(&mut self, add: impl FnOnce(&mut Fields) -> Option<T>) -> Option<T> {
        let mut fields = self.fields.clone();
        let made = add(&mut fields)?;
        self.fields = fields;
        Some(made)
    }

    /// The function that says which objects have a row; its name.
    fn filter(&mut self, conditions: &[Condition]) -> Option<&'static str> {
        let mut tests = Vec::new();
        for condition in conditions {
            let Condition { path, literals } = condition;
            let other = |text: &String| text.parse::<f64>().is_ok() || matches!(text.as_str(), "true" | "false");
            let is_text = !literals.is_empty() && !literals.iter().any(other);
            let plain = path.functions.is_empty() && path.member() != Some("metadata");
            let way = match is_text && plain {
                true => self.added(|fields| fields.expression(&path.steps, "Option<String>")),
                false => None,
            };
            let Some(way) = way else {
                self.left.push(format!("the filter `{condition}`; `#[ingest(filter = ...)]` takes a function"));
                continue;
            };
            let number = tests.len() + 1;
            tests.push((
                format!("    let value_{number} = || object{way};\n"),
                format!("value_{number}().is_some_and(|text| {literals:?}.contains(&text.as_str()))"),
            ));
        }
        if tests.is_empty() {
            return None;
        }
        let (values, tests): (Vec<String>, Vec<String>) = tests.into_iter().unzip();
        let values = values.concat();
        let tests = tests.join(" && ");
        let kind = &self.kind;
        let _ = write!(
            self.functions,
            "\n/// Whether an object has a row.\nfn has_row(object: &{kind}) -> bool {{\n{values}    {tests}\n}}\n"
        );
        Some("has_row")
    }

    /// Writes the module. `about` names its source, `attributes` are the attributes of the struct.
    fn module(&self, about: &str, described: &str, attributes: &str) -> String {
        let mut text = format!("{about}\nuse ingester_core::Ingestable;\n");
        if self.functions.contains("&StringMap") {
            text.push_str("use ingester_core::object::StringMap;\n");
        }
        for (word, ty) in [("Opaque>", "Opaque"), ("Time>", "Time"), ("Quantity>", "quantity::Quantity")] {
            if uses(&self.fields, word) {
                let _ = writeln!(text, "use ingester_core::wire::{ty};");
            }
        }
        text.push_str("use serde::Deserialize;\n");
        if uses(&self.fields, "IgnoredAny>") {
            text.push_str("use serde::de::IgnoredAny;\n");
        }
        if uses(&self.fields, "BTreeMap<") {
            text.push_str("use std::collections::BTreeMap;\n");
        }
        let _ =
            write!(text, "\n/// {described}.\n#[derive(Ingestable, Deserialize, Clone, Debug, Default)]\n{attributes}");
        if !self.printed_first().is_empty() {
            let columns: Vec<String> = self.printed_first().iter().map(|column| column_word(column)).collect();
            let _ = writeln!(text, "#[ingest(columns({}))]", columns.join(", "));
        }
        for Index { attribute, .. } in self.computed.iter().chain(&self.metadata) {
            let _ = writeln!(text, "{attribute}");
        }
        if self.repeats {
            text.push_str("#[allow(clippy::duplicated_attributes, reason = \"columns have options in common\")]\n");
        }
        for left in &self.left {
            let _ = writeln!(text, "// not expressible: {left}.");
        }
        let mut taken: Vec<String> = TYPES.map(str::to_owned).into();
        taken.push(self.kind.clone());
        write_struct(&mut text, &self.kind, &self.fields, &mut taken);
        text.push_str(&self.functions);
        // In comments, and in literals, where Rust reads the escapes.
        text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
    }
}

/// The text of a module with the struct of a CRD's kind.
///
/// # Errors
/// Why nothing can be written for it.
pub fn scaffold_rust(crd: &CustomResourceDefinition) -> Result<String, String> {
    let version = served(crd)?;
    let group = &crd.spec.group;
    let names = &crd.spec.names;
    let kind = &names.kind;
    let plural = &names.plural;
    let version_name = &version.name;
    let mut made = Struct::new(kind);
    let Columns { proposed, left_out } = columns(version);
    for proposed in proposed {
        made.column(&StructColumn::of_crd(proposed));
    }
    let mut about = format!(
        "//! The kind {kind} of {group}/{version_name}, as far as its columns need it.\n//!\n\
         //! Written from the CustomResourceDefinition {plural}.{group}: change it as you like.\n"
    );
    for why in &left_out {
        let _ = writeln!(about, "// No column for {}", escaped(why));
    }
    let described = crd::description(version).map(|text| first_sentence(&text)).filter(|text| !text.is_empty());
    let described = described.unwrap_or_else(|| format!("A {kind}"));
    let scope = if crd.spec.scope == "Namespaced" { "namespaced" } else { "namespaced = false" };
    let table = table(crd, &[]);
    let table = if table == kind.to_lowercase() { String::new() } else { format!(", table = {table:?}") };
    let attributes = format!(
        "#[ingest(group = \"{group}\", version = \"{version_name}\", kind = \"{kind}\", plural = \"{plural}\", {scope}{table})]\n\
         #[ingest(absent = \"null\")]\n\
         // No object waits for the ingester when it is deleted. The ingester deletes none, whatever its annotations say, and needs no right to\n\
         // do so.\n\
         #[ingest(finalizer = \"never\", evictable = false)]\n"
    );
    Ok(made.module(&about, &described, &attributes))
}

/// The text of a module with the struct of a kind of a file: the same tables and rows, except for what a comment names.
///
/// # Errors
/// If the kind is not one of a file.
pub fn scaffold_rust_of(kind: &Kind) -> Result<String, String> {
    let Decode::Declared(declared) = kind.functions().decode else {
        return Err(format!("{} is built in, so it is a struct already", kind.name()));
    };
    // It had no mistakes when it was read.
    let mut faults = text::Faults::new();
    let spelled = format!("kinds:\n{}", declared.spelled());
    let tree = text::read(&spelled, &kinds::SYNTAX).map_err(|fault| fault.to_string())?;
    let root = TreeNode::new("", &tree, &kinds::SYNTAX);
    let list = root.fields(["kinds"], &mut faults).and_then(|[list]| list).ok_or("it has no kinds")?;
    let node = list.elements(&mut faults).into_iter().next().ok_or("it has no kind")?;
    let mut keys = node.keys_of(&kinds::KEYS, &mut faults).ok_or("it is not a map")?;

    let definition = kind.definition();
    let table = kind.table();
    let absent = keys.take_any("absent").and_then(|at| super::column::read_absent(&at, &mut faults));
    let absent = absent.unwrap_or(Absent::Null);
    let mut made = Struct::new(definition.kind);
    for column in read_columns(keys.take("columns"), None, absent, &mut faults) {
        let of_many = table.many(column.name).map(|(many, _)| many.ty());
        let ty = of_many.or_else(|| table.by_name(column.name).map(|place| table.columns[place].ty));
        if let Some(ty) = ty {
            made.column(&StructColumn::of_file(column, ty, absent));
        }
    }
    let mut attributes = of_kind(kind, absent);
    if let Some(retention) = keys.take("retention").as_ref().and_then(|at| at.read_text(&mut faults)) {
        let _ = writeln!(attributes, "#[ingest(retention = {retention:?})]");
    }
    if let Some(history) = keys.take("history").as_ref().and_then(|at| kinds::read_history(at, &mut faults)) {
        let (keep, versions) = history;
        let keep = keep.map_or_else(|| "forever".to_owned(), |keep| format!("{}s", keep.as_secs()));
        let versions = versions.map(|versions| format!(", versions = {versions}")).unwrap_or_default();
        let _ = writeln!(attributes, "#[ingest(history = {keep:?}{versions})]");
    }
    let filter = keys.take("filter");
    let filter = filter.iter().flat_map(TreeNode::one_or_more);
    let conditions: Vec<Condition> =
        filter.filter_map(|at| Condition::parse(at.read_text(&mut faults)?).ok()).collect();
    if let Some(function) = made.filter(&conditions) {
        let _ = writeln!(attributes, "#[ingest(filter = {function})]");
    }
    let mut keyed = HashSet::new();
    for (_, key) in read_keys(keys.take("keys"), &mut faults) {
        if let Some(name) = key.name {
            made.left.push(format!(
                "the name `{name}` of a key: it has that of its columns, so the next migration renames it"
            ));
        }
        match &key.columns[..] {
            [column] => made.left.push(format!("a key over `{column}` alone beside that of the column")),
            columns => {
                made.repeats |= !columns.iter().all(|column| keyed.insert(*column));
                let columns: Vec<String> = columns.iter().map(|column| column_word(column)).collect();
                let _ = writeln!(attributes, "#[ingest(key({}))]", columns.join(", "));
            }
        }
    }
    if let Some(protobuf) = definition.protobuf {
        let message = protobuf.message;
        made.left
            .push(format!("the descriptors of `{message}`: `#[ingest(protobuf = {message:?}, descriptors = ...)]`"));
    }
    let api_version = kind.api_version();
    let kind = definition.kind;
    let about = format!("//! The kind {kind} of {api_version}, as a file of kinds declares it.\n");
    Ok(made.module(&about, &format!("An object of the kind {kind}"), &attributes))
}

/// The attributes of a kind's struct, except for its columns, its filter and its keys.
fn of_kind(kind: &Kind, absent: Absent) -> String {
    let definition = kind.definition();
    let table = kind.table();
    let scope = if definition.namespaced { "namespaced" } else { "namespaced = false" };
    let mut text = format!(
        "#[ingest(group = {:?}, version = {:?}, kind = {:?}, plural = {:?}, {scope})]\n",
        definition.group,
        definition.version,
        definition.kind,
        kind.plural()
    );
    let mut options = vec![format!("absent = \"{}\"", absent.word())];
    let finalizer = match definition.finalizer {
        Finalizer::Ensure => "ensure",
        Finalizer::Existing => "existing",
        Finalizer::Never => "never",
    };
    options.push(format!("finalizer = \"{finalizer}\""));
    options.extend(definition.evictable.map(|evictable| format!("evictable = {evictable}")));
    options.extend(definition.immutable.then(|| "immutable".to_owned()));
    options.extend((!kind.prune().is_empty()).then(|| format!("prune = {:?}", kind.prune())));
    options.extend((!table.companions).then(|| "companions = false".to_owned()));
    if table.name.as_str() != definition.kind.to_lowercase() {
        options.push(format!("table = \"{}\"", table.name));
    }
    options.extend(table.was.map(|was| format!("was = \"{was}\"")));
    let _ = writeln!(text, "#[ingest({})]", options.join(", "));
    kind.evict().iter().for_each(|rule| text.push_str(&evict_rule(rule)));
    text
}

/// A rule by which objects may leave etcd.
fn evict_rule(rule: &EvictionRule) -> String {
    let text = |option: &str, text: &str| (!text.is_empty()).then(|| format!("{option} = {text:?}"));
    let selectors = [text("field_selector", rule.field_selector), text("label_selector", rule.label_selector)];
    let when: Vec<String> = selectors.into_iter().flatten().collect();
    let mut options = vec![format!("name = {:?}", rule.name)];
    options.extend((!when.is_empty()).then(|| format!("when({})", when.join(", "))));
    options.extend(rule.after.map(|after| format!("after = {:?}", duration(after))));
    options.extend(rule.since.map(|since| format!("since = {since:?}")));
    options.extend(rule.keep_last.map(|(count, by)| match by {
        [] => format!("keep_last(count = {count})"),
        by => format!("keep_last(count = {count}, by = {by:?})"),
    }));
    options.extend((!rule.namespaces.is_empty()).then(|| format!("namespaces = {:?}", rule.namespaces)));
    options.extend(text("namespace_selector", rule.namespace_selector));
    format!("#[ingest(evict({}))]\n", options.join(", "))
}

fn name_of(step: &Step) -> Option<&str> {
    if let Step::Name(name) = step { Some(name) } else { None }
}

/// A value as Rust writes it; `None` if it has no literal there.
fn literal(value: &Value) -> Option<String> {
    Some(match value {
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Double(number) => format!("{number:?}"),
        Value::Text(text) => format!("{text:?}.to_owned()"),
        _ => return None,
    })
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

/// Returns true if a type of the fields contains this word.
fn uses(fields: &Fields, word: &str) -> bool {
    fields.0.iter().any(|field| match &field.is {
        FieldType::Value(ty) => ty.contains(word),
        FieldType::Struct(fields) | FieldType::List(fields) => uses(fields, word),
    })
}

/// A struct, followed by those that it needs. `taken` are the names of types that are used already.
fn write_struct(text: &mut String, name: &str, fields: &Fields, taken: &mut Vec<String>) {
    let _ = writeln!(text, "#[serde(rename_all = \"camelCase\", default)]\npub struct {name} {{");
    let mut below = Vec::new();
    for Field { json, rust, indexes, is } in &fields.0 {
        for Index { attribute, .. } in indexes {
            let _ = writeln!(text, "    {attribute}");
        }
        if camel(rust) != *json {
            let _ = writeln!(text, "    #[serde(rename = {json:?})]");
        }
        let mut of_struct = |fields| {
            let name = unused(&format!("{name}{}", pascal(rust)), |name| taken.iter().any(|other| other == name));
            taken.push(name.clone());
            below.push((name.clone(), fields));
            name
        };
        let ty = match is {
            FieldType::Value(ty) => ty.clone(),
            FieldType::Struct(fields) => of_struct(fields),
            FieldType::List(fields) => format!("Vec<{}>", of_struct(fields)),
        };
        let _ = writeln!(text, "    pub {rust}: {ty},");
    }
    text.push_str("}\n");
    for (name, fields) in below {
        text.push_str("\n#[derive(Deserialize, Clone, Debug, Default)]\n");
        write_struct(text, &name, fields, taken);
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

/// The name itself, or with a number if it is taken.
fn unused(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

/// A column's name in `key(...)` and `columns(...)`: a word, or a string if it is none.
fn column_word(column: &str) -> String {
    let is_word = column.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !column.starts_with(|c: char| c.is_ascii_digit())
        && column != "_";
    if is_word { column.to_owned() } else { format!("{column:?}") }
}

/// The name that serde gives a field by `rename_all = "camelCase"`.
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
