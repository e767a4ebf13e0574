//! Decides which program may migrate a file: the transaction of each migration keeps others out.

use super::session::LentConnection;
use crate::driver::error::StoreError;
use crate::driver::interface::{Migrations, Session};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::migrate::MigrateError;

/// A connection that runs migrations.
pub(super) struct MigrationConnection(pub(super) LentConnection);

impl Migrations for MigrationConnection {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.0
    }

    fn lock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        async { Ok(()) }.boxed()
    }

    fn check(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }

    fn unlock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        async { Ok(()) }.boxed()
    }
}
