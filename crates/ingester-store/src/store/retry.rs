//! Retries with exponential backoff, for transient errors of the database.

use super::Store;
use crate::driver::{ErrorClass, ErrorSubject, Retry, SearchResult, StoreError, class_of, is_about, is_lost};
use backon::Retryable as _;
use ingester_sql::dialect::Query;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Work that takes longer than this is logged.
const SLOW: Duration = Duration::from_secs(1);

/// A wait as long as this is logged.
const LONG: Duration = Duration::from_secs(10);

/// The interval at which a wait is logged again.
const AGAIN: Duration = Duration::from_secs(60);

/// Does the work. If it takes longer than a person waits without a message, logs the reason for the wait.
pub async fn waiting_for<T>(what: impl Fn() -> String, work: impl Future<Output = T>) -> T {
    let begin = Instant::now();
    let mut pause = LONG;
    let mut work = std::pin::pin!(work);
    loop {
        match tokio::time::timeout(pause, &mut work).await {
            Ok(done) => return done,
            Err(_) => tracing::warn!(seconds = begin.elapsed().as_secs(), "Still waiting for {}", what()),
        }
        pause = AGAIN;
    }
}

/// Work at a database may go on for this long after a request to stop: a locked table must not keep a person waiting.
const GRACE: Duration = Duration::from_secs(3);

/// Does work to its end. Returns `None` if it does not end soon after a request to stop.
pub async fn unless_stopped<T>(stop: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
    let mut work = std::pin::pin!(work);
    if let Some(done) = stop.run_until_cancelled(&mut work).await {
        return Some(done);
    }
    tokio::time::timeout(GRACE, work).await.ok()
}

/// The wait of one piece of work for a server that takes writes.
pub(super) struct Election {
    retry: Retry,
    begin: Option<Instant>,
    is_told: bool,
}

impl Election {
    pub(super) fn new(retry: Retry) -> Self {
        Election { retry, begin: None, is_told: false }
    }

    /// Returns the pause after an attempt that failed with a transient error; `None` if it was the last attempt. `looked` is the result of
    /// the search for a server after it. Once a search has found servers without a primary, or another primary, no attempt is the last
    /// until the wait is over, whatever is `usual`.
    pub(super) fn pause(
        &mut self,
        looked: SearchResult,
        usual: Option<Duration>,
        doing: impl Fn() -> String,
    ) -> Option<Duration> {
        let longest = self.retry.election;
        let is_found = matches!(looked, SearchResult::Electing | SearchResult::Moved);
        if longest.is_zero() || (self.begin.is_none() && !is_found) {
            return usual;
        }
        if self.begin.get_or_insert_with(Instant::now).elapsed() >= longest {
            return None;
        }
        if usual.is_none() && !self.is_told {
            self.is_told = true;
            tracing::warn!(
                doing = doing(),
                "The database does not answer or takes no writes: waiting up to {} s, in which a group may elect a primary",
                longest.as_secs()
            );
        }
        usual.or(Some(self.retry.longest))
    }
}

/// The error of an attempt, and the result of the search for another server after it.
struct FailedAttempt {
    error: sqlx::Error,
    looked: SearchResult,
}

impl Store {
    /// Runs a statement that reads, with retries. `doing` says in the error what was being done.
    ///
    /// # Errors
    /// If the database cannot be reached within the retries, or refuses the statement.
    pub async fn read<Q: Query>(&self, doing: impl Fn() -> String, query: &Q) -> Result<Vec<Q::Row>, StoreError> {
        self.with_retries(doing, || self.pool.fetch(query)).await
    }

