//! Connects to one server, and asks the first questions.

use super::servers::{ConnectionFacts, answer};
use crate::driver::error::unusable;
use crate::driver::hosts::{ListedServer, refuses_writes};
use crate::driver::options::ConnectOptions;
use crate::driver::servers::{DatabaseServer, Servers};
use ingester_sql::dialect::postgres::session;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, Executor as _, PgConnection, PgPool, Row as _, raw_sql};
use std::sync::Arc;
use std::time::Duration;

/// One server of an address.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) options: PgConnectOptions,
    /// True if a pooler may give each transaction another connection to the server, so that nothing is kept for a session.
    pub(super) has_pooler: bool,
    /// True if any server of a list that answers will do, even for writing.
    pub(super) takes_any: bool,
}

/// A statement waits at most this long for a free connection.
const ACQUIRE: Duration = Duration::from_secs(5);

/// A connection that was idle for longer is tested before it is used, because the server may have been restarted. If a connection
/// is lost earlier, the statement is retried like any other.
const IDLE: Duration = Duration::from_secs(1);

/// The first release that is supported.
const FIRST: u32 = 15;

/// Connects to a server.
pub(super) async fn connect(
    server: &Server,
    options: ConnectOptions,
    several: bool,
    servers: &Arc<Servers>,
) -> Result<PgPool, sqlx::Error> {
    let [acquired, released, connected] = [servers.clone(), servers.clone(), servers.clone()];
    // The first connection is made without the pool, which would report a time-out instead of the cause, such as a refused login or a
    // database that cannot be used. A server of a list was asked already.
    if !several {
        let mut connection = PgConnection::connect_with(&server.options).await?;
        ask(&mut connection, server.has_pooler).await?;
        connection.close().await?;
    }
    let has_pooler = server.has_pooler;
    let is_wrong = several && !options.read_only && !server.takes_any;
    Ok(PgPoolOptions::new()
        .max_connections(options.connections.max(1))
        .min_connections(options.max_idle.min(options.connections))
        .acquire_timeout(ACQUIRE)
        // sqlx would test the connection before every transaction, with one more round trip.
        .test_before_acquire(false)
        .before_acquire(move |connection, state| {
            let stale = acquired.is_stale(state.age);
            Box::pin(async move { Ok(!stale && (state.idle_for < IDLE || connection.ping().await.is_ok())) })
        })
        .after_release(move |_, state| {
            let stale = released.is_stale(state.age);
            Box::pin(async move { Ok(!stale) })
        })
        .max_lifetime(options.max_lifetime)
        .after_connect(move |connection, _| {
            let servers = connected.clone();
            Box::pin(async move {
                let begin = tokio::time::Instant::now();
                let server = ask(connection, has_pooler).await?;
                if let Some(time) = server.time {
                    servers.clock.learn(time, begin);
                }
                // In a list, another server is the right one now.
                if is_wrong && server.is_read_only {
                    return Err(refuses_writes());
                }
                if !has_pooler {
                    connection.execute(session::SESSION).await?;
                    if options.read_only {
                        connection.execute(session::READERS).await?;
                    }
                }
                servers.reached(server, begin.into_std());
                Ok(())
            })
        })
        // Idle connections are opened when they are needed. If each answer takes a tenth of a second, opening them here one after the other
        // would exceed the time of an attempt.
        .connect_lazy_with(server.options.clone()))
}

/// Asks for the kind of server that a new connection leads to.
///
/// # Errors
/// Also if the ingester cannot use the server.
async fn ask(connection: &mut PgConnection, has_pooler: bool) -> Result<DatabaseServer, sqlx::Error> {
    if let Some(number) = connection.server_version_num()
        && number / 10_000 < FIRST
    {
        let version = format!("{}.{}", number / 10_000, number % 10_000);
        return Err(unusable(format!("it is PostgreSQL {version}"), "the ingester needs PostgreSQL 15 or later"));
    }
    let row = match connection.fetch_one(raw_sql(session::SERVER)).await {
        // Another product with the same protocol.
        Err(sqlx::Error::Database(_)) => return Ok(DatabaseServer::UNKNOWN),
        row => row?,
    };
    let mut columns = <[String; 10]>::default();
    for (place, column) in columns.iter_mut().enumerate() {
        *column = row.try_get_unchecked(place)?;
    }
    let ConnectionFacts { server, encoding, has_standard_literals } = answer(columns);
    if encoding != "UTF8" {
        let remedy = "make a database WITH ENCODING 'UTF8', and name that one";
        return Err(unusable(format!("the database has the encoding {encoding}"), remedy));
    }
    if has_pooler && !has_standard_literals {
        let why = "standard_conforming_strings is off".to_owned();
        return Err(unusable(why, "turn it on for this user or database"));
    }
    Ok(server)
}

impl ListedServer for Server {
    fn name(&self) -> String {
        format!("{}:{}", self.options.get_host(), self.options.get_port())
    }

    async fn probe(&self, read_only: bool) -> Result<(), sqlx::Error> {
        let mut connection = PgConnection::connect_with(&self.options).await?;
        let server = ask(&mut connection, self.has_pooler).await?;
        if server.is_read_only && !read_only && !self.takes_any {
            return Err(refuses_writes());
        }
        connection.close().await
    }
}
