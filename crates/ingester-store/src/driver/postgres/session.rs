//! One connection to a server.

use super::error::is_end;
use super::values::{self, StatementNaming};
use crate::driver::interface::{Call, Rows, Session, TransactionEnd};
use crate::driver::values::{raw, raw_text};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_sql::dialect::postgres::session::{self, Settings};
use ingester_sql::dialect::{Access, Dialect, Sql};
use sqlx::migrate::Migrate;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Postgres, SqlSafeStr as _, SqlStr};
use std::sync::Arc;
use std::time::Duration;

/// A connection that is lent. If it is dropped within a transaction or a query, it is closed, so that no other caller finds the transaction
/// open or waits for the query's end. The server ends a query whose connection is closed.
pub(super) struct LentConnection {
    connection: PoolConnection<Postgres>,
    /// If statements are unnamed, a pooler may give each transaction another connection to the server. Each statement is then in a
    /// transaction with its own settings.
    prepared: StatementNaming,
    is_read_only: bool,
    is_in_transaction: bool,
    /// True if a statement of the transaction has failed. The server would accept a commit then, but roll back.
    has_failed: bool,
    /// True if sqlx counts a transaction that it never ends.
    is_nested: bool,
    /// True if the connection must be closed on drop.
    is_torn: bool,
}

impl LentConnection {
    pub(super) fn new(connection: PoolConnection<Postgres>, prepared: StatementNaming, is_read_only: bool) -> Self {
        LentConnection {
            connection,
            prepared,
            is_read_only,
            is_in_transaction: false,
            has_failed: false,
            is_nested: false,
            is_torn: false,
        }
    }

    pub(super) fn connection(&mut self) -> &mut PoolConnection<Postgres> {
        &mut self.connection
    }

    /// Returns true if settings, locks and prepared statements stay with the connection.
    pub(super) fn keeps_sessions(&self) -> bool {
        self.prepared == StatementNaming::Named
    }

    /// Returns the text that begins a transaction whose statements end after `limit`.
    fn beginning(&self, access: Access, limit: Option<Duration>) -> SqlStr {
        let settings = (!self.keeps_sessions()).then_some(Settings { read_only: self.is_read_only });
        match (settings, limit) {
            (None, None) => session::begin(access).into_sql_str(),
            (settings, limit) => AssertSqlSafe(session::begin_with(access, settings, limit)).into_sql_str(),
        }
    }

    async fn begin_transaction(&mut self, access: Access) -> Result<(), sqlx::Error> {
        self.is_torn = true;
        let begin = self.beginning(access, None);
        self.connection.execute(sqlx::raw_sql(begin)).await?;
        (self.is_in_transaction, self.has_failed) = (true, false);
        Ok(())
    }

    /// Commits, after the last statements if there are any.
    async fn commit(&mut self, last: Option<&Sql>) -> Result<(), sqlx::Error> {
        if self.has_failed {
            self.roll_back(None).await;
            return Err(sqlx::Error::Protocol("a statement has failed, so the transaction cannot be committed".into()));
        }
        let commit = last.map_or_else(|| sqlx::raw_sql(Dialect::COMMIT), raw);
        self.connection.execute(commit).await?;
        (self.is_in_transaction, self.is_torn) = (false, false);
        Ok(())
    }

    /// Rolls back, after an error if there was one. The connection is closed if even that fails, or if the error requires it.
    async fn roll_back(&mut self, error: Option<&sqlx::Error>) {
        self.is_in_transaction = false;
        self.is_torn =
            error.is_some_and(is_end) || self.connection.execute(sqlx::raw_sql(Dialect::ROLLBACK)).await.is_err();
    }

    async fn run_text(&mut self, text: Arc<str>) -> Result<u64, sqlx::Error> {
        let is_alone = self.enter().await?;
        let done = self.connection.execute(raw_text(text)).await.map(|done| done.rows_affected());
        self.leave(is_alone, done).await
    }

