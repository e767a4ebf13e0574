//! SQLite, linked in.

use super::connect::{Address, ConnectOptions, DriverOptions};
use super::driver::implement_driver;
use ingester_core::dialect::Dialect;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqlitePoolOptions, SqliteRow};
use sqlx::{Connection as _, Sqlite, SqlitePool};
use std::time::Duration;

const DIALECT: Dialect = Dialect::Sqlite;

/// How long a statement waits for another program's lock.
const BUSY: Duration = Duration::from_secs(30);

/// Memory for pages, in KiB as SQLite wants it: negative.
const CACHE: &str = "-65536";

/// Pages of 4 KiB that the write-ahead log gathers before they are written to their places.
const CHECKPOINT: &str = "8192";

pub(super) async fn connect(address: &Address, options: ConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    use sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
    let DriverOptions::Sqlite(connect) = &address.options else {
        return Err(sqlx::Error::Configuration("not an SQLite URL".into()));
    };
    let connect = (**connect)
        .clone()
        .create_if_missing(options.create)
        .busy_timeout(BUSY)
        .foreign_keys(false)
        // Readers beside the writer; a commit survives a crash of the program, and of the machine up to the last few.
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        // Every row touches a page of each index: with SQLite's default of 2 MB they are written and read over and over.
        .pragma("cache_size", CACHE)
        .pragma("wal_autocheckpoint", CHECKPOINT);
    // The first connection is made by itself: a pool would hide why it fails behind a time-out.
    SqliteConnection::connect_with(&connect).await?.close().await?;
    // One connection: SQLite has one writer, and a database in memory is its connection's own.
    SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(BUSY)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(connect)
        .await
}

/// SQLite's integers are signed; a resourceVersion beyond is an error of its object.
fn signed(value: u64) -> Result<i64, sqlx::Error> {
    i64::try_from(value).map_err(|_| {
        sqlx::Error::InvalidArgument(format!("{value} is larger than SQLite's integers, which end at {}", i64::MAX))
    })
}

implement_driver!(Sqlite, SqliteArguments, SqliteRow, signed, i64, |value| value.cast_unsigned());
