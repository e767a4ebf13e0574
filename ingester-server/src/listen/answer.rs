//! One request to its answer, within the limits.

use super::connection::Shared;
use super::watched::Phase;
use super::{Handler, Security, local};
use crate::body::Waits;
use crate::identity::Peer;
use crate::metrics::Counted;
use crate::status::{Reason, Status};
use axum::body::Body;
use futures::FutureExt as _;
use http::header::CONTENT_LENGTH;
use http::{Request, Response, StatusCode};
use http_body_util::Limited;
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;
use tokio_util::sync::WaitForCancellationFutureOwned;

/// Answers a request, or says why not.
pub(super) async fn answer<H: Handler>(
    request: Request<Incoming>,
    peer: Peer,
    handler: Arc<H>,
    shared: Arc<Shared>,
    phase: Arc<Phase>,
) -> Result<Response<Answer>, Infallible> {
    let limits = shared.limits;
    let turn = match checked(&request, &shared) {
        Ok(()) => shared.in_flight.clone().try_acquire_owned().map_err(|_| {
            Status::too_many_requests("The server has too many requests at a time, please try again later.")
        }),
        Err(status) => Err(status),
    };
    let counted = shared.metrics.request();
    let (turn, response) = match turn {
        Err(status) => (None, status.response()),
        Ok(turn) => {
            let request = request.map(|body| Body::new(Limited::new(body, limits.body_bytes)));
            let work = AssertUnwindSafe(handler.answer(request, peer)).catch_unwind();
            let response = match tokio::time::timeout(limits.request, work).await {
                Ok(Ok(response)) => response,
                // The panic's hook has logged it.
                Ok(Err(_)) => Status::internal("the request could not be handled, see the server's log").response(),
                Err(_) => Status::timeout("the request took too long").response(),
            };
            (Some(turn), response)
        }
    };
    let waits = response.extensions().get::<Waits>().is_some();
    let turn = turn.filter(|_| !waits);
    let stop = waits.then(|| Box::pin(shared.stop.clone().cancelled_owned()));
    let deadline = Box::pin(tokio::time::sleep(limits.answer));
    Ok(response.map(|body| Answer { body, deadline, stop, _turn: turn, _counted: counted, ends: Ends(phase) }))
}

/// Looks at what can be seen in the headers.
fn checked(request: &Request<Incoming>, shared: &Shared) -> Result<(), Status> {
    let limits = &shared.limits;
    // Name, colon, blank, value, end of line.
    let lines = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    let line =
        request.method().as_str().len() + request.uri().path_and_query().map_or(1, |path| path.as_str().len()) + 11;
    if request.headers().len() > limits.headers || lines.sum::<usize>() + line > limits.header_bytes {
        let message = format!(
            "the headers are too large: there may be {} of them, with {} bytes",
            limits.headers, limits.header_bytes
        );
        return Err(Status::failure(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, Reason::BadRequest, message));
    }
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limits.body_bytes as u64) {
        return Err(Status::too_large(limits.body_bytes));
    }
    match shared.security {
        Security::Loopback => local::check(request.uri(), request.headers()),
        Security::Tls(_) => Ok(()),
    }
}

/// An answer's body. While it is there, its request counts.
pub(super) struct Answer {
    body: Body,
    deadline: Pin<Box<Sleep>>,
    /// What only waits ends when the server does.
    stop: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    _turn: Option<OwnedSemaphorePermit>,
    _counted: Counted,
    ends: Ends,
}

/// The next request may come.
struct Ends(Arc<Phase>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.rest();
    }
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.deadline.as_mut().poll(cx).is_ready() {
            tracing::debug!(phase = ?self.ends.0, "An answer took too long");
            return Poll::Ready(Some(Err(axum::Error::new("the answer took too long"))));
        }
        if self.stop.as_mut().is_some_and(|stop| stop.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
