//! What MariaDB and MySQL have in common.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use anyhow::{Context as _, Result, bail, ensure};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, mysql::MySqlConnectOptions};

use crate::process::{Home, Process, ask_port, free_port, is_root};

/// How safe a private server keeps committed data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Commits survive a crash of the server process, but not of the machine: each commit writes the log to the
    /// operating system, which flushes it to disk once a second. For tests, including those that kill the server.
    #[default]
    Fast,
    /// The server's own defaults: a commit is on disk before it is answered. For measurements.
    Durable,
}

impl Durability {
    /// Options that `mysqld` and `mariadbd` understand alike.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Fast => &[
                "--innodb-flush-log-at-trx-commit=2",
                "--innodb-doublewrite=OFF",
                "--innodb-buffer-pool-size=64M",
                "--sync-binlog=0",
                "--skip-log-bin",
            ],
            Self::Durable => &[],
        }
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("server.sock")
}

/// The counters of statements that change data or tables.
const WRITING: &[&str] = &[
    "Com_alter_table",
    "Com_create_table",
    "Com_delete",
    "Com_delete_multi",
    "Com_drop_table",
    "Com_insert",
    "Com_insert_select",
    "Com_load",
    "Com_replace",
    "Com_replace_select",
    "Com_truncate",
    "Com_update",
    "Com_update_multi",
];

/// A running database server: one that we started, or the one that an environment variable names.
///
/// Call the methods that stop it only on a server that belongs to one test: other tests on a shared one would fail.
#[derive(Debug)]
pub struct SqlServer {
    /// The part of its URLs before the database: `mysql://root@127.0.0.1:20123`.
    address: String,
    /// The part of its URLs after the database: empty, or `?` and parameters.
    parameters: String,
    /// `None` if this process did not start it.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    process: Process,
    home: Arc<Home>,
    port: u16,
}

impl SqlServer {
    /// The server that the environment variable `name` names, if it is set and not empty. Nothing is started.
    ///
    /// # Errors
    /// When the value is no URL of the form `mysql://user[:password]@host[:port]`.
    pub(crate) fn from_environment(name: &str) -> Result<Option<Self>> {
        match std::env::var(name) {
            Ok(url) if !url.is_empty() => {
                Self::at(&url).with_context(|| format!("reading the environment variable {name}")).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The server at a URL that something else has started.
    ///
    /// # Errors
    /// When it is no URL of the form `mysql://user[:password]@host[:port]`.
    pub fn at(url: &str) -> Result<Self> {
        let (url, parameters) = url.find('?').map_or((url, ""), |at| url.split_at(at));
        let rest = url.strip_prefix("mysql://").context("a server is named by mysql://user[:password]@host[:port]")?;
        let authority = rest.split('/').next().unwrap_or_default();
        ensure!(!authority.is_empty(), "the URL names no host");
        Ok(Self { address: format!("mysql://{authority}"), parameters: parameters.to_owned(), running: None })
    }

    /// Starts the server program of `command` on the data in `data`, on a free port, and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be started or does not become ready in two minutes; the message holds the end of its output.
    pub(crate) fn start(
        name: &str,
        home: Arc<Home>,
        mut command: Command,
        data: &Path,
        durability: Durability,
        options: &[&str],
    ) -> Result<Self> {
        let port = free_port()?;
        command
            .arg(path_option("--datadir", data))
            .arg(path_option("--socket", &socket_in(home.path())))
            .arg(path_option("--pid-file", &home.path().join("server.pid")))
            .args([format!("--port={port}"), "--bind-address=127.0.0.1".to_owned()])
            .args(["--max-connections=500", "--max-connect-errors=1000000000"])
            .args(user_option())
            .args(durability.options())
            .args(options);
        let process = Process::new(&home, name, command);
        let running = Running { process, home, port };
        running.start()?;
        Ok(Self {
            address: format!("mysql://root@127.0.0.1:{port}"),
            parameters: String::new(),
            running: Some(running),
        })
    }

    /// The URL of a database on this server, for an administrator. The database need not exist yet. With an empty name
    /// it is the URL of the server.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("{}/{database}{}", self.address, self.parameters)
    }

    /// The port, if the server was started by this process.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.running.as_ref().map(|running| running.port)
    }

    /// Its Unix socket, if the server was started by this process.
    #[must_use]
    pub fn socket(&self) -> Option<PathBuf> {
        self.folder().map(socket_in)
    }

    /// The folder of its files, if the server was started by this process.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.running.as_ref().map(|running| running.home.path())
    }

    /// Its process, if the server was started by this process.
    #[must_use]
    pub fn process(&self) -> Option<&Process> {
        self.running.as_ref().map(|running| &running.process)
    }

