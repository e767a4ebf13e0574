//! The database's time. It writes the times that decide something (`delete_time`, `evict_time`), and judges them: the clock of a node may
//! be wrong by minutes or by days.
//!
//! What the database said last is carried on by a clock that only goes forward. It is asked with every new connection, and again when a
//! minute has passed.

use super::Store;
use crate::driver::StoreError;
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::statements::{ReadClock, ReadTables};
use std::time::Duration;
use tokio::time::Instant;

/// How long a writer waits for the answer.
const PROMPT: Duration = Duration::from_secs(1);

impl Store {
    /// The time by the database's clock. SQLite runs in this process and has its clock.
    pub fn now(&self) -> Micros {
        self.pool.servers().clock.now().unwrap_or_else(Micros::now)
    }

    /// How far the database's clock is ahead of this node's, in seconds; below zero if it is behind.
    pub fn clock_offset(&self) -> f64 {
        let offset = self.pool.servers().clock.now().map_or(0, |time| time.0.saturating_sub(Micros::now().0));
        Duration::from_micros(offset.unsigned_abs()).as_secs_f64().copysign(offset as f64)
    }

    /// Asks the database for the time now, for what must not depend on how long ago it was asked.
    ///
    /// # Errors
    /// If it does not answer within the retries.
    pub async fn read_clock(&self) -> Result<Micros, StoreError> {
        if self.dialect.is_embedded() {
            return Ok(Micros::now());
        }
        self.with_retries(|| "reading the database's clock".to_owned(), || self.ask_clock()).await
    }

    /// Asks the database for the time if that is due. Called between statements; a failure is left to the next time.
    pub(super) async fn keep_clock(&self) {
        if !self.dialect.is_embedded() && self.pool.servers().clock.is_due() {
            // In a box, because it is large and seldom.
            let _ = tokio::time::timeout(PROMPT, Box::pin(self.ask_clock())).await;
        }
    }

    /// Asks the database a question that costs it nothing.
    pub(super) async fn ask_once(&self) -> Result<(), sqlx::Error> {
        match self.dialect.is_embedded() {
            true => self.pool.fetch(&ReadTables).await.map(drop),
            false => self.ask_clock().await.map(drop),
        }
    }

    async fn ask_clock(&self) -> Result<Micros, sqlx::Error> {
        // A connection may have to be waited for, so the answer counts from when the statement is sent at the earliest.
        let asked = Instant::now();
        match self.pool.fetch(&ReadClock).await?.pop() {
            Some(Value::Time(time)) => {
                self.pool.servers().clock.learn(time, asked);
                Ok(time)
            }
            other => Err(sqlx::Error::Protocol(format!("the database's clock says {other:?}"))),
        }
    }
}
