//! Decides which program may migrate a database on a server.

use super::holder::HeldLock;
use super::session::LentConnection;
use crate::driver::error::StoreError;
use crate::driver::interface::{Migrations, Session};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_sql::dialect::mysql::session;
use sqlx::Executor as _;
use sqlx::migrate::{Migrate as _, MigrateError};
use sqlx::mysql::MySqlConnectOptions;

/// A connection that runs migrations.
pub(super) struct MigrationConnection {
    lent: LentConnection,
    /// The options for additional connections.
    connect: MySqlConnectOptions,
    /// True if a lock of this server does not keep out the other members of its group.
    is_of_group: bool,
    /// The lock for all servers of a group.
    held: Option<HeldLock>,
}

impl MigrationConnection {
    pub(super) fn new(lent: LentConnection, connect: MySqlConnectOptions, is_of_group: bool) -> Self {
        MigrationConnection { lent, connect, is_of_group, held: None }
    }
}

impl Migrations for MigrationConnection {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.lent
    }

    /// Takes sqlx's lock and ours. sqlx's lock keeps out sqlx's own tool, on servers where that lock works.
    fn lock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        async move {
            let connection = self.lent.connection();
            // The server releases the locks when the connection is closed, whatever happens.
            connection.close_on_drop();
            connection.execute(sqlx::raw_sql(session::MIGRATIONS)).await?;
            connection.lock().await?;
            let query = sqlx::query_scalar(session::LOCK_MIGRATIONS);
            let locked: Option<i64> = query.fetch_one(&mut **connection).await?;
            if locked != Some(1) {
                return Err(sqlx::Error::Protocol("the server gave no lock".into()).into());
            }
            if self.is_of_group {
                self.held = Some(HeldLock::take(connection, self.connect.clone()).await?);
            }
            Ok(())
        }
        .boxed()
    }

    fn check(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        async move {
            match &self.held {
                Some(held) => held.check(self.lent.connection()).await,
                None => Ok(()),
            }
        }
        .boxed()
    }

    fn unlock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        async move {
            if let Some(held) = self.held.take() {
                held.release().await;
            }
            self.lent.connection().unlock().await
        }
        .boxed()
    }
}
