//! A private PostgreSQL server, if `tests/install.sh` could get one, and PgBouncer in front of it.

use std::{
    fs,
    ops::Deref,
    os::unix::fs::{DirBuilderExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
};

use anyhow::{Context as _, Result, anyhow};

use crate::{
    process::{Home, Process, cache_folder, free_port, is_root},
    sql_server::{Durability, Protocol, SqlServer},
};

/// The user and group who run it instead of root, which PostgreSQL refuses.
const NOBODY: u32 = 65534;

/// A PostgreSQL server: a private one, or the one that `INGESTER_TEST_POSTGRES_URL` names.
#[derive(Debug)]
pub struct Postgres(SqlServer);

impl Postgres {
    /// Starts a server with [`Durability::Fast`]; takes about a second. `None` if PostgreSQL is not installed: the test
    /// then calls [`skipped_without_postgres`](crate::skipped_without_postgres) and returns.
    ///
    /// # Errors
    /// When it is installed but does not start.
    pub fn start() -> Result<Option<Self>> {
        Self::start_with(Durability::Fast, &[])
    }

    /// Starts a server with further options of `postgres`, such as `--shared_buffers=1GB`. Ignored for a server that the environment
    /// names.
    ///
    /// # Errors
    /// As [`Postgres::start`].
    pub fn start_with(durability: Durability, options: &[&str]) -> Result<Option<Self>> {
        if let Some(server) = SqlServer::from_environment("INGESTER_TEST_POSTGRES_URL", Protocol::Postgres)? {
            return Ok(Some(Self(server)));
        }
        let start = |home: Arc<Home>, data: &Path| {
            let copied = durability.copy_data(&home, "postgresql/template", data);
            copied.context("copying the data of a new PostgreSQL server")
        };
        Self::start_on(start, durability, options)
    }

    /// Starts a hot standby of a server that was started here. It has the server's present data, and follows all later writes.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn start_standby(primary: &Self, options: &[&str]) -> Result<Option<Self>> {
        let copy = |home: Arc<Home>, data: &Path| primary.back_up(&home, data);
        Self::start_on(copy, Durability::Fast, options)
    }

    /// Starts a server that has ended as a hot standby of another one, with the other one's data instead of its own: its last writes may
    /// not be on any other server.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn restart_as_standby(&self, primary: &Self) -> Result<()> {
        let home = self.home().context("a server that was started here")?;
        let data = self.data().context("a server that was started here")?;
        fs::remove_dir_all(&data)?;
        primary.back_up(home, &data)?;
        self.restart()
    }

    /// Copies its data, for a standby.
    fn back_up(&self, home: &Arc<Home>, data: &Path) -> Result<()> {
        let port = self.port().context("a server that was started here")?;
        let Some(mut backup) = program("pg_basebackup") else { return Ok(()) };
        folder_of_server(data)?;
        backup
            .arg("-D")
            .arg(data)
            .args([
                "--host=127.0.0.1",
                "--username=postgres",
                "--checkpoint=fast",
                "--write-recovery-conf",
                "--no-sync",
            ])
            .arg(format!("--port={port}"));
        home.run("pg_basebackup", backup).context("copying the data of the primary")
    }

    fn start_on(
        make: impl FnOnce(Arc<Home>, &Path) -> Result<()>,
        durability: Durability,
        options: &[&str],
    ) -> Result<Option<Self>> {
        let Some(command) = program("postgres") else { return Ok(None) };
        let home = Home::new("ingester-postgres")?;
        let [data, sockets] = ["data", "run"].map(|name| home.path().join(name));
        make(Arc::clone(&home), &data)?;
        folder_of_server(&sockets)?;
        SqlServer::start_postgres(home, command, &data, &sockets, durability, options)
            .map(|server| Some(Self(server)))
            .context("starting PostgreSQL")
    }

    /// The folder of its data, if it was started by this process.
    pub(crate) fn data(&self) -> Option<PathBuf> {
        self.folder().map(|folder| folder.join("data"))
    }
}

impl Deref for Postgres {
    type Target = SqlServer;

    fn deref(&self) -> &SqlServer {
        &self.0
    }
}

/// A program of PostgreSQL, such as `pg_dump`, with the files that it needs to run; `None` if it is not installed.
pub fn program(name: &str) -> Option<Command> {
    let run = cache_folder().ok()?.join("postgresql/run");
    let mut command = Command::new(&run);
    command.arg(name);
    run.is_file().then_some(command)
}

/// Creates a folder for the server's files.
fn folder_of_server(path: &Path) -> Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)?;
    owned_by_server(path)
}

/// Gives a file or folder to the user of the server.
pub(crate) fn owned_by_server(path: &Path) -> Result<()> {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY))?;
    }
    Ok(())
}

/// One server for all tests of a test program, started by the first test that asks. Each test creates its own database.
///
/// # Errors
/// As [`Postgres::start`]; every caller gets the same one.
pub fn shared_postgres() -> Result<Option<&'static Postgres>> {
    static SHARED: OnceLock<Result<Option<Postgres>, String>> = OnceLock::new();
    SHARED
        .get_or_init(|| Postgres::start().map_err(|error| format!("{error:#}")))
        .as_ref()
        .map(Option::as_ref)
        .map_err(|error| anyhow!("{error}"))
}

/// PgBouncer in front of a server, which gives a server's session to each transaction of a client.
#[derive(Debug)]
pub struct PgBouncer {
    process: Process,
    port: u16,
}

impl PgBouncer {
    /// Starts it in front of a server that was started here.
    ///
    /// # Errors
    /// When it is not installed, or does not start.
    pub fn start(server: &SqlServer) -> Result<Self> {
        let mut command = program("pgbouncer").context("PgBouncer is not installed")?;
        let home = Home::new("ingester-pgbouncer")?;
        let port = free_port()?;
        let [file, users] = ["pgbouncer.ini", "users.txt"].map(|name| home.path().join(name));
        let to = server.port().context("a server that was started here")?;
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={to}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = trust\nauth_file = {}\npool_mode = transaction\nmax_client_conn = 500\nignore_startup_parameters = extra_float_digits\n",
            users.display()
        );
        fs::write(&file, text)?;
        fs::write(&users, "\"postgres\" \"\"\n")?;
        command.arg(&file);
        let process = Process::new(&home, "pgbouncer", command);
        process.start(|| Protocol::Postgres.answers(port))?;
        Ok(Self { process, port })
    }

    /// The URL of a database of the server, through PgBouncer.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }
}