    /// Creates an empty database, after dropping one of that name, and returns its URL. Tests that share a server use
    /// different names.
    ///
    /// # Errors
    /// When the name is not 1 to 64 ASCII letters, digits and `_`, or the server refuses.
    pub async fn create_database(&self, name: &str) -> Result<String> {
        ensure!(
            (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            "{name:?} is no name for a test database: ASCII letters, digits and _ only, at most 64"
        );
        let server: MySqlConnectOptions = self.url("").parse().context("reading the URL of the database server")?;
        let mut connection = server.connect().await.context("connecting to the database server")?;
        for statement in [format!("DROP DATABASE IF EXISTS `{name}`"), format!("CREATE DATABASE `{name}`")] {
            // Safe: the name was checked above.
            sqlx::query(AssertSqlSafe(statement))
                .execute(&mut connection)
                .await
                .with_context(|| format!("making the database {name}"))?;
        }
        connection.close().await.context("closing the connection to the database server")?;
        Ok(self.url(name))
    }

    /// The number of statements that write data or tables since the server started, by the name of the server's counter
    /// (`Com_insert`). A prepared statement counts when it is executed, whether or not it changed anything. So a test
    /// can prove that there was none. The server must belong to the test alone.
    ///
    /// # Errors
    /// When the server cannot be asked, or lacks one of the counters.
    pub async fn writing_statements(&self) -> Result<BTreeMap<String, u64>> {
        let server: MySqlConnectOptions = self.url("").parse().context("reading the URL of the database server")?;
        let mut connection = server.connect().await.context("connecting to the database server")?;
        let status: Vec<(String, String)> = sqlx::query_as("SHOW GLOBAL STATUS LIKE 'Com%'")
            .fetch_all(&mut connection)
            .await
            .context("reading the counters of statements")?;
        connection.close().await.context("closing the connection to the database server")?;
        let mut counts = BTreeMap::new();
        for (name, count) in status {
            if WRITING.contains(&&*name) {
                counts.insert(name, count.parse().context("a counter of statements")?);
            }
        }
        ensure!(counts.len() == WRITING.len(), "of {WRITING:?} the server has only {counts:?}");
        Ok(counts)
    }

    /// Shuts the server down gracefully and waits for its end. Data and port stay the same.
    ///
    /// # Errors
    /// When the server was not started by this process.
    pub fn stop(&self) -> Result<()> {
        self.ours()?.process.stop()
    }

    /// Kills the server, like a crash, and waits for its end. Data and port stay the same.
    ///
    /// # Errors
    /// When the server was not started by this process.
    pub fn kill(&self) -> Result<()> {
        self.ours()?.process.kill()
    }

    /// Restarts the server on the same data and port, and waits until it answers. Stops it first if it still runs.
    ///
    /// # Errors
    /// When the server was not started by this process, or does not become ready in two minutes.
    pub fn restart(&self) -> Result<()> {
        let running = self.ours()?;
        running.process.stop()?;
        running.start()
    }

    fn ours(&self) -> Result<&Running> {
        match &self.running {
            Some(running) => Ok(running),
            None => bail!("this server was not started by the testbed: an environment variable names it"),
        }
    }
}

impl Running {
    fn start(&self) -> Result<()> {
        self.process.start(|| answers(self.port))
    }
}

/// Whether a server greets on this port: the fifth byte that it sends is the protocol's version, 10; an error has 255
/// there (MySQL's "Protocol::HandshakeV10").
fn answers(port: u16) -> bool {
    ask_port(port, b"").is_some_and(|greeting| greeting.get(4) == Some(&10))
}

/// `--name=path`, for paths of any bytes.
pub(crate) fn path_option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push("=");
    option.push(path);
    option
}

/// The option that lets a server run as root, if this process does.
pub(crate) fn user_option() -> Option<&'static str> {
    is_root().then_some("--user=root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_named_by_a_url_gives_urls_of_its_databases() -> Result<()> {
        let server = SqlServer::at("mysql://me:secret@db.example:3307/ignored?ssl-mode=required")?;
        assert_eq!(server.url("one"), "mysql://me:secret@db.example:3307/one?ssl-mode=required");
        assert_eq!(server.url(""), "mysql://me:secret@db.example:3307/?ssl-mode=required");
        Ok(())
    }

    #[test]
    fn a_url_of_something_else_is_refused() {
        assert!(SqlServer::at("postgres://me@db.example").is_err());
        assert!(SqlServer::at("mysql://").is_err());
    }

    #[test]
    fn a_server_that_is_not_ours_cannot_be_stopped() -> Result<()> {
        let server = SqlServer::at("mysql://me@db.example")?;
        assert!(server.stop().is_err() && server.kill().is_err() && server.restart().is_err());
        Ok(())
    }
}
