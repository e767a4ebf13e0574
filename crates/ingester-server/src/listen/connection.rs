//! One connection: handshake, requests, end.

use super::answer::{self, AnswerBody};
use super::connections::Open;
use super::shared::ListenerState;
use super::watched::WatchedSocket;
use super::{Handler, Security};
use crate::identity::Peer;
use crate::metrics::RefusalReason;
use futures::future::BoxFuture;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// The time and the amount for which a client may go on sending after the last answer. If nobody reads that, the operating system discards
/// the answer.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 4 << 20;

/// A connection that was accepted.
pub(super) struct Connection<H> {
    pub(super) stream: TcpStream,
    pub(super) address: SocketAddr,
    pub(super) open: Arc<Open>,
    pub(super) shared: Arc<ListenerState>,
    pub(super) handler: Arc<H>,
}

impl<H: Handler> Connection<H> {
    pub(super) async fn run(self) {
        let Connection { stream, address, open, shared, handler } = self;
        let _counted = shared.metrics.connection();
        // Send answers at once. If setting this fails, they are only slower.
        let _ = stream.set_nodelay(true);
        let limits = &shared.limits;
        let stream = WatchedSocket::new(stream, open.phase().clone(), limits.head, limits.idle, limits.stalled);
        let end = open.end().clone();
        let requests = async {
            match &shared.security {
                Security::Loopback => {
                    requests(stream, Requests { open, peer: Peer::new(address), shared: shared.clone(), handler })
                        .await;
                }
                Security::Tls(config) => {
                    // On the heap: a connection without a handshake does not hold memory for one.
                    let handshake = Box::pin(TlsAcceptor::from(config.clone()).accept(stream));
                    let stream = match tokio::time::timeout(limits.handshake, handshake).await {
                        Ok(Ok(stream)) => stream,
                        Ok(Err(error)) => return refused(&shared, address, &error.to_string()),
                        Err(_) => return refused(&shared, address, "it took too long"),
                    };
                    let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default().into();
                    let peer = Peer { address, certificates };
                    requests(stream, Requests { open, peer, shared: shared.clone(), handler }).await;
                }
            }
        };
        end.run_until_cancelled(requests).await;
    }
}

fn refused(shared: &ListenerState, address: SocketAddr, error: &str) {
    shared.metrics.refused(RefusalReason::Handshake);
    tracing::debug!(%address, error, "TLS was not agreed on");
}

/// Answers one request after the other.
async fn requests<H: Handler>(stream: impl AsyncRead + AsyncWrite + Unpin, requests: Requests<H>) {
    let limits = requests.shared.limits;
    let stop = requests.shared.stop.clone();
    let address = requests.peer.address;
    requests.open.phase().head();
    let mut connection = http1::Builder::new()
        // So a request that is only a little too large gets an answer with the reason.
        .max_headers(2 * limits.headers)
        .max_buf_size((2 * limits.header_bytes).max(8192))
        .serve_connection(TokioIo::new(stream), requests);
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => break ended,
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%address, %error, "Connection ended");
    }
    let mut stream = connection.into_parts().io.into_inner();
    let last = async {
        stream.shutdown().await?;
        let mut rest = vec![0; 4096];
        let mut left = LINGER_BYTES;
        while left > 0 {
            match stream.read(&mut rest).await? {
                0 => break,
                read => left = left.saturating_sub(read),
            }
        }
        Ok::<_, std::io::Error>(())
    };
    // A client that is gone needs no shutdown.
    let _ = tokio::time::timeout(LINGER, Box::pin(last)).await;
}

/// Handles the requests of one connection.
struct Requests<H> {
    open: Arc<Open>,
    peer: Peer,
    shared: Arc<ListenerState>,
    handler: Arc<H>,
}

impl<H: Handler> hyper::service::Service<Request<Incoming>> for Requests<H> {
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<AnswerBody>, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        if !self.open.phase().busy() {
            // The request came too late and is not begun: the connection is about to end.
            return Box::pin(std::future::pending());
        }
        let open = self.open.clone();
        let shared = self.shared.clone();
        Box::pin(answer::answer(request, self.peer.clone(), self.handler.clone(), shared, open))
    }
}
