//! Compares JSON texts as values, as far as databases keep them.
//!
//! MariaDB and SQLite keep the text. MySQL keeps a value ("The JSON Data Type" in its Reference Manual): it orders keys in its own
//! way, keeps the last of repeated keys (from 8.0.3 on), keeps integers of 64 bits, and makes every other number a DOUBLE that it
//! spells in its own way.

use ingester_core::json::{Error, Reader, TokenKind, push_name};
use std::borrow::Cow;

/// One difference between two texts, with both values as they are written; `None` for a missing value.
#[derive(Debug, PartialEq)]
pub(super) struct JsonDifference<'a> {
    /// Its path, such as `spec.owner.name`; empty for the whole text.
    pub(super) path: String,
    pub(super) wanted: Option<&'a str>,
    pub(super) stored: Option<&'a str>,
}

/// The first few differences between two values, in the order of the keys.
#[derive(Debug, Default, PartialEq)]
pub(super) struct JsonDifferences<'a> {
    pub(super) first: Vec<JsonDifference<'a>>,
    /// The number of further differences.
    pub(super) more: usize,
}

/// A value with its text.
struct JsonValue<'a> {
    raw: &'a str,
    tree: Tree<'a>,
}

enum Tree<'a> {
    /// `null`, `true` or `false`.
    Literal,
    Number,
    Text(Cow<'a, str>),
    Array(Vec<JsonValue<'a>>),
    /// Sorted by key; each key occurs once.
    Object(Vec<(Cow<'a, str>, JsonValue<'a>)>),
}

/// Returns the first `most` differences between the values of two texts.
///
/// # Errors
/// If one of them is not JSON.
pub(super) fn differences<'a>(wanted: &'a str, stored: &'a str, most: usize) -> Result<JsonDifferences<'a>, Error> {
    let mut found = JsonDifferences::default();
    if wanted != stored {
        walk(&mut String::new(), &whole(wanted)?, &whole(stored)?, most, &mut found);
    }
    Ok(found)
}

fn whole(text: &str) -> Result<JsonValue<'_>, Error> {
    let mut reader = Reader::new(text);
    node(&mut reader).and_then(|node| reader.finish().map(|()| node)).map_err(|error| error.locate(text))
}

/// See [`canonical`](super::canonical).
pub(super) fn canonical(text: &str) -> Result<String, Error> {
    let mut spelled = String::with_capacity(text.len());
    spell(&whole(text)?, &mut spelled);
    Ok(spelled)
}

fn spell(value: &JsonValue<'_>, spelled: &mut String) {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    match &value.tree {
        Tree::Literal => spelled.push_str(value.raw),
        Tree::Number => match Decimal::parse(value.raw).and_then(|number| number.whole()) {
            Some(whole) => spelled.push_str(&whole.to_string()),
            None => spelled.push('#'),
        },
        Tree::Text(text) => spelled.push_str(&quoted(text)),
        Tree::Array(elements) => {
            spelled.push('[');
            for element in elements {
                spell(element, spelled);
                spelled.push(',');
            }
            spelled.push(']');
        }
        Tree::Object(members) => {
            spelled.push('{');
            for (key, member) in members {
                spelled.push_str(&quoted(key));
                spelled.push(':');
                spell(member, spelled);
                spelled.push(',');
            }
            spelled.push('}');
        }
    }
}

/// Recursive; the reader refuses more than [`MAX_DEPTH`](ingester_core::json::MAX_DEPTH) levels.
fn node<'a>(reader: &mut Reader<'a>) -> Result<JsonValue<'a>, Error> {
    let start = reader.offset();
    let tree = match reader.peek()? {
        TokenKind::Null | TokenKind::Bool => reader.skip().map(|()| Tree::Literal)?,
        TokenKind::Number => reader.number().map(|_| Tree::Number)?,
        TokenKind::String => Tree::Text(reader.string()?),
        TokenKind::Array => {
            reader.begin_array()?;
            let mut elements = Vec::new();
            while reader.next_element()? {
                elements.push(node(reader)?);
            }
            Tree::Array(elements)
        }
        TokenKind::Object => {
            reader.begin_object()?;
            let mut members = Vec::new();
            while let Some(key) = reader.next_key()? {
                members.push((key, node(reader)?));
            }
            // The sort is stable, so of equal keys the last one is kept.
            members.sort_by(|a, b| a.0.cmp(&b.0));
            members.reverse();
            members.dedup_by(|a, b| a.0 == b.0);
            members.reverse();
            Tree::Object(members)
        }
    };
    Ok(JsonValue { raw: reader.text().get(start..reader.offset()).unwrap_or_default(), tree })
}

