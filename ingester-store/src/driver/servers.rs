//! What the connections of a pool have found out about the servers that they reach, which a fail-over may change.

use super::clock::Clock;
use ingester_core::value::Micros;
use ingester_sql::dialect::OneText;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// By how much a server may have run for less long than expected, and still be the same: it reports whole seconds.
const ROUNDED: Duration = Duration::from_secs(5);

/// Shared by a [`Store`](crate::Store) and its connections.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// Connections that were opened before this time are to be closed.
    stale: Mutex<Option<Instant>>,
    /// Any server is a member of a group that certifies transactions.
    certifies: AtomicBool,
    /// Any server does not take compound statements.
    others: AtomicBool,
    /// What their clock says.
    pub(crate) clock: Clock,
    /// The server that was reached last.
    last: Mutex<Option<Reached>>,
    /// How often another server was reached than before, or the same one after it was started anew.
    moves: watch::Sender<u64>,
}

/// The server that was reached last, and when.
#[derive(Debug)]
struct Reached {
    server: DatabaseServer,
    at: Instant,
}

/// What a server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DatabaseServer {
    /// It takes a compound statement as one text.
    pub(super) has_compound: bool,
    /// It is a member of a group that certifies transactions.
    pub(super) certifies: bool,
    /// It takes no writes.
    pub(super) is_read_only: bool,
    /// What tells it from others; empty if it does not say.
    pub(super) identity: String,
    /// For how many seconds it has run.
    pub(super) uptime: Option<u64>,
    /// What time it is there.
    pub(super) time: Option<Micros>,
    /// Its settings that may lose a commit that was answered, each with what loses it.
    pub(super) risks: Vec<String>,
}

impl DatabaseServer {
    /// Whether this is the same server as the one that was reached some time before, and has not been started since.
    fn goes_on(&self, before: &DatabaseServer, since: Duration) -> bool {
        let has_run = |expected: u64| self.uptime.is_none_or(|uptime| uptime + ROUNDED.as_secs() >= expected);
        self.identity == before.identity && before.uptime.is_none_or(|uptime| has_run(uptime + since.as_secs()))
    }

    /// A server, or a proxy, that does not know the question: it is safe to assume the worst.
    pub(super) const UNKNOWN: Self = DatabaseServer {
        has_compound: false,
        certifies: true,
        is_read_only: false,
        identity: String::new(),
        uptime: None,
        time: None,
        risks: Vec::new(),
    };
}

impl Servers {
    /// A connection turned out to be useless: all that are open now are closed, each when it is released or before it is used again.
    /// Every new connection looks up the host's name.
    pub(crate) fn replace_connections(&self) {
        *self.stale.lock() = Some(Instant::now());
    }

    /// Whether a connection of this age is to be closed.
    pub(super) fn is_stale(&self, age: Duration) -> bool {
        self.stale.lock().is_some_and(|stale| stale.elapsed() <= age)
    }

    /// A connection leads to this server, which was asked at this time. The answer may come long after the server has written it; that it has run
    /// for less long than expected must not follow from that.
    pub(super) fn reached(&self, server: DatabaseServer, asked: Instant) {
        self.certifies.fetch_or(server.certifies, Ordering::Relaxed);
        self.others.fetch_or(!server.has_compound, Ordering::Relaxed);
        let mut last = self.last.lock();
        // Members of a group that certifies have the same commits, and a proxy before them leads to one or the other.
        let moved = !server.certifies
            && last
                .as_ref()
                .is_some_and(|last| !server.goes_on(&last.server, asked.saturating_duration_since(last.at)));
        *last = Some(Reached { server, at: Instant::now() });
        drop(last);
        if moved {
            self.moves.send_modify(|moves| *moves += 1);
        }
    }

    /// Whether any server certifies transactions: it may end one at any time, and its locks do not reach the other servers.
    pub(crate) fn certifies(&self) -> bool {
        self.certifies.load(Ordering::Relaxed)
    }

    /// How all servers take a transaction as one text; `None` if one of them might run a part of it.
    pub(crate) fn one_text(&self) -> Option<OneText> {
        match (self.others.load(Ordering::Relaxed), self.certifies()) {
            (false, _) => Some(OneText::Compound),
            (true, false) => Some(OneText::Sequence),
            (true, true) => None,
        }
    }

    /// How often another server was reached than before, or the same one after it was started anew.
    pub(crate) fn moves(&self) -> watch::Receiver<u64> {
        self.moves.subscribe()
    }

    /// The settings of the server that was reached last that may lose a commit that was answered.
    pub(crate) fn risks(&self) -> Vec<String> {
        let last = self.last.lock();
        last.as_ref().map(|last| last.server.risks.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{DatabaseServer, Servers};
    use std::time::{Duration, Instant};

    #[test]
    fn a_server_whose_answer_is_late_was_not_restarted() {
        let server = || DatabaseServer { uptime: Some(100), ..DatabaseServer::default() };
        let now = Instant::now();
        let minute_ago = now.checked_sub(Duration::from_secs(60)).unwrap();
        // A minute after it was reached, the same answer: it was asked then, or it is asked now.
        for (asked, moves) in [(minute_ago, 0), (now, 1)] {
            let servers = Servers::default();
            servers.reached(server(), minute_ago);
            servers.last.lock().as_mut().unwrap().at = minute_ago;
            servers.reached(server(), asked);
            assert_eq!(*servers.moves().borrow(), moves);
        }
    }
}
