//! Sockets, TLS, and the limits on a client's costs.
//!
//! May use: access, body, identity, ingester-store, metrics, places, request, status.
//!
//! A connection carries one HTTP/1.1 request at a time. Everything that a client can delay has a time limit, everything that it can send a
//! size limit, and everything that can be many a number limit.
//!
//! | file | what it does |
//! |---|---|
//! | `limits.rs` | these numbers |
//! | `tls.rs` | the certificate, read again when its files change; asks for clients' certificates |
//! | `watched.rs` | a socket that ends when nothing moves |
//! | `connections.rs` | the open connections, and the choice of the one that gives way to a new one |
//! | `connection.rs` | one connection: handshake, requests, end |
//! | `answer.rs` | one request to its answer, within the limits |
//! | `shared.rs` | the state that connections share |
//! | `local.rs` | decides which requests a port without authentication accepts |

mod answer;
mod connection;
mod connections;
mod limits;
mod local;
mod shared;
#[cfg(test)]
mod tests;
mod tls;
mod watched;

pub use limits::Limits;
pub use tls::{Tls, TlsError};

use crate::access::{AccessLog, AccessLogs};
use crate::identity::Peer;
use crate::metrics::{Metrics, RefusalReason};
use axum::body::Body;
use connection::Connection;
use connections::Connections;
use http::{Request, Response};
use shared::ListenerState;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The pause after a failure to accept a connection, for example without a free file descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// Opens the port without answering yet, so that an unavailable address is found before any work begins.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    security: Security,
}

/// The security of connections.
#[derive(Clone, Debug)]
pub(crate) enum Security {
    /// With TLS.
    Tls(Arc<rustls::ServerConfig>),
    /// Without TLS, only for programs on this machine.
    Loopback,
}

/// Answers requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request, and records in `log` the facts for the access log. It is dropped if the client goes away, and if it takes too
    /// long. A [`RequestSlot`](crate::places::RequestSlot) in the answer's extensions is held until the answer is sent.
    fn answer(
        &self,
        request: Request<Body>,
        peer: Peer,
        log: AccessLog,
    ) -> impl Future<Output = Response<Body>> + Send + 'static;
}

impl<H, F> Handler for H
where
    H: Fn(Request<Body>, Peer, AccessLog) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    fn answer(
        &self,
        request: Request<Body>,
        peer: Peer,
        log: AccessLog,
    ) -> impl Future<Output = Response<Body>> + Send + 'static {
        self(request, peer, log)
    }
}

impl Listener {
    /// Listens on `address` with TLS: `127.0.0.1:8443`, `[::1]:8443`, a host's name and a port, or, as in Go, `:8443` for all
    /// addresses of the machine.
    ///
    /// # Errors
    /// If the address is not valid or not available.
    pub async fn with_tls(address: &str, tls: &Tls) -> io::Result<Self> {
        let everywhere = address.strip_prefix(':').and_then(|port| port.parse().ok()).map(|port: u16| {
            [SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)), SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))]
        });
        let tcp = match everywhere {
            Some(addresses) => TcpListener::bind(&addresses[..]).await?,
            None => TcpListener::bind(address).await?,
        };
        Ok(Listener { tcp, security: Security::Tls(tls.config()) })
    }

    /// Listens on a port of 127.0.0.1, without TLS.
    ///
    /// # Errors
    /// If the port is not available.
    pub async fn on_loopback(port: u16) -> io::Result<Self> {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        Ok(Listener { tcp, security: Security::Loopback })
    }

    /// The address, with the assigned port if port 0 was requested.
    ///
    /// # Errors
    /// If the operating system does not return it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// Answers requests until `stop` is cancelled. Then new connections are refused, and answers in progress may finish within
    /// [`Limits::grace`].
    pub async fn serve(self, limits: Limits, metrics: Metrics, handler: impl Handler, stop: CancellationToken) {
        let Listener { tcp, security } = self;
        let connections = Connections::new(limits.connections);
        let handler = Arc::new(handler);
        let tasks = TaskTracker::new();
        let end = CancellationToken::new();
        let shared = Arc::new(ListenerState {
            limits,
            logs: AccessLogs::new(metrics.clone()),
            metrics,
            security,
            stop: stop.clone(),
        });
        while let Some(accepted) = stop.run_until_cancelled(tcp.accept()).await {
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "Cannot accept a connection");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let Some(admitted) = connections.admit(&end) else {
                tracing::debug!(%address, "There are as many connections as there may be, and all are in use");
                shared.metrics.refused(RefusalReason::Full);
                continue;
            };
            if admitted.instead {
                shared.metrics.refused(RefusalReason::Idle);
            }
            let open = Arc::new(admitted.open);
            let shared = shared.clone();
            let handler = handler.clone();
            tasks.spawn(Connection { stream, address, open, shared, handler }.run());
        }
        drop(tcp);
        tasks.close();
        if tokio::time::timeout(shared.limits.grace, tasks.wait()).await.is_err() {
            tracing::warn!(connections = tasks.len(), "The process ends before it has answered these requests");
            end.cancel();
            tasks.wait().await;
        }
    }
}
