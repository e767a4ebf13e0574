//! Kubernetes' quantities (`500m`, `128Mi`, `1e3`) as exact integers.
//! May use: nothing.
//!
//! <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>

/// Parts of one: what is below a billionth is rounded away from zero, as Kubernetes does.
pub const PARTS: i128 = 1_000_000_000;

/// The number of a quantity, in billionths; `None` if it is not a quantity, or beyond 2^63 times a thousand.
pub fn parse(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let (factor, exponent) = factor(suffix)?;
    // The digits as one whole number, and how many tenths it counts.
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.len() > 36 {
        return None;
    }
    let mantissa: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let tens = 9 + exponent - i32::try_from(fraction.len()).ok()?;
    let mantissa = mantissa.checked_mul(factor)?;
    let value = if tens >= 0 {
        mantissa.checked_mul(10_i128.checked_pow(tens.unsigned_abs())?)?
    } else {
        match 10_i128.checked_pow(tens.unsigned_abs()) {
            Some(divisor) => mantissa.div_euclid(divisor) + i128::from(mantissa.rem_euclid(divisor) != 0),
            None => i128::from(mantissa != 0),
        }
    };
    Some(if negative { -value } else { value })
}

/// Returns the multiplier of a suffix, and a power of ten in addition.
fn factor(suffix: &str) -> Option<(i128, i32)> {
    let binary = |power: u32| Some((1_i128 << (10 * power), 0));
    match suffix {
        "" => Some((1, 0)),
        "n" => Some((1, -9)),
        "u" => Some((1, -6)),
        "m" => Some((1, -3)),
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
        _ => {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            (-60..=60).contains(&exponent).then_some((1, exponent))
        }
    }
}

/// The number as a decimal text without needless zeros.
pub fn decimal(number: i128) -> String {
    let whole = number.unsigned_abs() / PARTS.unsigned_abs();
    let part = number.unsigned_abs() % PARTS.unsigned_abs();
    let sign = if number < 0 { "-" } else { "" };
    if part == 0 {
        return format!("{sign}{whole}");
    }
    let part = format!("{part:09}");
    format!("{sign}{whole}.{}", part.trim_end_matches('0'))
}

/// The nearest float.
pub fn float(number: i128) -> f64 {
    decimal(number).parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::{decimal, float, parse};

    #[test]
    fn quantities_are_exact_numbers() {
        for (text, number) in [
            ("0", "0"),
            ("500m", "0.5"),
            ("0.5", "0.5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("1e3", "1000"),
            ("1E3", "1000"),
            ("1E", "1000000000000000000"),
            ("2Gi", "2147483648"),
            ("1.5Ki", "1536"),
            ("-3k", "-3000"),
            ("+3k", "3000"),
            ("100n", "0.0000001"),
            ("1.0000000001", "1.000000001"),
            ("0.1", "0.1"),
            ("9223372036854775807", "9223372036854775807"),
            ("8Ei", "9223372036854775808"),
            ("5e-324", ""),
        ] {
            assert_eq!(parse(text).map(decimal).unwrap_or_default(), number, "{text}");
        }
        for text in ["", "-", ".", "1.2.3", "1x", "1Kib", "e3", "1e", "0x10", "1 Gi", "NaN", "1ee3", "1e99"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_nearest_float_of_a_quantity_is_found() {
        assert_eq!(parse("250m").map(float), Some(0.25));
    }
}
