//! MySQL's errors: their classes, and what a person can do about them.

use crate::driver::facts::{ErrorClass, ErrorSubject, Facts};
use sqlx::error::DatabaseError;
use sqlx::mysql::MySqlDatabaseError;

/// The class of an error, and the remedy.
type Classification = (ErrorClass, Option<&'static str>);

/// Returns the facts about an error; `None` if another database reports it.
pub(crate) fn facts(error: &dyn DatabaseError) -> Option<Facts> {
    let error = error.try_downcast_ref::<MySqlDatabaseError>()?;
    let number = error.number();
    let classified = by_number(number).or_else(|| by_state(error.code()?));
    let (class, hint) = classified.unwrap_or((ErrorClass::Unknown, None));
    let about = about(number);
    let missing = (about == Some(ErrorSubject::Right)).then(|| granting(error.message())).flatten();
    let why_json = (number == CHECKED && error.message().contains(".json`")).then_some(refused_json as fn(&str) -> _);
    Some(Facts { class, hint: missing.map(Into::into).or(hint.map(Into::into)), about, why_json })
}

fn about(number: u16) -> Option<ErrorSubject> {
    Some(match number {
        number if READ_ONLY.contains(&number) || LEFT.contains(&number) || UNPREPARED.contains(&number) => {
            ErrorSubject::Stale
        }
        number if DENIED.contains(&number) => ErrorSubject::Right,
        number if REFUSED.contains(&number) => ErrorSubject::Login,
        number if ENDED.contains(&number) => ErrorSubject::Time,
        number if STORAGE.contains(&number) => ErrorSubject::Storage,
        NO_KEY => ErrorSubject::Key,
        NO_TABLE => ErrorSubject::Table,
        _ => return None,
    })
}

/// Returns true if the error has this number.
pub(super) fn is_number(error: &sqlx::Error, number: u16) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    error.try_downcast_ref::<MySqlDatabaseError>().is_some_and(|error| error.number() == number)
}

/// The database lacks a key that a statement names.
const NO_KEY: u16 = 1176;

/// The database lacks a table that a statement names.
const NO_TABLE: u16 = 1146;

/// MySQL's errors about its disk: disk full, table full, and errors of files, the operating system and the storage engine.
const STORAGE: [u16; 6] = [1021, 1114, 3, 28, 1030, 1026];

/// The user lacks a right: to a database, a table, a column, in general, to a routine.
const DENIED: [u16; 5] = [1044, 1142, 1143, 1227, 1370];

/// The user is unknown, the password is wrong, or a password is missing.
const REFUSED: [u16; 2] = [1045, 1698];

/// `SELECT command denied to user 'ingester'@'10.0.0.7' for table 'model'` names the right and the host of the user. Only the server knows
/// which account that is.
fn granting(message: &str) -> Option<String> {
    let (right, rest) = message.split_once(" command denied to user ")?;
    let user = rest.split('@').next()?;
    Some(format!("missing right: run GRANT {right} ON DATABASE.* TO {user}@HOST; {NEEDS}"))
}

/// The rights that the ingester needs.
const NEEDS: &str =
    "the ingester needs SELECT, INSERT, UPDATE and DELETE, and to make tables CREATE, ALTER, DROP and INDEX";

/// MariaDB's error of a CHECK. A JSON column has the CHECK JSON_VALID.
const CHECKED: u16 = 4025;

/// Returns the reason why MariaDB refuses well-formed JSON: its error only says that a column does not take it.
fn refused_json(json: &str) -> &'static str {
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut bytes = json.bytes();
    let mut in_string = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if deepest > MARIADB_DEPTH {
        "MariaDB takes JSON of at most 32 levels, and this object is nested deeper: nest it less, or use another database"
    } else {
        "MariaDB does not take its JSON"
    }
}

/// MariaDB's JSON_DEPTH_LIMIT.
const MARIADB_DEPTH: usize = 32;

/// The server ended the statement because it took too long: MySQL, MariaDB.
const ENDED: [u16; 2] = [3024, 1969];

/// The server is read-only because of an option, the transaction or its mode. It was the primary before a fail-over.
const READ_ONLY: [u16; 3] = [1290, 1792, 1836];

/// The server has lost the other members of its group: a node of Galera (1047, "unknown command" elsewhere), a member of a MySQL group.
const LEFT: [u16; 2] = [1047, 3100];

/// A prepared statement is no longer valid: it could not be prepared again (1615), or a proxy went on with another server, which
/// does not know it (1243).
const UNPREPARED: [u16; 2] = [1615, 1243];

