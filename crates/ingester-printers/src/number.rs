//! Floating-point numbers as Go writes them: the shortest digits that give the same number again.
//!
//! May use: nothing.

/// The digits without a point, and the power of ten of the first one.
fn digits(value: f64) -> (String, i32) {
    let value = value.abs();
    let mut text = format!("{value:e}");
    // Of two equally short and near texts, Go takes the even one.
    let precision = text.split_once('e').map_or(0, |(mantissa, _)| mantissa.len().saturating_sub(2));
    let even = format!("{value:.precision$e}");
    if even.parse() == Ok(value) {
        text = even;
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// The float that is nearest to an integer of any length.
pub(crate) fn of_digits(digits: &str) -> f64 {
    digits.parse().unwrap_or(f64::NAN)
}

/// `1.5e-07`: at least two digits of exponent.
fn scientific(value: f64) -> String {
    let (digits, exponent) = digits(value);
    let (first, rest) = digits.split_at(1);
    let minus = if value.is_sign_negative() { "-" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{minus}{first}{point}{rest}e{sign}{:02}", exponent.abs())
}

/// `0.00015`, without an exponent.
fn plain(value: f64) -> String {
    let (digits, exponent) = digits(value);
    let minus = if value.is_sign_negative() { "-" } else { "" };
    let zeros = |count: usize| "0".repeat(count);
    match usize::try_from(exponent) {
        Ok(exponent) if digits.len() <= exponent + 1 => {
            format!("{minus}{digits}{}", zeros(exponent + 1 - digits.len()))
        }
        Ok(exponent) => format!("{minus}{}.{}", &digits[..=exponent], &digits[exponent + 1..]),
        Err(_) => format!("{minus}0.{}{digits}", zeros(exponent.unsigned_abs() as usize - 1)),
    }
}

/// As `encoding/json` does.
pub(crate) fn json(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return plain(value);
    }
    let text = scientific(value);
    // It removes the zero of e-09, but of no other exponent.
    match text.split_once("e-0") {
        Some((mantissa, exponent)) => format!("{mantissa}e-{exponent}"),
        None => text,
    }
}

/// As `fmt.Print` does, and YAML: an exponent from a million on.
pub(crate) fn general(value: f64) -> String {
    let (_, exponent) = digits(value);
    if value == 0.0 || (-4..6).contains(&exponent) { plain(value) } else { scientific(value) }
}
