//! Kinds as a file spells them: kinds of a file as they were read, kinds of structs as far as a file can express them.

use super::path::Step;
use crate::yaml::{self, quoted, scalar};
use ingester_core::kind::{Decode, Finalizer, Kind};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::schema::{
    Absent, BASE_COLUMNS, BASE_KEYS, Column, EvictionRule, Form, History, Ident, Key, Many, Path, Printed, Table, Unit,
    composite_name,
};
use ingester_core::value::Value;
use serde_json::{Map, json};
use std::fmt::Write as _;
use std::time::Duration;

/// Writes a file that declares these kinds. Anything that a file cannot express, such as a function of Rust, becomes a comment.
pub fn spelled(kinds: &[Kind]) -> String {
    let mut text = String::from("kinds:\n");
    for kind in kinds {
        match kind.functions().decode {
            Decode::Declared(declared) => text.push_str(declared.spelled()),
            Decode::Function(_) => of_struct(kind, &mut text),
        }
    }
    text
}

/// One kind of a file, as an element of the list of kinds.
pub(super) fn of_file(tree: &crate::text::Tree) -> String {
    // A tree has nothing that YAML cannot express.
    yaml::to_string(&[tree]).unwrap_or_default()
}

fn of_struct(kind: &Kind, text: &mut String) {
    let definition = kind.definition();
    let table = kind.table();
    let mut line = |what: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(text, "  {what}: {value}");
    };
    line("group", &scalar(definition.group));
    line("version", &scalar(definition.version));
    line("kind", &scalar(definition.kind));
    line("plural", &scalar(&kind.plural()));
    line("namespaced", &definition.namespaced);
    if !table.name.same_as(definition.kind) {
        line("table", &scalar(table.name.as_str()));
    }
    let finalizer = match definition.finalizer {
        Finalizer::Ensure => "ensure",
        Finalizer::Existing => "existing",
        Finalizer::Never => "never",
    };
    line("finalizer", &finalizer);
    if kind.is_strict() {
        line("strict", &true);
    }
    if definition.immutable {
        line("immutable", &true);
    }
    if let Some(evictable) = definition.evictable {
        line("evictable", &evictable);
    }
    if !kind.prune().is_empty() {
        let paths: Vec<String> = kind.prune().iter().map(|path| quoted(path)).collect();
        line("prune", &format_args!("[{}]", paths.join(", ")));
    }
    if !kind.evict().is_empty() {
        let rules: Vec<String> = kind.evict().iter().map(|rule| format!("\n  - {}", spelled_rule(rule))).collect();
        line("evict", &rules.concat());
    }
    if !table.companions {
        line("companions", &false);
    }
    if let Some(retention) = definition.retention {
        line("retention", &format_args!("{}s", retention.as_secs()));
    }
    if let Some(History { keep, versions, .. }) = kind.history() {
        let keep = keep.map_or_else(|| "forever".to_owned(), |keep| format!("{}s", keep.as_secs()));
        match versions {
            Some(versions) => line("history", &format_args!("{{keep: {keep}, versions: {versions}}}")),
            None => line("history", &keep),
        }
    }
    if let Some(protobuf) = definition.protobuf {
        let _ = writeln!(text, "  # protobuf: {{message: {}, descriptors: FILE}}", protobuf.message);
    }
    columns(kind, text);
    let (keys, of_functions): (Vec<&Key>, Vec<&Key>) =
        composite_keys(table).partition(|key| key.columns().iter().all(|place| is_spelled(table, usize::from(*place))));
    let list = |keys: &[&Key]| keys.iter().map(|key| spelled_key(table, key)).collect::<Vec<_>>().join(", ");
    if !keys.is_empty() {
        let _ = writeln!(text, "  keys: [{}]", list(&keys));
    }
    if !of_functions.is_empty() {
        let _ = writeln!(text, "  # keys: [{}] # over a column that a function in Rust makes", list(&of_functions));
    }
    // The first line of an element of a list.
    if let Some(first) = text.rfind("  group:") {
        text.replace_range(first..first + 2, "- ");
    }
}