fn walk<'a>(
    path: &mut String,
    wanted: &JsonValue<'a>,
    stored: &JsonValue<'a>,
    most: usize,
    found: &mut JsonDifferences<'a>,
) {
    let same = match (&wanted.tree, &stored.tree) {
        (Tree::Array(wanted), Tree::Array(stored)) => {
            for index in 0..wanted.len().max(stored.len()) {
                let back = path.len();
                path.push_str(&format!("[{index}]"));
                step(path, wanted.get(index), stored.get(index), most, found);
                path.truncate(back);
            }
            return;
        }
        (Tree::Object(wanted), Tree::Object(stored)) => {
            let mut left = wanted.iter().peekable();
            let mut right = stored.iter().peekable();
            while let Some(key) = match (left.peek(), right.peek()) {
                (Some((left, _)), Some((right, _))) => Some(left.min(right)),
                (left, right) => left.or(right).map(|(key, _)| key),
            } {
                let back = path.len();
                push_name(path, key);
                let of_key = |(other, _): &&(Cow<'_, str>, JsonValue<'_>)| other == key;
                let wanted = left.next_if(of_key);
                let stored = right.next_if(of_key);
                step(path, wanted.map(|(_, node)| node), stored.map(|(_, node)| node), most, found);
                path.truncate(back);
            }
            return;
        }
        (Tree::Text(wanted), Tree::Text(stored)) => wanted == stored,
        (Tree::Number, Tree::Number) => same_number(wanted.raw, stored.raw),
        (Tree::Literal, Tree::Literal) => wanted.raw == stored.raw,
        _ => false,
    };
    if !same {
        add(path, Some(wanted), Some(stored), most, found);
    }
}

fn step<'a>(
    path: &mut String,
    wanted: Option<&JsonValue<'a>>,
    stored: Option<&JsonValue<'a>>,
    most: usize,
    found: &mut JsonDifferences<'a>,
) {
    match (wanted, stored) {
        (Some(wanted), Some(stored)) => walk(path, wanted, stored, most, found),
        _ => add(path, wanted, stored, most, found),
    }
}

fn add<'a>(
    path: &str,
    wanted: Option<&JsonValue<'a>>,
    stored: Option<&JsonValue<'a>>,
    most: usize,
    found: &mut JsonDifferences<'a>,
) {
    if found.first.len() == most {
        found.more += 1;
    } else {
        let raw = |node: Option<&JsonValue<'a>>| node.map(|node| node.raw);
        found.first.push(JsonDifference { path: path.to_owned(), wanted: raw(wanted), stored: raw(stored) });
    }
}

/// Returns true if every database may store one of two numbers in place of the other. Both are as JSON writes them.
fn same_number(wanted: &str, stored: &str) -> bool {
    if wanted == stored {
        return true;
    }
    if let (Some(wanted), Some(stored)) = (Decimal::parse(wanted), Decimal::parse(stored))
        && wanted == stored
    {
        return true;
    }
    // Every database keeps integers of 64 bits exactly, so these are different.
    if is_integer(wanted) || is_integer(stored) {
        return false;
    }
    match (wanted.parse::<f64>(), stored.parse::<f64>()) {
        (Ok(wanted), Ok(stored)) => {
            wanted.is_finite()
                && stored.is_finite()
                && (wanted - stored).abs() <= ROUNDING * wanted.abs().max(stored.abs())
        }
        _ => false,
    }
}

/// The largest relative error of a server that reads a number. MySQL parses with RapidJSON in its default precision, which is up to
/// 3 units in the last place from the nearest DOUBLE (RapidJSON, "DOM", on `kParseFullPrecisionFlag`).
const ROUNDING: f64 = 3.0 * f64::EPSILON;

/// Returns true if the number is written as an integer and fits 64 bits, signed or unsigned.
fn is_integer(text: &str) -> bool {
    text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok()
}

