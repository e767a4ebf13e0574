//! The interface of a driver for the rest of the crate. Its traits are object-safe, unlike sqlx's own.

use super::error::StoreError;
use super::examine::{Answers, Finding};
use super::facts::Facts;
use super::hosts::SearchResult;
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

/// A statement in the form that a driver takes.
pub(crate) struct Call<'a> {
    pub(super) sql: Sql,
    pub(super) params: Vec<Param<'a>>,
}

impl<'a> Call<'a> {
    /// Writes the statement in a dialect.
    pub(crate) fn new(statement: &'a (impl Statement + ?Sized), dialect: Dialect) -> Self {
        Call { sql: statement.sql(dialect), params: statement.params_in(dialect) }
    }
}

/// The rows of a result.
pub(crate) trait Rows: Send {
    /// Returns the number of rows.
    fn count(&self) -> usize;

    /// Reads each row, up to the first that fails.
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

/// The end of a transaction.
#[derive(Clone, Copy)]
pub(crate) enum TransactionEnd<'e> {
    /// Commits, with this text if there is one: it has the last statements and the commit.
    Commit(Option<&'e Sql>),
    /// Rolls back, after an error if there was one.
    RollBack(Option<&'e sqlx::Error>),
}

/// One connection while it is lent. A transaction that was not [ended](Session::end) is rolled back on drop.
pub(crate) trait Session: Send {
    /// Runs a statement. Returns how many rows it affected, as the database counts them.
    fn execute<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<u64, sqlx::Error>>;

    /// Runs a query.
    fn fetch<'s>(&'s mut self, call: Call<'s>) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>>;

    /// Runs a query, which the database ends after `time`, or when the future is dropped.
    fn fetch_within<'s>(
        &'s mut self,
        call: Call<'s>,
        time: Duration,
    ) -> BoxFuture<'s, Result<Box<dyn Rows>, sqlx::Error>>;

    /// Runs a text unchanged: the definition of a table, or a part of a migration.
    fn run<'s>(&'s mut self, text: Arc<str>) -> BoxFuture<'s, Result<(), sqlx::Error>>;

    /// Runs a text of several statements that begins and commits a transaction. Returns how many rows they affected.
    fn run_transaction<'s>(&'s mut self, text: &'s Sql) -> BoxFuture<'s, Result<u64, sqlx::Error>>;

    /// Begins a transaction. If it `is_durable`, it is on disk when its commit is answered, even in a database where other commits are not.
    fn begin(&mut self, access: Access, is_durable: bool) -> BoxFuture<'_, Result<(), sqlx::Error>>;

    /// Ends the transaction.
    fn end<'s>(&'s mut self, end: TransactionEnd<'s>) -> BoxFuture<'s, Result<(), sqlx::Error>>;

    /// Returns the connection in the form that sqlx's table of migrations needs.
    fn ledger(&mut self) -> BoxFuture<'_, Result<&mut (dyn Migrate + Send), sqlx::Error>>;
}

/// A connection that runs migrations. Dropping it releases its lock.
pub(crate) trait Migrations: Send {
    /// Returns the connection.
    fn session(&mut self) -> &mut dyn Session;

    /// Prepares the session, and waits until no other program migrates the database. Locks nothing if the transaction of each migration
    /// keeps others out.
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

/// A driver with its connections to one database.
pub(crate) trait Driver: Send + Sync {
    /// Lends a connection, once one is free.
    fn session(&self) -> BoxFuture<'_, Result<Box<dyn Session>, sqlx::Error>>;

    /// Lends a connection for migrations.
    fn migrations(&self) -> BoxFuture<'_, Result<Box<dyn Migrations>, sqlx::Error>>;

    /// Returns true if the database has shown that no transaction that writes is open. A database that cannot answer that returns false.
    fn has_no_writer(&self) -> BoxFuture<'_, Result<bool, sqlx::Error>> {
        Box::pin(async { Ok(false) })
    }

    /// Searches for the server to use. Call it when a connection was useless or could not be made: another server may be the right one now.
    fn look_for_server(&self) -> BoxFuture<'_, SearchResult>;

