//! Writes statements as one text, with the values of the parameters in it.

use crate::dialect::{Param, Sql, TransactionForm};
use ingester_core::value::Value;
use std::fmt::Write as _;

/// A text of several statements is itself one transaction: if one of them fails, all of them are rolled back, and none is open
/// afterwards (PostgreSQL documentation, "Message Flow", "Multiple Statements in a Simple Query").
pub(super) fn in_one_text(form: TransactionForm, statements: &[(Sql, Vec<Param<'_>>)]) -> Sql {
    let bytes: usize =
        statements.iter().map(|(sql, params)| sql.as_str().len() + params.iter().map(room).sum::<usize>()).sum();
    let mut text = String::with_capacity(bytes + 16);
    for (place, (sql, params)) in statements.iter().enumerate() {
        if place > 0 {
            text.push_str("; ");
        }
        write(&mut text, sql.as_str(), params);
    }
    if form == TransactionForm::Last {
        text.push_str("; COMMIT");
    }
    Sql::new(text)
}

/// About how many bytes a parameter takes as text.
fn room(param: &Param<'_>) -> usize {
    match param {
        Param::Value(Value::Bytes(bytes)) => 2 * bytes.len() + 16,
        Param::Array(_, params) => params.iter().map(|param| room(param) + 2).sum::<usize>() + 16,
        param => param.bytes() + 32,
    }
}

/// A statement with the values of its parameters. Nothing else in our statements has a dollar sign before a digit.
fn write(text: &mut String, sql: &str, params: &[Param<'_>]) {
    let mut rest = sql;
    while let Some(place) = rest.find('$') {
        let before = &rest[..place];
        let behind = &rest[place + 1..];
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        text.push_str(before);
        match behind[..digits].parse::<usize>().ok().and_then(|number| params.get(number.checked_sub(1)?)) {
            Some(param) => literal(text, param),
            None => text.push_str(&rest[place..place + 1 + digits]),
        }
        rest = &behind[digits..];
    }
    text.push_str(rest);
}

fn literal(out: &mut String, param: &Param<'_>) {
    // Writing into a string does not fail.
    let _ = match param {
        Param::Value(Value::Null) | Param::Null => out.write_str("NULL"),
        Param::Value(Value::Bool(value)) => out.write_str(if *value { "TRUE" } else { "FALSE" }),
        Param::Value(Value::Int(value)) | Param::Int(value) => number(out, *value),
        Param::Value(Value::UInt(value)) | Param::UInt(value) => write!(out, "{value}"),
        // As text: a number would be exact, and then rounded.
        Param::Value(Value::Double(value)) => write!(out, "'{value:e}'"),
        Param::Value(Value::Time(value)) | Param::Time(value) => write!(out, "'{}+00'", value.sql()),
        Param::Value(Value::Text(text)) => quoted(out, text),
        Param::Text(text) => quoted(out, text),
        Param::Value(Value::Bytes(bytes)) => hexadecimal(out, bytes),
        Param::Texts(texts) => array(out, texts.iter().map(|text| Param::Text(text))),
        Param::Array(_, params) => array(out, params.iter().cloned()),
    };
}

/// Without the parentheses, a minus sign would be an operator after another one.
fn number(out: &mut String, value: i64) -> std::fmt::Result {
    if value < 0 { write!(out, "({value})") } else { write!(out, "{value}") }
}

/// One constant for a whole array. `ARRAY['a', 'b']` has one for each element, and takes the server twice as long to read.
fn array<'a>(out: &mut String, elements: impl Iterator<Item = Param<'a>>) -> std::fmt::Result {
    out.push_str("'{");
    for (place, element) in elements.enumerate() {
        if place > 0 {
            out.push(',');
        }
        match &element {
            Param::Value(Value::Text(text)) => quoted_element(out, text),
            Param::Text(text) => quoted_element(out, text),
            Param::Value(Value::Bytes(bytes)) => {
                out.push_str("\"\\\\x");
                digits(out, bytes);
                out.push('"');
            }
            Param::Value(Value::Time(time)) | Param::Time(time) => write!(out, "\"{}+00\"", time.sql())?,
            Param::Value(Value::Double(value)) => write!(out, "{value:e}")?,
            Param::Value(Value::Int(value)) | Param::Int(value) => write!(out, "{value}")?,
            element => literal(out, element),
        }
    }
    out.push_str("}'");
    Ok(())
}

/// Quotes text as an element of an array (PostgreSQL documentation, "Arrays", "Array Input and Output Syntax").
fn quoted_element(out: &mut String, text: &str) {
    if text.contains('\0') {
        return out.push_str("NULL");
    }
    out.push('"');
    let mut rest = text;
    while let Some(place) = rest.find(['"', '\\', '\'']) {
        let (before, behind) = rest.split_at(place);
        out.push_str(before);
        // The constant around it has its own quotes.
        out.push(if behind.starts_with('\'') { '\'' } else { '\\' });
        out.push_str(&behind[..1]);
        rest = &behind[1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Quotes text, where a backslash is an ordinary character (`standard_conforming_strings`, which the session sets). Text with NUL
/// cannot be stored.
fn quoted(out: &mut String, text: &str) -> std::fmt::Result {
    if text.contains('\0') {
        return out.write_str("NULL");
    }
    out.push('\'');
    for (place, piece) in text.split('\'').enumerate() {
        if place > 0 {
            out.push_str("''");
        }
        out.push_str(piece);
    }
    out.push('\'');
    Ok(())
}

fn hexadecimal(out: &mut String, bytes: &[u8]) -> std::fmt::Result {
    out.push_str("'\\x");
    digits(out, bytes);
    out.push('\'');
    Ok(())
}

fn digits(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}
