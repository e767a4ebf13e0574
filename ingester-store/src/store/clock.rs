//! The database's time. It writes the times that decide something (`delete_time`, `evict_time`), and judges them: the clock of a node may
//! be wrong by minutes or by days.
//!
//! What the database said last is carried on by a clock that only goes forward. It is asked with every new connection, and again when a
//! minute has passed.

use super::{Store, StoreError};
use ingester_core::dialect::Dialect;
use ingester_core::dialect::statements::ReadClock;
use ingester_core::value::{Micros, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// After so long the database is asked again.
const AGAIN: Duration = Duration::from_secs(60);

/// How long a writer waits for that, and how long after an attempt there is none.
const PROMPT: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_secs(10);

/// What the clock of the database says, as far as it was asked.
#[derive(Debug, Default)]
pub(super) struct Clock(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// A time of the database's, and when it was that time.
    told: Option<(Micros, Instant)>,
    /// When it was asked last, whatever came of it.
    asked: Option<Instant>,
}

impl Clock {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It was this time at some moment between `asked` and now.
    pub(super) fn learn(&self, time: Micros, asked: Instant) {
        let told = asked + asked.elapsed() / 2;
        *self.state() = State { told: Some((time, told)), asked: Some(asked) };
    }

    /// The time; `None` if the database never told it.
    fn now(&self) -> Option<Micros> {
        let (time, told) = self.state().told?;
        let since = i64::try_from(told.elapsed().as_micros()).unwrap_or(i64::MAX);
        Some(Micros(time.0.saturating_add(since)))
    }

    /// Whether it is to be asked. Only one of several is told so.
    fn is_due(&self) -> bool {
        let mut state = self.state();
        let is_old = state.told.is_none_or(|(_, told)| told.elapsed() > AGAIN);
        let is_due = is_old && state.asked.is_none_or(|asked| asked.elapsed() > PAUSE);
        if is_due {
            state.asked = Some(Instant::now());
        }
        is_due
    }
}

impl Store {
    /// The time by the database's clock. SQLite runs in this process and has its clock.
    pub fn now(&self) -> Micros {
        self.servers.clock.now().unwrap_or_else(Micros::now)
    }

    /// How far the database's clock is ahead of this node's, in seconds; below zero if it is behind.
    pub fn clock_offset(&self) -> f64 {
        let offset = self.servers.clock.now().map_or(0, |time| time.0.saturating_sub(Micros::now().0));
        Duration::from_micros(offset.unsigned_abs()).as_secs_f64().copysign(offset as f64)
    }

    /// Asks the database for the time now, for what must not depend on how long ago it was asked.
    ///
    /// # Errors
    /// If it does not answer within the retries.
    pub async fn read_clock(&self) -> Result<Micros, StoreError> {
        if self.dialect == Dialect::Sqlite {
            return Ok(Micros::now());
        }
        self.with_retries(|| "reading the database's clock".to_owned(), || self.ask_clock()).await
    }

    /// Asks the database for the time if that is due. Called between statements; a failure is left to the next time.
    pub(super) async fn keep_clock(&self) {
        if self.dialect != Dialect::Sqlite && self.servers.clock.is_due() {
            // In a box, because it is large and seldom.
            let _ = tokio::time::timeout(PROMPT, Box::pin(self.ask_clock())).await;
        }
    }

    async fn ask_clock(&self) -> Result<Micros, sqlx::Error> {
        // A connection may have to be waited for, so the answer counts from when the statement is sent at the earliest.
        let asked = Instant::now();
        match self.pool.fetch(&ReadClock).await?.pop() {
            Some(Value::Time(time)) => {
                self.servers.clock.learn(time, asked);
                Ok(time)
            }
            other => Err(sqlx::Error::Protocol(format!("the database's clock says {other:?}"))),
        }
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
