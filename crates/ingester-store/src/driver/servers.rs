//! The knowledge of a pool's connections about the servers that they reach. A fail-over may change it.

use super::clock::Clock;
use ingester_core::value::Micros;
use ingester_sql::dialect::TransactionForm;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// A server whose uptime is shorter than expected by at most this much is still the same server: it reports whole seconds.
const ROUNDED: Duration = Duration::from_secs(5);

/// Shared by a [`Store`](crate::Store) and its connections.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// Connections that were opened before this time must be closed.
    stale: Mutex<Option<Instant>>,
    /// True if any server is a member of a group that certifies transactions.
    certifies: AtomicBool,
    /// True if any server does not take compound statements.
    others: AtomicBool,
    /// The servers' clock.
    pub(crate) clock: Clock,
    /// The server that was reached last.
    last: Mutex<Option<ReachedServer>>,
    /// Counts how often connections reached another server than before, or the same one after a restart.
    moves: watch::Sender<u64>,
}

/// The server that was reached last, with the time.
#[derive(Debug)]
struct ReachedServer {
    server: DatabaseServer,
    at: Instant,
}

/// A server's answers about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DatabaseServer {
    /// True if it takes a compound statement as one text.
    pub(super) has_compound: bool,
    /// True if it is a member of a group that certifies transactions.
    pub(super) certifies: bool,
    /// True if it takes no writes.
    pub(super) is_read_only: bool,
    /// The identity that distinguishes it from other servers; empty if it does not tell.
    pub(super) identity: String,
    /// The seconds for which it has run.
    pub(super) uptime: Option<u64>,
    /// The time on its clock.
    pub(super) time: Option<Micros>,
    /// Its settings that may lose a commit that was answered, each with the event that loses it.
    pub(super) risks: Vec<String>,
    /// The bytes of memory for tables whose rows are in the order of their primary key; `None` if its tables are not.
    pub(super) clustered_pool: Option<u64>,
}

impl DatabaseServer {
    /// Returns true if this is the same server as the one that was reached before, without a restart since.
    fn goes_on(&self, before: &DatabaseServer, since: Duration) -> bool {
        let has_run = |expected: u64| self.uptime.is_none_or(|uptime| uptime + ROUNDED.as_secs() >= expected);
        self.identity == before.identity && before.uptime.is_none_or(|uptime| has_run(uptime + since.as_secs()))
    }

    /// A server or proxy that does not understand the question. It is safe to assume the worst.
    pub(super) const UNKNOWN: Self = DatabaseServer {
        has_compound: false,
        certifies: true,
        is_read_only: false,
        identity: String::new(),
        uptime: None,
        time: None,
        risks: Vec::new(),
        clustered_pool: None,
    };
}

impl Servers {
    /// Replaces all connections that are open now, because one turned out to be useless. Each is closed when it is released or before it is
    /// used again. Every new connection looks up the host's name again.
    pub(crate) fn replace_connections(&self) {
        *self.stale.lock() = Some(Instant::now());
    }

    /// Returns true if a connection of this age must be closed.
    pub(super) fn is_stale(&self, age: Duration) -> bool {
        self.stale.lock().is_some_and(|stale| stale.elapsed() <= age)
    }

    /// Records that a connection leads to this server, which was asked at `asked`. The answer may arrive long after the server has written
    /// it, so measure from the question: a slow answer must not look like a restart.
    pub(super) fn reached(&self, server: DatabaseServer, asked: Instant) {
        self.certifies.fetch_or(server.certifies, Ordering::Relaxed);
        self.others.fetch_or(!server.has_compound, Ordering::Relaxed);
        let mut last = self.last.lock();
        // Members of a certifying group have the same commits, and a proxy in front of them leads to any of them, so another member is no
        // move.
        let moved = !server.certifies
            && last
                .as_ref()
                .is_some_and(|last| !server.goes_on(&last.server, asked.saturating_duration_since(last.at)));
        *last = Some(ReachedServer { server, at: Instant::now() });
        drop(last);
        if moved {
            self.moves.send_modify(|moves| *moves += 1);
        }
    }

    /// Returns true if any server certifies transactions. Such a server may end a transaction at any time, and its locks do not reach the
    /// other servers.
    pub(crate) fn certifies(&self) -> bool {
        self.certifies.load(Ordering::Relaxed)
    }

    /// Returns the form in which all servers take a transaction as one text; `None` if one of them might run only a part of it.
    pub(crate) fn one_text(&self) -> Option<TransactionForm> {
        match (self.others.load(Ordering::Relaxed), self.certifies()) {
            (false, _) => Some(TransactionForm::Compound),
            (true, false) => Some(TransactionForm::Sequence),
            (true, true) => None,
        }
    }

    /// Returns the count of moves: a connection reached another server than before, or the same one after a restart.
    pub(crate) fn moves(&self) -> watch::Receiver<u64> {
        self.moves.subscribe()
    }

    /// Returns the bytes of memory that the server that was reached last has for tables whose rows are in the order of their primary key;
    /// `None` if its tables are not.
    pub(crate) fn clustered_pool(&self) -> Option<u64> {
        self.last.lock().as_ref().and_then(|last| last.server.clustered_pool)
    }

    /// Returns the settings of the server that was reached last that may lose a commit that was answered.
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
        // The same answer, to a question of a minute ago and to a question of now.
        for (asked, moves) in [(minute_ago, 0), (now, 1)] {
            let servers = Servers::default();
            servers.reached(server(), minute_ago);
            servers.last.lock().as_mut().unwrap().at = minute_ago;
            servers.reached(server(), asked);
            assert_eq!(*servers.moves().borrow(), moves);
        }
    }
}
