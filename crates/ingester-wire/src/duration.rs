//! Durations as people write them: in the configuration, in files of kinds, in attributes of structs, and in times of queries.
//! May use: nothing.
//!
//! The grammar is Go's `time.ParseDuration` with three more units. A duration is a sequence of numbers, each with its unit: `90d`, `1h30m`,
//! `1.5h`, `500ms`. A number may have a fraction. The units are `y` (365 days), `w` (7 days), `d` (24 hours), `h`, `m`, `s`, `ms`, `us` (or
//! `µs`) and `ns`, in any order. A sign may stand in front of all, and zero may be written as `0`.
//!
//! jiff's format differs: it takes words (`1 hour ago`) and wants the units in descending order.

use std::fmt;
use std::time::Duration;

/// How every error message describes a duration.
pub const EXAMPLES: &str = "a duration such as `10s`, `1h30m` or `90d`";

/// The units that a text may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Go's units, for fields of objects: other readers of the same field accept only these.
    Go,
    /// Also `d`, `w` and `y`.
    All,
}

impl Units {
    /// The nanoseconds of the unit with this name.
    const fn named(self, name: &[u8]) -> Option<i128> {
        const SECOND: i128 = 1_000_000_000;
        const DAY: i128 = 24 * 3600 * SECOND;
        Some(match (name, self) {
            (b"h", _) => 3600 * SECOND,
            (b"m", _) => 60 * SECOND,
            (b"s", _) => SECOND,
            (b"ms", _) => 1_000_000,
            // With the micro sign, or the Greek letter.
            (b"us" | b"\xc2\xb5s" | b"\xce\xbcs", _) => 1_000,
            (b"ns", _) => 1,
            (b"d", Units::All) => DAY,
            (b"w", Units::All) => 7 * DAY,
            (b"y", Units::All) => 365 * DAY,
            _ => return None,
        })
    }
}

/// The nanoseconds of a duration, below zero after a `-`; `None` for a text that is not a duration, and for one that is longer than
/// any clock runs. Fractions of a nanosecond are cut off.
pub const fn nanoseconds(text: &str, units: Units) -> Option<i128> {
    let (negative, mut rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    if let [b'0'] = rest {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut sum: i128 = 0;
    while !rest.is_empty() {
        let (number, behind) = rest.split_at(run(rest, true));
        let (name, behind) = behind.split_at(run(behind, false));
        let Some(unit) = units.named(name) else { return None };
        let Some(part) = times(number, unit) else { return None };
        let Some(more) = sum.checked_add(part) else { return None };
        (sum, rest) = (more, behind);
    }
    Some(if negative { -sum } else { sum })
}

/// How many bytes at the beginning belong to a number, or do not.
const fn run(bytes: &[u8], of_number: bool) -> usize {
    let mut i = 0;
    while i < bytes.len() && (bytes[i].is_ascii_digit() || bytes[i] == b'.') == of_number {
        i += 1;
    }
    i
}

/// A number of digits and at most one point, times `unit`.
const fn times(number: &[u8], unit: i128) -> Option<i128> {
    /// More digits after the point are less than a nanosecond.
    const DIGITS: usize = 18;
    let mut whole = 0_i128;
    let mut i = 0;
    while i < number.len() && number[i] != b'.' {
        let Some(tenfold) = whole.checked_mul(10) else { return None };
        whole = tenfold + (number[i] - b'0') as i128;
        i += 1;
    }
    if number.is_empty() || matches!(number, [b'.']) {
        return None;
    }
    let mut part = 0_i128;
    let mut scale = 1_i128;
    let point = i;
    i = point + 1;
    while i < number.len() {
        if number[i] == b'.' {
            return None;
        }
        if i - point <= DIGITS {
            part = part * 10 + (number[i] - b'0') as i128;
            scale *= 10;
        }
        i += 1;
    }
    match whole.checked_mul(unit) {
        Some(nanos) => nanos.checked_add(part * unit / scale),
        None => None,
    }
}

/// The durations that one place takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    least: &'static str,
    most: &'static str,
    zero_is_never: bool,
}

impl Bounds {
    /// Allows durations from `least` to `most`, both included.
    ///
    /// # Panics
    /// If they are not durations in this order; in a constant that is a compile error.
    pub const fn new(least: &'static str, most: &'static str) -> Self {
        match (nanoseconds(least, Units::All), nanoseconds(most, Units::All)) {
            (Some(first), Some(last)) if 0 <= first && first <= last => {}
            _ => panic!("these are not two durations, the shorter one first"),
        }
        Bounds { least, most, zero_is_never: false }
    }

    /// Also allows zero, which means never, and every duration up to the longest of these.
    pub const fn or_never(self) -> Self {
        Bounds { least: "0s", zero_is_never: true, ..self }
    }

    /// Parses a duration.
    ///
    /// # Errors
    /// If it is not a duration, or is outside of these bounds.
    pub const fn read(self, text: &str) -> Result<Duration, DurationError> {
        const SECOND: i128 = 1_000_000_000;
        let all = Units::All;
        match (nanoseconds(self.least, all), nanoseconds(text, all), nanoseconds(self.most, all)) {
            (Some(least), Some(nanos), Some(most)) if least <= nanos && nanos <= most => {
                Ok(Duration::new((nanos / SECOND) as u64, (nanos % SECOND) as u32))
            }
            _ => Err(DurationError(self)),
        }
    }
}

/// A text that is not a duration within the bounds of its place. It displays what is expected; the caller says where, and what the
/// text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationError(Bounds);

impl DurationError {
    /// The message in pieces, for constant evaluation.
    pub const fn pieces(&self) -> [&'static str; 7] {
        let Bounds { least, most, zero_is_never } = self.0;
        [EXAMPLES, ", from `", least, if zero_is_never { "` (never)" } else { "`" }, " to `", most, "`"]
    }
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().into_iter().try_for_each(|piece| f.write_str(piece))
    }
}

