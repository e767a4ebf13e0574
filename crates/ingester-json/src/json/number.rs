//! Numbers out of their text, which is a JSON number's or a string's.

use std::any::type_name;
use std::str::FromStr;

use super::error::describe;
use super::{Error, scan};

/// Why a text is not the wanted number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    NotNumber,
    NotInteger,
    Range,
}

impl Fault {
    /// The error for the value at `start` whose text is `raw`.
    #[cold]
    pub(super) fn into_error<T>(self, start: usize, raw: &str) -> Error {
        let found = describe(raw);
        let reason = match self {
            Fault::NotNumber => format!("expected a number, found {found}"),
            Fault::NotInteger => format!("expected an integer, found {found}"),
            Fault::Range => format!("{found} is out of range for {}", type_name::<T>()),
        };
        Error::value(start, reason)
    }
}

fn is_number(text: &str) -> bool {
    scan::number_end(text.as_bytes(), 0) == Ok(text.len())
}

/// An integer as JSON writes it: no point, no exponent, no plus sign, no leading zeros.
#[inline]
pub(super) fn parse_integer<T: FromStr>(text: &str) -> Result<T, Fault> {
    // The unsigned types parse no sign, not even of zero.
    let text = if text == "-0" { "0" } else { text };
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    if !digits.iter().all(u8::is_ascii_digit) || matches!(digits, [] | [b'0', _, ..]) {
        return Err(if is_number(text) { Fault::NotInteger } else { Fault::NotNumber });
    }
    text.parse().map_err(|_| Fault::Range)
}

/// A float as JSON writes it, or one of the names that protobuf gives to what JSON cannot write.
#[inline]
pub(super) fn parse_float<T: FromStr + Into<f64> + Copy>(text: &str) -> Result<T, Fault> {
    let named = matches!(text, "NaN" | "Infinity" | "-Infinity");
    if !named && !is_number(text) {
        return Err(Fault::NotNumber);
    }
    match text.parse::<T>() {
        Ok(value) if named || value.into().is_finite() => Ok(value),
        _ => Err(Fault::Range),
    }
}
