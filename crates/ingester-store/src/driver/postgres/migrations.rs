//! Decides which program may migrate a database: the one whose connection has sqlx's lock.

use super::error::is_late;
use super::session::LentConnection;
use crate::driver::error::StoreError;
use crate::driver::interface::{Migrations, Session};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_sql::dialect::postgres::session;
use sqlx::Executor as _;
use sqlx::migrate::{Migrate as _, MigrateError};
use std::sync::Arc;
use std::time::Duration;

/// The pause before asking again for a lock that was not granted.
const AGAIN: Duration = Duration::from_millis(250);

/// A connection that runs migrations.
pub(super) struct MigrationConnection {
    lent: LentConnection,
    is_locked: bool,
}

impl MigrationConnection {
    pub(super) fn new(lent: LentConnection) -> Self {
        MigrationConnection { lent, is_locked: false }
    }
}

impl Migrations for MigrationConnection {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.lent
    }

    fn lock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        async move {
            if !self.lent.keeps_sessions() {
                let mistake = "a pooler keeps no lock for a connection: name the server itself, without statement-cache-capacity=0";
                return Err(sqlx::Error::Configuration(mistake.into()).into());
            }
            let connection = self.lent.connection();
            // The server releases the lock when the connection is closed, whatever happens.
            connection.close_on_drop();
            connection.execute(session::BEFORE_MIGRATIONS).await?;
            loop {
                match connection.lock().await {
                    Err(MigrateError::Execute(error)) if is_late(&error) => tokio::time::sleep(AGAIN).await,
                    locked => break locked?,
                }
            }
            connection.execute(session::MIGRATIONS).await?;
            self.is_locked = true;
            Ok(())
        }
        .boxed()
    }

    fn run_apart<'s>(&'s mut self, text: Arc<str>) -> BoxFuture<'s, Result<(), sqlx::Error>> {
        async move {
            self.lent.connection().execute(session::WITHOUT_LIMIT).await?;
            let done = self.lent.run(text).await;
            let limited = self.lent.connection().execute(session::MIGRATIONS).await;
            done.and(limited.map(drop))
        }
        .boxed()
    }

    fn check(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        async move {
            if !self.is_locked {
                return Ok(());
            }
            let doing = "running migrations";
            let locks = sqlx::query_scalar(session::LOCKS).fetch_one(&mut **self.lent.connection()).await;
            let locks: i64 = locks.map_err(|error| StoreError::from_sqlx(doing.to_owned(), error))?;
            if locks > 0 {
                return Ok(());
            }
            let hint =
                "a pooler between this program and the server may have changed the connection: name the server itself";
            Err(StoreError::wrong(doing, "the lock of migrations is lost", hint))
        }
        .boxed()
    }

    fn unlock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        async move {
            self.is_locked = false;
            self.lent.connection().unlock().await
        }
        .boxed()
    }
}
