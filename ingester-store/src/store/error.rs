//! What goes wrong with a database, in which class it falls, and what a person can do about it.

use std::fmt;

/// What an error means for the work at hand. It decides on retry, never the error's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// It may pass by itself: a deadlock, a lock wait, a lost connection, a server that is starting.
    Transient,
    /// The database refuses the object: too long, not valid JSON for it, out of range.
    Object,
    /// Somebody must act: rights, a missing table, a full disk.
    Operator,
    /// None of the known ones; taken as the object's, unless no object at all gets through.
    Unknown,
}

/// An error of the store: what was being done, what the database said, what to do next. Never holds a password.
#[derive(Debug)]
pub struct StoreError {
    doing: Box<str>,
    reason: Box<str>,
    hint: Option<Box<str>>,
    class: ErrorClass,
    source: Option<Box<sqlx::Error>>,
}

impl StoreError {
    /// An error that was found before any database was asked.
    pub(super) fn wrong(doing: impl Into<String>, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        StoreError {
            doing: doing.into().into(),
            reason: reason.into().into(),
            hint: Some(hint.into().into()),
            class: ErrorClass::Operator,
            source: None,
        }
    }

    /// No answer at all while `doing`.
    pub fn silent(doing: &str, after: std::time::Duration) -> Self {
        let timeout = std::io::Error::new(std::io::ErrorKind::TimedOut, format!("no answer within {after:?}"));
        StoreError::of(doing.to_owned(), timeout.into())
    }

    /// What sqlx said while `doing`.
    pub(super) fn of(doing: String, error: sqlx::Error) -> Self {
        let (class, hint) = classify(&error);
        let reason = match &error {
            sqlx::Error::Database(error) => match error.code() {
                Some(_) => error.message().to_owned(),
                None => error.to_string(),
            },
            sqlx::Error::Io(error) => error.to_string(),
            error => error.to_string(),
        };
        StoreError {
            doing: doing.into(),
            reason: reason.into(),
            hint: hint.map(Into::into),
            class,
            source: Some(Box::new(error)),
        }
    }

    /// The error's class.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// Whether the database that was named is not one to write to: read-only, no rights, no such database, no database
    /// at all. A full or broken disk is none of these: the database was right and the work failed.
    pub fn is_configuration(&self) -> bool {
        self.class == ErrorClass::Operator && !self.source.as_deref().is_some_and(is_storage)
    }

    /// What the database said, alone.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.doing, self.reason)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|error| error as _)
    }
}

/// What to do about a connection that cannot be encrypted as it should be.
const TLS: &str =
    "check the server's certificate, and ssl-mode and ssl-ca of the URL or `mysql.tls` of the configuration";

/// What kind of error it is.
pub(super) fn class_of(error: &sqlx::Error) -> ErrorClass {
    classify(error).0
}

fn classify(error: &sqlx::Error) -> (ErrorClass, Option<&'static str>) {
    use sqlx::Error as E;
    match error {
        E::Database(error) => {
            if let Some(error) = error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
                return mysql(error.number(), error.code());
            }
            sqlite(error.code().and_then(|code| code.parse().ok()).unwrap_or(1), error.message())
        }
        E::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            (ErrorClass::Operator, Some("name a host that exists, or a socket file that is there"))
        }
        // What the TLS library has against the other side comes as this.
        E::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => (ErrorClass::Operator, Some(TLS)),
        E::Io(_) => (ErrorClass::Transient, Some("is the server running, and are host and port right?")),
        E::PoolTimedOut => (
            ErrorClass::Transient,
            Some("no connection became free in time: is the server reachable, are there enough connections?"),
        ),
        E::Protocol(_) | E::WorkerCrashed | E::PoolClosed | E::BeginFailed => (ErrorClass::Transient, None),
        E::Tls(_) => (ErrorClass::Operator, Some(TLS)),
        E::Configuration(_) => {
            (ErrorClass::Operator, Some("a URL is mysql://user:password@host:3306/database or sqlite://file.db"))
        }
        E::InvalidArgument(_) | E::Encode(_) => (ErrorClass::Object, None),
        _ => (ErrorClass::Unknown, None),
    }
}

/// MySQL's errors about its disk: full, table full, error of a file, of the operating system, of the storage engine.
const MYSQL_STORAGE: [u16; 6] = [1021, 1114, 3, 28, 1030, 1026];

/// SQLite's primary result codes about its disk and file: IOERR, CORRUPT, FULL.
const SQLITE_STORAGE: [u32; 3] = [10, 11, 13];

/// Whether the disk is the trouble.
fn is_storage(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    match error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        Some(error) => MYSQL_STORAGE.contains(&error.number()),
        None => error
            .code()
            .and_then(|code| code.parse().ok())
            .is_some_and(|code: u32| SQLITE_STORAGE.contains(&(code & 0xff))),
    }
}

/// By MySQL's error numbers (MySQL and MariaDB Reference Manuals, "Server Error Message Reference").
fn mysql(number: u16, state: Option<&str>) -> (ErrorClass, Option<&'static str>) {
    match number {
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
        // A primary that became a replica: another may take over.
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
        // Of changes of a table's definition.
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
        number if MYSQL_STORAGE.contains(&number) => (ErrorClass::Operator, Some("make room on the database's disk")),
        // Packet too large, invalid JSON (text, depth, ...), MariaDB's CHECK (json_valid).
        1153 | 3140..=3158 | 4025 => (ErrorClass::Object, None),
        _ => match state.map(|state| &state[..state.len().min(2)]) {
            // Data exceptions and violated constraints.
            Some("22" | "23") => (ErrorClass::Object, None),
            Some("08") => (ErrorClass::Transient, None),
            Some("28") => (ErrorClass::Operator, None),
            _ => (ErrorClass::Unknown, None),
        },
    }
}

/// By SQLite's result codes ("Result and Error Codes"); extended ones hold the primary one in their lower byte.
fn sqlite(code: u32, message: &str) -> (ErrorClass, Option<&'static str>) {
    match code & 0xff {
        5 | 6 => (ErrorClass::Transient, Some("another program holds the database; close it or wait")),
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
