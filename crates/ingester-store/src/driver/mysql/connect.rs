//! Connects to one server, and asks the first questions.

use super::error::is_number;
use super::servers::{ConnectionFacts, asked};
use crate::driver::hosts::{ListedServer, not_this_one, refuses_writes};
use crate::driver::options::ConnectOptions;
use crate::driver::servers::Servers;
use crate::driver::values::raw_text;
use ingester_sql::dialect::mysql::session;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlPoolOptions};
use sqlx::{Connection as _, Executor as _, MySqlPool, Row as _, raw_sql};
use std::sync::Arc;
use std::time::Duration;

/// A connection keeps this many statements prepared, unless the URL says otherwise: enough for a few kinds in all sizes, or for all kinds
/// in the usual sizes.
///
/// With fewer, statements would be closed to prepare others all the time. That costs a round trip, and with sqlx 0.9.0, whose
/// sockets lack TCP_NODELAY (<https://github.com/transact-rs/sqlx/issues/4335>), 40 ms. With more, two ingesters of 25
/// connections could exceed `max_prepared_stmt_count`, by default 16,382 for all clients of a server together.
pub(super) const PREPARED: usize = 256;

/// A statement waits at most this long for a free connection.
const ACQUIRE: Duration = Duration::from_secs(5);

/// A connection that was idle for longer is tested before it is used, because the server may have been restarted. If a connection
/// is lost earlier, the statement is retried like any other.
const IDLE: Duration = Duration::from_secs(1);

/// Connects to a server.
pub(super) async fn connect(
    connect: &MySqlConnectOptions,
    options: ConnectOptions,
    several: bool,
    servers: &Arc<Servers>,
) -> Result<MySqlPool, sqlx::Error> {
    let [acquired, released, connected] = [servers.clone(), servers.clone(), servers.clone()];
    // The first connection is made without the pool, which would report a time-out instead of the cause. A server of a list was asked
    // already.
    if !several {
        MySqlConnection::connect_with(connect).await?.close().await?;
    }
    Ok(MySqlPoolOptions::new()
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
                let ConnectionFacts { server, .. } = prepare(connection).await?;
                if let Some(time) = server.time {
                    servers.clock.learn(time, begin);
                }
                if options.read_only {
                    supported(connection.execute(raw_sql(session::READERS)).await)?;
                }
                // In a list, another server is the right one now. A single server may be read-only for other users than this one.
                if several && server.is_read_only && !options.read_only {
                    return Err(refuses_writes());
                }
                servers.reached(server, begin.into_std());
                Ok(())
            })
        })
        // Idle connections are opened when they are needed. If each answer takes a tenth of a second, opening them here one after the other
        // would exceed the time of an attempt.
        .connect_lazy_with(connect.clone()))
}

/// "Not supported yet": TiDB's answer to read-only sessions (its "System Variables", tidb_enable_noop_functions).
const NOT_SUPPORTED: u16 = 1235;

/// Ignores that the server does not support something.
fn supported<T>(result: Result<T, sqlx::Error>) -> Result<(), sqlx::Error> {
    match result {
        Err(error) if is_number(&error, NOT_SUPPORTED) => Ok(()),
        result => result.map(drop),
    }
}

/// Prepares the session of a new connection, and asks for the kind of server that it leads to.
pub(super) async fn prepare(connection: &mut MySqlConnection) -> Result<ConnectionFacts, sqlx::Error> {
    // This takes one round trip. A server that does not take a text of several statements gets them one by one, and says which one it
    // refuses.
    match connection.execute(raw_text(session::SESSION.join("; ").into())).await {
        Err(sqlx::Error::Database(_)) => {
            for sql in session::SESSION {
                connection.execute(raw_sql(sql)).await?;
            }
        }
        prepared => {
            prepared?;
        }
    }
    let rows = match connection.fetch_all(raw_sql(session::VARIABLES)).await {
        Err(sqlx::Error::Database(_)) => return Ok(ConnectionFacts::UNKNOWN),
        rows => rows?,
    };
    let mut variables: Vec<(String, String)> = Vec::new();
    for row in &rows {
        variables.push((row.try_get_unchecked(0)?, row.try_get_unchecked(1)?));
    }
    let asked = asked(variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    if asked.is_node {
        connection.execute(raw_sql(session::NODES)).await?;
    }
    Ok(asked)
}

/// Returns the Galera node to which a connection leads; empty without Galera.
pub(super) async fn node(connection: &mut MySqlConnection) -> Result<String, sqlx::Error> {
    second_column(connection, session::NODE).await
}

impl ListedServer for MySqlConnectOptions {
    fn name(&self) -> String {
        format!("{}:{}", self.get_host(), self.get_port())
    }

    async fn probe(&self, read_only: bool) -> Result<(), sqlx::Error> {
        let mut connection = MySqlConnection::connect_with(self).await?;
        let ConnectionFacts { server, is_node } = prepare(&mut connection).await?;
        if server.is_read_only && !read_only {
            return Err(refuses_writes());
        }
        if is_node && second_column(&mut connection, session::READY).await? != "ON" {
            return Err(not_this_one("it has lost the others of its cluster, or joins them"));
        }
        connection.close().await
    }
}

/// Returns the second column of the only row; empty without a row.
async fn second_column(connection: &mut MySqlConnection, sql: &'static str) -> Result<String, sqlx::Error> {
    let row = connection.fetch_optional(raw_sql(sql)).await?;
    row.map_or_else(|| Ok(String::new()), |row| row.try_get_unchecked(1))
}

/// Returns the ids of the connections that run marked statements, with the beginnings of the texts.
pub(super) async fn marked_statements(connection: &mut MySqlConnection) -> Result<Vec<(u64, String)>, sqlx::Error> {
    let rows = match connection.fetch_all(raw_sql(session::MARKED_STATEMENTS)).await {
        Ok(rows) if !rows.is_empty() => rows,
        Ok(_) | Err(sqlx::Error::Database(_)) => {
            connection.fetch_all(raw_sql(session::MARKED_STATEMENTS_BEFORE)).await?
        }
        Err(error) => return Err(error),
    };
    rows.iter().map(|row| Ok((row.try_get_unchecked(0)?, row.try_get_unchecked(1)?))).collect()
}

/// There is no such connection: it has ended already.
const NO_CONNECTION: u16 = 1094;

/// Ends a connection and the statement that it runs.
pub(super) async fn end_connection(connection: &mut MySqlConnection, id: u64) -> Result<(), sqlx::Error> {
    match connection.execute(raw_text(session::end_connection(id).into())).await {
        Err(error) if is_number(&error, NO_CONNECTION) => Ok(()),
        result => result.map(drop),
    }
}
