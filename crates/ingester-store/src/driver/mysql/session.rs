//! One connection to a server.

use super::DIALECT;
use super::abandoned::{AbandonedStatements, RunningStatement};
use super::values::{self, FetchedRows};
use crate::driver::error::class_of;
use crate::driver::facts::ErrorClass;
use crate::driver::interface::{Call, Rows, Session, TransactionEnd, read};
use crate::driver::servers::Servers;
use crate::driver::values::{raw, raw_text};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_sql::dialect::mysql::session;
use ingester_sql::dialect::{Access, Dialect, Query, Sql, Statement};
use sqlx::migrate::Migrate;
use sqlx::pool::PoolConnection;
use sqlx::{Executor as _, MySql, MySqlConnection};
use std::sync::Arc;
use std::time::Duration;

/// A connection that is lent. sqlx does not know its transactions, because it would return the connection to the pool in any state. A
/// connection that is dropped within a transaction or a query is closed instead, so that no other caller finds the transaction open, or
/// waits for the query's end.
pub(super) struct LentConnection {
    connection: PoolConnection<MySql>,
    servers: Arc<Servers>,
    abandoned: Arc<AbandonedStatements>,
    /// True if the connection must be closed on drop.
    is_torn: bool,
}

impl LentConnection {
    pub(super) fn new(
        connection: PoolConnection<MySql>,
        servers: Arc<Servers>,
        abandoned: Arc<AbandonedStatements>,
    ) -> Self {
        LentConnection { connection, servers, abandoned, is_torn: false }
    }

    pub(super) fn connection(&mut self) -> &mut PoolConnection<MySql> {
        &mut self.connection
    }

    /// Rolls back, after an error if there was one. The connection is closed if even that fails. It is also closed after a transient error
    /// in a group that certifies transactions: what is left of the transaction there would show at a later statement, or never, if the node
    /// has lost the other members.
    async fn roll_back(&mut self, error: Option<&sqlx::Error>) {
        let is_transient = error.is_some_and(|error| class_of(error) == ErrorClass::Transient);
        let is_lost = is_transient && self.servers.certifies();
        self.is_torn = is_lost || self.connection.execute(sqlx::raw_sql(Dialect::ROLLBACK)).await.is_err();
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
        values::execute(&mut *self.connection, call).boxed()
    }

    fn fetch<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>> {
        values::fetch(&mut *self.connection, call).boxed()
    }

    fn fetch_within<'s>(
        &'s mut self,
        call: Call<'s>,
        _: Duration,
    ) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>> {
        async move {
            self.is_torn = true;
            let running = self.abandoned.running();
            // The statement itself contains its time limit.
            let sql = session::marked(running.mark(), &call.sql, &call.params);
            let rows =
                self.connection.fetch_all(raw(&sql)).await.map(|rows| Box::new(FetchedRows(rows)) as Box<dyn Rows>);
            RunningStatement::end(running);
            self.is_torn = false;
            rows
        }
        .boxed()
    }

    fn run<'s>(&'s mut self, text: Arc<str>) -> BoxFuture<'s, Result<(), sqlx::Error>> {
        async move { self.connection.execute(raw_text(text)).await.map(drop) }.boxed()
    }

    fn run_transaction<'s>(&'s mut self, text: &'s Sql) -> BoxFuture<'s, Result<u64, sqlx::Error>> {
        async move {
            self.is_torn = true;
            match self.connection.execute(raw(text)).await {
                Ok(done) => {
                    self.is_torn = false;
                    Ok(done.rows_affected())
                }
                Err(error) => {
                    self.roll_back(Some(&error)).await;
                    Err(error)
                }
            }
        }
        .boxed()
    }

    fn begin(&mut self, access: Access, _: bool) -> BoxFuture<'_, Result<(), sqlx::Error>> {
        async move {
            self.is_torn = true;
            self.connection.execute(sqlx::raw_sql(session::begin(access))).await.map(drop)
        }
        .boxed()
    }

    fn end<'s>(&'s mut self, end: TransactionEnd<'s>) -> BoxFuture<'s, Result<(), sqlx::Error>> {
        async move {
            match end {
                TransactionEnd::Commit(last) => {
                    let commit = last.map_or_else(|| sqlx::raw_sql(Dialect::COMMIT), raw);
                    self.connection.execute(commit).await?;
                    self.is_torn = false;
                }
                TransactionEnd::RollBack(error) => self.roll_back(error).await,
            }
            Ok(())
        }
        .boxed()
    }

    fn ledger(&mut self) -> BoxFuture<'_, Result<&mut (dyn Migrate + Send), sqlx::Error>> {
        async move { Ok(&mut *self.connection as &mut (dyn Migrate + Send)) }.boxed()
    }
}

/// Runs a statement on a connection outside the pool.
pub(super) async fn execute(connection: &mut MySqlConnection, statement: &impl Statement) -> Result<u64, sqlx::Error> {
    values::execute(connection, Call::new(statement, DIALECT)).await
}

/// Runs a query on a connection outside the pool.
pub(super) async fn fetch<Q: Query>(connection: &mut MySqlConnection, query: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
    read(query, &*values::fetch(connection, Call::new(query, DIALECT)).await?)
}
