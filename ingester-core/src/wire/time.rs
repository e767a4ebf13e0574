//! Moments and spans of time as protobuf's and Kubernetes' JSON write them.

use crate::schema::{Shape, SqlType};
use crate::value::{ColumnValue, Micros, Value, Values};
use serde::de::{Error, MapAccess, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

struct TimeVisitor;

impl<'de> serde::de::Visitor<'de> for TimeVisitor {
    type Value = jiff::Timestamp;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a time as RFC 3339 text, or an object with `seconds` and `nanos`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<jiff::Timestamp, E> {
        text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<jiff::Timestamp, A::Error> {
        let (mut seconds, mut nanos) = (super::Int64(0), super::Int64(0));
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            match key.as_ref() {
                "seconds" => seconds = map.next_value::<Option<super::Int64>>()?.unwrap_or_default(),
                "nanos" => nanos = map.next_value::<Option<super::Int64>>()?.unwrap_or_default(),
                _ => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
        }
        let nanos =
            i32::try_from(nanos.0).map_err(|_| A::Error::invalid_value(Unexpected::Signed(nanos.0), &"nanos"))?;
        jiff::Timestamp::new(seconds.0, nanos)
            .map_err(|_| A::Error::invalid_value(Unexpected::Signed(seconds.0), &"seconds of a time"))
    }
}

macro_rules! moment {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub jiff::Timestamp);

        impl $name {
            /// Microseconds since 1970, what a `DATETIME(6)` column holds; finer fractions are cut off.
            pub fn micros(self) -> Micros {
                Micros(self.0.as_microsecond())
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

        impl ColumnValue for $name {
            const SHAPE: Shape = Shape::scalar(SqlType::DateTime);

            fn write(&self, out: &mut Values) {
                out.push(Value::Time(self.micros()));
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

/// A span of time in nanoseconds: a `google.protobuf.Duration` (`90.500s`), read in any form that Go's duration parser
/// takes (`1h30m`, `250ms`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub i64);

impl Duration {
    /// Reads Go's form: an optional sign, then numbers with the units h, m, s, ms, us, µs, ns; or plain `0`.
    /// `None` where it is none, or more than 292 years.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, mut rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "0" {
            return Some(Duration(0));
        }
        let mut nanos: i128 = 0;
        if rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (number, tail) = rest.split_at(digits);
            let unit_len = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(unit_len);
            let unit: i128 = match unit {
                "h" => 3_600_000_000_000,
                "m" => 60_000_000_000,
                "s" => 1_000_000_000,
                "ms" => 1_000_000,
                "us" | "µs" | "μs" => 1_000,
                "ns" => 1,
                _ => return None,
            };
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
                return None;
            }
            if !whole.is_empty() {
                nanos += whole.parse::<u64>().ok().map(i128::from)?.checked_mul(unit)?;
            }
            let mut scale = unit;
            for digit in fraction.bytes() {
                scale /= 10;
                nanos += i128::from(digit - b'0') * scale;
            }
            rest = tail;
        }
        i64::try_from(if negative { -nanos } else { nanos }).ok().map(Duration)
    }
}

impl std::fmt::Display for Duration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        match fraction {
            0 => write!(f, "{sign}{seconds}s"),
            _ if fraction % 1_000_000 == 0 => write!(f, "{sign}{seconds}.{:03}s", fraction / 1_000_000),
            _ if fraction % 1_000 == 0 => write!(f, "{sign}{seconds}.{:06}s", fraction / 1_000),
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

impl ColumnValue for Duration {
    const SHAPE: Shape = Shape::scalar(SqlType::BigInt);

    /// Nanoseconds.
    fn write(&self, out: &mut Values) {
        out.push(Value::Int(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_from_text_with_any_offset_and_from_seconds_and_nanos() {
        let expected = Timestamp("2023-11-14T22:13:20.5Z".parse().unwrap());
        for text in [
            r#""2023-11-14T22:13:20.5Z""#,
            r#""2023-11-15T00:13:20.5+02:00""#,
            r#"{"seconds":"1700000000","nanos":500000000}"#,
            r#"{"seconds":1700000000,"nanos":500000000,"more":[]}"#,
        ] {
            assert_eq!(crate::json::from_str::<Timestamp>(text).unwrap(), expected, "{text}");
            assert_eq!(serde_json::from_str::<Timestamp>(text).unwrap(), expected, "{text}");
        }
        assert!(crate::json::from_str::<Timestamp>(r#""yesterday""#).is_err());
        assert!(crate::json::from_str::<Timestamp>("17").is_err());
    }

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, nanos) in [
            ("0", 0),
            ("90.500s", 90_500_000_000),
            ("1h", 3_600_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("250ms", 250_000_000),
            ("1us", 1_000),
            ("1µs", 1_000),
            (".5s", 500_000_000),
        ] {
            assert_eq!(Duration::parse(text), Some(Duration(nanos)), "{text}");
        }
        for text in ["", "s", "1", "1x", "1.2.3s", "-", "300000000h", "1h-5m"] {
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
