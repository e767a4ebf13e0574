//! Field selectors: `spec.owner.name=ada,status.phase in (Failed, Lost),spec.replicas>=3`.

use super::{SelectorError, advice_about_case};
use crate::query::{Filter, Test};
use ingester_core::place::{Place, shortened};
use ingester_core::schema::{FieldOperator, FieldTerm};
use ingester_core::value::Value;
use std::collections::BTreeSet;

/// The quotes that people write around a value, as in SQL and in shells.
const QUOTES: [(char, char); 4] = [('\'', '\''), ('"', '"'), ('“', '”'), ('‘', '’')];

/// Who evaluates a field selector, which decides about its operators and the escapes in its values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grammar {
    /// The ingester: there are lists and ranges, and quotes around a value are a mistake.
    Ingester,
    /// The API server: there is equality alone, and quotes are characters like others.
    Kubernetes,
}

impl Grammar {
    /// Returns true if a `\` before this character stands for the character.
    fn escapes(self, character: char, in_list: bool) -> bool {
        match character {
            '\\' | ',' | '=' => true,
            ')' => in_list,
            _ => self == Grammar::Ingester && is_quote(character),
        }
    }
}

fn is_quote(character: char) -> bool {
    QUOTES.iter().any(|(open, close)| [*open, *close].contains(&character))
}

/// A mistake in a term: its place in the selector, and the message.
type Mistake = (usize, String);

/// Parses a field selector: terms between commas, all of which must hold.
///
/// | term | holds for objects |
/// |---|---|
/// | `field=value`, `field==value` | whose field has the value |
/// | `field!=value` | whose field has another value, or none |
/// | `field in (a, b)` | whose field has one of the values |
/// | `field notin (a, b)` | whose field has another value, or none |
/// | `field=`, `field!=` | whose field is empty or has no value; the others |
/// | `field<value`, `field<=value`, `field>value`, `field>=value` | whose field has a value in this range |
///
/// Kubernetes has neither lists nor ranges. In a value, `\,`, `\=` and `\\` stand for `,`, `=` and `\`, and in a list `\)` for `)`. Spaces
/// belong to a value, but not those at its ends in a list. `<` and `>` belong to it, too, because an operator is the first one of a term.
/// A quote at the beginning or the end of a value is a mistake; `\"` and `\'` are quotes that belong to it.
///
/// # Errors
/// For everything that the API server refuses except lists and ranges, as far as the text shows it: a missing operator, another escape,
/// a `=` that is not escaped, a field without a name or with a space in it. Also for a range without a value, an empty value in a list, and
/// a value that begins or ends with a quote.
pub fn parse_field_selector(text: &str) -> Result<Vec<Filter>, SelectorError> {
    parse(text, Grammar::Ingester)
}

/// Parses a field selector that is sent to an API server. Quotes belong to a value, and only `\,`, `\=` and `\\` are escapes.
///
/// # Errors
/// For everything that the API server refuses, as far as the text shows it: also for lists and ranges.
pub fn parse_kubernetes_field_selector(text: &str) -> Result<Vec<Filter>, SelectorError> {
    parse(text, Grammar::Kubernetes)
}

fn parse(text: &str, grammar: Grammar) -> Result<Vec<Filter>, SelectorError> {
    let mut filters = Vec::new();
    let mut from = 0;
    while from < text.len() {
        let term = FieldTerm::cut(text, from);
        if !term.is_empty() {
            let filter = filter(text, term, grammar);
            filters.push(filter.map_err(|(at, what)| SelectorError {
                grammar: "field selector",
                place: Place::new(text, at),
                what,
            })?);
        }
        from = term.end + 1;
    }
    Ok(filters)
}

fn filter(text: &str, term: FieldTerm, grammar: Grammar) -> Result<Filter, Mistake> {
    let Some(operator) = term.operator else {
        let found = shortened(&text[term.begin..term.end]);
        let operators = match grammar {
            Grammar::Ingester => FieldTerm::OPERATORS,
            Grammar::Kubernetes => "`=`, `==` or `!=`",
        };
        let written = &text[term.begin..term.end];
        let words = written.split_once(char::is_whitespace).map_or("", |(_, words)| words);
        let advice = advice_about_case(words.split('(').next().unwrap_or_default());
        return Err((term.end, format!("expected {operators} behind `{found}`{advice}")));
    };
    let field = &text[term.begin..term.field_end];
    if field.is_empty() {
        return Err((term.begin, "expected the name of a field".into()));
    }
    if let Some(at) = field.find(|c: char| c.is_whitespace() || c.is_control()) {
        let operator = if term.is_list() { "in" } else { "" };
        let advice = advice_about_case(&format!("{} {operator}", &field[at..]));
        return Err((term.begin + at, format!("the name of a field has no spaces{advice}")));
    }
    if grammar == Grammar::Kubernetes
        && let Some(what) = unknown_to_kubernetes(operator, field)
    {
        return Err((term.field_end, what));
    }
    let (test, holds) = match operator {
        FieldOperator::In | FieldOperator::NotIn => (list(text, term)?, operator == FieldOperator::In),
        _ => comparison(operator, value(text, (term.value, term.value_end), grammar, false)?)
            .ok_or_else(|| (term.end, format!("expected a value after `{}`", &text[term.field_end..term.end])))?,
    };
    let filter = Filter::field(field.to_owned(), test);
    Ok(if holds { filter } else { filter.negated() })
}

