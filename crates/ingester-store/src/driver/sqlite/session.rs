//! One connection to a file, or to a database in memory.

use super::connect::watch;
use super::deadline::Deadline;
use super::durability::Durability;
use super::values;
use crate::driver::interface::{Call, Rows, Session, TransactionEnd};
use crate::driver::values::{raw, raw_text};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_sql::dialect::sqlite::session;
use ingester_sql::dialect::{Access, Sql};
use sqlx::migrate::Migrate;
use sqlx::pool::PoolConnection;
use sqlx::{Executor as _, SqlSafeStr as _, Sqlite, SqliteConnection, SqlitePool, Transaction};
use std::sync::Arc;
use std::time::Duration;

/// A connection that is lent. sqlx rolls back a transaction that is dropped.
pub(super) struct LentConnection {
    pool: SqlitePool,
    deadline: Deadline,
    durability: Durability,
    state: LentState,
}

enum LentState {
    Idle(PoolConnection<Sqlite>),
    Open(Transaction<'static, Sqlite>),
    /// The connection was returned with its transaction. The next statement takes one again.
    Returned,
}

impl LentConnection {
    pub(super) async fn take(
        pool: &SqlitePool,
        deadline: &Deadline,
        durability: &Durability,
    ) -> Result<Self, sqlx::Error> {
        let state = LentState::Idle(pool.acquire().await?);
        Ok(LentConnection { pool: pool.clone(), deadline: deadline.clone(), durability: durability.clone(), state })
    }

    pub(super) async fn connection(&mut self) -> Result<&mut SqliteConnection, sqlx::Error> {
        if let LentState::Returned = self.state {
            self.state = LentState::Idle(self.pool.acquire().await?);
        }
        match &mut self.state {
            LentState::Idle(connection) => Ok(connection),
            LentState::Open(tx) => Ok(tx),
            LentState::Returned => Err(sqlx::Error::PoolClosed),
        }
    }
}

impl Session for LentConnection {
    fn execute<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<u64, sqlx::Error>> {
        async move { values::execute(self.connection().await?, call).await }.boxed()
    }

    fn fetch<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>> {
        async move { values::fetch(self.connection().await?, call).await }.boxed()
    }

    fn fetch_within<'s>(
        &'s mut self,
        call: Call<'s>,
        time: Duration,
    ) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>> {
        async move {
            // A store's only connection shares its deadline with this query; with several connections, the query gets its own.
            let deadline = if self.deadline.is_shared() { self.deadline.clone() } else { Deadline::default() };
            let is_shared = self.deadline.is_shared();
            let connection = self.connection().await?;
            if !is_shared {
                watch(connection, deadline.clone()).await?;
            }
            let set = deadline.set(time);
            let rows = values::fetch(connection, call).await;
            set.end();
            rows
        }
        .boxed()
    }

    fn run<'s>(&'s mut self, text: Arc<str>) -> BoxFuture<'s, Result<(), sqlx::Error>> {
        async move { self.connection().await?.execute(raw_text(text)).await.map(drop) }.boxed()
    }

    fn run_transaction<'s>(&'s mut self, text: &'s Sql) -> BoxFuture<'s, Result<u64, sqlx::Error>> {
        async move { Ok(self.connection().await?.execute(raw(text)).await?.rows_affected()) }.boxed()
    }

    fn begin(&mut self, access: Access, is_durable: bool) -> BoxFuture<'_, Result<(), sqlx::Error>> {
        async move {
            let mut connection = match std::mem::replace(&mut self.state, LentState::Returned) {
                LentState::Idle(connection) => connection,
                LentState::Open(_) | LentState::Returned => self.pool.acquire().await?,
            };
            if is_durable {
                self.durability.raise(&mut connection).await?;
            }
            let begin = session::begin(access).into_sql_str();
            self.state = LentState::Open(Transaction::begin(connection, Some(begin)).await?);
            Ok(())
        }
        .boxed()
    }

    fn end<'s>(&'s mut self, end: TransactionEnd<'s>) -> BoxFuture<'s, Result<(), sqlx::Error>> {
        async move {
            let LentState::Open(tx) = std::mem::replace(&mut self.state, LentState::Returned) else { return Ok(()) };
            match end {
                // SQLite's dialect has no text of several statements.
                TransactionEnd::Commit(_) => tx.commit().await,
                TransactionEnd::RollBack(_) => {
                    // If that fails, SQLite has already rolled back, or the connection is lost. The pool closes a connection that still
                    // counts a transaction.
                    drop(tx.rollback().await);
                    Ok(())
                }
            }
        }
        .boxed()
    }

    fn ledger(&mut self) -> BoxFuture<'_, Result<&mut (dyn Migrate + Send), sqlx::Error>> {
        async move { Ok(self.connection().await? as &mut (dyn Migrate + Send)) }.boxed()
    }
}
