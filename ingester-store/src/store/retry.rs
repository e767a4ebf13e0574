//! Retries with exponential backoff, for transient errors of the database.

use super::error::{class_of, is_lost, is_stale};
use super::{ErrorClass, Store, StoreError};
use backon::{ExponentialBuilder, Retryable as _};
use std::time::{Duration, Instant};

/// Work that takes longer is logged.
const SLOW: Duration = Duration::from_secs(1);

/// How often and after which pauses a transient error is retried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// The first pause; each following one is twice as long. Every pause is shortened at random by up to a half, so that
    /// workers do not retry in step.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// How many attempts there are in all; `None` for no limit.
    pub attempts: Option<u32>,
}

impl Retry {
    /// For work that a person waits for: 6 attempts within about 3 seconds.
    pub const SHORT: Retry =
        Retry { first: Duration::from_millis(100), longest: Duration::from_secs(2), attempts: Some(6) };

    /// For work that must not give up.
    pub const ENDLESS: Retry =
        Retry { first: Duration::from_millis(50), longest: Duration::from_secs(10), attempts: None };

    /// The pauses between the attempts.
    pub(super) fn backoff(&self) -> ExponentialBuilder {
        // The jitter adds up to as much again, so the halves become between a half and the whole.
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

impl Store {
    /// Runs `work` from its beginning until it succeeds, fails with an error that is not transient, or has used up its attempts.
    /// `doing` says in the error what was being done.
    pub(super) async fn with_retries<T, F>(
        &self,
        doing: impl Fn() -> String,
        work: impl Fn() -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        let attempt = || async {
            let begin = Instant::now();
            let result = work().await;
            if let Err(error) = &result {
                if is_stale(error) {
                    self.servers.replace_connections();
                }
                if is_stale(error) || is_lost(error) {
                    self.pool.look_for_server().await;
                }
            }
            if begin.elapsed() >= SLOW {
                tracing::warn!(doing = doing(), seconds = begin.elapsed().as_secs_f64(), "the database is slow");
            }
            result
        };
        let result = attempt
            .retry(self.retry.backoff())
            // If the pool has timed out, it has already tried to connect for long enough. More attempts would hide the outage.
            .when(|error| class_of(error) == ErrorClass::Transient && !matches!(error, sqlx::Error::PoolTimedOut))
            .notify(|error, pause| tracing::debug!(doing = doing(), %error, ?pause, "failed, trying again"))
            .await;
        result.map_err(|error| StoreError::of(doing(), error))
    }
}

#[cfg(test)]
mod tests {
    use crate::store::{ConnectOptions, ErrorClass, Retry, Store, StoreError};
    use backon::BackoffBuilder as _;
    use std::cell::Cell;
    use std::io::ErrorKind;
    use std::time::Duration;

    /// Does work that fails `failures` times; returns how often it was tried and what came of it.
    async fn tried(failures: u32, error: fn() -> sqlx::Error) -> (u32, Result<u32, StoreError>) {
        let retry = Retry { first: Duration::from_micros(1), longest: Duration::from_micros(1), attempts: Some(4) };
        let options = ConnectOptions { retry, ..ConnectOptions::default() };
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), options).await.unwrap();
        let times = Cell::new(0);
        let result = store
            .with_retries(
                || "trying".to_owned(),
                || async {
                    times.set(times.get() + 1);
                    if times.get() > failures { Ok(times.get()) } else { Err(error()) }
                },
            )
            .await;
        (times.get(), result)
    }

    fn reset() -> sqlx::Error {
        std::io::Error::from(ErrorKind::ConnectionReset).into()
    }

    #[test]
    fn pauses_grow_to_the_longest_one_and_end_with_the_attempts() {
        let retry = Retry { first: Duration::from_millis(100), longest: Duration::from_secs(1), attempts: Some(40) };
        let pauses: Vec<u128> = retry.backoff().build().map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses.len(), 39);
        for (pause, full) in pauses.iter().zip([100, 200, 400, 800].into_iter().chain(std::iter::repeat(1000))) {
            assert!((full / 2..=full).contains(pause), "{pauses:?}");
        }
        assert!(Retry::ENDLESS.backoff().build().nth(10_000).is_some());
        let once = Retry { attempts: Some(1), ..retry };
        assert_eq!(once.backoff().build().next(), None);
    }

    #[tokio::test]
    async fn a_transient_error_is_retried_until_it_passes() {
        let (times, result) = tried(3, reset).await;
        assert_eq!((times, result.unwrap()), (4, 4));
    }

    #[tokio::test]
    async fn retries_end_after_the_last_attempt() {
        let (times, result) = tried(u32::MAX, reset).await;
        let error = result.unwrap_err();
        assert_eq!((times, error.class()), (4, ErrorClass::Transient));
        assert!(error.to_string().starts_with("trying: "), "{error}");
    }

    #[tokio::test]
    async fn a_permanent_error_is_not_retried() {
        let (times, result) = tried(1, || sqlx::Error::InvalidArgument("too long".into())).await;
        assert_eq!((times, result.unwrap_err().class()), (1, ErrorClass::Object));
    }
}
