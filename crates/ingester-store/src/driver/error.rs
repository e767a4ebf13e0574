//! Errors of databases: their classes, and what a person can do about them.

use super::PRODUCTS;
use super::facts::{ErrorClass, ErrorSubject, Facts};
use std::borrow::Cow;
use std::fmt;

/// An error of the store. It says what was being done, what the database answered, and what to do next. It never contains a password.
#[derive(Debug)]
pub struct StoreError {
    doing: Box<str>,
    reason: Box<str>,
    hint: Option<Box<str>>,
    class: ErrorClass,
    source: Option<Box<sqlx::Error>>,
}

impl StoreError {
    /// Returns an error of the class [`ErrorClass::Operator`] that was found before the database was asked: the action, the reason, and the
    /// remedy.
    pub fn wrong(doing: impl Into<String>, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        StoreError {
            doing: doing.into().into(),
            reason: reason.into().into(),
            hint: Some(hint.into().into()),
            class: ErrorClass::Operator,
            source: None,
        }
    }

    /// Like [`StoreError::wrong`], for an error that may pass without help.
    pub(crate) fn passing(doing: impl Into<String>, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        StoreError { class: ErrorClass::Transient, ..StoreError::wrong(doing, reason, hint) }
    }

    /// Returns the error of a database that gave no answer while `doing`.
    pub fn silent(doing: &str, after: std::time::Duration) -> Self {
        let timeout = std::io::Error::new(std::io::ErrorKind::TimedOut, format!("no answer within {after:?}"));
        StoreError::from_sqlx(doing.to_owned(), timeout.into())
    }

    /// Returns the error of a process whose Lease has run out while `doing`. Nothing was written, because others may have its work by now.
    pub fn without_lease(doing: &str) -> Self {
        StoreError {
            doing: doing.into(),
            reason: "the Lease of this member has run out".into(),
            hint: Some("the member that owns the unit does it; this member continues when its Lease is renewed".into()),
            class: ErrorClass::Lease,
            source: None,
        }
    }

    /// Returns the error for an error of sqlx while `doing`.
    pub(crate) fn from_sqlx(doing: String, error: sqlx::Error) -> Self {
        let Facts { class, hint, .. } = facts_of(&error);
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

    /// Adds this remedy, unless the error has one already.
    #[must_use]
    pub(crate) fn or_hint(self, hint: &'static str) -> Self {
        StoreError { hint: self.hint.or(Some(hint.into())), ..self }
    }

    /// Returns the error's class.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// Returns true if the configured database is the wrong one to write to: it is read-only or missing, or the user has no rights. A full
    /// or broken disk does not count, because then the database is right and the work failed.
    pub fn is_configuration(&self) -> bool {
        self.class == ErrorClass::Operator && !self.is_about(ErrorSubject::Storage)
    }

    /// Returns true if the error is about a table that the database lacks.
    pub fn is_of_missing_table(&self) -> bool {
        self.is_about(ErrorSubject::Table)
    }

    /// Returns the remedy, if one is known.
    pub fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns true if this is what the error is about.
    pub(crate) fn is_about(&self, about: ErrorSubject) -> bool {
        self.source.as_deref().is_some_and(|error| is_about(error, about))
    }

    /// Returns the reason why the database refuses this JSON, if the error itself does not tell.
    pub(crate) fn why_json(&self, json: &str) -> Option<&'static str> {
        let why = facts_of(self.source.as_deref()?).why_json?;
        Some(why(json))
    }

    /// Returns the database's message, without the action that failed.
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

/// Returns the remedy for a connection that cannot be encrypted as configured.
fn check_encryption() -> String {
    let settings: Vec<&str> = PRODUCTS.iter().filter_map(|product| product.encryption).collect();
    format!("check the server's certificate, and {}", settings.join(", or "))
}

/// Returns examples of URLs.
pub(super) fn url_examples() -> String {
    let examples: Vec<&str> = PRODUCTS.iter().map(|product| product.example).collect();
    format!("a URL is {}", examples.join(" or "))
}

/// Returns the class of an error.
pub(crate) fn class_of(error: &sqlx::Error) -> ErrorClass {
    facts_of(error).class
}

/// Returns true if this is what the error is about.
pub(crate) fn is_about(error: &sqlx::Error, about: ErrorSubject) -> bool {
    facts_of(error).about == Some(about)
}

/// Returns true if the connection is gone, or could not be made.
pub(crate) fn is_lost(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    matches!(error, E::Io(_) | E::Protocol(_) | E::PoolTimedOut | E::BeginFailed)
}

/// The answers of a list of servers. Some of them answer, but none takes writes.
#[derive(Debug)]
struct ElectionError(String);

impl fmt::Display for ElectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ElectionError {}

/// Returns the error of a list of servers with these answers. Some of them answer, but none takes writes.
pub(super) fn electing(said: String) -> sqlx::Error {
    std::io::Error::other(ElectionError(said)).into()
}

/// The remedy for a pooler that mixes up prepared statements.
pub(super) const POOLER: &str =
    "behind a pooler that gives each transaction another connection, add statement-cache-capacity=0 to the URL";

/// The rows belong to another statement.
#[derive(Debug)]
struct StatementMismatch;

impl fmt::Display for StatementMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server has run another statement under the name of the prepared one")
    }
}

