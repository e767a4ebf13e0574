//! Times as people write them: `2026-01-31T10:00:00Z`, `2026-01-31`, `7d`, `7d ago`, `in 30d`, `now`.

use ingester_core::duration::{Units, nanoseconds};
use ingester_core::place::shortened;
use ingester_core::value::Micros;

/// Why a text is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("time `{text}`: {what}")]
pub struct TimeError {
    text: String,
    what: Mistake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Mistake {
    #[error("expected {TIMES}")]
    Form,
    #[error("expected a time such as `2026-01-31T10:00:00Z`")]
    Moment,
    #[error("expected an offset at its end: `Z` for UTC, or `+01:00`")]
    Offset,
    #[error("there is no such date")]
    Date,
    #[error("this is before the year 1")]
    Early,
    #[error("this is after the year 9999")]
    Late,
}

/// How every error message describes a time.
pub const TIMES: &str =
    "a time such as `2026-01-31T10:00:00Z`, `2026-01-31`, `now`, `7d` or `7d ago` for that long ago, or `in 7d`";

/// 0001-01-01T00:00:00Z. Earlier times have no text that a database compares correctly.
const FIRST: i64 = -62_135_596_800_000_000;

/// 9999-12-31T23:59:59.999999Z. Later times have more digits in their year.
const LAST: i64 = 253_402_300_799_999_999;

/// Parses a point in time.
///
/// | text | time |
/// |---|---|
/// | `2026-01-31T10:00:00Z` | RFC 3339; finer fractions than microseconds are cut off |
/// | `2026-01-31` | its midnight in UTC |
/// | `now` | `now` |
/// | `7d`, `7d ago` | so long before `now`: a [duration](ingester_core::duration) without a sign |
/// | `in 30d` | so long after `now` |
///
/// # Errors
/// Any other text, or a time before the year 1 or after the year 9999.
pub fn parse_time(text: &str, now: Micros) -> Result<Micros, TimeError> {
    let micros = if begins_with_year(text) { moment(text).map(i128::from) } else { relative(text, now) };
    let micros = micros.and_then(|micros| match i64::try_from(micros) {
        Ok(micros @ FIRST..=LAST) => Ok(Micros(micros)),
        _ if micros < 0 => Err(Mistake::Early),
        _ => Err(Mistake::Late),
    });
    micros.map_err(|what| TimeError { text: shortened(text), what })
}

/// The moment that a query is about, by the clock of the database that is asked: a node's clock may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// This moment.
    At(Micros),
    /// So many microseconds after now, or before it if they are negative.
    FromNow(i64),
}

impl AsOf {
    /// Reads a time, as [`parse_time`] does.
    ///
    /// # Errors
    /// As there.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let now = Micros::now();
        let time = parse_time(text, now)?;
        Ok(if begins_with_year(text) { AsOf::At(time) } else { AsOf::FromNow(time.0 - now.0) })
    }

    /// The moment, if it is `now`.
    pub fn by(self, now: Micros) -> Micros {
        match self {
            AsOf::At(moment) => moment,
            AsOf::FromNow(micros) => Micros(now.0.saturating_add(micros)),
        }
    }
}

impl From<Micros> for AsOf {
    fn from(moment: Micros) -> Self {
        AsOf::At(moment)
    }
}

/// Returns true if the text is a date or a timestamp; otherwise it is a distance from now.
fn begins_with_year(text: &str) -> bool {
    text.get(..5).is_some_and(|year| year.ends_with('-') && year.bytes().take(4).all(|byte| byte.is_ascii_digit()))
}

/// Microseconds since 1970, this long before or after `now`.
fn relative(text: &str, now: Micros) -> Result<i128, Mistake> {
    let now = i128::from(now.0);
    let micros = |duration: &str| match nanoseconds(duration, Units::All) {
        Some(nanos) if !duration.starts_with(['+', '-']) => Ok(nanos / 1000),
        _ => Err(Mistake::Form),
    };
    match (text, text.strip_prefix("in ")) {
        ("now", _) => Ok(now),
        (_, Some(duration)) => Ok(now + micros(duration)?),
        _ => Ok(now - micros(text.strip_suffix(" ago").unwrap_or(text))?),
    }
}