/// Classifies by the first two characters of the SQLSTATE.
fn by_state(state: &str) -> Option<Classification> {
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

/// Classifies by MySQL's number (MySQL and MariaDB Reference Manuals, "Server Error Message Reference").
fn by_number(number: u16) -> Option<Classification> {
    of_server(number).or_else(|| of_tidb(number)).or_else(|| of_operator(number)).or_else(|| of_object(number))
}

/// Classifies errors of locks, of the server's state and limits, and of the connection.
fn of_server(number: u16) -> Option<Classification> {
    use ErrorClass::{Transient, Unknown};
    Some(match number {
        // A deadlock; a wait for a lock.
        1213 | 1205 => (Transient, None),
        // A table's definition has changed since the transaction began.
        1412 => (Transient, None),
        number if UNPREPARED.contains(&number) => (Transient, None),
        number if LEFT.contains(&number) => {
            (Transient, Some("the server has lost the others of its group: it continues when the quorum is back"))
        }
        // The server is stopping, was told to, is offline, or starts a plugin; it has no thread left.
        1053 | 1077..=1079 | 3032 | 3168 | 1135 => (Transient, None),
        // The connection: packets out of order or late, aborted, killed, gone, lost, closed because it was idle.
        1152 | 1158..=1161 | 1184 | 1927 | 2006 | 2013 | 3169 | 4031 => (Transient, None),
        // The statement was interrupted by a user, or took longer than the server allows (MySQL, MariaDB).
        1317 => (Transient, None),
        number if ENDED.contains(&number) => {
            (Transient, Some("the server ended the statement: raise its max_statement_time or max_execution_time"))
        }
        // Too many connections, of all users or of this one; an hourly limit of this user.
        1040 | 1203 => (Transient, Some("raise the server's max_connections, or lower mysql.maxOpenConns")),
        1226 => {
            (Transient, Some("this user has reached a limit of its account: raise it, or wait until the hour is over"))
        }
        // Memory: for anything at all, for locks.
        1037 | 1041 => (Transient, Some("the server has no memory left")),
        1206 => (Transient, Some("the server has no memory left for locks: raise innodb_buffer_pool_size")),
        // Galera, at a commit while a node leaves or the quorum is lost. Group replication, which rolled the commit back.
        1180 | 3101 => (Transient, None),
        // TiDB, Vitess and plugins use it for every error without a number. Galera uses it for a write set that is too large, which halving
        // the batch fixes. So the number is known, but says nothing.
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
        _ => return None,
    })
}

/// Classifies errors that only TiDB has (its "Error Codes and Troubleshooting", 8000 to 9999).
fn of_tidb(number: u16) -> Option<Classification> {
    use ErrorClass::{Object, Transient};
    Some(match number {
        // TiDB: write conflicts (8002, 8005, 8022, 9007); the schema changed meanwhile, or this server's is out of date (8027,
        // 8028); a locked table (8020); memory (8001, 8175, 8176); PD, TiKV or TiFlash silent or busy, a lock that cannot be resolved,
        // a region without a leader (9001 to 9005, 9012, 9013); a transaction older than what garbage collection keeps (8055, 9006).
        8001 | 8002 | 8005 | 8020 | 8022 | 8027 | 8028 | 8055 | 8175 | 8176 | 9001..=9007 | 9012 | 9013 => {
            (Transient, None)
        }
        // TiDB: the transaction or one entry is too large. Halving the batch finds the object.
        8004 | 8025 => (Object, Some("raise TiDB's txn-total-size-limit or txn-entry-size-limit")),
        _ => return None,
    })
}

/// Classifies errors that an operator fixes: accounts, the database, the schema and its changes, the disk.
fn of_operator(number: u16) -> Option<Classification> {
    use ErrorClass::{Operator, Transient};
    Some(match number {
        1129 => (Operator, Some("the server has blocked this host: run FLUSH HOSTS there")),
        number if DENIED.contains(&number) => (Operator, Some(NEEDS)),
        1045 | 1698 | 1130 | 1251 | 1524 => {
            (Operator, Some("check user and password of the URL, and from which hosts this user may connect"))
        }
        1049 => (Operator, Some("create the database first: CREATE DATABASE name CHARACTER SET utf8mb4")),
        1046 => (Operator, Some("name a database: mysql://user:password@host:3306/database")),
        NO_TABLE => (
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
            Some("the table has reached its limit of instant changes: run OPTIMIZE TABLE on it, then continue"),
        ),
        1845 | 1846 => (
            Operator,
            Some(
                "on this server the change would cost more than planned: run the statement by hand with another ALGORITHM in a quiet hour, then continue",
            ),
        ),
        // An unknown column, another number of columns, or a column that needs a value and is not known here.
        1054 | 1136 | 1364 => {
            (Operator, Some("the tables are of another release than this ingester: see `ingester schema verify`"))
        }
        number if STORAGE.contains(&number) => (Operator, Some("make room on the database's disk")),
        _ => return None,
    })
}

/// Classifies errors of an object.
fn of_object(number: u16) -> Option<Classification> {
    use ErrorClass::Object;
    Some(match number {
        // Packet too large; a text or value that does not fit, which has no separate class on some servers (1265, 1366); a row
        // that is too large for its page; invalid JSON (text, depth, ...); MySQL's and MariaDB's CHECK.
        1153 | 1265 | 1366 | 1118 | 3140..=3158 | 3819 | 4025 => (Object, None),
        _ => return None,
    })
}

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
