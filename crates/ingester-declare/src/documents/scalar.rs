//! The meaning of unquoted YAML scalars, by the rules of the YAML reader inside kubectl.
//!
//! kubectl reads YAML with `sigs.k8s.io/yaml`, which follows YAML 1.1 as its `resolve` function has it, not the core
//! schema of YAML 1.2. Its words for true and false (`yes`, `on`, `y` and their opposites) and its octal numbers
//! (`0644`) are kept, because a manifest must mean here what it meant to the cluster. Two deviations, both towards
//! the text as written: a timestamp stays the string it is, and an integer above 64 bits keeps its digits.

use std::borrow::Cow;

/// A scalar as JSON has it.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// JSON text of a number.
    Number(Cow<'a, str>),
    /// A string, not escaped yet.
    Text(&'a str),
    /// `.inf`, `.nan`: not in JSON.
    NotFinite,
}

/// The meaning of a plain scalar without a tag.
pub(super) fn resolve(text: &str) -> Scalar<'_> {
    match text.as_bytes().first() {
        None => Scalar::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => match text {
            "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Bool(true),
            "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Scalar::Bool(false),
            "~" | "null" | "Null" | "NULL" => Scalar::Null,
            _ => Scalar::Text(text),
        },
        Some(b'.' | b'+' | b'-' | b'0'..=b'9') => match text.trim_start_matches(['+', '-']) {
            ".inf" | ".Inf" | ".INF" if text.len() <= 5 => Scalar::NotFinite,
            ".nan" | ".NaN" | ".NAN" if text.len() == 4 => Scalar::NotFinite,
            _ => number(text).map_or(Scalar::Text(text), Scalar::Number),
        },
        Some(_) => Scalar::Text(text),
    }
}

/// JSON text of the number which `text` is, if it is one.
fn number(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    // The usual case first: digits that JSON reads as they stand.
    if digits.iter().all(u8::is_ascii_digit) && matches!(digits, [b'1'..=b'9', ..] | [b'0']) && text != "-0" {
        return Some(Cow::Borrowed(text));
    }
    let plain: Cow<'_, str> =
        if text.contains('_') && !text.starts_with('.') { text.replace('_', "").into() } else { text.into() };
    integer(&plain).or_else(|| float(&plain)).map(Cow::Owned)
}

/// `+5`, `0x1F`, `0b101`, `0o17` and `017`.
fn integer(text: &str) -> Option<String> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let prefix = digits.get(..2).map(str::to_ascii_lowercase);
    let (radix, digits) = match prefix.as_deref() {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    if radix == 10 {
        // No leading zero can be left here; the text has JSON's digits, however many.
        return Some(if digits == "0" { "0".to_owned() } else { format!("{sign}{digits}") });
    }
    let value = u128::from_str_radix(digits, radix).ok()?;
    Some(if value == 0 { "0".to_owned() } else { format!("{sign}{value}") })
}

/// `1.5`, `.5`, `5.`, `1e3`; also `089`, which is not an octal number.
fn float(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let well_formed = all_digits(whole)
        && fraction.is_none_or(all_digits)
        && !(whole.is_empty() && fraction.is_none_or(str::is_empty))
        && exponent.is_none_or(|exponent| !exponent.is_empty() && all_digits(exponent));
    if !well_formed {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    // Beyond the range of a double kubectl leaves a string.
    if !value.is_finite() {
        return None;
    }
    // Whole numbers without a fraction, as Go prints them: an integer field accepts `1.0`.
    Some(if value.fract() == 0.0 && value.abs() < 1e21 { format!("{value:.0}") } else { format!("{value:?}") })
}
