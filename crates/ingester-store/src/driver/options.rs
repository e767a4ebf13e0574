//! Options for connecting and for retries.

use backon::ExponentialBuilder;
use std::time::Duration;

/// Options for connecting. Begin with the default, and change it with a method for each field.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// The most connections. SQLite has one.
    pub connections: u32,
    /// The number of connections that stay open while there is nothing to do; at most `connections`.
    ///
    /// All are opened when they are needed. Further ones are closed when they reach `max_lifetime`, or after ten minutes without
    /// work, because sqlx's pool has a minimum of idle connections and no maximum.
    pub max_idle: u32,
    /// The age at which a new connection replaces an old one, so that connections move away from a server that a load balancer has taken
    /// out; `None` for never.
    pub max_lifetime: Option<Duration>,
    /// If true, creates a missing SQLite file.
    pub create: bool,
    /// If true, the database refuses every write, whatever is sent to it. A database without such sessions (TiDB) relies on the user's
    /// rights.
    pub read_only: bool,
    /// The retries of transient errors, while connecting and later.
    pub retry: Retry,
    /// The time for which an object that the database refuses with an unknown error is tried again before it is rejected.
    pub patience: Duration,
    /// The time limit of the database for a query that is a part of other work, such as the look-up before a write.
    pub query_time: Duration,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        ConnectOptions {
            connections: 4,
            max_idle: 0,
            max_lifetime: Some(Duration::from_secs(300)),
            create: true,
            read_only: false,
            retry: Retry::COMMAND,
            patience: Duration::from_secs(60),
            query_time: Duration::from_secs(30),
        }
    }
}

impl ConnectOptions {
    /// Sets [`connections`](Self::connections).
    #[must_use]
    pub const fn connections(self, connections: u32) -> Self {
        ConnectOptions { connections, ..self }
    }

    /// Sets [`max_idle`](Self::max_idle).
    #[must_use]
    pub const fn max_idle(self, max_idle: u32) -> Self {
        ConnectOptions { max_idle, ..self }
    }

    /// Sets [`max_lifetime`](Self::max_lifetime).
    #[must_use]
    pub const fn max_lifetime(self, max_lifetime: Option<Duration>) -> Self {
        ConnectOptions { max_lifetime, ..self }
    }

    /// Sets [`create`](Self::create).
    #[must_use]
    pub const fn create(self, create: bool) -> Self {
        ConnectOptions { create, ..self }
    }

    /// Sets [`read_only`](Self::read_only).
    #[must_use]
    pub const fn read_only(self, read_only: bool) -> Self {
        ConnectOptions { read_only, ..self }
    }

    /// Sets [`retry`](Self::retry).
    #[must_use]
    pub const fn retry(self, retry: Retry) -> Self {
        ConnectOptions { retry, ..self }
    }

    /// Sets [`patience`](Self::patience).
    #[must_use]
    pub const fn patience(self, patience: Duration) -> Self {
        ConnectOptions { patience, ..self }
    }

    /// Sets [`query_time`](Self::query_time).
    #[must_use]
    pub const fn query_time(self, query_time: Duration) -> Self {
        ConnectOptions { query_time, ..self }
    }
}

/// The number of retries of a transient error, and the pauses between them. Begin with a constant, and change it with a method for each
/// field.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Retry {
    /// The first pause; each following one is twice as long. Every pause is shortened at random by up to a half, so that
    /// workers do not retry in step.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// The number of attempts in all; `None` for no limit.
    pub attempts: Option<u32>,
    /// The time for which attempts go on, however many there were, while some servers answer but none takes writes. It should cover the
    /// election of a primary. Zero counts these attempts like others.
    pub election: Duration,
}

impl Retry {
    /// For work whose caller tries again: 6 attempts within about 3 seconds.
    pub const SHORT: Retry = Retry {
        first: Duration::from_millis(100),
        longest: Duration::from_secs(2),
        attempts: Some(6),
        election: Duration::ZERO,
    };

    /// For a command, which nothing tries again: like [`Retry::SHORT`], plus a minute for an election. A MySQL group expels a killed member
    /// after ten seconds, and its successor first applies the transactions that it has received: 23 seconds were seen on a busy machine.
    pub const COMMAND: Retry = Retry { election: Duration::from_secs(60), ..Retry::SHORT };

    /// For work that must not give up.
    pub const ENDLESS: Retry = Retry {
        first: Duration::from_millis(50),
        longest: Duration::from_secs(10),
        attempts: None,
        election: Duration::ZERO,
    };

    /// Sets [`first`](Self::first).
    #[must_use]
    pub const fn first(self, first: Duration) -> Self {
        Retry { first, ..self }
    }

    /// Sets [`longest`](Self::longest).
    #[must_use]
    pub const fn longest(self, longest: Duration) -> Self {
        Retry { longest, ..self }
    }

    /// Sets [`attempts`](Self::attempts).
    #[must_use]
    pub const fn attempts(self, attempts: Option<u32>) -> Self {
        Retry { attempts, ..self }
    }

    /// Sets [`election`](Self::election).
    #[must_use]
    pub const fn election(self, election: Duration) -> Self {
        Retry { election, ..self }
    }

    /// Returns the pauses between the attempts.
    pub(crate) fn backoff(&self) -> ExponentialBuilder {
        // The jitter adds up to as much again, so start with halves: the pauses are then between a half and the whole.
        let backoff = ExponentialBuilder::new()
            .with_min_delay(self.first.min(self.longest) / 2)
            .with_max_delay(self.longest / 2)
            .with_jitter();
        match self.attempts {
            Some(attempts) => backoff.with_max_times(attempts.saturating_sub(1) as usize),
            None => backoff.without_max_times(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Retry;
    use backon::BackoffBuilder as _;
    use std::time::Duration;

    #[test]
    fn pauses_grow_to_the_longest_one_and_end_with_the_attempts() {
        let retry = Retry { longest: Duration::from_secs(1), attempts: Some(40), ..Retry::SHORT };
        let pauses: Vec<u128> = retry.backoff().build().map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses.len(), 39);
        for (pause, full) in pauses.iter().zip([100, 200, 400, 800].into_iter().chain(std::iter::repeat(1000))) {
            assert!((full / 2..=full).contains(pause), "{pauses:?}");
        }
        assert!(Retry::ENDLESS.backoff().build().nth(10_000).is_some());
        let once = Retry { attempts: Some(1), ..retry };
        assert_eq!(once.backoff().build().next(), None);
    }
}
