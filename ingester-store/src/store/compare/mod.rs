//! What is stored beside what was to be stored, column by column. Pure.
//!
//! Each database may keep a value in its own way; what no query can tell apart is no difference.

mod json;
#[cfg(test)]
mod tests;

use super::StoredRow;
use ingester_core::object::StringMap;
use ingester_core::row::Row;
use ingester_core::schema::{SqlType, Table, base};
use ingester_core::value::{Micros, Value};
use std::collections::BTreeMap;

/// One thing that is stored otherwise than it was to be.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// The column, for `json` with the path of the place: `owner`, `json spec.owner.name`; else `label "k"` or
    /// `annotation "k"`.
    pub what: String,
    /// What was to be stored, shortened for people: long values around the place where they part.
    pub wanted: String,
    /// What is stored, shortened in the same way.
    pub stored: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} is stored, not {}", self.what, self.stored, self.wanted)
    }
}

/// Places in a JSON text that are shown one by one; there may be thousands.
const PLACES: usize = 5;

/// Characters of a value that are shown.
const SHOWN: usize = 80;

/// Bytes of a value that are shown.
const SHOWN_BYTES: usize = 16;

/// How NULL is shown; text stands in quotes.
const NULL: &str = "NULL";

/// How it is shown that there is nothing.
const NONE: &str = "(none)";

/// Every difference between a row as it was to be written and as it is stored, in the order of the columns, then labels
/// and annotations.
///
/// - `update_time` is the time of writing: never compared.
/// - `delete_time` and `evict_time` are compared as set or not: each writer sets its own time.
/// - `json` is compared as a JSON value: MySQL has spellings and an order of its own.
/// - Everything else must be the same to the byte, the microsecond, the bit; but 0.0 and -0.0 are one number.
pub fn differences(table: &Table, wanted: &Row, stored: &StoredRow) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (place, column) in table.columns.iter().enumerate() {
        let name = column.name.as_str();
        let value = |values: &[Value]| values.get(place).cloned().unwrap_or(Value::Null);
        match place {
            base::UPDATE_TIME => {}
            base::DELETE_TIME => differences.extend(set_or_not(name, wanted.delete_time, stored.delete_time)),
            base::EVICT_TIME => differences.extend(set_or_not(name, wanted.evict_time, stored.evict_time)),
            _ => match (value(&wanted.values), value(&stored.values)) {
                (Value::Text(wanted), Value::Text(stored)) if column.ty == SqlType::Json => {
                    differences.extend(in_json(name, &wanted, &stored));
                }
                (wanted, stored) if !same(&wanted, &stored) => {
                    let (wanted, stored) = shown(&wanted, &stored);
                    differences.push(Difference { what: name.to_owned(), wanted, stored });
                }
                _ => {}
            },
        }
    }
    in_companion("label", &wanted.labels, &stored.labels, &mut differences);
    in_companion("annotation", &wanted.annotations, &stored.annotations, &mut differences);
    differences
}

fn same(wanted: &Value, stored: &Value) -> bool {
    match (wanted, stored) {
        // A column of an unsigned type may be filled from a signed field, and the other way round.
        (Value::Int(signed), Value::UInt(unsigned)) | (Value::UInt(unsigned), Value::Int(signed)) => {
            i128::from(*signed) == i128::from(*unsigned)
        }
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
    let places = match json::places(wanted, stored, PLACES) {
        Ok(places) => places,
        Err(error) => {
            let (wanted, _) = around(wanted, stored);
            return vec![Difference { what: name.to_owned(), wanted, stored: format!("no JSON: {error}") }];
        }
    };
    let mut differences: Vec<Difference> = places
        .first
        .into_iter()
        .map(|place| {
            // The text of a whole object may have lines.
            let flat = |raw: Option<&str>| raw.map(|raw| raw.replace(char::is_control, " "));
            let (wanted, stored) = match (flat(place.wanted), flat(place.stored)) {
                (Some(wanted), Some(stored)) => around(&wanted, &stored),
                (wanted, stored) => {
                    let alone = |raw: Option<String>| raw.map_or_else(|| NONE.to_owned(), |raw| cut(&raw, 0));
                    (alone(wanted), alone(stored))
                }
            };
            Difference { what: format!("{name} {}", place.path).trim_end().to_owned(), wanted, stored }
        })
        .collect();
    if places.more > 0 {
        let what = format!("{name} in {} more places", places.more);
        differences.push(Difference { what, wanted: "…".to_owned(), stored: "…".to_owned() });
    }
    differences
}

fn in_companion(what: &str, wanted: &StringMap, stored: &StringMap, differences: &mut Vec<Difference>) {
    let mut both: BTreeMap<&str, [Option<&str>; 2]> = BTreeMap::new();
    for (side, rows) in [wanted, stored].into_iter().enumerate() {
        for (key, value) in rows.iter() {
            both.entry(key).or_default()[side] = Some(value);
        }
    }
    for (key, [wanted, stored]) in both {
        if wanted == stored {
            continue;
        }
        let (wanted, stored) = match (wanted, stored) {
            (Some(wanted), Some(stored)) => quoted(wanted, stored),
            (wanted, stored) => {
                let alone = |text: Option<&str>| text.map_or_else(|| NONE.to_owned(), |text| quoted(text, text).0);
                (alone(wanted), alone(stored))
            }
        };
        differences.push(Difference { what: format!("{what} {key:?}"), wanted, stored });
    }
}

/// Two values that are not the same, for people.
fn shown(wanted: &Value, stored: &Value) -> (String, String) {
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
    for (place, byte) in bytes.iter().enumerate().skip(from).take(SHOWN_BYTES) {
        if place == from {
            text.push_str(&format!(", from {from}: "));
        }
        text.push_str(&format!("{byte:02x}"));
    }
    if bytes.len() > from + SHOWN_BYTES {
        text.push('…');
    }
    text
}

/// Two texts in quotes, so that blanks at their ends are seen, and NULL is not the word.
fn quoted(wanted: &str, stored: &str) -> (String, String) {
    let from = parting(wanted, stored);
    let quoted = |text: &str| {
        let piece: String = text.chars().skip(from).take(SHOWN).collect();
        let before = if from > 0 { "…" } else { "" };
        let after = if text.chars().nth(from + SHOWN).is_some() { "…" } else { "" };
        format!("{before}{piece:?}{after}")
    };
    (quoted(wanted), quoted(stored))
}

/// Two texts as they are, each shortened to where they part.
fn around(wanted: &str, stored: &str) -> (String, String) {
    let from = parting(wanted, stored);
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

/// From which character on two texts are shown: from their beginning where they part within what is shown, else from a
/// little before that.
fn parting(wanted: &str, stored: &str) -> usize {
    let common = wanted.chars().zip(stored.chars()).take_while(|(a, b)| a == b).count();
    let whole = wanted.chars().count().max(stored.chars().count()) <= SHOWN;
    if whole || common < SHOWN / 2 || wanted == stored { 0 } else { common - SHOWN / 4 }
}
