//! A socket that ends when nothing moves.
//!
//! Below TLS, so that what counts is what was really sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// What a connection is waiting for. Its task alone changes it.
#[derive(Debug, Default)]
pub(super) struct Phase(AtomicU32);

/// For the server: no time runs here.
const BUSY: u32 = 0;
/// For the rest of a request's headers.
const HEAD: u32 = 1;
/// For the next request.
const REST: u32 = 2;
/// The other bits count the changes, so that each begins a time of its own.
const CHANGE: u32 = 4;

impl Phase {
    fn enter(&self, phase: u32) {
        let changes = self.0.load(Ordering::Relaxed) & !(CHANGE - 1);
        self.0.store(changes.wrapping_add(CHANGE) | phase, Ordering::Relaxed);
    }

    /// The server works.
    pub(super) fn busy(&self) {
        self.enter(BUSY);
    }

    /// A request is to come now.
    pub(super) fn head(&self) {
        self.enter(HEAD);
    }

    /// A request may come.
    pub(super) fn rest(&self) {
        self.enter(REST);
    }
}

/// A socket that ends when nothing moves.
#[derive(Debug)]
pub(super) struct Watched<S> {
    socket: S,
    phase: Arc<Phase>,
    head: Duration,
    idle: Duration,
    stalled: Duration,
    /// The end of the phase for which it was set.
    timer: Option<Pin<Box<Sleep>>>,
    set_for: u32,
    /// While the client does not take what is there for it.
    stall: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl<S> Watched<S> {
    pub(super) fn new(socket: S, phase: Arc<Phase>, head: Duration, idle: Duration, stalled: Duration) -> Self {
        Watched { socket, phase, head, idle, stalled, timer: None, set_for: 0, stall: None, ended: false }
    }

    fn end<T>(&mut self, what: &'static str) -> Poll<io::Result<T>> {
        self.ended = true;
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, what)))
    }

    /// Whether the time of the phase is over; otherwise the task is woken when it is.
    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let phase = self.phase.0.load(Ordering::Relaxed);
        let time = match phase & (CHANGE - 1) {
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

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ended {
            return self.end("the connection has ended");
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, buf);
        match &read {
            Poll::Ready(Ok(())) if buf.filled().len() > before => {
                if self.phase.0.load(Ordering::Relaxed) & (CHANGE - 1) == REST {
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
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
        // After an answer, hyper does not read before something has come: the time for the next request begins here.
        if self.is_over(cx) {
            return self.end("no request came");
        }
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
