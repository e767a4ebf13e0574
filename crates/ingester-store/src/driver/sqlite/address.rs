//! The address of a file, or of a database in memory.

use super::DIALECT;
use super::error::is_locked;
use super::pool::Pool;
use crate::driver::error::StoreError;
use crate::driver::interface::{DatabaseTarget, Driver};
use crate::driver::options::ConnectOptions;
use crate::driver::servers::Servers;
use crate::driver::tls::Tls;
use crate::driver::values::without_url;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_sql::dialect::Dialect;
use sqlx::sqlite::SqliteConnectOptions;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

/// A file may take this much longer than a server. A new file is written and synchronized, which takes seconds on a busy disk. No time is
/// needed for locked files, which SQLite reports itself.
const SLOW: Duration = Duration::from_secs(55);

struct File {
    options: SqliteConnectOptions,
    shown: String,
    /// `None` for a database in memory.
    path: Option<PathBuf>,
}

/// Reads a URL, which messages show as `shown`. The error is the mistake in it.
pub(crate) fn of_url(url: &str, shown: String) -> Result<Arc<dyn DatabaseTarget>, String> {
    let (file, parameters) = url.split_once('?').unwrap_or((url, ""));
    // Without a name, SQLite makes a database that is lost with the connection. Nobody wants that.
    if ["sqlite:", "sqlite://"].contains(&file) {
        return Err("it names no file: write sqlite://FILE".into());
    }
    let options = SqliteConnectOptions::from_str(url).map_err(|error| without_url(&error))?;
    let in_memory = file.ends_with(":memory:") || parameters.split('&').any(|one| one == "mode=memory");
    let path = (!in_memory).then(|| options.get_filename().to_owned());
    Ok(Arc::new(File { options, shown, path }))
}

impl File {
    fn doing(&self) -> String {
        format!("connecting to {}", self.shown)
    }
}

impl DatabaseTarget for File {
    fn dialect(&self) -> Dialect {
        DIALECT
    }

    fn as_redacted(&self) -> &str {
        &self.shown
    }

    fn database(&self) -> String {
        let whole = self.path.as_ref().map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
        whole.map(|file| file.display().to_string()).unwrap_or_default()
    }

    fn file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn with_password(&self, _: &str) -> Result<Arc<dyn DatabaseTarget>, (&'static str, &'static str)> {
        Err(("SQLite has no passwords", "leave out the password file"))
    }

    fn with_tls(&self, _: &Tls) -> Option<Arc<dyn DatabaseTarget>> {
        None
    }

    fn check(&self, how: ConnectOptions) -> Result<(), StoreError> {
        let Some(file) = &self.path else { return Ok(()) };
        if !how.create && matches!(file.try_exists(), Ok(false)) {
            let reason = format!("there is no file {}", file.display());
            let hint = "check the path; `ingester import` and `ingester schema apply` make a database";
            return Err(StoreError::wrong(self.doing(), reason, hint));
        }
        if file.is_dir() {
            let hint = "name a file in it with --database-url sqlite://FILE";
            return Err(StoreError::wrong(self.doing(), format!("{} is a folder", file.display()), hint));
        }
        Ok(())
    }

    fn longest_search(&self) -> Duration {
        SLOW
    }

    fn silent(&self) -> StoreError {
        let file = self.options.get_filename().display();
        let hint = format!("is its disk slow, or overloaded? `fuser {file}` tells which processes use it");
        StoreError::passing(self.doing(), "the disk gave no answer", hint)
    }

    fn refused(&self, error: sqlx::Error) -> StoreError {
        if !is_locked(&error) {
            return StoreError::from_sqlx(self.doing(), error);
        }
        let file = self.options.get_filename().display();
        let hint = format!("wait until it has ended; `fuser {file}` tells which one it is");
        StoreError::passing(self.doing(), "the file is locked by another process", hint)
    }

    fn connect(&self, how: ConnectOptions, _: Arc<Servers>) -> BoxFuture<'_, Result<Box<dyn Driver>, sqlx::Error>> {
        async move {
            let pool = Pool::open(&self.options, how, self.path.is_none()).await?;
            Ok(Box::new(pool) as Box<dyn Driver>)
        }
        .boxed()
    }
}
