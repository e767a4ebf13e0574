//! What a driver is for the rest of the crate: object-safe traits, which sqlx's own are not.

use super::error::StoreError;
use super::examine::{Answers, Finding};
use super::facts::Facts;
use super::hosts::Looked;
use super::options::ConnectOptions;
use super::servers::Servers;
use super::tls::Tls;
use futures::future::BoxFuture;
use ingester_sql::dialect::{Access, Columns, Dialect, Param, Query, Sql, Statement};
use sqlx::error::DatabaseError;
use sqlx::migrate::{Migrate, MigrateError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A statement as a driver takes it.
pub(crate) struct Call<'a> {
    pub(super) sql: Sql,
    pub(super) params: Vec<Param<'a>>,
}

impl<'a> Call<'a> {
    /// The statement in a dialect.
    pub(crate) fn of(statement: &'a (impl Statement + ?Sized), dialect: Dialect) -> Self {
        Call { sql: statement.sql(dialect), params: statement.params_in(dialect) }
    }
}

/// The rows of a result.
pub(crate) trait Rows: Send {
    /// How many there are.
    fn count(&self) -> usize;

    /// Reads each, up to the first that fails.
    fn each(
        &self,
        read: &mut dyn FnMut(&dyn Columns<Error = sqlx::Error>) -> Result<(), sqlx::Error>,
    ) -> Result<(), sqlx::Error>;
}

/// Reads the rows of a query.
pub(crate) fn read<Q: Query>(query: &Q, rows: &dyn Rows) -> Result<Vec<Q::Row>, sqlx::Error> {
    let mut all = Vec::with_capacity(rows.count());
    rows.each(&mut |row| {
        all.push(query.read(row)?);
        Ok(())
    })?;
    Ok(all)
}

/// How a transaction ends.
#[derive(Clone, Copy)]
pub(crate) enum End<'e> {
    /// Everything is stored, after this text if there is one: the last statements, and the commit.
    Commit(Option<&'e Sql>),
    /// Nothing is stored, after an error if there was one.
    RollBack(Option<&'e sqlx::Error>),
}

/// One connection, for as long as it is lent. A transaction that was not [ended](Session::end) is rolled back when it is dropped.
pub(crate) trait Session: Send {
    /// Runs a statement; returns how many rows it affected, as the database counts them.
    fn execute<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<u64, sqlx::Error>>;

    /// Runs a query.
    fn fetch<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>>;

    /// Runs a query, which the database ends after `time`, or when the future is dropped.
    fn fetch_within<'s>(
        &'s mut self,
        call: Call<'s>,
        time: Duration,
    ) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>>;

    /// Runs a text as it is: the definition of a table, or a part of a migration.
    fn run<'s>(&'s mut self, text: Arc<str>) -> BoxFuture<'s, Result<(), sqlx::Error>>;

    /// Runs a text of several statements that begins and commits a transaction; returns how many rows they affected.
    fn run_transaction<'s>(&'s mut self, text: &'s Sql) -> BoxFuture<'s, Result<u64, sqlx::Error>>;

    /// Begins a transaction. If it `is_durable`, it is on disk when its commit is answered, also where that is not so for others.
    fn begin(&mut self, access: Access, is_durable: bool) -> BoxFuture<'_, Result<(), sqlx::Error>>;

    /// Ends the transaction.
    fn end<'s>(&'s mut self, end: End<'s>) -> BoxFuture<'s, Result<(), sqlx::Error>>;

    /// The connection as sqlx's table of migrations needs it.
    fn ledger(&mut self) -> BoxFuture<'_, Result<&mut (dyn Migrate + Send), sqlx::Error>>;
}

/// A connection that runs migrations. Dropping it releases its lock.
pub(crate) trait Migrations: Send {
    /// The connection.
    fn session(&mut self) -> &mut dyn Session;

    /// Prepares the session, and waits until no other program migrates the database. Nothing is locked where the transaction of each
    /// migration keeps others out.
    fn lock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>>;

    /// Runs a statement outside of a transaction. Nothing waits for it, so it may wait for others as long as it takes.
    fn run_apart<'s>(&'s mut self, text: Arc<str>) -> BoxFuture<'s, Result<(), sqlx::Error>> {
        self.session().run(text)
    }

    /// Checks that this process still has the lock.
    fn check(&mut self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Releases the lock.
    fn unlock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>>;
}

