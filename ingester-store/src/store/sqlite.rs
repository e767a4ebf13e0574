//! SQLite, linked in.

use super::deadline::Deadline;
use super::driver::implement_driver;
use super::durability::Durability;
use super::error::Classified;
use super::transaction::raw;
use super::{ConnectOptions, ErrorClass};
use ingester_core::dialect::Dialect;
use sqlx::error::DatabaseError as _;
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteError, SqlitePoolOptions, SqliteRow,
};
use sqlx::{Connection as _, Executor as _, Sqlite, SqlitePool};
use std::time::Duration;

pub(super) const DIALECT: Dialect = Dialect::Sqlite;

/// How long a statement waits for another program's lock.
const BUSY: Duration = Duration::from_secs(30);

/// Memory for the caches of pages of all connections, in KiB: 64 MiB.
const CACHE: u32 = 65_536;

/// The most connections that read: each is a thread, and has its share of the memory.
const READERS: u32 = 4;

/// How many pages of 4 KiB the write-ahead log collects before they are written into the database file.
const CHECKPOINT: &str = "8192";

/// How many connections a store has. SQLite has one writer, and a database in memory belongs to its connection. Those that only read a file
/// do not wait for each other.
pub(super) fn connections(options: ConnectOptions, in_memory: bool) -> u32 {
    if options.read_only && !in_memory { options.connections.clamp(1, READERS) } else { 1 }
}

pub(super) async fn connect(
    connect: &SqliteConnectOptions,
    options: ConnectOptions,
    connections: u32,
    deadline: &Deadline,
    durability: &Durability,
) -> Result<SqlitePool, sqlx::Error> {
    use sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
    let connect = connect
        .clone()
        .create_if_missing(options.create)
        .busy_timeout(BUSY)
        .foreign_keys(false)
        // Readers do not wait for the writer. A commit survives a crash of the program; a crash of the machine may lose the
        // last few commits. What must not be lost raises that (`durability.rs`).
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        // Every row changes a page of each index. With SQLite's default of 2 MB, these pages are written and read repeatedly.
        // A positive number would be a number of pages.
        .pragma("cache_size", format!("-{}", CACHE / connections))
        .pragma("wal_autocheckpoint", CHECKPOINT);
    // The first connection is made without the pool, which would report a time-out instead of the cause.
    SqliteConnection::connect_with(&connect).await?.close().await?;
    let (deadline, acquired, durability) = (deadline.clone(), deadline.clone(), durability.clone());
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(BUSY)
        .idle_timeout(None)
        .max_lifetime(None)
        // It is in this process, so it is not gone, and each test would ask the connection's thread.
        .test_before_acquire(false)
        .after_release(move |connection, _| {
            let durability = durability.clone();
            Box::pin(async move {
                durability.lower(connection).await;
                Ok(true)
            })
        })
        // The pool has waited for the end of a statement that was abandoned.
        .before_acquire(move |connection, _| {
            let acquired = acquired.clone();
            Box::pin(async move {
                match acquired.is_shared() {
                    true => acquired.forget(),
                    false => connection.lock_handle().await?.remove_progress_handler(),
                }
                Ok(true)
            })
        })
        .after_connect(move |connection, _| {
            let deadline = deadline.clone();
            Box::pin(async move {
                if deadline.is_shared() {
                    // Once, because the connection's thread has to be asked for it.
                    watch(connection, deadline).await?;
                }
                if options.read_only {
                    for sql in DIALECT.session_of_readers() {
                        connection.execute(raw(&sql)).await?;
                    }
                }
                Ok(())
            })
        })
        .connect_with(connect)
        .await
}

/// SQLite's primary result codes about its disk and file: IOERR, CORRUPT, FULL.
const STORAGE: [u32; 3] = [10, 11, 13];

/// Whether the error is about the disk.
pub(super) fn is_storage(error: &SqliteError) -> bool {
    STORAGE.contains(&primary_code(error))
}

/// The primary result code: the lower byte of an extended one. 1 (SQLITE_ERROR) if there is none.
fn primary_code(error: &SqliteError) -> u32 {
    error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or(1) & 0xff
}

/// Classifies SQLite's result codes ("Result and Error Codes").
pub(super) fn classify(error: &SqliteError) -> Classified {
    let message = error.message();
    match primary_code(error) {
        5 | 6 | 15 => (ErrorClass::Transient, Some("another program holds the database; close it or wait")),
        // Interrupted; out of memory; the schema was changed meanwhile.
        4 | 7 | 9 | 17 => (ErrorClass::Transient, None),
        8 => (
            ErrorClass::Operator,
            Some(
                "the file or its folder is read-only: allow writing, or name another file with --database-url sqlite://FILE",
            ),
        ),
        13 => (
            ErrorClass::Operator,
            Some("the disk is full: make room, or name a file elsewhere with --database-url sqlite://FILE"),
        ),
        10 => (ErrorClass::Operator, Some("reading or writing the file failed: check the disk's space and health")),
        14 => {
            (ErrorClass::Operator, Some("the file cannot be opened: does its folder exist, may this user write there?"))
        }
        11 | 26 => (
            ErrorClass::Operator,
            Some("the file is no intact SQLite database: name another, or restore it from a backup"),
        ),
        3 | 23 => (ErrorClass::Operator, Some("this user may not do that with the file")),
        18 | 19 | 20 | 25 => (ErrorClass::Object, None),
        1 if message.starts_with("no such table") => {
            (ErrorClass::Operator, Some("the schema is not there: make it with `ingester import`"))
        }
        1 if message.contains("has no column") || message.starts_with("no such column") => {
            (ErrorClass::Operator, Some("the tables are of another version than this ingester"))
        }
        _ => (ErrorClass::Unknown, None),
    }
}

/// SQLite's integers are signed; a larger resourceVersion is an error of its object.
fn signed(value: u64) -> Result<i64, sqlx::Error> {
    i64::try_from(value).map_err(|_| {
        sqlx::Error::InvalidArgument(format!("{value} is larger than SQLite's integers, which end at {}", i64::MAX))
    })
}

/// SQLITE_INTERRUPT.
const INTERRUPTED: u32 = 9;

/// Whether the statement took too long.
pub(super) fn is_ended(error: &SqliteError) -> bool {
    primary_code(error) == INTERRUPTED
}

/// After how many of its operations a statement is asked whether it has taken too long.
const OPERATIONS: i32 = 10_000;

/// Has a connection ask a deadline while it works.
async fn watch(connection: &mut SqliteConnection, deadline: Deadline) -> Result<(), sqlx::Error> {
    connection.lock_handle().await?.set_progress_handler(OPERATIONS, move || deadline.is_ahead());
    Ok(())
}

/// Runs a query, and ends it after `time`.
pub(super) async fn fetch_within<Q: Query>(
    connection: &mut SqliteConnection,
    query: &Q,
    time: Duration,
    deadline: &Deadline,
) -> Result<Vec<Q::Row>, sqlx::Error> {
    // The deadline of the only connection, which is lent to this query; one of several gets a deadline of its own.
    let own = Deadline::default();
    let deadline = if deadline.is_shared() {
        deadline
    } else {
        watch(connection, own.clone()).await?;
        &own
    };
    let set = deadline.set(time);
    let rows = fetch(connection, query).await;
    set.end();
    rows
}

implement_driver!(Sqlite, SqliteArguments, SqliteRow, signed, i64, |value| value.cast_unsigned());
