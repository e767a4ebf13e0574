//! What a driver says to the server about a connection, and what it asks there: no statement of ours about rows or tables.

use crate::dialect::Access;

/// Begins a transaction.
pub const fn begin(access: Access) -> &'static str {
    match access {
        Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        // Each statement sees what was committed before it: so what is read behind a lock is what the lock protects.
        Access::Write => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    }
}
