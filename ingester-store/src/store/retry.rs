//! The loop around everything that a passing error may stop: the store's [`Retry`](super::Retry), in one place.

use super::{ErrorClass, Store, StoreError};
use std::time::{Duration, Instant};

/// What takes longer is logged.
const SLOW: Duration = Duration::from_secs(1);

impl Store {
    /// Does `work` from its beginning until it succeeds, fails for a reason that does not pass by itself, or the attempts
    /// are used up. `doing` is said of an error.
    pub(super) async fn retrying<T, F>(&self, doing: impl Fn() -> String, work: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        let mut attempt = 1;
        loop {
            let begin = Instant::now();
            let result = work().await;
            if begin.elapsed() >= SLOW {
                tracing::warn!(doing = doing(), seconds = begin.elapsed().as_secs_f64(), "the database is slow");
            }
            let error = match result {
                Ok(done) => return Ok(done),
                // The pool has tried to connect for as long as it may: trying on here would only hide the outage.
                Err(error @ sqlx::Error::PoolTimedOut) => return Err(StoreError::of(doing(), error)),
                Err(error) => StoreError::of(doing(), error),
            };
            if error.class() != ErrorClass::Transient {
                return Err(error);
            }
            match self.retry.pause(attempt) {
                Some(pause) => {
                    tracing::debug!(%error, attempt, "failed, trying again");
                    tokio::time::sleep(pause).await;
                    attempt += 1;
                }
                None => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::store::{ConnectOptions, ErrorClass, Retry, Store, StoreError};
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
            .retrying(
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