    /// Runs `work` from its beginning until it succeeds, fails with an error that is not transient, or has used up its attempts.
    /// `doing` says in the error what was being done.
    pub(crate) async fn with_retries<T, F>(
        &self,
        doing: impl Fn() -> String,
        work: impl Fn() -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        // If attempts have no limit, an outage is reported elsewhere, and only an attempt that hangs is reported here.
        let waits = self.retry.attempts.is_some();
        let is_away = AtomicBool::new(false);
        let waited_for = || match is_away.load(Ordering::Relaxed) {
            true => format!("the database, {}: it does not answer or takes no writes", doing()),
            false => format!("{} ({})", database(&doing()), self.dialect.who_holds_locks()),
        };
        let attempt = || async {
            let begin = Instant::now();
            // In a box, because the future is large, and would be moved with the futures around it.
            let work = Box::pin(work());
            let result = match waits {
                true => work.await,
                false => waiting_for(waited_for, work).await,
            };
            let mut looked = SearchResult::Same;
            if let Err(error) = &result {
                if is_about(error, ErrorSubject::Stale) {
                    self.pool.servers().replace_connections();
                }
                let is_gone = is_about(error, ErrorSubject::Stale) || is_lost(error);
                is_away.store(is_gone, Ordering::Relaxed);
                if is_gone {
                    looked = self.pool.look_for_server().await;
                }
            }
            if begin.elapsed() >= SLOW {
                tracing::warn!(doing = doing(), seconds = begin.elapsed().as_secs_f64(), "the database is slow");
            }
            result.map_err(|error| FailedAttempt { error, looked })
        };
        let mut election = Election::new(self.retry);
        let result = attempt
            .retry(self.retry.backoff())
            .when(|failed| class_of(&failed.error) == ErrorClass::Transient)
            .adjust(|FailedAttempt { error, looked }, pause| {
                // If the pool has timed out, it has already tried to connect for long enough. More attempts would hide the outage.
                let usual = pause.filter(|_| !matches!(error, sqlx::Error::PoolTimedOut));
                election.pause(*looked, usual, &doing)
            })
            .notify(
                |FailedAttempt { error, .. }, pause| tracing::debug!(doing = doing(), %error, ?pause, "failed, trying again"),
            );
        let result = Box::pin(result.into_future());
        let result = match waits {
            true => waiting_for(waited_for, result).await,
            false => result.await,
        };
        if result.is_ok() {
            Box::pin(self.keep_clock()).await;
        }
        result.map_err(|FailedAttempt { error, .. }| StoreError::from_sqlx(doing(), error))
    }
}

/// Returns the log's text for a wait at a database. The usual reason is a lock.
pub(crate) fn database(doing: &str) -> String {
    format!("the database, {doing}: another session may hold a lock")
}

#[cfg(test)]
mod tests {
    use super::{Election, unless_stopped};
    use crate::driver::{ConnectOptions, ErrorClass, Retry, SearchResult, StoreError};
    use crate::store::Store;
    use std::cell::Cell;
    use std::io::ErrorKind;
    use std::time::Duration;
    use tokio_util::sync::CancellationToken;

    /// Does work that fails `failures` times. Returns the number of attempts and the result.
    async fn tried(failures: u32, error: fn() -> sqlx::Error) -> (u32, Result<u32, StoreError>) {
        let once = Duration::from_micros(1);
        let retry = Retry { first: once, longest: once, attempts: Some(4), ..Retry::SHORT };
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

    #[tokio::test(start_paused = true)]
    async fn work_that_hangs_ends_soon_after_the_stop_and_other_work_at_its_end() {
        let stop = CancellationToken::new();
        assert_eq!(unless_stopped(&stop, async { 1 }).await, Some(1));
        stop.cancel();
        let soon = tokio::time::sleep(Duration::from_secs(1));
        assert_eq!(unless_stopped(&stop, soon).await, Some(()));
        assert_eq!(unless_stopped(&stop, std::future::pending::<()>()).await, None);
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

    #[test]
    fn attempts_go_on_from_the_loss_of_a_primary_until_the_wait_for_another_is_over() {
        let usual = Some(Duration::from_millis(7));
        let doing = || "writing".to_owned();
        let mut election = Election::new(Retry::COMMAND);
        assert_eq!(election.pause(SearchResult::Same, None, doing), None);
        assert_eq!(election.pause(SearchResult::Unreachable, None, doing), None, "no server that could be elected");
        assert_eq!(election.pause(SearchResult::Electing, usual, doing), usual);
        assert_eq!(election.pause(SearchResult::Electing, None, doing), Some(Retry::COMMAND.longest));
        assert_eq!(election.pause(SearchResult::Same, None, doing), Some(Retry::COMMAND.longest), "the new one begins");
        election.begin = election.begin.unwrap().checked_sub(Retry::COMMAND.election);
        assert_eq!(election.pause(SearchResult::Electing, usual, doing), None);
        assert_eq!(
            Election::new(Retry::SHORT).pause(SearchResult::Electing, None, doing),
            None,
            "its caller tries again"
        );
        assert_eq!(Election::new(Retry::COMMAND).pause(SearchResult::Moved, None, doing), Some(Retry::COMMAND.longest));
    }

    #[tokio::test]
    async fn a_permanent_error_is_not_retried() {
        let (times, result) = tried(1, || sqlx::Error::InvalidArgument("too long".into())).await;
        assert_eq!((times, result.unwrap_err().class()), (1, ErrorClass::Object));
    }
}
