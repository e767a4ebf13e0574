//! The limits on a client's costs.

use std::time::Duration;

/// The limits on a client's costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The most connections. For one more, an idle connection is closed, otherwise the new one.
    pub connections: usize,
    /// The most bytes of a request's line and headers: 431. Beyond twice that, the answer has no body.
    pub header_bytes: usize,
    /// The most headers of a request: 431. A front proxy sends a header for each group of the caller.
    pub headers: usize,
    /// The most bytes of a request's body, as in the API server: 413.
    pub body_bytes: usize,
    /// The time limit for the TLS handshake.
    pub handshake: Duration,
    /// The time limit for a request's headers, from its first byte, or, for the first request, from the connection.
    pub head: Duration,
    /// The time limit for the whole body of a request: 408.
    pub body: Duration,
    /// The time that a connection may wait for its next request.
    pub idle: Duration,
    /// The time limit for the beginning of an answer: 504.
    pub request: Duration,
    /// The time limit for an answer from its beginning to its end.
    pub answer: Duration,
    /// The time for which a client may read nothing although data are ready for it.
    pub stalled: Duration,
    /// The time that requests have once the server stops.
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
