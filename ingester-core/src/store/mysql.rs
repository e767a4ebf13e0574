//! MySQL, MariaDB and whatever else speaks their protocol.

use super::connect::{Address, ConnectOptions, Options};
use super::session::implement_session;
use crate::dialect::{Dialect, Sql};
use sqlx::mysql::{MySqlArguments, MySqlConnection, MySqlPoolOptions, MySqlRow};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySql, MySqlPool};
use std::time::Duration;

/// Statements that a connection keeps prepared, where the URL names no number: those of a few kinds in all their sizes, of all
/// kinds in the usual ones. With fewer, one would be closed for another all the time; that costs a round trip, and with
/// sqlx 0.9.0, whose sockets lack TCP_NODELAY (<https://github.com/transact-rs/sqlx/issues/4335>), 40 ms. With more, two
/// ingesters of 25 connections could have more than the 16,382 that a server takes from all its clients together
/// (`max_prepared_stmt_count`).
pub(super) const PREPARED: usize = 256;

/// How long a statement may wait for a free connection.
const ACQUIRE: Duration = Duration::from_secs(5);

pub(super) async fn connect(address: &Address, options: ConnectOptions) -> Result<MySqlPool, sqlx::Error> {
    let Options::MySql(connect) = &address.options else {
        return Err(sqlx::Error::Configuration("not a MySQL URL".into()));
    };
    // The first connection is made by itself: a pool would hide why it fails behind a time-out.
    MySqlConnection::connect_with(connect).await?.close().await?;
    MySqlPoolOptions::new()
        .max_connections(options.connections.max(1))
        .min_connections(options.max_idle.min(options.connections))
        .acquire_timeout(ACQUIRE)
        .max_lifetime(options.max_lifetime)
        .after_connect(|connection, _| {
            Box::pin(async move {
                for sql in Dialect::MySql.session() {
                    connection.execute(text(&sql)).await?;
                }
                Ok(())
            })
        })
        .connect_with((**connect).clone())
        .await
}

pub(super) async fn begin(pool: &MySqlPool) -> Result<Open, sqlx::Error> {
    pool.begin_with(Dialect::MySql.begin()).await.map(Open)
}

pub(super) async fn begin_reading(pool: &MySqlPool) -> Result<Open, sqlx::Error> {
    pool.begin_with(Dialect::MySql.begin_reading()).await.map(Open)
}

/// Runs a statement that MySQL does not prepare or that ends a transaction by itself (CREATE TABLE).
pub(super) async fn define(pool: &MySqlPool, sql: &Sql) -> Result<(), sqlx::Error> {
    pool.execute(text(sql)).await.map(drop)
}

fn text(sql: &Sql) -> sqlx::RawSql {
    sqlx::raw_sql(AssertSqlSafe(sql.shared()))
}

fn unsigned(value: u64) -> Result<u64, sqlx::Error> {
    Ok(value)
}

implement_session!(MySql, MySqlArguments, MySqlRow, unsigned, u64, |value| value);
