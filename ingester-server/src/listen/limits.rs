//! What a client may cost.

use std::time::Duration;

/// What a client may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The most connections. For one more, an idle one is closed, otherwise the new one.
    pub connections: usize,
    /// The most bytes of a request's line and headers: 431. Beyond twice that, the answer has no body.
    pub header_bytes: usize,
    /// The most headers of a request: 431. A front proxy sends a header for each group of the caller.
    pub headers: usize,
    /// The most bytes of a request's body, as in the API server: 413.
    pub body_bytes: usize,
    /// How long TLS may take.
    pub handshake: Duration,
    /// How long a request's headers may take, from its first byte, or, for the first request, from the connection.
    pub head: Duration,
    /// How long a request's body may take as a whole: 408.
    pub body: Duration,
    /// How long a connection may wait for its next request.
    pub idle: Duration,
    /// How long a request's answer may take to begin: 504.
    pub request: Duration,
    /// How long an answer may take from its beginning to its end.
    pub answer: Duration,
    /// How long a client may read nothing of what is ready for it.
    pub stalled: Duration,
    /// How long requests may take once the server stops.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 1000,
            header_bytes: 64 << 10,
            headers: 500,
            body_bytes: crate::body::MOST,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            idle: Duration::from_secs(90),
            request: Duration::from_secs(60),
            answer: Duration::from_secs(600),
            stalled: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}
