//! Sockets, TLS, and what a client may cost.
//!
//! May use: body, identity, metrics, request, status.
//!
//! A connection is one HTTP/1.1 request at a time. Everything that a client can let wait has a time, everything that it can send has a
//! size, and whatever there can be many of has a number.
//!
//! | file | what it does |
//! |---|---|
//! | `limits.rs` | these numbers |
//! | `tls.rs` | the certificate, read again when its files change; asks for clients' certificates |
//! | `watched.rs` | a socket that ends when nothing moves |
//! | `connection.rs` | one connection: handshake, requests, end |
//! | `answer.rs` | one request to its answer, within the limits |
//! | `local.rs` | which requests a port without authentication takes |

mod answer;
mod connection;
mod limits;
mod local;
#[cfg(test)]
mod tests;
mod tls;
mod watched;

pub use limits::Limits;
pub use tls::{Tls, TlsError};

use crate::identity::Peer;
use crate::metrics::{Metrics, Refused};
use axum::body::Body;
use connection::{Connection, Shared};
use http::{Request, Response};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The pause after a connection could not be accepted, as when the process has no file left.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens, and does not answer yet, so that an address that is not available is found before any work begins.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    security: Security,
}

/// How a connection is made.
#[derive(Clone, Debug)]
pub(crate) enum Security {
    /// With TLS.
    Tls(Arc<rustls::ServerConfig>),
    /// Without, for programs of this machine only.
    Loopback,
}

/// What answers requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. It is dropped if the client goes away, and if it takes too long.
    fn answer(&self, request: Request<Body>, peer: Peer) -> impl Future<Output = Response<Body>> + Send + 'static;
}

impl<H, F> Handler for H
where
    H: Fn(Request<Body>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    fn answer(&self, request: Request<Body>, peer: Peer) -> impl Future<Output = Response<Body>> + Send + 'static {
        self(request, peer)
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

    /// Answers requests until `stop` is cancelled. Then nobody is let in, and whoever is being answered gets that answer, for as
    /// long as [`Limits::grace`] says.
    pub async fn serve(self, limits: Limits, metrics: Metrics, handler: impl Handler, stop: CancellationToken) {
        let Listener { tcp, security } = self;
        let (connections, handler) = (Arc::new(Semaphore::new(limits.connections)), Arc::new(handler));
        let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
        let shared = Arc::new(Shared {
            in_flight: Arc::new(Semaphore::new(limits.in_flight)),
            limits,
            metrics,
            security,
            stop: stop.clone(),
            end: end.clone(),
        });
        while let Some(accepted) = stop.run_until_cancelled(tcp.accept()).await {
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "A connection cannot be accepted");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let Ok(place) = connections.clone().try_acquire_owned() else {
                tracing::debug!(%address, "There are as many connections as there may be");
                shared.metrics.refused(Refused::Full);
                continue;
            };
            let connection = Connection { stream, address, shared: shared.clone(), handler: handler.clone() };
            tasks.spawn(async move {
                connection.run().await;
                drop(place);
            });
        }
        drop(tcp);
        tasks.close();
        if tokio::time::timeout(shared.limits.grace, tasks.wait()).await.is_err() {
            tracing::warn!(connections = tasks.len(), "Requests are not answered: there is no time left");
            end.cancel();
            tasks.wait().await;
        }
    }
}
