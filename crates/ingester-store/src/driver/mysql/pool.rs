//! The connections to a server, or to one server of a list.

use super::abandoned::AbandonedStatements;
use super::connect::connect;
use super::examine::examine;
use super::migrations::MigrationConnection;
use super::session::LentConnection;
use crate::driver::examine::{Answers, Finding};
use crate::driver::hosts::{Hosts, SearchResult, first};
use crate::driver::interface::{Driver, Migrations, Session, Usage};
use crate::driver::options::ConnectOptions;
use crate::driver::servers::Servers;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::MySqlPool;
use sqlx::mysql::MySqlConnectOptions;
use std::sync::Arc;

pub(super) struct Pool {
    pool: MySqlPool,
    servers: Arc<Servers>,
    /// The servers, if the address has several.
    hosts: Option<Hosts<MySqlConnectOptions>>,
    abandoned: Arc<AbandonedStatements>,
}

impl Pool {
    /// Connects to the server that takes writes, or that answers.
    pub(super) async fn open(
        all: &[MySqlConnectOptions],
        options: ConnectOptions,
        servers: Arc<Servers>,
    ) -> Result<Self, sqlx::Error> {
        let place = first(all, options.read_only).await?;
        let several = all.len() > 1;
        let pool = connect(&all[place], options, several, &servers).await?;
        let led = pool.clone();
        let lead = move |server: &MySqlConnectOptions| led.set_connect_options(server.clone());
        let hosts = several.then(|| Hosts::new(all, place, options.read_only, servers.clone(), lead));
        let abandoned = AbandonedStatements::new(pool.clone());
        Ok(Pool { pool, servers, hosts, abandoned })
    }

    async fn lend(&self) -> Result<LentConnection, sqlx::Error> {
        let connection = match &self.hosts {
            // In a box, because this future is large, and most addresses have one server.
            Some(hosts) => Box::pin(hosts.beside(self.pool.acquire())).await?,
            None => self.pool.acquire().await?,
        };
        Ok(LentConnection::new(connection, self.servers.clone(), self.abandoned.clone()))
    }
}

impl Driver for Pool {
    fn session(&self) -> BoxFuture<'_, Result<Box<dyn Session>, sqlx::Error>> {
        async move { Ok(Box::new(self.lend().await?) as Box<dyn Session>) }.boxed()
    }

    fn migrations(&self) -> BoxFuture<'_, Result<Box<dyn Migrations>, sqlx::Error>> {
        async move {
            let lent = self.lend().await?;
            let connect = self.pool.connect_options().as_ref().clone();
            Ok(Box::new(MigrationConnection::new(lent, connect, self.servers.certifies())) as Box<dyn Migrations>)
        }
        .boxed()
    }

    fn look_for_server(&self) -> BoxFuture<'_, SearchResult> {
        async move {
            match &self.hosts {
                Some(hosts) => hosts.look().await,
                // The host's name, or the proxy behind it, may soon lead to another member.
                None if self.servers.certifies() => SearchResult::Electing,
                None => SearchResult::Same,
            }
        }
        .boxed()
    }

    fn use_password<'d>(&'d self, password: &'d str) -> BoxFuture<'d, ()> {
        let with = move |server: &MySqlConnectOptions| server.clone().password(password);
        async move {
            match &self.hosts {
                Some(hosts) => hosts.change(with).await,
                None => self.pool.set_connect_options(with(&self.pool.connect_options())),
            }
        }
        .boxed()
    }

    fn examine(&self, answers: &Answers) -> Vec<Finding> {
        let database = self.pool.connect_options().get_database().unwrap_or_default().to_owned();
        examine(answers, &database)
    }

    fn usage(&self) -> Usage {
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        Usage { open: self.pool.size(), idle, limit: self.pool.options().get_max_connections() }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.pool.close().boxed()
    }

    #[cfg(test)]
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
