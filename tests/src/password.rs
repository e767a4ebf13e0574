//! A user of a server whose password changes.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::databases::On;
use crate::sql_server::SqlServer;

/// The user's name.
pub const USER: &str = "rotated";

/// The first password.
pub const FIRST: &str = "first";

/// The user [`USER`], who reads and writes the tables of one database.
#[derive(Debug)]
pub struct RotatedUser<'a> {
    on: On,
    server: &'a SqlServer,
    database: &'a str,
}

impl<'a> RotatedUser<'a> {
    /// A user of this database, who may already exist on the server, as on a replica.
    #[must_use]
    pub fn new(on: On, server: &'a SqlServer, database: &'a str) -> Self {
        RotatedUser { on, server, database }
    }

    /// Creates the user, with the password [`FIRST`] and rights to the tables that there are.
    ///
    /// # Errors
    /// The server's.
    pub async fn make(&self) -> Result<()> {
        let database = self.database;
        match self.on {
            On::Postgres => {
                let create = format!("CREATE ROLE {USER} LOGIN PASSWORD '{FIRST}'");
                let allow = format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {USER}");
                self.server.sql(database, &format!("{create}; {allow}")).await.map(drop)
            }
            _ => {
                let create = format!("CREATE USER '{USER}'@'%' IDENTIFIED BY '{FIRST}'");
                let allow = format!("GRANT SELECT, INSERT, UPDATE, DELETE ON `{database}`.* TO '{USER}'@'%'");
                self.server.run(&[&create, &allow]).await
            }
        }
    }

    /// Makes the server ask the user for the password: until then, a test's PostgreSQL server trusts every user.
    ///
    /// # Errors
    /// The server's.
    pub async fn is_asked(&self) -> Result<()> {
        if let On::Postgres = self.on {
            let rules = format!(
                "host all {USER} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\nlocal all all trust\n\
                 host replication all 127.0.0.1/32 trust\n"
            );
            let file = self.server.sql(self.database, "SHOW hba_file").await?;
            let file = file.into_iter().flatten().flatten().next().context("pg_hba.conf")?;
            std::fs::write(&file, rules).context(file)?;
            self.server.sql(self.database, "SELECT pg_reload_conf()").await?;
            // The server reads its rules some time later.
            self.refuses("wrong").await?;
        }
        Ok(())
    }

    /// Waits until the server refuses a login with this password.
    ///
    /// # Errors
    /// When it accepts one after a minute; the message has PostgreSQL's rules of logins, as the server has read them.
    pub async fn refuses(&self, password: &str) -> Result<()> {
        let address = self.url()?.replace(USER, &format!("{USER}:{password}"));
        let login = SqlServer::at(&address)?;
        let deadline = Instant::now() + Duration::from_secs(60);
        while login.sql(self.database, "SELECT 1").await.is_ok() {
            if Instant::now() > deadline {
                let rules = match self.on {
                    On::Postgres => {
                        let rules =
                            "SELECT line_number, type, user_name, address, auth_method, error FROM pg_hba_file_rules";
                        self.server.sql(self.database, rules).await?
                    }
                    _ => Vec::new(),
                };
                bail!("the server accepts the password `{password}`, which is wrong: {rules:?}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Gives the user another password.
    ///
    /// # Errors
    /// The server's.
    pub async fn change(&self, password: &str) -> Result<()> {
        match self.on {
            On::Postgres => {
                self.server.sql(self.database, &format!("ALTER ROLE {USER} PASSWORD '{password}'")).await.map(drop)
            }
            _ => self.server.run(&[&format!("ALTER USER '{USER}'@'%' IDENTIFIED BY '{password}'")]).await,
        }
    }

    /// Ends the connections of the user, and waits for their ends.
    ///
    /// # Errors
    /// The server's.
    pub async fn end_connections(&self) -> Result<()> {
        let sql = match self.on {
            // A backend notices later that it must end.
            On::Postgres => {
                format!("SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE usename = '{USER}'")
            }
            // MySQL's list of processes is an error while one of them writes bytes.
            On::MySql => format!(
                "SELECT CONCAT('KILL ', processlist_id) FROM performance_schema.threads WHERE processlist_user = '{USER}'"
            ),
            _ => format!("SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE user = '{USER}'"),
        };
        for kill in self.server.sql(self.database, &sql).await?.into_iter().flatten().flatten() {
            if let On::MariaDb | On::MySql = self.on {
                // The connection may have ended by itself.
                let _ = self.server.run(&[&kill]).await;
            }
        }
        Ok(())
    }

    /// The URL for the user, without a password.
    ///
    /// # Errors
    /// When the server was not started here.
    pub fn url(&self) -> Result<String> {
        let scheme = if let On::Postgres = self.on { "postgres" } else { "mysql" };
        let port = self.server.port().context("a server that was started here")?;
        Ok(format!("{scheme}://{USER}@127.0.0.1:{port}/{}", self.database))
    }
}

/// A file with the user's password, which is replaced at once, as Kubernetes does.
#[derive(Debug)]
pub struct PasswordFile(tempfile::TempDir);

impl PasswordFile {
    /// A file with the password [`FIRST`].
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> Result<Self> {
        let file = PasswordFile(tempfile::tempdir()?);
        file.replace(FIRST)?;
        Ok(file)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> std::path::PathBuf {
        self.0.path().join("password")
    }

    /// Writes another password into it.
    ///
    /// # Errors
    /// The system's.
    pub fn replace(&self, password: &str) -> Result<()> {
        let new = self.0.path().join("new");
        std::fs::write(&new, password)?;
        Ok(std::fs::rename(new, self.path())?)
    }
}
