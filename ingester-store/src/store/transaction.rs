//! The connections to one database of any dialect, and transactions on them.

use super::{mysql, sqlite};
use ingester_core::dialect::{Access, Dialect, Query, Sql, Statement};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Executor, MySql, Sqlite};

/// The connections to one database.
pub(super) enum Pool {
    MySql(sqlx::MySqlPool),
    Sqlite(sqlx::SqlitePool),
}

impl Pool {
    /// Begins a transaction.
    pub(super) async fn begin(&self, access: Access) -> Result<Transaction, sqlx::Error> {
        let open = match self {
            Pool::MySql(pool) => Open::MySql(pool.begin_with(Dialect::MySql.begin(access)).await?),
            Pool::Sqlite(pool) => Open::Sqlite(pool.begin_with(Dialect::Sqlite.begin(access)).await?),
        };
        Ok(Transaction { access, open })
    }

    /// Runs one statement as a transaction by itself; returns how many rows it affected.
    pub(super) async fn execute(&self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        match self {
            Pool::MySql(pool) => mysql::execute(pool, statement).await,
            Pool::Sqlite(pool) => sqlite::execute(pool, statement).await,
        }
    }

    /// Runs one query as a transaction by itself.
    pub(super) async fn fetch<Q: Query>(&self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        match self {
            Pool::MySql(pool) => mysql::fetch(pool, statement).await,
            Pool::Sqlite(pool) => sqlite::fetch(pool, statement).await,
        }
    }

    /// Runs a text of several statements that begins and commits a transaction.
    pub(super) async fn execute_transaction(&self, sql: &Sql) -> Result<(), sqlx::Error> {
        match self {
            Pool::MySql(pool) => execute_transaction(pool, sql).await,
            Pool::Sqlite(pool) => execute_transaction(pool, sql).await,
        }
    }

    /// Runs a definition of a table. MySQL does not prepare definitions, and ends a transaction before one.
    pub(super) async fn define(&self, sql: &Sql) -> Result<(), sqlx::Error> {
        match self {
            Pool::MySql(pool) => pool.execute(raw(sql)).await.map(drop),
            Pool::Sqlite(pool) => pool.execute(raw(sql)).await.map(drop),
        }
    }

    /// Closes the connections.
    pub(super) async fn close(self) {
        match self {
            Pool::MySql(pool) => pool.close().await,
            Pool::Sqlite(pool) => pool.close().await,
        }
    }
}

/// A text that is sent without being prepared.
pub(super) fn raw(sql: &Sql) -> sqlx::RawSql {
    sqlx::raw_sql(AssertSqlSafe(sql.shared()))
}

async fn execute_transaction<D>(pool: &sqlx::Pool<D>, sql: &Sql) -> Result<(), sqlx::Error>
where
    D: sqlx::Database,
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
{
    let mut lent = Lent(Some(pool.acquire().await?));
    let Some(connection) = &mut lent.0 else { return Err(sqlx::Error::PoolClosed) };
    let result = connection.execute(raw(sql)).await.map(drop);
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
        match &mut self.open {
            Open::MySql(tx) => mysql::execute(&mut **tx, statement).await,
            Open::Sqlite(tx) => sqlite::execute(&mut **tx, statement).await,
        }
    }

    /// Runs a query.
    pub(super) async fn fetch<Q: Query>(&mut self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        match &mut self.open {
            Open::MySql(tx) => mysql::fetch(&mut **tx, statement).await,
            Open::Sqlite(tx) => sqlite::fetch(&mut **tx, statement).await,
        }
    }

    /// Commits if `result` is a success and the transaction was for writing, else rolls back. Returns `result`.
    pub(super) async fn end<T>(self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if result.is_ok() && self.access == Access::Write {
            match self.open {
                Open::MySql(tx) => tx.commit().await?,
                Open::Sqlite(tx) => tx.commit().await?,
            }
            return result;
        }
        // If even the rollback fails, the connection is lost, and with it the transaction.
        let _ = match self.open {
            Open::MySql(tx) => tx.rollback().await,
            Open::Sqlite(tx) => tx.rollback().await,
        };
        result
    }
}
