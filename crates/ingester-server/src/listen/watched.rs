//! A socket that ends when nothing moves.
//!
//! It works below TLS, so that it counts the bytes that were really sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// The phase of a connection. Only the connection's task changes it, until it is [closed](ConnectionPhase::close).
#[derive(Debug, Default)]
pub(super) struct ConnectionPhase {
    now: AtomicU32,
    /// The number of this phase, counted over the phases of all connections.
    begun: AtomicU64,
}

/// The connection waits for TLS, which has its own time limit.
const NEW: u32 = 0;
/// The connection waits for the server: no time limit.
const BUSY: u32 = 1;
/// The connection waits for the rest of a request's headers.
const HEAD: u32 = 2;
/// The connection waits for the next request.
const REST: u32 = 3;
/// The connection waits for nothing: its answer only waits for changes.
const WAITS: u32 = 4;
/// The connection waits for its end, because another one has its place.
const CLOSED: u32 = 5;
/// The connection waits for the client to take an answer that holds no place: no time limit of this file applies.
const ANSWERS: u32 = 6;
/// The other bits count the changes, so that each phase begins its own time.
const CHANGE: u32 = 8;

/// Counts the phases of all connections.
static PHASES: AtomicU64 = AtomicU64::new(0);

/// An idle phase, in which a connection may be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdlePhase {
    seen: u32,
    /// The number of the phase: a smaller one began earlier.
    pub(super) begun: u64,
    pub(super) waits_for: AwaitedEvent,
}

/// The event that an idle connection waits for, in the order in which the connections of one caller give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AwaitedEvent {
    /// A request that has not begun to arrive.
    Request,
    /// The rest of the handshake or of a request's headers.
    Head,
    /// The client, which is sent an answer that holds no place.
    Client,
}

impl ConnectionPhase {
    /// Sets the phase. Returns false if the connection is closed, so nothing changed.
    fn enter(&self, phase: u32) -> bool {
        self.begun.store(PHASES.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let next = |now: u32| (now % CHANGE != CLOSED).then_some((now - now % CHANGE).wrapping_add(CHANGE) | phase);
        self.now.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }

    /// Records that the connection is open.
    pub(super) fn begin(&self) {
        self.enter(NEW);
    }

    /// Records that the server works. `false`: it must stop, because the connection is closed.
    pub(super) fn busy(&self) -> bool {
        self.enter(BUSY)
    }

    /// Records that the answer only waits.
    pub(super) fn waits(&self) {
        self.enter(WAITS);
    }

    /// Records that the answer holds no place, such as a document of discovery.
    pub(super) fn answers(&self) {
        self.enter(ANSWERS);
    }

    /// Returns the idle phase; `None` while the connection is not idle.
    pub(super) fn idle(&self) -> Option<IdlePhase> {
        let seen = self.now.load(Ordering::Relaxed);
        let waits_for = match seen % CHANGE {
            REST | WAITS => AwaitedEvent::Request,
            NEW | HEAD => AwaitedEvent::Head,
            ANSWERS => AwaitedEvent::Client,
            _ => return None,
        };
        Some(IdlePhase { seen, begun: self.begun.load(Ordering::Relaxed), waits_for })
    }

    /// Closes the connection, if nothing has happened since.
    pub(super) fn close(&self, idle: IdlePhase) -> bool {
        let closed = (idle.seen - idle.seen % CHANGE) | CLOSED;
        self.now.compare_exchange(idle.seen, closed, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Records that a request must come now.
    pub(super) fn head(&self) {
        self.enter(HEAD);
    }

    /// Records that a request may come.
    pub(super) fn rest(&self) {
        self.enter(REST);
    }
}

/// A socket that ends when nothing moves.
#[derive(Debug)]
pub(super) struct WatchedSocket<S> {
    socket: S,
    phase: Arc<ConnectionPhase>,
    head: Duration,
    idle: Duration,
    stalled: Duration,
    /// The end of the phase for which it was set.
    timer: Option<Pin<Box<Sleep>>>,
    set_for: u32,
    /// The timer that runs while the client does not take data that are ready for it.
    stall: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl<S> WatchedSocket<S> {
    pub(super) fn new(
        socket: S,
        phase: Arc<ConnectionPhase>,
        head: Duration,
        idle: Duration,
        stalled: Duration,
    ) -> Self {
        WatchedSocket { socket, phase, head, idle, stalled, timer: None, set_for: 0, stall: None, ended: false }
    }

    fn end<T>(&mut self, what: &'static str) -> Poll<io::Result<T>> {
        self.ended = true;
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, what)))
    }

    /// Returns true if the time of the phase has expired; otherwise the task is woken when it does.
    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let phase = self.phase.now.load(Ordering::Relaxed);
        let time = match phase % CHANGE {
            HEAD => self.head,
            REST => self.idle,
            _ => return false,
        };
        let timer = match &mut self.timer {
            Some(timer) => timer,
            timer => timer.insert(Box::pin(tokio::time::sleep(time))),
        };
        if self.set_for != phase {
            self.set_for = phase;
            timer.as_mut().reset(Instant::now() + time);
        }
        timer.as_mut().poll(cx).is_ready()
    }

    fn written<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stall = None;
            return written;
        }
        let time = self.stalled;
        let stall = self.stall.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        match stall.as_mut().poll(cx) {
            Poll::Ready(()) => self.end("the client does not read"),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedSocket<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ended {
            return self.end("the connection has ended");
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, buf);
        match &read {
            Poll::Ready(Ok(())) if buf.filled().len() > before => {
                if self.phase.now.load(Ordering::Relaxed) % CHANGE == REST {
                    self.phase.head();
                }
            }
            Poll::Ready(_) => {}
            Poll::Pending => {
                if self.is_over(cx) {
                    return self.end("no request came");
                }
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedSocket<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.ended {
            return self.end("the connection has ended");
        }
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.ended {
            return self.end("the connection has ended");
        }
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, bytes);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // After an answer, hyper does not read until something has arrived: the time for the next request begins here.
        if self.is_over(cx) {
            return self.end("no request came");
        }
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
