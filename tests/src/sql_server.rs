//! The common part of MariaDB, MySQL and PostgreSQL.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{
    INSTALL,
    process::{Home, Process, ask_port, cache_folder, free_port, is_root},
    sql::{self, Rows},
};

/// The safety of committed data on a private server.
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
    /// The options of a server program; `mysqld` and `mariadbd` understand the same ones.
    fn options(self, protocol: Protocol) -> &'static [&'static str] {
        match (self, protocol) {
            (Self::Fast, Protocol::Postgres) => &[
                "--fsync=off",
                "--full_page_writes=off",
                "--shared_buffers=64MB",
                // In the folder of its data: a server that was killed would leave the segments of its memory in /dev/shm.
                "--dynamic_shared_memory_type=mmap",
            ],
            (Self::Fast, Protocol::MySql) => &[
                "--innodb-flush-log-at-trx-commit=2",
                "--innodb-doublewrite=OFF",
                "--innodb-buffer-pool-size=64M",
                "--sync-binlog=0",
                "--skip-log-bin",
            ],
            (Self::Durable, _) => &[],
        }
    }

    /// Copies the data of a new server, which `tests/install.sh` makes once, from a folder of its cache.
    ///
    /// # Errors
    /// When that folder is missing (the message names the command that makes it) or cannot be copied.
    pub(crate) fn copy_data(self, home: &Arc<Home>, template: &str, data: &Path) -> Result<()> {
        let template = cache_folder()?.join(template);
        ensure!(template.is_dir(), "there is no {}; make it with: {INSTALL}", template.display());
        let mut copy = Command::new("cp");
        // A log with holes takes no memory, but its first writes are slower: a measurement would notice.
        let holes = match self {
            Self::Fast => "--sparse=auto",
            Self::Durable => "--sparse=never",
        };
        copy.args(["-a", holes]).arg(template).arg(data);
        home.run("cp", copy)
    }
}

/// The protocol of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// MySQL's, which MariaDB speaks, too.
    MySql,
    /// PostgreSQL's.
    Postgres,
}

impl Protocol {
    /// The protocol of a URL's scheme.
    pub(crate) fn from_url(url: &str) -> Option<Self> {
        match url.split_once("://")?.0 {
            "mysql" => Some(Protocol::MySql),
            "postgres" | "postgresql" => Some(Protocol::Postgres),
            _ => None,
        }
    }

    /// The part of a URL before the host, for the administrator of a server that was started here.
    fn administrator(self) -> &'static str {
        match self {
            Protocol::MySql => "mysql://root@",
            Protocol::Postgres => "postgres://postgres@",
        }
    }

    /// Returns true if a server accepts connections on this port.
    pub(crate) fn answers(self, port: u16) -> bool {
        match self {
            // The fifth byte that it sends is the protocol's version, 10; an error has 255 there ("Protocol::HandshakeV10").
            Protocol::MySql => ask_port(port, b"").is_some_and(|greeting| greeting.get(4) == Some(&10)),
            // The answer to the start of a session is a request for authentication, or an error, for example that the server is starting
            // ("Frontend/Backend Protocol").
            Protocol::Postgres => {
                let start = b"\0\0\0\x29\0\x03\0\0user\0postgres\0database\0postgres\0\0";
                ask_port(port, start).is_some_and(|answer| answer.first() == Some(&b'R'))
            }
        }
    }
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
    protocol: Protocol,
    /// The part of its URLs before the database: `mysql://root@127.0.0.1:20123`.
    address: String,
    /// The part of its URLs after the database: empty, or `?` and parameters.
    parameters: String,
    /// `None` if this process did not start it.
    running: Option<RunningServer>,
}

#[derive(Debug)]
struct RunningServer {
    process: Process,
    home: Arc<Home>,
    /// Its Unix socket.
    socket: PathBuf,
    protocol: Protocol,
    port: u16,
}

impl SqlServer {
    /// The server that the environment variable `name` names, if it is set and not empty. Nothing is started.
    ///
    /// # Errors
    /// When the value is not a URL of the form `mysql://user[:password]@host[:port]`, or `postgres://...` for PostgreSQL.
    pub(crate) fn from_environment(name: &str, protocol: Protocol) -> Result<Option<Self>> {
        let url = std::env::var(name).unwrap_or_default();
        if url.is_empty() {
            return Ok(None);
        }
        let server = Self::at(&url).with_context(|| format!("reading the environment variable {name}"))?;
        ensure!(server.protocol == protocol, "the environment variable {name} names a server of another kind");
        Ok(Some(server))
    }

    /// The server at a URL, started by something else.
    ///
    /// # Errors
    /// When it is not a URL of the form `mysql://user[:password]@host[:port]` or `postgres://user[:password]@host[:port]`.
    pub fn at(url: &str) -> Result<Self> {
        let (url, parameters) = url.find('?').map_or((url, ""), |at| url.split_at(at));
        let protocol = Protocol::from_url(url).context(
            "a server is named by mysql://user[:password]@host[:port] or postgres://user[:password]@host[:port]",
        )?;
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let authority = rest.split('/').next().unwrap_or_default();
        ensure!(!authority.is_empty(), "the URL names no host");
        let address = format!("{scheme}://{authority}");
        Ok(Self { protocol, address, parameters: parameters.to_owned(), running: None })
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
        let socket = home.path().join("server.sock");
        command
            .arg(path_option("--datadir", data))
            .arg(path_option("--socket", &socket))
            .arg(path_option("--pid-file", &home.path().join("server.pid")))
            .args([format!("--port={port}"), "--bind-address=127.0.0.1".to_owned()])
            .args(["--max-connections=500", "--max-connect-errors=1000000000"])
            .args(user_option())
            .args(durability.options(Protocol::MySql))
            .args(options);
        let process = Process::new(&home, name, command);
        Self::started(RunningServer { process, home, socket, protocol: Protocol::MySql, port })
    }

