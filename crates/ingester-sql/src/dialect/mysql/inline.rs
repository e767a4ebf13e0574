//! Writes statements with the values of their parameters in them.

use crate::dialect::{Param, Sql};
use ingester_core::value::Value;

/// A statement with the values of its parameters in it, after a comment with `mark`, which only this program has. So another
/// connection finds it among the running statements.
pub fn marked(mark: &str, sql: &Sql, params: &[Param<'_>]) -> Sql {
    let mut text = format!("/* {mark} */ ");
    text.reserve(sql.as_str().len() + params.iter().map(room).sum::<usize>());
    write(&mut text, sql, params);
    Sql::new(text)
}

pub(super) fn write(text: &mut String, sql: &Sql, params: &[Param<'_>]) {
    // No name contains a question mark, so each is a parameter.
    let mut pieces = sql.as_str().split('?');
    text.push_str(pieces.next().unwrap_or_default());
    for (piece, param) in pieces.zip(params) {
        literal(text, param);
        text.push_str(piece);
    }
}

/// About how many bytes a parameter takes as text.
pub(super) fn room(param: &Param<'_>) -> usize {
    match param {
        Param::Value(Value::Bytes(bytes)) => 2 * bytes.len() + 3,
        param => param.bytes() + 32,
    }
}

fn literal(out: &mut String, param: &Param<'_>) {
    use std::fmt::Write as _;
    // Writing into a string does not fail.
    let _ = match param {
        Param::Value(Value::Null) | Param::Null => out.write_str("NULL"),
        Param::Value(Value::Bool(value)) => write!(out, "{}", u8::from(*value)),
        Param::Value(Value::Int(value)) => write!(out, "{value}"),
        // MySQL reads a number with an exponent as a DOUBLE, and one without as an exact DECIMAL.
        Param::Value(Value::Double(value)) => write!(out, "{value:e}"),
        Param::Value(Value::UInt(value)) => write!(out, "{value}"),
        Param::Value(Value::Time(value)) => write!(out, "'{}'", value.sql()),
        Param::Value(Value::Text(text)) => quoted(out, text),
        Param::Value(Value::Bytes(bytes)) => hexadecimal(out, bytes),
        Param::Text(text) => quoted(out, text),
        Param::Int(value) => write!(out, "{value}"),
        Param::UInt(value) => write!(out, "{value}"),
        Param::Time(value) => write!(out, "'{}'", value.sql()),
        // There are none: every value is a parameter.
        Param::Texts(_) | Param::Array(..) => out.write_str("NULL"),
    };
}

/// Quotes text. The mode of the [session](super::session::SESSION) makes a backslash the escape character. In utf8mb4, neither a backslash nor
/// a quote is ever part of another character, and the store accepts no URL with another character set.
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
