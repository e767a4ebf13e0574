//! The connections of one database, whichever it is, and transactions on them.

use super::{mysql, sqlite};
use ingester_core::dialect::{Access, Dialect, Query, Sql, Statement};
use sqlx::{AssertSqlSafe, Executor as _, MySql, Sqlite};

/// The connections.
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

    /// Runs one statement, which is a transaction by itself; returns how many rows it touched.
    pub(super) async fn execute(&self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        match self {
            Pool::MySql(pool) => mysql::execute(pool, statement).await,
            Pool::Sqlite(pool) => sqlite::execute(pool, statement).await,
        }
    }

    /// Runs one statement that answers, which is a transaction by itself.
    pub(super) async fn fetch<Q: Query>(&self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        match self {
            Pool::MySql(pool) => mysql::fetch(pool, statement).await,
            Pool::Sqlite(pool) => sqlite::fetch(pool, statement).await,
        }
    }

    /// Runs a definition: MySQL does not prepare it and ends a transaction by it.
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

/// A statement as it is sent without being prepared.
pub(super) fn raw(sql: &Sql) -> sqlx::RawSql {
    sqlx::raw_sql(AssertSqlSafe(sql.shared()))
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
    /// Runs a statement; returns how many rows it touched, as the database counts them.
    pub(super) async fn execute(&mut self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        match &mut self.open {
            Open::MySql(tx) => mysql::execute(&mut **tx, statement).await,
            Open::Sqlite(tx) => sqlite::execute(&mut **tx, statement).await,
        }
    }

    /// Runs a statement that answers.
    pub(super) async fn fetch<Q: Query>(&mut self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        match &mut self.open {
            Open::MySql(tx) => mysql::fetch(&mut **tx, statement).await,
            Open::Sqlite(tx) => sqlite::fetch(&mut **tx, statement).await,
        }
    }

    /// Commits what was written where the work succeeded, and hands its result on.
    pub(super) async fn end<T>(self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if result.is_ok() && self.access == Access::Write {
            match self.open {
                Open::MySql(tx) => tx.commit().await?,
                Open::Sqlite(tx) => tx.commit().await?,
            }
            return result;
        }
        // Where even that fails the connection is gone, and with it the transaction.
        let _ = match self.open {
            Open::MySql(tx) => tx.rollback().await,
            Open::Sqlite(tx) => tx.rollback().await,
        };
        result
    }
}
