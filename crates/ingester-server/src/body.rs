//! Reads a request's whole body, and marks the body of an answer.
//!
//! May use: status.

use crate::status::Status;
use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Frame, SizeHint};
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// Reads a request's body, whose size `listen` has limited.
///
/// # Errors
/// 413 if it is too large; 408 if it does not come in time; 400 if the client does not send all of it.
pub async fn read(body: Body) -> Result<Bytes, Status> {
    read_at_most(body, MOST).await
}

/// Does the same with a smaller limit.
///
/// # Errors
/// As [`read`].
pub(crate) async fn read_at_most(body: Body, most: usize) -> Result<Bytes, Status> {
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => {
            let mut cause: Option<&(dyn Error + 'static)> = Some(&*error);
            while let Some(error) = cause {
                if error.is::<LengthLimitError>() {
                    return Err(Status::too_large(most));
                }
                if let Some(TooSlow(time)) = error.downcast_ref() {
                    return Err(Status::request_timeout(format!(
                        "the body did not come within {} seconds",
                        time.as_secs_f64()
                    )));
                }
                cause = error.source();
            }
            Err(Status::bad_request(format!("the body cannot be read: {error}")))
        }
    }
}

/// A body that must arrive as a whole within a time limit. The time begins when reading begins.
#[derive(Debug)]
pub struct TimedBody<B> {
    body: B,
    time: Duration,
    end: Option<Pin<Box<Sleep>>>,
}

/// A body did not come in time.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the body did not come within {0:?}")]
pub struct TooSlow(Duration);

impl<B> TimedBody<B> {
    /// Limits the time for this body.
    pub fn new(body: B, time: Duration) -> Self {
        TimedBody { body, time, end: None }
    }
}

impl<B> hyper::body::Body for TimedBody<B>
where
    B: hyper::body::Body + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = B::Data;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let time = self.time;
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        match end.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Some(Err(TooSlow(time).into()))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A mark in the extensions of an answer whose body waits for changes. Such an answer does not count against the limit on concurrent
/// requests, otherwise watches would leave no room for other requests. It has its own time limit, and is not compressed, because
/// compression would hold back events.
#[derive(Clone, Copy, Debug)]
pub struct WaitMark;

/// Refuses a body of another type than JSON.
///
/// # Errors
/// 415
pub(crate) fn is_json(content_type: Option<&str>) -> Result<(), Status> {
    match content_type.map(media_type) {
        None => Ok(()),
        Some(media_type) if media_type.is_empty() || media_type == "application/json" => Ok(()),
        Some(_) => Err(unknown_format(&["application/json"])),
    }
}

/// Returns the media type without its parameters, in lower case.
pub(crate) fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns 415: only these types of bodies are supported.
pub(crate) fn unknown_format(accepted: &[&str]) -> Status {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {}",
        accepted.join(", ")
    );
    Status::unsupported_media_type(message)
}

/// The most bytes of a body, as in the API server.
pub const MOST: usize = 3 << 20;

#[cfg(test)]
mod tests {
    use super::{Body, MOST, TimedBody, read};
    use http_body_util::{Limited, StreamBody};
    use hyper::body::Frame;
    use std::convert::Infallible;
    use std::time::Duration;

    #[tokio::test]
    async fn a_body_that_is_too_large_says_so() {
        let limited = |bytes: usize| Body::new(Limited::new(Body::from(vec![b' '; bytes]), MOST));
        assert_eq!(read(limited(MOST)).await.unwrap().len(), MOST);
        let status = read(limited(MOST + 1)).await.unwrap_err();
        assert_eq!(
            (status.code.as_u16(), status.message.as_str()),
            (413, "Request entity too large: limit is 3145728")
        );
    }

    /// Bytes keep arriving.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_in_ends_in_time() {
        let trickle = |bytes: usize| {
            let next = move |sent: usize| async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                (sent < bytes).then(|| (Ok::<_, Infallible>(Frame::data(bytes::Bytes::from_static(b"x"))), sent + 1))
            };
            let frames = Box::pin(futures::stream::unfold(0, next));
            Body::new(TimedBody::new(Limited::new(StreamBody::new(frames), MOST), Duration::from_secs(10)))
        };
        assert_eq!(read(trickle(5)).await.unwrap().len(), 5);
        let status = read(trickle(usize::MAX)).await.unwrap_err();
        assert_eq!((status.code.as_u16(), status.message.as_str()), (408, "the body did not come within 10 seconds"));
    }
}
