//! Answers one request within the limits.

use super::connections::Open;
use super::shared::ListenerState;
use super::watched::ConnectionPhase;
use super::{Handler, Security, local};
use crate::body::{TimedBody, WaitMark};
use crate::identity::Peer;
use crate::metrics::GaugeGuard;
use crate::places::RequestSlot;
use crate::request::path::{self, RequestTarget};
use crate::status::{Reason, Status};
use axum::body::Body;
use futures::FutureExt as _;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderMap};
use http::uri::Authority;
use http::{HeaderValue, Request, Response, StatusCode, Version};
use http_body_util::Limited;
use hyper::body::{Buf as _, Bytes, Frame, Incoming, SizeHint};
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tracing::{Instrument as _, Span};

/// The most bytes that the connection is given at a time. It requests more while it has little to send. So an answer exists until almost
/// all of it is sent, and its time is checked repeatedly.
const PORTION: usize = 64 << 10;

/// Answers a request, or refuses it with the reason.
pub(super) async fn answer<H: Handler>(
    request: Request<Incoming>,
    peer: Peer,
    handler: Arc<H>,
    shared: Arc<ListenerState>,
    open: Arc<Open>,
) -> Result<Response<AnswerBody>, Infallible> {
    let limits = shared.limits;
    let target = path::parse(request.uri().path());
    let is_open = matches!(target, Ok(RequestTarget::Health(_) | RequestTarget::Version));
    let log = shared.logs.begin(request.method(), request.uri().path(), peer.address);
    if matches!(target, Ok(RequestTarget::Health(_) | RequestTarget::Console(_))) {
        log.quiet();
    }
    let span = log.span().clone();
    let counted = shared.metrics.request();
    let mut response = match checked(&request, &shared) {
        Err(status) => status.response(),
        Ok(()) => {
            let request =
                request.map(|body| Body::new(TimedBody::new(Limited::new(body, limits.body_bytes), limits.body)));
            within(limits.request, handler.answer(request, peer, log.clone())).instrument(span.clone()).await
        }
    };
    log.answered(response.status());
    open.called(log.known_user());
    drop(log);
    // These do not authenticate any caller. Neither do the console's files, which a browser requests in large numbers at once before its
    // user's first request: their connection is the first to give way.
    let is_unknown =
        is_open || matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    if is_unknown && matches!(shared.security, Security::Tls(_)) {
        // A connection does not stay open for an unauthenticated caller.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if response.status() == StatusCode::REQUEST_TIMEOUT {
        // The rest of the request's body may still come.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let place = response.extensions_mut().remove::<RequestSlot>();
    let waits = response.extensions().get::<WaitMark>().is_some();
    if waits {
        open.phase().waits();
    } else if place.is_none() {
        open.phase().answers();
    }
    let stop = waits.then(|| Box::pin(shared.stop.clone().cancelled_owned()));
    let deadline = (!waits).then(|| Box::pin(tokio::time::sleep(limits.answer)));
    Ok(response.map(|body| AnswerBody {
        body,
        rest: Bytes::new(),
        deadline,
        stop,
        span,
        _place: place,
        _counted: counted,
        ends: RequestEnd(open.phase().clone()),
    }))
}

/// Returns the answer if it comes within this time.
async fn within(time: Duration, answer: impl Future<Output = Response<Body>>) -> Response<Body> {
    match tokio::time::timeout(time, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(response)) => response,
        // The panic's hook has logged it.
        Ok(Err(_)) => Status::internal("the request could not be handled, see the server's log").response(),
        Err(_) => Status::timeout("the request took too long").response(),
    }
}

/// Checks a request by its headers.
fn checked(request: &Request<Incoming>, shared: &ListenerState) -> Result<(), Status> {
    let limits = &shared.limits;
    // Each header has a name, a colon, a blank, a value and a line end.
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
        Security::Tls(_) => names_host(request.version(), request.headers()),
    }
}

/// Refuses a request that names no host, or more than one (RFC 9112, 3.2). In HTTP/2 the host is not a header, and HTTP/1.0 needs none.
fn names_host(version: Version, headers: &HeaderMap) -> Result<(), Status> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if host.to_str().is_ok_and(|host| host.parse::<Authority>().is_ok()) => Ok(()),
        (Some(_), None) => Err(Status::bad_request("the header `Host` of the request is not a host")),
        (Some(_), Some(_)) => Err(Status::bad_request("the request has more than one header `Host`")),
        (None, _) if version == Version::HTTP_11 => Err(Status::bad_request("the request has no header `Host`")),
        (None, _) => Ok(()),
    }
}

