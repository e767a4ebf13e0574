//! Field selectors: `spec.owner.name=ada,status.phase!=Failed`.

use super::SelectorError;
use crate::query::{Filter, Test};
use ingester_core::place::{Place, shortened};
use ingester_core::value::Value;

/// Parses a field selector: comparisons between commas, all of which must hold.
///
/// | comparison | holds for objects |
/// |---|---|
/// | `field=value`, `field==value` | whose field has the value |
/// | `field!=value` | whose field has another value, or none |
/// | `field=`, `field!=` | whose field is empty or has no value; the others |
///
/// In a value, `\,`, `\=` and `\\` stand for `,`, `=` and `\`. Spaces belong to it.
///
/// # Errors
/// What the API server refuses, as far as it follows from the text: an operator that is missing, an escape that is none of these
/// three, a `=` that is not escaped, a field without a name or with a space in it.
pub fn parse_field_selector(text: &str) -> Result<Vec<Filter>, SelectorError> {
    let mut filters = Vec::new();
    let mut from = 0;
    while from < text.len() {
        let end = from + term_length(&text[from..]);
        if end > from {
            filters.push(comparison(text, from, end)?);
        }
        from = end + 1;
    }
    Ok(filters)
}

/// Up to the next comma that is not escaped.
fn term_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// The comparison between these two bytes of the text.
fn comparison(text: &str, from: usize, end: usize) -> Result<Filter, SelectorError> {
    let fault =
        |at: usize, what: String| SelectorError { grammar: "field selector", place: Place::new(text, at), what };
    let term = &text[from..end];
    let Some(sign) = term.find('=') else {
        return Err(fault(end, format!("expected `=`, `==` or `!=` behind `{}`", shortened(term))));
    };
    let (name, negated) = match term[..sign].strip_suffix('!') {
        Some(name) => (name, true),
        None => (&term[..sign], false),
    };
    if name.is_empty() {
        return Err(fault(from, "expected the name of a field".into()));
    }
    if let Some(at) = name.find(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(fault(from + at, "the name of a field has no spaces".into()));
    }
    let behind = sign + if !negated && term[sign + 1..].starts_with('=') { 2 } else { 1 };
    let value = unescaped(&term[behind..]).map_err(|(at, what)| fault(from + behind + at, what.into()))?;
    let test = if value.is_empty() { Test::Empty } else { Test::Equal(Value::text(value)) };
    let filter = Filter::field(name.to_owned(), test);
    Ok(if negated { filter.negated() } else { filter })
}

/// The value that is meant; or where it is wrong, and what is wrong.
fn unescaped(written: &str) -> Result<String, (usize, &'static str)> {
    let mut value = String::with_capacity(written.len());
    let mut characters = written.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, meant @ ('\\' | ',' | '='))) => value.push(meant),
                _ => return Err((at, r"expected `\,`, `\=` or `\\`")),
            },
            '=' => return Err((at, r"a `=` in a value is written `\=`")),
            _ => value.push(character),
        }
    }
    Ok(value)
}