/// An exact number: sign, digits without zeros at either end, and the power of ten that multiplies them.
#[derive(PartialEq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// `None` for an exponent beyond 64 bits.
    fn parse(text: &str) -> Option<Self> {
        let (text, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let short = digits.trim_end_matches('0');
        if short.is_empty() {
            return Some(Decimal { negative: false, digits: String::new(), exponent: 0 });
        }
        let exponent: i64 = exponent.parse().ok()?;
        let moved = i64::try_from(digits.len() - short.len()).ok()? - i64::try_from(fraction.len()).ok()?;
        Some(Decimal { negative, digits: short.to_owned(), exponent: exponent.checked_add(moved)? })
    }
}

impl Decimal {
    /// Returns the number if it is whole and fits 64 bits, signed or unsigned.
    fn whole(&self) -> Option<i128> {
        let power =
            10_i128.checked_pow(u32::try_from(self.exponent).ok().filter(|_| !self.digits.is_empty()).unwrap_or(0))?;
        if self.exponent < 0 && !self.digits.is_empty() {
            return None;
        }
        let digits: i128 = if self.digits.is_empty() { 0 } else { self.digits.parse().ok()? };
        let number = digits.checked_mul(power)?;
        let number = if self.negative { -number } else { number };
        (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::{canonical, differences, same_number};

    #[test]
    fn the_canonical_form_is_the_same_however_a_database_spells_it() {
        for (text, spelled) in [
            (r#"{"b": [1.0, 2e1, -0.0, 0.5], "a":{"x" : "\u00e9\n"}}"#, r##"{"a":{"x":"é\n",},"b":[1,20,0,#,],}"##),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("12345678901234567890123", "#"),
            ("1.5e300", "#"),
            ("1e-400", "#"),
            ("null", "null"),
        ] {
            assert_eq!(canonical(text).unwrap(), spelled);
        }
        assert!(canonical("{").is_err());
    }

    #[test]
    fn numbers_compare_by_value_however_they_are_written() {
        for (wanted, stored) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("1000", "1E+3"),
            ("0", "-0.0"),
            ("0", "0e99999999999999999999"),
            ("0.1", "1e-1"),
            ("-120.50", "-1.205e2"),
            ("9007199254740993", "9007199254740993.0"),
            // MySQL keeps a larger integer as a DOUBLE.
            ("12345678901234567890123", "1.2345678901234568e22"),
            ("0.1000000000000000055511151231257827", "0.1"),
            ("3.141592653589793238", "3.141592653589793"),
            ("0.1", "0.10000000000000003"),
        ] {
            assert!(same_number(wanted, stored), "{wanted} {stored}");
            assert!(same_number(stored, wanted), "{stored} {wanted}");
        }
    }

    #[test]
    fn different_numbers_are_told_apart() {
        for (wanted, stored) in [
            ("1", "2"),
            ("1", "-1"),
            ("1", "10"),
            ("1", "0.1"),
            ("1", "1.0000000000000002"),
            // As a DOUBLE, these two are equal.
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709551614"),
            ("9007199254740993", "9007199254740992.0"),
            ("0.1", "0.10000000000000012"),
            ("12345678901234567890123", "1.2345678901235e22"),
            ("1e999", "2e999"),
            ("1e999", "1e-999"),
        ] {
            assert!(!same_number(wanted, stored), "{wanted} {stored}");
            assert!(!same_number(stored, wanted), "{stored} {wanted}");
        }
    }

    #[test]
    fn the_first_paths_are_named_and_the_others_counted() {
        let wanted = r#"{"a":[1,2,3],"b":{"c.d":true},"e":1}"#;
        let stored = r#"{"b":{"c.d":null},"a":[1,5],"f":"x"}"#;
        let found = differences(wanted, stored, 4).unwrap();
        let shown: Vec<_> = found.first.iter().map(|found| (found.path.as_str(), found.wanted, found.stored)).collect();
        assert_eq!(
            shown,
            [
                ("a[1]", Some("2"), Some("5")),
                ("a[2]", Some("3"), None),
                (r#"b["c.d"]"#, Some("true"), Some("null")),
                ("e", Some("1"), None)
            ]
        );
        assert_eq!(found.more, 1);
    }

    #[test]
    fn invalid_json_is_reported_with_its_position() {
        let error = differences("{}", r#"{"a":}"#, 1).unwrap_err().to_string();
        assert!(error.starts_with("a: line 1 column 6"), "{error}");
        assert!(differences("[1]", "[1] 2", 1).is_err());
    }
}
