//! The database's time. Times that decide something (`delete_time`, `evict_time`) are written and judged by the database's clock, because
//! the clock of a node may be wrong by minutes or days.
//!
//! A local clock that only goes forward carries on the last time that the database told. Every new connection asks the database, and so
//! does a store when a minute has passed.

use super::Store;
use crate::driver::StoreError;
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::statements::{ReadClock, ReadTables};
use std::time::Duration;
use tokio::time::Instant;

/// A writer waits at most this long for the answer.
const PROMPT: Duration = Duration::from_secs(1);

impl Store {
    /// Returns the time by the database's clock. SQLite runs in this process and shares its clock.
    pub fn now(&self) -> Micros {
        self.pool.servers().clock.now().unwrap_or_else(Micros::now)
    }

    /// Returns how many seconds the database's clock is ahead of this node's; below zero if it is behind.
    pub fn clock_offset(&self) -> f64 {
        let offset = self.pool.servers().clock.now().map_or(0, |time| time.0.saturating_sub(Micros::now().0));
        Duration::from_micros(offset.unsigned_abs()).as_secs_f64().copysign(offset as f64)
    }

    /// Asks the database for the time now, for decisions that must not depend on an earlier answer.
    ///
    /// # Errors
    /// If it does not answer within the retries.
    pub async fn read_clock(&self) -> Result<Micros, StoreError> {
        if self.dialect.is_embedded() {
            return Ok(Micros::now());
        }
        self.with_retries(|| "reading the database's clock".to_owned(), || self.ask_clock()).await
    }

    /// Asks the database for the time if that is due. Called between statements. After a failure, the next call tries again.
    pub(super) async fn keep_clock(&self) {
        if !self.dialect.is_embedded() && self.pool.servers().clock.is_due() {
            // In a box, because the future is large and rarely needed.
            let _ = tokio::time::timeout(PROMPT, Box::pin(self.ask_clock())).await;
        }
    }

    /// Asks the database a question that costs nothing.
    pub(super) async fn ask_once(&self) -> Result<(), sqlx::Error> {
        match self.dialect.is_embedded() {
            true => self.pool.fetch(&ReadTables).await.map(drop),
            false => self.ask_clock().await.map(drop),
        }
    }

    async fn ask_clock(&self) -> Result<Micros, sqlx::Error> {
        // Getting a connection may take time, so count the answer's age from here: the statement is not sent before.
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
