//! Field selectors: `spec.owner.name=ada,status.phase!=Failed,spec.replicas>=3`.

use super::SelectorError;
use crate::query::{Filter, Test};
use ingester_core::place::{Place, shortened};
use ingester_core::value::Value;

const OPERATORS: &str = "`=`, `==`, `!=`, `<`, `<=`, `>` or `>=`";

/// Parses a field selector: comparisons between commas, all of which must hold.
///
/// | comparison | holds for objects |
/// |---|---|
/// | `field=value`, `field==value` | whose field has the value |
/// | `field!=value` | whose field has another value, or none |
/// | `field=`, `field!=` | whose field is empty or has no value; the others |
/// | `field<value`, `field<=value`, `field>value`, `field>=value` | whose field has a value in this range; Kubernetes has no ranges |
///
/// In a value, `\,`, `\=` and `\\` stand for `,`, `=` and `\`. Spaces belong to it, and so do `<` and `>`, because an operator is the
/// first one of a comparison.
///
/// # Errors
/// For everything that the API server refuses except ranges, as far as the text shows it: a missing operator, an escape other than these
/// three, a `=` that is not escaped, a field without a name or with a space in it. Also for a range without a value.
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
    let Some((begin, operator)) = operator(term) else {
        return Err(fault(end, format!("expected {OPERATORS} behind `{}`", shortened(term))));
    };
    let name = &term[..begin];
    if name.is_empty() {
        return Err(fault(from, "expected the name of a field".into()));
    }
    if let Some(at) = name.find(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(fault(from + at, "the name of a field has no spaces".into()));
    }
    let behind = begin + operator.len();
    let value = unescaped(&term[behind..]).map_err(|(at, what)| fault(from + behind + at, what.into()))?;
    let filter = |test| Filter::field(name.to_owned(), test);
    let range: fn(Value) -> Test = match (operator, value.is_empty()) {
        ("=" | "==", true) => return Ok(filter(Test::Empty)),
        ("!=", true) => return Ok(filter(Test::Empty).negated()),
        ("=" | "==", false) => return Ok(filter(Test::Equal(Value::text(value)))),
        ("!=", false) => return Ok(filter(Test::Equal(Value::text(value))).negated()),
        (_, true) => return Err(fault(end, format!("expected a value after `{operator}`"))),
        ("<", false) => Test::Less,
        ("<=", false) => Test::LessOrEqual,
        (">", false) => Test::Greater,
        (_, false) => Test::GreaterOrEqual,
    };
    Ok(filter(range(Value::text(value))))
}

/// Returns the first operator of a comparison, and where it begins. Text in brackets belongs to the key of a map: `limits["a<b"]`.
fn operator(term: &str) -> Option<(usize, &str)> {
    let mut in_brackets = false;
    let sign = term.bytes().position(|byte| {
        match byte {
            b'[' => in_brackets = true,
            b']' => in_brackets = false,
            _ => {}
        }
        !in_brackets && matches!(byte, b'=' | b'<' | b'>')
    })?;
    let is_negated = term[..sign].ends_with('!') && term[sign..].starts_with('=');
    let is_longer = !is_negated && term[sign + 1..].starts_with('=');
    let begin = sign - usize::from(is_negated);
    Some((begin, &term[begin..=sign + usize::from(is_longer)]))
}

/// The value; or the place of the mistake, and the mistake.
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
