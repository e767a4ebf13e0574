//! The connections to one database of any dialect, and transactions on them.

use super::ErrorClass;
use super::abandoned::{Abandoned, Running};
use super::connections::Waits;
use super::deadline::Deadline;
use super::driver::on_driver;
use super::durability::Durability;
use super::error::class_of;
use super::hosts::Hosts;
use super::servers::Servers;
use ingester_core::dialect::{Access, Dialect, OneText, Query, Sql, Statement};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Executor, MySql, SqlSafeStr as _, Sqlite};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

/// The connections to one database.
pub(super) struct Pool {
    pub(super) open: Drivers,
    pub(super) waits: Waits,
    pub(super) servers: Arc<Servers>,
    /// The servers, if the address has several.
    pub(super) hosts: Option<Hosts>,
    /// Whether the connection waits for the disk, where that is its setting.
    pub(super) durability: Durability,
    /// Ends what was abandoned; `None` for an embedded database.
    pub(super) abandoned: Option<Arc<Abandoned>>,
}

/// The connections of one driver.
pub(super) enum Drivers {
    MySql(sqlx::Pool<MySql>),
    Sqlite(sqlx::Pool<Sqlite>),
}

impl Pool {
    /// Waits for a connection.
    pub(super) async fn lend<C>(&self, connection: impl Future<Output = C>) -> C {
        match &self.hosts {
            // In a box, because it is large, and most addresses have one server.
            Some(hosts) => self.waits.count(Box::pin(hosts.beside(connection))).await,
            None => self.waits.count(connection).await,
        }
    }

    /// A connection turned out to be of no more use, or could not be made: another server may be the right one now.
    pub(super) async fn look_for_server(&self) {
        if let Some(hosts) = &self.hosts {
            Box::pin(hosts.look()).await;
        }
    }

    /// Begins a transaction.
    pub(super) async fn begin(&self, access: Access) -> Result<Transaction, sqlx::Error> {
        // In a box, because it is large, and the futures around it are moved with it.
        Box::pin(self.begin_with(access, false)).await
    }

    /// Begins a transaction for writing. If it `is_durable`, it is on disk when its commit is answered, also where that is not so for
    /// others.
    pub(super) async fn begin_durably(&self, is_durable: bool) -> Result<Transaction, sqlx::Error> {
        Box::pin(self.begin_with(Access::Write, is_durable)).await
    }

    async fn begin_with(&self, access: Access, is_durable: bool) -> Result<Transaction, sqlx::Error> {
        let open = match &self.open {
            Drivers::MySql(pool) => {
                let mut lent = Lent::new(self.lend(pool.acquire()).await?);
                lent.execute(unprepared(super::mysql::DIALECT.begin(access))).await?;
                Open::MySql(lent)
            }
            Drivers::Sqlite(pool) => {
                let begin = super::sqlite::DIALECT.begin(access).into_sql_str();
                let mut connection = self.lend(pool.acquire()).await?;
                if is_durable {
                    self.durability.raise(&mut connection).await?;
                }
                Open::Sqlite(sqlx::Transaction::begin(connection, Some(begin)).await?)
            }
        };
        Ok(Transaction { access, open, servers: self.servers.clone() })
    }

    /// Runs one statement as a transaction by itself; returns how many rows it affected.
    pub(super) async fn execute(&self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        on_driver!(Drivers, &self.open, |pool, driver| {
            driver::execute(&mut *self.lend(pool.acquire()).await?, statement).await
        })
    }

    /// Runs one query as a transaction by itself.
    pub(super) async fn fetch<Q: Query>(&self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        on_driver!(Drivers, &self.open, |pool, driver| {
            driver::fetch(&mut *self.lend(pool.acquire()).await?, statement).await
        })
    }

    /// Runs one query, which the server ends after `time`, or when this future is dropped.
    pub(super) async fn fetch_within<Q: Query>(
        &self,
        query: &Q,
        time: Duration,
        deadline: &Deadline,
    ) -> Result<Vec<Q::Row>, sqlx::Error> {
        match &self.open {
            Drivers::MySql(pool) => {
                let mut lent = Lent::new(self.lend(pool.acquire()).await?);
                let running = self.abandoned.as_ref().map(Abandoned::running);
                let mark = running.as_ref().map(Running::mark).unwrap_or_default();
                // In a box, because it is large, and the futures around it are moved with it.
                let result = Box::pin(super::mysql::fetch_marked(&mut lent, query, mark)).await;
                if let Some(running) = running {
                    running.end();
                }
                lent.give_back();
                result
            }
            Drivers::Sqlite(pool) => {
                let mut connection = self.lend(pool.acquire()).await?;
                Box::pin(super::sqlite::fetch_within(&mut connection, query, time, deadline)).await
            }
        }
    }