/// The body of an answer. While it exists, its request counts.
pub(super) struct AnswerBody {
    body: Body,
    /// Bytes that the body has produced and the connection has not taken.
    rest: Bytes,
    /// Answers that only wait have their own time.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Answers that only wait end when the server does.
    stop: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// The span of its request.
    span: Span,
    /// The place that its user has taken for the request.
    _place: Option<RequestSlot>,
    _counted: GaugeGuard,
    ends: RequestEnd,
}

/// The request has ended, so the next one may arrive.
struct RequestEnd(Arc<ConnectionPhase>);

impl Drop for RequestEnd {
    fn drop(&mut self) {
        self.0.rest();
    }
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let span = self.span.clone();
        let _inside = span.enter();
        if self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready()) {
            tracing::debug!(phase = ?self.ends.0, "An answer took too long");
            return Poll::Ready(Some(Err(axum::Error::new("the answer took too long"))));
        }
        if self.stop.as_mut().is_some_and(|stop| stop.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(None);
        }
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) if data.len() <= PORTION => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        // Copy: a slice would keep the whole buffer in memory while the connection holds it.
        let length = self.rest.len().min(PORTION);
        let portion = Bytes::copy_from_slice(&self.rest[..length]);
        self.rest.advance(length);
        if self.rest.is_empty() {
            self.rest = Bytes::new();
        }
        Poll::Ready(Some(Ok(Frame::data(portion))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let of_body = self.body.size_hint();
        let rest = self.rest.len() as u64;
        let mut size = SizeHint::new();
        size.set_lower(of_body.lower() + rest);
        if let Some(upper) = of_body.upper() {
            size.set_upper(upper + rest);
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerBody, Body, Bytes, ConnectionPhase, PORTION, RequestEnd, Span};
    use crate::metrics::Metrics;
    use http_body_util::{BodyExt as _, StreamBody};
    use hyper::body::{Body as _, Frame};
    use std::sync::Arc;
    use std::time::Duration;

    fn make_answer(body: Body, time: Duration) -> AnswerBody {
        AnswerBody {
            body,
            rest: Bytes::new(),
            deadline: Some(Box::pin(tokio::time::sleep(time))),
            stop: None,
            span: Span::none(),
            _place: None,
            _counted: Metrics::new().unwrap().request(),
            ends: RequestEnd(Arc::new(ConnectionPhase::default())),
        }
    }

    #[tokio::test]
    async fn a_large_answer_is_given_in_portions() {
        let whole: Vec<u8> = (0..PORTION * 3 + 5).map(|n| n as u8).collect();
        let mut answer = make_answer(Body::from(whole.clone()), Duration::MAX);
        let mut given = Vec::new();
        loop {
            assert_eq!(answer.size_hint().exact(), Some((whole.len() - given.len()) as u64));
            assert_eq!(answer.is_end_stream(), given.len() == whole.len());
            let Some(frame) = answer.frame().await else { break };
            let portion = frame.unwrap().into_data().unwrap();
            assert!((1..=PORTION).contains(&portion.len()), "{}", portion.len());
            given.extend_from_slice(&portion);
        }
        assert!(given == whole);
    }

    #[tokio::test]
    async fn parts_after_a_large_part_are_sent() {
        let parts =
            [vec![b'a'; PORTION + 1], Vec::new(), vec![b'b'; 2]].map(|part| Ok::<_, std::io::Error>(part.into()));
        let trailers = [Ok(Frame::trailers(http::HeaderMap::new()))];
        let frames = parts.map(|part| part.map(Frame::<Bytes>::data)).into_iter().chain(trailers);
        let answer = make_answer(Body::new(StreamBody::new(futures::stream::iter(frames))), Duration::MAX);
        assert_eq!(answer.size_hint().exact(), None);
        let all = answer.collect().await.unwrap();
        assert!(all.trailers().is_some());
        assert_eq!(all.to_bytes().len(), PORTION + 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_is_over_within_a_part_too() {
        let mut answer = make_answer(Body::from(vec![b'a'; 3 * PORTION]), Duration::from_secs(1));
        assert!(answer.frame().await.unwrap().is_ok());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(answer.frame().await.unwrap().is_err());
    }
}
