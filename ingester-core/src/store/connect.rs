//! Where a database is, read from a URL, and how to connect to it.

use super::{Retry, StoreError};
use crate::dialect::Dialect;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use std::fmt;
use std::str::FromStr;

/// Where a database is. Shows itself without its password.
#[derive(Clone)]
pub struct Address {
    pub(super) options: Options,
    shown: String,
}

#[derive(Clone)]
pub(super) enum Options {
    MySql(Box<MySqlConnectOptions>),
    Sqlite(Box<SqliteConnectOptions>),
}

/// How to connect.
#[derive(Clone, Copy, Debug)]
pub struct ConnectOptions {
    /// Connections at most.
    pub connections: u32,
    /// Whether an SQLite file that is missing is made.
    pub create: bool,
    /// How patiently passing errors are tried again, then and later.
    pub retry: Retry,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        ConnectOptions { connections: 4, create: true, retry: Retry::SHORT }
    }
}

impl Address {
    /// A MySQL database by its parts, as environment variables name them.
    pub fn mysql(host: &str, port: u16, user: &str, password: Option<&str>, database: &str) -> Self {
        let mut options = MySqlConnectOptions::new().host(host).port(port).username(user).database(database);
        if let Some(password) = password {
            options = options.password(password);
        }
        let secret = if password.is_some() { ":***" } else { "" };
        Address {
            options: Options::MySql(Box::new(settled(options))),
            shown: format!("mysql://{user}{secret}@{host}:{port}/{database}"),
        }
    }

    /// The database's dialect.
    pub fn dialect(&self) -> Dialect {
        match self.options {
            Options::MySql(_) => Dialect::MySql,
            Options::Sqlite(_) => Dialect::Sqlite,
        }
    }
}

impl FromStr for Address {
    type Err = StoreError;

    /// Reads `mysql://user:password@host:3306/database`, `mariadb://...` or `sqlite://file.db`, as sqlx does.
    fn from_str(url: &str) -> Result<Self, StoreError> {
        let hint = "a URL is mysql://user:password@host:3306/database or sqlite://file.db; \
                    special characters of a password are percent-encoded";
        let scheme = url.split_once(':').map(|(scheme, _)| scheme);
        let shown = redact(url);
        let wrong = |reason: String| StoreError::wrong(format!("reading the database URL `{shown}`"), reason, hint);
        match scheme {
            Some("mysql" | "mariadb") => {
                let options = MySqlConnectOptions::from_str(url).map_err(|error| wrong(without_url(&error)))?;
                if options.get_database().is_none_or(str::is_empty) {
                    return Err(wrong("it names no database".into()));
                }
                Ok(Address { options: Options::MySql(Box::new(settled(options))), shown })
            }
            Some("sqlite") => {
                let options = SqliteConnectOptions::from_str(url).map_err(|error| wrong(without_url(&error)))?;
                Ok(Address { options: Options::Sqlite(Box::new(options)), shown })
            }
            Some(other) => Err(wrong(format!("`{other}` is not a database that the ingester knows"))),
            None => Err(wrong("it has no scheme".into())),
        }
    }
}

/// What sqlx would add to the server's SQL mode is replaced by our own session settings.
fn settled(options: MySqlConnectOptions) -> MySqlConnectOptions {
    options.pipes_as_concat(false).no_engine_substitution(false).timezone(Some("+00:00".into()))
}

/// sqlx's reason; should it ever quote the URL, nothing of it is repeated.
fn without_url(error: &sqlx::Error) -> String {
    let text = match error {
        sqlx::Error::Configuration(reason) => reason.to_string(),
        other => other.to_string(),
    };
    if text.contains("://") { "it is not valid".into() } else { text }
}

/// The URL without what may be a secret: the password, and the parameters.
fn redact(url: &str) -> String {
    if url.starts_with("sqlite:") {
        // A file name: there are no secrets in it.
        return url.split_once('?').map_or(url, |(file, _)| file).to_owned();
    }
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let slashes = if scheme.is_empty() { "" } else { "://" };
    // The last `@`, before anything else is looked at: a password that was not encoded may hold an `@`, a `?` or a `/`.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, rest)) => {
            (user.split_once(':').map_or_else(|| format!("{user}@"), |(user, _)| format!("{user}:***@")), rest)
        }
        None => (String::new(), rest),
    };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    // Without an `@`, what follows a colon is a port, or the password of somebody who forgot the rest.
    let rest = match rest.split_once(':') {
        Some((host, port)) if !port.starts_with(|c: char| c.is_ascii_digit()) => format!("{host}:***"),
        _ => rest.to_owned(),
    };
    format!("{scheme}{slashes}{user}{rest}")
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, redact};

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("mysql://root:se%40cret@db:3306/ma", "mysql://root:***@db:3306/ma"),
            ("mysql://root:sec@ret@db/ma?ssl-key=x", "mysql://root:***@db/ma"),
            ("mysql://root@db/ma", "mysql://root@db/ma"),
            ("sqlite://ingester.db", "sqlite://ingester.db"),
            ("root:secret@db", "root:***@db"),
            ("mysql://u:hun?ter2@h/d", "mysql://u:***@h/d"),
            ("mysql://u:hun/ter2@h:3306/d", "mysql://u:***@h:3306/d"),
            ("mysql://user:secret", "mysql://user:***"),
            ("user:secret", "user:***"),
            ("mysql://db:3306/ma", "mysql://db:3306/ma"),
            ("sqlite::memory:", "sqlite::memory:"),
        ] {
            assert_eq!(redact(url), shown);
        }
        let error = "mysql://root:secret@db:99999999/ma".parse::<Address>().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn a_url_that_is_none_says_what_one_looks_like() {
        for (url, part) in [
            ("postgres://db/ma", "`postgres` is not a database"),
            ("mysql://root@db", "names no database"),
            ("ingester.db", "no scheme"),
        ] {
            let error = url.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("mysql://user:password@host"), "{error}");
        }
    }
}