/// A rule by which objects may leave etcd.
fn spelled_rule(rule: &EvictionRule) -> String {
    let list = |texts: &[&str]| texts.iter().map(|text| scalar(text)).collect::<Vec<_>>().join(", ");
    let selectors = [("fieldSelector", rule.field_selector), ("labelSelector", rule.label_selector)];
    let selectors = selectors.iter().filter(|(_, text)| !text.is_empty());
    let when: Vec<String> = selectors.map(|(key, text)| format!("{key}: {}", quoted(text))).collect();
    let mut keys = vec![format!("name: {}", scalar(rule.name))];
    keys.extend((!when.is_empty()).then(|| format!("when: {{{}}}", when.join(", "))));
    keys.extend(rule.after.map(|after| format!("after: {}", duration(after))));
    keys.extend(rule.since.map(|since| format!("since: {}", scalar(since))));
    keys.extend(rule.keep_last.map(|(count, by)| match by {
        [] => format!("keepLast: {{count: {count}}}"),
        by => format!("keepLast: {{count: {count}, by: [{}]}}", list(by)),
    }));
    keys.extend((!rule.namespaces.is_empty()).then(|| format!("namespaces: [{}]", list(rule.namespaces))));
    let of_namespaces = rule.namespace_selector;
    keys.extend((!of_namespaces.is_empty()).then(|| format!("namespaceSelector: {}", quoted(of_namespaces))));
    format!("{{{}}}", keys.join(", "))
}

/// A duration as files and structs write it.
pub(super) fn duration(duration: Duration) -> String {
    match duration.subsec_nanos() {
        0 => format!("{}s", duration.as_secs()),
        _ => format!("{}ns", duration.as_nanos()),
    }
}

fn columns(kind: &Kind, text: &mut String) {
    let table = kind.table();
    if table.indexed().is_empty() && table.many.is_empty() {
        return;
    }
    text.push_str("  columns:\n");
    for place in table.printed() {
        let is_spelled = is_spelled(table, place);
        let column = &table.columns[place];
        let place = place - BASE_COLUMNS.len();
        let mut options = format!(", type: {}", column.ty);
        if !table.keys.iter().any(|key| is_own(table, key, column.name)) {
            options.push_str(", key: false");
        }
        if !column.stays.is_none() {
            let _ = write!(options, ", {}: true", column.stays.word());
        }
        options.push_str(&printing(column.printed));
        let Column { name, path, unit, .. } = *column;
        let Some(path) = path.filter(|_| is_spelled) else {
            of_function(text, name, path, &options);
            continue;
        };
        let (guard, mut absent) = match column.absent {
            Absent::Unsaid | Absent::Type => absent(kind, place, path),
            Absent::Null | Absent::Empty => (None, format!(", absent: {}", column.absent.word())),
        };
        let path = quoted(&format!("{}{}", steps(path.steps()), of_quantity(unit)));
        let path = match guard {
            // The column's own default would not ask whether the path counts.
            Some(guard) if absent.contains("default:") => {
                let default = std::mem::replace(&mut absent, ", absent: null".to_owned());
                format!("[{{path: {path}, if: {}{default}}}]", quoted(&guard))
            }
            Some(guard) => format!("[{{path: {path}, if: {}}}]", quoted(&guard)),
            None => path,
        };
        options.push_str(&absent);
        let _ = writeln!(text, "  - {{column: {}, path: {path}{options}{}}}", scalar(name.as_str()), milli(unit));
    }
    for many in table.many {
        let Many { name, path, computed, form, .. } = *many;
        let options = format!(", type: {}, many: true", many.ty());
        let Some(path) = path.filter(|_| !computed) else {
            of_function(text, name, path, &options);
            continue;
        };
        let each = match form {
            Form::List => "[*]",
            Form::Map => "",
        };
        let path = quoted(&format!("{}{each}{}", steps(path.steps()), of_quantity(many.unit())));
        let milli = milli(many.unit());
        let _ = writeln!(text, "  - {{column: {}, path: {path}{options}{milli}}}", scalar(name.as_str()));
    }
}

/// The options of a column that say how tables of objects print it.
fn printing(Printed { header, wide, age, .. }: Printed) -> String {
    let header = header.map(|header| format!(", header: {}", scalar(header)));
    let wide = wide.map(|wide| format!(", wide: {wide}"));
    let age = age.then(|| ", age: true".to_owned());
    [header, wide, age].into_iter().flatten().collect()
}

