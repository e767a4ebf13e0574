//! Errors of databases: their classes, and what a person can do about them.

use super::{mysql, sqlite};
use std::fmt;

/// What an error means for the work at hand. The class decides about a retry, never the error's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// It may pass by itself: a deadlock, a lock wait, a lost connection, a server that is starting.
    Transient,
    /// The database refuses the object: too long, not valid JSON for it, out of range.
    Object,
    /// Somebody must act: missing rights, a missing table, a full disk.
    Operator,
    /// This process shares the work, and its Lease has run out: it may not write, so the database was not asked.
    Lease,
    /// None of the known errors. It becomes the object's if it lasts while other objects are stored.
    Unknown,
}

/// An error of the store: what was being done, what the database said, and what to do next. It never contains a password.
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

    /// The database gave no answer while `doing`.
    pub fn silent(doing: &str, after: std::time::Duration) -> Self {
        let timeout = std::io::Error::new(std::io::ErrorKind::TimedOut, format!("no answer within {after:?}"));
        StoreError::of(doing.to_owned(), timeout.into())
    }

    /// Nothing was written while `doing`: the Lease of this process has run out, and others may have its work.
    pub fn without_lease(doing: &str) -> Self {
        StoreError {
            doing: doing.into(),
            reason: "the Lease of this member has run out".into(),
            hint: Some("whoever has the work now does it; this member goes on when its Lease is renewed".into()),
            class: ErrorClass::Lease,
            source: None,
        }
    }

    /// Another process holds the lock of an SQLite file for longer than it takes to connect.
    pub(super) fn locked(doing: &str, file: &str) -> Self {
        StoreError {
            doing: doing.into(),
            reason: "the file is locked by another process".into(),
            hint: Some(format!("wait until it has ended; `fuser {file}` tells which one it is").into()),
            class: ErrorClass::Transient,
            source: None,
        }
    }

    /// An error of sqlx while `doing`.
    pub(super) fn of(doing: String, error: sqlx::Error) -> Self {
        let (class, hint) = classify(&error);
        let hint = missing_right(&error).map(Into::into).or(hint.map(Into::into));
        let reason = match &error {
            sqlx::Error::Database(error) => match error.code() {
                Some(_) => error.message().to_owned(),
                None => error.to_string(),
            },
            sqlx::Error::Io(error) => error.to_string(),
            error => error.to_string(),
        };
        StoreError { doing: doing.into(), reason: reason.into(), hint, class, source: Some(Box::new(error)) }
    }

    /// The error's class.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// Whether the configured database is the wrong one to write to: it is read-only or missing, or the user has no rights. A full
    /// or broken disk does not count, because then the database is right and the work failed.
    pub fn is_configuration(&self) -> bool {
        self.class == ErrorClass::Operator && !self.source.as_deref().is_some_and(is_storage)
    }

    /// Whether MariaDB refuses the JSON of a column, without a word of why.
    pub(super) fn is_about_json(&self) -> bool {
        let Some(sqlx::Error::Database(error)) = self.source.as_deref() else { return false };
        error.try_downcast_ref().is_some_and(mysql::is_about_json)
    }

    /// Whether a key that the statement names is not there.
    pub(crate) fn is_about_key(&self) -> bool {
        let Some(sqlx::Error::Database(error)) = self.source.as_deref() else { return false };
        error.try_downcast_ref().is_some_and(mysql::is_about_key)
    }

    /// What the database said, without what was being done.
    pub(super) fn reason(&self) -> &str {
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

/// What to do if a connection cannot be encrypted as configured.
const TLS: &str =
    "check the server's certificate, and ssl-mode and ssl-ca of the URL or `mysql.tls` of the configuration";

/// The class of an error, and what to do about it.
pub(super) type Classified = (ErrorClass, Option<&'static str>);

/// The class of an error.
pub(super) fn class_of(error: &sqlx::Error) -> ErrorClass {
    classify(error).0
}

/// Whether the connection that returned the error is of no more use, although it still answers: a new one may reach another server.
pub(super) fn is_stale(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    error.try_downcast_ref().is_some_and(mysql::is_stale)
}

/// Whether the connection is gone, or could not be made.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    matches!(error, E::Io(_) | E::Protocol(_) | E::PoolTimedOut | E::BeginFailed)
}

/// Whether the user lacks a right.
pub(super) fn is_denied(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    error.try_downcast_ref().is_some_and(mysql::is_denied)
}

/// What to do about a right that the server names.
fn missing_right(error: &sqlx::Error) -> Option<String> {
    let sqlx::Error::Database(error) = error else { return None };
    error.try_downcast_ref().and_then(mysql::missing_right)
}

/// Whether the server ended the statement because it took too long.
pub(super) fn is_ended(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    error.try_downcast_ref().is_some_and(mysql::is_ended) || error.try_downcast_ref().is_some_and(sqlite::is_ended)
}

fn classify(error: &sqlx::Error) -> Classified {
    use sqlx::Error as E;
    match error {
        E::Database(error) => {
            let mysql = error.try_downcast_ref().map(mysql::classify);
            mysql.or_else(|| error.try_downcast_ref().map(sqlite::classify)).unwrap_or((ErrorClass::Unknown, None))
        }
        E::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            (ErrorClass::Operator, Some("name a host that exists, or a socket file that is there"))
        }
        // The TLS library reports an untrusted server like this.
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

/// Whether the error is about the disk.
fn is_storage(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    error.try_downcast_ref().is_some_and(mysql::is_storage) || error.try_downcast_ref().is_some_and(sqlite::is_storage)
}
