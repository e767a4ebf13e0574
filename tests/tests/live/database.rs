//! The database of one test, and direct access to it that bypasses the ingester.

use anyhow::{Context as _, Result, ensure};
pub(crate) use ingester_tests::databases::On;
use ingester_tests::{Galera, SqlServer, databases, sql::Rows};
use std::ops::Deref;

use crate::settings::Mysql;

/// One empty database.
pub(crate) struct Database {
    /// Its server.
    pub(crate) on: On,
    server: Server,
    pub(crate) name: String,
    pub(crate) url: String,
}

enum Server {
    Shared(&'static SqlServer),
    Own(databases::Server),
    /// A cluster, and the node that the test itself uses.
    Galera(Box<Galera>, SqlServer),
    /// A server that the test has started.
    Elsewhere(SqlServer),
}

/// The testbed's server.
impl Deref for Database {
    type Target = SqlServer;

    fn deref(&self) -> &SqlServer {
        match &self.server {
            Server::Shared(server) => server,
            Server::Own(server) => server,
            Server::Galera(_, server) | Server::Elsewhere(server) => server,
        }
    }
}

impl Database {
    /// A database on the server that all tests share, or on its own server. `None`, after it has said so, if the server is not
    /// installed, or if the test needs its own server but the environment names one.
    pub(crate) async fn new(on: On, own: bool, name: &str) -> Result<Option<Self>> {
        let server = if own { on.own()?.map(Server::Own) } else { on.shared()?.map(Server::Shared) };
        let Some(server) = server else { return Ok(None) };
        let mut database = Database::at(on, server, name);
        database.url = database.create_database(name).await?;
        Ok(Some(database))
    }

    /// A database on its own Galera cluster; the test itself uses the last node. `None` if Galera is not installed.
    pub(crate) fn on_galera(name: &str) -> Result<Option<Self>> {
        let Some(cluster) = Galera::start()? else { return Ok(None) };
        cluster.create_database(name)?;
        let last = cluster.url(ingester_tests::galera::NODES - 1, "");
        let server = Server::Galera(Box::new(cluster), SqlServer::at(&last)?);
        Ok(Some(Database::at(On::MariaDb, server, name)))
    }

    /// The same database on another server, which the test has started.
    pub(crate) fn on(&self, server: &SqlServer) -> Result<Self> {
        Ok(Database::at(self.on, Server::Elsewhere(SqlServer::at(&server.url(""))?), &self.name))
    }

    fn at(on: On, server: Server, name: &str) -> Self {
        let mut database = Database { on, server, name: name.to_owned(), url: String::new() };
        database.url = database.deref().url(name);
        database
    }

    /// The cluster, if it has one.
    pub(crate) fn galera(&self) -> Option<&Galera> {
        match &self.server {
            Server::Galera(cluster, _) => Some(cluster),
            _ => None,
        }
    }

    /// The section `mysql` for it; `None` for PostgreSQL and for a server that the environment names, which have only a URL.
    pub(crate) fn section(&self) -> Option<Mysql> {
        self.port().filter(|_| self.on != On::Postgres).map(|port| Mysql {
            host: "127.0.0.1".to_owned(),
            port,
            user: "root".to_owned(),
            password: String::new(),
            database: self.name.clone(),
        })
    }

    /// Runs SQL and returns every cell as text.
    pub(crate) async fn sql(&self, sql: &str) -> Result<Rows> {
        self.deref().sql(&self.name, sql).await
    }

    /// The only cell of the only row.
    pub(crate) async fn cell(&self, sql: &str) -> Result<Option<String>> {
        let rows = self.sql(sql).await?;
        ensure!(rows.len() == 1 && rows[0].len() == 1, "{sql} gave {rows:?}");
        Ok(rows[0][0].clone())
    }

    /// The number of rows `from` a table and condition, such as `model WHERE name = 'a'`.
    pub(crate) async fn count(&self, from: &str) -> Result<u64> {
        Ok(self.cell(&format!("SELECT COUNT(*) FROM {from}")).await?.context("a count")?.parse()?)
    }

    /// The names of the tables.
    pub(crate) async fn tables(&self) -> Result<Vec<String>> {
        Ok(self.sql(self.on.tables()).await?.into_iter().flatten().flatten().collect())
    }
}
