//! Times and durations as protobuf's and Kubernetes' JSON write them.
//! May use: duration, int64, micros.

use crate::duration::{Units, nanoseconds};
use crate::int64::Int64;
use crate::micros::Micros;
use serde::de::{Error, MapAccess, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, to the nanosecond and up to the end of the year 9999, as Kubernetes has it. jiff's timestamps end a day
/// earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Seconds since 1970.
    second: i64,
    /// 0 to 999,999,999; counts forward from the second, also before 1970.
    nanosecond: i32,
}

/// 9999-12-31T23:59:59Z.
const LAST_SECOND: i64 = 253_402_300_799;

impl Moment {
    /// The moment this many seconds after 1970, plus nanoseconds, which may have another sign. `None` outside of the years
    /// -9999 to 9999.
    pub fn new(seconds: i64, nanoseconds: i32) -> Option<Self> {
        let nanos = i64::from(nanoseconds);
        let second = seconds.checked_add(nanos.div_euclid(1_000_000_000))?;
        let nanosecond = nanos.rem_euclid(1_000_000_000) as i32;
        (jiff::Timestamp::MIN.as_second()..=LAST_SECOND).contains(&second).then_some(Moment { second, nanosecond })
    }

    /// Seconds since 1970, rounded down.
    pub fn second(self) -> i64 {
        self.second
    }

    /// Nanoseconds after [`Moment::second`].
    pub fn nanosecond(self) -> i32 {
        self.nanosecond
    }

    /// Microseconds since 1970; finer fractions are cut off.
    pub fn micros(self) -> Micros {
        let before_1970 = self.second < 0 && self.nanosecond % 1000 != 0;
        Micros(self.second * 1_000_000 + i64::from(self.nanosecond / 1000) + i64::from(before_1970))
    }
}

impl From<jiff::Timestamp> for Moment {
    fn from(time: jiff::Timestamp) -> Self {
        let second = time.as_second();
        let nanosecond = time.subsec_nanosecond();
        match nanosecond < 0 {
            true => Moment { second: second - 1, nanosecond: nanosecond + 1_000_000_000 },
            false => Moment { second, nanosecond },
        }
    }
}

/// RFC 3339 in UTC; the precision is the number of digits after the second; without it, as many digits as needed.
impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Ok(time) = jiff::Timestamp::new(self.second, self.nanosecond) {
            return std::fmt::Display::fmt(&time, f);
        }
        let days = jiff::SignedDuration::new(self.second, self.nanosecond);
        let civil = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0).checked_add(days).map_err(|_| std::fmt::Error)?;
        std::fmt::Display::fmt(&civil, f)?;
        f.write_str("Z")
    }
}

/// The text is not RFC 3339, or not within the years -9999 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a time such as `2026-01-31T10:00:00Z`")]
pub struct NoMoment;

impl std::str::FromStr for Moment {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<Self, NoMoment> {
        moment(text).ok_or(NoMoment)
    }
}

/// Parses RFC 3339 text.
pub fn moment(text: &str) -> Option<Moment> {
    match whole_second(text.as_bytes()) {
        Some(second) => Some(Moment { second, nanosecond: 0 }),
        // Fractions, offsets, leap seconds, and text that is not a time.
        None => text.parse().map(jiff::Timestamp::into).ok().or_else(|| last_days(text)).or_else(|| finer(text)),
    }
}

/// A time with more digits than nanoseconds have. The API server takes it, and ignores them.
fn finer(text: &str) -> Option<Moment> {
    let (whole, fraction) = text.split_once('.')?;
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 9).then(|| moment(&format!("{whole}.{}{}", &fraction[..9], &fraction[digits..])))?
}

/// Times of the last days of the year 9999. jiff does not have all of them, so they are read as if they were ten days earlier.
fn last_days(text: &str) -> Option<Moment> {
    let rest = text.strip_prefix("9999-12-3").filter(|rest| rest.starts_with(['0', '1']))?;
    let earlier = Moment::from(format!("9999-12-2{rest}").parse::<jiff::Timestamp>().ok()?);
    Moment::new(earlier.second + 10 * 86_400, earlier.nanosecond)
}

