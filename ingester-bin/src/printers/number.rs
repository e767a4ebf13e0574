//! Floating-point numbers as Go writes them: the shortest digits that give the same number again.

/// The digits without a point, and the power of ten of the first one.
fn digits(value: f64) -> (String, i32) {
    let text = format!("{:e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
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

/// As `encoding/json` does.
pub(super) fn json(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{value}");
    }
    let text = scientific(value);
    // It takes away the zero of e-09, and of no other exponent.
    match text.split_once("e-0") {
        Some((mantissa, exponent)) => format!("{mantissa}e-{exponent}"),
        None => text,
    }
}

/// As `fmt.Print` does, and YAML: an exponent from a million on.
pub(super) fn general(value: f64) -> String {
    let (_, exponent) = digits(value);
    if value == 0.0 || (-4..6).contains(&exponent) { format!("{value}") } else { scientific(value) }
}
