//! Compares a stored row with the row that should be stored, column by column. Pure.
//!
//! Each database may keep a value in its own way. Values that no query can tell apart are equal.

mod json;
#[cfg(test)]
mod tests;

use super::read::StoredRow;
use ingester_core::object::StringMap;
use ingester_core::place::is_obeyed;
use ingester_core::row::Row;
use ingester_core::schema::{Form, SqlType, Table, base};
use ingester_core::value::{Micros, Value};
use std::collections::BTreeMap;

/// One difference between a stored row and the row that should be stored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// The place: a column (`owner`), a path in `json` (`json spec.owner.name`), `label "k"`, `annotation "k"`, a value of a list (`tags
    /// "v"`) or a key of a map (`limits "k"`).
    pub what: String,
    /// The value that should be stored, for people; a long value is shortened to the part around the first difference.
    pub wanted: String,
    /// The stored value, in the same form.
    pub stored: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} is stored, not {}", self.what, self.stored, self.wanted)
    }
}

/// The most differences within a JSON text that are shown; there may be thousands.
const JSON_DIFFERENCES: usize = 5;

/// The most characters of a value that are shown.
const SHOWN: usize = 80;

/// The most bytes of a byte string that are shown.
const SHOWN_BYTES: usize = 16;

/// The text that stands for NULL; real texts are shown in quotes.
const NULL: &str = "NULL";

/// The text that stands for a missing value.
const NONE: &str = "(none)";

/// The text that stands for a value that a list contains.
const THERE: &str = "(there)";

/// Returns every difference between the row that should be stored and the stored row, in the order of the columns, then labels, annotations
/// and columns of many values.
///
/// - `update_time` is the time of writing, so it is not compared. Nor is `ingest_version`, because it only describes how the other columns
///   were computed; nor `evict_confirmed`, which is knowledge about the object and no part of it.
/// - `delete_time` and `evict_time` are compared as set or not set, because each writer sets its own time.
/// - In a column whose values stay, the stored value is right wherever it stays, see [`Stays`](ingester_core::schema::Stays).
/// - `json` is compared as a JSON value, because MySQL spells values and orders keys in its own way.
/// - Everything else must be equal to the byte, microsecond or bit, except that 0.0 equals -0.0.
pub fn differences(table: &Table, wanted: &Row, stored: &StoredRow) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (place, column) in table.columns.iter().enumerate() {
        let name = column.name.as_str();
        let value = |values: &[Value]| values.get(place).cloned().unwrap_or(Value::Null);
        match place {
            base::UPDATE_TIME | base::INGEST_VERSION | base::EVICT_CONFIRMED => {}
            base::DELETE_TIME => differences.extend(set_or_not(name, wanted.delete_time, stored.delete_time)),
            base::EVICT_TIME => differences.extend(set_or_not(name, wanted.evict_time, stored.evict_time)),
            _ => match (value(&wanted.values), value(&stored.values)) {
                (Value::Text(wanted), Value::Text(stored)) if column.ty == SqlType::Json => {
                    differences.extend(in_json(name, &wanted, &stored));
                }
                (wanted, stored) if column.stays.holds(stored == Value::Null, wanted == Value::Null) => {}
                (wanted, stored) if !same(&wanted, &stored) => {
                    let (wanted, stored) = render_difference(&wanted, &stored);
                    differences.push(Difference { what: name.to_owned(), wanted, stored });
                }
                _ => {}
            },
        }
    }
    in_companion("label", false, &wanted.labels, &stored.labels, &mut differences);
    in_companion("annotation", false, &wanted.annotations, &stored.annotations, &mut differences);
    for (place, column) in table.many.iter().enumerate() {
        let none = StringMap::default();
        let of = |many: &'_ [StringMap]| many.get(place).unwrap_or(&none).clone();
        in_companion(
            column.name.as_str(),
            column.form == Form::List,
            &of(&wanted.many),
            &of(&stored.many),
            &mut differences,
        );
    }
    differences
}

