//! The connections to a file, or to a database in memory.

use super::connect::{WriteAccess, connect, connections, writable};
use super::deadline::Deadline;
use super::durability::Durability;
use super::examine::examine;
use super::migrations::MigrationConnection;
use super::session::LentConnection;
use crate::driver::examine::{Answers, Finding};
use crate::driver::hosts::SearchResult;
use crate::driver::interface::{Driver, Migrations, Session, Usage};
use crate::driver::options::ConnectOptions;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_sql::dialect::sqlite::session;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, Executor as _, SqlitePool};

pub(super) struct Pool {
    pub(super) pool: SqlitePool,
    pub(super) durability: Durability,
    deadline: Deadline,
    in_memory: bool,
}

impl Pool {
    pub(super) async fn open(
        options: &SqliteConnectOptions,
        how: ConnectOptions,
        in_memory: bool,
    ) -> Result<Self, sqlx::Error> {
        let connections = connections(how, in_memory);
        let deadline = Deadline::for_connections(connections);
        let durability = Durability::default();
        let pool = connect(options, how, connections, &deadline, &durability).await?;
        Ok(Pool { pool, durability, deadline, in_memory })
    }

    pub(super) async fn lend(&self) -> Result<LentConnection, sqlx::Error> {
        LentConnection::take(&self.pool, &self.deadline, &self.durability).await
    }
}

impl Driver for Pool {
    fn session(&self) -> BoxFuture<'_, Result<Box<dyn Session>, sqlx::Error>> {
        async move { Ok(Box::new(self.lend().await?) as Box<dyn Session>) }.boxed()
    }

    fn migrations(&self) -> BoxFuture<'_, Result<Box<dyn Migrations>, sqlx::Error>> {
        async move { Ok(Box::new(MigrationConnection(self.lend().await?)) as Box<dyn Migrations>) }.boxed()
    }

    /// There is one writer at a time, so getting its lock proves that there is none.
    fn has_no_writer(&self) -> BoxFuture<'_, Result<bool, sqlx::Error>> {
        async move {
            if self.in_memory {
                return self.pool.acquire().await.map(|_| true);
            }
            let options = self.pool.connect_options();
            if writable(&options)? == WriteAccess::Never {
                return Ok(true);
            }
            // The pool's connections may be read-only, so use another one.
            let mut connection = SqliteConnection::connect_with(&options).await?;
            connection.execute(sqlx::raw_sql(session::LOCK_AND_RELEASE)).await?;
            connection.close().await.map(|()| true)
        }
        .boxed()
    }

    fn look_for_server(&self) -> BoxFuture<'_, SearchResult> {
        async { SearchResult::Same }.boxed()
    }

    fn use_password<'d>(&'d self, _: &'d str) -> BoxFuture<'d, ()> {
        async {}.boxed()
    }

    fn examine(&self, _: &Answers) -> Vec<Finding> {
        examine(self.pool.connect_options().get_filename())
    }

    fn usage(&self) -> Usage {
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        Usage { open: self.pool.size(), idle, limit: self.pool.options().get_max_connections() }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.pool.close().boxed()
    }

    #[cfg(test)]
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