impl std::error::Error for DurationError {}

#[cfg(test)]
mod tests {
    use super::{Bounds, Units, nanoseconds};
    use proptest::prelude::*;
    use std::time::Duration;

    const SECOND: i128 = 1_000_000_000;
    const DAY: i128 = 86_400 * SECOND;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, nanos) in [
            ("0", 0),
            ("-0", 0),
            ("+0", 0),
            ("0s", 0),
            ("10s", 10 * SECOND),
            ("+5s", 5 * SECOND),
            ("90.500s", 90_500_000_000),
            ("1h", 3_600 * SECOND),
            ("1h30m", 5_400 * SECOND),
            ("30m1h", 5_400 * SECOND),
            ("1h1h", 7_200 * SECOND),
            ("-1.5h", -5_400 * SECOND),
            ("250ms", 250_000_000),
            ("1us", 1_000),
            ("1µs", 1_000),
            ("1μs", 1_000),
            (".5s", 500_000_000),
            ("1.s", SECOND),
            ("0.3333333333333333333333h", 1_199_999_999_999),
            ("9223372036854775807ns", i128::from(i64::MAX)),
        ] {
            assert_eq!(nanoseconds(text, Units::Go), Some(nanos), "{text}");
            assert_eq!(nanoseconds(text, Units::All), Some(nanos), "{text}");
        }
    }

    #[test]
    fn days_weeks_and_years_are_for_places_of_our_own() {
        for (text, nanos) in [
            ("90d", 90 * DAY),
            ("1w", 7 * DAY),
            ("1y30d", 395 * DAY),
            ("2d3h", 2 * DAY + 10_800 * SECOND),
            ("1y2w3d4h5m6s", 382 * DAY + 14_706 * SECOND),
            ("1.5d", 36 * 3_600 * SECOND),
            ("1d12h", 36 * 3_600 * SECOND),
            ("99999999999999y", 99_999_999_999_999 * 365 * DAY),
        ] {
            assert_eq!(nanoseconds(text, Units::All), Some(nanos), "{text}");
            assert_eq!(nanoseconds(text, Units::Go), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_a_duration_has_no_nanoseconds() {
        let digits = "9".repeat(60);
        let years = "99999999999999999999y".repeat(1000);
        for text in [
            "",
            "s",
            ".s",
            "1",
            "00",
            "-",
            "+",
            "1x",
            "1.2.3s",
            "1h-5m",
            "--1s",
            "1 s",
            " 1s",
            "1s ",
            "1S",
            "1mo",
            "é",
            "1é",
            "2d3",
            "d",
            "1_000s",
            "１s",
            &format!("{digits}ns"),
            &years,
        ] {
            assert_eq!(nanoseconds(text, Units::All), None, "{text}");
        }
    }

    #[test]
    fn bounds_are_included_and_in_the_message() {
        const BOUNDS: Bounds = Bounds::new("1s", "36500d");
        for (text, seconds) in [("1s", 1), ("1000ms", 1), ("36h", 129_600), ("90m", 5_400), ("36500d", 3_153_600_000)] {
            assert_eq!(BOUNDS.read(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(BOUNDS.read("1.5s"), Ok(Duration::from_millis(1500)));
        for text in ["", "90", "0s", "999ms", "-1d", "36501d", "99999999999999y"] {
            let message = BOUNDS.read(text).unwrap_err().to_string();
            assert_eq!(message, "a duration such as `10s`, `1h30m` or `90d`, from `1s` to `36500d`", "{text}");
        }
        let never = Bounds::new("1s", "365d").or_never();
        assert_eq!(never.read("0"), Ok(Duration::ZERO));
        let message = never.read("9000h").unwrap_err().to_string();
        assert_eq!(message, "a duration such as `10s`, `1h30m` or `90d`, from `0s` (never) to `365d`");
    }

    proptest! {
        #[test]
        fn numbers_with_units_are_summed(days in 0_i64..100_000, minutes in 0_i64..100_000, millis in 0_i64..100_000) {
            let nanos = i128::from(days) * DAY + i128::from(minutes) * 60 * SECOND + i128::from(millis) * 1_000_000;
            prop_assert_eq!(nanoseconds(&format!("{days}d{minutes}m{millis}ms"), Units::All), Some(nanos));
            prop_assert_eq!(nanoseconds(&format!("-{millis}ms{days}d{minutes}m"), Units::All), Some(-nanos));
        }

        #[test]
        fn any_text_is_a_duration_or_not(text in "[-0-9+.ywdhmsunµé\0]{0,24}") {
            let _ = nanoseconds(&text, Units::All);
        }
    }
}
