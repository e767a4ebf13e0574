//! The pauses between attempts that fail one after the other: exponential and unlimited, by `backon`.
//!
//! May use: nothing.
//!
//! Only [`delay`] is our own: an object waits in the queue together with its number of failed attempts, as in client-go's rate limiter per
//! item, so no iterator of `backon` lives from one attempt to the next.

use backon::{BackoffBuilder as _, ExponentialBuilder};
use std::time::Duration;

/// For the API server: at first 50 to 100 ms, in the end 7.5 to 15 s. The pauses are random, so that the controllers of all kinds do not
/// reach an API server at the same time that has just started.
pub(crate) const API_SERVER: ExponentialBuilder =
    endless(Duration::from_millis(50), Duration::from_millis(7500)).with_jitter();

/// For the database. Short: when it is back, every write waits for this pause.
pub(crate) const DATABASE: ExponentialBuilder = endless(Duration::from_millis(200), Duration::from_secs(3));

/// For the watch of Leases, which only speeds things up: the Leases are listed anyway.
pub(crate) const LEASES: ExponentialBuilder = endless(Duration::from_secs(1), Duration::from_secs(60));

/// For a controller that panicked.
pub(crate) const RESTART: ExponentialBuilder = endless(Duration::from_secs(1), RESTART_LONGEST);

/// The longest pause before a controller that panicked is started again.
pub(crate) const RESTART_LONGEST: Duration = Duration::from_secs(60);

/// Pauses that double from `first` up to `longest`. Jitter adds up to as much again.
const fn endless(first: Duration, longest: Duration) -> ExponentialBuilder {
    ExponentialBuilder::new().with_min_delay(first).with_max_delay(longest).without_max_times()
}

/// Returns how long an object waits in the queue after this many failed attempts: a second, then twice as long each time, up to `longest`.
pub(crate) fn delay(attempt: u32, longest: Duration) -> Duration {
    Duration::from_secs(1).saturating_mul(1 << attempt.min(16)).min(longest)
}

/// Failures in a row, and the pause after each.
pub(crate) struct Backoff {
    policy: ExponentialBuilder,
    pauses: <ExponentialBuilder as backon::BackoffBuilder>::Backoff,
    failures: u32,
}

impl Backoff {
    pub(crate) fn new(policy: ExponentialBuilder) -> Self {
        Backoff { policy, pauses: policy.build(), failures: 0 }
    }

    /// Returns the number of failures since the last success.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// Records a failure. Returns how long to wait before the next attempt.
    pub(crate) fn pause(&mut self) -> Duration {
        self.failures = self.failures.saturating_add(1);
        // No policy here ends. If one did, a pause would follow anyway.
        self.pauses.next().unwrap_or(RESTART_LONGEST)
    }

    /// Records a success.
    pub(crate) fn reset(&mut self) {
        *self = Backoff::new(self.policy);
    }
}

#[cfg(test)]
mod tests {
    use super::{API_SERVER, Backoff, DATABASE, RESTART, delay};
    use std::time::Duration;

    #[test]
    fn pauses_double_from_the_first_to_the_longest() {
        let seconds = |policy| {
            let mut backoff = Backoff::new(policy);
            (0..9).map(|_| backoff.pause().as_secs_f32()).collect::<Vec<_>>()
        };
        assert_eq!(seconds(DATABASE), [0.2, 0.4, 0.8, 1.6, 3.0, 3.0, 3.0, 3.0, 3.0]);
        assert_eq!(seconds(RESTART), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]);
    }

    #[test]
    fn pauses_for_the_api_server_vary_between_half_and_all() {
        let mut first = Vec::new();
        for _ in 0..100 {
            let mut backoff = Backoff::new(API_SERVER);
            for attempt in 0..20 {
                let most = Duration::from_millis(100 << attempt.min(16)).min(Duration::from_secs(15));
                let pause = backoff.pause();
                assert!(most / 2 <= pause && pause <= most, "{attempt}: {pause:?} of {most:?}");
                if attempt == 0 {
                    first.push(pause);
                }
            }
        }
        first.dedup();
        assert!(first.len() > 50, "controllers do not come in step: {first:?}");
    }

    #[test]
    fn delays_of_an_object_double_up_to_the_requeue_period() {
        let longest = Duration::from_secs(30);
        let delays: Vec<u64> = [0, 1, 2, 4, 5, u32::MAX].map(|attempt| delay(attempt, longest).as_secs()).into();
        assert_eq!(delays, [1, 2, 4, 16, 30, 30]);
    }

    #[test]
    fn a_backoff_never_ends_and_starts_over_after_a_success() {
        let mut backoff = Backoff::new(DATABASE);
        for _ in 0..10_000 {
            assert!(backoff.pause() >= Duration::from_millis(200));
        }
        assert_eq!(backoff.failures(), 10_000);
        backoff.reset();
        assert_eq!((backoff.failures(), backoff.pause()), (0, Duration::from_millis(200)));
    }
}
