//! How long ago something was, as kubectl shows it: two or three significant digits.
//!
//! May use: value.

use crate::value::Micros;

/// The time from `then` to `now`; `<unknown>` without `then`.
pub fn age(then: Option<Micros>, now: Micros) -> String {
    match then {
        Some(then) => human(now.0.saturating_sub(then.0)),
        None => "<unknown>".to_owned(),
    }
}

/// A duration in microseconds, by the rules of Kubernetes' `HumanDuration`.
fn human(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let minutes = seconds / 60;
    let hours = seconds / 3600;
    let days = hours / 24;
    let years = hours / 24 / 365;
    let two = |large: i64, unit: char, small: i64, of: char| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{of}"),
    };
    match seconds {
        // A clock may be wrong by two seconds.
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => two(days, 'd', hours % 24, 'h'),
        _ if hours < 24 * 365 * 2 => format!("{days}d"),
        _ if hours < 24 * 365 * 8 => two(years, 'y', days % 365, 'd'),
        _ => format!("{years}y"),
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    /// The cases of Kubernetes' own tests.
    #[test]
    fn durations_are_written_as_kubernetes_writes_them() {
        let second = 1_000_000;
        let minute = 60_000_000;
        let hour = 3_600_000_000;
        let day = 86_400_000_000;
        let milli = 1000;
        let year = 365 * day;
        for (micros, expected) in [
            (-2 * second, "<invalid>"),
            (-2 * second + 1, "0s"),
            (0, "0s"),
            (second - milli, "0s"),
            (70 * second, "70s"),
            (2 * minute - milli, "119s"),
            (2 * minute, "2m"),
            (2 * minute + second, "2m1s"),
            (190 * second, "3m10s"),
            (10 * minute - milli, "9m59s"),
            (10 * minute, "10m"),
            (10 * minute + second, "10m"),
            (70 * minute, "70m"),
            (3 * hour - milli, "179m"),
            (3 * hour, "3h"),
            (3 * hour + minute, "3h1m"),
            (8 * hour - milli, "7h59m"),
            (8 * hour, "8h"),
            (8 * hour + 59 * minute, "8h"),
            (47 * hour, "47h"),
            (2 * day - milli, "47h"),
            (2 * day, "2d"),
            (2 * day + hour, "2d1h"),
            (8 * day - milli, "7d23h"),
            (8 * day, "8d"),
            (8 * day + 23 * hour, "8d"),
            (367 * day, "367d"),
            (2 * year - milli, "729d"),
            (2 * year, "2y"),
            (2 * year + day - milli, "2y"),
            (2 * year + day, "2y1d"),
            (2 * year + 25 * hour, "2y1d"),
            (8 * year - milli, "7y364d"),
            (8 * year, "8y"),
            (9 * year, "9y"),
        ] {
            assert_eq!(human(micros), expected, "{micros}");
        }
    }
}
