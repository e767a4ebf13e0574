//! Settings and questions of a driver about its connection. No statement is about rows or tables.

use crate::dialect::Access;
use std::time::Duration;

/// Calls `set_config` for the settings of a connection, for the session or for a transaction.
macro_rules! settings {
    ($is_local:literal) => {
        concat!(
            // A statement waits for a row's lock as long as on MySQL; without a limit, it would wait for ever.
            "SELECT set_config('lock_timeout', '50s', ",
            $is_local,
            "), set_config('idle_in_transaction_session_timeout', '60s', ",
            $is_local,
            "), set_config('default_transaction_isolation', 'read committed', ",
            $is_local,
            "), set_config('standard_conforming_strings', 'on', ",
            $is_local,
            // Keys are in memory or on disks without heads. The default assumes disks with heads: a page of 50 rows would read the table.
            "), set_config('random_page_cost', '1.1', ",
            $is_local,
            // A statement whose client has closed its connection ends. Other systems refuse the setting.
            "), set_config('client_connection_check_interval', CASE WHEN version() ~ 'linux|darwin|bsd' THEN '500ms' ELSE '0' END, ",
            $is_local,
            ")"
        )
    };
}

/// Prepares a new connection. It compresses long values with lz4, in a fraction of the time of the server's default, unless the server was
/// built without it or its administrator has chosen a method. Behind a pooler the default stays: asking once per transaction would cost more.
pub const SESSION: &str = concat!(
    settings!("FALSE"),
    "; SELECT set_config(name, 'lz4', FALSE) FROM pg_settings \
     WHERE name = 'default_toast_compression' AND source = 'default' AND 'lz4' = ANY (enumvals)"
);

/// Also prepares a read-only connection: the server then refuses every write.
pub const READERS: &str = "SET default_transaction_read_only = on";

/// Run before the connection asks for the migration lock, which another program may hold for long: it then asks repeatedly instead of
/// waiting. A waiting statement has a transaction, and CREATE INDEX CONCURRENTLY of the lock's holder would wait for the end of that
/// transaction.
pub const BEFORE_MIGRATIONS: &str = "SET lock_timeout = '100ms'";

/// Run before a statement that nobody waits for: it may wait for the open transactions.
pub const WITHOUT_LIMIT: &str = "SET lock_timeout = 0";

/// Also prepares a connection for migrations. A change of a table's definition waits for the transactions that use the table, and later
/// transactions wait for the change. After one second it gives up, so that they continue.
pub const MIGRATIONS: &str = "SET lock_timeout = '1s'";

/// Counts the program locks that the connection holds: one for the migration lock, or zero.
pub const LOCKS: &str =
    "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()";

/// Tells what kind of server answers, in the order of the columns, each as text:
///
/// - `transaction_read_only`: `on` on a standby;
/// - an id that differs from other servers' ids, and from its own before a restart;
/// - its clock, in microseconds since 1970;
/// - the encoding of the database;
/// - `standard_conforming_strings`, without which a backslash in a literal begins an escape;
/// - `synchronous_commit`, `fsync`, `full_page_writes`, `synchronous_standby_names` and how many standbys follow: whether a commit that was
///   answered can be lost.
pub const SERVER: &str = "SELECT current_setting('transaction_read_only'), \
     CONCAT(inet_server_addr(), ' ', current_setting('port'), ' ', pg_postmaster_start_time()), \
     CAST(CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS TEXT), \
     current_setting('server_encoding'), current_setting('standard_conforming_strings'), \
     current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'), \
     current_setting('synchronous_standby_names'), CAST((SELECT COUNT(*) FROM pg_stat_replication) AS TEXT)";

/// In a transaction of ours: begins what sqlx takes for the outermost one.
pub const NEST: &str = "SAVEPOINT ours";

/// Forgets all prepared statements of the connection to the server.
pub const FORGET_STATEMENTS: &str = "DEALLOCATE ALL";

/// Begins a transaction.
pub const fn begin(access: Access) -> &'static str {
    match access {
        Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        // Each statement sees what was committed before it: so a read after taking a lock sees what the lock protects. Not READ WRITE,
        // which would let a read-only session write.
        Access::Write => "BEGIN ISOLATION LEVEL READ COMMITTED",
    }
}

/// The settings of [`SESSION`] for one transaction, if a connection keeps none because a pooler gives each transaction another one.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The server refuses every write.
    pub read_only: bool,
}

/// Begins a transaction with its own settings, and ends each of its statements after `limit`.
pub fn begin_with(access: Access, settings: Option<Settings>, limit: Option<Duration>) -> String {
    let mut text = begin(access).to_owned();
    if let Some(Settings { read_only }) = settings {
        if read_only && access == Access::Write {
            text.push_str(" READ ONLY");
        }
        text.push_str(concat!("; ", settings!("TRUE")));
    }
    if let Some(limit) = limit {
        // In milliseconds. 0 would be no limit, and the setting has 31 bits.
        let limit = limit.as_millis().clamp(1, i32::MAX.unsigned_abs().into());
        text.push_str(&format!("; SET LOCAL statement_timeout = {limit}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Settings, begin_with};
    use crate::dialect::Access;
    use std::time::Duration;

    #[test]
    fn a_transaction_that_is_to_read_only_is_begun_so_once() {
        for (access, read_only, begins) in [
            (Access::Read, true, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT "),
            (Access::Write, true, "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SELECT "),
            (Access::Write, false, "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT "),
        ] {
            let text = begin_with(access, Some(Settings { read_only }), None);
            assert!(text.starts_with(begins) && text.contains("set_config('lock_timeout', '50s', TRUE)"), "{text}");
        }
    }

    #[test]
    fn a_limit_of_a_statement_fits_the_setting() {
        for (limit, milliseconds) in
            [(Duration::ZERO, "1"), (Duration::from_millis(1500), "1500"), (Duration::MAX, "2147483647")]
        {
            let text = begin_with(Access::Read, None, Some(limit));
            let begins = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ";
            assert_eq!(text.strip_prefix(begins), Some(milliseconds));
        }
    }
}