/// The connections of a pool at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) open: u32,
    pub(crate) idle: u32,
    pub(crate) limit: u32,
}

/// The connections to one database.
pub(crate) trait Driver: Send + Sync {
    /// Lends a connection, once one is free.
    fn session(&self) -> BoxFuture<'_, Result<Box<dyn Session>, sqlx::Error>>;

    /// Lends a connection for migrations.
    fn migrations(&self) -> BoxFuture<'_, Result<Box<dyn Migrations>, sqlx::Error>>;

    /// Returns true if the database has shown that no transaction that writes is open. A database that cannot be asked that returns false.
    fn has_no_writer(&self) -> BoxFuture<'_, Result<bool, sqlx::Error>> {
        Box::pin(async { Ok(false) })
    }

    /// A connection turned out to be useless, or could not be made: another server may be the right one now.
    fn look_for_server(&self) -> BoxFuture<'_, Looked>;

    /// New connections use this password.
    fn use_password<'d>(&'d self, password: &'d str) -> BoxFuture<'d, ()>;

    /// What its settings and the user's rights mean.
    fn examine(&self, answers: &Answers) -> Vec<Finding>;

    /// What the connections do now.
    fn usage(&self) -> Usage;

    /// Closes the connections, after everything is written to disk.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// What it is, for tests of one driver.
    #[cfg(test)]
    fn as_any(&self) -> &dyn std::any::Any;
}

/// Where a URL leads, or what is wrong with it.
pub(super) type Reached = Result<Arc<dyn Target>, String>;

/// A database product: what its driver knows without a connection.
pub(crate) struct Product {
    /// The schemes of its URLs.
    pub(super) schemes: &'static [&'static str],
    /// A URL, for people to see how one is written.
    pub(super) example: &'static str,
    /// Whether its URLs name files: they need no `//`, and are not secret up to their parameters.
    pub(super) is_file: bool,
    /// Variables of the database's own clients, one of which names a database, and the URL that leaves everything to them; `None` if clients
    /// have no variables.
    pub(super) variables: Option<(&'static [&'static str], &'static str)>,
    /// What says how connections are encrypted; `None` where there are none.
    pub(super) encryption: Option<&'static str>,
    /// Reads a URL; the second argument is how it is shown.
    pub(super) of_url: fn(&str, String) -> Reached,
    /// What is known of an error; `None` if another database reports it.
    pub(super) facts: fn(&dyn DatabaseError) -> Option<Facts>,
}

/// Where a database is.
pub(crate) trait Target: Send + Sync {
    /// The dialect that it understands.
    fn dialect(&self) -> Dialect;

    /// Its address without what is secret.
    fn shown(&self) -> &str;

    /// Its name at its servers, see [`Address::database`](super::Address::database).
    fn database(&self) -> String;

    /// The file of an embedded database; `None` in memory, and on a server.
    fn file(&self) -> Option<&Path>;

    /// The same database with a password that its address leaves out.
    ///
    /// # Errors
    /// If it has one already, or can have none; what is wrong, and what to do.
    fn with_password(&self, password: &str) -> Result<Arc<dyn Target>, (&'static str, &'static str)>;

    /// The same database with this encryption, unless its address says which. An embedded database has no connection to encrypt.
    fn with_tls(&self, tls: &Tls) -> Option<Arc<dyn Target>>;

    /// Checks what can be known to be wrong before connecting.
    ///
    /// # Errors
    /// What is wrong.
    fn check(&self, options: ConnectOptions) -> Result<(), StoreError>;

    /// How much longer than usual connecting may take, because servers are asked which of them is the right one, or because the disk is asked.
    fn longest_search(&self) -> Duration;

    /// The error of an attempt to connect that had no answer in time.
    fn silent(&self) -> StoreError;

    /// The error of an attempt to connect that failed.
    fn refused(&self, error: sqlx::Error) -> StoreError {
        StoreError::of(format!("connecting to {}", self.shown()), error)
    }

    /// Connects, and has the connections write down what they learn of the servers.
    fn connect(
        &self,
        options: ConnectOptions,
        servers: Arc<Servers>,
    ) -> BoxFuture<'_, Result<Box<dyn Driver>, sqlx::Error>>;
}
