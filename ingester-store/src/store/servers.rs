//! What the connections of a pool have found out about the servers that they reach, which a fail-over may change.

use super::Store;
use super::clock::Clock;
use ingester_core::dialect::OneText;
use ingester_core::value::Micros;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// By how much a server may have run for less long than was expected, and be the same still: it tells whole seconds.
const ROUNDED: Duration = Duration::from_secs(5);

/// Shared by a [`Store`](super::Store) and its connections.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Connections that were opened before are to be closed.
    stale: Mutex<Option<Instant>>,
    /// Any server is a member of a group that certifies transactions.
    certifies: AtomicBool,
    /// Any server is none of MariaDB's.
    others: AtomicBool,
    /// What their clock says.
    pub(super) clock: Clock,
    /// The server that was reached last.
    last: Mutex<Option<Reached>>,
    /// How often another server was reached than before, or the same one after it was started anew.
    moves: watch::Sender<u64>,
}

/// The server that was reached last, and when.
#[derive(Debug)]
struct Reached {
    server: Server,
    at: Instant,
}

/// What a server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Server {
    /// It is MariaDB.
    pub(super) is_mariadb: bool,
    /// It is a node of Galera.
    pub(super) is_node: bool,
    /// It is a member of a group that certifies transactions: a node of Galera, or of MySQL's group replication.
    pub(super) certifies: bool,
    /// It takes no writes.
    pub(super) is_read_only: bool,
    /// What tells it from others; empty if it does not say.
    identity: String,
    /// For how many seconds it has run.
    uptime: Option<u64>,
    /// What time it is there.
    pub(super) time: Option<Micros>,
    /// It writes a log that replicas follow.
    logs: bool,
    /// A commit waits until a replica has it.
    waits_for_replica: bool,
    /// Its settings by which a commit that was answered may be lost, and by what.
    risks: Vec<String>,
}

impl Server {
    /// By the names and values of [`Dialect::variables`](ingester_core::dialect::Dialect::variables).
    pub(super) fn of<'v>(variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        let mut server = Server::default();
        let mut flushes_log = true;
        for (name, value) in variables {
            let is_off = value.is_empty() || value == "0" || value.eq_ignore_ascii_case("off");
            match name.to_ascii_lowercase().as_str() {
                "version" => server.is_mariadb = value.to_ascii_lowercase().contains("mariadb"),
                "wsrep_on" => server.is_node = !is_off,
                "group_replication_group_name" => server.certifies |= !value.is_empty(),
                "read_only" | "innodb_read_only" => server.is_read_only |= !is_off,
                "timestamp" => server.time = seconds(value),
                "uptime" => server.uptime = value.parse().ok(),
                "server_uuid" | "hostname" | "port" => {
                    server.identity.push_str(value);
                    server.identity.push(' ');
                }
                "log_bin" => server.logs = !is_off,
                "sync_binlog" => flushes_log = !is_off,
                "innodb_flush_log_at_trx_commit" if value != "1" => server.risks.push(format!(
                    "innodb_flush_log_at_trx_commit={value}: a crash of its machine loses the commits of the last second"
                )),
                "rpl_semi_sync_master_enabled" | "rpl_semi_sync_source_enabled" => server.waits_for_replica |= !is_off,
                _ => {}
            }
        }
        server.certifies |= server.is_node;
        if server.logs && !flushes_log {
            server
                .risks
                .push("sync_binlog=0: a crash of its machine loses what its replicas have not received".to_owned());
        }
        if server.logs && !server.waits_for_replica && !server.certifies {
            server.risks.push(
                "no semi-synchronous replication: a fail-over to a replica loses the commits that it has not received"
                    .to_owned(),
            );
        }
        server
    }

    /// Whether this is the same server as the one that was reached some time before, and has not been started since.
    fn goes_on(&self, before: &Server, since: Duration) -> bool {
        let has_run = |expected: u64| self.uptime.is_none_or(|uptime| uptime + ROUNDED.as_secs() >= expected);
        self.identity == before.identity && before.uptime.is_none_or(|uptime| has_run(uptime + since.as_secs()))
    }

    /// A server, or a proxy, that does not know the question: it is safe to assume the worst.
    pub(super) const UNKNOWN: Self = Server {
        is_mariadb: false,
        is_node: false,
        certifies: true,
        is_read_only: false,
        identity: String::new(),
        uptime: None,
        time: None,
        logs: false,
        waits_for_replica: false,
        risks: Vec::new(),
    };
}

/// A time in seconds since 1970, with a fraction.
fn seconds(text: &str) -> Option<Micros> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let whole: i64 = whole.parse().ok()?;
    Some(Micros(whole.checked_mul(1_000_000)?.checked_add(micros)?))
}

impl Servers {
    /// A connection turned out to be of no more use: all that are open now are closed, each when it is released or before it is used
    /// again. Every new connection looks up the host's name.
    pub(super) fn replace_connections(&self) {
        *self.stale.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a connection of this age is to be closed.
    pub(super) fn is_stale(&self, age: Duration) -> bool {
        self.stale.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|stale| stale.elapsed() <= age)
    }

    /// A connection leads to this server.
    pub(super) fn reached(&self, server: Server) {
        self.certifies.fetch_or(server.certifies, Ordering::Relaxed);
        self.others.fetch_or(!server.is_mariadb, Ordering::Relaxed);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Members of a group that certifies have the same commits, and a proxy before them leads to one or the other.
        let moved =
            !server.certifies && last.as_ref().is_some_and(|last| !server.goes_on(&last.server, last.at.elapsed()));
        *last = Some(Reached { server, at: Instant::now() });
        drop(last);
        if moved {
            self.moves.send_modify(|moves| *moves += 1);
        }
    }

