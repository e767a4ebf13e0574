//! The database of one test, and direct access to it that bypasses the ingester.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{Galera, MariaDb, MySql, SqlServer, shared_mariadb, shared_mysql};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, Row as _};
use std::ops::Deref;
use tokio::sync::Mutex;

use crate::settings::Mysql;

/// Which database a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    MariaDb,
    MySql,
}

/// One empty database.
pub(crate) struct Database {
    server: Server,
    pub(crate) name: String,
    pub(crate) url: String,
    connection: Mutex<Option<MySqlConnection>>,
}

enum Server {
    Shared(&'static SqlServer),
    MariaDb(MariaDb),
    MySql(MySql),
    /// A cluster, and the node that the test itself asks.
    Galera(Box<Galera>, SqlServer),
    /// One that the test has started.
    Elsewhere(SqlServer),
}

/// The testbed's server.
impl Deref for Database {
    type Target = SqlServer;

    fn deref(&self) -> &SqlServer {
        match &self.server {
            Server::Shared(server) => server,
            Server::MariaDb(server) => server,
            Server::MySql(server) => server,
            Server::Galera(_, server) | Server::Elsewhere(server) => server,
        }
    }
}

impl Database {
    /// A database on the server that all tests share, or on a server of its own. `None` if MySQL is not installed, or
    /// if the test needs its own server but the environment names one.
    pub(crate) async fn new(on: On, own: bool, name: &str) -> Result<Option<Self>> {
        let server = match (on, own) {
            (On::MariaDb, false) => Server::Shared(shared_mariadb()?),
            (On::MariaDb, true) => Server::MariaDb(MariaDb::start()?),
            (On::MySql, false) => match shared_mysql()? {
                Some(server) => Server::Shared(server),
                None => return Ok(None),
            },
            (On::MySql, true) => match MySql::start()? {
                Some(server) => Server::MySql(server),
                None => return Ok(None),
            },
        };
        let mut database = Database::at(server, name);
        if own && database.process().is_none() {
            return Ok(None);
        }
        database.url = database.create_database(name).await?;
        Ok(Some(database))
    }

    /// A database on a Galera cluster of its own; the test itself asks the last node. `None` if Galera is not installed.
    pub(crate) fn on_galera(name: &str) -> Result<Option<Self>> {
        let Some(cluster) = Galera::start()? else { return Ok(None) };
        cluster.create_database(name)?;
        let last = cluster.url(ingester_tests::galera::NODES - 1, "");
        let server = Server::Galera(Box::new(cluster), SqlServer::at(&last)?);
        Ok(Some(Database::at(server, name)))
    }

    /// The same database on another server, which the test has started.
    pub(crate) fn on(&self, server: &SqlServer) -> Result<Self> {
        Ok(Database::at(Server::Elsewhere(SqlServer::at(&server.url(""))?), &self.name))
    }

    fn at(server: Server, name: &str) -> Self {
        let mut database = Database { server, name: name.to_owned(), url: String::new(), connection: Mutex::default() };
        database.url = database.deref().url(name);
        database
    }

    /// The cluster, if it is on one.
    pub(crate) fn galera(&self) -> Option<&Galera> {
        match &self.server {
            Server::Galera(cluster, _) => Some(cluster),
            _ => None,
        }
    }

    /// The section `mysql` for it; `None` for a server that the environment names, which has only a URL.
    pub(crate) fn section(&self) -> Option<Mysql> {
        self.port().map(|port| Mysql {
            host: "127.0.0.1".to_owned(),
            port,
            user: "root".to_owned(),
            password: String::new(),
            database: self.name.clone(),
        })
    }

    /// Runs SQL and returns every cell as text.
    pub(crate) async fn sql(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut connection = self.connection.lock().await;
        // Take the connection out, so that a failed one is not reused.
        let mut open = match connection.take() {
            Some(open) => open,
            None => MySqlConnection::connect(&self.url).await.context("connecting to the test's database")?,
        };
        let rows = open.fetch_all(sqlx::raw_sql(AssertSqlSafe(sql))).await.with_context(|| sql.to_owned())?;
        *connection = Some(open);
        let cell = |row: &sqlx::mysql::MySqlRow, place| row.try_get_unchecked::<Option<String>, _>(place);
        let texts = |row| -> Result<Vec<_>> {
            Ok((0..sqlx::Row::len(row)).map(|place| cell(row, place)).collect::<Result<_, _>>()?)
        };
        rows.iter().map(texts).collect()
    }

    /// The one cell of the one row.
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
        Ok(self.sql("SHOW TABLES").await?.into_iter().flatten().flatten().collect())
    }
}
