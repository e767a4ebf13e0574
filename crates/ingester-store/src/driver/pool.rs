//! The connections to one database of any driver, and transactions on them.

use super::connections::{Connections, WaitCounters};
use super::error::is_about;
use super::examine::{Answers, Finding};
use super::facts::ErrorSubject;
use super::hosts::SearchResult;
use super::interface::{Call, Driver, Migrations, Session, TransactionEnd, read};
use super::password::Password;
use super::servers::Servers;
use futures::future::BoxFuture;
use ingester_sql::dialect::{Access, Dialect, Query, Sql, Statement, TransactionForm};
use std::sync::Arc;
use std::time::Duration;

/// The connections to one database, with its password.
pub(crate) struct Pool {
    pub(super) driver: Box<dyn Driver>,
    dialect: Dialect,
    waits: WaitCounters,
    servers: Arc<Servers>,
    /// `None` if the password cannot change.
    password: Option<Password>,
}

impl Pool {
    pub(super) fn new(
        driver: Box<dyn Driver>,
        dialect: Dialect,
        servers: Arc<Servers>,
        password: Option<Password>,
    ) -> Self {
        Pool { driver, dialect, waits: WaitCounters::default(), servers, password }
    }

    /// Returns the knowledge of the connections about the servers.
    pub(crate) fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Waits for a connection.
    async fn session(&self) -> Result<Box<dyn Session>, sqlx::Error> {
        self.waits.count(self.lend(|driver| driver.session())).await
    }

    /// Waits for a connection for migrations.
    pub(crate) async fn migrations(&self) -> Result<Box<dyn Migrations>, sqlx::Error> {
        self.waits.count(self.lend(|driver| driver.migrations())).await
    }

    /// Lends a connection. If the server refuses the password of a new one, and the password has changed, tries once more. A password that
    /// expires is read again before.
    async fn lend<'p, L>(
        &'p self,
        lend: impl Fn(&'p dyn Driver) -> BoxFuture<'p, Result<L, sqlx::Error>>,
    ) -> Result<L, sqlx::Error> {
        let Some(password) = &self.password else { return lend(&*self.driver).await };
        password.refresh(&*self.driver).await;
        let tried = password.changes();
        match lend(&*self.driver).await {
            Err(error) if is_about(&error, ErrorSubject::Login) && password.renew(&*self.driver, tried).await => {
                lend(&*self.driver).await
            }
            lent => lent,
        }
    }

    /// Searches for the server to use. Call it when a connection was useless or could not be made: another server may be the right one now.
    pub(crate) async fn look_for_server(&self) -> SearchResult {
        if let Some(password) = &self.password {
            password.before_search(&*self.driver).await;
        }
        self.driver.look_for_server().await
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&self, access: Access) -> Result<Transaction, sqlx::Error> {
        self.begin_with(access, false).await
    }

    /// Begins a transaction for writing. If it `is_durable`, it is on disk when its commit is answered, even in a database where other
    /// commits are not.
    pub(crate) async fn begin_durably(&self, is_durable: bool) -> Result<Transaction, sqlx::Error> {
        self.begin_with(Access::Write, is_durable).await
    }

    async fn begin_with(&self, access: Access, is_durable: bool) -> Result<Transaction, sqlx::Error> {
        let mut session = self.session().await?;
        session.begin(access, is_durable).await?;
        let dialect = self.dialect;
        Ok(Transaction { access, dialect, servers: self.servers.clone(), session })
    }

    /// Runs one statement as its own transaction. Returns how many rows it affected.
    pub(crate) async fn execute(&self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        self.session().await?.execute(Call::new(statement, self.dialect)).await
    }

    /// Runs one query as its own transaction.
    pub(crate) async fn fetch<Q: Query>(&self, query: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        let rows = self.session().await?.fetch(Call::new(query, self.dialect)).await?;
        read(query, &*rows)
    }