impl std::error::Error for StatementMismatch {}

/// Returns the error for rows that came from another statement of the same name.
pub(super) fn of_another_statement() -> sqlx::Error {
    std::io::Error::other(StatementMismatch).into()
}

/// The reason why the ingester cannot use a server or database that answers, and the remedy.
#[derive(Debug)]
struct UnusableServer {
    why: String,
    remedy: &'static str,
}

impl fmt::Display for UnusableServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for UnusableServer {}

/// Returns the error of a server or database that answers and cannot be used.
pub(super) fn unusable(why: String, remedy: &'static str) -> sqlx::Error {
    sqlx::Error::Configuration(Box::new(UnusableServer { why, remedy }))
}

fn facts_of(error: &sqlx::Error) -> Facts {
    use sqlx::Error as E;
    let hinted = |class, hint: Cow<'static, str>| Facts { class, hint: Some(hint), about: None, why_json: None };
    let said = |class, hint: &'static str| hinted(class, hint.into());
    let only = |class| Facts { class, hint: None, about: None, why_json: None };
    match error {
        E::Database(error) => {
            let known = PRODUCTS.iter().find_map(|product| (product.facts)(error.as_ref()));
            known.unwrap_or_else(|| only(ErrorClass::Unknown))
        }
        E::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            said(ErrorClass::Operator, "name a host that exists, or a socket file that is there")
        }
        // The TLS library reports an untrusted server like this.
        E::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            hinted(ErrorClass::Operator, check_encryption().into())
        }
        E::Io(error) if error.get_ref().is_some_and(|inner| inner.is::<ElectionError>()) => {
            let hint = "wait until a primary is elected, or name it in the list";
            Facts { about: Some(ErrorSubject::Election), ..said(ErrorClass::Transient, hint) }
        }
        // The connection is closed, like a lost one.
        E::Io(error) if error.get_ref().is_some_and(|inner| inner.is::<StatementMismatch>()) => {
            Facts { about: Some(ErrorSubject::Stale), ..said(ErrorClass::Transient, POOLER) }
        }
        // Our own time limit has passed, see `StoreError::silent`.
        E::Io(error) if error.kind() == std::io::ErrorKind::TimedOut && error.raw_os_error().is_none() => {
            let hint = "is the server reachable, is it overloaded, or does another session hold a lock? Its list of sessions tells";
            said(ErrorClass::Transient, hint)
        }
        E::Io(_) => said(ErrorClass::Transient, "is the server running, and are host and port right?"),
        E::PoolTimedOut => said(
            ErrorClass::Transient,
            "no connection became free in time: is the server reachable, are there enough connections?",
        ),
        E::Protocol(_) | E::WorkerCrashed | E::PoolClosed | E::BeginFailed => only(ErrorClass::Transient),
        E::Tls(_) => hinted(ErrorClass::Operator, check_encryption().into()),
        E::Configuration(error) => match error.downcast_ref::<UnusableServer>() {
            Some(unusable) => said(ErrorClass::Operator, unusable.remedy),
            None => hinted(ErrorClass::Operator, url_examples().into()),
        },
        E::InvalidArgument(_) | E::Encode(_) => only(ErrorClass::Object),
        _ => only(ErrorClass::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::StoreError;
    use std::time::Duration;

    #[test]
    fn a_silent_database_may_wait_for_a_lock() {
        let said = StoreError::silent("writing 1 row of `model`", Duration::from_secs(5)).to_string();
        assert!(said.starts_with("writing 1 row of `model`: no answer within 5s (is the server reachable, "), "{said}");
        assert!(said.contains("does another session hold a lock? Its list of sessions tells"), "{said}");
    }
}