/// Seconds since 1970 of the form in which the API server and most others write times, `2026-03-09T20:36:46Z`. `None` for
/// every other form. jiff's parser takes three times as long, and a pipeline run has two times for each of its steps.
fn whole_second(text: &[u8]) -> Option<i64> {
    let text: &[u8; 20] = text.try_into().ok()?;
    let number = |from: usize, digits: usize| {
        text[from..from + digits]
            .iter()
            .try_fold(0_i64, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
    };
    let signs = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    if signs.iter().any(|(place, sign)| text[*place] != *sign) {
        return None;
    }
    let year = number(0, 4)?;
    let month = number(5, 2)?;
    let day = number(8, 2)?;
    let hour = number(11, 2)?;
    let minute = number(14, 2)?;
    let second = number(17, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=12).contains(&month) || !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years that begin in March have their leap day at the end, and months whose lengths repeat every five.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 719,468 days lie between 1 March of the year 0 and 1970.
    let day = year * 365 + leap_days + day_of_year - 719_468;
    Some(day * 86_400 + hour * 3_600 + minute * 60 + second)
}

struct TimeVisitor;

impl<'de> serde::de::Visitor<'de> for TimeVisitor {
    type Value = Moment;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a time as RFC 3339 text, or an object with `seconds` and `nanos`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Moment, E> {
        moment(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Moment, A::Error> {
        let mut seconds = None;
        let mut nanos = None;
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let (name, number) = match key.as_ref() {
                "seconds" => ("seconds", &mut seconds),
                "nanos" => ("nanos", &mut nanos),
                _ => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                    continue;
                }
            };
            if number.replace(map.next_value::<Option<Int64>>()?.unwrap_or_default()).is_some() {
                return Err(A::Error::duplicate_field(name));
            }
        }
        let seconds = seconds.unwrap_or_default();
        let nanos = nanos.unwrap_or_default();
        let nanos =
            i32::try_from(nanos.0).map_err(|_| A::Error::invalid_value(Unexpected::Signed(nanos.0), &"nanos"))?;
        Moment::new(seconds.0, nanos)
            .ok_or_else(|| A::Error::invalid_value(Unexpected::Signed(seconds.0), &"seconds of a time"))
    }
}

macro_rules! moment {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Moment);

        impl $name {
            /// Returns microseconds since 1970, as in a `DATETIME(6)` column; finer fractions are cut off.
            pub fn micros(self) -> Micros {
                self.0.micros()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TimeVisitor).map($name)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

moment! {
    /// A `google.protobuf.Timestamp`: RFC 3339 text with any offset. The CRD asks for text.
    Timestamp, schemars::json_schema!({ "type": "string", "format": "date-time" })
}
moment! {
    /// A Kubernetes `metav1.Time` inside spec or status: RFC 3339 text or `{seconds, nanos}`, whichever the writer
    /// uses. The CRD takes both.
    Time, schemars::json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
}

impl From<Time> for Timestamp {
    fn from(time: Time) -> Self {
        Timestamp(time.0)
    }
}

/// A span of time in nanoseconds: a `google.protobuf.Duration` (`90.500s`), read in any form that Go's duration parser
/// takes (`1h30m`, `250ms`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub i64);

impl Duration {
    /// Parses a [duration](crate::duration) with Go's units. `None` for other text, and for more than 292 years.
    pub fn parse(text: &str) -> Option<Self> {
        nanoseconds(text, Units::Go).and_then(|nanos| i64::try_from(nanos).ok()).map(Duration)
    }
}

impl std::fmt::Display for Duration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let seconds = nanos / 1_000_000_000;
        let fraction = nanos % 1_000_000_000;
        match fraction {
            0 => write!(f, "{sign}{seconds}s"),
            _ if fraction.is_multiple_of(1_000_000) => write!(f, "{sign}{seconds}.{:03}s", fraction / 1_000_000),
            _ if fraction.is_multiple_of(1_000) => write!(f, "{sign}{seconds}.{:06}s", fraction / 1_000),
            _ => write!(f, "{sign}{seconds}.{fraction:09}s"),
        }
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Duration;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a duration such as `90.5s` or `1h30m`")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
                Duration::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl schemars::JsonSchema for Duration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_after_nanoseconds_are_ignored() {
        for (text, same) in [
            ("2026-01-01T00:00:00.1234567899Z", "2026-01-01T00:00:00.123456789Z"),
            ("2026-01-01T02:00:00.999999999999999+02:00", "2026-01-01T00:00:00.999999999Z"),
            ("9999-12-31T23:59:59.9999999999Z", "9999-12-31T23:59:59.999999999Z"),
        ] {
            assert_eq!(moment(text), moment(same), "{text}");
            assert!(moment(text).is_some(), "{text}");
        }
        for text in
            ["2026-01-01T00:00:00.1234567890", "2026-01-01.1234567890Z", "1.0000000000", "a.0123456789b.0123456789Z"]
        {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn fast_path_for_whole_seconds_agrees_with_jiff() {
        let library = |text: &str| text.parse::<jiff::Timestamp>().ok();
        // Every day of four hundred years, after which the calendar repeats, and some of all others.
        let first = library("1970-01-01T00:00:00Z").unwrap().as_second() / 86_400;
        let near = (first..first + 146_097).map(|day| day * 86_400 + day % 86_400);
        let far = (-62_167_219_200..253_402_207_200).step_by(86_400 * 97 + 3_607);
        for second in near.chain(far) {
            let text = jiff::Timestamp::from_second(second).unwrap().to_string();
            assert_eq!(whole_second(text.as_bytes()), Some(second), "{text}");
            assert_eq!(moment(&text), library(&text).map(Moment::from), "{text}");
        }
        for text in [
            "2026-02-29T00:00:00Z",
            "2024-02-30T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2000-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T23:60:00Z",
            "2016-12-31T23:59:60Z",
            "2026-01-01T23:59:61Z",
            "2026-01-01t00:00:00z",
            "2026-01-01 00:00:00Z",
            "0000-01-01T00:00:00Z",
            "202a-01-01T00:00:00Z",
            "2026-01-01T00:00:0:Z",
            "-026-01-01T00:00:00Z",
            "2026-01-01T00:00:00",
            "",
        ] {
            assert_eq!(moment(text), library(text).map(Moment::from), "{text}");
        }
    }

    #[test]
    fn a_time_may_be_in_the_last_second_of_the_year_9999() {
        for (text, shown, sql) in [
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "9999-12-31 23:59:59.000000"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999"),
            ("9999-12-30T23:00:00.5Z", "9999-12-30T23:00:00.5Z", "9999-12-30 23:00:00.500000"),
            ("9999-12-31T20:59:59-03:00", "9999-12-31T23:59:59Z", "9999-12-31 23:59:59.000000"),
            ("9999-12-31T01:00:00+02:00", "9999-12-30T23:00:00Z", "9999-12-30 23:00:00.000000"),
        ] {
            let read: Timestamp = ingester_json::json::from_str(&format!("\"{text}\"")).unwrap();
            assert_eq!((read.0.to_string(), read.micros().sql()), (shown.to_owned(), sql.to_owned()), "{text}");
            assert_eq!(serde_json::to_string(&read).unwrap(), format!("\"{shown}\""));
            assert_eq!(Micros::from_sql(sql), Some(read.micros()));
            assert_eq!(read.micros().rfc3339(), shown);
        }
        for text in ["9999-12-31T23:59:59-00:01", "9999-12-32T00:00:00Z", "9999-12-31T24:00:00Z"] {
            assert_eq!(moment(text), None, "{text}");
        }
        assert_eq!(format!("{:.3}", moment("9999-12-31T23:59:59.5Z").unwrap()), "9999-12-31T23:59:59.500Z");
        assert_eq!(Moment::new(LAST_SECOND, 1_000_000_000), None);
        // Fractions are cut off towards 1970, whatever the side.
        let early = "1969-12-31T23:59:59.9999999Z";
        assert_eq!(moment(early).unwrap().micros().0, early.parse::<jiff::Timestamp>().unwrap().as_microsecond());
    }

    #[test]
    fn time_is_read_from_any_offset_and_from_seconds_and_nanos() {
        let expected = Timestamp("2023-11-14T22:13:20.5Z".parse().unwrap());
        for text in [
            r#""2023-11-14T22:13:20.5Z""#,
            r#""2023-11-15T00:13:20.5+02:00""#,
            r#"{"seconds":"1700000000","nanos":500000000}"#,
            r#"{"seconds":1700000000,"nanos":500000000,"more":[]}"#,
        ] {
            assert_eq!(ingester_json::json::from_str::<Timestamp>(text).unwrap(), expected, "{text}");
            assert_eq!(serde_json::from_str::<Timestamp>(text).unwrap(), expected, "{text}");
        }
        assert!(ingester_json::json::from_str::<Timestamp>(r#""yesterday""#).is_err());
        assert!(ingester_json::json::from_str::<Timestamp>(r#"{"seconds":1,"seconds":1}"#).is_err());
        assert!(ingester_json::json::from_str::<Timestamp>("17").is_err());
    }

    #[test]
    fn durations_have_gos_units_and_64_bits() {
        assert_eq!(Duration::parse("-1.5h"), Some(Duration(-5_400_000_000_000)));
        assert_eq!(Duration::parse("9223372036854775807ns"), Some(Duration(i64::MAX)));
        for text in ["", "1", "1d", "1w", "300000000h", "9223372036854775808ns"] {
            assert_eq!(Duration::parse(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_written_in_seconds_with_0_3_6_or_9_digits() {
        for (nanos, text) in [
            (0, "0s"),
            (90_500_000_000, "90.500s"),
            (1_000, "0.000001s"),
            (-1, "-0.000000001s"),
            (3_600_000_000_000, "3600s"),
        ] {
            assert_eq!(Duration(nanos).to_string(), text);
        }
    }
}