/// Returns the one spelling of an object's JSON that all databases keep: keys in order, no blanks, and whole numbers of 64 bits in digits.
/// Every other number becomes the same placeholder, because databases round such numbers in their own ways; [`differences`] compares them.
///
/// # Errors
/// If the text is not JSON.
pub fn canonical(text: &str) -> Result<String, ingester_core::json::Error> {
    json::canonical(text)
}

/// Returns every difference between the content of an object and the content of the evicted object in a row. Fields that change while an
/// object leaves etcd or comes back are not content: its version and generation, its finalizers, and the request to delete it.
pub fn content_differences(object: &str, stored: &StoredRow) -> Vec<Difference> {
    let is_content = |path: &str| {
        let Some(field) = path.strip_prefix("metadata.") else { return true };
        let field = field.split(['.', '[']).next().unwrap_or_default();
        !NO_CONTENT.contains(&field)
    };
    match json::differences(object, stored.json(), usize::MAX) {
        Ok(mut found) => {
            found.first.retain(|difference| is_content(&difference.path));
            shown_in_json("object", found)
        }
        Err(error) => {
            let stored = format!("not JSON: {error}");
            vec![Difference { what: "object".to_owned(), wanted: cut(object, 0), stored }]
        }
    }
}

/// Fields of an object's metadata that are not content.
const NO_CONTENT: [&str; 6] =
    ["resourceVersion", "generation", "managedFields", "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds"];

fn same(wanted: &Value, stored: &Value) -> bool {
    match (wanted, stored) {
        // An unsigned column may hold the value of a signed field, and the other way round.
        (Value::Int(signed), Value::UInt(unsigned)) | (Value::UInt(unsigned), Value::Int(signed)) => {
            i128::from(*signed) == i128::from(*unsigned)
        }
        // PostgreSQL's texts cannot contain NUL: the driver stores such a value as NULL. `json` has the object as it is.
        (Value::Text(wanted), Value::Null) => wanted.contains('\0'),
        (wanted, stored) => wanted == stored,
    }
}

fn set_or_not(name: &str, wanted: Option<Micros>, stored: Option<Micros>) -> Option<Difference> {
    let shown = |time: Option<Micros>| time.map_or_else(|| NULL.to_owned(), Micros::rfc3339);
    (wanted.is_some() != stored.is_some()).then(|| Difference {
        what: name.to_owned(),
        wanted: shown(wanted),
        stored: shown(stored),
    })
}

fn in_json(name: &str, wanted: &str, stored: &str) -> Vec<Difference> {
    let found = match json::differences(wanted, stored, JSON_DIFFERENCES) {
        Ok(found) => found,
        Err(error) => {
            let (wanted, _) = around(wanted, stored);
            return vec![Difference { what: name.to_owned(), wanted, stored: format!("no JSON: {error}") }];
        }
    };
    shown_in_json(name, found)
}

fn shown_in_json(name: &str, found: json::JsonDifferences<'_>) -> Vec<Difference> {
    let mut differences: Vec<Difference> = found
        .first
        .into_iter()
        .map(|difference| {
            // The text of an object may have several lines.
            let flat = |raw: Option<&str>| raw.map(|raw| raw.replace(is_obeyed, " "));
            let (wanted, stored) = match (flat(difference.wanted), flat(difference.stored)) {
                (Some(wanted), Some(stored)) => around(&wanted, &stored),
                (wanted, stored) => {
                    let alone = |raw: Option<String>| raw.map_or_else(|| NONE.to_owned(), |raw| cut(&raw, 0));
                    (alone(wanted), alone(stored))
                }
            };
            Difference { what: format!("{name} {}", difference.path).trim_end().to_owned(), wanted, stored }
        })
        .collect();
    if found.more > 0 {
        let what = format!("{name} in {} more places", found.more);
        differences.push(Difference { what, wanted: "…".to_owned(), stored: "…".to_owned() });
    }
    differences
}

