//! A private MySQL server, if `tests/install.sh` could get one.

use std::{ops::Deref, process::Command, sync::OnceLock};

use anyhow::{Context as _, Result, anyhow};

use crate::{
    process::{Home, cache_folder},
    sql_server::{Durability, Protocol, SqlServer},
};

/// A MySQL server: a private one, or the one that `INGESTER_TEST_MYSQL_URL` names.
#[derive(Debug)]
pub struct MySql(SqlServer);

impl MySql {
    /// Starts a server with [`Durability::Fast`]; takes about a second. `None` if MySQL is not installed: the test
    /// then calls [`skipped_without_mysql`](crate::skipped_without_mysql) and returns.
    ///
    /// # Errors
    /// When it is installed but does not start.
    pub fn start() -> Result<Option<Self>> {
        Self::start_with(Durability::Fast, &[])
    }

    /// Starts a server with further options of `mysqld`, such as `--innodb-buffer-pool-size=1G`. Ignored for a server
    /// that the environment names.
    ///
    /// # Errors
    /// As [`MySql::start`].
    pub fn start_with(durability: Durability, options: &[&str]) -> Result<Option<Self>> {
        if let Some(server) = SqlServer::from_environment("INGESTER_TEST_MYSQL_URL", Protocol::MySql)? {
            return Ok(Some(Self(server)));
        }
        let program = cache_folder()?.join("mysql/mysqld");
        if !program.is_file() {
            return Ok(None);
        }
        let home = Home::new("ingester-mysql")?;
        let data = home.path().join("data");
        durability.copy_data(&home, "templates/mysql", &data).context("making MySQL's data folder")?;

        let mut server = Command::new(program);
        // Debian's default is a folder that exists only if the package is installed.
        server.arg("--secure-file-priv=NULL");
        SqlServer::start("mysqld", home, server, &data, durability, options)
            .map(|server| Some(Self(server)))
            .context("starting MySQL")
    }
}

impl Deref for MySql {
    type Target = SqlServer;

    fn deref(&self) -> &SqlServer {
        &self.0
    }
}

/// One server for all tests of a test program, started by the first test that asks. Each test creates its own database.
///
/// # Errors
/// As [`MySql::start`]; every caller gets the same one.
pub fn shared_mysql() -> Result<Option<&'static MySql>> {
    static SHARED: OnceLock<Result<Option<MySql>, String>> = OnceLock::new();
    SHARED
        .get_or_init(|| MySql::start().map_err(|error| format!("{error:#}")))
        .as_ref()
        .map(Option::as_ref)
        .map_err(|error| anyhow!("{error}"))
}
