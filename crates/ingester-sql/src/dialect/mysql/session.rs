//! Settings and questions of a driver about its connection. No statement is about rows or tables.

pub use super::inline::marked;
use crate::dialect::Access;

/// Prepares a new connection.
pub const SESSION: [&str; 3] = [
    // Strict, so that a value that does not fit is an error of its object and never cut off. The mode also decides how text is quoted.
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    // If a server is configured without autocommit, a single statement would never be committed; with another completion type, each commit
    // begins a transaction or ends the connection; with a limit, reads would miss rows. MariaDB compresses a version in two thirds of the
    // time at the lowest level, to nearly the same size.
    "SET SESSION autocommit = 1, completion_type = 'NO_CHAIN', sql_select_limit = 18446744073709551615 /*M!100302 , column_compression_zlib_level = 1 */",
];

/// Also prepares a read-only connection: the server then refuses every write.
pub const READERS: &str = "SET SESSION TRANSACTION READ ONLY";

/// Also prepares a connection for migrations. A change of a table's definition waits for the transactions that use the table, and later
/// transactions wait for the change. After one second it gives up, so that they continue.
pub const MIGRATIONS: &str = "SET SESSION lock_wait_timeout = 1";

/// Also prepares a connection to a node of Galera: a read, or a transaction that begins, waits until the node has everything that was
/// committed on any node before.
pub const NODES: &str = "SET SESSION wsrep_sync_wait = 1";

/// Waits until no other connection migrates this database, and then returns 1. sqlx's own lock has a negative time-out, which means
/// forever on MySQL. MariaDB does not know that and returns NULL at once.
pub const LOCK_MIGRATIONS: &str = "SELECT GET_LOCK(CONCAT('ingester', SHA2(DATABASE(), 224)), 31536000)";

/// Tells what kind of server answers: names of its variables and their values, without those that it does not have.
///
/// - `version` names MariaDB.
/// - `wsrep_on` is `ON` on a node of Galera, which certifies transactions.
/// - `group_replication_group_name` is not empty on a member of a MySQL group.
/// - `read_only` or `innodb_read_only` is not `OFF` on a server that takes no writes.
/// - `timestamp` is the server's clock, in seconds since 1970, and `Uptime` how long it has run.
/// - `server_uuid`, `hostname` and `port` tell one server from another.
/// - `innodb_flush_log_at_trx_commit`, `log_bin`, `sync_binlog` and `rpl_semi_sync_source_enabled` (`rpl_semi_sync_master_enabled`) tell
///   whether a commit that was answered can be lost.
/// - `innodb_buffer_pool_size` is the memory for tables.
///
/// Unlike @@wsrep_on, it is not an error on a server that does not know a variable. The second statement goes in the same round trip,
/// and its rows follow.
pub const VARIABLES: &str = "SHOW VARIABLES WHERE Variable_name IN ('version', 'wsrep_on', 'group_replication_group_name', 'read_only', 'innodb_read_only', \
     'timestamp', 'server_uuid', 'hostname', 'port', 'log_bin', 'sync_binlog', 'innodb_buffer_pool_size', \
     'innodb_flush_log_at_trx_commit', \
     'rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled'); \
     SHOW GLOBAL STATUS WHERE Variable_name = 'Uptime'";

/// The second column is `ON` if a node of Galera answers questions and takes writes.
pub const READY: &str = "SHOW STATUS LIKE 'wsrep_ready'";

/// The second column names the node of Galera that answers, until it is restarted.
pub const NODE: &str = "SHOW STATUS LIKE 'wsrep_gcomm_uuid'";

/// The [marked] statements that run: the ids of their connections, and how their texts begin. Without the right PROCESS, a user sees its
/// own connections: these are ours.
///
/// MySQL's newer list of processes: the older one is an error (3854) while any statement has bytes that are not text. It has at least this
/// statement, which has no mark, unless the server keeps no such list.
pub const MARKED_STATEMENTS: &str = "SELECT ID, CAST(SUBSTRING(INFO, 1, 100) AS CHAR) FROM performance_schema.processlist WHERE INFO LIKE '/* ingester %' OR ID = CONNECTION_ID()";

/// As [`MARKED_STATEMENTS`], from the older list, which every server has.
pub const MARKED_STATEMENTS_BEFORE: &str = "SELECT ID, CAST(SUBSTRING(INFO, 1, 100) AS CHAR) FROM information_schema.PROCESSLIST WHERE INFO LIKE '/* ingester %'";

/// Begins a transaction.
pub const fn begin(access: Access) -> &'static str {
    match access {
        // In READ COMMITTED, the mode of our sessions, each statement would see another state of the database. Not READ ONLY,
        // which TiDB refuses (its "System Variables", tidb_enable_noop_functions).
        Access::Read => "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION",
        Access::Write => "START TRANSACTION",
    }
}

/// Ends a connection with what it runs.
pub fn end_connection(id: u64) -> String {
    format!("KILL {id}")
}
