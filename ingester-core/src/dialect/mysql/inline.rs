//! Statements with their parameters' values written into the text.

use crate::dialect::{Param, Sql};
use crate::value::Value;

pub(super) fn in_one_text(begin: &str, statements: &[(Sql, Vec<Param<'_>>)]) -> Sql {
    let bytes: usize =
        statements.iter().map(|(sql, params)| sql.as_str().len() + params.iter().map(room).sum::<usize>()).sum();
    let mut text = String::with_capacity(bytes + 128);
    text.push_str(begin);
    for (sql, params) in statements {
        text.push_str("; ");
        // No name has a question mark in it, so each stands for a parameter.
        let mut pieces = sql.as_str().split('?');
        text.push_str(pieces.next().unwrap_or_default());
        for (piece, param) in pieces.zip(params) {
            literal(&mut text, *param);
            text.push_str(piece);
        }
    }
    text.push_str("; COMMIT");
    Sql::new(text)
}

/// About how many bytes a parameter takes as text.
fn room(param: &Param<'_>) -> usize {
    match param {
        Param::Value(Value::Bytes(bytes)) => 2 * bytes.len() + 3,
        param => param.bytes() + 32,
    }
}

fn literal(out: &mut String, param: Param<'_>) {
    use std::fmt::Write as _;
    // Writing into a string does not fail.
    let _ = match param {
        Param::Value(Value::Null) | Param::Null => out.write_str("NULL"),
        Param::Value(Value::Bool(value)) => write!(out, "{}", u8::from(*value)),
        Param::Value(Value::Int(value)) => write!(out, "{value}"),
        // With an exponent it is read as a double, without as an exact decimal.
        Param::Value(Value::Double(value)) => write!(out, "{value:e}"),
        Param::Value(Value::UInt(value)) => write!(out, "{value}"),
        Param::Value(Value::Time(value)) => write!(out, "'{}'", value.sql()),
        Param::Value(Value::Text(text)) => quoted(out, text),
        Param::Value(Value::Bytes(bytes)) => hexadecimal(out, bytes),
        Param::Text(text) => quoted(out, text),
        Param::Int(value) => write!(out, "{value}"),
        Param::UInt(value) => write!(out, "{value}"),
        Param::Time(value) => write!(out, "'{}'", value.sql()),
    };
}

/// By the rules of the mode that the [session](super::SESSION) sets, in which a backslash escapes what follows, and of utf8mb4, in which neither it
/// nor a quote is ever a part of another character; the store takes no URL that names another.
fn quoted(out: &mut String, text: &str) -> std::fmt::Result {
    out.push('\'');
    let mut rest = text;
    while let Some(place) = rest.bytes().position(|byte| matches!(byte, b'\'' | b'\\' | 0)) {
        out.push_str(&rest[..place]);
        out.push_str(match rest.as_bytes()[place] {
            b'\'' => "\\'",
            b'\\' => "\\\\",
            _ => "\\0",
        });
        rest = &rest[place + 1..];
    }
    out.push_str(rest);
    out.push('\'');
    Ok(())
}

fn hexadecimal(out: &mut String, bytes: &[u8]) -> std::fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("x'");
    let mut digits = [0; 128];
    for chunk in bytes.chunks(digits.len() / 2) {
        for (pair, byte) in digits.chunks_exact_mut(2).zip(chunk) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        out.push_str(std::str::from_utf8(&digits[..2 * chunk.len()]).map_err(|_| std::fmt::Error)?);
    }
    out.push('\'');
    Ok(())
}
