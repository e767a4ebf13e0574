//! MySQL, MariaDB and other servers with their protocol.

use super::driver::implement_driver;
use super::error::Classified;
use super::servers::{Server, Servers};
use super::transaction::raw;
use super::{ConnectOptions, ErrorClass};
use ingester_core::dialect::{Dialect, Sql};
use sqlx::mysql::{
    MySqlArguments, MySqlConnectOptions, MySqlConnection, MySqlDatabaseError, MySqlPoolOptions, MySqlRow,
};
use sqlx::{Connection as _, Executor as _, MySql, MySqlPool};
use std::sync::Arc;
use std::time::Duration;

pub(super) const DIALECT: Dialect = Dialect::MySql;

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

/// Connects to a server.
pub(super) async fn connect(
    connect: &MySqlConnectOptions,
    options: ConnectOptions,
    several: bool,
    servers: &Arc<Servers>,
) -> Result<MySqlPool, sqlx::Error> {
    let [acquired, released, connected] = [servers.clone(), servers.clone(), servers.clone()];
    // The first connection is made without the pool, which would report a time-out instead of the cause. One of several servers was
    // asked already.
    if !several {
        MySqlConnection::connect_with(connect).await?.close().await?;
    }
    Ok(MySqlPoolOptions::new()
        .max_connections(options.connections.max(1))
        .min_connections(options.max_idle.min(options.connections))
        .acquire_timeout(ACQUIRE)
        // sqlx would test the connection before every transaction, with one more round trip.
        .test_before_acquire(false)
        .before_acquire(move |connection, state| {
            let stale = acquired.is_stale(state.age);
            Box::pin(async move { Ok(!stale && (state.idle_for < IDLE || connection.ping().await.is_ok())) })
        })
        .after_release(move |_, state| {
            let stale = released.is_stale(state.age);
            Box::pin(async move { Ok(!stale) })
        })
        .max_lifetime(options.max_lifetime)
        .after_connect(move |connection, _| {
            let servers = connected.clone();
            Box::pin(async move {
                let asked = tokio::time::Instant::now();
                let server = prepare(connection).await?;
                if let Some(time) = server.time {
                    servers.clock.learn(time, asked);
                }
                if options.read_only {
                    for sql in DIALECT.session_of_readers() {
                        supported(connection.execute(raw(&sql)).await)?;
                    }
                }
                // Of several servers, another one is the right one now. The only one may be read-only to others than this user.
                if several && server.is_read_only && !options.read_only {
                    return Err(read_only());
                }
                servers.reached(server);
                Ok(())
            })
        })
        // The idle ones are opened when they are needed: opened here, one after the other, they would take longer than an attempt
        // may where each answer takes a tenth of a second.
        .connect_lazy_with(connect.clone()))
}

/// Not supported yet: what TiDB says of sessions that only read (its "System Variables", tidb_enable_noop_functions).
const NOT_SUPPORTED: u16 = 1235;

/// Goes on without what the server does not support.
fn supported<T>(result: Result<T, sqlx::Error>) -> Result<(), sqlx::Error> {
    match result {
        Err(sqlx::Error::Database(error))
            if error.try_downcast_ref::<MySqlDatabaseError>().is_some_and(|error| error.number() == NOT_SUPPORTED) =>
        {
            Ok(())
        }
        result => result.map(drop),
    }
}

