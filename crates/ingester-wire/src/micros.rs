//! Points in time with the precision of SQL, and their texts in SQL and in Kubernetes.
//! May use: nothing.

/// A point in time: microseconds since 1970-01-01T00:00:00Z, the precision of `DATETIME(6)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub i64);

impl Micros {
    /// 0001-01-01T00:00:00Z, which Go writes for a time that was never set.
    pub const ZERO_OF_GO: Self = Micros(-62_135_596_800_000_000);

    /// The current time of this machine's clock.
    pub fn now() -> Self {
        Micros(jiff::Timestamp::now().as_microsecond())
    }

    /// The time this long before now, by this machine's clock.
    pub fn ago(age: std::time::Duration) -> Self {
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        Micros(Self::now().0.saturating_sub(age))
    }

    /// The time as SQL text in UTC, `2026-03-09 20:36:46.000000`. SQLite stores and compares this text.
    pub fn sql(self) -> String {
        const FORM: &str = "%Y-%m-%d %H:%M:%S.%6f";
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => time.strftime(FORM).to_string(),
            Err(_) => match self.civil() {
                Some(time) => time.strftime(FORM).to_string(),
                // Outside the years -9999 to 9999. Such a time is never decoded.
                None => String::from("0000-00-00 00:00:00.000000"),
            },
        }
    }

    /// Parses the text of [`Micros::sql`], and the same with fewer digits after the point or none.
    pub fn from_sql(text: &str) -> Option<Self> {
        // Without a pattern: a page has a time or more in each row.
        let (seconds, fraction) = text.split_at_checked(19)?;
        let seconds: &[u8; 19] = seconds.as_bytes().try_into().ok()?;
        let marks = [(4, b'-'), (7, b'-'), (10, b' '), (13, b':'), (16, b':')];
        if marks.into_iter().any(|(place, mark)| seconds[place] != mark) {
            return None;
        }
        let two = |place: usize| i8::try_from(digits(&seconds[place..place + 2])?).ok();
        let year = i16::try_from(digits(&seconds[..4])?).ok()?;
        let nanos = match fraction.strip_prefix('.') {
            Some(fraction) if (1..=9).contains(&fraction.len()) => {
                digits(fraction.as_bytes())? * 10_u32.pow(9 - u32::try_from(fraction.len()).ok()?)
            }
            None if fraction.is_empty() => 0,
            _ => return None,
        };
        let date = jiff::civil::Date::new(year, two(5)?, two(8)?).ok()?;
        let time = jiff::civil::Time::new(two(11)?, two(14)?, two(17)?, i32::try_from(nanos).ok()?).ok()?;
        Some(Self::of(date.to_datetime(time)))
    }

    /// The time that a clock in UTC shows.
    pub fn of(time: jiff::civil::DateTime) -> Self {
        // Never more than the years -9999 to 9999. Rounded down, as the digits of a text are cut off.
        let since = time.duration_since(EPOCH);
        Micros(since.as_secs() * 1_000_000 + i64::from(since.subsec_nanos()).div_euclid(1000))
    }

    /// The time on a clock in UTC, up to the end of the year 9999; jiff's timestamps end before that.
    fn civil(self) -> Option<jiff::civil::DateTime> {
        EPOCH.checked_add(jiff::SignedDuration::from_micros(self.0)).ok()
    }

    /// The time as Kubernetes writes it: RFC 3339 in UTC, with a fraction only if it is not zero.
    pub fn rfc3339(self) -> String {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => time.to_string(),
            Err(_) => self.civil().map(|time| format!("{time}Z")).unwrap_or_default(),
        }
    }
}

/// The beginning of [`Micros`].
const EPOCH: jiff::civil::DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);

/// The number of up to nine decimal digits.
fn digits(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::Micros;
    use std::time::Duration;

    #[test]
    fn a_time_ago_is_before_now_by_its_age() {
        let before = Micros::now().0;
        let ago = Micros::ago(Duration::from_hours(24)).0 + 86_400_000_000;
        assert!((before..=Micros::now().0).contains(&ago));
        assert!(Micros::ago(Duration::MAX).0 < Micros::from_sql("0001-01-01 00:00:00").unwrap().0);
    }

    #[test]
    fn a_time_is_read_out_of_sql_as_it_was_written() {
        let first = -62_135_596_800_000_000;
        let last = 253_402_207_200_000_000;
        for step in 0..10_000 {
            let time = Micros(first + (last - first) / 10_000 * step + step);
            assert_eq!(Micros::from_sql(&time.sql()), Some(time), "{}", time.sql());
        }
    }

    #[test]
    fn a_text_that_is_not_a_time_gives_none() {
        let read = |text| Micros::from_sql(text).map(|time| time.0);
        assert_eq!(read("1970-01-01 00:00:01"), Some(1_000_000));
        assert_eq!(read("1970-01-01 00:00:00.5"), Some(500_000));
        assert_eq!(read("1969-12-31 23:59:59.999999999"), Some(-1));
        assert_eq!(read("9999-12-31 23:59:59.999999"), Some(253_402_300_799_999_999));
        for text in [
            "",
            "1970-01-01",
            "1970-01-01T00:00:00",
            "1970-02-30 00:00:00",
            "1970-01-01 24:00:00",
            "1970-01-01 00:00:00.",
            "1970-01-01 00:00:00.1234567890",
            "1970-01-01 00:00:00.12x",
            "1970-01-01 00:00:00Z",
            "+970-01-01 00:00:00",
            "1970-01-01 00:00: 0",
            "1970-01-0\u{e9} 00:00:00",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