    /// Runs a text of several statements in this form that begins and commits a transaction. Returns whether it did: not if its
    /// connection has found out that the servers take another form, or none.
    pub(super) async fn execute_transaction(&self, form: OneText, sql: &Sql) -> Result<bool, sqlx::Error> {
        // An embedded database has no round trips to save.
        let Drivers::MySql(pool) = &self.open else { return Ok(false) };
        let mut lent = Lent::new(self.lend(pool.acquire()).await?);
        // Asked now, because the connection may be new.
        if self.servers.one_text() != Some(form) {
            lent.give_back();
            return Ok(false);
        }
        match lent.execute(raw(sql)).await {
            Ok(_) => {
                lent.give_back();
                Ok(true)
            }
            Err(error) => {
                lent.roll_back(Some(&error), &self.servers).await;
                Err(error)
            }
        }
    }

    /// Runs a definition of a table. MySQL does not prepare definitions, and ends a transaction before one.
    pub(super) async fn define(&self, sql: &Sql) -> Result<(), sqlx::Error> {
        on_driver!(Drivers, &self.open, |pool, driver| {
            self.lend(pool.acquire()).await?.execute(raw(sql)).await.map(drop)
        })
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

fn unprepared(text: &'static str) -> sqlx::RawSql {
    sqlx::raw_sql(text)
}

/// A connection with a transaction that sqlx does not know, or with a query. If its future is dropped, the connection is closed, so that nobody
/// else finds the transaction open, or waits for the query's end. sqlx's own transaction would give the connection back, whatever happened to it.
struct Lent {
    connection: PoolConnection<MySql>,
    is_kept: bool,
}

impl Lent {
    fn new(connection: PoolConnection<MySql>) -> Self {
        Lent { connection, is_kept: false }
    }

    /// There is no transaction any more.
    fn give_back(mut self) {
        self.is_kept = true;
    }

    async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.execute(unprepared(Dialect::COMMIT)).await?;
        self.give_back();
        Ok(())
    }

    /// Rolls back, after an error if there was one. The connection is closed if even that fails. It is also closed where a group
    /// certifies transactions and the error may pass by itself: what is left of the transaction there shows at a later statement, or
    /// never, if the node has lost the others.
    async fn roll_back(mut self, error: Option<&sqlx::Error>, servers: &Servers) {
        let is_torn = error.is_some_and(|error| class_of(error) == ErrorClass::Transient) && servers.certifies();
        if !is_torn && self.execute(unprepared(Dialect::ROLLBACK)).await.is_ok() {
            self.give_back();
        }
    }
}

impl Deref for Lent {
    type Target = sqlx::MySqlConnection;

    fn deref(&self) -> &sqlx::MySqlConnection {
        &self.connection
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut sqlx::MySqlConnection {
        &mut self.connection
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.is_kept {
            self.connection.close_on_drop();
        }
    }
}

/// A transaction. Dropping it without [`Transaction::end`] rolls it back.
pub(super) struct Transaction {
    access: Access,
    open: Open,
    servers: Arc<Servers>,
}

enum Open {
    MySql(Lent),
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

    /// What the connection does at a commit.
    #[cfg(test)]
    pub(super) async fn synchronous(&mut self) -> i64 {
        let Open::Sqlite(tx) = &mut self.open else { unreachable!("SQLite") };
        let row = sqlx::query("PRAGMA synchronous").fetch_one(&mut **tx).await.unwrap();
        sqlx::Row::get(&row, 0)
    }

    /// Commits if `result` is a success and the transaction was for writing, else rolls back. Returns `result`.
    pub(super) async fn end<T>(self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if result.is_ok() && self.access == Access::Write {
            on_driver!(Open, self.open, |tx, driver| tx.commit().await?);
            return result;
        }
        match self.open {
            Open::MySql(lent) => lent.roll_back(result.as_ref().err(), &self.servers).await,
            // If even the rollback fails, the connection is lost, and with it the transaction.
            Open::Sqlite(tx) => drop(tx.rollback().await),
        }
        result
    }
}