/// Prepares the session of a new connection, and asks what kind of server it leads to.
pub(super) async fn prepare(connection: &mut MySqlConnection) -> Result<Server, sqlx::Error> {
    for sql in DIALECT.session() {
        connection.execute(raw(&sql)).await?;
    }
    let Some(sql) = DIALECT.variables() else { return Ok(Server::UNKNOWN) };
    let rows = match connection.fetch_all(raw(&sql)).await {
        Err(sqlx::Error::Database(_)) => return Ok(Server::UNKNOWN),
        rows => rows?,
    };
    let mut variables: Vec<(String, String)> = Vec::new();
    for row in &rows {
        variables.push((row.try_get_unchecked(0)?, row.try_get_unchecked(1)?));
    }
    let server = Server::of(variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    if server.is_node {
        for sql in DIALECT.session_of_nodes() {
            connection.execute(raw(&sql)).await?;
        }
    }
    Ok(server)
}

/// The node of Galera to which a connection leads; empty elsewhere.
pub(super) async fn node(connection: &mut MySqlConnection) -> Result<String, sqlx::Error> {
    second_column(connection, DIALECT.node()).await
}

/// Whether a server takes writes, or answers if it is to be read only.
pub(super) async fn probe(connect: &MySqlConnectOptions, for_reading: bool) -> Result<(), sqlx::Error> {
    let mut connection = MySqlConnection::connect_with(connect).await?;
    let server = prepare(&mut connection).await?;
    if server.is_read_only && !for_reading {
        return Err(read_only());
    }
    if server.is_node && second_column(&mut connection, DIALECT.ready()).await? != "ON" {
        return Err(std::io::Error::other("it has lost the others of its cluster, or joins them").into());
    }
    connection.close().await
}

/// The second column of the only row; empty without one.
async fn second_column(connection: &mut MySqlConnection, sql: Option<Sql>) -> Result<String, sqlx::Error> {
    let Some(sql) = sql else { return Ok(String::new()) };
    let row = connection.fetch_optional(raw(&sql)).await?;
    row.map_or_else(|| Ok(String::new()), |row| row.try_get_unchecked(1))
}

fn read_only() -> sqlx::Error {
    std::io::Error::other("it is read-only").into()
}

/// MySQL's errors about its disk: disk full, table full, and errors of files, the operating system and the storage engine.
const STORAGE: [u16; 6] = [1021, 1114, 3, 28, 1030, 1026];

/// Whether the error is about the disk.
pub(super) fn is_storage(error: &MySqlDatabaseError) -> bool {
    STORAGE.contains(&error.number())
}

/// Whether the connection is of no more use, although it still answers: its server is read-only now, has lost the others of its
/// group, or forgot what was prepared on it. A new connection may reach another server.
pub(super) fn is_stale(error: &MySqlDatabaseError) -> bool {
    let number = error.number();
    READ_ONLY.contains(&number) || LEFT.contains(&number) || UNPREPARED.contains(&number)
}

/// The user lacks a right: to a database, a table, a column, in general, to a routine.
const DENIED: [u16; 5] = [1044, 1142, 1143, 1227, 1370];

/// Whether the user lacks a right.
pub(super) fn is_denied(error: &MySqlDatabaseError) -> bool {
    DENIED.contains(&error.number())
}

/// What to do about a right that the server names.
pub(super) fn missing_right(error: &MySqlDatabaseError) -> Option<String> {
    is_denied(error).then(|| granting(error.message()))?
}

/// `SELECT command denied to user 'ingester'@'10.0.0.7' for table 'model'` names the right, and where the user comes from; which account
/// that is, only the server knows.
fn granting(message: &str) -> Option<String> {
    let (right, rest) = message.split_once(" command denied to user ")?;
    let user = rest.split('@').next()?;
    Some(format!("missing right: run GRANT {right} ON DATABASE.* TO {user}@HOST; {NEEDS}"))
}

/// Which rights the ingester needs.
const NEEDS: &str =
    "the ingester needs SELECT, INSERT, UPDATE and DELETE, and to make tables CREATE, ALTER, DROP and INDEX";

/// MariaDB's error of a CHECK; that of a JSON column is JSON_VALID.
const CHECKED: u16 = 4025;

/// Whether the server refuses the column `json`.
pub(super) fn is_about_json(error: &MySqlDatabaseError) -> bool {
    error.number() == CHECKED && error.message().contains(".json`")
}

/// The server ended the statement because it took too long: MySQL, MariaDB.
const ENDED: [u16; 2] = [3024, 1969];

/// Whether the server ended the statement because it took too long.
pub(super) fn is_ended(error: &MySqlDatabaseError) -> bool {
    ENDED.contains(&error.number())
}

/// The server is read-only: an option of the server, the transaction, the server's mode. It was the primary before a fail-over.
const READ_ONLY: [u16; 3] = [1290, 1792, 1836];

/// The server has lost the others of its group: a node of Galera (1047, "unknown command" elsewhere), a member of a MySQL group.
const LEFT: [u16; 2] = [1047, 3100];

/// A prepared statement is not what it was: it could not be prepared again (1615), or a proxy went on with another server, which
/// does not know it (1243).
const UNPREPARED: [u16; 2] = [1615, 1243];

/// Classifies an error by its number, else by the class of its SQLSTATE.
pub(super) fn classify(error: &MySqlDatabaseError) -> Classified {
    by_number(error.number()).or_else(|| by_state(error.code()?)).unwrap_or((ErrorClass::Unknown, None))
}

/// By the first two characters of the SQLSTATE.
fn by_state(state: &str) -> Option<Classified> {
    match state.get(..2)? {
        // Data exceptions and violated constraints.
        "22" | "23" => Some((ErrorClass::Object, None)),
        // The connection; the transaction, in a state that the statement does not fit; the transaction, rolled back by the server;
        // an interrupted statement.
        "08" | "25" | "40" | "70" => Some((ErrorClass::Transient, None)),
        "28" => Some((ErrorClass::Operator, None)),
        _ => None,
    }
}

/// By MySQL's number (MySQL and MariaDB Reference Manuals, "Server Error Message Reference"; TiDB's "Error Codes and
/// Troubleshooting" for 8000 to 9999).
fn by_number(number: u16) -> Option<Classified> {
    use ErrorClass::{Object, Operator, Transient, Unknown};
    Some(match number {
        // A deadlock; a wait for a lock.
        1213 | 1205 => (Transient, None),
        // A table's definition has changed since the transaction began.
        1412 => (Transient, None),
        number if UNPREPARED.contains(&number) => (Transient, None),
        number if LEFT.contains(&number) => {
            (Transient, Some("the server has lost the others of its group: it goes on when the quorum is there again"))
        }
        // The server is stopping, was told to, is offline, or starts a plugin; it has no thread left.
        1053 | 1077..=1079 | 3032 | 3168 | 1135 => (Transient, None),
        // The connection: packets out of order or late, aborted, killed, gone, lost, closed because it was idle.
        1152 | 1158..=1161 | 1184 | 1927 | 2006 | 2013 | 3169 | 4031 => (Transient, None),
        // The statement was interrupted by somebody, or took longer than the server allows (MySQL, MariaDB).
        1317 => (Transient, None),
        number if ENDED.contains(&number) => {
            (Transient, Some("the server ended the statement: raise its max_statement_time or max_execution_time"))
        }
        // Too many connections, of all users or of this one; a limit of this user's for an hour.
        1040 | 1203 => (Transient, Some("raise the server's max_connections, or lower mysql.maxOpenConns")),
        1226 => {
            (Transient, Some("this user has reached a limit of its account: raise it, or wait until the hour is over"))
        }
        // Memory: for anything at all, for locks.
        1037 | 1041 => (Transient, Some("the server has no memory left")),
        1206 => (Transient, Some("the server has no memory left for locks: raise innodb_buffer_pool_size")),
        // Galera, at a commit while a node leaves or the quorum is lost. Group replication, which rolled the commit back.
        1180 | 3101 => (Transient, None),
        // TiDB: write conflicts (8002, 8005, 8022, 9007); the schema changed meanwhile, or this server's is out of date (8027,
        // 8028); a locked table (8020); memory (8001, 8175, 8176); PD, TiKV or TiFlash silent or busy, a lock that cannot be resolved,
        // a region without a leader (9001 to 9005, 9012, 9013); a transaction older than what garbage collection keeps (8055, 9006).
        8001 | 8002 | 8005 | 8020 | 8022 | 8027 | 8028 | 8055 | 8175 | 8176 | 9001..=9007 | 9012 | 9013 => {
            (Transient, None)
        }
        // TiDB: the transaction or one entry is too large. Halving the batch finds the object.
        8004 | 8025 => (Object, Some("raise TiDB's txn-total-size-limit or txn-entry-size-limit")),
        // Whatever TiDB, Vitess and plugins have no number for. On Galera, also a write set that is too large, which halving the
        // batch mends. So it is known by its number, and still says nothing.
        1105 => (Unknown, None),
        1461 => (
            Transient,
            Some(
                "raise the server's max_prepared_stmt_count, or lower mysql.maxOpenConns or the URL's statement-cache-capacity (256)",
            ),
        ),
        number if READ_ONLY.contains(&number) => {
            (Transient, Some("the server is read-only: name the primary, or wait for the fail-over"))
        }
        1129 => (Operator, Some("the server has blocked this host: run FLUSH HOSTS there")),
        number if DENIED.contains(&number) => (Operator, Some(NEEDS)),
        1045 | 1698 | 1130 | 1251 | 1524 => {
            (Operator, Some("check user and password of the URL, and from which hosts this user may connect"))
        }
        1049 => (Operator, Some("create the database first: CREATE DATABASE name CHARACTER SET utf8mb4")),
        1046 => (Operator, Some("name a database: mysql://user:password@host:3306/database")),
        1146 => (
            Operator,
            Some(
                "the schema is not there: make it with `ingester schema apply`, or pipe `ingester schema print` into the client",
            ),
        ),
        // A table or an index is broken, or its file is missing.
        1034 | 1194 | 1195 | 1712 | 1812 | 1877 | 1932 => {
            (Operator, Some("the table is damaged: see the server's log, repair it or restore it from a backup"))
        }
        // The next four are errors of schema changes.
        1799 => (
            Transient,
            Some(
                "so much was written meanwhile that the server lost track: raise innodb_online_alter_log_max_size, or wait for a calmer hour",
            ),
        ),
        4092 => (
            Operator,
            Some("the table has taken all the instant changes that it can: run OPTIMIZE TABLE on it, then go on"),
        ),
        1845 | 1846 => (
            Operator,
            Some(
                "on this server the change would cost more than was expected of it: run the statement by hand with another ALGORITHM in a quiet hour, then go on",
            ),
        ),
        // An unknown column, another number of columns, a column that wants a value and is not known here.
        1054 | 1136 | 1364 => {
            (Operator, Some("the tables are of another release than this ingester: see `ingester schema verify`"))
        }
        number if STORAGE.contains(&number) => (Operator, Some("make room on the database's disk")),
        // Packet too large; a text or value that does not fit, which has no class of its own on some servers (1265, 1366); a row
        // that is too large for its page; invalid JSON (text, depth, ...); MySQL's and MariaDB's CHECK.
        1153 | 1265 | 1366 | 1118 | 3140..=3158 | 3819 | 4025 => (Object, None),
        _ => return None,
    })
}

fn unsigned(value: u64) -> Result<u64, sqlx::Error> {
    Ok(value)
}

/// Runs a query as one text with its values, behind a mark by which another connection finds it.
pub(super) async fn fetch_marked<Q: Query>(
    connection: &mut MySqlConnection,
    query: &Q,
    mark: &str,
) -> Result<Vec<Q::Row>, sqlx::Error> {
    match DIALECT.marked(mark, query) {
        Some(sql) => {
            let rows = connection.fetch_all(raw(&sql)).await?;
            rows.iter().map(|row| query.read(&Fetched(row))).collect()
        }
        None => fetch(connection, query).await,
    }
}

/// The ids of the connections that run marked statements, and how the texts begin.
pub(super) async fn marked_statements(connection: &mut MySqlConnection) -> Result<Vec<(u64, String)>, sqlx::Error> {
    let Some(sql) = DIALECT.marked_statements() else { return Ok(Vec::new()) };
    let rows = connection.fetch_all(raw(&sql)).await?;
    rows.iter().map(|row| Ok((row.try_get_unchecked(0)?, row.try_get_unchecked(1)?))).collect()
}

/// No such connection: it has ended by itself.
const NO_CONNECTION: u16 = 1094;

/// Ends a connection with what it runs.
pub(super) async fn end_connection(connection: &mut MySqlConnection, id: u64) -> Result<(), sqlx::Error> {
    let Some(sql) = DIALECT.end_connection(id) else { return Ok(()) };
    match connection.execute(raw(&sql)).await {
        Err(sqlx::Error::Database(error))
            if error.try_downcast_ref::<MySqlDatabaseError>().is_some_and(|error| error.number() == NO_CONNECTION) =>
        {
            Ok(())
        }
        result => result.map(drop),
    }
}

/// A key that a statement names is not there.
const NO_KEY: u16 = 1176;

/// Whether a key that the statement names is not there.
pub(super) fn is_about_key(error: &MySqlDatabaseError) -> bool {
    error.number() == NO_KEY
}

implement_driver!(MySql, MySqlArguments, MySqlRow, unsigned, u64, |value| value);

#[cfg(test)]
mod tests {
    use super::granting;

    #[test]
    fn a_missing_right_is_named_with_the_user_who_lacks_it() {
        for (message, begins) in [
            (
                "SELECT command denied to user 'ro'@'10.0.0.7' for table `m`.`model`",
                "missing right: run GRANT SELECT ON DATABASE.* TO 'ro'@HOST; ",
            ),
            ("CREATE VIEW command denied to user 'ro'@'%' for table 'v'", "missing right: run GRANT CREATE VIEW ON "),
            (
                "SELECT command denied to user 'ro'@'%' for column 'value' in table 'ingester_settings'",
                "missing right: run GRANT SELECT ON ",
            ),
        ] {
            let says = granting(message).unwrap();
            assert!(says.starts_with(begins), "{says}");
        }
        assert_eq!(granting("Access denied for user 'ro'@'%' to database 'm'"), None);
    }
}