fn in_companion(what: &str, list: bool, wanted: &StringMap, stored: &StringMap, differences: &mut Vec<Difference>) {
    let mut both: BTreeMap<&str, [Option<&str>; 2]> = BTreeMap::new();
    for (side, rows) in [wanted, stored].into_iter().enumerate() {
        for (key, value) in rows.iter() {
            both.entry(key).or_default()[side] = Some(value);
        }
    }
    for (key, [wanted, stored]) in both {
        // A database that cannot store NUL in a text has no such pair.
        let unfit = |value: Option<&str>| key.contains('\0') || value.is_some_and(|value| value.contains('\0'));
        if wanted == stored || stored.is_none() && unfit(wanted) {
            continue;
        }
        let (wanted, stored) = match (wanted, stored) {
            (Some(wanted), Some(stored)) => quoted(wanted, stored),
            (wanted, stored) => {
                // The values of a list are keys, without anything behind them.
                let shown = |text: &str| if text.is_empty() && list { THERE.to_owned() } else { quoted(text, text).0 };
                let alone = |text: Option<&str>| text.map_or_else(|| NONE.to_owned(), shown);
                (alone(wanted), alone(stored))
            }
        };
        differences.push(Difference { what: format!("{what} {key:?}"), wanted, stored });
    }
}

/// Returns two different values, for people.
fn render_difference(wanted: &Value, stored: &Value) -> (String, String) {
    match (wanted, stored) {
        (Value::Text(wanted), Value::Text(stored)) => quoted(wanted, stored),
        (Value::Bytes(wanted), Value::Bytes(stored)) => {
            let from = wanted.iter().zip(stored).take_while(|(a, b)| a == b).count();
            (hexadecimal(wanted, from), hexadecimal(stored, from))
        }
        (wanted, stored) => (alone(wanted), alone(stored)),
    }
}

fn alone(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text, text).0,
        Value::Bytes(bytes) => hexadecimal(bytes, 0),
        other => other.to_string(),
    }
}

/// `12 bytes, from 5: 0a0b0c…`
fn hexadecimal(bytes: &[u8], from: usize) -> String {
    let mut text = format!("{} bytes", bytes.len());
    for (index, byte) in bytes.iter().enumerate().skip(from).take(SHOWN_BYTES) {
        if index == from {
            text.push_str(&format!(", from {from}: "));
        }
        text.push_str(&format!("{byte:02x}"));
    }
    if bytes.len() > from + SHOWN_BYTES {
        text.push('…');
    }
    text
}

/// Returns two texts in quotes, which show blanks at the ends and distinguish the text `NULL` from NULL.
fn quoted(wanted: &str, stored: &str) -> (String, String) {
    let from = shown_from(wanted, stored);
    let quoted = |text: &str| {
        let piece: String = text.chars().skip(from).take(SHOWN).collect();
        let before = if from > 0 { "…" } else { "" };
        let after = if text.chars().nth(from + SHOWN).is_some() { "…" } else { "" };
        format!("{before}{piece:?}{after}")
    };
    (quoted(wanted), quoted(stored))
}

/// Returns two texts without quotes, each shortened to the part around their first difference.
fn around(wanted: &str, stored: &str) -> (String, String) {
    let from = shown_from(wanted, stored);
    (cut(wanted, from), cut(stored, from))
}

fn cut(text: &str, from: usize) -> String {
    let mut piece = String::from(if from > 0 { "…" } else { "" });
    piece.extend(text.chars().skip(from).take(SHOWN));
    if text.chars().nth(from + SHOWN).is_some() {
        piece.push('…');
    }
    piece
}

/// Returns the character from which two texts are shown: the first one if the first difference is then visible, otherwise one a little
/// before the difference.
fn shown_from(wanted: &str, stored: &str) -> usize {
    let common = wanted.chars().zip(stored.chars()).take_while(|(a, b)| a == b).count();
    let whole = wanted.chars().count().max(stored.chars().count()) <= SHOWN;
    if whole || common < SHOWN / 2 || wanted == stored { 0 } else { common - SHOWN / 4 }
}
