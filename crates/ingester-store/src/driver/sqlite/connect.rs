//! Connects to a file, or to a database in memory.

use super::deadline::Deadline;
use super::durability::Durability;
use super::error::is_locked;
use crate::driver::error::unusable;
use crate::driver::options::ConnectOptions;
use ingester_sql::dialect::sqlite::session;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePoolOptions};
use sqlx::{Connection as _, Executor as _, SqlitePool};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A statement waits this long for another program's lock.
const BUSY: Duration = Duration::from_secs(30);

/// The first connection waits this long for another program's lock, before the caller tries again or reports it.
const LOCKED: Duration = Duration::from_secs(2);

/// The pause between attempts to open a file that is locked.
const PAUSE: Duration = Duration::from_millis(50);

/// Memory for the caches of pages of all connections, in KiB: 64 MiB.
const CACHE: u32 = 65_536;

/// The most connections that read. Each is a thread and has its share of the memory.
const READERS: u32 = 4;

/// The write-ahead log collects this many pages of 4 KiB before they are written into the database file.
const CHECKPOINT: &str = "8192";

/// Returns the number of a store's connections. SQLite has one writer, and a database in memory belongs to its connection. Connections that
/// only read a file do not wait for each other.
pub(super) fn connections(options: ConnectOptions, in_memory: bool) -> u32 {
    if options.read_only && !in_memory { options.connections.clamp(1, READERS) } else { 1 }
}

/// The answer whether a file may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteAccess {
    /// Its file system allows it.
    Yes,
    /// It is on a file system that is read-only, with a write-ahead log that SQLite may be able to read.
    No,
    /// The same, without a log. No writer has it open, so it is read as it is. For any other file, SQLite would have to make files next to
    /// it.
    Never,
}

/// Checks if the file is on a read-only file system, without touching it.
///
/// # Errors
/// If it has a write-ahead log there that cannot be read without being written.
pub(super) fn writable(connect: &SqliteConnectOptions) -> Result<WriteAccess, sqlx::Error> {
    let file = connect.get_filename();
    match OpenOptions::new().append(true).open(file) {
        Err(error) if error.kind() == ErrorKind::ReadOnlyFilesystem && file.is_file() => {}
        _ => return Ok(WriteAccess::Yes),
    }
    let beside = |end: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let log = beside("-wal");
    if log.metadata().map_or(0, |log| log.len()) == 0 {
        tracing::info!(file = %file.display(), "The file is on a read-only file system: it is read as it is, and changes are not seen");
        return Ok(WriteAccess::Never);
    }
    if !beside("-shm").is_file() {
        let why =
            format!("the file is on a read-only file system, and {} has changes that are not in it yet", log.display());
        return Err(unusable(why, "copy both files into a folder that can be written, and name the copy"));
    }
    Ok(WriteAccess::No)
}

pub(super) async fn connect(
    connect: &SqliteConnectOptions,
    options: ConnectOptions,
    connections: u32,
    deadline: &Deadline,
    durability: &Durability,
) -> Result<SqlitePool, sqlx::Error> {
    use sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
    let connect = match (writable(connect)?, options.read_only) {
        // The file says how it is written, and stays as it is.
        (WriteAccess::Yes, true) => connect.clone(),
        (WriteAccess::Yes, false) => connect.clone().journal_mode(SqliteJournalMode::Wal),
        (WriteAccess::No, _) => connect.clone().read_only(true),
        (WriteAccess::Never, _) => connect.clone().read_only(true).immutable(true),
    };
    let connect = connect
        .create_if_missing(options.create)
        .busy_timeout(BUSY)
        .foreign_keys(false)
        // Readers do not wait for the writer, whose log is ahead of the file. A commit survives a crash of the program; a crash of the
        // machine may lose the last few commits. `durability.rs` raises this for commits that must not be lost.
        .synchronous(SqliteSynchronous::Normal)
        // Every row changes a page of each index. With SQLite's default of 2 MB, these pages are written and read repeatedly.
        // A positive number would be a number of pages.
        .pragma("cache_size", format!("-{}", CACHE / connections))
        .pragma("wal_autocheckpoint", CHECKPOINT);
    // The first connection is made without the pool, which would report a time-out instead of the cause. It also gives a new file a
    // write-ahead log. SQLite does not wait for other programs that make the same file, or have it open, so we do.
    let begin = Instant::now();
    loop {
        match SqliteConnection::connect_with(&connect.clone().busy_timeout(LOCKED)).await {
            Ok(first) => break first.close().await?,
            Err(error) if is_locked(&error) && begin.elapsed() < LOCKED => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(error),
        }
    }
    let (deadline, acquired, durability) = (deadline.clone(), deadline.clone(), durability.clone());
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(BUSY)
        .idle_timeout(None)
        .max_lifetime(None)
        // A connection in this process cannot get lost, and each test would cost a question to its thread.
        .test_before_acquire(false)
        .after_release(move |connection, _| {
            let durability = durability.clone();
            Box::pin(async move {
                if !is_free(connection).await? {
                    durability.forget();
                    return Ok(false);
                }
                durability.lower(connection).await;
                Ok(true)
            })
        })
        // The pool has waited for the end of the abandoned statement.
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
                    // Only once, because it takes a question to the connection's thread.
                    watch(connection, deadline).await?;
                }
                if options.read_only {
                    connection.execute(sqlx::raw_sql(session::READERS)).await?;
                }
                Ok(())
            })
        })
        .connect_with(connect)
        .await
}

/// Returns false if the connection counts a transaction that it cannot end. On a full disk SQLite has already rolled back, so our ROLLBACK
/// fails, and the connection would refuse every later transaction. The pool closes such a connection and opens another one.
async fn is_free(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if !connection.is_in_transaction() {
        return Ok(true);
    }
    // A transaction that was dropped is rolled back by the connection's thread, which answers after that.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

/// After this many operations of the database, a statement is checked for having taken too long.
const OPERATIONS: i32 = 10_000;

/// Makes a connection check a deadline while it works.
pub(super) async fn watch(connection: &mut SqliteConnection, deadline: Deadline) -> Result<(), sqlx::Error> {
    connection.lock_handle().await?.set_progress_handler(OPERATIONS, move || deadline.is_ahead());
    Ok(())
}