    /// Starts PostgreSQL, as `command` does, on the data in `data`, on a free port, and waits until it answers. Its socket is in `sockets`.
    ///
    /// # Errors
    /// As [`SqlServer::start`].
    pub(crate) fn start_postgres(
        home: Arc<Home>,
        mut command: Command,
        data: &Path,
        sockets: &Path,
        durability: Durability,
        options: &[&str],
    ) -> Result<Self> {
        let port = free_port()?;
        command
            .arg("-D")
            .arg(data)
            .arg(path_option("--unix_socket_directories", sockets))
            .args([format!("--port={port}"), "--listen_addresses=127.0.0.1".to_owned()])
            // The compiler of queries is not installed.
            .args(["--max_connections=500", "--jit=off"])
            .args(durability.options(Protocol::Postgres))
            .args(options);
        // SIGTERM would wait until all clients are gone.
        let process = Process::new(&home, "postgres", command).ended_by("INT");
        let socket = sockets.join(format!(".s.PGSQL.{port}"));
        Self::started(RunningServer { process, home, socket, protocol: Protocol::Postgres, port })
    }

    fn started(running: RunningServer) -> Result<Self> {
        running.start()?;
        let protocol = running.protocol;
        let address = format!("{}127.0.0.1:{}", protocol.administrator(), running.port);
        Ok(Self { protocol, address, parameters: String::new(), running: Some(running) })
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
        self.running.as_ref().map(|running| running.socket.clone())
    }

    /// The folder of its files, if the server was started by this process.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.running.as_ref().map(|running| running.home.path())
    }

    /// Its folder with the keeper, if the server was started by this process.
    pub(crate) fn home(&self) -> Option<&Arc<Home>> {
        self.running.as_ref().map(|running| &running.home)
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
            "{name:?} is not a name for a test database: ASCII letters, digits and _ only, at most 64"
        );
        let (quote, force) = match self.protocol {
            Protocol::MySql => ('`', ""),
            // Sessions of a test that has ended are ended, too.
            Protocol::Postgres => ('"', " WITH (FORCE)"),
        };
        let drop = format!("DROP DATABASE IF EXISTS {quote}{name}{quote}{force}");
        let create = format!("CREATE DATABASE {quote}{name}{quote}");
        self.run(&[&drop, &create]).await.with_context(|| format!("making the database {name}"))?;
        Ok(self.url(name))
    }

    /// Runs SQL in a database, as an administrator, on its own connection. Returns every cell as text, as [`sql::on`] does.
    ///
    /// # Errors
    /// The server's.
    pub async fn sql(&self, database: &str, sql: &str) -> Result<Rows> {
        sql::on(&self.url(database), &[], sql).await
    }

    /// Runs statements of an administrator, each by itself.
    ///
    /// # Errors
    /// The server's.
    pub async fn run(&self, statements: &[&str]) -> Result<()> {
        let Some((last, before)) = statements.split_last() else { return Ok(()) };
        sql::on(&self.url(""), before, last).await.map(drop)
    }

    /// The number of statements that write data or tables since the server started, by the name of the server's counter
    /// (`Com_insert`). A prepared statement counts when it is executed, whether or not it changed anything. So a test
    /// can prove that nothing was written. The server must belong to the test alone. PostgreSQL has no such counters.
    ///
    /// # Errors
    /// When the server cannot be asked, or lacks one of the counters.
    pub async fn writing_statements(&self) -> Result<BTreeMap<String, u64>> {
        let status =
            self.sql("", "SHOW GLOBAL STATUS LIKE 'Com%'").await.context("reading the counters of statements")?;
        let mut counts = BTreeMap::new();
        for cells in status {
            if let [Some(name), Some(count)] = &*cells
                && WRITING.contains(&&**name)
            {
                counts.insert(name.clone(), count.parse().context("a counter of statements")?);
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

    fn ours(&self) -> Result<&RunningServer> {
        match &self.running {
            Some(running) => Ok(running),
            None => bail!("this server was not started by the testbed: an environment variable names it"),
        }
    }
}

impl RunningServer {
    fn start(&self) -> Result<()> {
        self.process.start(|| self.protocol.answers(self.port))
    }
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
        let server = SqlServer::at("postgres://me@db.example/")?;
        assert_eq!(server.url("one"), "postgres://me@db.example/one");
        Ok(())
    }

    #[test]
    fn a_url_of_something_else_is_refused() {
        assert!(SqlServer::at("sqlite://me@db.example").is_err());
        assert!(SqlServer::at("db.example").is_err());
        assert!(SqlServer::at("postgres://").is_err());
        assert!(SqlServer::at("mysql://").is_err());
    }

    #[test]
    fn a_server_that_is_not_ours_cannot_be_stopped() -> Result<()> {
        let server = SqlServer::at("mysql://me@db.example")?;
        assert!(server.stop().is_err() && server.kill().is_err() && server.restart().is_err());
        Ok(())
    }
}