    /// Sets the password of new connections.
    fn use_password<'d>(&'d self, password: &'d str) -> BoxFuture<'d, ()>;

    /// Examines the database's settings and the user's rights.
    fn examine(&self, answers: &Answers) -> Vec<Finding>;

    /// Returns the present state of the connections.
    fn usage(&self) -> Usage;

    /// Closes the connections, after everything is written to disk.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// Returns the concrete driver, for tests of one driver.
    #[cfg(test)]
    fn as_any(&self) -> &dyn std::any::Any;
}

/// The database of a URL, or the mistake in the URL.
pub(super) type ParsedTarget = Result<Arc<dyn DatabaseTarget>, String>;

/// Variables with which a database's own clients name a database, and the URL that leaves everything to these variables.
pub(super) type Variables = (&'static [&'static str], &'static str);

/// The variables of PostgreSQL's clients, known with and without its driver.
pub(super) const POSTGRES_VARIABLES: Variables = (&["PGHOST", "PGDATABASE"], "postgresql:///");

/// A product without a driver in this program: the schemes of its URLs, the feature that adds the driver, and its variables.
pub(super) type MissingDriver = (&'static [&'static str], &'static str, Option<Variables>);

/// A database product: the knowledge of its driver that needs no connection.
pub(crate) struct Product {
    /// The schemes of the product's URLs.
    pub(super) schemes: &'static [&'static str],
    /// An example of a URL, for messages.
    pub(super) example: &'static str,
    /// True if the product's URLs name files. Such URLs need no `//`, and only their parameters may be secret.
    pub(super) is_file: bool,
    /// The variables of the database's own clients; `None` if they have none.
    pub(super) variables: Option<Variables>,
    /// The setting for the encryption of connections; `None` if the product has no connections.
    pub(super) encryption: Option<&'static str>,
    /// Reads a URL. The second argument is the text that is shown in its place.
    pub(super) of_url: fn(&str, String) -> ParsedTarget,
    /// Returns the facts about an error; `None` if another database reports it.
    pub(super) facts: fn(&dyn DatabaseError) -> Option<Facts>,
}

/// The place of a database.
pub(crate) trait DatabaseTarget: Send + Sync {
    /// Returns the database's dialect.
    fn dialect(&self) -> Dialect;

    /// Returns the address without secrets.
    fn as_redacted(&self) -> &str;

    /// Returns the database's name at its servers, see [`Address::database`](super::Address::database).
    fn database(&self) -> String;

    /// Returns the file of an embedded database; `None` in memory and on a server.
    fn file(&self) -> Option<&Path>;

    /// Returns the same database with a password that the address leaves out.
    ///
    /// # Errors
    /// If it has one already, or can have none: the reason and the remedy.
    fn with_password(&self, password: &str) -> Result<Arc<dyn DatabaseTarget>, (&'static str, &'static str)>;

    /// Returns the same database with this encryption, unless the address chooses one. An embedded database has no connection to encrypt.
    fn with_tls(&self, tls: &Tls) -> Option<Arc<dyn DatabaseTarget>>;

    /// Finds mistakes that can be known before connecting.
    ///
    /// # Errors
    /// The mistake.
    fn check(&self, options: ConnectOptions) -> Result<(), StoreError>;

    /// Returns how much longer than usual connecting may take, because several servers are asked, or because the disk is slow.
    fn longest_search(&self) -> Duration;

    /// Returns the error of an attempt to connect that got no answer in time.
    fn silent(&self) -> StoreError;

    /// Returns the error of an attempt to connect that failed.
    fn refused(&self, error: sqlx::Error) -> StoreError {
        StoreError::from_sqlx(format!("connecting to {}", self.as_redacted()), error)
    }

    /// Connects. The connections record in `servers` what they learn about the servers.
    fn connect(
        &self,
        options: ConnectOptions,
        servers: Arc<Servers>,
    ) -> BoxFuture<'_, Result<Box<dyn Driver>, sqlx::Error>>;
}