    /// Runs one query, which the database ends after `time`, or when this future is dropped.
    pub(crate) async fn fetch_within<Q: Query>(&self, query: &Q, time: Duration) -> Result<Vec<Q::Row>, sqlx::Error> {
        let rows = self.session().await?.fetch_within(Call::new(query, self.dialect), time).await?;
        read(query, &*rows)
    }

    /// Returns true if the database has shown that no transaction that writes is open.
    pub(crate) async fn has_no_writer(&self) -> Result<bool, sqlx::Error> {
        self.driver.has_no_writer().await
    }

    /// Runs a text of several statements in this form that begins and commits a transaction. Returns how many rows they affected. Returns
    /// `None`, without running anything, if the connection has found that the servers take another form, or none.
    pub(crate) async fn execute_transaction(
        &self,
        form: TransactionForm,
        sql: &Sql,
    ) -> Result<Option<u64>, sqlx::Error> {
        let mut session = self.session().await?;
        // Check only now: a new connection may just have learned something about the servers.
        if self.servers.one_text() != Some(form) {
            return Ok(None);
        }
        session.run_transaction(sql).await.map(Some)
    }

    /// Runs a definition of a table. MySQL does not prepare definitions, and ends a transaction before one.
    pub(crate) async fn define(&self, sql: &Sql) -> Result<(), sqlx::Error> {
        self.session().await?.run(sql.shared()).await
    }

    /// Examines the database's settings and the user's rights.
    pub(crate) fn examine(&self, answers: &Answers) -> Vec<Finding> {
        self.driver.examine(answers)
    }

    /// Returns the present state of the connections.
    pub(crate) fn connections(&self) -> Connections {
        self.waits.beside(self.driver.usage())
    }

    /// Closes the connections.
    pub(crate) async fn close(self) {
        self.driver.close().await;
    }
}

/// A transaction. Dropping it without [`Transaction::end`] rolls it back.
pub(crate) struct Transaction {
    access: Access,
    dialect: Dialect,
    servers: Arc<Servers>,
    session: Box<dyn Session>,
}

impl Transaction {
    /// Returns the dialect of the statements.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Runs a statement. Returns how many rows it affected, as the database counts them.
    pub(crate) async fn execute(&mut self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        self.session.execute(Call::new(statement, self.dialect)).await
    }

    /// Runs a query.
    pub(crate) async fn fetch<Q: Query>(&mut self, query: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        read(query, &*self.session.fetch(Call::new(query, self.dialect)).await?)
    }

    /// Like [`Transaction::end`], after these last statements if `result` is a success. They share one round trip with the commit if they
    /// fit into a text of `most` bytes and the servers accept such a text.
    pub(crate) async fn end_with<T>(
        mut self,
        result: Result<T, sqlx::Error>,
        last: &[&(dyn Statement + Sync)],
        most: usize,
    ) -> Result<T, sqlx::Error> {
        if result.is_err() || last.is_empty() {
            return self.end(result).await;
        }
        // A group may end the transaction between two statements of a text.
        let together = |last: &[&(dyn Statement + Sync)]| {
            let last: Vec<&dyn Statement> = last.iter().map(|one| *one as &dyn Statement).collect();
            self.dialect.in_one_text(TransactionForm::Last, &last)
        };
        let text = if self.servers.certifies() { None } else { together(last) };
        if let Some(text) = text.filter(|text| text.as_str().len() <= most) {
            let committed = self.session.end(TransactionEnd::Commit(Some(&text))).await;
            if let Err(error) = &committed {
                self.session.end(TransactionEnd::RollBack(Some(error))).await?;
            }
            return committed.and(result);
        }
        for statement in last {
            if let Err(error) = self.session.execute(Call::new(*statement, self.dialect)).await {
                return self.end(Err(error)).await;
            }
        }
        self.end(result).await
    }

    /// Commits if `result` is a success and the transaction was for writing; rolls back otherwise. Returns `result`.
    pub(crate) async fn end<T>(mut self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        match &result {
            Ok(_) if self.access == Access::Write => self.session.end(TransactionEnd::Commit(None)).await?,
            result => self.session.end(TransactionEnd::RollBack(result.as_ref().err())).await?,
        }
        result
    }
}
