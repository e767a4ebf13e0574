//! The database's time: the last time that the database told, carried on by a local clock that only goes forward.

use ingester_core::value::Micros;
use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::Instant;

/// The database is asked again after this time.
const AGAIN: Duration = Duration::from_secs(60);

/// The pause after an attempt.
const PAUSE: Duration = Duration::from_secs(10);

/// The clock of the database, as far as it was asked.
#[derive(Debug, Default)]
pub(crate) struct Clock(Mutex<ClockReading>);

#[derive(Debug, Default)]
struct ClockReading {
    /// A time that the database told, and the local instant at which it was that time.
    told: Option<(Micros, Instant)>,
    /// The time of the last question, with or without an answer.
    asked: Option<Instant>,
}

impl Clock {
    fn state(&self) -> MutexGuard<'_, ClockReading> {
        self.0.lock()
    }

    /// Records an answer: it was this time at some moment between `asked` and now.
    pub(crate) fn learn(&self, time: Micros, asked: Instant) {
        let told = asked + asked.elapsed() / 2;
        *self.state() = ClockReading { told: Some((time, told)), asked: Some(asked) };
    }

    /// Returns the time; `None` if the database never told it.
    pub(crate) fn now(&self) -> Option<Micros> {
        let (time, told) = self.state().told?;
        let since = i64::try_from(told.elapsed().as_micros()).unwrap_or(i64::MAX);
        Some(Micros(time.0.saturating_add(since)))
    }

    /// Returns true if the caller should ask the database now. Of several callers, only one gets `true`.
    pub(crate) fn is_due(&self) -> bool {
        let mut state = self.state();
        let is_old = state.told.is_none_or(|(_, told)| told.elapsed() > AGAIN);
        let is_due = is_old && state.asked.is_none_or(|asked| asked.elapsed() > PAUSE);
        if is_due {
            state.asked = Some(Instant::now());
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::{AGAIN, Clock, PAUSE};
    use ingester_core::value::Micros;
    use std::time::Duration;
    use tokio::time::{Instant, advance};

    const TIME: Micros = Micros(1_700_000_000_000_000);

    #[tokio::test(start_paused = true)]
    async fn the_databases_time_goes_on_whatever_the_nodes_clock_says() {
        let clock = Clock::default();
        assert_eq!(clock.now(), None);
        let asked = Instant::now();
        advance(Duration::from_secs(2)).await;
        clock.learn(TIME, asked);
        assert_eq!(clock.now(), Some(Micros(TIME.0 + 1_000_000)), "it was said in the middle of two seconds");
        advance(Duration::from_secs(9)).await;
        assert_eq!(clock.now(), Some(Micros(TIME.0 + 10_000_000)));
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_several_asks_again_after_a_minute() {
        let clock = Clock::default();
        assert!(clock.is_due() && !clock.is_due(), "one asks");
        advance(PAUSE + Duration::from_secs(1)).await;
        assert!(clock.is_due(), "there was no answer");
        clock.learn(TIME, Instant::now());
        advance(AGAIN).await;
        assert!(!clock.is_due());
        advance(Duration::from_secs(1)).await;
        assert!(clock.is_due() && !clock.is_due());
    }
}