    /// Called before a statement. Returns true if the statement got its own transaction, which has to be ended after it.
    async fn enter(&mut self) -> Result<bool, sqlx::Error> {
        let is_alone = !self.keeps_sessions() && !self.is_in_transaction;
        if is_alone {
            self.begin_transaction(Access::Write).await?;
        }
        self.is_torn = true;
        Ok(is_alone)
    }

    /// Called after a statement.
    async fn leave<T>(&mut self, is_alone: bool, done: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        self.has_failed |= done.is_err();
        match (&done, is_alone) {
            (Ok(_), true) => self.commit(None).await?,
            (Err(error), true) => self.roll_back(Some(error)).await,
            (done, false) => self.is_torn = self.is_in_transaction || done.as_ref().is_err_and(is_end),
        }
        done
    }
}

impl Drop for LentConnection {
    fn drop(&mut self) {
        if self.is_torn {
            self.connection.close_on_drop();
        }
    }
}

impl Session for LentConnection {
    fn execute<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<u64, sqlx::Error>> {
        async move {
            let is_alone = self.enter().await?;
            let done = values::execute(&mut self.connection, call, self.prepared).await;
            self.leave(is_alone, done).await
        }
        .boxed()
    }

    fn fetch<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>> {
        async move {
            let is_alone = self.enter().await?;
            let done = values::fetch(&mut self.connection, call, self.prepared).await;
            self.leave(is_alone, done).await
        }
        .boxed()
    }

    fn fetch_within<'s>(
        &'s mut self,
        call: Call<'s>,
        time: Duration,
    ) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>> {
        async move {
            self.is_torn = true;
            let begin = self.beginning(Access::Read, Some(time));
            let mut transaction = self.connection.begin_with(begin).await?;
            let rows = values::fetch(&mut transaction, call, self.prepared).await;
            // Rolls back without waiting: everything that is sent later on this connection comes after it.
            drop(transaction);
            self.is_torn = rows.as_ref().is_err_and(is_end);
            rows
        }
        .boxed()
    }

    fn run<'s>(&'s mut self, text: Arc<str>) -> BoxFuture<'s, Result<(), sqlx::Error>> {
        async move { self.run_text(text).await.map(drop) }.boxed()
    }

    /// The server runs the text as a transaction, and rolls all of it back if a statement fails.
    fn run_transaction<'s>(&'s mut self, text: &'s Sql) -> BoxFuture<'s, Result<u64, sqlx::Error>> {
        self.run_text(text.shared()).boxed()
    }

    fn begin(&mut self, access: Access, _: bool) -> BoxFuture<'_, Result<(), sqlx::Error>> {
        self.begin_transaction(access).boxed()
    }

    fn end<'s>(&'s mut self, end: TransactionEnd<'s>) -> BoxFuture<'s, Result<(), sqlx::Error>> {
        async move {
            match end {
                TransactionEnd::Commit(last) => self.commit(last).await,
                TransactionEnd::RollBack(error) => {
                    self.roll_back(error).await;
                    Ok(())
                }
            }
        }
        .boxed()
    }

    fn ledger(&mut self) -> BoxFuture<'_, Result<&mut (dyn Migrate + Send), sqlx::Error>> {
        async move {
            if !self.keeps_sessions() && !self.is_in_transaction {
                // sqlx reads its table with named statements, and other programs may have left some of these names behind. Ours are gone
                // with the connection, which is closed in its transaction.
                self.begin_transaction(Access::Read).await?;
                self.connection.execute(session::FORGET_STATEMENTS).await?;
            } else if self.keeps_sessions() && self.is_in_transaction && !self.is_nested {
                // sqlx begins a transaction for each migration, or a savepoint within one that it knows.
                std::mem::forget(self.connection.begin_with(session::NEST).await?);
                self.is_nested = true;
                self.connection.close_on_drop();
            }
            Ok(&mut *self.connection as &mut (dyn Migrate + Send))
        }
        .boxed()
    }
}
