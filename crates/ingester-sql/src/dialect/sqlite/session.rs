//! Settings of a driver for its connection. No statement is about rows or tables.

use crate::dialect::Access;

/// Prepares a read-only connection: every write is refused.
pub const READERS: &str = "PRAGMA query_only = ON";

/// Takes the lock of the one writer, once it is free, and releases it.
pub const LOCK_AND_RELEASE: &str = "BEGIN IMMEDIATE; ROLLBACK";

/// Begins a transaction.
pub const fn begin(access: Access) -> &'static str {
    match access {
        // Without the write lock, which another program may hold for long.
        Access::Read => "BEGIN DEFERRED",
        // Takes the write lock at once, because SQLite does not wait for a lock that is taken later.
        Access::Write => "BEGIN IMMEDIATE",
    }
}

/// From now on, each commit of the connection is on disk before it is answered, or no longer is. Run this before the transaction begins.
pub const fn durability(is_durable: bool) -> &'static str {
    if is_durable { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" }
}
