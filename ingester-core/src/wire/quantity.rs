//! Kubernetes' quantities (`500m`, `128Mi`, `1e3`) as exact integers.
//!
//! A quantity has at most three decimal places and is at most 2^63-1 (the API's documentation of `Quantity`), so thousandths lose
//! nothing: `0.5` CPUs are 500. BIGINT is exact on every database, and can be summed and compared. DECIMAL is not there in SQLite, and a
//! DOUBLE is not exact. Bytes and counts are better kept in whole units, by [`units`].

use crate::schema::{Shape, SqlType};
use crate::value::{ColumnValue, Scalar, Value, Values, class};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// A type whose values are quantities, as text.
pub trait QuantityText {
    /// The text.
    fn quantity(&self) -> &str;
}

impl QuantityText for Quantity {
    fn quantity(&self) -> &str {
        &self.0
    }
}

impl QuantityText for str {
    fn quantity(&self) -> &str {
        self
    }
}

impl QuantityText for String {
    fn quantity(&self) -> &str {
        self
    }
}

/// A quantity in thousandths: a column of type BIGINT. An object with one of 9.2 * 10^15 or more (8 PiB) does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thousandths(i128);

impl ColumnValue for Thousandths {
    const SHAPE: Shape = Shape::scalar(SqlType::BigInt);

    fn write(&self, out: &mut Values) {
        out.push(match i64::try_from(self.0) {
            Ok(number) => Value::Int(number),
            Err(_) if self.0 < 0 => Value::Int(i64::MIN),
            // The row's check refuses it, and names the column.
            Err(_) => Value::UInt(u64::try_from(self.0).unwrap_or(u64::MAX)),
        });
    }
}

impl Scalar for Thousandths {
    type Class = class::Integers;
}

/// For `#[index(with = quantity::thousandths)]`: a CPU of `0.5` or `500m` is 500. `None` for a text that is no quantity. What is finer is
/// rounded away from zero, as Kubernetes does.
pub fn thousandths<Q: QuantityText + ?Sized>(quantity: &Q) -> Option<Thousandths> {
    parse(quantity.quantity()).map(Thousandths)
}

/// For `#[index(with = quantity::units)]`: `128Mi` is 134217728. `None` for a text that is no quantity. Fractions are rounded away from
/// zero, as Kubernetes does.
pub fn units<Q: QuantityText + ?Sized>(quantity: &Q) -> Option<i64> {
    let thousandths = parse(quantity.quantity())?;
    Some(i64::try_from(divided(thousandths, 1000)).unwrap_or(if thousandths < 0 { i64::MIN } else { i64::MAX }))
}

/// The largest quantity, in thousandths.
const MOST: i128 = i64::MAX as i128 * 1000;

/// In thousandths.
fn parse(text: &str) -> Option<i128> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let (binary, decimal) = scale(suffix)?;
    // More digits than any quantity has, and few enough for the products below.
    let most = if binary > 1 { 20 } else { 24 };
    // Of the digits that are cut off only matters whether there are some that are not 0: they round up.
    let digits = whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0');
    let (mut mantissa, mut dropped, mut inexact) = (0_i128, 0_i32, false);
    for (place, digit) in digits.enumerate() {
        let digit = i128::from(digit - b'0');
        if place < most {
            mantissa = mantissa * 10 + digit;
        } else {
            dropped += 1;
            inexact |= digit != 0;
        }
    }
    let exponent = decimal.saturating_add(3 + dropped).saturating_sub(i32::try_from(fraction.len()).ok()?);
    let mantissa = (mantissa + i128::from(inexact)).checked_mul(binary);
    let thousandths = mantissa.and_then(|mantissa| match exponent {
        0.. => 10_i128.checked_pow(exponent.unsigned_abs())?.checked_mul(mantissa),
        _ => Some(divided(mantissa, 10_i128.checked_pow(exponent.unsigned_abs()).unwrap_or(i128::MAX))),
    });
    // 0 of any size is 0.
    let zero = mantissa == Some(0);
    let thousandths = if zero { 0 } else { thousandths.unwrap_or(MOST).min(MOST) };
    Some(if negative { -thousandths } else { thousandths })
}

/// What a suffix multiplies by, and the power of ten that it multiplies by.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    let binary = |power: u32| Some((1024_i128.pow(power), 0));
    match suffix {
        "n" => Some((1, -9)),
        "u" => Some((1, -6)),
        "m" => Some((1, -3)),
        "" => Some((1, 0)),
        "k" => Some((1, 3)),
        "M" => Some((1, 6)),
        "G" => Some((1, 9)),
        "T" => Some((1, 12)),
        "P" => Some((1, 15)),
        "E" => Some((1, 18)),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => Some((1, suffix.strip_prefix(['e', 'E'])?.parse().ok()?)),
    }
}

/// Rounded away from zero.
fn divided(number: i128, by: i128) -> i128 {
    let quotient = number / by;
    if number % by == 0 { quotient } else { quotient + number.signum() }
}

#[cfg(test)]
mod tests {
    use super::{MOST, parse, units};

    #[test]
    fn quantities_are_exact_to_the_thousandth() {
        for (text, expected) in [
            ("0", 0),
            ("-0", 0),
            ("1", 1_000),
            ("+1.5", 1_500),
            ("500m", 500),
            ("0.5", 500),
            (".5", 500),
            ("5.", 5_000),
            ("-250m", -250),
            ("100u", 1),
            ("1n", 1),
            ("0n", 0),
            ("-1n", -1),
            ("1.0000001", 1_001),
            ("0.1", 100),
            ("12k", 12_000_000),
            ("128Mi", 134_217_728_000),
            ("1.5Gi", 1_610_612_736_000),
            ("0.5Ki", 512_000),
            ("0.500000000000000000000000000Ei", 576_460_752_303_423_488_000),
            ("1e3", 1_000_000),
            ("1E3", 1_000_000),
            ("1E-3", 1),
            ("1E", 1_000_000_000_000_000_000_000),
            ("12e+2", 1_200_000),
            ("8Ei", MOST),
            ("99999999999999999999999999999999999999999999999999", MOST),
            ("-1e99999", -MOST),
            ("0e99999", 0),
            ("1e-99999", 1),
            ("0.000000000000000000000000000000000000000000000000001", 1),
            ("123456789012345678.123", 123_456_789_012_345_678_123),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        for text in ["", "-", ".", "1.2.3", "Mi", "1 Gi", "1Gb", "1e", "0x10", "1K", "half", "--1", "1e1.5"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn units_are_rounded_away_from_zero() {
        let all = ["128Mi", "500m", "-500m", "1.001", "8Ei", "", "9223372036854775807"].map(units::<str>);
        assert_eq!(all, [Some(134_217_728), Some(1), Some(-1), Some(2), Some(i64::MAX), None, Some(i64::MAX)]);
    }
}
