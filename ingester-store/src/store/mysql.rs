//! MySQL, MariaDB and other servers with their protocol.

use super::address::DriverOptions;
use super::driver::implement_driver;
use super::error::Classified;
use super::transaction::raw;
use super::{Address, ConnectOptions, ErrorClass};
use ingester_core::dialect::Dialect;
use sqlx::mysql::{MySqlArguments, MySqlConnection, MySqlDatabaseError, MySqlPoolOptions, MySqlRow};
use sqlx::{Connection as _, Executor as _, MySql, MySqlPool};
use std::time::Duration;

const DIALECT: Dialect = Dialect::MySql;

/// How many statements a connection keeps prepared, unless the URL says otherwise: enough for a few kinds in all sizes, or for all
/// kinds in the usual sizes.
///
/// With fewer, statements would be closed to prepare others all the time. That costs a round trip, and with sqlx 0.9.0, whose
/// sockets lack TCP_NODELAY (<https://github.com/transact-rs/sqlx/issues/4335>), 40 ms. With more, two ingesters of 25
/// connections could exceed `max_prepared_stmt_count`, by default 16,382 for all clients of a server together.
pub(super) const PREPARED: usize = 256;

/// How long a statement may wait for a free connection.
const ACQUIRE: Duration = Duration::from_secs(5);

/// A connection that was idle for longer is tested before it is used, because the server may have been restarted. If a connection
/// is lost earlier, the statement is retried like any other.
const IDLE: Duration = Duration::from_secs(1);

pub(super) async fn connect(address: &Address, options: ConnectOptions) -> Result<MySqlPool, sqlx::Error> {
    let DriverOptions::MySql(connect) = &address.options else {
        return Err(sqlx::Error::Configuration("not a MySQL URL".into()));
    };
    // The first connection is made without the pool, which would report a time-out instead of the cause.
    MySqlConnection::connect_with(connect).await?.close().await?;
    MySqlPoolOptions::new()
        .max_connections(options.connections.max(1))
        .min_connections(options.max_idle.min(options.connections))
        .acquire_timeout(ACQUIRE)
        // sqlx would test the connection before every transaction, with one more round trip.
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

/// MySQL's errors about its disk: disk full, table full, and errors of files, the operating system and the storage engine.
const STORAGE: [u16; 6] = [1021, 1114, 3, 28, 1030, 1026];

/// Whether the error is about the disk.
pub(super) fn is_storage(error: &MySqlDatabaseError) -> bool {
    STORAGE.contains(&error.number())
}

/// Classifies MySQL's error numbers (MySQL and MariaDB Reference Manuals, "Server Error Message Reference").
pub(super) fn classify(error: &MySqlDatabaseError) -> Classified {
    match error.number() {
        // Deadlock, lock wait, too many connections, shutting down, connection trouble, killed or interrupted query,
        // TiDB's write conflicts.
        1213
        | 1205
        | 1040
        | 1203
        | 1053
        | 1152
        | 1158..=1161
        | 1184
        | 1317
        | 1927
        | 2006
        | 2013
        | 3024
        | 3169
        | 8002
        | 8022
        | 9007 => (ErrorClass::Transient, None),
        1461 => (
            ErrorClass::Transient,
            Some(
                "raise the server's max_prepared_stmt_count, or lower mysql.maxOpenConns or the URL's statement-cache-capacity (256)",
            ),
        ),
        // The primary has become a replica; another server may become the primary.
        1290 | 1836 => {
            (ErrorClass::Transient, Some("the server is read-only: name the primary, or wait for the fail-over"))
        }
        1044 | 1142 | 1143 | 1227 | 1370 => (
            ErrorClass::Operator,
            Some("grant this user SELECT, INSERT, UPDATE, DELETE (and CREATE, ALTER, INDEX to make tables)"),
        ),
        1045 | 1698 | 1130 | 1251 | 1524 => (
            ErrorClass::Operator,
            Some("check user and password of the URL, and from which hosts this user may connect"),
        ),
        1049 => (ErrorClass::Operator, Some("create the database first: CREATE DATABASE name CHARACTER SET utf8mb4")),
        1046 => (ErrorClass::Operator, Some("name a database: mysql://user:password@host:3306/database")),
        1146 => (
            ErrorClass::Operator,
            Some(
                "the schema is not there: make it with `ingester schema apply`, or pipe `ingester schema print` into the client",
            ),
        ),
        // The next four are errors of schema changes.
        1799 => (
            ErrorClass::Transient,
            Some(
                "so much was written meanwhile that the server lost track: raise innodb_online_alter_log_max_size, or wait for a calmer hour",
            ),
        ),
        4092 => (
            ErrorClass::Operator,
            Some("the table has taken all the instant changes that it can: run OPTIMIZE TABLE on it, then go on"),
        ),
        1845 | 1846 => (
            ErrorClass::Operator,
            Some(
                "on this server the change would cost more than was expected of it: run the statement by hand with another ALGORITHM in a quiet hour, then go on",
            ),
        ),
        1054 | 1136 => (
            ErrorClass::Operator,
            Some("the tables are of another release than this ingester: see `ingester schema verify`"),
        ),
        number if STORAGE.contains(&number) => (ErrorClass::Operator, Some("make room on the database's disk")),
        // Packet too large, invalid JSON (text, depth, ...), MariaDB's CHECK (json_valid).
        1153 | 3140..=3158 | 4025 => (ErrorClass::Object, None),
        _ => match error.code().map(|state| &state[..state.len().min(2)]) {
            // Data exceptions and violated constraints.
            Some("22" | "23") => (ErrorClass::Object, None),
            Some("08") => (ErrorClass::Transient, None),
            Some("28") => (ErrorClass::Operator, None),
            _ => (ErrorClass::Unknown, None),
        },
    }
}

fn unsigned(value: u64) -> Result<u64, sqlx::Error> {
    Ok(value)
}

implement_driver!(MySql, MySqlArguments, MySqlRow, unsigned, u64, |value| value);
