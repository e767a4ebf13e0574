//! MySQL, MariaDB and whatever else speaks their protocol.

use super::connect::{Address, ConnectOptions, DriverOptions};
use super::driver::implement_driver;
use super::transaction::raw;
use ingester_core::dialect::{Dialect, Sql};
use sqlx::mysql::{MySqlArguments, MySqlConnection, MySqlPoolOptions, MySqlRow};
use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, Executor as _, MySql, MySqlPool};
use std::time::Duration;

const DIALECT: Dialect = Dialect::MySql;

/// Statements that a connection keeps prepared, where the URL names no number: those of a few kinds in all their sizes, of all
/// kinds in the usual ones. With fewer, one would be closed for another all the time; that costs a round trip, and with
/// sqlx 0.9.0, whose sockets lack TCP_NODELAY (<https://github.com/transact-rs/sqlx/issues/4335>), 40 ms. With more, two
/// ingesters of 25 connections could have more than the 16,382 that a server takes from all its clients together
/// (`max_prepared_stmt_count`).
pub(super) const PREPARED: usize = 256;

/// How long a statement may wait for a free connection.
const ACQUIRE: Duration = Duration::from_secs(5);

/// After so long without use a connection is tried before it is used: by then, the server may have been restarted. Until then, a
/// statement that finds it gone is tried again like any other.
const IDLE: Duration = Duration::from_secs(1);

pub(super) async fn connect(address: &Address, options: ConnectOptions) -> Result<MySqlPool, sqlx::Error> {
    let DriverOptions::MySql(connect) = &address.options else {
        return Err(sqlx::Error::Configuration("not a MySQL URL".into()));
    };
    // The first connection is made by itself: a pool would hide why it fails behind a time-out.
    MySqlConnection::connect_with(connect).await?.close().await?;
    MySqlPoolOptions::new()
        .max_connections(options.connections.max(1))
        .min_connections(options.max_idle.min(options.connections))
        .acquire_timeout(ACQUIRE)
        // sqlx would ask before every transaction whether the server is there: one round trip more.
        .test_before_acquire(false)
        .before_acquire(|connection, state| {
            Box::pin(async move { Ok(state.idle_for < IDLE || connection.ping().await.is_ok()) })
        })
        .max_lifetime(options.max_lifetime)
        .after_connect(|connection, _| {
            Box::pin(async move {
                for sql in DIALECT.session() {
                    connection.execute(raw(&sql)).await?;
                }
                Ok(())
            })
        })
        .connect_with((**connect).clone())
        .await
}

/// Runs several statements in one text, which begin and end a transaction.
pub(super) async fn in_one_text(pool: &MySqlPool, sql: &Sql) -> Result<(), sqlx::Error> {
    let mut lent = Lent(Some(pool.acquire().await?));
    let Some(connection) = &mut lent.0 else { return Err(sqlx::Error::PoolClosed) };
    let result = connection.execute(raw(sql)).await.map(drop);
    // Where even going back fails the connection is gone, and with it the transaction.
    if result.is_ok() || connection.execute(DIALECT.rollback()).await.is_ok() {
        lent.0 = None;
    }
    result
}

/// A connection with a transaction that sqlx knows nothing of: if whoever waits for it gives up, it is closed, so that
/// nobody else finds that transaction open.
struct Lent(Option<PoolConnection<MySql>>);

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(connection) = &mut self.0 {
            connection.close_on_drop();
        }
    }
}

fn unsigned(value: u64) -> Result<u64, sqlx::Error> {
    Ok(value)
}

implement_driver!(MySql, MySqlArguments, MySqlRow, unsigned, u64, |value| value);
