//! `from`, `to` and `steps`: moments at equal distances, at which objects are counted.

use super::query::QueryString;
use crate::status::Status;
use ingester_core::value::Micros;
use ingester_sql::query::AsOf;

/// The number of moments if the request does not give it.
const STEPS: usize = 60;

/// The most moments. Each is a comparison for every row.
const MOST: usize = 200;

/// Moments at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    from: AsOf,
    to: AsOf,
    count: usize,
}

/// Reads the moments of a request: from `from` to `to`, which defaults to now. `None` if the request names none.
///
/// # Errors
/// 400 for a value that is not a time or a number, and for `to` or `steps` without `from`.
pub fn parse(query: &QueryString) -> Result<Option<Steps>, Status> {
    let time =
        |name: &str, text: &str| AsOf::parse(text).map_err(|error| Status::bad_request(format!("{name}: {error}")));
    let to = query.last("to");
    let steps = query.last("steps");
    let Some(from) = query.last("from") else {
        return match to.or(steps) {
            None => Ok(None),
            Some(_) => Err(Status::bad_request("`to` and `steps` need `from`, such as from=7d")),
        };
    };
    let from = time("from", from)?;
    let to = to.map_or(Ok(AsOf::FromNow(0)), |to| time("to", to))?;
    let count = match steps.map(str::parse) {
        None => STEPS,
        Some(Ok(steps @ 2..=MOST)) => steps,
        Some(_) => return Err(Status::bad_request(format!("steps: it is a whole number from 2 to {MOST}"))),
    };
    Ok(Some(Steps { from, to, count }))
}

impl Steps {
    /// Returns the moments in ascending order: `from` is the first, `to` the last.
    ///
    /// # Errors
    /// 400 if `from` is not before `to`.
    pub fn moments(self, now: Micros) -> Result<Vec<Micros>, Status> {
        let from = self.from.by(now).0;
        let to = self.to.by(now).0;
        if from >= to {
            return Err(Status::bad_request("`from` must be before `to`"));
        }
        let last = self.count as i128 - 1;
        let distance = i128::from(to) - i128::from(from);
        let moment = |step: usize| i64::try_from(i128::from(from) + distance * step as i128 / last).unwrap_or(to);
        Ok((0..self.count).map(moment).map(Micros).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros(1_000_000_000);

    fn moments(query: &str) -> Vec<i64> {
        parse(&QueryString::parse(query))
            .unwrap()
            .unwrap()
            .moments(NOW)
            .unwrap()
            .into_iter()
            .map(|moment| moment.0)
            .collect()
    }

    #[test]
    fn moments_are_at_equal_distances_from_the_first_to_the_last() {
        assert_eq!(parse(&QueryString::parse("fieldSelector=a%3Db")), Ok(None));
        assert_eq!(moments("from=100s&steps=3"), [900_000_000, 950_000_000, 1_000_000_000]);
        assert_eq!(moments("from=1970-01-01T00:00:01Z&to=10s&steps=2"), [1_000_000, 990_000_000]);
        assert_eq!(moments("from=7d").len(), 60);
    }

    #[test]
    fn what_is_not_a_span_of_time_is_refused() {
        for (query, part) in [
            ("from=tuesday", "from: "),
            ("from=1d&to=x", "to: "),
            ("from=1d&steps=1", "from 2 to 200"),
            ("from=1d&steps=1000", "from 2 to 200"),
            ("to=1d", "need `from`"),
            ("steps=9", "need `from`"),
        ] {
            let status = parse(&QueryString::parse(query)).expect_err(query);
            assert!(status.code == 400 && status.message.contains(part), "{query}: {}", status.message);
        }
        let status = parse(&QueryString::parse("from=1d&to=2d")).unwrap().unwrap().moments(NOW).unwrap_err();
        assert!(status.message.contains("before"), "{}", status.message);
    }
}