    /// Whether any server certifies transactions: it may end one at any time, and its locks are its own.
    pub(super) fn certifies(&self) -> bool {
        self.certifies.load(Ordering::Relaxed)
    }

    /// How all servers take a transaction as one text; `None` if one of them might run a part of it.
    pub(super) fn one_text(&self) -> Option<OneText> {
        match (self.others.load(Ordering::Relaxed), self.certifies()) {
            (false, _) => Some(OneText::Compound),
            (true, false) => Some(OneText::Sequence),
            (true, true) => None,
        }
    }
}

impl Store {
    /// How often the connections have led to another server than before, or to the same one after it was started anew: whatever was
    /// committed just before may be lost. The receiver is told of each further time. Never with SQLite, nor in a group that certifies
    /// transactions.
    pub fn moves(&self) -> watch::Receiver<u64> {
        self.servers.moves.subscribe()
    }

    /// The settings of the server by which a commit that was answered may be lost, each with what loses it.
    pub fn risks(&self) -> Vec<String> {
        let last = self.servers.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|last| last.server.risks.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Server, Servers};
    use ingester_core::dialect::OneText::{self, Compound, Sequence};

    /// What a server says of itself.
    type Variables<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn a_text_is_sent_only_in_a_form_that_every_server_keeps_together() {
        let mariadb = [("version", "10.11.19-MariaDB-0+deb12u1")];
        let mysql = [("version", "8.4.9"), ("read_only", "OFF"), ("group_replication_group_name", "")];
        let galera = [mariadb[0], ("wsrep_on", "ON")];
        let xtradb = [mysql[0], ("wsrep_on", "ON")];
        let group = [mysql[0], ("group_replication_group_name", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")];
        let cases: [(&[Variables<'_>], Option<OneText>, bool); 7] = [
            (&[&mariadb], Some(Compound), false),
            (&[&mysql], Some(Sequence), false),
            (&[&galera], Some(Compound), true),
            (&[&xtradb], None, true),
            (&[&group], None, true),
            (&[&mariadb, &mysql], Some(Sequence), false),
            (&[&galera, &mysql], None, true),
        ];
        for (reached, form, certifies) in cases {
            let servers = Servers::default();
            for variables in reached {
                servers.reached(Server::of(variables.iter().copied()));
            }
            assert_eq!((servers.one_text(), servers.certifies()), (form, certifies), "{reached:?}");
        }
        let servers = Servers::default();
        servers.reached(Server::UNKNOWN);
        assert_eq!(servers.one_text(), None, "a proxy that does not answer");
    }

    #[test]
    fn another_server_and_a_restarted_one_are_noticed() {
        let server = |host: &str, uptime: &str| {
            Server::of([("version", "8.4.9"), ("hostname", host), ("port", "3306"), ("Uptime", uptime)])
        };
        let servers = Servers::default();
        let moves = servers.moves.subscribe();
        let reached = |server: Server| {
            servers.reached(server);
            *moves.borrow()
        };
        assert_eq!(reached(server("a", "100")), 0, "the first");
        assert_eq!(reached(server("a", "100")), 0);
        assert_eq!(reached(server("a", "98")), 0, "seconds are rounded");
        assert_eq!(reached(server("b", "500")), 1, "a fail-over");
        assert_eq!(reached(server("b", "2")), 2, "a crash");
        assert_eq!(reached(server("a", "9000")), 3, "a fail-over back");
        let node = |host: &str| Server { is_node: true, certifies: true, ..server(host, "9") };
        assert_eq!((reached(node("a")), reached(node("b"))), (3, 3), "nodes of a group have the same commits");
    }

    #[test]
    fn settings_that_lose_commits_are_named() {
        let risks = |variables: Variables<'_>| {
            let risks = Server::of(variables.iter().copied()).risks;
            risks.iter().map(|risk| risk.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        let safe = [("innodb_flush_log_at_trx_commit", "1"), ("sync_binlog", "1"), ("log_bin", "ON")];
        assert_eq!(risks(&[safe[0]]), Vec::<String>::new(), "nothing follows a server without a log");
        assert_eq!(risks(&[safe[0], ("sync_binlog", "0"), ("log_bin", "OFF")]), Vec::<String>::new());
        assert_eq!(risks(&safe), ["no semi-synchronous replication"]);
        let waits = ("rpl_semi_sync_source_enabled", "ON");
        assert_eq!(risks(&[safe[0], safe[1], safe[2], waits]), Vec::<String>::new());
        assert_eq!(risks(&[safe[0], safe[1], safe[2], ("wsrep_on", "ON")]), Vec::<String>::new());
        let lax = [("innodb_flush_log_at_trx_commit", "2"), ("sync_binlog", "0"), ("log_bin", "ON"), waits];
        assert_eq!(risks(&lax), ["innodb_flush_log_at_trx_commit=2", "sync_binlog=0"]);
    }

    #[test]
    fn a_servers_clock_is_read_to_the_microsecond() {
        for (text, micros) in [
            ("1773088606.500000", Some(1_773_088_606_500_000)),
            ("1773088606.5", Some(1_773_088_606_500_000)),
            ("1773088606", Some(1_773_088_606_000_000)),
            ("", None),
            ("soon", None),
        ] {
            assert_eq!(Server::of([("timestamp", text)]).time.map(|time| time.0), micros, "{text}");
        }
    }

    #[test]
    fn a_server_that_takes_no_writes_says_so_in_several_ways() {
        for (value, is) in [("OFF", false), ("0", false), ("ON", true), ("1", true), ("NO_LOCK", true)] {
            assert_eq!(Server::of([("read_only", value)]).is_read_only, is, "{value}");
        }
        assert!(Server::of([("read_only", "OFF"), ("innodb_read_only", "ON")]).is_read_only);
    }
}
