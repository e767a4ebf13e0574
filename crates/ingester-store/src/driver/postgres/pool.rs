//! The connections to a server, or to one server of a list.

use super::connect::{Server, connect};
use super::examine::examine;
use super::migrations::MigrationConnection;
use super::session::LentConnection;
use super::values::StatementNaming;
use crate::driver::examine::{Answers, Finding};
use crate::driver::hosts::{Hosts, SearchResult, first};
use crate::driver::interface::{Driver, Migrations, Session, Usage};
use crate::driver::options::ConnectOptions;
use crate::driver::servers::Servers;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;
use std::sync::Arc;

pub(super) struct Pool {
    pool: PgPool,
    /// The servers, if the address has several.
    hosts: Option<Hosts<Server>>,
    prepared: StatementNaming,
    is_read_only: bool,
}

impl Pool {
    /// Connects to the server that takes writes, or that answers.
    pub(super) async fn open(
        all: &[Server],
        options: ConnectOptions,
        servers: Arc<Servers>,
    ) -> Result<Self, sqlx::Error> {
        let place = first(all, options.read_only).await?;
        let server = &all[place];
        let several = all.len() > 1;
        let pool = connect(server, options, several, &servers).await?;
        let led = pool.clone();
        let lead = move |server: &Server| led.set_connect_options(server.options.clone());
        let hosts = several.then(|| Hosts::new(all, place, options.read_only, servers, lead));
        let prepared = if server.has_pooler { StatementNaming::Unnamed } else { StatementNaming::Named };
        Ok(Pool { pool, hosts, prepared, is_read_only: options.read_only })
    }

    async fn lend(&self) -> Result<LentConnection, sqlx::Error> {
        let connection = match &self.hosts {
            // In a box, because this future is large, and most addresses have one server.
            Some(hosts) => Box::pin(hosts.beside(self.pool.acquire())).await?,
            None => self.pool.acquire().await?,
        };
        Ok(LentConnection::new(connection, self.prepared, self.is_read_only))
    }
}

impl Driver for Pool {
    fn session(&self) -> BoxFuture<'_, Result<Box<dyn Session>, sqlx::Error>> {
        async move { Ok(Box::new(self.lend().await?) as Box<dyn Session>) }.boxed()
    }

    fn migrations(&self) -> BoxFuture<'_, Result<Box<dyn Migrations>, sqlx::Error>> {
        async move { Ok(Box::new(MigrationConnection::new(self.lend().await?)) as Box<dyn Migrations>) }.boxed()
    }

    fn look_for_server(&self) -> BoxFuture<'_, SearchResult> {
        async move {
            match &self.hosts {
                Some(hosts) => hosts.look().await,
                None => SearchResult::Same,
            }
        }
        .boxed()
    }

    fn use_password<'d>(&'d self, password: &'d str) -> BoxFuture<'d, ()> {
        let with = move |options: &PgConnectOptions| options.clone().password(password);
        async move {
            match &self.hosts {
                Some(hosts) => {
                    hosts.change(|server| Server { options: with(&server.options), ..server.clone() }).await;
                }
                None => self.pool.set_connect_options(with(&self.pool.connect_options())),
            }
        }
        .boxed()
    }

    fn examine(&self, answers: &Answers) -> Vec<Finding> {
        examine(answers)
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