fn of_quantity(unit: Option<Unit>) -> &'static str {
    if unit.is_some() { " | quantity" } else { "" }
}

fn milli(unit: Option<Unit>) -> &'static str {
    if unit == Some(Unit::Milli) { ", unit: milli" } else { "" }
}

/// Returns true if a file can say where the value of the column at this place comes from.
fn is_spelled(table: &Table, place: usize) -> bool {
    let column = &table.columns[place];
    place < BASE_COLUMNS.len() || !column.computed && column.path.is_some()
}

/// A column that only Rust knows how to make, as a comment.
fn of_function(text: &mut String, name: Ident, path: Option<Path>, options: &str) {
    let from = path.map(|path| format!(" of {}", steps(path.steps()))).unwrap_or_default();
    let _ = writeln!(text, "  # - {{column: {name}, path: ?{options}}} # a function in Rust makes it{from}");
}

/// Finds the stored value of a struct's column when an object has no value, which depends on Rust types. To find it, we decode objects that
/// have only the parents of the column's value. The result is a guard and an option. The guard names the place of an `Option` whose struct
/// has a default for the absent value.
fn absent(kind: &Kind, place: usize, path: Path) -> (Option<String>, String) {
    let names: Vec<&str> = path.steps().collect();
    let stored = |there: usize| store_nested(kind, place, &names[..there]);
    let whole = names.len().saturating_sub(1);
    let nothing = stored(0);
    let inside = stored(whole);
    let ty = kind.table().columns[BASE_COLUMNS.len() + place].ty;
    let guard = match (&nothing, &inside) {
        (Some(Value::Null), Some(value)) if *value != Value::Null => {
            let first = (1..=whole).find(|there| stored(*there).is_some_and(|value| value != Value::Null));
            first.map(|there| steps(names[..there].iter().copied()))
        }
        _ => None,
    };
    let option = match inside {
        None | Some(Value::Null) => ", absent: null".to_owned(),
        Some(value) if value == Value::empty(ty) => ", absent: empty".to_owned(),
        Some(Value::Text(text)) => format!(", default: {}", quoted(&text)),
        Some(value) => format!(", default: {value}"),
    };
    (guard, option)
}

/// Returns the stored value for an object that has these names within each other, and nothing in the last one.
fn store_nested(kind: &Kind, place: usize, names: &[&str]) -> Option<Value> {
    let inner = names.iter().rev().fold(json!({}), |inner, name| json!({ *name: inner }));
    let mut object = Map::new();
    object.insert("apiVersion".into(), kind.api_version().into());
    object.insert("kind".into(), kind.kind().into());
    object.insert("metadata".into(), json!({"name": "a", "namespace": if kind.namespaced() { "a" } else { "" }}));
    if let serde_json::Value::Object(inner) = inner {
        object.extend(inner);
    }
    let text = serde_json::Value::Object(object).to_string();
    let object = Object::parse(text, ManagedFields::Prune).ok()?;
    let row = kind.row(&object).ok()??;
    row.values.get(BASE_COLUMNS.len() + place).cloned()
}

/// A path as a file writes it.
fn steps<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| Step::Name(name.to_owned()).to_string()).collect()
}

/// Returns true for the column's own key.
fn is_own(table: &Table, key: &Key, column: Ident) -> bool {
    key.name.same(&column) && matches!(key.columns(), [only] if table.columns[usize::from(*only)].name.same(&column))
}

/// Returns the keys over several columns, except for the ones that every table has.
fn composite_keys(table: &Table) -> impl Iterator<Item = &Key> {
    let is_base = |key: &Key| BASE_KEYS.iter().any(|(name, _)| key.name.same_as(name));
    table.keys.iter().filter(move |key| key.columns().len() > 1 && !is_base(key))
}

fn spelled_key(table: &Table, key: &Key) -> String {
    let names: Vec<&str> = key.columns().iter().map(|place| table.columns[usize::from(*place)].name.as_str()).collect();
    let columns: Vec<String> = names.iter().map(|name| scalar(name)).collect();
    let columns = columns.join(", ");
    if key.name.same(&composite_name(&names)) {
        format!("[{columns}]")
    } else {
        format!("{{name: {}, columns: [{columns}]}}", scalar(key.name.as_str()))
    }
}