/// The mistake in an operator that the API server does not have.
fn unknown_to_kubernetes(operator: FieldOperator, field: &str) -> Option<String> {
    match operator {
        FieldOperator::Equal | FieldOperator::NotEqual => None,
        FieldOperator::In | FieldOperator::NotIn => Some(format!(
            "the API server has no `in` and `notin` for fields: test `{field}` with `=`, or several times with `!=`"
        )),
        FieldOperator::Less | FieldOperator::LessOrEqual | FieldOperator::Greater | FieldOperator::GreaterOrEqual => {
            Some(format!("the API server has no ranges: test `{field}` with `=` or `!=`"))
        }
    }
}

/// The test of one value, and whether it must hold. `None` for a range without a value.
fn comparison(operator: FieldOperator, value: String) -> Option<(Test, bool)> {
    let equal = |value: String| if value.is_empty() { Test::Empty } else { Test::Equal(Value::text(value)) };
    let range: fn(Value) -> Test = match operator {
        FieldOperator::Equal => return Some((equal(value), true)),
        FieldOperator::NotEqual => return Some((equal(value), false)),
        FieldOperator::Less => Test::Less,
        FieldOperator::LessOrEqual => Test::LessOrEqual,
        FieldOperator::Greater => Test::Greater,
        FieldOperator::GreaterOrEqual => Test::GreaterOrEqual,
        FieldOperator::In | FieldOperator::NotIn => return None,
    };
    (!value.is_empty()).then(|| (range(Value::text(value)), true))
}

/// The values between parentheses, each one once.
fn list(text: &str, term: FieldTerm) -> Result<Test, Mistake> {
    if let Some(at) = term.list_fault(text) {
        let expected = if at == text.len() { "expected `)`" } else { "expected `,` or the end behind the list" };
        return Err((at, expected.into()));
    }
    let mut values = BTreeSet::new();
    let mut from = term.value;
    for written in split_unescaped(&text[term.value..term.value_end]) {
        let bare = written.trim();
        let begin = from + (written.len() - written.trim_start().len());
        if bare.is_empty() {
            let what = "a list has no empty values: `field=` finds objects whose field is empty or has no value";
            return Err((begin, what.into()));
        }
        values.insert(value(text, (begin, begin + bare.len()), Grammar::Ingester, true)?);
        from += written.len() + 1;
    }
    Ok(Test::In(values.into_iter().map(Value::text).collect()))
}

/// The texts between commas without a `\` before them.
fn split_unescaped(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |character| {
        let is_end = character == ',' && !escaped;
        escaped = character == '\\' && !escaped;
        is_end
    })
}

/// The value between these two bytes of the text.
fn value(text: &str, (begin, end): (usize, usize), grammar: Grammar, in_list: bool) -> Result<String, Mistake> {
    let written = &text[begin..end];
    if grammar == Grammar::Ingester
        && let Some(what) = quote_fault(written)
    {
        return Err((begin, what));
    }
    let mut value = String::with_capacity(written.len());
    let mut characters = written.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, meant)) if grammar.escapes(meant, in_list) => value.push(meant),
                _ if in_list => return Err((begin + at, r"expected `\,`, `\)`, `\=` or `\\`".into())),
                _ => return Err((begin + at, r"expected `\,`, `\=` or `\\`".into())),
            },
            '=' => return Err((begin + at, r"a `=` in a value is written `\=`".into())),
            _ => value.push(character),
        }
    }
    Ok(value)
}

/// The mistake in a value that begins or ends with a quote. One quote alone is a mistake, too: commas divide what is between quotes, so
/// `('a, b')` has the values `'a` and `b'`.
fn quote_fault(written: &str) -> Option<String> {
    let value = written.trim();
    // A quote behind an odd number of `\` is escaped.
    let escapes = |before: &str| before.len() - before.trim_end_matches('\\').len();
    let last = value.char_indices().next_back().filter(|(at, _)| escapes(&value[..*at]) % 2 == 0);
    let first = value.chars().next().filter(|c| is_quote(*c));
    let last = last.map(|(_, c)| c).filter(|c| is_quote(*c));
    let quote = first.or(last)?;
    let inside = |(open, close): &(char, char)| value.strip_prefix(*open)?.strip_suffix(*close);
    if last.is_some()
        && let Some(bare) = QUOTES.iter().find_map(inside)
    {
        let instead = if bare.is_empty() { String::new() } else { format!(", `{}`", shortened(bare)) };
        let value = shortened(value);
        return Some(format!("`{value}` is in quotes, which belong to the value: write it without them{instead}"));
    }
    let place = if first.is_some() { "begins" } else { "ends" };
    let value = shortened(value);
    Some(format!(
        "`{value}` {place} with a quote, but values are not quoted: leave it out, or write `\\{quote}` if it belongs to the value"
    ))
}
