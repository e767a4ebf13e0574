//! A private MariaDB server.

use std::{ops::Deref, process::Command, sync::OnceLock};

use anyhow::{Context as _, Result, anyhow};

use crate::{
    process::{Home, find_program},
    sql_server::{Durability, Protocol, SqlServer},
};

/// A MariaDB server: a private one, or the one that `INGESTER_TEST_MARIADB_URL` names.
#[derive(Debug)]
pub struct MariaDb(SqlServer);

impl MariaDb {
    /// Starts a server with [`Durability::Fast`]; takes less than a second.
    ///
    /// # Errors
    /// When MariaDB is not installed (the message names the command that does it) or does not start.
    pub fn start() -> Result<Self> {
        Self::start_with(Durability::Fast, &[])
    }

    /// Starts a server with further options of `mariadbd`, such as `--innodb-buffer-pool-size=1G`. Ignored for a server
    /// that the environment names.
    ///
    /// # Errors
    /// As [`MariaDb::start`].
    pub fn start_with(durability: Durability, options: &[&str]) -> Result<Self> {
        if let Some(server) = SqlServer::from_environment("INGESTER_TEST_MARIADB_URL", Protocol::MySql)? {
            return Ok(Self(server));
        }
        let program = find_program("mariadbd")?;
        let home = Home::new("ingester-mariadb")?;
        let data = home.path().join("data");
        durability.copy_data(&home, "templates/mariadb", &data).context("making MariaDB's data folder")?;

        let mut server = Command::new(program);
        server.arg("--no-defaults");
        SqlServer::start("mariadbd", home, server, &data, durability, options).map(Self).context("starting MariaDB")
    }
}

impl Deref for MariaDb {
    type Target = SqlServer;

    fn deref(&self) -> &SqlServer {
        &self.0
    }
}

/// One server for all tests of a test program, started by the first test that asks. Each test creates its own database.
///
/// # Errors
/// As [`MariaDb::start`]; every caller gets the same one.
pub fn shared_mariadb() -> Result<&'static MariaDb> {
    static SHARED: OnceLock<Result<MariaDb, String>> = OnceLock::new();
    SHARED
        .get_or_init(|| MariaDb::start().map_err(|error| format!("{error:#}")))
        .as_ref()
        .map_err(|error| anyhow!("{error}"))
}