/// Microseconds since 1970.
fn moment(text: &str) -> Result<i64, Mistake> {
    // jiff takes more than RFC 3339: time zones in brackets, offsets of seconds.
    let allowed = |byte: u8| {
        byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b':' | b'.' | b'T' | b't' | b'Z' | b'z' | b' ')
    };
    if text.len() == "2026-01-31".len() {
        let date: jiff::civil::Date = text.parse().map_err(|_| Mistake::Date)?;
        return Ok(Micros::of(date.at(0, 0, 0, 0)).0);
    }
    if !text.bytes().all(allowed) {
        return Err(Mistake::Form);
    }
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(moment.as_microsecond());
    }
    if let Some(utc) = text.strip_suffix(['Z', 'z'])
        && let Ok(moment) = utc.parse::<jiff::civil::DateTime>()
    {
        // jiff's timestamps end a day before the year 9999 does.
        return Ok(Micros::of(moment).0);
    }
    match text.parse::<jiff::civil::DateTime>() {
        Ok(_) => Err(Mistake::Offset),
        Err(_) => Err(Mistake::Moment),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_time;
    use ingester_core::value::Micros;
    use proptest::prelude::*;

    /// 2026-03-09T20:36:46.5Z.
    const NOW: Micros = Micros(1_773_088_606_500_000);

    #[test]
    fn a_time_is_a_moment_a_date_or_so_long_before_or_after_now() {
        for (text, moment) in [
            ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"),
            ("2026-01-31t10:00:00z", "2026-01-31T10:00:00Z"),
            ("2026-01-31 10:00:00Z", "2026-01-31T10:00:00Z"),
            ("2026-01-31T10:00:00.123456789Z", "2026-01-31T10:00:00.123456Z"),
            ("2026-01-31T10:00:00.5+01:30", "2026-01-31T08:30:00.5Z"),
            ("2026-01-31T00:30:00-01:00", "2026-01-31T01:30:00Z"),
            ("2026-01-31", "2026-01-31T00:00:00Z"),
            ("2028-02-29", "2028-02-29T00:00:00Z"),
            ("9999-12-31", "9999-12-31T00:00:00Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
            ("1969-12-31", "1969-12-31T00:00:00Z"),
            ("0001-01-01", "0001-01-01T00:00:00Z"),
            ("0s", "2026-03-09T20:36:46.5Z"),
            ("45s", "2026-03-09T20:36:01.5Z"),
            ("90m", "2026-03-09T19:06:46.5Z"),
            ("2h", "2026-03-09T18:36:46.5Z"),
            ("7d", "2026-03-02T20:36:46.5Z"),
            ("1w", "2026-03-02T20:36:46.5Z"),
            ("2d3h", "2026-03-07T17:36:46.5Z"),
            ("3m20s", "2026-03-09T20:33:26.5Z"),
            ("1y1d", "2025-03-08T20:36:46.5Z"),
            ("1y2w3d4h5m6s", "2025-02-20T16:31:40.5Z"),
            ("2000y", "0027-07-07T20:36:46.5Z"),
            ("3h2d", "2026-03-07T17:36:46.5Z"),
            ("1.5h", "2026-03-09T19:06:46.5Z"),
            ("500ms1999ns", "2026-03-09T20:36:45.999999Z"),
            ("now", "2026-03-09T20:36:46.5Z"),
            ("2d3h ago", "2026-03-07T17:36:46.5Z"),
            ("0s ago", "2026-03-09T20:36:46.5Z"),
            ("in 30d", "2026-04-08T20:36:46.5Z"),
            ("in 1.5h", "2026-03-09T22:06:46.5Z"),
            ("in 7000y", "9021-07-16T20:36:46.5Z"),
        ] {
            assert_eq!(parse_time(text, NOW).map(Micros::rfc3339), Ok(moment.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_malformed_time_is_refused_with_what_is_expected() {
        let form = "expected a time such as `2026-01-31T10:00:00Z`, `2026-01-31`, `now`, `7d` or `7d ago` for that long ago, or `in 7d`";
        let early = "this is before the year 1";
        let late = "this is after the year 9999";
        for (text, what) in [
            ("", form),
            ("yesterday", form),
            ("-2h", form),
            ("+2h", form),
            ("2h ", form),
            ("in 2h ago", form),
            ("in -2h", form),
            ("-2h ago", form),
            ("in  2h", form),
            ("in", form),
            (" ago", form),
            ("ago", form),
            ("now ago", form),
            ("Now", form),
            ("in 2026-01-31", form),
            ("2026-01-31 ago", form),
            ("2026-01-31T10:00:00[UTC]", form),
            ("2026-01-31'\0", form),
            ("2026-02-30", "there is no such date"),
            ("2026-13-01", "there is no such date"),
            ("2026-01-3é", form),
            ("2026-01-é", "there is no such date"),
            ("2026-1-31", "expected a time such as `2026-01-31T10:00:00Z`"),
            ("2026-01-31T25:00:00Z", "expected a time such as `2026-01-31T10:00:00Z`"),
            ("2026-01-31T10:00:00", "expected an offset at its end: `Z` for UTC, or `+01:00`"),
            ("2026", form),
            ("2d3", form),
            ("2H", form),
            ("2é", form),
            ("20260131T100000Z", form),
            ("3000y", early),
            ("99999999999999y", early),
            ("99999999999999999999s", early),
            ("0000-12-31", early),
            ("3000y ago", early),
            ("in 8000y", late),
            ("in 99999999999999y", late),
        ] {
            assert_eq!(
                parse_time(text, NOW).unwrap_err().to_string(),
                format!("time `{}`: {what}", text.replace('\0', "\\0"))
            );
        }
        let long = parse_time(&"é".repeat(1_000_000), NOW).unwrap_err().to_string();
        assert!(long.chars().count() < 200, "{long}");
    }

    proptest! {
        #[test]
        fn a_moment_that_was_written_is_read(micros in super::FIRST..=super::LAST) {
            prop_assert_eq!(parse_time(&Micros(micros).rfc3339(), NOW), Ok(Micros(micros)));
        }

        #[test]
        fn a_duration_is_subtracted_or_added(days in 0_i64..100_000, hours in 0_i64..100, seconds in 0_i64..100_000) {
            let age = (days * 86_400 + hours * 3_600 + seconds) * 1_000_000;
            let text = format!("{days}d{hours}h{seconds}s");
            prop_assert_eq!(parse_time(&text, NOW), Ok(Micros(NOW.0 - age)));
            prop_assert_eq!(parse_time(&format!("{text} ago"), NOW), Ok(Micros(NOW.0 - age)));
            prop_assert_eq!(parse_time(&format!("in {text}"), NOW), Ok(Micros(NOW.0 + age)));
        }

        #[test]
        fn any_text_is_a_time_or_an_error(text in "(in )?[-0-9+:.TZywdhms é\0]{0,24}( ago)?") {
            for now in [i64::MIN, i64::MAX] {
                let _ = parse_time(&text, Micros(now)).map_err(|error| error.to_string());
            }
        }
    }
}
