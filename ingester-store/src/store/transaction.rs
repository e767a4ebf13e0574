//! The connections to one database of any dialect, and transactions on them.

use super::connections::Waits;
use super::deadline::Deadline;
use super::driver::on_driver;
use super::servers::Servers;
use ingester_core::dialect::{Access, Dialect, Query, Sql, Statement};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Executor, MySql, SqlSafeStr as _, Sqlite};
use std::time::Duration;

/// The connections to one database.
pub(super) struct Pool {
    pub(super) open: Drivers,
    pub(super) waits: Waits,
}

/// The connections of one driver.
pub(super) enum Drivers {
    MySql(sqlx::Pool<MySql>),
    Sqlite(sqlx::Pool<Sqlite>),
}

impl Pool {
    /// Begins a transaction.
    pub(super) async fn begin(&self, access: Access) -> Result<Transaction, sqlx::Error> {
        let open = on_driver!(Drivers => Open, &self.open, |pool, driver| {
            let connection = self.waits.count(pool.acquire()).await?;
            sqlx::Transaction::begin(connection, Some(driver::DIALECT.begin(access).into_sql_str())).await?
        });
        Ok(Transaction { access, open })
    }

    /// Runs one statement as a transaction by itself; returns how many rows it affected.
    pub(super) async fn execute(&self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        on_driver!(Drivers, &self.open, |pool, driver| {
            driver::execute(&mut *self.waits.count(pool.acquire()).await?, statement).await
        })
    }

    /// Runs one query as a transaction by itself.
    pub(super) async fn fetch<Q: Query>(&self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        on_driver!(Drivers, &self.open, |pool, driver| {
            driver::fetch(&mut *self.waits.count(pool.acquire()).await?, statement).await
        })
    }

    /// Runs one query, which the server ends after `time`.
    pub(super) async fn fetch_within<Q: Query>(
        &self,
        query: &Q,
        time: Duration,
        deadline: &Deadline,
    ) -> Result<Vec<Q::Row>, sqlx::Error> {
        on_driver!(Drivers, &self.open, |pool, driver| {
            let mut connection = self.waits.count(pool.acquire()).await?;
            // In a box, because it is large, and the futures around it are moved with it.
            Box::pin(driver::fetch_within(&mut connection, query, time, deadline)).await
        })
    }

    /// Runs a text of several statements that begins and commits a transaction. Returns whether it did: not where `servers` have been
    /// found to tear such a text.
    pub(super) async fn execute_transaction(&self, sql: &Sql, servers: &Servers) -> Result<bool, sqlx::Error> {
        on_driver!(Drivers, &self.open, |pool, driver| {
            execute_transaction(self.waits.count(pool.acquire()).await?, sql, servers).await
        })
    }

    /// Runs a definition of a table. MySQL does not prepare definitions, and ends a transaction before one.
    pub(super) async fn define(&self, sql: &Sql) -> Result<(), sqlx::Error> {
        on_driver!(Drivers, &self.open, |pool, driver| pool.execute(raw(sql)).await.map(drop))
    }

    /// Closes the connections.
    pub(super) async fn close(self) {
        on_driver!(Drivers, self.open, |pool, driver| pool.close().await)
    }
}

/// A text that is sent without being prepared.
pub(super) fn raw(sql: &Sql) -> sqlx::RawSql {
    sqlx::raw_sql(AssertSqlSafe(sql.shared()))
}

async fn execute_transaction<D>(
    connection: PoolConnection<D>,
    sql: &Sql,
    servers: &Servers,
) -> Result<bool, sqlx::Error>
where
    D: sqlx::Database,
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
{
    // Asked now, because the connection may be new.
    if servers.certifies() {
        return Ok(false);
    }
    let mut lent = Lent(Some(connection));
    let Some(connection) = &mut lent.0 else { return Err(sqlx::Error::PoolClosed) };
    let result = connection.execute(raw(sql)).await.map(|_| true);
    // If even the rollback fails, the connection is lost, and with it the transaction.
    if result.is_ok() || connection.execute(Dialect::ROLLBACK).await.is_ok() {
        lent.0 = None;
    }
    result
}

/// A connection with a transaction that sqlx does not know. If its future is dropped, the connection is closed, so that nobody
/// else finds the transaction open.
struct Lent<D: sqlx::Database>(Option<PoolConnection<D>>);

impl<D: sqlx::Database> Drop for Lent<D> {
    fn drop(&mut self) {
        if let Some(connection) = &mut self.0 {
            connection.close_on_drop();
        }
    }
}

/// A transaction. Dropping it without [`Transaction::end`] rolls it back.
pub(super) struct Transaction {
    access: Access,
    open: Open,
}

enum Open {
    MySql(sqlx::Transaction<'static, MySql>),
    Sqlite(sqlx::Transaction<'static, Sqlite>),
}

impl Transaction {
    /// Runs a statement; returns how many rows it affected, as the database counts them.
    pub(super) async fn execute(&mut self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        on_driver!(Open, &mut self.open, |tx, driver| driver::execute(&mut **tx, statement).await)
    }

    /// Runs a query.
    pub(super) async fn fetch<Q: Query>(&mut self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        on_driver!(Open, &mut self.open, |tx, driver| driver::fetch(&mut **tx, statement).await)
    }

    /// Commits if `result` is a success and the transaction was for writing, else rolls back. Returns `result`.
    pub(super) async fn end<T>(self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if result.is_ok() && self.access == Access::Write {
            on_driver!(Open, self.open, |tx, driver| tx.commit().await?);
            return result;
        }
        // If even the rollback fails, the connection is lost, and with it the transaction.
        let _ = on_driver!(Open, self.open, |tx, driver| tx.rollback().await);
        result
    }
}
